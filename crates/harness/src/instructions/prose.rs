//! How to read the counts, and how to distrust them.

use super::check::TOLERANCE;
use crate::bench::usual_sources;
use crate::source::Source;
use wheelhouse_present::units;
use wheelhouse_workload::{Delay, Pattern, Workload};

/// What is said above the tables.
pub(super) const INTRODUCTION: &str = "Counted by callgrind, a tool of valgrind, free of noise. \
     'wheelhouse instructions --check results/instructions' counts again and fails if an operation \
     takes more than is tolerated. 'wheelhouse instructions --out results/instructions' records \
     anew.";

/// What is said below the tables.
pub(super) fn how_to_read() -> Vec<String> {
    let tolerated = TOLERANCE * 100.0;
    let what = [
        "The streams, the player and the structures are those of 'wheelhouse bench', and so is \
         the machine code. An operation is what a time there is divided by.",
        "The player is in every figure. Its row has what it costs by itself, on a structure that \
         does nothing and is told how many timers fire. Take it off to see the structure alone.",
    ];
    let spans = usual_sources().into_iter().filter_map(|source| match source {
        Source::Workload(workload) => span(workload),
        _ => None,
    });
    let limits = [
        "In the other table of an n, all delays are up to n ticks, rounded up to a power of two. \
         Fire ticks is then the same work as before.",
        "Growing an array counts with insert cold, and so do the copies that the C library makes.",
        "Not counted is what the kernel does: the first touch of a page costs no instruction \
         here. Nor does a count know of caches. Read it beside the times.",
    ];
    let check = format!("A check tolerates {tolerated} %: another compiler makes other code.");
    let what = what.into_iter().map(str::to_owned).chain(spans);
    what.chain(limits.map(str::to_owned)).chain([check]).collect()
}

/// Over how many ticks the timers of a workload are spread, from its parameters.
fn span(workload: &Workload) -> Option<String> {
    let says = match workload.pattern {
        Pattern::Uniform { longest } => format!(
            "delays up to {} ticks whatever n is; of fire ticks, up to n ticks, rounded up to a \
             power of two",
            power(longest)
        ),
        Pattern::Steady { longest, churn, .. } => format!(
            "delays up to {} ticks, or {} n where that is less",
            power(longest),
            f64::from(churn) / 100.0
        ),
        Pattern::Hold { increment: Delay::Exponential { mean }, .. } => {
            format!("increments of {} ticks on average", power(mean as u64))
        }
        _ => return None,
    };
    Some(format!("The workload {}: {says}.", workload.name))
}

/// A number as a power of two, if it is one.
fn power(number: u64) -> String {
    match number.is_power_of_two() {
        true => format!("2^{}", number.trailing_zeros()),
        false => units::count(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_span_of_each_workload_is_said() {
        let said = how_to_read().concat();
        for part in ["uniform: delays up to 2^20", "steady: delays", "hold-exponential: inc"] {
            assert!(said.contains(part), "{part} in: {said}");
        }
    }

    #[test]
    fn powers_of_two_are_said_as_such() {
        assert_eq!([1 << 16, 1000].map(power), ["2^16", "1,000"]);
    }
}
