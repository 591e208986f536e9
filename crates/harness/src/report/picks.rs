//! The structure to take for each use, and how sure that is.
//!
//! A pick must be the same tomorrow, whatever else the machine does. So structures are compared
//! within rounds, in which the machine was the same for all. A structure is behind only if the
//! median of its ratios to the best is above a limit, and their interval excludes that the two are
//! equal. All others are *ties*. The pick is the tie that comes first in the order of the tables,
//! which is the recommended one: another structure has to be better by more than chance.

use super::uses::Use;
use crate::model::{FLOOR, Run};
use crate::source::Source;
use crate::stream::{MIX, TRACE};
use crate::{contender, summary};
use wheelhouse_present::stats::{self, FEWEST, Ratio};
use wheelhouse_present::table::{Cell, Column, Table};
use wheelhouse_present::units;

/// Nearer than this to the best is a tie, however small the spread. A program gains nothing from
/// another structure for less than a fifth, and whatever else the machine does moves the ratio of
/// two wheels by 5 % from run to run.
pub(super) const TIE: f64 = 1.2;

/// The longest calls are a tie up to this ratio of their steps: not all steps cost the same.
const TIE_OF_STEPS: f64 = 2.0;

/// A structure that was measured for a use.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// The figure that decides: see [`Unit`].
    pub figure: f64,
    /// Its ratio to the best within the rounds; `None` without enough of them.
    pub ratio: Option<Ratio>,
    /// The figure of each round.
    rounds: Vec<(u32, f64)>,
}

/// The unit of the figures of a pick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds of a start, stop, move or expiry.
    Time,
    /// Steps of the longest call.
    Steps,
    /// Bytes for each timer after churn.
    Bytes,
}

/// The structure to take for a use.
#[derive(Clone, Debug, PartialEq)]
pub struct Pick {
    /// The use.
    pub what: String,
    /// `true` if it belongs to the answer, which is short, and not only to the table.
    pub is_answer: bool,
    /// The unit of the figures.
    pub unit: Unit,
    /// The structure to take.
    pub pick: Candidate,
    /// Those that are as good, as far as the figures can tell.
    pub ties: Vec<Candidate>,
    /// The others, the best first.
    pub others: Vec<Candidate>,
}

/// A pick for each use that the run has figures for, the user's streams first.
pub fn picks(run: &Run) -> Vec<Pick> {
    let Some(n) = summary::usual_n(run) else { return Vec::new() };
    let own = own(run).into_iter().filter_map(|(it, n)| of_use(run, &it, n, true));
    let own: Vec<Pick> = own.collect();
    // If the user brought streams, the answer is about these.
    let is_answer = own.is_empty();
    let known = known(run, n).into_iter();
    let known = known.filter_map(|(it, n, asked)| of_use(run, &it, n, asked && is_answer));
    let timed = own.into_iter().chain(known);
    let memory = least_memory(run, "least memory".to_owned(), n);
    timed.chain(shortest_calls(run, n)).chain(memory).chain(few_timers(run, n)).collect()
}

/// The largest number of timers that are few.
const FEW: u64 = 32;

/// The picks for the fewest timers of the run, if these are few.
fn few_timers(run: &Run, usual: u64) -> Vec<Pick> {
    let few = summary::sizes(run).first().copied().filter(|n| *n <= FEW && *n != usual);
    let Some(n) = few else { return Vec::new() };
    let of = |what: &str| format!("{n} timers, {what}");
    let time = Use::of(run, &of("steady churn"), &["steady"]);
    let time = time.and_then(|it| of_use(run, &it, n, true));
    time.into_iter().chain(least_memory(run, of("least memory"), n)).collect()
}

/// The user's streams as uses, with their numbers of timers.
fn own(run: &Run) -> Vec<(Use, u64)> {
    let largest = |workload: &str| {
        let rows = run.throughput.iter().filter(|row| row.workload == workload);
        rows.map(|row| row.n).max()
    };
    let is_own = |it: &String| it.starts_with(MIX) || it.starts_with(TRACE);
    let own = summary::workloads(run).into_iter().filter(is_own);
    let own = own.filter(|it| !Source::is_known(it));
    let name = |it: &String| if it.starts_with(MIX) { "your mix".to_owned() } else { it.clone() };
    own.filter_map(|it| Some((Use::of(run, &name(&it), &[&it])?, largest(&it)?))).collect()
}

/// The uses of the catalogue, with their numbers of timers; `true` for those of the answer.
fn known(run: &Run, n: u64) -> Vec<(Use, u64, bool)> {
    const USES: [(&str, bool, &[&str]); 4] = [
        ("connections", true, &["tcp", "often-moved", "mostly-answered"]),
        ("steady churn", true, &["steady"]),
        ("all fire, tick by tick", true, &["uniform"]),
        ("a simulation", false, &["hold-exponential"]),
    ];
    let uses = USES.into_iter();
    uses.filter_map(|(name, asked, of)| Some((Use::of(run, name, of)?, n, asked))).collect()
}

/// The pick for a use with `n` timers.
pub fn of_use(run: &Run, it: &Use, n: u64, is_answer: bool) -> Option<Pick> {
    let spared = it.fires.filter(|fires| *fires < 1.0).map(|fires| 100.0 * (1.0 - fires));
    let spared = spared.map(|share| format!(", {share:.0} % cancelled or moved"));
    let what = format!("{}{}", it.name, spared.unwrap_or_default());
    let found = candidates(run, |name| it.costs(run, name, n));
    decide(what, is_answer, Unit::Time, TIE, found)
}

/// The pick by the longest call.
fn shortest_calls(run: &Run, n: u64) -> Option<Pick> {
    let found = candidates(run, |name| {
        let rows = run.steps.iter().filter(|row| row.backend == name && row.n == n);
        let longest = rows.filter(|row| row.workload == "uniform").map(|row| row.longest).max()?;
        Some(vec![(0, longest as f64)])
    });
    decide("shortest longest call".to_owned(), true, Unit::Steps, TIE_OF_STEPS, found)
}

/// The pick by memory.
fn least_memory(run: &Run, what: String, n: u64) -> Option<Pick> {
    let found = candidates(run, |name| Some(vec![(0, run.memory_of(name, n)?.churned)]));
    decide(what, true, Unit::Bytes, TIE, found)
}

/// Those with figures, in the order of the tables. A structure that is too slow with many timers is
/// in the tables, and is no candidate.
fn candidates(run: &Run, figures: impl Fn(&str) -> Option<Vec<(u32, f64)>>) -> Vec<Candidate> {
    let names = summary::backends(run).into_iter();
    let names = names.filter(|name| name != FLOOR && !contender::is_unusual(name));
    let candidate = |name: String| {
        let rounds = figures(&name)?;
        let all: Vec<f64> = rounds.iter().map(|it| it.1).collect();
        Some(Candidate { name, figure: stats::median(&all)?, ratio: None, rounds })
    };
    names.filter_map(candidate).collect()
}

/// Picks among candidates, which come in the order of the tables.
fn decide(
    what: String,
    is_answer: bool,
    unit: Unit,
    tie: f64,
    mut candidates: Vec<Candidate>,
) -> Option<Pick> {
    let best = candidates.iter().min_by(|a, b| a.figure.total_cmp(&b.figure))?.clone();
    for candidate in &mut candidates {
        candidate.ratio = stats::paired_ratio(&pairs(candidate, &best));
    }
    // The median of the ratios is steadier than the ends of their interval.
    let is_tie = |it: &Candidate| match it.ratio {
        Some(ratio) => ratio.ratio <= tie || ratio.low <= 1.0,
        None => it.figure <= tie * best.figure,
    };
    let (mut ties, mut others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_tie);
    let pick = ties.remove(0);
    others.sort_by(|a, b| a.figure.total_cmp(&b.figure));
    Some(Pick { what, is_answer, unit, pick, ties, others })
}

/// The figures of the rounds that both took part in.
fn pairs(of: &Candidate, with: &Candidate) -> Vec<(f64, f64)> {
    let other = |round: u32| with.rounds.iter().find(|it| it.0 == round).map(|it| it.1);
    of.rounds.iter().filter_map(|(round, figure)| Some((*figure, other(*round)?))).collect()
}

impl Pick {
    /// A figure of it, with its unit.
    fn shown(&self, candidate: &Candidate) -> String {
        match self.unit {
            Unit::Time => units::time(candidate.figure),
            Unit::Steps => format!("{} steps", units::count(candidate.figure as u64)),
            Unit::Bytes => format!("{:.1} bytes", candidate.figure),
        }
    }

    fn find(&self, name: &str) -> Option<&Candidate> {
        let mut all = std::iter::once(&self.pick).chain(&self.ties).chain(&self.others);
        all.find(|it| it.name == name)
    }

    /// The names of the pick and the ties.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.pick).chain(&self.ties).map(|it| it.name.as_str())
    }

    /// The pick and the ties, as a sentence.
    pub fn taken(&self) -> String {
        format!("take {} ({}).{}", self.pick.name, self.shown(&self.pick), self.ties_said())
    }

    fn ties_said(&self) -> String {
        let names: Vec<&str> = self.ties.iter().map(|it| it.name.as_str()).collect();
        match names.as_slice() {
            [] => String::new(),
            [one] => format!(" {one} is a tie."),
            _ => format!(" {} are ties.", names.join(", ")),
        }
    }
}

/// The picks as a table.
pub fn table(run: &Run) -> Table {
    let columns = ["use", "pick", "figure", "ties", "next"];
    let mut columns = columns.map(Column::left);
    columns[2] = Column::right("figure");
    let mut table = Table::new("The structures to take, by this run", columns.into());
    for pick in picks(run) {
        let ties: Vec<&str> = pick.ties.iter().map(|it| it.name.as_str()).collect();
        let next = pick
            .others
            .first()
            .map(|next| format!("{}, ×{:.2}", next.name, next.figure / pick.pick.figure));
        table.rows.push(vec![
            Cell::text(&pick.what),
            Cell::text(&pick.pick.name),
            Cell::figure(pick.pick.figure, pick.shown(&pick.pick)),
            Cell::text(ties.join(", ")),
            Cell::text(next.unwrap_or_else(|| "-".to_owned())),
        ]);
    }
    table.notes.push(format!(
        "Times are of a start, a stop, a move or an expiry. Lower is better. A structure is a tie \
         if it is nearer than ×{TIE} to the best (×{TIE_OF_STEPS} in steps) by the median of its \
         ratios within the rounds, or if the interval of {FEWEST} or more ratios includes 1. The \
         pick is the tie that comes first in the table."
    ));
    table
}

/// The picks that are the answer.
pub fn answers(run: &Run) -> Vec<Pick> {
    picks(run).into_iter().filter(|pick| pick.is_answer).collect()
}

/// The answer as sentences: the structure to take for most uses, then a line for each use in which
/// another is better, and its price. Empty for a run that was interrupted, in which structures are
/// missing.
pub fn answer(run: &Run) -> Vec<String> {
    let all = answers(run);
    let Some(usual) = usual(&all).filter(|_| !run.interrupted) else { return Vec::new() };
    let (its, others): (Vec<&Pick>, Vec<&Pick>) =
        all.iter().partition(|pick| pick.pick.name == usual);
    let said = |pick: &&Pick| format!("{} ({})", pick.what, pick.shown(&pick.pick));
    let uses: Vec<String> = its.iter().map(said).collect();
    let n = units::count(summary::usual_n(run).unwrap_or_default());
    let first = format!(
        "{n} timers: take {usual}. It is the best, or as good as the best, for {} of {} uses: {}.",
        its.len(),
        all.len(),
        uses.join("; ")
    );
    let exceptions = others.iter().map(|pick| exception(pick, usual, &all));
    std::iter::once(first).chain(exceptions).collect()
}

/// The structure that most picks name; the first of several.
fn usual(all: &[Pick]) -> Option<&str> {
    let count = |name: &str| all.iter().filter(|pick| pick.pick.name == name).count();
    let names = all.iter().map(|pick| pick.pick.name.as_str());
    // `max_by_key` gives the last of equals.
    names.rev().max_by_key(|name| count(name))
}

/// A use for which another structure is better, and what that one costs elsewhere.
fn exception(pick: &Pick, usual: &str, all: &[Pick]) -> String {
    let other = &pick.pick.name;
    let instead = pick.find(usual).map(|it| format!(" instead of {}", pick.shown(it)));
    let timed = all.iter().filter(|it| it.unit == Unit::Time && it.pick.name == usual);
    let prices = timed.filter_map(|it| Some((it.find(other)?.figure / it.pick.figure, it)));
    let price = prices.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(ratio, it)| {
        if ratio < TIE {
            return " In no other use is it slower.".to_owned();
        }
        let what = it.what.split(',').next().unwrap_or_default();
        format!(" For {what} it takes {ratio:.1} times as long.")
    });
    format!(
        "{}: {other}, {}{}.{}{}",
        pick.what,
        pick.shown(&pick.pick),
        instead.unwrap_or_default(),
        pick.ties_said(),
        price.unwrap_or_default()
    )
}
