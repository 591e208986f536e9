//! Answers at sizes where structures work otherwise than at small ones: with more than 65,536 live timers, the hierarchical wheel moves a
//! timer by another path.

use wheelhouse_harness::source::Source;
use wheelhouse_harness::{contender, verify};

#[test]
fn a_hundred_thousand_timers_get_the_answers_of_the_oracle() {
    let sources = ["uniform", "session-ttl", "keepalive", "cancel-storm"].map(|name| Source::find(name).unwrap());
    let contenders = contender::all();
    let verified = verify::verify(&sources, &contenders, 100_000, 1).unwrap();
    assert!(verified.failures.is_empty(), "{:?}", verified.failures);
    assert_eq!(verified.table.rows.len(), sources.len() * contenders.len());
}
