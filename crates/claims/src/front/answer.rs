//! The question of the articles, answered in sentences that follow from the table.

use super::grid::order;
use super::slope::Slope;
use super::{Cell, Front, Operation, Said, Standing};
use wheelhouse_present::units;

/// "Insertion is O(1) in a wheel and O(log n) in a heap, at a million: does it hold?"
pub fn answer(front: &Front) -> Vec<String> {
    let line = |(structure, operations): (&str, &[Operation])| {
        let parts: Vec<_> =
            operations.iter().filter_map(|it| front.cell(structure, *it)).map(told).collect();
        format!("{structure}: {}.", parts.join("; "))
    };
    use Operation::{Cancel, Fire, InsertEarliest, InsertRandom};
    let asked: [(&str, &[Operation]); 3] = [
        ("list-wheel", &[InsertRandom, InsertEarliest]),
        ("binary-heap", &[InsertRandom, InsertEarliest]),
        ("binary-heap", &[Cancel, Fire]),
    ];
    asked.into_iter().map(line).collect()
}

fn told(cell: &Cell) -> String {
    let (n, steps) = cell.last();
    let slope = Slope::of(&cell.curve, cell.counted);
    let by = cell.said.first().map_or("nobody", |Said(_, by, _)| *by);
    let said = cell.said.first().map_or("?", |Said(class, ..)| order(*class));
    let stands = match cell.standing() {
        Standing::AsClaimed => format!("{}, as {by} say", order(cell.counted)),
        Standing::Better => format!("{}, better than the {said} of {by}", order(cell.counted)),
        Standing::Worse => format!("{}, worse than the {said} of {by}", order(cell.counted)),
        Standing::Undecided => format!("undecided, where {by} say {said}"),
        Standing::Unclaimed => order(cell.counted).to_owned(),
    };
    let n = n.max(1).ilog2();
    format!(
        "{} takes {} steps at 2^{n} timers, {slope} a doubling: {stands}",
        cell.operation.name(),
        units::number(steps)
    )
}
