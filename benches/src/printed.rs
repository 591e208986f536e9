//! Writes a table, and a verdict for each pair of a wheel and a heap that the articles compare,
//! from a run of `cargo bench --bench peers -- --foreign`.

use anyhow::{Result, ensure};
use std::fmt::Write as _;
use std::path::Path;
use wheelhouse_harness::model::{FLOOR, Run, Throughput};
use wheelhouse_harness::store;
use wheelhouse_machine::provenance;
use wheelhouse_present::stats::{median, paired_ratio, relative_deviation};
use wheelhouse_present::table::{Cell, Column, Table, distinct};
use wheelhouse_present::{files, units};

/// The workload in which each operation has a column, and the articles' names of the operations.
const EACH: &str = "same-deadline";
const OPERATIONS: [(&str, &str); 4] = [
    ("insert-warm", "create"),
    ("steady", "start and stop one more"),
    ("cancel", "stop all, in random order"),
    ("fire-jump", "fire all"),
];

/// The workload that has a single column.
const WHOLE: &str = "delay-queue-burst";

/// Pairs of a wheel and a heap: title, wheel, heap.
const PAIRS: [(&str, &str, &str); 5] = [
    (
        "S3, the programs: the printed wheel in Go against Go's timers",
        "s3-printed-wheel",
        "go-timers",
    ),
    ("S4, the programs: Netty's wheel against the JDK's executor", "netty-wheel", "java-executor"),
    (
        "The same in Rust: the wheel of the textbooks, and an indexed heap",
        "list-wheel",
        "binary-heap",
    ),
    (
        "The same in Rust: the wheel of the textbooks, and Go's kind of heap",
        "list-wheel",
        "lazy-heap",
    ),
    ("The same in Rust: our default, and Go's kind of heap", "hierarchical-wheel", "lazy-heap"),
];

/// The complexity classes, which times cannot decide.
const CLASSES: &str = "By complexity class, as results/claims decides from counts of steps (C32): \
    with equal deadlines, a start and a stop take a constant number of steps in a heap too. With \
    random deadlines, an expiry takes O(log n) steps in a heap and O(1) in a wheel.";

/// Writes the page for the run in the folder `run`. Fails if that is no run with the workloads, or
/// the file cannot be written.
pub fn write(run: &Path, out: &Path) -> Result<()> {
    files::write_whole(out, page(&store::load(run)?)?.as_bytes())
}

fn page(run: &Run) -> Result<String> {
    let mut sizes: Vec<u64> =
        run.throughput.iter().filter(|row| row.workload == EACH).map(|row| row.n).collect();
    sizes.sort_unstable();
    sizes.dedup();
    ensure!(!sizes.is_empty(), "the run has no {EACH}; play it with `--workload {EACH},{WHOLE}`");
    let mut page =
        String::from("# A wheel and a heap, by the programs that the articles print\n\n");
    page += "Written by `scripts/run-the-printed-code FOLDER --time FILE`. Nanoseconds for each \
             operation: the median of the rounds; half of the samples are within ±. The insertions \
             before `fire all` are not timed.\n\n";
    for &n in &sizes {
        page += &table(run, n);
    }
    for (title, wheel, heap) in PAIRS {
        writeln!(page, "**{title}.**")?;
        for &n in &sizes {
            writeln!(page, "- {}", sentence(run, n, wheel, heap))?;
        }
        page.push('\n');
    }
    writeln!(page, "{CLASSES}\n")?;
    for guest in &run.external {
        writeln!(page, "- {} ({}): {}.", guest.name, guest.version, guest.cannot.join("; "))?;
    }
    page.push('\n');
    for (name, value) in provenance::facts(&run.provenance) {
        writeln!(page, "- {name}: {value}")?;
    }
    Ok(page)
}

fn row<'a>(run: &'a Run, name: &str, n: u64, of: (&str, &str)) -> Option<&'a Throughput> {
    run.throughput_of(name, of.0, n, of.1)
}

/// The columns: workload and measure, and the heading.
fn columns() -> impl Iterator<Item = ((&'static str, &'static str), &'static str)> {
    let each = OPERATIONS.map(|(measure, heading)| ((EACH, measure), heading));
    each.into_iter().chain([((WHOLE, "mix"), WHOLE)])
}

fn table(run: &Run, n: u64) -> String {
    let rows = run.throughput.iter().filter(|row| row.n == n && row.backend != FLOOR);
    let names = distinct(rows.map(|row| row.backend.as_str()));
    let mut heads = vec![Column::left(format!("{} timers", units::count(n)))];
    heads.extend(columns().map(|(_, heading)| Column::right(heading)));
    let mut table = Table::new("", heads);
    let cell = |name, of| {
        let samples = &row(run, name, n, of)?.ns_per_op;
        let spread = 100.0 * relative_deviation(samples)?;
        Some(format!("{} ±{spread:.0} % of {}", units::number(median(samples)?), samples.len()))
    };
    for name in names {
        let figures =
            columns().map(|(of, _)| cell(name, of).map_or_else(Cell::missing, Cell::text));
        table.rows.push([Cell::text(name)].into_iter().chain(figures).collect());
    }
    table.markdown_rows() + "\n"
}

/// Names the faster structure for each operation, if the interval of the paired ratios decides.
fn sentence(run: &Run, n: u64, wheel: &str, heap: &str) -> String {
    let told = columns().map(|(of, heading)| {
        let told = row(run, wheel, n, of).zip(row(run, heap, n, of)).map(|(wheel, heap)| {
            let of_round = |round| heap.by_round().find(|it| it.0 == round).map(|it| it.1);
            let pairs: Vec<(f64, f64)> = wheel
                .by_round()
                .filter_map(|(round, wheel)| Some((of_round(round)?, wheel)))
                .collect();
            verdict(&pairs)
        });
        format!("{heading}: {}", told.unwrap_or_else(|| "not measured".to_owned()))
    });
    format!("{} timers: {}.", units::count(n), told.collect::<Vec<_>>().join("; "))
}

/// The time of the heap over that of the wheel, in pairs of one round.
fn verdict(pairs: &[(f64, f64)]) -> String {
    let Some(it) = paired_ratio(pairs) else { return "too few rounds".to_owned() };
    let interval = format!("x{:.2}, {:.2} to {:.2}", it.ratio, it.low, it.high);
    match it {
        it if it.low > 1.0 => format!("the wheel is faster ({interval})"),
        it if it.high < 1.0 => format!("the heap is faster ({interval})"),
        _ => format!("a tie ({interval})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_reported_as_faster_only_if_all_ratios_agree() {
        assert!(verdict(&[(20.0, 10.0); 3]).starts_with("the wheel is faster (x2.00"));
        assert!(verdict(&[(10.0, 20.0); 3]).starts_with("the heap is faster (x0.50"));
        assert!(verdict(&[(9.0, 10.0), (10.0, 10.0), (11.0, 10.0)]).starts_with("a tie"));
        assert_eq!(verdict(&[(1.0, 2.0); 2]), "too few rounds");
    }
}
