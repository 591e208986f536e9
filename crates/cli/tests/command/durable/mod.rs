//! `wheelhouse durable`: it shows a store without changing it, and refuses what is not a store.

mod files;
mod servers;

use crate::{fails, succeeds};
use serde_json::Value;
use std::time::Duration;
use wheelhouse_durable::store::{
    Change, ClaimLimit, Entry, Key, Kinds, Leased, Outcome, Put, Store, When,
};

const LEASE: Duration = Duration::from_secs(600);

/// A job that is due after `seconds`.
fn put(name: &str, kind: &str, seconds: u64, payload: &[u8]) -> Change {
    let (key, kind, payload) = (Key::new(name).unwrap(), kind.into(), payload.to_vec());
    let (policy, when) = (String::new(), When::After(Duration::from_secs(seconds)));
    Change::Put(Put { key, kind, payload, policy, when, replace: false })
}

fn claim(store: &mut dyn Store, kind: &str) -> Leased {
    // A delay is rounded up to a millisecond.
    for _ in 0..1_000 {
        let (mut leased, _) = store.claim(&Kinds::new([kind]), ClaimLimit::jobs(1), LEASE).unwrap();
        if let Some(mut leased) = leased.pop() {
            let (key, token) = (leased.job.key.clone(), leased.token);
            assert_eq!(store.commit(&[Change::Begin { key, token }]).unwrap(), [Outcome::Done]);
            leased.job.attempt += 1;
            return leased;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("no job of {kind} is due");
}

/// Makes a dead letter under this key, and returns its generation.
fn bury(store: &mut dyn Store, name: &str, reason: &str) -> u64 {
    store.commit(&[put(name, "burial/1", 0, b"{\"id\": 17}")]).unwrap();
    let Leased { job, token, .. } = claim(store, "burial/1");
    let letter = Change::Bury { key: job.key, token, reason: reason.to_owned() };
    assert_eq!(store.commit(&[letter]).unwrap(), [Outcome::Done]);
    job.generation
}

/// Fills a store. Kind `close/1` has a job that a worker has leased, one in half a minute, one in
/// half an hour and one in half a year. Kind `mail/1` has a job that is due. Returns the
/// generations of two dead letters.
fn fill(store: &mut dyn Store) -> [u64; 2] {
    store.commit(&[put("held", "close/1", 0, b"1")]).unwrap();
    assert_eq!(claim(store, "close/1").job.key.as_bytes(), b"held");
    store
        .commit(&[
            put("soon", "close/1", 30, b"2"),
            put("later", "close/1", 1_800, b"not JSON"),
            put("far", "close/1", 15_000_000, &[0xFF]),
            put("now", "mail/1", 0, b"{\"to\": \"a\"}"),
        ])
        .unwrap();
    [bury(store, "first", "no such order"), bury(store, "second", "refused\nthrice")]
}

/// Checks the output of `inspect` for a store that was [filled](fill).
fn is_counted(place: &str, store: &str, format: u32) {
    let ask = |format| succeeds(&format!("durable inspect {place} --format {format}"));
    let all: Value = serde_json::from_str(&ask("json")).unwrap();
    assert_eq!((&all["store"], &all["format"]), (&Value::from(store), &Value::from(format)));
    let row = |at: usize, names: &[&str]| -> Vec<u64> {
        let value = |name: &&str| all["jobs"][at][*name].as_u64().unwrap();
        names.iter().map(value).collect()
    };
    let states = ["pending", "leased", "closed", "replaced", "lease-ended"];
    let due = ["due", "due-in-1-min", "due-in-1-h", "due-in-1-day"];
    let kinds = ["close/1", "mail/1", "(all)"].map(Value::from);
    assert_eq!([0, 1, 2].map(|at| all["jobs"][at]["kind"].clone()), kinds, "{all:#}");
    assert_eq!(row(0, &states), [3, 1, 0, 0, 0]);
    assert_eq!(row(0, &due), [0, 1, 2, 2]);
    assert_eq!(row(1, &states), [1, 0, 0, 0, 0]);
    assert_eq!(row(2, &due), [1, 2, 3, 3]);
    assert_eq!(all["jobs"][2]["first-key"], "now");
    let dead = &all["dead"];
    assert_eq!((&dead[0]["dead"], &dead[0]["key"]), (&Value::from(2), &Value::from("second")));
    assert_eq!(dead[0]["reason"], "refused\nthrice");
    let table = ask("table");
    for part in ["1 overdue; the oldest, now, was due", "burial/1", "refused thrice"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert!(table.lines().all(|line| line.chars().count() <= 150), "too wide:\n{table}");
}

/// The lines of `dump`, by key.
fn dumped(arguments: &str) -> std::collections::BTreeMap<String, Value> {
    let lines = succeeds(&format!("durable dump {arguments}"));
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| (line["key"].as_str().unwrap().to_owned(), line)).collect()
}

/// Checks the output of `dump` for a store that was [filled](fill).
fn is_dumped(place: &str, generations: [u64; 2]) {
    let jobs = dumped(place);
    let keys: Vec<&str> = jobs.keys().map(String::as_str).collect();
    assert_eq!(keys, ["far", "held", "later", "now", "soon"]);
    assert_eq!(jobs["soon"]["payload"], 2);
    assert_eq!(jobs["later"]["payload_text"], "not JSON");
    assert_eq!(jobs["far"]["payload_hex"], "ff");
    assert_eq!(jobs["now"]["payload"]["to"], "a");
    assert!(jobs["now"]["state"] == "pending" && jobs["now"]["kind"] == "mail/1", "{jobs:?}");
    let held = &jobs["held"];
    assert!(held["state"] == "begun" && held["attempt"] == 1, "{held}");
    assert!(held["lease_until"].is_string() && held["token"].is_u64());
    let letters = dumped(&format!("{place} --dead"));
    assert_eq!(letters.len(), 2);
    for (name, generation) in ["first", "second"].into_iter().zip(generations) {
        let letter = &letters[name];
        assert!(letter["generation"] == generation && letter["payload"]["id"] == 17, "{letter}");
    }
    assert_eq!(letters["first"]["reason"], "no such order");
}

/// Jobs of a store that was [filled](fill) are cancelled, moved and run, and kinds are paused.
fn is_changed(place: &str, store: &mut dyn Store) {
    let call = |what: &str, rest: &str| format!("durable {what} {place} {rest}");
    let job = |store: &mut dyn Store, name: &str| {
        rows(store).into_iter().find(|row| row.key.as_bytes() == name.as_bytes())
    };
    let told = succeeds(&call("cancel", "soon"));
    assert!(told.is_empty(), "only data goes to stdout: {told}");
    assert!(job(store, "soon").is_none());
    let message = fails(&call("cancel", "soon later"));
    assert!(message.contains("error: soon: no job has this key"), "{message}");
    assert!(message.contains("later: is cancelled"), "{message}");
    let message = fails(&call("move", "--in 1h held far"));
    assert!(message.contains("held: is running") && message.contains("far: is moved"), "{message}");
    succeeds(&call("move", "--at 2100-01-01T00:00:00Z far"));
    assert_eq!(job(store, "far").unwrap().due.as_millis(), 4_102_444_800_000);
    succeeds(&call("run", "far"));
    assert_eq!(claim(store, "close/1").job.key.as_bytes(), b"far");
    let shown = |what, kind| {
        succeeds(&call(what, kind));
        let shown = succeeds(&call("inspect", ""));
        (shown.contains("mail/1 is paused"), shown.contains("everything is paused"))
    };
    assert_eq!(shown("pause", "mail/1"), (true, false));
    assert_eq!(shown("pause", ""), (true, true));
    assert_eq!(shown("resume", "mail/1"), (false, true));
    assert_eq!(shown("resume", ""), (false, false));
}

fn rows(store: &mut dyn Store) -> Vec<Entry> {
    let mut rows = store.scan(None, 1_000).unwrap();
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    rows
}
