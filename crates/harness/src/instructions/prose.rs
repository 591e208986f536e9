//! How to read the counts, and how far to trust them.

use super::check::TOLERANCE;
use crate::bench::default_sources;
use crate::source::StreamSource;
use wheelhouse_present::units;
use wheelhouse_workload::{Delay, Pattern, Workload};

/// The text above the tables.
pub(super) const INTRODUCTION: &str = "Counted by callgrind, a tool of valgrind. Counts have no \
     noise. 'wheelhouse instructions --check results/instructions' counts again and fails if an \
     operation exceeds the tolerance. 'wheelhouse instructions --out results/instructions' \
     replaces the record.";

/// The text below the tables.
pub(super) fn how_to_read() -> Vec<String> {
    let tolerated = TOLERANCE * 100.0;
    let what = [
        "The streams, the player, the structures and the machine code are those of 'wheelhouse \
         bench'. An operation here is the unit of its times per operation.",
        "Every figure includes the player. Its row shows its cost alone, on a structure that does \
         nothing but fire a given number of timers. Subtract it to see the structure alone.",
    ];
    let spans = default_sources().into_iter().filter_map(|source| match source {
        StreamSource::Workload(workload) => span(workload),
        _ => None,
    });
    let limits = [
        "In the second table of an n, all delays are up to n ticks, rounded up to a power of two. \
         Fire ticks is the same work as in the first.",
        "Insert cold includes growing an array, with the copies that the C library makes.",
        "The kernel's work is not counted: the first touch of a page costs no instructions here. \
         Counts ignore caches. Read them together with the times.",
    ];
    let check = format!("A check tolerates {tolerated} %: another compiler makes other code.");
    let what = what.into_iter().map(str::to_owned).chain(spans);
    what.chain(limits.map(str::to_owned)).chain([check]).collect()
}

/// The span of ticks over which the timers of a workload are spread, from its parameters.
fn span(workload: &Workload) -> Option<String> {
    let text = match workload.pattern {
        Pattern::Uniform { longest } => format!(
            "delays up to {} ticks for every n; in fire ticks, up to n ticks, rounded up to a \
             power of two",
            power(longest)
        ),
        Pattern::Steady { longest, churn, .. } => format!(
            "delays up to {} ticks, or {} n if that is less",
            power(longest),
            f64::from(churn) / 100.0
        ),
        Pattern::Hold { increment: Delay::Exponential { mean }, .. } => {
            format!("increments of {} ticks on average", power(mean as u64))
        }
        _ => return None,
    };
    Some(format!("The workload {}: {text}.", workload.name))
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
    fn the_text_states_the_span_of_each_workload() {
        let text = how_to_read().concat();
        for part in ["uniform: delays up to 2^20", "steady: delays", "hold-exponential: inc"] {
            assert!(text.contains(part), "{part} in: {text}");
        }
    }

    #[test]
    fn powers_of_two_are_shown_as_such() {
        assert_eq!([1 << 16, 1000].map(power), ["2^16", "1,000"]);
    }
}
