//! The handlers of a web server on tokio, and jobs that close orders which are not paid in time.
//! The handlers of requests and of jobs are async functions. No socket is opened: `main` makes the
//! requests. `cargo run -p wheelhouse-durable --example async_orders`.
//!
//! The request handlers have the shape of axum's handlers. In axum, `place_order` would take
//! `State(app): State<App>` and `Json(order): Json<Order>`, with the route
//! `Router::new().route("/orders", post(place_order)).with_state(app)`.

use std::time::Duration;
use wheelhouse_durable::store::MemoryStore;
use wheelhouse_durable::{
    Cancel, Durable, DurableRun, Error, Failure, Handlers, Next, Stop, Timers,
};

/// The kind of the jobs that close orders.
const CLOSE: &str = "close-order/1";

#[derive(serde::Serialize, serde::Deserialize)]
struct Order {
    number: u64,
    cents: u64,
}

/// The state that request handlers share.
#[derive(Clone)]
struct App {
    timers: Timers,
    /// The time in which an order must be paid.
    patience: Duration,
}

/// `POST /orders`. Returns when the job that closes the order is durable.
async fn place_order(app: App, order: Order) -> Result<String, Error> {
    let plan = app.timers.after(app.patience).key(format!("order-{}", order.number));
    plan.submit(CLOSE, &order).await?;
    Ok(format!("order {} must be paid within {:?}", order.number, app.patience))
}

/// `POST /orders/{number}/payment`.
async fn pay(app: App, number: u64) -> Result<String, Error> {
    let cancelled = app.timers.submit_cancel(format!("order-{number}")).await?;
    Ok(match cancelled {
        Cancel::Cancelled => format!("order {number} is paid"),
        Cancel::Running | Cancel::Absent => format!("order {number}: the payment came too late"),
    })
}

/// Closes an order that was not paid. After an error the job is retried with backoff, unless the
/// error is a `Stop`.
async fn close_order(run: DurableRun<'static>, order: Order) -> Result<Next, Failure> {
    if order.cents == 0 {
        return Err(Stop::new("the order has no amount").into());
    }
    // For example a call of the warehouse, which has an effect once for each of these keys.
    tokio::task::yield_now().await;
    println!("order {} is closed, once for {}", order.number, run.idempotency_key());
    Ok(Next::Done)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let handlers = Handlers::new().on_async(CLOSE, close_order);
    let tokio = tokio::runtime::Handle::current();
    let timers = Durable::builder(handlers)
        .spawn_on(move |run| drop(tokio.spawn(run)))
        .limit(Duration::from_secs(10)) // a run that takes longer is dropped and retried
        .start(MemoryStore::new())?; // or PostgreSQL, Redis, a file
    let app = App { timers: timers.timers(), patience: Duration::from_millis(100) };

    println!("{}", place_order(app.clone(), Order { number: 17, cents: 4_200 }).await?);
    println!("{}", place_order(app.clone(), Order { number: 18, cents: 100 }).await?);
    println!("{}", pay(app.clone(), 18).await?);
    while timers.snapshot().counts.acked < 1 {
        tokio::task::yield_now().await;
    }
    println!("{}", pay(app, 17).await?);
    timers.stop_async().await; // waits for runs in flight; jobs stay in the store
    Ok(())
}
