//! What a store on a server must survive: servers that are killed, stopped and restarted, networks
//! that are slow, silent, cut, or lose answers. Each check panics with what was promised and what
//! was seen; [`failure_suite!`](crate::failure_suite) makes tests of them.

use crate::{Network, Proxy, Server};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{
    Change, ClaimLimit, Key, Kinds, Leased, Outcome, Put, Store, StoreError, When,
};

/// A server, and how a store connects to a queue of it, with a timeout.
#[derive(Debug)]
pub struct Trial {
    /// No other test uses it meanwhile.
    pub server: Server,
    /// Connects.
    pub connect: Connect,
}

/// Connects to a queue of the server at an address, with a timeout.
pub type Connect = fn(SocketAddr, &str, Duration) -> Result<Box<dyn Store>, StoreError>;

/// Two servers for the tests of a program, which wait most of the time: so two of them can at once.
#[derive(Debug, Default)]
pub struct Trials {
    trials: [OnceLock<Option<Mutex<Trial>>>; 2],
    next: AtomicUsize,
}

impl Trials {
    /// None has begun.
    pub const fn new() -> Self {
        Self { trials: [const { OnceLock::new() }; 2], next: AtomicUsize::new(0) }
    }

    /// The next in turn; `None` if there is no such server here.
    pub fn next(&self, begin: impl FnOnce() -> Option<Trial>) -> Option<&Mutex<Trial>> {
        let next = self.next.fetch_add(1, Ordering::SeqCst) % self.trials.len();
        self.trials[next].get_or_init(|| begin().map(Mutex::new)).as_ref()
    }
}

/// For tests that share a trial: one at a time, also after one has failed.
pub fn turn(trial: &Mutex<Trial>) -> MutexGuard<'_, Trial> {
    trial.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a `#[test]` of each check. Its argument is called for an `Option<&'static Mutex<Trial>>`.
#[macro_export]
macro_rules! failure_suite {
    ($trial:expr) => {
        $crate::failure_suite!($trial;
            a_killed_server_loses_nothing,
            a_server_that_is_gone_is_waited_for,
            a_stopped_server_is_unavailable,
            a_lost_answer_is_repeated,
            a_worker_that_is_cut_off_is_superseded,
            a_slow_network_is_only_slow,
            nothing_is_early_by_the_servers_clock,
            who_waits_is_told_again_after_a_restart,
        );
    };
    ($trial:expr; $($check:ident,)*) => {
        $(
            #[test]
            fn $check() {
                let Some(trial) = $trial() else { return };
                $crate::failures::$check(&$crate::failures::turn(trial));
            }
        )*
    };
}

/// Cuts every connection through a proxy, also one on which an answer was lost before.
pub fn cut_off(proxy: &Proxy, answers_are_lost: bool) {
    if answers_are_lost {
        proxy.set(Network::LosesAnswers);
        thread::sleep(millis(20));
    }
    proxy.set(Network::Cut);
    proxy.set(Network::Sound);
}

const KIND: &str = "work/1";
const SHORT: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(10);

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn key(name: &str) -> Key {
    Key::new(name).expect("a short key")
}

fn put(name: &str, delay: u64) -> Change {
    Change::Put(Put {
        key: key(name),
        kind: KIND.into(),
        payload: name.as_bytes().repeat(20),
        policy: String::new(),
        when: When::After(millis(delay)),
        replace: true,
    })
}

fn ack(leased: &Leased) -> Change {
    Change::Ack { key: leased.job.key.clone(), token: leased.token, again: None }
}

fn claim(store: &mut Box<dyn Store>, visibility: Duration) -> Vec<Leased> {
    let mut leased = Vec::new();
    store
        .claim(&Kinds::new([KIND]), ClaimLimit::jobs(100), visibility, &mut leased)
        .expect("a claim succeeds");
    leased
}

/// Claims until there is something.
fn claim_one(store: &mut Box<dyn Store>, visibility: Duration) -> Leased {
    let begun = Instant::now();
    loop {
        if let Some(leased) = claim(store, visibility).pop() {
            return leased;
        }
        assert!(begun.elapsed() < LONG, "nothing becomes visible");
        thread::sleep(millis(5));
    }
}

impl Trial {
    fn open(&self, address: SocketAddr, timeout: Duration) -> Box<dyn Store> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let queue = format!("failures {}", COUNT.fetch_add(1, Ordering::SeqCst));
        self.open_queue(address, &queue, timeout)
    }

    fn open_queue(&self, address: SocketAddr, queue: &str, timeout: Duration) -> Box<dyn Store> {
        (self.connect)(address, queue, timeout).expect("it connects")
    }
}

/// Five times the server is killed while a client schedules, and started again. All that was
/// acknowledged is there, whole.
pub fn a_killed_server_loses_nothing(trial: &Trial) {
    let mut store = trial.open(trial.server.address(), LONG * 3);
    let (mut acknowledged, mut failed) = (Vec::new(), 0);
    let (commits, over) = (AtomicU32::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..5 {
                let before = commits.load(Ordering::SeqCst);
                while commits.load(Ordering::SeqCst) < before + 5 {
                    thread::sleep(millis(1));
                }
                thread::sleep(Duration::from_micros(round * 700));
                trial.server.kill();
                trial.server.start();
            }
            over.store(true, Ordering::SeqCst);
        });
        for n in 0_u64.. {
            let names: Vec<_> = (0..16).map(|i| format!("{n} {i}")).collect();
            let puts: Vec<_> = names.iter().map(|name| put(name, 3_600_000)).collect();
            match store.commit(&puts) {
                Ok(_) => acknowledged.extend(names),
                Err(error) => {
                    assert!(error.is_transient(), "{error:?}");
                    failed += 1;
                }
            }
            commits.fetch_add(1, Ordering::SeqCst);
            if over.load(Ordering::SeqCst) {
                break;
            }
        }
    });
    assert!(acknowledged.len() >= 5 * 4 * 16, "only {} were acknowledged", acknowledged.len());
    assert!(failed <= 10, "{failed} calls failed: the store waits while a server starts");
    for name in &acknowledged {
        let row = store.find(&key(name)).expect("a lookup succeeds");
        let row = row.unwrap_or_else(|| panic!("{name} was acknowledged and is missing"));
        assert_eq!(row.payload, name.as_bytes().repeat(20), "{name} is whole");
    }
}

/// While there is no server a call fails when its timeout is over, and not before; it succeeds if
/// the server comes back meanwhile.
pub fn a_server_that_is_gone_is_waited_for(trial: &Trial) {
    let mut hasty = trial.open(trial.server.address(), SHORT);
    let mut patient = trial.open(trial.server.address(), LONG);
    trial.server.kill();
    // Whoever had a connection learns that it is broken.
    let _ = hasty.commit(&[put("a", 0)]);
    let _ = patient.commit(&[put("a", 0)]);
    let begun = Instant::now();
    let error = hasty.commit(&[put("a", 0)]).expect_err("no answer");
    assert!(matches!(error, StoreError::Unavailable(_)) && error.is_transient(), "{error:?}");
    assert!(begun.elapsed() < SHORT * 4, "it waited for {:?}", begun.elapsed());
    thread::scope(|scope| {
        let patient = scope.spawn(|| patient.commit(&[put("b", 0)]));
        thread::sleep(millis(100));
        trial.server.start();
        let outcomes = patient.join().expect("no panic").expect("it waited for the server");
        assert_eq!(outcomes, [Outcome::Done]);
    });
    assert_eq!(hasty.commit(&[put("c", 0)]).expect("it connects again"), [Outcome::Done]);
}

/// A server that takes connections and does not answer is given up when the timeout is over; late
/// answers are not taken for those to other questions.
pub fn a_stopped_server_is_unavailable(trial: &Trial) {
    let mut store = trial.open(trial.server.address(), SHORT);
    store.commit(&[put("a", 3_600_000), put("b", 3_600_000)]).expect("a commit succeeds");
    let proxy = Proxy::to(trial.server.address());
    let mut behind = trial.open(proxy.address(), SHORT);
    // The server's other end of a connection cannot be stopped for one client alone: the network
    // is silent, as it is when a server hangs.
    proxy.set(Network::Silent);
    let begun = Instant::now();
    let error = behind.commit(&[put("c", 0)]).expect_err("no answer");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    assert!(begun.elapsed() >= SHORT / 2 && begun.elapsed() < SHORT * 8, "{:?}", begun.elapsed());
    trial.server.stop();
    let error = store.commit(&[Change::Cancel { key: key("a") }]).expect_err("it is stopped");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    trial.server.go_on();
    proxy.set(Network::Sound);
    let cancel = |name| Change::Cancel { key: key(name) };
    let outcomes = store.commit(&[cancel("absent"), cancel("b")]).expect("it goes on");
    assert_eq!(outcomes, [Outcome::Absent, Outcome::Cancelled]);
    assert_eq!(behind.commit(&[cancel("absent")]).expect("it goes on"), [Outcome::Absent]);
}

/// An ack whose answer is lost has been carried out. Repeated, it does no harm.
pub fn a_lost_answer_is_repeated(trial: &Trial) {
    let proxy = Proxy::to(trial.server.address());
    let mut store = trial.open(proxy.address(), Duration::from_secs(2));
    store.commit(&[put("a", 0), put("b", 3_600_000)]).expect("a commit succeeds");
    let leased = claim_one(&mut store, LONG);
    // PostgreSQL answers several times before it commits: find the moment by trying them.
    proxy.set(Network::LosesAnswers);
    assert!(store.commit(&[ack(&leased)]).is_err());
    proxy.set(Network::Sound);
    let outcome = store.commit(&[ack(&leased)]).expect("it goes on")[0];
    assert!(matches!(outcome, Outcome::Absent | Outcome::Done), "{outcome:?}");
    assert_eq!(store.find(&key("a")).expect("a lookup succeeds"), None);
    assert!(store.find(&key("b")).expect("a lookup succeeds").is_some());
}

/// A worker whose network swallows everything loses its job to another when the lease is over; on
/// its return its ack is refused.
pub fn a_worker_that_is_cut_off_is_superseded(trial: &Trial) {
    let proxy = Proxy::to(trial.server.address());
    let queue = "cut off";
    let mut cut_off = trial.open_queue(proxy.address(), queue, SHORT);
    let mut other = trial.open_queue(trial.server.address(), queue, LONG);
    other.commit(&[put("a", 0)]).expect("a commit succeeds");
    let first = claim_one(&mut cut_off, millis(250));
    proxy.set(Network::Silent);
    assert!(cut_off.commit(&[ack(&first)]).is_err(), "no answer");
    let second = claim_one(&mut other, LONG);
    assert!(second.token > first.token && second.was_lost, "{second:?} after {first:?}");
    proxy.set(Network::Sound);
    let outcome = cut_off.commit(&[ack(&first)]).expect("it goes on");
    assert_eq!(outcome, [Outcome::Superseded], "the token is not the newest");
    assert_eq!(other.commit(&[ack(&second)]).expect("a commit succeeds"), [Outcome::Done]);
}

/// A delay on the way changes nothing but the time that calls take.
pub fn a_slow_network_is_only_slow(trial: &Trial) {
    let proxy = Proxy::to(trial.server.address());
    let mut store = trial.open(proxy.address(), LONG);
    proxy.set(Network::Slow(millis(10)));
    let puts: Vec<_> = (0..700).map(|n| put(&n.to_string(), 0)).collect();
    store.commit(&puts).expect("a commit succeeds");
    let mut done = 0;
    while done < 700 {
        let leased = claim(&mut store, LONG);
        let acks: Vec<_> = leased.iter().map(ack).collect();
        let outcomes = store.commit(&acks).expect("a commit succeeds");
        assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Done));
        done += leased.len();
    }
    assert_eq!(done, 700);
}

/// Delays are counted by the server: a job is not handed out before its delay is over, whoever asks
/// how often.
pub fn nothing_is_early_by_the_servers_clock(trial: &Trial) {
    let mut store = trial.open(trial.server.address(), LONG);
    for n in 0..20 {
        let begun = Instant::now();
        store.commit(&[put(&n.to_string(), 7)]).expect("a commit succeeds");
        let leased = claim_one(&mut store, LONG);
        assert!(begun.elapsed() >= millis(7), "{:?} after a delay of 7 ms", begun.elapsed());
        store.commit(&[ack(&leased)]).expect("a commit succeeds");
    }
}

/// Whoever waits for an earlier job is woken after the server was restarted, too.
pub fn who_waits_is_told_again_after_a_restart(trial: &Trial) {
    let (queue, calls) = ("told again", Arc::new(AtomicU32::new(0)));
    let mut waits = trial.open_queue(trial.server.address(), queue, LONG);
    let mut other = trial.open_queue(trial.server.address(), queue, LONG);
    let counted = Arc::clone(&calls);
    waits.wake_by(Arc::new(move || {
        counted.fetch_add(1, Ordering::SeqCst);
    }));
    trial.server.kill();
    trial.server.start();
    let told = |least: u32| {
        let begun = Instant::now();
        while calls.load(Ordering::SeqCst) < least {
            assert!(begun.elapsed() < LONG, "no waker is called");
            thread::sleep(millis(5));
        }
        calls.load(Ordering::SeqCst)
    };
    // Once when it listened first, and again with the new connection.
    let before = told(2);
    // The first call may find its connection broken.
    let _ = other.commit(&[put("a", 1_000)]);
    other.commit(&[put("b", 500)]).expect("it connects again");
    assert!(told(before + 1) > before);
}
