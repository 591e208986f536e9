//! The recommended structure for each use, and how certain that is. `benches/METHODOLOGY.md` has
//! the rules.

use super::uses::Use;
use crate::model::{FLOOR, Run};
use crate::source::StreamSource;
use crate::stream::{MIX, TRACE};
use crate::{structure, summary};
use wheelhouse_present::stats::{self, MIN_SAMPLES};
use wheelhouse_present::table::{Cell, Column, Table};
use wheelhouse_present::units;

/// A structure within this factor of the best is a tie, however small the spread. A program gains
/// nothing from switching structures for less than a fifth, and other load on the machine moves the
/// ratio of two wheels by 5 % from run to run.
pub(super) const TIE: f64 = 1.2;

/// Up to this ratio of their steps, longest calls are ties: not all steps cost the same.
const TIE_OF_STEPS: f64 = 2.0;

/// A structure that was measured for a use.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// The figure that decides: see [`PickUnit`].
    pub figure: f64,
    /// Each round and its figure.
    rounds: Vec<(u32, f64)>,
}

/// The unit of the figures of a pick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickUnit {
    /// Nanoseconds per start, stop, move or expiry.
    Time,
    /// Steps in the longest call.
    Steps,
    /// Bytes per timer after churn.
    Bytes,
}

/// The recommended structure for a use.
#[derive(Clone, Debug, PartialEq)]
pub struct Pick {
    /// The use.
    pub what: String,
    /// `true` if it belongs to the short answer, `false` if only to the table.
    pub is_answer: bool,
    /// The unit of the figures.
    pub unit: PickUnit,
    /// The recommended structure.
    pub pick: Candidate,
    /// Structures that are as good, as far as the figures show.
    pub ties: Vec<Candidate>,
    /// The others, best first.
    pub others: Vec<Candidate>,
}

/// The end of the name of a use in which not all timers fire. The share is one of calls: a timer
/// that is moved ten times and then fires counts eleven times.
const NOT_FIRED: &str = "% cancels or moves";

/// The uses of the catalogue: name, `true` if it belongs to the answer, and workloads.
const USES: [(&str, bool, &[&str]); 4] = [
    ("connections", true, &["tcp", "often-moved", "mostly-answered"]),
    ("steady churn", true, &["steady"]),
    ("all fire, tick by tick", true, &["uniform"]),
    ("a simulation", false, &["hold-exponential"]),
];

/// A pick for each use that the run has figures for. The user's streams come first.
pub fn picks(run: &Run) -> Vec<Pick> {
    let Some(n) = summary::default_n(run) else { return Vec::new() };
    let of_user = uses_of_user(run, n).into_iter();
    let of_user: Vec<Pick> =
        of_user.filter_map(|(it, n)| pick_for_use(run, &it, n, true)).collect();
    // If the user brought streams, the answer is about them alone.
    let is_answer = of_user.is_empty();
    let catalogue = USES.into_iter().filter_map(|(name, in_answer, workloads)| {
        pick_for_use(run, &Use::of(run, name, workloads)?, n, in_answer && is_answer)
    });
    let timed = of_user.into_iter().chain(catalogue);
    let memory = least_memory(run, "least memory per timer".to_owned(), n);
    timed.chain(shortest_calls(run, n)).chain(memory).chain(few_timers(run, n)).collect()
}

/// Up to this number, timers are few.
const FEW: u64 = 32;

/// The picks for the smallest n of the run, if it is [`FEW`] or less.
fn few_timers(run: &Run, default: u64) -> Vec<Pick> {
    let few = summary::sizes(run).first().copied().filter(|n| *n <= FEW && *n != default);
    let Some(n) = few else { return Vec::new() };
    let time = Use::of(run, &format!("steady churn with {n} timers"), &["steady"]);
    let time = time.and_then(|it| pick_for_use(run, &it, n, true));
    let memory = least_memory(run, format!("least memory per timer with {n} timers"), n);
    time.into_iter().chain(memory).collect()
}

/// The user's streams as uses, with their numbers of timers. The name of a use states the number if
/// it is not the default n.
fn uses_of_user(run: &Run, default: u64) -> Vec<(Use, u64)> {
    let largest = |workload: &str| {
        let rows = run.throughput.iter().filter(|row| row.workload == workload);
        rows.map(|row| row.n).max()
    };
    let is_own = |it: &String| it.starts_with(MIX) || it.starts_with(TRACE);
    let own = summary::workloads(run).into_iter().filter(is_own);
    let own = own.filter(|it| !StreamSource::is_known(it));
    let name = |it: &str, n| {
        let name = if it.starts_with(MIX) { "your mix" } else { it };
        if n == default { name.to_owned() } else { format!("{} timers, {name}", units::count(n)) }
    };
    let its = |it: String| {
        let n = largest(&it)?;
        Some((Use::of(run, &name(&it, n), &[&it])?, n))
    };
    own.filter_map(its).collect()
}

/// The pick for a use with `n` timers.
pub fn pick_for_use(run: &Run, it: &Use, n: u64, is_answer: bool) -> Option<Pick> {
    let not_fired = it.fires.filter(|fires| *fires < 1.0).map(|fires| 100.0 * (1.0 - fires));
    let not_fired = not_fired.map(|share| format!(", {share:.0} {NOT_FIRED}"));
    let what = format!("{}{}", it.name, not_fired.unwrap_or_default());
    let found = candidates(run, |name| it.costs(run, name, n));
    decide(what, is_answer, PickUnit::Time, found)
}

fn shortest_calls(run: &Run, n: u64) -> Option<Pick> {
    let found = candidates(run, |name| {
        let rows = run.steps.iter().filter(|row| row.backend == name && row.n == n);
        let longest = rows.filter(|row| row.workload == "uniform").map(|row| row.longest).max()?;
        Some(vec![(0, longest as f64)])
    });
    // Steps leave out the growth of arrays: see `wheelhouse_core::meter`.
    let what = "fewest steps in the longest call (growing arrays not counted)";
    decide(what.to_owned(), true, PickUnit::Steps, found)
}

fn least_memory(run: &Run, what: String, n: u64) -> Option<Pick> {
    let found = candidates(run, |name| Some(vec![(0, run.memory_of(name, n)?.churned)]));
    decide(what, true, PickUnit::Bytes, found)
}

/// The structures with figures, in table order. A structure that is too slow with many timers, or
/// that answered wrongly on any stream, is in the tables but is not a candidate.
fn candidates(run: &Run, figures: impl Fn(&str) -> Option<Vec<(u32, f64)>>) -> Vec<Candidate> {
    let names = summary::backends(run).into_iter();
    let is_right = |name: &String| run.failures.iter().all(|it| it.backend != *name);
    let names = names.filter(|name| name != FLOOR && !structure::is_not_recommended(name));
    let names = names.filter(is_right);
    let candidate = |name: String| {
        let rounds = figures(&name)?;
        let all: Vec<f64> = rounds.iter().map(|it| it.1).collect();
        Some(Candidate { name, figure: stats::median(&all)?, rounds })
    };
    names.filter_map(candidate).collect()
}

/// Picks among candidates, which are in table order.
fn decide(what: String, is_answer: bool, unit: PickUnit, found: Vec<Candidate>) -> Option<Pick> {
    let tie = if unit == PickUnit::Steps { TIE_OF_STEPS } else { TIE };
    let best = found.iter().min_by(|a, b| a.figure.total_cmp(&b.figure))?.clone();
    // The median of the ratios is more stable than the ends of their interval.
    let is_tie = |it: &Candidate| match stats::paired_ratio(&pairs(it, &best)) {
        Some(ratio) => ratio.ratio <= tie || ratio.low <= 1.0,
        None => it.figure <= tie * best.figure,
    };
    let (mut ties, mut others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_tie);
    let pick = ties.remove(0);
    others.sort_by(|a, b| a.figure.total_cmp(&b.figure));
    Some(Pick { what, is_answer, unit, pick, ties, others })
}

/// The pairs of figures from rounds in which both took part.
fn pairs(of: &Candidate, with: &Candidate) -> Vec<(f64, f64)> {
    let other = |round: u32| with.rounds.iter().find(|it| it.0 == round).map(|it| it.1);
    of.rounds.iter().filter_map(|(round, figure)| Some((*figure, other(*round)?))).collect()
}

impl Pick {
    /// The figure of a candidate, with its unit.
    fn figure_text(&self, candidate: &Candidate) -> String {
        match self.unit {
            PickUnit::Time => units::time(candidate.figure),
            PickUnit::Steps => format!("{} steps", units::count(candidate.figure as u64)),
            PickUnit::Bytes => format!("{:.1} bytes", candidate.figure),
        }
    }

    fn find(&self, name: &str) -> Option<&Candidate> {
        let mut all = std::iter::once(&self.pick).chain(&self.ties).chain(&self.others);
        all.find(|it| it.name == name)
    }

    /// The names of the pick and the ties.
    pub fn best_names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.pick).chain(&self.ties).map(|it| it.name.as_str())
    }

    /// Returns `true` if no other structure was compared with the pick.
    fn is_alone(&self) -> bool {
        self.ties.is_empty() && self.others.is_empty()
    }

    /// The pick and the ties, as a sentence.
    pub fn sentence(&self) -> String {
        let (figure, ties) = (self.figure_text(&self.pick), self.ties_sentence());
        if self.is_alone() {
            return format!(
                "only {} was measured or can be recommended ({figure}).",
                self.pick.name
            );
        }
        format!("use {} ({figure}).{ties}", self.pick.name)
    }

    fn ties_sentence(&self) -> String {
        let names: Vec<&str> = self.ties.iter().map(|it| it.name.as_str()).collect();
        match names.as_slice() {
            [] => String::new(),
            [one] => format!(" {one} ties with {}.", self.pick.name),
            _ => format!(" {} tie with {}.", names.join(", "), self.pick.name),
        }
    }
}

/// The picks as a table.
pub fn table(run: &Run) -> Table {
    let columns = ["use", "pick", "figure", "ties", "next"];
    let columns = columns.map(|name| Column::new(name, name == "figure")).into();
    let mut table = Table::new("Recommended structures, by this run", columns);
    for pick in picks(run) {
        let ties: Vec<&str> = pick.ties.iter().map(|it| it.name.as_str()).collect();
        let behind = |it: &Candidate| format!("{}, ×{:.2}", it.name, it.figure / pick.pick.figure);
        let next = pick.others.first().map(behind);
        table.rows.push(vec![
            Cell::text(&pick.what),
            Cell::text(&pick.pick.name),
            Cell::figure(pick.pick.figure, pick.figure_text(&pick.pick)),
            Cell::text(ties.join(", ")),
            Cell::text(next.unwrap_or_else(|| "-".to_owned())),
        ]);
    }
    table.notes.push(format!(
        "A time is the mean cost of a start, stop, move or expiry. Lower is better. A structure is \
         a tie if the median of its ratios to the best within the rounds is at most ×{TIE} \
         (×{TIE_OF_STEPS} for steps), or if the interval of {MIN_SAMPLES} or more ratios includes \
         1. With five rounds or fewer the interval is the range, so one round of three can make a \
         tie. The pick is the tie that comes first in the table. Growing arrays is not counted in \
         steps, but can take milliseconds: see the column max of insert."
    ));
    table
}

/// The picks that belong to the answer.
pub fn answers(run: &Run) -> Vec<Pick> {
    picks(run).into_iter().filter(|pick| pick.is_answer).collect()
}

/// The answer in sentences: the recommended structure for most uses, then a line for each use where
/// another one is better, with its price in the other uses. Empty if the run was interrupted, since
/// structures are missing, or if there was nothing to compare.
pub fn answer(run: &Run) -> Vec<String> {
    let all = answers(run);
    let is_comparison = !run.interrupted && !all.iter().all(Pick::is_alone);
    let Some(common) = most_common(&all).filter(|_| is_comparison) else { return Vec::new() };
    let (its, others): (Vec<&Pick>, Vec<&Pick>) =
        all.iter().partition(|pick| pick.best_names().any(|name| name == common));
    let with_figure =
        |pick: &&Pick| Some(format!("{} ({})", pick.what, pick.figure_text(pick.find(common)?)));
    let uses: Vec<String> = its.iter().filter_map(with_figure).collect();
    let n = units::count(summary::default_n(run).unwrap_or_default());
    let first = format!(
        "Use {common}. It is the best, or as good as the best, for {} of {} uses: {}. A use has \
         {n} timers unless it names another number.",
        its.len(),
        all.len(),
        uses.join("; ")
    );
    let exceptions = others.iter().map(|pick| exception(pick, common, &all, &n));
    std::iter::once(first).chain(exceptions).collect()
}

/// The structure that most picks name; if several do, the first.
fn most_common(all: &[Pick]) -> Option<&str> {
    let count = |name: &str| all.iter().filter(|pick| pick.pick.name == name).count();
    let names = all.iter().map(|pick| pick.pick.name.as_str());
    // `max_by_key` returns the last of several maxima, so the first comes last.
    names.rev().max_by_key(|name| count(name))
}

/// The sentence about a use for which another structure is better, and its price in other uses.
fn exception(pick: &Pick, common: &str, all: &[Pick], n: &str) -> String {
    let other = &pick.pick.name;
    let instead = pick.find(common).map(|it| format!(" instead of {}", pick.figure_text(it)));
    let timed = all.iter().filter(|it| it.unit == PickUnit::Time && it.pick.name == common);
    let prices = timed.filter_map(|it| Some((it.find(other)?.figure / it.pick.figure, it)));
    let price = prices.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(ratio, it)| {
        if ratio < TIE {
            return " It is no slower in any other use.".to_owned();
        }
        let what = match it.what.rsplit_once(", ") {
            Some((name, share)) if share.ends_with(NOT_FIRED) => name,
            _ => &it.what,
        };
        // The name of a use with another number of timers states that number.
        let with =
            if what.contains(" timers") { String::new() } else { format!("with {n} timers, ") };
        format!(" Its price: {with}\"{what}\" takes {ratio:.1} times as long.")
    });
    let (what, figure, ties) = (&pick.what, pick.figure_text(&pick.pick), pick.ties_sentence());
    let (instead, price) = (instead.unwrap_or_default(), price.unwrap_or_default());
    format!("{what}: {other}, {figure}{instead}.{price}{ties}")
}
