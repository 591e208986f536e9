//! Answers the question of the articles in sentences that follow from the table.

use super::Operation::{self, Cancel, Fire, InsertEarliest, InsertRandom};
use super::grid::{largest, o_notation};
use super::{ClaimedCost, Front, FrontCell, Verdict};
use crate::growth::Growth;
use wheelhouse_present::units;

/// The question.
pub const QUESTION: &str =
    "Insertion is O(1) in a wheel and O(log n) in a heap, at a million: does it hold?";

/// For each part of the question: its name, its structure, and the operations it is about.
const ASKED: [(&str, &str, &[Operation]); 2] = [
    ("In a wheel", "list-wheel", &[InsertRandom, InsertEarliest]),
    ("In a heap", "binary-heap", &[InsertRandom, InsertEarliest, Cancel, Fire]),
];

/// A sentence for the wheel, and one for the heap.
pub fn answer(front: &Front) -> Vec<String> {
    let mut sentences: Vec<_> = on_each(front, sentence).collect();
    sentences.push(format!("Steps are those at n = {}.", largest(front, false)));
    sentences
}

/// The question and its answer in one line, without figures.
pub fn brief_answer(front: &Front) -> String {
    let verdicts: Vec<_> = on_each(front, |place, _, cells| brief_sentence(place, cells)).collect();
    format!("**{QUESTION}** {}", verdicts.join(" "))
}

fn on_each<R>(
    front: &Front,
    sentence: impl Fn(&str, &str, &[&FrontCell]) -> R,
) -> impl Iterator<Item = R> {
    ASKED.into_iter().map(move |(place, structure, operations)| {
        let cells = operations.iter().filter_map(|it| front.cell(structure, *it));
        sentence(place, structure, &cells.collect::<Vec<_>>())
    })
}

fn summarize(cells: &[&FrontCell]) -> &'static str {
    match cells.iter().filter(|cell| cell.verdict() == Verdict::Holds).count() {
        all if all == cells.len() => "it holds",
        0 => "it does not hold",
        _ => "it holds in part",
    }
}

fn sentence(place: &str, structure: &str, cells: &[&FrontCell]) -> String {
    let costs: Vec<_> = cells.iter().copied().map(describe).collect();
    format!("{place} {} ({structure}): {}.", summarize(cells), costs.join("; "))
}

/// The verdict, and the operations that stay below the claimed bound.
fn brief_sentence(place: &str, cells: &[&FrontCell]) -> String {
    let below = cells.iter().filter(|cell| is_below(cell));
    let below: Vec<_> = below.map(|cell| format!("'{}'", cell.operation.name())).collect();
    let others = match below.as_slice() {
        [] => String::new(),
        [one] => format!(", and {one} is constant"),
        several => format!(", and {} are constant", several.join(" and ")),
    };
    format!("{place} {}{others}.", summarize(cells))
}

/// Returns `true` for a constant cost if the claim allows more.
fn is_below(cell: &FrontCell) -> bool {
    let claimed = cell.claims.first().map(|ClaimedCost(class, ..)| *class);
    cell.counted == Growth::Constant && claimed.is_some_and(|claimed| claimed > Growth::Constant)
}

/// `insert, random: constant, 4.56 steps, 43.7 ns, within O(log n)`.
fn describe(cell: &FrontCell) -> String {
    let claimed = cell.claims.first().map_or("?", |ClaimedCost(class, ..)| o_notation(*class));
    let verdict = match cell.verdict() {
        Verdict::Holds => format!("within {claimed}"),
        Verdict::Worse => format!("not {claimed}"),
        Verdict::Undecided | Verdict::Unclaimed => cell.verdict().name().to_owned(),
    };
    let steps = units::number(cell.last().1);
    let time = cell.ns.map_or(String::new(), |ns| format!(", {}", units::time(ns)));
    format!("{} {}, {steps} steps{time}, {verdict}", cell.operation.name(), cell.counted)
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
        let long = sentence("In a heap", "binary-heap", &[&flat, &rising]);
        assert_eq!(
            long,
            "In a heap it holds (binary-heap): insert, random constant, 4.50 steps, within \
             O(log n); insert, earliest first logarithmic, 40.0 steps, within O(log n)."
        );
        let brief = brief_sentence("In a heap", &[&flat, &rising]);
        assert_eq!(brief, "In a heap it holds, and 'insert, random' is constant.");
        assert_eq!(brief_sentence("In a heap", &[&rising]), "In a heap it holds.");
        let linear = cell(Operation::InsertRandom, |n| n);
        assert!(sentence("", "", &[&linear]).contains("does not hold"));
    }

    #[test]
    fn a_bound_holds_for_slower_growth() {
        let verdict = |counted| Verdict::of(counted, Some(Growth::Logarithmic));
        assert_eq!(verdict(Growth::Constant), Verdict::Holds, "O is at most");
        assert_eq!(verdict(Growth::Linear), Verdict::Worse);
        assert_eq!(verdict(Growth::Undecided), Verdict::Undecided);
        assert_eq!(Verdict::of(Growth::Constant, None), Verdict::Unclaimed);
    }
}
