//! Answers the question of the articles in a sentence that follows from the table.

use super::Operation::{self, Cancel, Fire, InsertEarliest, InsertRandom};
use super::{ClaimedCost, Front, FrontCell};
use crate::Outcome;
use crate::growth::Growth;

/// The question.
pub const QUESTION: &str =
    "With a million timers, is insertion O(1) in a wheel and O(log n) in a heap?";

/// For each part of the question: its name, its structure, and the operations it is about.
const ASKED: [(&str, &str, &[Operation]); 2] = [
    ("In a wheel", "list-wheel", &[InsertRandom, InsertEarliest]),
    ("In a heap", "binary-heap", &[InsertRandom, InsertEarliest, Cancel, Fire]),
];

/// States whether the claims hold, for a wheel and for a heap, and names the operations that cost
/// less than claimed.
pub fn answer(front: &Front) -> String {
    let part = |(place, structure, operations): (&str, &str, &[Operation])| {
        let cells = operations.iter().filter_map(|it| front.cell(structure, *it));
        sentence(place, &cells.collect::<Vec<_>>())
    };
    ASKED.map(part).join(" ")
}

fn sentence(place: &str, cells: &[&FrontCell]) -> String {
    let count = |it: Outcome| cells.iter().filter(|cell| cell.outcome() == Some(it)).count();
    let holds = match (count(Outcome::Confirmed), count(Outcome::Refuted)) {
        (all @ 1.., 0) if all == cells.len() => "the claims hold",
        (_, 0) => "the claims are undecided",
        (0, _) => "the claims do not hold",
        _ => "some of the claims hold",
    };
    let below = cells.iter().filter(|cell| is_below(cell));
    let below: Vec<_> = below.map(|cell| format!("'{}'", cell.operation.name())).collect();
    let others = match below.as_slice() {
        [] => String::new(),
        [one] => format!("; {one} even takes a constant number of steps"),
        several => format!("; {} even take a constant number of steps", several.join(" and ")),
    };
    format!("{place} {holds}{others}.")
}

/// Returns `true` for a constant cost if the claim allows more.
fn is_below(cell: &FrontCell) -> bool {
    let claimed = cell.claims.first().map(|ClaimedCost(class, ..)| *class);
    cell.shape.class == Growth::Constant
        && claimed.is_some_and(|claimed| claimed > Growth::Constant)
}
