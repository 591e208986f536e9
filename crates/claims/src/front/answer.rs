//! Answers the question of the articles in sentences that follow from the table.

use super::Operation::{self, Cancel, Fire, InsertEarliest, InsertRandom};
use super::grid::{largest, order};
use super::{Cell, Front, Said, Standing};
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
    sentence: impl Fn(&str, &str, &[&Cell]) -> R,
) -> impl Iterator<Item = R> {
    ASKED.into_iter().map(move |(place, structure, operations)| {
        let cells = operations.iter().filter_map(|it| front.cell(structure, *it));
        sentence(place, structure, &cells.collect::<Vec<_>>())
    })
}

fn verdict(cells: &[&Cell]) -> &'static str {
    match cells.iter().filter(|cell| cell.standing() == Standing::Holds).count() {
        all if all == cells.len() => "it holds",
        0 => "it does not hold",
        _ => "it holds in part",
    }
}

fn sentence(place: &str, structure: &str, cells: &[&Cell]) -> String {
    let told: Vec<_> = cells.iter().copied().map(told).collect();
    format!("{place} {} ({structure}): {}.", verdict(cells), told.join("; "))
}

/// The verdict, and the operations that stay below the claimed bound.
fn brief_sentence(place: &str, cells: &[&Cell]) -> String {
    let below = cells.iter().filter(|cell| is_below(cell));
    let below: Vec<_> = below.map(|cell| format!("'{}'", cell.operation.name())).collect();
    let others = match below.as_slice() {
        [] => String::new(),
        [one] => format!(", and {one} is constant"),
        several => format!(", and {} are constant", several.join(" and ")),
    };
    format!("{place} {}{others}.", verdict(cells))
}

/// Returns `true` for a constant cost if the claim allows more.
fn is_below(cell: &Cell) -> bool {
    let said = cell.said.first().map(|Said(class, ..)| *class);
    cell.counted == Growth::Constant && said.is_some_and(|said| said > Growth::Constant)
}

/// `insert, random: constant, 4.56 steps, 43.7 ns, within O(log n)`.
fn told(cell: &Cell) -> String {
    let claimed = cell.said.first().map_or("?", |Said(class, ..)| order(*class));
    let stands = match cell.standing() {
        Standing::Holds => format!("within {claimed}"),
        Standing::Worse => format!("not {claimed}"),
        Standing::Undecided | Standing::Unclaimed => cell.standing().name().to_owned(),
    };
    let steps = units::number(cell.last().1);
    let time = cell.ns.map_or(String::new(), |ns| format!(", {}", units::time(ns)));
    format!("{} {}, {steps} steps{time}, {stands}", cell.operation.name(), cell.counted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::Curve;

    fn cell(operation: Operation, cost: fn(f64) -> f64) -> Cell {
        let sizes: Vec<u64> = (10..=20).map(|bits| 1 << bits).collect();
        let curve = Curve::sweep(&sizes, 1..=5, |n, _| cost(n as f64));
        Cell::new("binary-heap", operation, curve)
    }

    #[test]
    fn the_sentence_follows_from_what_was_counted() {
        let flat = cell(Operation::InsertRandom, |_| 4.5);
        let rising = cell(Operation::InsertEarliest, |n| 2.0 * n.log2());
        let told = sentence("In a heap", "binary-heap", &[&flat, &rising]);
        assert_eq!(
            told,
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
    fn a_bound_holds_for_what_grows_less() {
        let standing = |counted| Standing::of(counted, Some(Growth::Logarithmic));
        assert_eq!(standing(Growth::Constant), Standing::Holds, "O is at most");
        assert_eq!(standing(Growth::Linear), Standing::Worse);
        assert_eq!(standing(Growth::Undecided), Standing::Undecided);
        assert_eq!(Standing::of(Growth::Constant, None), Standing::Unclaimed);
    }
}
