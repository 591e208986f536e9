//! The check against the record: no operation may take over 5 % more than is recorded.
//!
//! A count has no noise, but it is not quite constant either: another compiler, another C library
//! or a change in a crate below moves it by a few instructions. A tolerance of 5 % accepts that and
//! still finds a change of the code. An operation that takes over 5 % *less* is not a failure, but
//! it is reported: until it is recorded, the gain can be lost again unnoticed.

use super::InstructionCount;
use std::fmt;
use wheelhouse_machine::provenance::Provenance;
use wheelhouse_present::units;

/// The share by which a count may differ from the recorded one.
pub const TOLERANCE: f64 = 0.05;

/// A difference between the record and the count of an operation: more than the tolerance allows,
/// or one of them is missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    row: InstructionCount,
    /// Instructions of one operation in the record; `None` if nothing limits the operation.
    recorded: Option<f64>,
    /// The same, counted now; `None` if the structure or the workload is gone.
    counted: Option<f64>,
}

impl Finding {
    /// Returns `true` if the check fails because of it. An operation that takes less is reported
    /// only.
    pub fn is_failure(&self) -> bool {
        self.ratio().is_none_or(|ratio| ratio > 1.0)
    }

    /// Returns `true` if the operation is in the record or in the count only.
    pub fn is_missing(&self) -> bool {
        self.ratio().is_none()
    }

    fn ratio(&self) -> Option<f64> {
        Some(self.counted? / self.recorded?)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InstructionCount { backend, workload, n, measure, .. } = &self.row;
        write!(f, "{measure} of {backend} on {workload} at n = {}: ", units::count(*n))?;
        match (self.recorded, self.counted) {
            (Some(before), Some(now)) => {
                let change = percent(before, now);
                write!(f, "{now:.1} instructions, recorded {before:.1} ({change})")
            }
            (Some(_), None) => f.write_str("recorded, but not counted now"),
            (None, _) => f.write_str("counted, but not in the record"),
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
    let find = |rows: &[InstructionCount], row: &InstructionCount| {
        rows.iter().find(|it| it.key() == row.key()).map(InstructionCount::per_operation)
    };
    let finding = |row: &InstructionCount| Finding {
        row: row.clone(),
        recorded: find(recorded, row),
        counted: find(counted, row),
    };
    let others = recorded.iter().filter(|row| find(counted, row).is_none());
    let tolerated = 1.0 - TOLERANCE..=1.0 + TOLERANCE;
    let differs = |it: &Finding| it.ratio().is_none_or(|ratio| !tolerated.contains(&ratio));
    counted.iter().chain(others).map(finding).filter(differs).collect()
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

    fn row(operations: u64, instructions: u64) -> InstructionCount {
        InstructionCount {
            backend: "list-wheel".to_owned(),
            workload: "uniform".to_owned(),
            n: 10_000,
            measure: "cancel".to_owned(),
            operations,
            instructions,
        }
    }

    #[test]
    fn an_increase_beyond_the_tolerance_and_a_missing_row_fail() {
        let recorded = [row(10, 1000)];
        for within in [row(10, 950), row(10, 1000), row(10, 1050), row(20, 2000)] {
            assert_eq!(findings(&recorded, &[within]), []);
        }
        let (more, less) = ([row(10, 1051)], [row(10, 949)]);
        for (recorded, counted, is_failure, message) in [
            (&recorded[..], &more[..], true, "105.1 instructions, recorded 100.0 (+5.1 %)"),
            (&recorded, &less, false, "94.9 instructions, recorded 100.0 (-5.1 %)"),
            (&recorded, &[], true, "recorded, but not counted now"),
            (&[], &recorded, true, "counted, but not in the record"),
        ] {
            let [found] = &findings(recorded, counted)[..] else { panic!("{message}") };
            let message = format!("cancel of list-wheel on uniform at n = 10,000: {message}");
            assert_eq!((found.is_failure(), found.to_string()), (is_failure, message));
            assert_eq!(found.is_missing(), recorded.len() != counted.len());
        }
    }

    #[test]
    fn another_compiler_is_reported() {
        let now = gather(1);
        assert_eq!(build_differences(&now, &now), [""; 0]);
        let before = Provenance { rustc: "rustc 1.0.0".to_owned(), ..now.clone() };
        let message = build_differences(&before, &now).concat();
        assert!(message.contains("rustc 1.0.0") && message.contains(&now.rustc), "{message}");
    }
}
