//! Which structure to pick for which use, and how sure that is.
//!
//! A pick is honest if it says what speaks against it. So only those are compared who were measured
//! at that number of timers; who is within the spread of the best, or within x1.1, is a tie and
//! named; and who has a tail ten times that of another is no pick over a tie without it, and
//! otherwise the tail is said in the same breath.

use crate::model::{FLOOR, Latency, Run};
use crate::source::Source;
use crate::stream::{MIX, TRACE};
use crate::summary;
use wheelhouse_present::table::{Cell, Column, Table};
use wheelhouse_present::{stats, units};

/// Nearer than this to the best is a tie, however small the spread.
pub(super) const TIE: f64 = 1.1;

/// Percentiles of single calls are as far apart between two runs.
const TIE_OF_TAILS: f64 = 2.0;

/// A tail so many times the least, or that of the floor, is one to be warned of.
pub(super) const LONG_TAIL: f64 = 10.0;

/// Of fewer calls the 99.99th percentile is the longest one, which is the machine's as often as
/// not: then the 99.9th is taken, and of less than a tenth as many none.
const ENOUGH: u64 = 10_000;

/// A use, and what decides it.
struct Use {
    what: String,
    by: By,
    n: u64,
    /// Whether it is part of the answer, and not only of the table.
    is_answer: bool,
}

enum By {
    /// The time of measures of workloads, geometric mean: (workload, measure).
    Time(Vec<(String, &'static str)>),
    /// What one call in ten thousand exceeds, whichever is longest, of insert, cancel and tick. The
    /// longest call of all is the tail of that.
    Tail,
    /// Bytes per timer after churn.
    Memory,
}

/// Workloads with a measure of each.
type Parts<'a> = &'a [(&'a str, &'static str)];

/// Somebody who was measured for a use.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// What decides: nanoseconds, or bytes.
    pub figure: f64,
    /// Median absolute deviation over median.
    pub spread: f64,
    /// What one call in thousands exceeded in the same workloads, ns; `None` if too few were timed.
    /// Where that is what decides, the longest call.
    pub tail: Option<f64>,
}

/// What to take for a use.
#[derive(Clone, Debug, PartialEq)]
pub struct Pick {
    /// The use, with the number of timers.
    pub what: String,
    /// Whether it belongs to the answer, which is short, and not only to the table.
    pub is_answer: bool,
    /// Whether the figures are bytes, and not nanoseconds.
    pub is_bytes: bool,
    /// What the tails are, as part of a sentence.
    pub tail: &'static str,
    /// The tail that others are held against.
    pub least: Option<f64>,
    /// Whom to take.
    pub pick: Candidate,
    /// Who is as good, as far as the figures can tell.
    pub ties: Vec<Candidate>,
    /// The first who is not.
    pub next: Option<Candidate>,
    /// The cheapest whose tail is a tenth of the pick's, if that of the pick is ten times the
    /// least.
    pub calmer: Option<Candidate>,
}

/// What a run says to whoever asks which structure to take: a pick for each use it has figures for,
/// the use that was asked about first.
pub fn picks(run: &Run) -> Vec<Pick> {
    uses(run).iter().filter_map(|it| decide(run, it)).collect()
}

/// The picks as a table.
pub fn table(run: &Run) -> Table {
    let columns = ["use", "pick", "figure", "ties", "next", "tail p99.99"];
    let mut columns = columns.map(Column::left);
    columns[2] = Column::right("figure");
    let mut table = Table::new("Which to pick, by this run", columns.into());
    for pick in picks(run) {
        let ties: Vec<&str> = pick.ties.iter().map(|it| it.name.as_str()).collect();
        let next = pick.next.as_ref().map_or_else(
            || "-".to_owned(),
            |next| format!("{}, ×{:.2}", next.name, next.figure / pick.pick.figure),
        );
        table.rows.push(vec![
            Cell::text(&pick.what),
            Cell::text(&pick.pick.name),
            Cell::figure(pick.pick.figure, pick.shown(&pick.pick)),
            Cell::text(ties.join(", ")),
            Cell::text(next),
            Cell::text(pick.pick.tail.map_or_else(String::new, units::time)),
        ]);
    }
    table.notes.push(format!(
        "Medians, lower is better. Nearer than ×{TIE} to the best, or within the spread, is a tie; \
         of ties the first whose tail is not {LONG_TAIL} times another's is picked, or the one \
         with the least."
    ));
    table
}

/// The picks that are the answer.
pub fn answers(run: &Run) -> Vec<Pick> {
    picks(run).into_iter().filter(|pick| pick.is_answer).collect()
}

/// The answer as sentences, a line each; none of a run that was cut short, in which whoever comes
/// later was not measured.
pub fn answer(run: &Run) -> Vec<String> {
    if run.interrupted {
        return Vec::new();
    }
    answers(run).iter().map(Pick::sentence).collect()
}

impl Pick {
    fn shown(&self, candidate: &Candidate) -> String {
        match self.is_bytes {
            true => format!("{:.1} bytes", candidate.figure),
            false => units::time(candidate.figure),
        }
    }

    /// Whom it names: the pick, the ties, and who has no such tail.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        let all = std::iter::once(&self.pick).chain(&self.ties).chain(&self.calmer);
        all.map(|candidate| candidate.name.as_str())
    }

    /// Whom to take, who is as good, and what speaks against them.
    pub fn sentence(&self) -> String {
        let Self { what, pick, .. } = self;
        let mut out = format!("{what}: take {} ({}).", pick.name, self.shown(pick));
        let is_long = |tie: &&Candidate| exceeds(tie.tail, self.least) && tie.tail > pick.tail;
        let (long, level): (Vec<_>, Vec<_>) = self.ties.iter().partition(is_long);
        if !level.is_empty() {
            let are = if level.len() == 1 { "is a tie" } else { "are ties" };
            let names: Vec<&str> = level.iter().map(|it| it.name.as_str()).collect();
            out += &format!(" {} {are}.", names.join(", "));
        }
        for Candidate { name, tail, .. } in long {
            let tail = units::time(tail.unwrap_or_default());
            out += &format!(" {name} is a tie but for its tail: {} {tail}.", self.tail);
        }
        if let (Some(calmer), Some(tail)) = (&self.calmer, pick.tail) {
            let (name, shown) = (&calmer.name, self.shown(calmer));
            let theirs = units::time(calmer.tail.unwrap_or_default());
            let (what, tail) = (self.tail, units::time(tail));
            out += &format!(" But {what} {tail}, with {name} ({shown}) {theirs}.");
        }
        out
    }
}

fn exceeds(tail: Option<f64>, least: Option<f64>) -> bool {
    tail.zip(least).is_some_and(|(tail, least)| tail >= LONG_TAIL * least)
}

/// The uses to be decided, at the number of timers that the run is about. Where somebody asked
/// about streams of their own, the answer is about these.
fn uses(run: &Run) -> Vec<Use> {
    let Some(n) = summary::usual_n(run) else { return Vec::new() };
    let timers = format!("{} timers", units::count(n));
    let workloads = summary::workloads(run);
    let mut uses: Vec<Use> = Vec::new();
    for workload in workloads.iter().filter(|it| it.starts_with(MIX)) {
        uses.push(timed(run, &timers, n, &[(workload, "mix")]));
    }
    for workload in workloads.iter().filter(|it| it.starts_with(TRACE)) {
        let rows = run.throughput.iter().filter(|row| row.workload == *workload);
        let Some(n) = rows.map(|row| row.n).max() else { continue };
        let what = format!("{workload}, {} timers", units::count(n));
        let is_answer = !Source::is_known(workload);
        uses.push(Use { is_answer, ..timed(run, &what, n, &[(workload, "mix")]) });
    }
    let is_own = uses.iter().any(|it| it.is_answer);
    let others: [(&str, bool, Parts<'_>); 4] = [
        ("connections", true, &[("tcp", "mix"), ("keepalive", "mix")]),
        ("steady churn", true, &[("steady", "steady")]),
        ("all fire, tick by tick", true, &[("uniform", "fire-ticks")]),
        ("a simulation", false, &[("hold-exponential", "hold")]),
    ];
    for (what, is_answer, by) in others {
        // Of a use that two workloads stand for, the one that was measured.
        let has = |it: &&(&str, &str)| workloads.iter().any(|name| name == it.0);
        let by: Vec<_> = by.iter().filter(has).copied().collect();
        if by.is_empty() {
            continue;
        }
        let asked = timed(run, &format!("{timers}, {what}"), n, &by);
        uses.push(Use { is_answer: is_answer && !is_own, ..asked });
    }
    let what = format!("{timers}, 99.99th percentile of insert, cancel and tick");
    uses.push(Use { what, by: By::Tail, n, is_answer: true });
    let what = format!("{timers}, least memory");
    uses.push(Use { what, by: By::Memory, n, is_answer: true });
    uses
}

/// A use that the time of some workloads decides. How many of their timers end otherwise than by
/// firing is part of what it is, if the run tells.
fn timed(run: &Run, what: &str, n: u64, by: Parts<'_>) -> Use {
    let censuses = run.census.iter().filter(|it| it.n == n);
    let found: Vec<_> =
        censuses.filter(|it| by.iter().any(|(name, _)| it.workload == *name)).collect();
    let spared: u64 = found.iter().map(|it| it.cancels + it.moves).sum();
    let all = spared + found.iter().map(|it| it.fires).sum::<u64>();
    // In `uniform` each operation is by itself: its shares say nothing of the phase that decides.
    let is_mix = by.iter().all(|(_, measure)| ["mix", "steady"].contains(measure));
    let share = (is_mix && all > 0 && spared > 0)
        .then(|| format!(", {:.0} % cancelled or moved", 100.0 * spared as f64 / all as f64));
    let by = by.iter().map(|(workload, measure)| ((*workload).to_owned(), *measure)).collect();
    let what = format!("{what}{}", share.unwrap_or_default());
    Use { what, by: By::Time(by), n, is_answer: true }
}

fn decide(run: &Run, asked: &Use) -> Option<Pick> {
    let names = summary::backends(run).into_iter().filter(|name| name != FLOOR);
    let mut found: Vec<Candidate> =
        names.filter_map(|name| candidate(run, name, &asked.by, asked.n)).collect();
    found.sort_by(|a, b| a.figure.total_cmp(&b.figure));
    let best = found.first()?.clone();
    let (tie, tail) = match asked.by {
        By::Tail => (TIE_OF_TAILS, "the longest call took"),
        _ => (TIE, "one call in thousands takes"),
    };
    let is_tie = |it: &Candidate| it.figure <= best.figure * tie.max(1.0 + it.spread + best.spread);
    let calmest = calmest(&found);
    // Where the floor has such calls too, the machine decides.
    let floor = candidate(run, FLOOR.to_owned(), &asked.by, asked.n).and_then(|floor| floor.tail);
    let least = calmest.map(|(_, tail)| tail.max(floor.unwrap_or(0.0)));
    let mut all = found.clone().into_iter();
    let (mut ties, others): (Vec<Candidate>, Vec<Candidate>) = found.into_iter().partition(is_tie);
    let next = others.into_iter().next();
    let calm = ties.iter().position(|it| !exceeds(it.tail, least));
    let chosen = calm.or_else(|| Some(self::calmest(&ties)?.0)).unwrap_or(0);
    let pick = ties.remove(chosen);
    let calmer = all.find(|it| exceeds(pick.tail, least) && exceeds(pick.tail, it.tail));
    let is_bytes = matches!(asked.by, By::Memory);
    let (what, is_answer) = (asked.what.clone(), asked.is_answer);
    Some(Pick { what, is_answer, is_bytes, tail, least, pick, ties, next, calmer })
}

/// Who has the least tail, and how long it is.
fn calmest(candidates: &[Candidate]) -> Option<(usize, f64)> {
    let tails = candidates.iter().enumerate().filter_map(|(at, it)| Some((at, it.tail?)));
    tails.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Somebody with a figure for it; `None` for who lacks one of those that make it up.
fn candidate(run: &Run, name: String, by: &By, n: u64) -> Option<Candidate> {
    let one = |figure: f64| Candidate { name: name.clone(), figure, spread: 0.0, tail: None };
    match by {
        By::Time(parts) => {
            let samples: Vec<&[f64]> = parts
                .iter()
                .map(|(workload, measure)| {
                    Some(run.throughput_of(&name, workload, n, measure)?.ns_per_op.as_slice())
                })
                .collect::<Option<_>>()?;
            let medians: Option<Vec<f64>> = samples.iter().map(|it| stats::median(it)).collect();
            let figure = stats::geometric_mean(&medians?)?;
            let spreads = samples.iter().filter_map(|it| stats::relative_deviation(it));
            let spread = spreads.fold(0.0, f64::max);
            let tails = parts.iter().filter_map(|(workload, _)| tail(run, &name, workload, n));
            let tail = tails.max_by(f64::total_cmp);
            Some(Candidate { spread, tail, ..one(figure) })
        }
        By::Tail => {
            let figure = tail(run, &name, "uniform", n)?;
            let longest = latencies(run, &name, "uniform", n).map(|row| row.worst).max();
            Some(Candidate { tail: longest.map(|ns| ns as f64), ..one(figure) })
        }
        By::Memory => Some(one(run.memory_of(&name, n)?.churned)),
    }
}

/// What one call in ten thousand (in a thousand, of a kind with few calls) exceeds in a workload,
/// whichever kind of call that is longest in.
pub(super) fn tail(run: &Run, name: &str, workload: &str, n: u64) -> Option<f64> {
    let told = latencies(run, name, workload, n).filter(|row| row.count >= ENOUGH / 10);
    let tails =
        told.map(|row| if row.count >= ENOUGH { row.p9999 as f64 } else { row.p999 as f64 });
    tails.max_by(f64::total_cmp)
}

/// The times of single operations of somebody in a workload.
fn latencies<'a>(
    run: &'a Run,
    name: &'a str,
    workload: &'a str,
    n: u64,
) -> impl Iterator<Item = &'a Latency> {
    let rows = run.latency.iter().filter(move |row| row.backend == name && row.n == n);
    rows.filter(move |row| row.workload == workload)
}
