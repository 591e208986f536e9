//! The examples, and the recipes of the documentation, which includes the same files. The recipes
//! run against peers that stall in either direction: one sends nothing, the other does not read.
//! The last tests check the migration page: the tests that it names exist, and its statements about
//! tokio hold for tokio's own intervals.

#[path = "../../examples/event_loop.rs"]
#[allow(dead_code)]
mod event_loop;
#[path = "../../examples/recipes/idle_connections.rs"]
mod idle_connections;
#[path = "../../examples/session_store.rs"]
#[allow(dead_code)]
mod session_store;
#[path = "../../examples/recipes/with_tokio.rs"]
mod with_tokio;

use crate::common::{HOUR, Rig, arrives, await_here, ms, poll, returns, start};
use crossbeam_channel::{Receiver, unbounded};
use session_store::SessionStore;
use std::fs;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::MissedTickBehavior;
use wheelhouse_service::future::Interval;
use wheelhouse_service::{EventKind, ManualClock, Missed, Service};

const IDLE: Duration = Duration::from_secs(1);

/// More than the buffers of a connection hold.
const LARGE: usize = 32 << 20;

/// A runtime without timers: a recipe has only those of the service.
fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_io().build().unwrap()
}

/// A conversation with the echo of the recipe, on one thread and on a clock that it sets.
struct Echo {
    clock: ManualClock,
    service: Service,
    peer: DuplexStream,
    served: JoinHandle<io::Result<()>>,
}

/// Runs a conversation, and fails if it hangs.
fn converse<F: Future<Output = ()>>(conversation: impl FnOnce(Echo) -> F + Send + 'static) {
    returns(move || {
        let clock = ManualClock::new();
        let service = Service::builder().clock(clock.clone()).start().unwrap();
        await_here(async {
            let (peer, server) = duplex(64);
            let served = tokio::spawn(idle_connections::echo(server, service.handle(), IDLE));
            conversation(Echo { clock, service, peer, served }).await;
        });
    });
}

/// Lets all tasks continue as far as they can.
async fn settle() {
    for _ in 0..1000 {
        yield_now().await;
    }
}

impl Echo {
    /// Advances the clock almost to the end of an idle connection, which is kept.
    async fn almost(&self) {
        settle().await;
        self.clock.advance(IDLE - ms(1));
        self.is_kept().await;
    }

    async fn is_kept(&self) {
        // Gives the service time to notice.
        thread::sleep(ms(20));
        settle().await;
        assert!(!self.served.is_finished(), "too early");
    }
}

#[test]
fn a_peer_that_talks_stays_connected_and_ends_the_connection_itself() {
    converse(|mut echo| async move {
        for _ in 0..5 {
            echo.peer.write_all(b"ping").await.unwrap();
            let mut answer = [0; 4];
            echo.peer.read_exact(&mut answer).await.unwrap();
            assert_eq!(&answer, b"ping");
            echo.almost().await;
        }
        drop(echo.peer);
        echo.served.await.unwrap().unwrap();
        assert!(echo.service.handle().is_empty(), "its timer is gone");
    });
}

#[test]
fn a_peer_that_sends_nothing_or_reads_nothing_or_too_slowly_is_hung_up_on() {
    for (sends, reads) in [(false, false), (true, false), (true, true)] {
        converse(move |mut echo| async move {
            while sends && poll(&mut pin!(echo.peer.write_all(&[0; 16]))).is_ready() {
                settle().await;
            }
            for _ in 0..5 {
                settle().await;
                if reads {
                    // This makes room for one more byte, but no answer is complete.
                    echo.peer.read_u8().await.unwrap();
                }
                echo.clock.advance(IDLE / 5 - ms(1));
            }
            echo.is_kept().await;
            echo.clock.advance(ms(10));
            assert_eq!(echo.served.await.unwrap().unwrap_err().kind(), ErrorKind::TimedOut);
        });
    }
}

#[test]
fn a_peer_that_takes_its_answer_late_has_its_time_to_send_the_next() {
    converse(|mut echo| async move {
        // The second answer has no room until the first was read.
        for _ in 0..2 {
            echo.peer.write_all(&[0; 64]).await.unwrap();
            settle().await;
        }
        echo.almost().await;
        echo.peer.read_exact(&mut [0; 128]).await.unwrap();
        echo.almost().await;
    });
}

#[test]
fn a_task_is_aborted_when_its_peer_is_idle_whatever_it_waits_for() {
    converse(|echo| async move {
        let timers = echo.service.handle();
        let ((mut first, _silent), (mut second, _unread)) = (duplex(64), duplex(64));
        let reads = tokio::spawn(async move { first.read_u8().await.is_ok() });
        let writes = tokio::spawn(async move { second.write_all(&[0; 128]).await.is_ok() });
        for (name, task) in [("reads", &reads), ("writes", &writes)] {
            idle_connections::abort_when_idle(&timers, name, IDLE, task.abort_handle()).unwrap();
        }
        settle().await;
        echo.clock.advance(IDLE - ms(1));
        timers.refresh("reads", IDLE).unwrap();
        echo.clock.advance(ms(2));
        assert!(writes.await.unwrap_err().is_cancelled());
        settle().await;
        assert!(!reads.is_finished(), "that was postponed");
        echo.clock.advance(IDLE);
        assert!(reads.await.unwrap_err().is_cancelled());
    });
}

/// A server that sends nothing, and perhaps reads nothing, and a channel that receives a message
/// for each accepted connection.
fn stalled_server(reads: bool) -> (SocketAddr, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, (accepts, accepted)) = (listener.local_addr().unwrap(), unbounded());
    thread::spawn(move || {
        let mut clients = Vec::new();
        for client in listener.incoming() {
            let client = Arc::new(client.unwrap());
            let reading = Arc::clone(&client);
            clients.push(client);
            if reads {
                thread::spawn(move || io::copy(&mut &*reading, &mut io::sink()));
            }
            if accepts.send(()).is_err() {
                return;
            }
        }
    });
    (address, accepted)
}

#[test]
fn an_upload_to_a_server_that_stalls_reaches_its_limit_and_is_retried() {
    for reads in [true, false] {
        let runtime = runtime();
        let (events, tokio) = (unbounded(), runtime.handle().clone());
        let service = Service::builder()
            .on_event(move |event| events.0.send(event.kind.clone()).unwrap())
            .spawn_on(move |run| drop(tokio.spawn(run)));
        let service = service.start().unwrap();
        let (server, accepted) = stalled_server(reads);
        let report = Arc::from(vec![0; LARGE]);
        let job = with_tokio::upload_every_hour(&service.handle(), server, report, ms(100));
        assert_eq!(arrives(&events.1), EventKind::TimedOut(ms(100)));
        // The first attempt, and the next.
        arrives(&accepted);
        arrives(&accepted);
        assert!(job.unwrap().last_error().is_some());
    }
}

#[test]
fn a_server_that_stalls_does_not_keep_a_program_from_its_end() {
    for reads in [true, false] {
        let (server, accepted) = stalled_server(reads);
        let running = returns(move || {
            runtime().block_on(async {
                let report = Arc::from(vec![0; LARGE]);
                let begun = tokio::task::spawn_blocking(move || arrives(&accepted));
                with_tokio::serve(server, report, begun, ms(50)).await.unwrap().running
            })
        });
        assert_eq!(running, 1);
    }
}

/// Workload W7: the number of sessions in the article.
#[test]
fn half_a_million_sessions_come_and_go() {
    // A tenth logs out after two minutes. A tenth is used until the hour is over. The others live
    // for half an hour.
    assert_eq!(session_store::an_hour_of(500_000).unwrap(), [450_000, 50_000, 0]);
}

/// Fault B8 of the articles: a token is free before the closure that removes its former session has
/// run.
#[test]
fn what_ends_a_session_leaves_its_successor_alone() {
    let (_service, timers) = start(Service::builder().workers(2).tick(Duration::from_micros(20)));
    let store = SessionStore::new(timers.clone());
    for n in (0..4_000).step_by(2) {
        store.begin("a", n, Duration::from_micros(50)).unwrap();
        thread::scope(|scope| {
            // In some rounds, another thread logs out at that moment.
            scope.spawn(|| (n % 4 == 0).then(|| store.end("a")));
            while store.begin("a", n + 1, HOUR).is_err() {}
        });
        while timers.snapshot().in_flight > 0 {
            thread::yield_now();
        }
        // The logout may have ended the successor. Then it is gone as it should be.
        let job = timers.job("a");
        assert_eq!(store.user("a"), job.map(|_| n + 1), "{n}");
        store.end("a");
        assert_eq!(store.len(), 0);
    }
}

/// Also if its socket is never empty: a datagram that the server sends to itself is echoed to
/// itself again and again.
#[test]
fn an_event_loop_drives_a_scheduler() {
    for datagrams in [0, 4] {
        let server = event_loop::Server::bind().unwrap();
        for _ in 0..datagrams {
            server.socket.send_to(b"hello", server.socket.local_addr().unwrap()).unwrap();
        }
        let heard = returns(move || event_loop::conversation(server).unwrap());
        // If the machine pauses for 20 ms between the words, there is an additional good-bye.
        assert_eq!((heard[0].as_str(), heard.len()), ("hello", 3));
        assert!(heard.contains(&"good-bye".to_owned()), "{heard:?}");
    }
}

#[test]
fn each_test_that_the_page_names_exists() {
    let root = env!("CARGO_MANIFEST_DIR");
    let page = fs::read_to_string(format!("{root}/MIGRATION.md")).unwrap();
    let is_test = |text: &&str| text.starts_with("tests/") && text.contains("::");
    let named: Vec<_> = page.split('`').filter(is_test).collect();
    assert!(named.len() >= 20, "{named:?}");
    for test in named {
        let (file, name) = test.split_once("::").unwrap();
        let source = fs::read_to_string(format!("{root}/{file}")).unwrap();
        assert!(source.contains(&format!("fn {name}()")), "{test}");
    }
}

/// Waits for the next beat, and returns when it was due, in milliseconds.
fn beat(rig: &mut Rig, interval: &mut Interval) -> u64 {
    loop {
        match poll(&mut pin!(interval.tick())) {
            Poll::Ready(beat) => return beat.unwrap().unwrap().deadline.as_nanos() / 1_000_000,
            Poll::Pending => {
                let wakeup = rig.scheduler.next_wakeup().unwrap();
                rig.scheduler.play(&rig.clock, wakeup);
            }
        }
    }
}

/// The four beats after the beat at 0, of our interval. The first of them is taken no sooner than
/// at `taken`.
fn beats(missed: Missed, period: u64, taken: u64) -> [u64; 4] {
    let mut rig = Rig::new();
    let mut interval =
        rig.timers.every(ms(period)).first_after(Duration::ZERO).missed(missed).interval().unwrap();
    assert_eq!(beat(&mut rig, &mut interval), 0);
    rig.play(taken);
    [(); 4].map(|()| beat(&mut rig, &mut interval))
}

/// The same of tokio, on a clock that only advances while the beat is awaited.
fn beats_of_tokio(missed: MissedTickBehavior, period: u64, taken: u64) -> [u64; 4] {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        // From here on, whole milliseconds are also those of tokio's driver.
        tokio::time::sleep(ms(1)).await;
        let mut interval = tokio::time::interval(ms(period));
        interval.set_missed_tick_behavior(missed);
        let first = interval.tick().await;
        tokio::time::advance(ms(taken)).await;
        assert_eq!(first.elapsed(), ms(taken));
        let mut beats = [0; 4];
        for beat in &mut beats {
            *beat = (interval.tick().await - first).as_millis() as u64;
        }
        beats
    })
}

#[test]
fn beats_that_are_missed_differ_from_those_of_tokio_as_the_page_says() {
    let both = |period, taken| {
        let ours =
            [Missed::Burst, Missed::Skip, Missed::Delay].map(|missed| beats(missed, period, taken));
        let theirs =
            [MissedTickBehavior::Burst, MissedTickBehavior::Skip, MissedTickBehavior::Delay];
        (ours, theirs.map(|missed| beats_of_tokio(missed, period, taken)))
    };
    // More than 5 ms late, and no beat is due at that moment: no difference.
    let same = [[10, 20, 30, 40], [10, 40, 50, 60], [10, 43, 53, 63]];
    assert_eq!(both(10, 33), (same, same));
    // A beat is due at exactly that moment.
    let [burst, delay] = [[10, 20, 30, 40], [10, 40, 50, 60]];
    assert_eq!(both(10, 30), ([burst, [10, 30, 40, 50], delay], [burst, [10, 40, 50, 60], delay]));
    // Four milliseconds late: several periods, or part of one.
    let burst = [2, 4, 6, 8];
    assert_eq!(both(2, 6), ([burst, [2, 6, 8, 10], [2, 8, 10, 12]], [burst; 3]));
    let burst = [10, 20, 30, 40];
    assert_eq!(both(10, 14), ([burst, burst, [10, 24, 34, 44]], [burst; 3]));
}
