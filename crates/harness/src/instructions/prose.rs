//! How to read the counts, and how far to trust them.

use super::check::TOLERANCE;

/// The text above the tables.
pub(super) const INTRODUCTION: &str = "Counted by callgrind, a tool of valgrind. Counts have no \
     noise. 'wheelhouse instructions --check results/instructions' counts again and fails if an \
     operation exceeds the tolerance. 'wheelhouse instructions --out results/instructions' \
     replaces the record.";

/// The text below the tables.
const HOW_TO_READ: [&str; 8] = [
    "The streams, the player, the structures and the machine code are those of 'wheelhouse bench'. \
     An operation here is the unit of its times per operation.",
    "Every figure includes the player: about 22 instructions of an insertion, 23 of a \
     cancellation, 26 of a reschedule and 8 of an expiry.",
    "The workload uniform: delays up to 2^20 ticks for every n; in fire ticks, up to n ticks, \
     rounded up to a power of two.",
    "The workload steady: delays up to 2^16 ticks, or 4 n if that is less.",
    "The workload hold-exponential: increments of 2^16 ticks on average.",
    "In the second table of an n, all delays are up to n ticks, rounded up to a power of two. Fire \
     ticks is the same work as in the first.",
    "Insert cold includes growing an array, with the copies that the C library makes.",
    "The kernel's work is not counted: the first touch of a page costs no instructions here. \
     Counts ignore caches. Read them together with the times.",
];

/// The text below the tables, with the tolerance of a check.
pub(super) fn how_to_read() -> Vec<String> {
    let tolerated = TOLERANCE * 100.0;
    let check = format!("A check tolerates {tolerated} %: another compiler makes other code.");
    HOW_TO_READ.map(str::to_owned).into_iter().chain([check]).collect()
}
