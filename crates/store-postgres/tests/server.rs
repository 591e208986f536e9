//! Transactions of the user, several writers of one key, and databases that are newer, foreign, or
//! not durable.

mod common;

use common::{connect, execute, run, shared_store};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{
    Change, ClaimLimit, Dead, Kinds, Outcome, Put, Store, StoreError, Timestamp, When,
};
use wheelhouse_durable::{Durable, Handlers, Next};
use wheelhouse_store_conformance::jobs::*;
use wheelhouse_store_postgres::tokio_postgres::Transaction;
use wheelhouse_store_postgres::{PostgresStore, commit_in};
use wheelhouse_test_servers::{Network, Proxy, Server, queue, wait_until};

/// A job is committed together with the user's row, and an ack together with the effect, or not at
/// all.
#[test]
fn jobs_and_acks_share_transactions_with_the_users_tables() {
    let Some((mut store, url, queue)) = shared_store() else { return };
    run(async {
        let mut shop = connect(&url).await;
        shop.batch_execute("CREATE TABLE orders (id text)").await.unwrap();
        for (name, commit) in [("lost", false), ("kept", true)] {
            let transaction = shop.transaction().await.unwrap();
            transaction.execute("INSERT INTO orders VALUES ($1)", &[&name]).await.unwrap();
            let outcomes = commit_in(&transaction, &queue, &[put(name, 0)]).await.unwrap();
            assert_eq!(outcomes, [Outcome::Done]);
            if commit { transaction.commit().await } else { transaction.rollback().await }.unwrap();
        }
    });
    let leased = claim(&mut store);
    assert_eq!(names(&leased), ["kept"]);
    let change = ack(&leased[0]);
    let ack = |commit: bool| {
        run(async {
            let mut shop = connect(&url).await;
            let transaction = shop.transaction().await.unwrap();
            let changes = std::slice::from_ref(&change);
            let outcomes = commit_in(&transaction, &queue, changes).await.unwrap();
            if commit { transaction.commit().await } else { transaction.rollback().await }.unwrap();
            outcomes[0]
        })
    };
    assert_eq!((ack(false), rows(&mut store).len()), (Outcome::Done, 1));
    assert_eq!((ack(true), rows(&mut store).len()), (Outcome::Done, 0));
    assert_eq!(ack(true), Outcome::Absent);
}

/// A handler commits the end of its run in its own transaction. A periodic job continues.
#[test]
fn a_periodic_job_that_acks_in_a_transaction_of_the_user_continues() {
    let Some((store, url, queue)) = shared_store() else { return };
    let (sender, ran) = mpsc::channel();
    let handlers = Handlers::new().on_bytes(KIND, move |job, _| {
        run(async {
            let mut shop = connect(&url).await;
            let transaction = shop.transaction().await?;
            assert_eq!(commit_in(&transaction, &queue, &[job.ack()]).await?, [Outcome::Done]);
            transaction.commit().await?;
            sender.send(job.occurrence())?;
            Ok(Next::Acked)
        })
    });
    let timers = Durable::start(store, handlers).unwrap();
    continues(&timers, &ran);
    timers.stop();
}

/// A transaction of the user has ended one run and stays open. The leases of other runs are renewed
/// without a wait for it.
#[test]
fn an_open_transaction_delays_no_other_renewal() {
    let Some((mut store, url, queue)) = shared_store() else { return };
    store.commit(&[put("a", 0), put("b", 0), put("c", 0)]).unwrap();
    let leased = claim(&mut store);
    let mut renewals: Vec<_> = leased.iter().map(|leased| extend(leased, 2 * LEASE)).collect();
    renewals.push(Change::Extend { key: key("none"), token: leased[0].token, visibility: LEASE });
    run(async {
        let mut shop = connect(&url).await;
        let transaction = shop.transaction().await.unwrap();
        commit_in(&transaction, &queue, &[ack(&leased[1])]).await.unwrap();
        // A call that waits for a lock fails after ten seconds.
        let begun = Instant::now();
        let outcomes = store.commit(&renewals).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        use Outcome::{Absent, Done, Running};
        assert_eq!(outcomes, [Done, Running, Done, Absent]);
        let until = |store: &mut PostgresStore, n: usize| {
            store.find(&leased[n].job.key).unwrap().unwrap().visible_at
        };
        assert!(until(&mut store, 0) > leased[0].until && until(&mut store, 2) > leased[2].until);
        assert_eq!(until(&mut store, 1), leased[1].until);
        transaction.rollback().await.unwrap();
        assert_eq!(store.commit(&renewals).unwrap(), [Done, Done, Done, Absent]);
    });
}

/// Eight connections put and cancel the same few keys in batches, in different orders: no deadlock,
/// no error, and at most one job for each key.
#[test]
fn many_may_write_the_same_keys() {
    let Some((mut store, url, queue)) = shared_store() else { return };
    std::thread::scope(|scope| {
        for thread in 0..8_usize {
            let (url, queue) = (&url, &queue);
            scope.spawn(move || {
                let mut store = PostgresStore::connect(url, queue).unwrap();
                for round in 0..40 {
                    let names = (0..10).map(|n| format!("{}", (n * (2 * thread + 1) + round) % 10));
                    let changes: Vec<_> = names
                        .enumerate()
                        .map(|(n, name)| match (n + round + thread) % 3 {
                            0 => cancel(&name),
                            _ => put(&name, 1_000_000),
                        })
                        .collect();
                    assert_eq!(store.commit(&changes).unwrap().len(), 10);
                }
            });
        }
    });
    assert!(rows(&mut store).len() <= 10);
}

/// Waits until another transaction waits for this one.
async fn wait_until_blocking(transaction: &Transaction<'_>, url: &str) {
    let own = transaction.query_one("SELECT pg_backend_pid()", &[]).await.unwrap();
    let (own, watch): (i32, _) = (own.get(0), connect(url).await);
    let blocked = "SELECT count(*) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))";
    while watch.query_one(blocked, &[&own]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
}

/// Another transaction moves a job, or begins its run, while the store cancels it by one statement.
/// The statement waits, finds that the row has changed, and is undone. Then the commit is repeated
/// by the rules.
#[test]
fn a_row_that_changes_during_a_commit_of_one_statement_is_no_error() {
    let Some(server) = Server::shared_postgres() else { return };
    let url = server.url();
    for (change, outcome) in [
        ("due = due + 9000, visible_at = visible_at + 9000", Outcome::Cancelled),
        ("state = 1, attempt = 1, token = 7, until = visible_at + 9000", Outcome::Running),
    ] {
        let queue = queue();
        let mut store = PostgresStore::connect(&url, &queue).unwrap();
        store.commit(&[put("a", 1_000_000), put("b", 1_000_000)]).unwrap();
        std::thread::scope(|scope| {
            run(async {
                let mut shop = connect(&url).await;
                let transaction = shop.transaction().await.unwrap();
                let sql = format!(
                    "UPDATE wheelhouse.job SET {change} WHERE queue = '{queue}' AND key = 'b'"
                );
                assert_eq!(transaction.execute(&sql, &[]).await.unwrap(), 1);
                let cancels = ["a", "b"].map(cancel);
                let store = &mut store;
                let cancelled = scope.spawn(move || store.commit(&cancels));
                wait_until_blocking(&transaction, &url).await;
                transaction.commit().await.unwrap();
                let outcomes = cancelled.join().unwrap().expect("a commit succeeds");
                assert_eq!(outcomes, [Outcome::Cancelled, outcome]);
            });
        });
        assert_eq!(rows(&mut store).len(), usize::from(outcome == Outcome::Running));
    }
}

/// Another transaction removes a dead letter while the store revives it. No job is made of it.
#[test]
fn a_letter_that_another_transaction_removes_is_not_revived() {
    let Some((mut store, url, queue)) = shared_store() else { return };
    store.commit(&[put("a", 0)]).unwrap();
    let leased = claim(&mut store).remove(0);
    store.commit(&[bury(&leased, "")]).unwrap();
    let generation = leased.job.generation;
    std::thread::scope(|scope| {
        run(async {
            let mut shop = connect(&url).await;
            let transaction = shop.transaction().await.unwrap();
            let forget = Change::Forget { generation };
            let outcomes = commit_in(&transaction, &queue, &[forget]).await.unwrap();
            assert_eq!(outcomes, [Outcome::Done]);
            let store = &mut store;
            let revive = Change::Revive { generation, when: When::After(Duration::ZERO) };
            let revived = scope.spawn(move || store.commit(&[revive]));
            wait_until_blocking(&transaction, &url).await;
            transaction.commit().await.unwrap();
            assert_eq!(revived.join().unwrap().unwrap(), [Outcome::Absent]);
        });
    });
    assert_eq!(rows(&mut store), []);
}

/// Another program claims the job that the transaction saw as the first, and does not see the job
/// that the transaction has written. So the transaction must notify.
#[test]
fn who_waits_is_told_of_a_job_in_a_transaction_that_stays_open() {
    let Some((mut store, url, queue)) = shared_store() else { return };
    let (sender, woken) = mpsc::channel();
    store.wake_by(Arc::new(move || sender.send(()).unwrap_or_default()));
    let is_told = |what| woken.recv_timeout(Duration::from_secs(30)).expect(what);
    is_told("woken when it listens");
    store.commit(&[put("first", 0)]).unwrap();
    is_told("woken for the first");
    run(async {
        let mut client = connect(&url).await;
        let transaction = client.transaction().await.unwrap();
        commit_in(&transaction, &queue, &[put("second", 1_000_000)]).await.unwrap();
        let claimed = std::thread::scope(|scope| scope.spawn(|| claim(&mut store)).join().unwrap());
        assert_eq!(claimed.len(), 1);
        transaction.commit().await.unwrap();
    });
    is_told("woken for the second");
}

/// Running programs survive a restore from an old copy, which sets the sequence back.
#[test]
fn tokens_grow_also_if_the_database_is_set_back_while_programs_run() {
    let Some(server) = Server::postgres() else { return };
    let url = server.url();
    let mut store = PostgresStore::connect(&url, "q").unwrap();
    store.commit(&[put("a", 0)]).unwrap();
    let before = claim(&mut store)[0].token;
    let back = format!("SELECT setval('wheelhouse.number', {})", before.0 - 1_000_000_000);
    execute(&url, &[&back]);
    server.kill();
    server.start();
    // The first call may find its connection broken.
    let _ = store.commit(&[put("b", 0)]);
    store.commit(&[put("c", 0)]).unwrap();
    let tokens: Vec<_> = claim(&mut store).iter().map(|leased| leased.token).collect();
    assert!(!tokens.is_empty() && tokens.iter().all(|token| *token > before), "{tokens:?}");
}

/// A change that can never be stored is refused for good, so that the committer divides its batch.
#[test]
fn what_the_server_will_never_take_is_refused_with_its_reason() {
    let Some((mut store, ..)) = shared_store() else { return };
    let bad = Change::Put(Put { policy: "a\0b".into(), ..job("bad", 0) });
    assert!(!fails(store.commit(&[put("good", 0), bad]), "0x00").is_transient());
    assert_eq!(rows(&mut store).len(), 0);
}

/// Two transactions hold a row each and want the other's. The server ends one of them. The store's
/// call succeeds in any case, and the user's can be retried.
#[test]
fn a_deadlock_with_a_users_transaction_is_no_error() {
    const LONG: Duration = Duration::from_secs(60);
    let Some(server) = Server::shared_postgres() else { return };
    let url = server.url();
    let queue = queue();
    let mut store = PostgresStore::builder(&url, &queue).unwrap().timeout(LONG).connect().unwrap();
    store.commit(&[put("a", 900_000), put("b", 900_000)]).unwrap();
    let later = |name| Change::Move { key: key(name), when: When::After(LONG * 30) };
    let refused = run(async {
        let mut shop = connect(&url).await;
        // On a fast machine the store finds the deadlock first.
        shop.batch_execute("SET deadlock_timeout = '5s'").await.unwrap();
        let transaction = shop.transaction().await.unwrap();
        commit_in(&transaction, &queue, &[later("b")]).await.unwrap();
        let others = std::thread::spawn(move || store.commit(&[later("a"), later("b")]));
        wait_until_blocking(&transaction, &url).await;
        let refused = commit_in(&transaction, &queue, &[later("a")]).await.err();
        if refused.is_some() { transaction.rollback().await } else { transaction.commit().await }
            .unwrap();
        let outcomes = others.join().unwrap().expect("the call is repeated");
        assert_eq!(outcomes, [Outcome::Done; 2]);
        refused
    });
    if let Some(error) = refused {
        assert!(error.is_transient() && error.to_string().contains("try again"), "{error}");
        assert!(!error.to_string().contains("cannot be reached"), "{error}");
    }
}

/// A claim from the beginning exceeds the timeout: here because of a lock, in practice because it
/// walks over dead rows.
#[test]
fn a_search_that_timed_out_is_not_repeated_at_once() {
    const TIMEOUT: Duration = Duration::from_secs(3);
    let Some(server) = Server::postgres() else { return };
    let open = || PostgresStore::builder(&server.url(), "a").unwrap().timeout(TIMEOUT).connect();
    let (mut store, mut other) = (open().unwrap(), open().unwrap());
    run(async {
        let client = connect(&server.url()).await;
        let lock = "BEGIN; LOCK TABLE wheelhouse.job IN ACCESS EXCLUSIVE MODE";
        client.batch_execute(lock).await.unwrap();
        let claim = || store.claim(&Kinds::new([KIND]), ClaimLimit::jobs(9), LEASE).unwrap_err();
        let error = std::thread::scope(|scope| scope.spawn(claim).join().unwrap());
        // The server has the same timeout. Its answer comes first if this program was not
        // scheduled.
        let timed_out = ["no answer within 3s", "due to statement timeout"];
        assert!(timed_out.iter().any(|text| error.to_string().contains(text)), "{error}");
        client.batch_execute("ROLLBACK").await.unwrap();
    });
    let old = Put { when: When::At(Timestamp::from_millis(1)), ..job("old", 0) };
    commit(&mut other, &[Change::Put(old), put("new", 0)]);
    // This claim begins at the present, because no claim has ended before.
    assert_eq!(names(&lease(&mut store, 9)), ["new"]);
}

#[test]
fn a_timeout_may_be_as_long_or_as_short_as_can_be() {
    let Some(server) = Server::shared_postgres() else { return };
    let url = server.url();
    let builder = || PostgresStore::builder(&url, &queue()).unwrap();
    builder().timeout(Duration::from_secs(100_000_000)).connect().unwrap();
    fails(builder().timeout(Duration::from_nanos(1)).connect(), "no answer within");
    let zero = fails(builder().timeout(Duration::ZERO).connect_later(), "`timeout` of zero");
    assert!(!zero.is_transient());
    fails(PostgresStore::connect("postgres://a@127.0.0.1:1/a", "q"), "refused");
    fails(PostgresStore::connect("postgres://a@h/a?sslmode=verify-full", "q"), "sslmode=require");
}

#[test]
fn newer_and_foreign_databases_are_not_touched() {
    let Some(server) = Server::postgres() else { return };
    let url = server.url();
    let refusal = || PostgresStore::connect(&url, "a").expect_err("it is refused");
    execute(&url, &["CREATE SCHEMA wheelhouse; CREATE TABLE wheelhouse.meta (barn text)"]);
    let error = refusal();
    assert!(matches!(error, StoreError::Foreign(_)), "{error:?}");
    execute(&url, &["DROP SCHEMA wheelhouse CASCADE"]);
    drop(PostgresStore::connect(&url, "a").unwrap());
    execute(&url, &["UPDATE wheelhouse.meta SET format = 2"]);
    assert!(matches!(refusal(), StoreError::Format { found: 2, known: 1 }));
    // A dump of the schema alone.
    execute(&url, &["DELETE FROM wheelhouse.meta"]);
    let error = refusal();
    assert!(error.to_string().contains("drop the schema"), "{error}");
    let off = "ALTER SYSTEM SET full_page_writes = off";
    execute(&url, &["INSERT INTO wheelhouse.meta VALUES (1)", off, "SELECT pg_reload_conf()"]);
    let error = loop {
        // The server reads its configuration some time after the call.
        if let Err(error) = PostgresStore::connect(&url, "a") {
            break error;
        }
    };
    assert!(error.to_string().contains("set `full_page_writes = on`"), "{error}");
    assert!(PostgresStore::builder(&url, "a").unwrap().unchecked().connect().is_ok());
    assert!(matches!(PostgresStore::connect("no url", "a"), Err(StoreError::Refused(_))));
}

/// All letters of a batch are removed by one statement. With round trips for each of them, the
/// batch would exceed its timeout on this network.
#[test]
fn many_dead_letters_are_removed_in_few_round_trips() {
    let Some(server) = Server::shared_postgres() else { return };
    let proxy = Proxy::to(server.address());
    let mut store = PostgresStore::connect(&server.url_at(proxy.address()), &queue()).unwrap();
    commit(&mut store, &(0..500).map(|n| put(&format!("{n}"), 0)).collect::<Vec<_>>());
    let buried: Vec<_> = claim(&mut store).iter().map(|leased| bury(leased, "")).collect();
    commit(&mut store, &buried);
    let letters = store.dead(None, 999).unwrap();
    assert_eq!(store.dead(Some(u64::MAX), 999).unwrap(), [], "none is after the last number");
    let forget = |letter: &Dead| Change::Forget { generation: letter.job.generation };
    let mut changes: Vec<_> = letters.iter().map(forget).collect();
    changes.insert(7, changes[3].clone());
    proxy.set(Network::Slow(Duration::from_millis(20)));
    let outcomes = store.commit(&changes).unwrap();
    assert_eq!(outcomes[7], Outcome::Absent, "it was removed already");
    assert_eq!(outcomes.iter().filter(|its| **its == Outcome::Done).count(), 500);
    assert_eq!(store.dead(None, 999).unwrap(), []);
}

/// A transaction elsewhere keeps the rows of jobs that have ended. An operator sees their number.
#[test]
fn dead_rows_are_shown() {
    let Some(server) = Server::postgres() else { return };
    let url = server.url();
    let mut store = PostgresStore::connect(&url, "orders").unwrap();
    let jobs: Vec<_> = (0..100).map(|n| put(&format!("{n}"), 900_000)).collect();
    store.commit(&jobs).unwrap();
    let mut dead_rows = || store.gauges().unwrap()["dead_rows"];
    assert_eq!(dead_rows(), 0);
    run(async {
        let reader = connect(&url).await;
        let snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM wheelhouse.job LIMIT 1";
        reader.batch_execute(snapshot).await.unwrap();
        let mut ends = PostgresStore::connect(&url, "orders").unwrap();
        commit(&mut ends, &(0..100).map(|n| cancel(&n.to_string())).collect::<Vec<_>>());
        // The server adds the counts of a connection up when it ends, or some seconds later.
        drop(ends);
        wait_until("the rows are counted", || dead_rows() > 0);
        assert_eq!(dead_rows(), 100);
    });
}
