//! Compares two runs row by row: the ratio of B to A, and whether it is more than noise.
//!
//! B counts as faster or slower only if the whole 95 % interval of the ratio
//! ([`stats::ratio_interval`]) is on one side of 1, by more than [`NOISE`]. Two builds of the same
//! source differ by a percent or two, depending on where the linker put their loops. The interval
//! covers the spread within each of the two processes. It does not cover what changes from process
//! to process, so rows of two runs of one commit differ too.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{FLOOR, Run, Throughput};
use wheelhouse_present::stats::{self, Ratio};
use wheelhouse_present::table::{Cell, Column, Mark, Table};
use wheelhouse_present::units;

/// The note about the coverage of the intervals. `benches/METHODOLOGY.md` has the counts.
const COVERAGE: &str = "An interval covers how repetitions differ within one process. It does not \
    cover the layout of memory, which another process does not repeat, or a change of the machine. \
    So even if A and B are runs of one commit, a quarter of the rows or more may differ. \
    Repeat both runs, and believe only a difference that returns.";

/// A difference within this share is noise, whatever its interval.
pub const NOISE: f64 = 0.02;

/// If the floor changed by more than this share, the machine was in a different state.
const FLOOR_DRIFT: f64 = 0.10;

/// The verdict on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// B takes less time than A.
    Faster,
    /// B takes more time than A.
    Slower,
    /// The interval does not exclude that they are equal.
    WithinNoise,
    /// Too few samples to say anything.
    Undecided,
}

impl Verdict {
    /// The word in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::WithinNoise => "within noise",
            Verdict::Undecided => "undecided",
        }
    }
}

/// One (backend, workload, n, measure) that both runs have.
#[derive(Clone, Debug)]
pub struct ComparedRow<'a> {
    /// The row of A.
    pub row: &'a Throughput,
    /// Median of A, ns per operation.
    pub a: f64,
    /// Median of B, ns per operation.
    pub b: f64,
    /// B over A with its interval; `None` if there are too few samples for one.
    pub ratio: Option<Ratio>,
}

impl ComparedRow<'_> {
    /// The verdict: is B faster?
    pub fn verdict(&self) -> Verdict {
        match self.ratio {
            None => Verdict::Undecided,
            // The reciprocal, so that exchanging A and B exchanges the verdicts.
            Some(ratio) if ratio.high < 1.0 / (1.0 + NOISE) => Verdict::Faster,
            Some(ratio) if ratio.low > 1.0 + NOISE => Verdict::Slower,
            Some(_) => Verdict::WithinNoise,
        }
    }
}

/// Two runs, compared.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// The rows that both have, in the order of A.
    pub rows: Vec<ComparedRow<'a>>,
    /// Reasons not to compare them.
    pub warnings: Vec<String>,
}

impl Comparison<'_> {
    /// How many rows have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict() == verdict).count()
    }

    /// The rows as a table, with a summary below it. The warnings are not in it, so that a program
    /// can show them in every format.
    pub fn table(&self) -> Table {
        let columns = vec![
            Column::left("structure"),
            Column::left("workload"),
            Column::right("n"),
            Column::left("measure"),
            Column::right("A").keyed("a_ns"),
            Column::right("B").keyed("b_ns"),
            Column::right("B / A").keyed("ratio"),
            Column::right("95 % interval").keyed("interval"),
            Column::left("verdict"),
        ];
        let mut table = Table::new(
            "B against A, ns per operation: a ratio below 1 means that B is faster",
            columns,
        );
        table.rows = self.rows.iter().map(cells).collect();
        table.notes = self.notes();
        table
    }

    fn notes(&self) -> Vec<String> {
        let counts = [Verdict::Faster, Verdict::Slower, Verdict::WithinNoise, Verdict::Undecided]
            .map(|verdict| format!("{} {}", self.count(verdict), verdict.as_str()));
        let mut notes = vec![format!("{} rows: {}.", self.rows.len(), counts.join(", "))];
        if self.rows.len() > self.count(Verdict::Undecided) {
            notes.push(COVERAGE.to_owned());
        }
        if self.count(Verdict::Undecided) > 0 {
            notes.push(format!(
                "Undecided rows have fewer than {} samples in A or B, or times of zero. Repeat \
                 with a longer --time.",
                stats::MIN_SAMPLES
            ));
        }
        let rows = self.rows.iter().filter(|it| it.row.backend != FLOOR && it.a > 0.0);
        let mean = stats::geometric_mean(&rows.map(|row| row.b / row.a).collect::<Vec<_>>());
        notes.extend(mean.map(|mean| format!("Geometric mean of B / A: {mean:.3}.")));
        notes
    }
}

/// Compares B with A, row by row.
pub fn compare<'a>(a: &'a Run, b: &Run) -> Comparison<'a> {
    let in_b: BTreeMap<_, &Throughput> = b.throughput.iter().map(|it| (it.key(), it)).collect();
    let both = a.throughput.iter().filter_map(|row| Some((row, *in_b.get(&row.key())?)));
    let rows: Vec<_> =
        both.filter_map(|(row_a, row_b)| compare_row(row_a, row_b, a.provenance.seed)).collect();
    let mut warnings = provenance_warnings(a, b);
    warnings.extend(row_warnings(a, b));
    warnings.extend(floor_warning(&rows));
    Comparison { rows, warnings }
}

/// A list of a run's rows, for the message that two runs have none in common.
pub fn describe_rows(run: &Run) -> String {
    let named = |name: fn(&Throughput) -> String| {
        let names: BTreeSet<String> = run.throughput.iter().map(name).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    };
    let streams = named(|row| format!("{} at n = {}", row.workload, row.n));
    let structures = named(|row| row.backend.clone());
    let rows = run.throughput.len();
    format!("{rows} rows (structures: {structures}; workloads: {streams})")
}

fn compare_row<'a>(a: &'a Throughput, b: &Throughput, seed: u64) -> Option<ComparedRow<'a>> {
    Some(ComparedRow {
        row: a,
        a: stats::median(&a.ns_per_op)?,
        b: stats::median(&b.ns_per_op)?,
        ratio: stats::ratio_interval(&b.ns_per_op, &a.ns_per_op, seed),
    })
}

/// The facts in which two runs should not differ, and what to do if they do.
const FACTS: [(&str, &str); 10] = [
    ("processor", "absolute times do not compare between machines; compare ratios"),
    ("number of processors", "the machines differ"),
    ("memory", "the machines differ"),
    ("host", "the machines differ"),
    ("kernel", "part of a difference may come from the kernel"),
    ("compiler", "part of a difference may come from the compiler"),
    ("profile", "the builds differ"),
    ("seed", "the workloads differ; repeat with the same --seed"),
    ("number of seeds", "the workloads differ; repeat with the same --seeds"),
    ("size of the values", "the structures differ; repeat with the same --payload"),
];

fn provenance_warnings(a: &Run, b: &Run) -> Vec<String> {
    let facts = |run: &Run| {
        let p = run.provenance.clone();
        let (cores, memory) = (p.cores.to_string(), units::bytes(p.memory_bytes));
        let numbers = [p.seed, run.seeds as u64, run.payload.into()].map(|it| it.to_string());
        let texts = [p.cpu, cores, memory, p.host, p.kernel, p.rustc, p.profile];
        texts.into_iter().chain(numbers)
    };
    let both = facts(a).zip(facts(b)).zip(FACTS);
    let (a, b) = (&a.provenance, &b.provenance);
    let mut warnings: Vec<String> = both
        .filter(|((a, b), _)| a != b)
        .map(|((a, b), (what, remedy))| format!("the {what} differs (A: {a}, B: {b}): {remedy}"))
        .collect();
    if a.pinned_to.is_some() != b.pinned_to.is_some() {
        let pinned = "one run was pinned to a processor and the other was not";
        warnings.push(format!("{pinned}: repeat both the same way"));
    }
    for (name, provenance) in [("A", a), ("B", b)].into_iter().filter(|(_, it)| it.dirty) {
        let commit = &provenance.commit;
        warnings.push(format!(
            "{name} was built from a tree with uncommitted changes: its commit {commit} is not \
             exactly what was measured"
        ));
    }
    warnings
}

fn row_warnings(a: &Run, b: &Run) -> Vec<String> {
    let mut warnings = Vec::new();
    for (name, run, other_name, other) in [("A", a, "B", b), ("B", b, "A", a)] {
        if run.interrupted {
            warnings.push(format!("{name} was interrupted: rows are missing"));
        }
        let wrong = run.failures.len();
        if wrong > 0 {
            warnings.push(format!("{name} has wrong answers ({wrong}), which have no times"));
        }
        let is_missing =
            |row: &&Throughput| other.throughput.iter().all(|it| it.key() != row.key());
        let missing = run.throughput.iter().filter(is_missing).count();
        if missing > 0 {
            let rows = format!("rows of {name} that {other_name} does not have");
            warnings.push(format!("{rows} are left out: {missing}"));
        }
    }
    warnings
}

/// The floor does the same work in every version: if its time changed, the machine did.
fn floor_warning(rows: &[ComparedRow<'_>]) -> Option<String> {
    let floor = rows.iter().filter(|it| it.row.backend == FLOOR && it.a > 0.0);
    let ratio = stats::geometric_mean(&floor.map(|row| row.b / row.a).collect::<Vec<_>>())?;
    ((ratio - 1.0).abs() > FLOOR_DRIFT).then(|| {
        format!(
            "the floor itself took {ratio:.2} times as long in B: the machine was in a different \
             state, and every ratio is off by about that factor; repeat both runs close together"
        )
    })
}

fn cells(compared: &ComparedRow<'_>) -> Vec<Cell> {
    let ComparedRow { row, a, b, ratio } = compared;
    let interval = ratio.map_or(Cell::missing(), |r| Cell {
        shown: format!("{:.3}..{:.3}", r.low, r.high),
        value: serde_json::json!({ "low": r.low, "high": r.high }),
        mark: Mark::Plain,
    });
    let ratio = Some(b / a).filter(|ratio| ratio.is_finite());
    let ratio = ratio.map_or(Cell::missing(), |it| Cell::figure(it, format!("{it:.3}")));
    vec![
        Cell::text(&row.backend),
        Cell::text(&row.workload),
        Cell::count(row.n),
        Cell::text(&row.measure),
        Cell::figure(*a, units::number(*a)),
        Cell::figure(*b, units::number(*b)),
        ratio,
        interval,
        Cell::text(compared.verdict().as_str()),
    ]
}
