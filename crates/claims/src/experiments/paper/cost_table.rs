//! Varghese and Lauck's table of costs: seven schemes, three operations, measured.
//!
//! The paper gives a class for START_TIMER, STOP_TIMER and PER_TICK_BOOKKEEPING of each scheme. Here n timers wait, far ahead, and the clock goes through one
//! revolution in which nothing is due, and one in which a timer is due at each tick. So what a tick costs beside the timer that it fires, and how
//! that depends on those that wait, is seen apart from how many fire.
//!
//! ```text
//!    0            R                2R                                        longest
//!    ├─ nothing ──┼─ one a tick ───┼───── n timers, at random ──────────────────┤
//! ```
//!
//! Ours are the paper's schemes with additions. Two of them show here: what is unordered remembers a tick before which nothing is due, and a slot with rounds does
//! too, so that a tick without anything due does not look at the timers. Where the paper's schemes do, [models](super::idle_ticks) of them decide; ours stand in the table.

use super::idle_ticks::{Idle, idle_ticks};
use super::schemes::{DUE, IDLE, OPERATIONS, Row, START, STOP, rows};
use super::worst_cases::{Worst, worst};
use crate::experiment::Experiment;
use crate::growth::Growth::{Constant, Linear, Logarithmic};
use crate::growth::{Curve, Growth};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use wheelhouse_baselines::RedBlackTreeDefinition;
use wheelhouse_core::backend::{Backend, Bounds};
use wheelhouse_hierarchical_wheel::Definition as HierarchicalWheel;
use wheelhouse_round_wheel::Definition as RoundWheel;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "vl-cost-table",
    about: "the seven schemes of Varghese and Lauck with n timers: steps of a start, of a stop, and of a tick with and without a timer due",
    run,
};

fn run(scale: &Scale) -> Evidence {
    let rows = rows(scale);
    let (worst, idle) = (worst(scale), idle_ticks(scale));
    Evidence {
        findings: findings(&rows, &worst, &idle),
        tables: vec![table(&rows, &worst, &idle)],
        charts: vec![
            chart(&rows, START, "START_TIMER of the seven schemes"),
            chart(&rows, DUE, "PER_TICK of the seven schemes, one timer due"),
        ],
    }
}

/// A row of the table: a scheme, an operation, what the paper says, what was counted.
fn cells(scheme: &str, operation: &str, paper: &str, curve: &Curve) -> [String; 7] {
    let sizes = curve.points();
    let [first, last, growth] = curve.cells();
    let n = |at: Option<&(f64, f64)>| at.map_or(f64::NAN, |(n, _)| *n).to_string();
    [
        scheme.to_owned(),
        operation.to_owned(),
        paper.to_owned(),
        format!("{} to {}", n(sizes.first()), n(sizes.last())),
        first,
        last,
        growth,
    ]
}

fn table(rows: &[Row; 8], worst: &[Worst; 3], idle: &[Idle; 3]) -> Table {
    let columns = [
        "scheme",
        "operation",
        "the paper",
        "n",
        "steps at the smallest",
        "at the largest",
        "growth",
    ];
    let mut table =
        Table::new("Varghese and Lauck's table of costs, and the steps of ours", columns);
    for row in rows {
        for (operation, curve) in row.costs.iter().enumerate() {
            table.row(cells(
                row.scheme,
                OPERATIONS[operation],
                row.paper[operation.min(DUE)],
                curve,
            ));
        }
    }
    for (scheme, operation, paper, curve) in worst {
        table.row(cells(scheme, operation, paper, curve));
    }
    for Idle { scheme, paper, met } in idle {
        table.row(cells(scheme, OPERATIONS[IDLE], paper, met));
    }
    table
}

fn chart(rows: &[Row; 8], operation: usize, title: &str) -> Chart {
    let series =
        |row: &Row| Series { name: row.scheme.to_owned(), points: row.costs[operation].points() };
    Chart {
        title: title.to_owned(),
        subtitle: "steps of one operation beside n timers that wait".to_owned(),
        x: "timers".to_owned(),
        y: "steps".to_owned(),
        series: rows.iter().map(series).collect(),
    }
}

fn findings(rows: &[Row; 8], worst: &[Worst; 3], idle: &[Idle; 3]) -> Vec<Finding> {
    let [unordered, sorted, tree, single, hashed, rounds, grown, levels] = rows;
    let [worst_start, worst_tick, degenerate] = worst;
    let [idle_list, idle_rounds, idle_grown] = idle;
    let start = |row, class| is(row, START, class);
    let stop = |row, class| is(row, STOP, class);
    let tick = |row, class| is(row, DUE, class);
    let found = |claim, row, parts: &[Part]| Finding::new(claim, figure(row), parts);
    vec![
        found(
            "V1",
            unordered,
            &[
                start(unordered, Constant),
                stop(unordered, Constant),
                tick(unordered, Linear),
                idles(idle_list, Linear),
            ],
        ),
        found(
            "V2",
            sorted,
            &[
                start(sorted, Linear),
                stop(sorted, Constant),
                tick(sorted, Constant),
                is(sorted, IDLE, Constant),
            ],
        ),
        found(
            "V3",
            tree,
            &[
                start(tree, Logarithmic),
                stop(tree, Logarithmic),
                bounded::<RedBlackTreeDefinition>(tree, DUE, |it| it.fire),
                is_linear(degenerate),
            ],
        ),
        found(
            "V4",
            single,
            &[start(single, Constant), stop(single, Constant), tick(single, Constant)],
        ),
        found(
            "V5",
            hashed,
            &[
                start(hashed, Constant),
                is_linear(worst_start),
                stop(hashed, Constant),
                tick(hashed, Constant),
            ],
        ),
        found(
            "V6",
            rounds,
            &[
                start(rounds, Constant),
                bounded::<RoundWheel>(rounds, STOP, |it| it.cancel),
                tick(rounds, Linear),
                tick(grown, Constant),
                is_linear(worst_tick),
                idles(idle_rounds, Linear),
                idles(idle_grown, Constant),
            ],
        ),
        found(
            "V7",
            levels,
            &[
                start(levels, Constant),
                bounded::<HierarchicalWheel>(levels, STOP, |it| it.cancel),
                tick(levels, Constant),
            ],
        ),
    ]
}

/// That an operation is of a class, as the paper says.
fn is(row: &Row, operation: usize, class: Growth) -> Part {
    let statement = format!("{}: {} is {class}", row.scheme, OPERATIONS[operation]);
    Part::maybe(statement, row.growth(operation).is(class))
}

fn is_linear((scheme, operation, _, curve): &Worst) -> Part {
    Part::maybe(format!("{scheme}: {operation} is linear"), curve.growth().is(Growth::Linear))
}

/// That a tick of the paper's scheme with nothing due is of a class.
fn idles(idle: &Idle, class: Growth) -> Part {
    let statement = format!("{}: {} is {class}", idle.scheme, OPERATIONS[IDLE]);
    Part::maybe(statement, idle.met.growth().is(class))
}

/// That an operation never takes more than the steps that a structure names for any n. Where slots fill up with n, the share of a stop in the dropping of holes rises to
/// that; and the first of a small tree is nearer to all others than that of a large one: such a curve is bounded but not flat.
fn bounded<B: Backend + 'static>(row: &Row, operation: usize, bound: fn(Bounds) -> f64) -> Part {
    let points = row.costs[operation].points();
    let bound = |n: f64| bound((B::INFO.bounds)(n as u64));
    let most = points.iter().map(|(n, _)| bound(*n)).fold(0.0, f64::max);
    // A bound that grew with n would be none.
    let holds = points.iter().all(|(n, steps)| *steps <= most && bound(*n) == most);
    Part::new(
        format!(
            "{}: {} takes no more than {most} steps at any n",
            row.scheme, OPERATIONS[operation]
        ),
        holds,
    )
}

fn figure(row: &Row) -> String {
    let cost = |operation: usize| {
        let (first, last) = row.costs[operation].ends();
        if first.round() == last.round() {
            format!("{last:.0}")
        } else {
            format!("{first:.0} to {last:.0}")
        }
    };
    let n = row.costs[START].points();
    let (smallest, largest) =
        (n.first().map_or(f64::NAN, |(n, _)| *n), n.last().map_or(f64::NAN, |(n, _)| *n));
    format!(
        "n = {smallest} to {largest}: START {} steps, STOP {}, PER_TICK {} with a timer due, {} with none",
        cost(START),
        cost(STOP),
        cost(DUE),
        cost(IDLE)
    )
}
