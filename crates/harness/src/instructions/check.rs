//! The check against the record: no operation may take over 5 % more than is recorded.
//!
//! A count has no noise, but it is not quite constant either: another compiler, another C library
//! or a change in a crate below moves it by a few instructions. A tolerance of 5 % accepts that and
//! still finds a change of the code. An operation that takes over 5 % *less* is not a failure, but
//! it is reported: until it is recorded, the gain can be lost again unnoticed.

use super::InstructionCount;
use std::collections::BTreeMap;
use std::fmt;
use wheelhouse_machine::provenance::Provenance;
use wheelhouse_present::units;

/// The share by which a count may differ from the recorded one.
pub const TOLERANCE: f64 = 0.05;

/// A difference between the record and the count of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// It takes more than the tolerance allows.
    Regressed {
        /// The row in the record.
        recorded: InstructionCount,
        /// The row that was counted now.
        counted: InstructionCount,
    },
    /// It takes so much less that it should be recorded again.
    Improved {
        /// The row in the record.
        recorded: InstructionCount,
        /// The row that was counted now.
        counted: InstructionCount,
    },
    /// It is in the record but was not counted: a structure or a workload is gone.
    NotCounted(InstructionCount),
    /// It was counted but is not in the record: nothing limits it.
    NotRecorded(InstructionCount),
}

impl Finding {
    /// Returns `true` if the check fails because of it.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::Improved { .. })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Regressed { recorded, counted } | Self::Improved { recorded, counted } => {
                let (before, now) = (recorded.per_operation(), counted.per_operation());
                let change = percent(before, now);
                let name = name(recorded);
                write!(f, "{name}: {now:.1} instructions, recorded {before:.1} ({change})")
            }
            Self::NotCounted(row) => write!(f, "{}: recorded, but not counted now", name(row)),
            Self::NotRecorded(row) => write!(f, "{}: counted, but not in the record", name(row)),
        }
    }
}

fn name(row: &InstructionCount) -> String {
    let n = units::count(row.n);
    format!("{} of {} on {} at n = {n}", row.measure, row.backend, row.workload)
}

/// The change from one figure to another, with its sign.
pub(super) fn percent(before: f64, now: f64) -> String {
    format!("{:+.1} %", (now / before - 1.0) * 100.0)
}

/// Compares a count with the record. Returns what differs by more than [`TOLERANCE`], in the order
/// of the counts, then what is recorded but was not counted.
pub fn findings(recorded: &[InstructionCount], counted: &[InstructionCount]) -> Vec<Finding> {
    let mut not_counted: BTreeMap<_, _> = recorded.iter().map(|row| (row.key(), row)).collect();
    let mut findings = Vec::new();
    for row in counted {
        match not_counted.remove(&row.key()) {
            Some(before) => findings.extend(finding(before, row)),
            None => findings.push(Finding::NotRecorded(row.clone())),
        }
    }
    findings.extend(not_counted.into_values().cloned().map(Finding::NotCounted));
    findings
}

fn finding(recorded: &InstructionCount, counted: &InstructionCount) -> Option<Finding> {
    let (before, now) = (recorded.per_operation(), counted.per_operation());
    let both = || (recorded.clone(), counted.clone());
    if now > before * (1.0 + TOLERANCE) {
        let (recorded, counted) = both();
        return Some(Finding::Regressed { recorded, counted });
    }
    (now < before * (1.0 - TOLERANCE)).then(|| {
        let (recorded, counted) = both();
        Finding::Improved { recorded, counted }
    })
}

/// Warnings about two counts whose builds differ.
pub fn build_differences(recorded: &Provenance, now: &Provenance) -> Vec<String> {
    let both = [
        ("compiler", &recorded.rustc, &now.rustc),
        // A debug build cannot be compared with a release build.
        ("profile", &recorded.profile, &now.profile),
    ];
    let differ = both.into_iter().filter(|(_, before, now)| before != now);
    let say = |(what, before, now)| {
        format!(
            "the record was made with another {what}, and counts depend on it: {before}; this is \
             {now}"
        )
    };
    differ.map(say).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelhouse_machine::provenance::gather;

    fn row(backend: &str, instructions: u64) -> InstructionCount {
        InstructionCount {
            backend: backend.to_owned(),
            workload: "uniform".to_owned(),
            n: 10_000,
            measure: "cancel".to_owned(),
            operations: 10,
            instructions,
        }
    }

    #[test]
    fn an_increase_fails_and_names_the_operation_and_both_figures() {
        let found = findings(&[row("list-wheel", 1000)], &[row("list-wheel", 1051)]);
        assert!(matches!(&found[..], [Finding::Regressed { .. }]) && found[0].is_failure());
        let message = found[0].to_string();
        let expected = "cancel of list-wheel on uniform at n = 10,000: \
                        105.1 instructions, recorded 100.0 (+5.1 %)";
        assert_eq!(message, expected);
    }

    #[test]
    fn a_change_within_the_tolerance_passes() {
        for instructions in [950, 1000, 1050] {
            let (before, now) = (row("list-wheel", 1000), row("list-wheel", instructions));
            assert_eq!(findings(&[before], &[now]), []);
        }
    }

    #[test]
    fn an_improvement_is_reported_but_is_not_a_failure() {
        let found = findings(&[row("list-wheel", 1000)], &[row("list-wheel", 949)]);
        assert!(matches!(&found[..], [Finding::Improved { .. }]) && !found[0].is_failure());
    }

    #[test]
    fn a_row_that_is_missing_on_either_side_fails() {
        let (wheel, heap) = (row("list-wheel", 1000), row("binary-heap", 1000));
        let found = findings(&[wheel.clone(), heap.clone()], std::slice::from_ref(&wheel));
        assert_eq!(found, [Finding::NotCounted(heap.clone())]);
        assert!(found[0].is_failure());
        let found = findings(std::slice::from_ref(&wheel), &[wheel.clone(), heap.clone()]);
        assert_eq!(found, [Finding::NotRecorded(heap)]);
        assert!(found[0].is_failure());
    }

    #[test]
    fn rows_are_compared_per_operation() {
        let more = InstructionCount { operations: 20, ..row("list-wheel", 2000) };
        assert_eq!(findings(&[row("list-wheel", 1000)], &[more]), []);
    }

    #[test]
    fn another_compiler_is_reported() {
        let now = gather(1);
        assert_eq!(build_differences(&now, &now), [""; 0]);
        let before = Provenance { rustc: "rustc 1.0.0".to_owned(), ..now.clone() };
        let message = build_differences(&before, &now);
        assert!(
            message.len() == 1
                && message[0].contains("rustc 1.0.0")
                && message[0].contains(&now.rustc)
        );
    }
}
