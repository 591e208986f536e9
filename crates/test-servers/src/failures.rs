//! Checks of the failures that a store on a server must survive: servers that are killed, stopped
//! and restarted; networks that are slow, silent, cut, or lose answers. Each check panics with the
//! promise that was broken and with what happened instead.

use crate::suite::QUEUE;
use crate::{Connect, How, Network, Proxy, TestServer, wait_until};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{
    Change, ClaimLimit, Kinds, Leased, Outcome, Put, Store, StoreError,
};
use wheelhouse_store_conformance::history;
use wheelhouse_store_conformance::jobs::{KIND, ack, cancel, count_wakes, job, key};

const SHORT: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(10);

/// The timeout of the processes of a history.
const HISTORY: Duration = Duration::from_secs(2);

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Replaces a job. The payload of the new one is longer than its name.
fn put(name: &str, delay: u64) -> Change {
    let payload = name.as_bytes().repeat(20);
    Change::Put(Put { payload, replace: true, ..job(name, delay) })
}

fn claim(store: &mut dyn Store, visibility: Duration) -> Vec<Leased> {
    let claimed = store.claim(&Kinds::new([KIND]), ClaimLimit::jobs(100), visibility);
    claimed.expect("a claim succeeds").0
}

/// Claims until there is a job.
fn claim_one(store: &mut dyn Store, visibility: Duration) -> Leased {
    let mut leased = Vec::new();
    wait_until("a job is visible", || {
        leased = claim(store, visibility);
        !leased.is_empty()
    });
    leased.remove(0)
}

/// While a client schedules, the server is killed and started again five times. All acknowledged
/// jobs are there and complete.
pub fn a_killed_server_loses_nothing(tested: &TestServer) {
    let mut store = tested.open(tested.server.address(), LONG * 3);
    let (mut acknowledged, mut failed, mut numbers) = (Vec::new(), 0, 0_u64..);
    let mut commit = || {
        let names: Vec<_> = numbers.by_ref().take(16).map(|n| format!("job {n}")).collect();
        let puts: Vec<_> = names.iter().map(|name| put(name, 3_600_000)).collect();
        match store.commit(&puts) {
            Ok(_) => acknowledged.extend(names),
            Err(error) => {
                assert!(error.is_transient(), "{error:?}");
                failed += 1;
            }
        }
    };
    for round in 0..5 {
        (0..5).for_each(|_| commit());
        thread::scope(|scope| {
            let restarts = scope.spawn(|| {
                thread::sleep(Duration::from_micros(round * 700));
                tested.server.kill();
                tested.server.start();
            });
            while !restarts.is_finished() {
                commit();
            }
        });
    }
    assert!(acknowledged.len() >= 5 * 4 * 16, "only {} were acknowledged", acknowledged.len());
    assert!(failed <= 10, "{failed} calls failed: the store waits while a server starts");
    for name in &acknowledged {
        let row = store.find(&key(name)).expect("a lookup succeeds");
        let row = row.unwrap_or_else(|| panic!("{name} was acknowledged and is missing"));
        assert_eq!(row.payload, name.as_bytes().repeat(20), "{name} is whole");
    }
}

/// Without a server a call fails when its timeout is over, and not before. It succeeds if the
/// server comes back in time.
pub fn a_server_that_is_gone_is_waited_for(tested: &TestServer) {
    let mut hasty = tested.open(tested.server.address(), SHORT);
    let mut patient = tested.open(tested.server.address(), LONG);
    tested.server.kill();
    // The first call of each store notices that its connection is broken.
    let _ = hasty.commit(&[put("a", 0)]);
    let _ = patient.commit(&[put("a", 0)]);
    let begun = Instant::now();
    let error = hasty.commit(&[put("a", 0)]).expect_err("no answer");
    assert!(matches!(error, StoreError::Unavailable(_)) && error.is_transient(), "{error:?}");
    // The default timeout is as long as `LONG`.
    assert!(begun.elapsed() < LONG / 2, "it waited for {:?}", begun.elapsed());
    thread::scope(|scope| {
        let patient = scope.spawn(|| patient.commit(&[put("b", 0)]));
        thread::sleep(millis(100));
        tested.server.start();
        let outcomes = patient.join().expect("no panic").expect("it waited for the server");
        assert_eq!(outcomes, [Outcome::Done]);
    });
    assert_eq!(hasty.commit(&[put("c", 0)]).expect("it connects again"), [Outcome::Done]);
}

/// If a server accepts connections and does not answer, a call fails when its timeout is over. A
/// late answer is not taken for the answer to another request.
pub fn a_stopped_server_is_unavailable(tested: &TestServer) {
    let mut store = tested.open(tested.server.address(), SHORT);
    store.commit(&[put("a", 3_600_000), put("b", 3_600_000)]).expect("a commit succeeds");
    let proxy = Proxy::to(tested.server.address());
    let mut behind = tested.open(proxy.address(), SHORT);
    // A server cannot be stopped for one of its clients only. So the network of that client is
    // silent, as when a server hangs.
    proxy.set(Network::Silent);
    let begun = Instant::now();
    let error = behind.commit(&[put("c", 0)]).expect_err("no answer");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    assert!((SHORT / 2..LONG).contains(&begun.elapsed()), "{:?}", begun.elapsed());
    tested.server.stop();
    let error = store.commit(&[cancel("a")]).expect_err("it is stopped");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    tested.server.resume();
    proxy.set(Network::Sound);
    let outcomes = store.commit(&[cancel("absent"), cancel("b")]).expect("it goes on");
    assert_eq!(outcomes, [Outcome::Absent, Outcome::Cancelled]);
    assert_eq!(behind.commit(&[cancel("absent")]).expect("it goes on"), [Outcome::Absent]);
}

/// An ack was carried out although its answer was lost. Repeating it does no harm.
pub fn a_lost_answer_is_repeated(tested: &TestServer) {
    let proxy = Proxy::to(tested.server.address());
    let mut store = tested.open(proxy.address(), Duration::from_secs(2));
    store.commit(&[put("a", 0), put("b", 3_600_000)]).expect("a commit succeeds");
    let leased = claim_one(&mut *store, LONG);
    // The answer may be lost before or after PostgreSQL commits, because it answers several times.
    proxy.set(Network::LosesAnswers);
    assert!(store.commit(&[ack(&leased)]).is_err());
    proxy.set(Network::Sound);
    let outcome = store.commit(&[ack(&leased)]).expect("it goes on")[0];
    assert!(matches!(outcome, Outcome::Absent | Outcome::Done), "{outcome:?}");
    assert_eq!(store.find(&key("a")).expect("a lookup succeeds"), None);
    assert!(store.find(&key("b")).expect("a lookup succeeds").is_some());
}

/// If the network of a worker swallows everything, another worker gets its job when the lease is
/// over. When the first one returns, its ack is refused.
pub fn a_worker_that_is_cut_off_is_superseded(tested: &TestServer) {
    let proxy = Proxy::to(tested.server.address());
    let mut cut_off = tested.open(proxy.address(), SHORT);
    let mut other = tested.open(tested.server.address(), LONG);
    other.commit(&[put("a", 0)]).expect("a commit succeeds");
    let first = claim_one(&mut *cut_off, millis(250));
    proxy.set(Network::Silent);
    assert!(cut_off.commit(&[ack(&first)]).is_err(), "no answer");
    let second = claim_one(&mut *other, LONG);
    assert!(second.token > first.token && second.was_lost, "{second:?} after {first:?}");
    proxy.set(Network::Sound);
    let outcome = cut_off.commit(&[ack(&first)]).expect("it goes on");
    assert_eq!(outcome, [Outcome::Superseded], "the token is not the newest");
    assert_eq!(other.commit(&[ack(&second)]).expect("a commit succeeds"), [Outcome::Done]);
}

/// A network delay changes only the time that calls take.
pub fn a_slow_network_is_only_slow(tested: &TestServer) {
    let proxy = Proxy::to(tested.server.address());
    let mut store = tested.open(proxy.address(), LONG);
    proxy.set(Network::Slow(millis(10)));
    let puts: Vec<_> = (0..700).map(|n| put(&n.to_string(), 0)).collect();
    let begun = Instant::now();
    store.commit(&puts).expect("a commit succeeds");
    assert!(begun.elapsed() >= millis(20), "both directions are slow: {:?}", begun.elapsed());
    let mut done = 0;
    while done < 700 {
        let leased = claim(&mut *store, LONG);
        let acks: Vec<_> = leased.iter().map(ack).collect();
        let outcomes = store.commit(&acks).expect("a commit succeeds");
        assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Done));
        done += leased.len();
    }
    assert_eq!(done, 700);
}

/// The server measures delays: no job is handed out before its delay is over, however often workers
/// ask. A job without a delay is due at the present rounded down: the next claim gets it.
pub fn nothing_is_early_by_the_servers_clock(tested: &TestServer) {
    let mut store = tested.open(tested.server.address(), LONG);
    for n in 0..20 {
        store.commit(&[put("at once", 0)]).expect("a commit succeeds");
        let leased = claim(&mut *store, LONG);
        assert_eq!(leased.len(), 1, "of attempt {n}");
        store.commit(&[ack(&leased[0])]).expect("a commit succeeds");
        let begun = Instant::now();
        store.commit(&[put(&n.to_string(), 7)]).expect("a commit succeeds");
        let leased = claim_one(&mut *store, LONG);
        assert!(begun.elapsed() >= millis(7), "{:?} after a delay of 7 ms", begun.elapsed());
        store.commit(&[ack(&leased)]).expect("a commit succeeds");
    }
}

/// A waiting store is also woken for an earlier job after the server was restarted.
pub fn who_waits_is_told_again_after_a_restart(tested: &TestServer) {
    let mut waits = tested.open(tested.server.address(), LONG);
    let mut other = tested.open(tested.server.address(), LONG);
    let calls = count_wakes(&mut *waits);
    tested.server.kill();
    tested.server.start();
    let told = |least: usize| {
        wait_until("the store is woken", || calls.load(Ordering::SeqCst) >= least);
        calls.load(Ordering::SeqCst)
    };
    // Once when it first listened, and again with the new connection.
    let before = told(2);
    // The first call may find its connection broken.
    let _ = other.commit(&[put("a", 2_000_000)]);
    other.commit(&[put("b", 1_000_000)]).expect("it connects again");
    told(before + 1);
}

/// A process of a history.
pub fn plays(connect: Connect) {
    history::child(|url| connect(url, QUEUE, How::Within(HISTORY)));
}

/// The history of processes that are stopped and killed, on a network that is cut. Before every
/// second cut, answers are lost.
pub fn a_history_of_three_processes_is_sound(tested: &TestServer) {
    let proxy = Proxy::to(tested.server.address());
    let store = tested.open(tested.server.address(), HISTORY);
    let logs = tempfile::tempdir().expect("a temporary folder");
    let cut = |n: u32| {
        if n % 2 == 1 {
            proxy.set(Network::LosesAnswers);
            thread::sleep(millis(20));
        }
        proxy.set(Network::Cut);
        proxy.set(Network::Sound);
    };
    history::trial(&tested.server.url_at(proxy.address()), logs.path(), true, cut, store);
}
