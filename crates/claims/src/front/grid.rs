//! The table of the front: complete for a page, narrow for a terminal, brief for a README. The
//! question of the articles is answered in a sentence that follows from the table.

use super::Operation::{self, Cancel, Fire, InsertEarliest, InsertRandom};
use super::cache::PATH;
use super::runs::{ROUNDS, TIMED, TIMED_LINEAR};
use super::{ClaimedCost, Front, FrontCell, FrontRow};
use crate::Outcome;
use crate::growth::{Growth, Shape};
use serde_json::json;
use wheelhouse_present::table::{self, Column, Mark, Table};
use wheelhouse_present::units;

/// A row for each structure, a column for each operation. Each field has the class that was counted
/// and whether the claim holds, the claim, the steps at the largest n and their growth, and the
/// time if it was measured.
pub fn grid(front: &Front) -> Table {
    Table { notes: notes(front), ..table(front, field) }
}

/// The same, narrow enough for a terminal of 100 columns.
pub fn narrow(front: &Front) -> Table {
    let mut narrow = grid(front);
    // Long names and heads wrap onto two lines, because the figures need the width.
    narrow.columns.iter_mut().for_each(|column| column.name = column.name.replace(", ", ",\n"));
    let names = narrow.rows.iter_mut().filter_map(|row| row.first_mut());
    for name in names.filter(|name| name.shown.len() > NAME) {
        name.shown = table::wrap(&name.shown.replace('-', "- "), NAME).replace("- ", "-");
    }
    narrow
}

/// The structures that the README shows.
const BRIEF: [&str; 4] = ["list-wheel", "hierarchical-wheel", "binary-heap", "skip-list"];

/// A line for each of four structures: steps at the largest n, the class, and whether the claim
/// holds.
pub fn brief(front: &Front) -> Table {
    let mut brief = table(front, short);
    brief.rows.retain(|row| row.first().is_some_and(|name| BRIEF.contains(&&*name.shown)));
    if let Some(names) = brief.columns.first_mut() {
        names.name = format!("steps at n = {}", largest(front, false));
    }
    brief.notes = vec![SIGNS.to_owned()];
    brief
}

/// How wide a name may be on a terminal.
const NAME: usize = 14;

const SIGNS: &str = "✓ the claim holds, ✗ it does not, ? undecided, no sign: no claim. A claim \
    O(...) is an upper bound. The class of the counted steps (constant, log, linear) says how they \
    grow.";

fn table(front: &Front, field: fn(&FrontCell) -> String) -> Table {
    let operations = Operation::ALL.map(|it| Column::left(it.name()));
    let columns = [Column::left("structure")].into_iter().chain(operations).collect();
    let mut table = Table::new("Which claims on cost hold?", columns);
    table.rows = front.rows.iter().map(|row| fields(row, field)).collect();
    table
}

fn fields(row: &FrontRow, field: fn(&FrontCell) -> String) -> Vec<table::Cell> {
    let name = table::Cell::text(row.contestant.name);
    let cell = |cell: &FrontCell| table::Cell {
        value: value(cell),
        ..table::Cell::text(field(cell)).marked(Standing::of(cell).mark)
    };
    [name].into_iter().chain(row.cells.iter().map(cell)).collect()
}

fn o_notation(growth: Growth) -> &'static str {
    match growth {
        Growth::Constant => "O(1)",
        Growth::Logarithmic => "O(log n)",
        Growth::Linear => "O(n)",
        Growth::Undecided => "?",
    }
}

fn field(cell: &FrontCell) -> String {
    let class = format!("{} {}", word(cell.shape.class), Standing::of(cell).sign);
    let claim = |ClaimedCost(class, by, _): &ClaimedCost| format!("{by} {}", o_notation(*class));
    let claims = cell.claims.iter().map(claim).collect::<Vec<_>>().join(" ");
    let claims = if claims.is_empty() { "-".to_owned() } else { claims };
    let steps = format!("{} {}", brief_number(cell.last().1), cell.shape.per_doubling());
    let lines = cell.lines.map(|[near, far]| format!("{near:.1}/{far:.1} lines"));
    let more = lines.into_iter().chain(cell.ns.map(units::time));
    [class, claims, steps].into_iter().chain(more).collect::<Vec<_>>().join("\n")
}

fn short(cell: &FrontCell) -> String {
    let steps = units::number(cell.last().1);
    format!("{steps} {} {}", word(cell.shape.class), Standing::of(cell).sign).trim().to_owned()
}

/// The exact class, abbreviated.
fn word(growth: Growth) -> &'static str {
    match growth {
        Growth::Logarithmic => "log",
        Growth::Undecided => "",
        other => other.name(),
    }
}

/// Abbreviates thousands with "k".
fn brief_number(value: f64) -> String {
    if value < 9_999.5 { units::number(value) } else { format!("{:.1}k", value / 1_000.0) }
}

/// The agreement of the counts with the claim.
struct Standing {
    words: &'static str,
    sign: &'static str,
    mark: Mark,
}

impl Standing {
    fn of(cell: &FrontCell) -> Self {
        let (words, sign, mark) = match cell.outcome() {
            Some(Outcome::Confirmed) => ("holds", "✓", Mark::Even),
            Some(Outcome::Refuted) => ("does not hold", "✗", Mark::Bad),
            Some(Outcome::Undecided) => ("undecided", "?", Mark::Muted),
            None => ("no claim", "", Mark::Muted),
        };
        Self { words, sign, mark }
    }
}

fn value(cell: &FrontCell) -> serde_json::Value {
    let claimed = |cost: &ClaimedCost| {
        let ClaimedCost(class, by, claim) = cost;
        json!({ "class": class, "by": by, "claim": claim })
    };
    json!({
        "counted": cell.shape.class, "standing": Standing::of(cell).words,
        "claimed": cell.claims.iter().map(claimed).collect::<Vec<_>>(),
        "n": cell.last().0, "steps": cell.last().1, "ns": cell.ns, "lines": cell.lines,
        "per-doubling": cell.shape.slope, "exponent": cell.shape.exponent,
        "points": cell.curve.points(),
    })
}

/// The largest n of the sweep, as a power of two.
fn largest(front: &Front, linear: bool) -> String {
    let row = front.rows.iter().find(|row| row.contestant.linear == linear);
    let n = row.and_then(|row| row.cells.first()).map_or(1, |cell| cell.last().0);
    format!("2^{}", n.max(1).ilog2())
}

fn notes(front: &Front) -> Vec<String> {
    let linear = front.rows.iter().filter(|row| row.contestant.linear);
    let names = linear.map(|row| row.contestant.name).collect::<Vec<_>>().join(", ");
    let mut notes = vec![
        format!(
            "The lines of a field: the class of the counted steps, with a sign for the claim; the \
             claim and its authors (S0 to S4: the articles, V&L: Varghese and Lauck 1987); the \
             steps at n = {}, and the steps that each doubling of n adds (for a linear cost, the \
             power of n), with the 95 % interval over the seeds.",
            largest(front, false)
        ),
        format!("{SIGNS} A constant cost therefore confirms O(log n)."),
    ];
    if front.rows.iter().any(|row| row.contestant.play.is_none()) {
        notes.push(
            "wheel with rounds: a model of the articles' wheel, with 512 slots and round counts \
             that are decremented. Its insertion and cancel take these steps by construction. Its \
             column fire is the mean of all ticks until no timer is left. It is not timed."
                .to_owned(),
        );
    }
    if !names.is_empty() {
        notes.push(format!("{names}: only up to n = {}.", largest(front, true)));
    }
    let seen: Vec<_> = front.rows.iter().flat_map(uneven).collect();
    if !seen.is_empty() {
        let seen = seen.join("; ");
        notes.push(format!("Bounded irregularities, which do not change the class: {seen}."));
    }
    let mut cells = front.rows.iter().flat_map(|row| &row.cells);
    if cells.clone().any(|cell| cell.lines.is_some()) {
        notes.push(format!(
            "Lines: the cache lines of one operation that miss a first-level cache of 32 KiB / \
             that also miss a last-level cache of 8 MiB. callgrind simulated the caches, without a \
             meter ({PATH})."
        ));
    }
    if cells.any(|cell| cell.ns.is_some()) {
        notes.push(format!(
            "Times: one operation at {} timers ({} in {names}), the median of {ROUNDS} interleaved \
             rounds. These times decide no statement.",
            units::count(TIMED),
            units::count(TIMED_LINEAR)
        ));
    }
    notes
}

/// The jump or the spikes of costs that are otherwise constant.
fn uneven(row: &FrontRow) -> Vec<String> {
    let power = |n: u64| format!("2^{}", n.max(1).ilog2());
    let describe = |cell: &FrontCell| {
        let what = format!("{}, {}", row.contestant.name, cell.operation.name());
        let Shape { jump, spikes, .. } = &cell.shape;
        let jump = jump.map(|(n, by)| format!("{what}: {by:.1} steps more from {} on", power(n)));
        let at: Vec<_> = spikes.iter().map(|n| power(*n)).collect();
        let spike = (!at.is_empty()).then(|| format!("{what}: stands out at {}", at.join(", ")));
        jump.or(spike)
    };
    row.cells.iter().filter_map(describe).collect()
}

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
