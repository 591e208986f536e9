//! Answers with many timers, where structures take other paths: above 65,536 live timers, the
//! hierarchical wheel moves a timer differently.

use wheelhouse_harness::source::StreamSource;
use wheelhouse_harness::{contender, verify};

const N: u32 = 100_000;

#[test]
fn a_hundred_thousand_timers_get_the_answers_of_the_oracle() {
    let sources = ["uniform", "session-ttl", "keepalive", "cancel-storm"]
        .map(|name| StreamSource::find(name).unwrap());
    let contenders = contender::all();
    let verified = verify::verify(&sources, &contenders, N, 1).unwrap();
    assert!(verified.failures.is_empty(), "{:?}", verified.failures);
    // Structures that pass all timers in some operation are left out.
    let able = contenders
        .iter()
        .filter(|contender| contender.info().is_none_or(|info| info.max_timers >= N));
    assert_eq!(verified.table.rows.len(), sources.len() * able.count());
}
