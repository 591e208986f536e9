//! Answers the question of the articles in a sentence that follows from the table.

use super::Operation::{self, Cancel, Fire, InsertEarliest, InsertRandom};
use super::{ClaimedCost, Front, FrontCell, Verdict};
use crate::growth::Growth;

/// The question.
pub const QUESTION: &str =
    "Insertion is O(1) in a wheel and O(log n) in a heap, at a million: does it hold?";

/// For each part of the question: its name, its structure, and the operations it is about.
const ASKED: [(&str, &str, &[Operation]); 2] = [
    ("In a wheel", "list-wheel", &[InsertRandom, InsertEarliest]),
    ("In a heap", "binary-heap", &[InsertRandom, InsertEarliest, Cancel, Fire]),
];

/// States if it holds in a wheel and in a heap, and names the operations below the claimed bound.
pub fn answer(front: &Front) -> String {
    let part = |(place, structure, operations): (&str, &str, &[Operation])| {
        let cells = operations.iter().filter_map(|it| front.cell(structure, *it));
        sentence(place, &cells.collect::<Vec<_>>())
    };
    ASKED.map(part).join(" ")
}

fn sentence(place: &str, cells: &[&FrontCell]) -> String {
    let holds = match cells.iter().filter(|cell| cell.verdict() == Verdict::Holds).count() {
        all if all == cells.len() => "it holds",
        0 => "it does not hold",
        _ => "it holds in part",
    };
    let below = cells.iter().filter(|cell| is_below(cell));
    let below: Vec<_> = below.map(|cell| format!("'{}'", cell.operation.name())).collect();
    let others = match below.as_slice() {
        [] => String::new(),
        [one] => format!(", and {one} is constant"),
        several => format!(", and {} are constant", several.join(" and ")),
    };
    format!("{place} {holds}{others}.")
}

/// Returns `true` for a constant cost if the claim allows more.
fn is_below(cell: &FrontCell) -> bool {
    let claimed = cell.claims.first().map(|ClaimedCost(class, ..)| *class);
    cell.shape.class == Growth::Constant
        && claimed.is_some_and(|claimed| claimed > Growth::Constant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::Curve;

    fn cell(operation: Operation, cost: fn(f64) -> f64) -> FrontCell {
        let sizes: Vec<u64> = (10..=20).map(|bits| 1 << bits).collect();
        let curve = Curve::sweep(&sizes, 1..=5, |n, _| cost(n as f64));
        FrontCell::new("binary-heap", operation, curve)
    }

    #[test]
    fn the_sentence_follows_from_the_counts() {
        let flat = cell(Operation::InsertRandom, |_| 4.5);
        let rising = cell(Operation::InsertEarliest, |n| 2.0 * n.log2());
        let both = sentence("In a heap", &[&flat, &rising]);
        assert_eq!(both, "In a heap it holds, and 'insert, random' is constant.");
        assert_eq!(sentence("In a heap", &[&rising]), "In a heap it holds.");
        let linear = cell(Operation::InsertRandom, |n| n);
        assert_eq!(sentence("In a heap", &[&linear]), "In a heap it does not hold.");
    }
}
