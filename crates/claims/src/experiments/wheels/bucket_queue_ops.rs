//! What the queue of slots costs each timer, in Kafka's wheels as printed, and in ours.

use crate::count::random;
use crate::experiment::Experiment;
use crate::experiments::configured;
use crate::experiments::port::Port;
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "bucket-queue-ops",
    about: "Kafka's wheels as printed, and kafka-wheel, 8, 20 and 64 slots: offers, polls and comparisons of the queue for each timer where timers are \
            dense, sparse, or cancelled; its length; how often a slot is offered in a lap",
    run,
};

/// Slots of a wheel.
const SIZES: [Tick; 3] = [8, 20, 64];
/// All delays of the dense load: Kafka's own timeouts of 200 ms.
const DENSE: Tick = 200;
/// Ticks for each timer of the sparse load.
const SPARSE: Tick = 1_000;
/// The most timers, but for the dense load in wheels of 20 slots: what a timer costs elsewhere does not change from far fewer on.
const MOST: u64 = 1 << 16;
/// Timers that are not cancelled, in the load in which all others are.
const KEPT: usize = 16;
/// Queue operations for each timer that count as none.
const NONE: f64 = 0.1;

/// How timers lie in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    Dense,
    Sparse,
    /// Sparse, and all but a few cancelled before anything is due.
    Cancelled,
}

impl Load {
    const ALL: [Self; 3] = [Self::Dense, Self::Sparse, Self::Cancelled];

    fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Sparse => "sparse",
            Self::Cancelled => "cancelled",
        }
    }

    fn delays(self, n: u64, random: &mut Pcg64Mcg) -> Vec<Tick> {
        let longest = if self == Self::Dense { DENSE } else { SPARSE * n };
        (0..n).map(|_| random.random_range(1..=longest)).collect()
    }

    /// Whether one of n timers is cancelled.
    fn cancels(self, number: usize, n: usize) -> bool {
        self == Self::Cancelled && !number.is_multiple_of(n / KEPT)
    }
}

/// What was counted of one configuration at one size, all seeds together.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    n: u64,
    timers: u64,
    offers: u64,
    polls: u64,
    /// Polls of slots in which no timer was left.
    empty: u64,
    comparisons: u64,
    longest: usize,
    /// Slots of all wheels.
    slots: usize,
    /// The longest queue of kafka-wheel, and its wake-ups at which nothing fired and nothing moved.
    ours_longest: usize,
    ours_vain: u64,
}

impl Count {
    /// Queue operations for each timer.
    fn operations(&self) -> f64 {
        (self.offers + self.polls) as f64 / self.timers as f64
    }
}

/// What was counted of one load in wheels of one size, for each n.
struct Row {
    size: Tick,
    load: Load,
    counts: Vec<Count>,
}

fn run(scale: &Scale) -> Evidence {
    let mut rows = Vec::new();
    for size in SIZES {
        for load in Load::ALL {
            let most = if (size, load) == (20, Load::Dense) { u64::MAX } else { MOST };
            let counts = sizes(scale, most).map(|n| count(size, load, n, scale)).collect();
            rows.push(Row { size, load, counts });
        }
    }
    let laps = laps(scale);
    Evidence {
        findings: vec![cost(&rows), once(&laps)],
        tables: vec![table(&rows), lap_table(&laps)],
        charts: vec![chart(&rows)],
    }
}

/// Every other size, the largest among them.
fn sizes(scale: &Scale, most: u64) -> impl Iterator<Item = u64> {
    let mut sizes: Vec<u64> =
        scale.sizes().into_iter().filter(|n| *n <= most).rev().step_by(2).collect();
    sizes.reverse();
    sizes.into_iter()
}

fn count(size: Tick, load: Load, n: u64, scale: &Scale) -> Count {
    let mut count = Count { n, ..Count::default() };
    for seed in scale.seeds() {
        let delays = load.delays(n, &mut random(seed));
        count_printed(&mut count, size, load, &delays);
        count_ours(&mut count, size, load, &delays);
    }
    count
}

fn count_printed(count: &mut Count, size: Tick, load: Load, delays: &[Tick]) {
    let mut wheels = Port::new(1, size as usize, 0);
    for (number, delay) in delays.iter().enumerate() {
        wheels.add(*delay, number as u64);
        if load.cancels(number, delays.len()) {
            wheels.cancel(number as u64);
        }
    }
    while let Some(poll) = wheels.poll_next() {
        count.polls += 1;
        count.empty += u64::from(poll.ran.is_empty() && poll.moved.is_empty());
    }
    count.timers += delays.len() as u64;
    count.offers += wheels.offers();
    count.comparisons += wheels.comparisons();
    count.longest = count.longest.max(wheels.longest_queue());
    count.slots = count.slots.max(wheels.levels() * size as usize);
}

fn count_ours(count: &mut Count, size: Tick, load: Load, delays: &[Tick]) {
    let mut probe = configured::kafka_wheel(size as usize, 0);
    let ids = probe.fill(delays.iter().copied());
    count.ours_longest = count.ours_longest.max(probe.timer.occupied_slots());
    let gone =
        ids.into_iter().enumerate().filter(|(number, _)| load.cancels(*number, delays.len()));
    gone.for_each(|(_, id)| _ = probe.timer.cancel(id));
    let mut longest = 0;
    while let Some(tick) = probe.timer.next_wakeup() {
        let before = probe.steps();
        let fired = probe.timer.advance(tick, |_| ());
        let moved = probe.steps().since(&before).of(wheelhouse_core::meter::Work::CascadeMove);
        count.ours_vain += u64::from(fired == 0 && moved == 0);
        longest = longest.max(probe.timer.occupied_slots());
    }
    count.ours_longest = count.ours_longest.max(longest);
}

/// Whether the queue costs anything that matters.
fn cost(rows: &[Row]) -> Finding {
    let of = |load: Load| rows.iter().filter(move |row| row.load == load);
    let falls =
        |row: &Row| row.counts.windows(2).all(|pair| pair[1].operations() < pair[0].operations());
    let last = |row: &Row| row.counts.last().map_or(f64::NAN, Count::operations);
    let dense = of(Load::Dense).map(last).fold(0.0, f64::max);
    let sparse = of(Load::Sparse).map(last).fold(f64::INFINITY, f64::min);
    let all = || rows.iter().flat_map(|row| &row.counts);
    let cancelled = || of(Load::Cancelled).flat_map(|row| &row.counts);
    let (empty, polls) =
        cancelled().fold((0, 0), |(empty, polls), it| (empty + it.empty, polls + it.polls));
    let parts = [
        Part::new(
            "the queue has no more entries than there are slots",
            all().all(|it| it.longest.max(it.ours_longest) <= it.slots),
        ),
        Part::new(
            "its operations for each timer vanish where timers are dense",
            of(Load::Dense).all(falls) && dense < NONE,
        ),
        Part::new("they are less than one for each timer where timers are sparse", sparse < 1.0),
        Part::new("no slot is polled whose timers were all cancelled", empty == 0),
    ];
    let largest = of(Load::Dense).filter_map(|row| row.counts.last()).max_by_key(|it| it.n);
    let (n, least) = largest.map_or((0, f64::NAN), |it| (it.n, it.operations()));
    let figure = format!(
        "offers and polls for each timer: {least:.4} at n = {n} with delays up to {DENSE}, at least {sparse:.1} where timers are sparse; \
         {empty} of {polls} polls in vain after a mass cancel"
    );
    Finding::new("C36", figure, parts)
}

fn table(rows: &[Row]) -> Table {
    let columns = [
        "wheel size, load",
        "n",
        "offers a timer",
        "polls a timer",
        "comparisons an operation",
        "polls in vain",
        "longest queue",
        "slots",
        "longest queue of kafka-wheel",
        "its wake-ups in vain",
    ];
    let mut table = Table::new(
        "The queue of slots, as printed, all seeds together; the last two columns: kafka-wheel",
        columns,
    );
    for Row { size, load, counts } in rows {
        for it in counts {
            let each = |count: u64| format!("{:.4}", count as f64 / it.timers as f64);
            let comparisons =
                format!("{:.2}", it.comparisons as f64 / (it.offers + it.polls) as f64);
            let head = [
                format!("{size}, {}", load.name()),
                it.n.to_string(),
                each(it.offers),
                each(it.polls),
                comparisons,
            ];
            let counts = [
                it.empty,
                it.longest as u64,
                it.slots as u64,
                it.ours_longest as u64,
                it.ours_vain,
            ];
            table.row(head.into_iter().chain(counts.map(|count| count.to_string())));
        }
    }
    table
}

fn chart(rows: &[Row]) -> Chart {
    let shown = rows.iter().filter(|row| row.size == 20 || row.load != Load::Cancelled);
    let points = |row: &Row| row.counts.iter().map(|it| (it.n as f64, it.operations())).collect();
    Chart {
        title: "The queue of slots: nothing where timers are dense, not where they are sparse"
            .to_owned(),
        subtitle: "offers and polls for each timer; the number is the size of a wheel".to_owned(),
        x: "timers".to_owned(),
        y: "queue operations a timer".to_owned(),
        series: shown
            .map(|row| Series {
                name: format!("{}, {}", row.size, row.load.name()),
                points: points(row),
            })
            .collect(),
    }
}

/// What becomes of a timer of one slot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Fire,
    /// Before the next one comes.
    Cancel,
}

/// How often slots were offered in a lap.
struct Laps {
    name: String,
    laps: u64,
    offers: u64,
    /// The most and the least in one lap.
    most: u64,
    least: u64,
}

impl Laps {
    fn of(name: String, offers: impl Iterator<Item = u64>) -> Self {
        let none = Self { name, laps: 0, offers: 0, most: 0, least: u64::MAX };
        offers.fold(none, |sum, it| Self {
            laps: sum.laps + 1,
            offers: sum.offers + it,
            most: sum.most.max(it),
            least: sum.least.min(it),
            ..sum
        })
    }
}

/// kafka-wheel marks no expiry: a slot is in the queue while it holds timers, so that cancels take it out, and the next timer puts it in again.
fn refilled() -> Laps {
    let name =
        "for comparison: kafka-wheel, 20 slots, each timer of the slot cancelled before the next comes".to_owned();
    Laps::of(name, one_slot(20, Then::Cancel).into_iter())
}

/// Timers that come and go while the clock runs, in the wheels as printed; and many timers of one slot, lap after lap, in ours.
fn laps(scale: &Scale) -> Vec<Laps> {
    let printed = |size: Tick| {
        let offers = scale.seeds().flat_map(|seed| churn(size, seed)).collect::<Vec<_>>();
        Laps::of(
            format!("as printed, {size} slots, timers come and are cancelled"),
            offers.into_iter(),
        )
    };
    let ours = |size: Tick| {
        Laps::of(
            format!("kafka-wheel, {size} slots, 100 timers of one slot in each lap"),
            one_slot(size, Then::Fire).into_iter(),
        )
    };
    SIZES.into_iter().map(printed).chain(SIZES.into_iter().map(ours)).collect()
}

/// The offers of each slot and lap, where timers of all delays come, half of them are cancelled, and slots are polled in between.
fn churn(size: Tick, seed: u64) -> Vec<u64> {
    let (mut wheels, mut random, mut now) = (Port::new(1, size as usize, 0), random(seed), 0);
    let mut timers = Vec::new();
    for name in 0..20_000 {
        match random.random_range(0..8_u32) {
            0..4 => {
                wheels.add(
                    now + 1 + (1_u64 << random.random_range(0..17_u32)) + random.random_range(0..4),
                    name,
                );
                timers.push(name);
            }
            4..6 if !timers.is_empty() => {
                wheels.cancel(timers.swap_remove(random.random_range(0..timers.len())))
            }
            _ => now = wheels.poll_next().map_or(now, |poll| poll.expiry),
        }
    }
    wheels.offers_of_slots().collect()
}

/// How often the queue of kafka-wheel became longer by an insertion, in each of 1,000 laps: 100 timers of one slot.
fn one_slot(size: Tick, then: Then) -> Vec<u64> {
    let mut probe = configured::kafka_wheel(size as usize, 0);
    let lap = |lap: Tick| {
        let deadline = lap * size + size / 2;
        probe.timer.advance(deadline - 1, |_| ());
        let mut offers = 0;
        for number in 0..100 {
            let before = probe.timer.occupied_slots();
            let id = probe.timer.insert(deadline, number);
            offers += (probe.timer.occupied_slots() - before) as u64;
            if then == Then::Cancel {
                probe.timer.cancel(id);
            }
        }
        offers
    };
    (0..1_000).map(lap).collect()
}

fn once(laps: &[Laps]) -> Finding {
    let part = |it: &Laps| {
        Part::new(
            format!("{}: offered once in a lap", it.name),
            it.laps > 0 && (it.least, it.most) == (1, 1),
        )
    };
    let figure = format!(
        "{} offers for {} slots and laps with a timer",
        laps.iter().map(|it| it.offers).sum::<u64>(),
        laps.iter().map(|it| it.laps).sum::<u64>()
    );
    Finding::new("C61", figure, laps.iter().map(part).collect::<Vec<_>>())
}

fn lap_table(laps: &[Laps]) -> Table {
    let columns =
        ["wheels", "slots and laps with a timer", "offers", "least in a lap", "most in a lap"];
    let mut table = Table::new("How often a slot is put into the queue in a lap", columns);
    for it in laps.iter().chain([&refilled()]) {
        let counts = [it.laps, it.offers, it.least, it.most];
        table.row(std::iter::once(it.name.clone()).chain(counts.map(|count| count.to_string())));
    }
    table
}
