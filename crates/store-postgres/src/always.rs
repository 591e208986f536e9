//! The conformance suite on a store whose claims all begin where the last one ended.

use crate::PostgresStore;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use wheelhouse_durable::store::{
    Change, ClaimLimit, Key, Kinds, Leased, Outcome, Put, Store, Timestamp, When,
};
use wheelhouse_store_conformance::{Bed, Now, OnServer, store_suite};
use wheelhouse_test_servers::Server;

fn on_server() -> Option<OnServer<impl FnMut(Now) -> PostgresStore>> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let server = SERVER.get_or_init(Server::postgres).as_ref()?;
    let url = format!("postgres://postgres@{}/postgres", server.address());
    let queue = format!("queue {}", COUNT.fetch_add(1, Ordering::SeqCst));
    Some(OnServer::new(move |now| {
        let builder = PostgresStore::builder(&url, &queue).expect("a URL");
        let store = builder.clock(now).connect().expect("it connects");
        store.floors.lock().use_always();
        store
    }))
}

fn bed() -> Option<impl Bed> {
    on_server()
}

store_suite!(bed);

/// Each kind is found: before, between and after the claimed kinds.
#[test]
fn kinds_are_listed_whichever_are_claimed() {
    let Some(mut bed) = on_server() else { return };
    let mut store = bed.connect();
    bed.advance(Duration::from_secs(1_000));
    let put = |kind: &str, millis| {
        let (key, when) = (Key::new(kind).unwrap(), When::At(Timestamp::from_millis(millis)));
        let (kind, payload, policy) = (kind.into(), Vec::new(), String::new());
        Change::Put(Put { key, kind, payload, policy, when, replace: false })
    };
    let far = 1_u64 << 50;
    let names = ["a", "b", "b2", "c", "d", "e", "f"];
    store.commit(&names.map(|kind| put(kind, far))).unwrap();
    let mut listed = |claimed: &[&str]| {
        let (kinds, lease) = (Kinds::new(claimed.iter().copied()), Duration::from_secs(1));
        store.claim(&kinds, ClaimLimit::jobs(9), lease, &mut Vec::new()).unwrap();
        let mut listed = Vec::new();
        store.kinds(&mut |kind, first| listed.push((kind.to_string(), first))).unwrap();
        listed
    };
    let first = Timestamp::from_millis(far);
    for claimed in [&[][..], &["a"], &["f", "b"], &["c", "d", "0", "g", "cc"], &names] {
        assert_eq!(listed(claimed), names.map(|name| (name.to_owned(), first)), "{claimed:?}");
    }
}

/// A claim removes a cancelled row, and a search for one more job finds only one that is too long.
/// The claim returns the time of that job, and the next claim leases it.
#[test]
fn a_job_that_exceeds_the_limit_of_bytes_is_not_passed_over() {
    let Some(mut bed) = on_server() else { return };
    let mut store = bed.connect();
    bed.advance(Duration::from_secs(1_000));
    let put = |key: &str, millis, bytes| {
        let (key, when) = (Key::new(key).unwrap(), When::At(Timestamp::from_millis(millis)));
        let (kind, payload, policy) = ("a".into(), vec![0; bytes], String::new());
        Change::Put(Put { key, kind, payload, policy, when, replace: false })
    };
    let (kinds, lease) = (Kinds::new(["a"]), Duration::from_secs(1));
    let present = store.now().unwrap().as_millis();
    let mut leased = Vec::new();
    store.commit(&[put("cancelled", present, 1)]).unwrap();
    store.claim(&kinds, ClaimLimit::jobs(1), lease, &mut leased).unwrap();
    let (key, token) = (leased[0].job.key.clone(), leased[0].token);
    let begun = [Change::Begin { key: key.clone(), token }, Change::Cancel { key }];
    assert_eq!(store.commit(&begun).unwrap(), [Outcome::Done, Outcome::Running]);
    let long = present + 2_000;
    store.commit(&[put("short", present + 500, 1), put("long", long, 100)]).unwrap();
    bed.advance(Duration::from_secs(3));
    leased.clear();
    let limit = ClaimLimit { jobs: 2, bytes: 50 };
    let next = store.claim(&kinds, limit, lease, &mut leased).unwrap();
    let keys = |leased: &[Leased]| leased.iter().map(|its| its.job.key.to_string()).collect();
    let first: String = keys(&leased);
    assert_eq!((&*first, next.visible_at), ("short", Some(Timestamp::from_millis(long))));
    leased.clear();
    store.claim(&kinds, limit, lease, &mut leased).unwrap();
    let second: String = keys(&leased);
    assert_eq!(second, "long");
}
