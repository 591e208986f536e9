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
    /// It takes more than the tolerance allows: the recorded row and the counted one.
    Regressed(InstructionCount, InstructionCount),
    /// It takes so much less that it should be recorded again: the recorded row and the counted
    /// one.
    Improved(InstructionCount, InstructionCount),
    /// It is in the record but was not counted: a structure or a workload is gone.
    NotCounted(InstructionCount),
    /// It was counted but is not in the record: nothing limits it.
    NotRecorded(InstructionCount),
}

impl Finding {
    /// Returns `true` if the check fails because of it.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::Improved(..))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Regressed(row, _)
        | Self::Improved(row, _)
        | Self::NotCounted(row)
        | Self::NotRecorded(row)) = self;
        let n = units::count(row.n);
        write!(f, "{} of {} on {} at n = {n}: ", row.measure, row.backend, row.workload)?;
        match self {
            Self::Regressed(recorded, counted) | Self::Improved(recorded, counted) => {
                let (before, now) = (recorded.per_operation(), counted.per_operation());
                let change = percent(before, now);
                write!(f, "{now:.1} instructions, recorded {before:.1} ({change})")
            }
            Self::NotCounted(_) => write!(f, "recorded, but not counted now"),
            Self::NotRecorded(_) => write!(f, "counted, but not in the record"),
        }
    }
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
    let ratio = counted.per_operation() / recorded.per_operation();
    let finding = match ratio {
        _ if ratio > 1.0 + TOLERANCE => Finding::Regressed,
        _ if ratio < 1.0 - TOLERANCE => Finding::Improved,
        _ => return None,
    };
    Some(finding(recorded.clone(), counted.clone()))
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
    fn a_change_beyond_the_tolerance_is_found_and_an_increase_fails() {
        let found = |count: InstructionCount| findings(&[row("list-wheel", 1000)], &[count]);
        for instructions in [950, 1000, 1050] {
            assert_eq!(found(row("list-wheel", instructions)), []);
        }
        let per_operation = InstructionCount { operations: 20, ..row("list-wheel", 2000) };
        assert_eq!(found(per_operation), []);
        let more = found(row("list-wheel", 1051));
        assert!(more[0].is_failure());
        let message = "cancel of list-wheel on uniform at n = 10,000: \
                       105.1 instructions, recorded 100.0 (+5.1 %)";
        assert_eq!(more.iter().map(Finding::to_string).collect::<Vec<_>>(), [message]);
        let less = found(row("list-wheel", 949));
        assert!(matches!(&less[..], [Finding::Improved(..)]) && !less[0].is_failure());
    }

    #[test]
    fn a_row_that_is_missing_on_either_side_fails() {
        let (one, both) = ([row("list-wheel", 1000)], ["list-wheel", "binary-heap"]);
        let both = both.map(|name| row(name, 1000));
        assert_eq!(findings(&both, &one), [Finding::NotCounted(both[1].clone())]);
        let found = findings(&one, &both);
        assert_eq!(found, [Finding::NotRecorded(both[1].clone())]);
        assert!(found[0].is_failure());
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
