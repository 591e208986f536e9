//! A store and its clock.

use std::time::{Duration, SystemTime};
use wheelhouse_durable::store::{Store, StoreClock, Timestamp};
use wheelhouse_service::{Clock, ManualClock};

/// A clock that a connection uses instead of the server's.
pub type Now = Box<dyn Fn() -> Timestamp + Send + Sync>;

type Connect = dyn FnMut(&ManualClock) -> Box<dyn Store>;

/// An empty store, whose clock the suite moves.
pub struct Bed {
    connect: Box<Connect>,
    clock: ManualClock,
    pub(crate) wakes_across_connections: bool,
}

impl Bed {
    /// A store within the program. `connect` opens a connection with a clock. It is called several
    /// times; each connection must see the data of all others, also of those that were dropped.
    pub fn new<S: Store>(mut connect: impl FnMut(StoreClock) -> S + 'static) -> Self {
        // A separate clock for each connection, as in another process.
        Self::with(move |clock| Box::new(connect(StoreClock::new(clock.clone()))))
    }

    /// A queue on a server. Its connections use `Now` instead of the server's clock.
    pub fn on_server<S: Store>(mut connect: impl FnMut(Now) -> S + 'static) -> Self {
        Self::with(move |clock| {
            let clock = clock.clone();
            Box::new(connect(Box::new(move || Timestamp::at_or_before(clock.wall()))))
        })
    }

    fn with(connect: impl FnMut(&ManualClock) -> Box<dyn Store> + 'static) -> Self {
        let wall = SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000);
        let (connect, clock) = (Box::new(connect), ManualClock::with_wall(wall));
        Self { connect, clock, wakes_across_connections: true }
    }

    /// Sets whether a waker is called when another connection commits: `true` by default. A store
    /// may be unable to, such as a file on some systems.
    #[must_use]
    pub fn wakes_across_connections(mut self, wakes: bool) -> Self {
        self.wakes_across_connections = wakes;
        self
    }

    /// Makes another connection to the store.
    pub fn connect(&mut self) -> Box<dyn Store> {
        (self.connect)(&self.clock)
    }

    /// Advances the store's clock. It does not advance otherwise.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Sets the clock back, like an administrator or a failover to another server. The store's time
    /// may stop instead until the clock has caught up.
    pub(crate) fn set_back(&self, by: Duration) {
        self.clock.set_wall(self.clock.wall() - by);
    }
}
