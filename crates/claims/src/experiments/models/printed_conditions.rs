//! What S0's constructor and `AddTask` refuse, and with which text.
//!
//! The conditions are those of the printed code, in its order. A text is held to what it says: that it is given where that is so, and that nothing passes for which it is so.

use super::checks::Checks;
use super::circles::slot_and_circle;
use crate::experiment::Experiment;
use crate::{Evidence, Scale};
use std::time::Duration;
use wheelhouse_round_wheel::RoundWheel;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "printed-conditions",
    about: "intervals, slot counts, keys and delays, good and bad, through the conditions of S0's constructor and AddTask: what passes, and which text the others get",
    run,
};

const INTERVAL: &str = "minimum interval need one second";
const SLOTS: &str = "minimum slotNum need greater than zero";
const EMPTY: &str = "key is empty";
const IN_USE: &str = "key of job already exists";

/// The constructor, with an interval in milliseconds: the text of its refusal.
fn constructor(interval: i64, slots: i64) -> Option<&'static str> {
    if interval <= 0 {
        return Some(INTERVAL);
    }
    (slots <= 0).then_some(SLOTS)
}

/// AddTask, with delay and interval in milliseconds: the text of its refusal.
fn add_task(key: &str, delay: i64, interval: i64, in_use: &[&str]) -> Option<&'static str> {
    if key.is_empty() || delay < interval {
        return Some(EMPTY);
    }
    in_use.contains(&key).then_some(IN_USE)
}

/// Of several inputs, how many are refused with a text.
fn refused<T: Copy>(
    inputs: &[T],
    text: &str,
    refusal: impl Fn(T) -> Option<&'static str>,
) -> usize {
    inputs.iter().filter(|input| refusal(**input) == Some(text)).count()
}

fn run(_: &Scale) -> Evidence {
    let mut checks = Checks::new("Bad input to S0's wheel");
    let with_interval = |interval| constructor(interval, 12);
    checks.is(
        "intervals of 0 and -1 s that are refused",
        2,
        refused(&[0, -1_000], INTERVAL, with_interval),
    );
    let short = [1, 500, 999];
    let shorts = refused(&short, INTERVAL, with_interval);
    checks.is(
        format!("intervals of 1, 500 and 999 ms that are refused, as '{INTERVAL}' says"),
        short.len(),
        shorts,
    );
    checks.is(
        format!("slot counts of 0 and -1 that are refused, as '{SLOTS}' says"),
        2,
        refused(&[0, -1], SLOTS, |slots| constructor(1_000, slots)),
    );
    let with_key = |key| add_task(key, 5_000, 1_000, &["a"]);
    checks.is(
        format!("empty keys that are refused as '{EMPTY}'"),
        1,
        refused(&[""], EMPTY, with_key),
    );
    let early = [0, 1, 999];
    let with_delay = |delay| add_task("b", delay, 1_000, &[]);
    let passed = early.iter().filter(|delay| with_delay(**delay).is_none()).count();
    checks.is("delays below one interval that pass", 0, passed);
    let called_empty = refused(&early, EMPTY, with_delay);
    checks.is(format!("of them, with a key, those that are refused as '{EMPTY}'"), 0, called_empty);
    checks.is(
        format!("keys in use that are refused as '{IN_USE}'"),
        1,
        refused(&["a", "b"], IN_USE, with_key),
    );
    let place = slot_and_circle(0, 12, Duration::from_secs(5), Duration::from_millis(500));
    let outcome = place.map_or("a division by zero".to_owned(), |(slot, circle)| {
        format!("slot {slot}, circle {circle}")
    });
    checks.beside("adding a task of 5 s where the interval is 500 ms", outcome);
    let ours = RoundWheel::<u64>::builder().slots(0).build().err();
    checks.beside(
        "round-wheel with 0 slots",
        ours.map_or("passes".to_owned(), |error| error.to_string()),
    );
    checks.evidence(
        "C11",
        format!(
            "{} of {} intervals below a second pass; {called_empty} of {} short delays are called an empty key",
            short.len() - shorts,
            short.len(),
            early.len()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_input_passes() {
        assert_eq!((constructor(1_000, 12), add_task("a", 1_000, 1_000, &["b"])), (None, None));
    }

    #[test]
    fn conditions_are_asked_in_the_printed_order() {
        assert_eq!(constructor(0, 0), Some(INTERVAL));
        assert_eq!(add_task("a", 0, 1_000, &["a"]), Some(EMPTY));
    }
}
