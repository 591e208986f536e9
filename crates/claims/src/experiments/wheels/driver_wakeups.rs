//! How often a program wakes, and how often for nothing: by ticks, by the next wake-up, by a queue of slots; one driver for all timers or one for each.

use super::ours::{self, Wakeup};
use crate::count::{Probe, random};
use crate::experiments::configured;
use crate::experiments::port::Port;
use crate::{Evidence, Experiment, Finding, Part, Scale, Table};
use rand::RngExt;
use wheelhouse_binary_heap::Definition;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "driver-wakeups",
    about: "wake-ups that fire nothing: one timer at 350 by ticks, by the next wake-up of each wheel, and by a queue of slots; that queue under sparse, dense and \
            mass-cancelled loads; 1,000 timers behind one driver and behind one each",
    run,
};

fn run(scale: &Scale) -> Evidence {
    let single = one_timer();
    let loads: Vec<_> = Load::ALL.into_iter().map(|load| Queue::count(load, scale)).collect();
    let drivers: Vec<_> = Drivers::ALL.into_iter().map(Drivers::count).collect();
    Evidence {
        findings: vec![one_scheduler(&drivers), empty_ticks(&single), no_empty_advances(&loads)],
        tables: vec![single_table(&single), load_table(&loads), driver_table(&drivers)],
        charts: Vec::new(),
    }
}

/// The article's timer.
const ALONE: Tick = 350;

/// A way to wake, how often it did, and how often nothing fired.
struct Way {
    name: &'static str,
    calls: u64,
    in_vain: u64,
}

impl Way {
    fn new(name: &'static str, wakeups: &[Wakeup]) -> Self {
        let in_vain = wakeups.iter().filter(|wakeup| wakeup.fired == 0).count() as u64;
        Self { name, calls: wakeups.len() as u64, in_vain }
    }
}

const BY_TICKS: &str = "round-wheel, at each tick";

fn one_timer() -> Vec<Way> {
    fn alone<T: Timer<u64>>(mut probe: Probe<T>) -> Vec<Wakeup> {
        probe.fill([ALONE]);
        ours::wakeups(&mut probe, |_, _| ())
    }
    let mut walked = configured::round_wheel(512);
    walked.fill([ALONE]);
    let mut printed = Port::new(1, 20, 0);
    printed.add(ALONE, 0);
    vec![
        Way::new(BY_TICKS, &by_ticks(&mut walked)),
        Way::new("single-wheel, at the next wake-up", &alone(configured::single_wheel(512))),
        Way::new("hashed-wheel, at the next wake-up", &alone(configured::hashed_wheel(512))),
        Way::new("round-wheel, at the next wake-up", &alone(configured::round_wheel(512))),
        Way::new(
            "hierarchical-wheel of 256 slots, at the next wake-up",
            &alone(configured::hierarchical_wheel(256, 0)),
        ),
        Way::new(
            "hierarchical-wheel of 8 slots, at the next wake-up",
            &alone(configured::hierarchical_wheel(8, 0)),
        ),
        Way::new(
            "kafka-wheel of 20 slots, by its queue of slots",
            &alone(configured::kafka_wheel(20, 0)),
        ),
        Way::new("a queue of slots as printed, of 20 slots", &by_queue(&mut printed)),
    ]
}

/// Advances tick by tick until no timer is left.
fn by_ticks<T: Timer<u64>>(probe: &mut Probe<T>) -> Vec<Wakeup> {
    let mut wakeups = Vec::new();
    while !probe.timer.is_empty() {
        let tick = probe.timer.now() + 1;
        let fired = probe.timer.advance(tick, |_| ()) as u64;
        wakeups.push(Wakeup { tick, fired, moved: 0 });
    }
    wakeups
}

/// Polls until the queue is empty; what is polled at one tick is one wake-up.
fn by_queue(wheels: &mut Port) -> Vec<Wakeup> {
    let mut wakeups: Vec<Wakeup> = Vec::new();
    while let Some(poll) = wheels.poll_next() {
        if wakeups.last().is_none_or(|last| last.tick != poll.expiry) {
            wakeups.push(Wakeup { tick: poll.expiry, ..Wakeup::default() });
        }
        if let Some(last) = wakeups.last_mut() {
            last.fired += poll.ran.len() as u64;
            last.moved += poll.moved.len() as u64;
        }
    }
    wakeups
}

fn empty_ticks(ways: &[Way]) -> Finding {
    let ticks = ways.iter().find(|way| way.name == BY_TICKS);
    let part = Part::new(
        "349 of 350 ticks fire nothing",
        ticks.is_some_and(|way| (way.calls, way.in_vain) == (ALONE, 349)),
    );
    let others = ways.iter().filter(|way| way.name != BY_TICKS);
    let most = others.map(|way| way.in_vain).max().unwrap_or(0);
    let figure = format!(
        "{} of {ALONE} ticks; at most {most} wake-ups that fire nothing with any other driver",
        ticks.map_or(0, |way| way.in_vain)
    );
    Finding::new("C42", figure, [part])
}

fn single_table(ways: &[Way]) -> Table {
    let mut table =
        Table::new("One timer 350 ticks ahead", ["driver", "wake-ups", "that fire nothing"]);
    for way in ways {
        table.row([way.name.to_owned(), way.calls.to_string(), way.in_vain.to_string()]);
    }
    table
}

/// What a queue of slots is put to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    Sparse,
    Dense,
    Cancelled,
}

impl Load {
    const ALL: [Self; 3] = [Self::Sparse, Self::Dense, Self::Cancelled];

    fn name(self) -> &'static str {
        match self {
            Self::Sparse => "20 timers of 1 to 2^20 ticks, of any magnitude",
            Self::Dense => "20,000 timers of 1 to 2,000 ticks",
            Self::Cancelled => "2,000 timers of 1 to 1,000,000 ticks, all but 20 cancelled",
        }
    }

    /// The deadlines, and whether each timer is cancelled before anything is due.
    fn timers(self, seed: u64) -> Vec<(Tick, bool)> {
        let mut random = random(seed);
        let mut sparse = || {
            let bits = random.random_range(1..=20_u32);
            (random.random_range(1..=1 << bits), false)
        };
        match self {
            Self::Sparse => (0..20).map(|_| sparse()).collect(),
            Self::Dense => (0..20_000).map(|_| (random.random_range(1..=2_000), false)).collect(),
            Self::Cancelled => {
                (0..2_000).map(|at| (random.random_range(1..=1_000_000), at % 100 != 0)).collect()
            }
        }
    }
}

/// What was counted of a load, all seeds together.
#[derive(Debug)]
struct Queue {
    load: Load,
    live: u64,
    ticks: u64,
    /// Wake-ups of the wheels as printed: all, those that only moved timers down, those that found cancelled timers only.
    wakeups: u64,
    demoting: u64,
    empty: u64,
    /// Wake-ups of kafka-wheel, and those that fired nothing.
    ours: u64,
    ours_in_vain: u64,
    /// The longest queue, the timers that were live with it at the most, and all slots of the wheels: the most of any seed.
    longest: usize,
    most_live: usize,
    slots: usize,
}

impl Queue {
    fn count(load: Load, scale: &Scale) -> Self {
        let none = Self {
            load,
            live: 0,
            ticks: 0,
            wakeups: 0,
            demoting: 0,
            empty: 0,
            ours: 0,
            ours_in_vain: 0,
            longest: 0,
            most_live: 0,
            slots: 0,
        };
        scale.seeds().fold(none, |sum, seed| sum.run(seed))
    }

    fn run(mut self, seed: u64) -> Self {
        const SLOTS: usize = 20;
        let timers = self.load.timers(seed);
        let (mut printed, mut probe) = (Port::new(1, SLOTS, 0), configured::kafka_wheel(SLOTS, 0));
        let ids = probe.fill(timers.iter().map(|timer| timer.0));
        self.most_live = self.most_live.max(probe.timer.len());
        self.longest = self.longest.max(probe.timer.occupied_slots());
        for (name, ((deadline, cancelled), id)) in (0..).zip(timers.into_iter().zip(ids)) {
            printed.add(deadline, name);
            if cancelled {
                printed.cancel(name);
                probe.timer.cancel(id);
            }
        }
        self.live += probe.timer.len() as u64;
        let wakeups = by_queue(&mut printed);
        self.ticks += wakeups.last().map_or(0, |last| last.tick);
        self.wakeups += wakeups.len() as u64;
        self.demoting +=
            wakeups.iter().filter(|wakeup| wakeup.fired == 0 && wakeup.moved > 0).count() as u64;
        self.empty +=
            wakeups.iter().filter(|wakeup| wakeup.fired == 0 && wakeup.moved == 0).count() as u64;
        let ours = ours::wakeups(&mut probe, |_, _| ());
        self.ours += ours.len() as u64;
        self.ours_in_vain += ours.iter().filter(|wakeup| wakeup.fired == 0).count() as u64;
        self.longest = self.longest.max(printed.longest_queue());
        self.slots = self.slots.max(printed.levels() * SLOTS);
        self
    }
}

fn no_empty_advances(loads: &[Queue]) -> Finding {
    let of = |load: Load| loads.iter().filter(move |it| it.load == load);
    let [demoting, empty] = [Load::Sparse, Load::Cancelled]
        .map(|load| of(load).map(|it| (it.demoting, it.empty, it.wakeups)).collect::<Vec<_>>());
    let parts = [
        Part::new(
            "in a sparse load there are fewer wake-ups than ticks",
            of(Load::Sparse).all(|it| it.wakeups < it.ticks),
        ),
        Part::new("none of them only moves timers down", demoting.iter().all(|it| it.0 == 0)),
        Part::new(
            "after a mass cancel none finds cancelled timers only",
            empty.iter().all(|it| it.1 == 0),
        ),
        Part::new(
            "the queue holds no more entries than there are slots",
            loads.iter().all(|it| it.longest <= it.slots),
        ),
        Part::new(
            "in a dense load far fewer than timers",
            of(Load::Dense).all(|it| 10 * it.longest < it.most_live),
        ),
    ];
    let sum = |counts: &[(u64, u64, u64)]| {
        counts.iter().fold((0, 0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1, sum.2 + it.2))
    };
    let (sparse, cancelled) = (sum(&demoting), sum(&empty));
    let figure = format!(
        "{} of {} wake-ups of a sparse load only move timers down; {} of {} after a mass cancel find none",
        sparse.0, sparse.2, cancelled.1, cancelled.2
    );
    Finding::new("C44", figure, parts)
}

fn load_table(loads: &[Queue]) -> Table {
    let columns = [
        "load",
        "live timers",
        "ticks",
        "wake-ups",
        "that only demote",
        "that find cancelled timers only",
        "longest queue",
        "slots",
        "wake-ups of kafka-wheel",
        "that fire nothing",
    ];
    let mut table = Table::new(
        "A queue of 20 slots a wheel as printed, all seeds together; the last two columns: kafka-wheel",
        columns,
    );
    for it in loads {
        let before = [
            it.live,
            it.ticks,
            it.wakeups,
            it.demoting,
            it.empty,
            it.longest as u64,
            it.slots as u64,
            it.ours,
            it.ours_in_vain,
        ];
        table.row(
            std::iter::once(it.load.name().to_owned()).chain(before.map(|count| count.to_string())),
        );
    }
    table
}

/// Timers of each of these.
const TIMERS: u64 = 1_000;

/// How drivers wake, and when the timers are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drivers {
    /// At the next wake-up, all due at one tick.
    Coinciding,
    /// At the next wake-up, each due at a tick of its own.
    Distinct,
    /// At each tick, each due at a tick of its own.
    Ticking,
}

/// Wake-ups with one driver, and with one for each timer.
struct Wakes {
    drivers: Drivers,
    together: u64,
    apart: u64,
}

impl Drivers {
    const ALL: [Self; 3] = [Self::Coinciding, Self::Distinct, Self::Ticking];

    fn name(self) -> &'static str {
        match self {
            Self::Coinciding => "at the next wake-up, all due at one tick",
            Self::Distinct => "at the next wake-up, each due at its own tick",
            Self::Ticking => "at each tick, each due at its own tick",
        }
    }

    /// A heap names its next deadline exactly, so that no wake-up is the structure's own doing.
    fn count(self) -> Wakes {
        let delay = |timer: u64| if self == Self::Coinciding { TIMERS } else { 1 + timer };
        let wakes = |delays: Vec<Tick>| {
            let mut probe = Probe::of::<Definition<4>>();
            probe.fill(delays);
            if self == Self::Ticking {
                by_ticks(&mut probe).len()
            } else {
                ours::wakeups(&mut probe, |_, _| ()).len()
            }
        };
        let together = wakes((0..TIMERS).map(delay).collect()) as u64;
        let apart = (0..TIMERS).map(|timer| wakes(vec![delay(timer)]) as u64).sum();
        Wakes { drivers: self, together, apart }
    }
}

fn one_scheduler(drivers: &[Wakes]) -> Finding {
    let part = |it: &Wakes| {
        Part::new(
            format!("one driver wakes less often: {}", it.drivers.name()),
            it.together < it.apart,
        )
    };
    let figure = |it: &Wakes| format!("{} against {} {}", it.together, it.apart, it.drivers.name());
    let figure = drivers.iter().map(figure).collect::<Vec<_>>().join("; ");
    let figure =
        format!("wake-ups of one driver against one for each of {TIMERS} timers: {figure}");
    Finding::new("C07", figure, drivers.iter().map(part).collect::<Vec<_>>())
}

fn driver_table(drivers: &[Wakes]) -> Table {
    let columns =
        ["drivers wake", "wake-ups of one", "of one for each timer", "that sleep at a time"];
    let mut table = Table::new(
        format!(
            "{TIMERS} timers behind one driver, and behind one each, which then sleep all at a time"
        ),
        columns,
    );
    for it in drivers {
        table.row([
            it.drivers.name().to_owned(),
            it.together.to_string(),
            it.apart.to_string(),
            TIMERS.to_string(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_article_counts_349() {
        let ways = one_timer();
        assert_eq!((ways[0].calls, ways[0].in_vain), (350, 349));
        assert!(
            ways[1..].iter().all(|way| way.calls - way.in_vain == 1 && way.in_vain <= 2),
            "a move for each level at most"
        );
    }
}
