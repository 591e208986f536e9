//! One flat wheel for a long span: the slots it needs, and what three ways to drive it pass on the way round.

use super::ours;
use crate::experiment::Experiment;
use crate::experiments::configured;
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use std::collections::BTreeSet;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "flat-wheel-span",
    about: "single-wheel, and an array with a slot for each tick, two timers: slots needed, and slots passed by a hand that walks, by a search over words of \
            bits, and by a queue of used slots; spans from 12 to 2,592,000 ticks",
    run,
};

/// The articles' spans: the hours of half a day, a day, a week and a month; S3's 10,000 s; the seconds of a month.
const SPANS: [Tick; 6] = [12, 24, 168, MONTH, S3, 2_592_000];
const MONTH: Tick = 720;
const S3: Tick = 10_000;

fn run(_: &Scale) -> Evidence {
    let spans: Vec<_> = SPANS.into_iter().map(Span::count).collect();
    Evidence {
        findings: vec![month(&spans), ten_thousand(&spans)],
        tables: vec![table(&spans)],
        charts: vec![chart(&spans)],
    }
}

/// The two timers of a span: a third of the way, and at its last tick.
fn deadlines(span: Tick) -> [Tick; 2] {
    [span / 3, span - 1]
}

/// What was counted for one span.
struct Span {
    ticks: Tick,
    passes: Passes,
    ours: Option<Single>,
}

/// What is passed in an array with a slot for each tick of the span, on the way round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Passes {
    /// Slots that a walking hand visits, and those of them that are empty.
    walking: u64,
    in_vain: u64,
    /// Words of 64 bits, a bit a slot, that a search for the used ones reads.
    words: u64,
    /// Slots that a queue of the used ones names.
    queue: u64,
}

impl Passes {
    fn count(span: Tick) -> Self {
        let mut slots = vec![0_u32; span as usize];
        let mut words = vec![0_u64; slots.len().div_ceil(64)];
        let mut queue = BTreeSet::new();
        for deadline in deadlines(span).map(|deadline| deadline as usize) {
            slots[deadline] += 1;
            words[deadline / 64] |= 1 << (deadline % 64);
            queue.insert(deadline);
        }
        let mut passes = Self::default();
        for slot in &slots {
            passes.walking += 1;
            passes.in_vain += u64::from(*slot == 0);
        }
        for (number, mut word) in words.into_iter().enumerate() {
            passes.words += 1;
            while word != 0 {
                slots[64 * number + word.trailing_zeros() as usize] = 0;
                word &= word - 1;
            }
        }
        assert!(slots.iter().all(|slot| *slot == 0), "the search finds what the walk finds");
        while queue.pop_first().is_some() {
            passes.queue += 1;
        }
        passes
    }
}

/// What single-wheel needs, in the fewest slots that take a timer at the last tick of the span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Single {
    slots: u64,
    /// Calls of a driver that advances tick by tick over the span, and how many fired nothing.
    ticks: u64,
    in_vain: u64,
    /// Calls of one that goes from wake-up to wake-up, and the slots that they visited.
    wakeups: u64,
    visits: u64,
}

impl Single {
    /// None where no wheel has as many slots.
    fn count(span: Tick) -> Option<Self> {
        let fits = |slots: &usize| {
            configured::single_wheel(*slots).timer.insert_within(span - 1, 0).is_ok()
        };
        let slots = (1..=16).map(|bits| 1 << bits).find(fits)?;
        let mut walked = configured::single_wheel(slots);
        walked.fill(deadlines(span));
        let in_vain =
            (1..=span).filter(|tick| walked.timer.advance(*tick, |_| ()) == 0).count() as u64;
        let mut woken = configured::single_wheel(slots);
        woken.fill(deadlines(span));
        let wakeups = ours::wakeups(&mut woken, |_, _| ()).len() as u64;
        let visits = woken.steps().of(Work::SlotVisit);
        Some(Self { slots: slots as u64, ticks: span, in_vain, wakeups, visits })
    }
}

impl Span {
    fn count(ticks: Tick) -> Self {
        Self { ticks, passes: Passes::count(ticks), ours: Single::count(ticks) }
    }
}

/// The slots follow the span, if no wheel takes it with fewer; where none of ours takes it, none has enough.
fn follows(spans: &[&Span]) -> Part {
    let holds = spans.iter().all(|span| span.ours.is_none_or(|ours| ours.slots >= span.ticks));
    Part::new("no fewer slots take the span than it has ticks", holds)
}

/// Whether a driver that goes from wake-up to wake-up has to pass the slots too. What single-wheel looks into counts: slots, and words of its map of those in use.
fn every_driver(spans: &[&Span]) -> Part {
    let passes_all = |span: &&Span| span.ours.is_some_and(|ours| ours.visits >= span.ticks);
    Part::new("so does a driver that goes from wake-up to wake-up", spans.iter().any(passes_all))
}

fn month(spans: &[Span]) -> Finding {
    let all: Vec<_> = spans.iter().collect();
    let of_month: Vec<_> = spans.iter().filter(|span| span.ticks == MONTH).collect();
    let useless = |span: &&Span| {
        span.passes.in_vain == 718 && span.ours.is_some_and(|ours| ours.in_vain == 718)
    };
    let parts = [
        follows(&all),
        Part::new(
            "of 720 moves of a hand that walks, 718 do nothing",
            of_month.iter().any(useless),
        ),
        every_driver(&all),
    ];
    let [passes, wakeups] = of_month
        .first()
        .map_or([0; 2], |it| [it.passes.in_vain, it.ours.map_or(0, |ours| ours.wakeups)]);
    let figure = format!(
        "two timers in {MONTH} slots: {passes} useless moves of a hand that walks; {wakeups} calls from wake-up to wake-up, none useless"
    );
    Finding::new("C15", figure, parts)
}

fn ten_thousand(spans: &[Span]) -> Finding {
    let spans: Vec<_> = spans.iter().filter(|span| span.ticks == S3).collect();
    let walked = spans.iter().map(|span| span.passes.walking).sum::<u64>();
    let visits = spans.iter().filter_map(|span| span.ours).map(|ours| ours.visits).sum::<u64>();
    let parts = [
        follows(&spans),
        Part::new("a hand that walks visits each slot", walked == S3),
        every_driver(&spans),
    ];
    let figure = format!(
        "{walked} slots visited by a hand that walks; {visits} slots and words of its map by single-wheel, from wake-up to wake-up"
    );
    Finding::new("C34", figure, parts)
}

fn table(spans: &[Span]) -> Table {
    let columns = [
        "span in ticks",
        "slots walked",
        "of them empty",
        "words of bits read",
        "queue entries",
        "slots of single-wheel",
        "ticks that fire nothing",
        "wake-ups",
        "slots and words visited by them",
    ];
    let mut table = Table::new("Two timers in one flat wheel, once round", columns);
    for Span { ticks, passes, ours } in spans {
        let model = [*ticks, passes.walking, passes.in_vain, passes.words, passes.queue]
            .map(|count| count.to_string());
        let of = |count: fn(&Single) -> u64| {
            ours.as_ref().map_or("-".to_owned(), |ours| count(ours).to_string())
        };
        let slots =
            ours.as_ref().map_or("more than 65536".to_owned(), |ours| ours.slots.to_string());
        let counts =
            [slots, of(|ours| ours.in_vain), of(|ours| ours.wakeups), of(|ours| ours.visits)];
        table.row(model.into_iter().chain(counts));
    }
    table
}

fn chart(spans: &[Span]) -> Chart {
    let series = |name: &str, count: fn(&Passes) -> u64| Series {
        name: name.to_owned(),
        points: spans.iter().map(|span| (span.ticks as f64, count(&span.passes) as f64)).collect(),
    };
    Chart {
        title: "The way round a flat wheel with two timers".to_owned(),
        subtitle: "slots, words or entries passed".to_owned(),
        x: "span in ticks".to_owned(),
        y: "passed".to_owned(),
        series: vec![
            series("a hand that walks", |passes| passes.walking),
            series("words of bits", |passes| passes.words),
            series("a queue of used slots", |passes| passes.queue),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_month_of_the_article() {
        assert_eq!(Passes::count(720), Passes { walking: 720, in_vain: 718, words: 12, queue: 2 });
        let ours = Single::count(720).unwrap();
        assert_eq!((ours.slots, ours.ticks, ours.in_vain, ours.wakeups), (1_024, 720, 718, 2));
        assert_eq!(Single::count(2_592_000), None);
    }
}
