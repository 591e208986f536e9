//! A timer is started and stopped at once, beside N that wait: the benchmark by which ports of Kafka's wheel to Go are compared with Go's own timers.
//!
//! In that benchmark the N timers have delays of `i mod 10,000` ms, and the one that is started and stopped has a second. It goes to the last place of a heap, whose way to
//! the root is always the same for the same N; so a sample lets the number of timers grow by an eighth while it counts, and meets many ways.

use super::hold::{curves, sizes};
use crate::count::{Probe, random};
use crate::experiment::Experiment;
use crate::growth::{Curve, Growth};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use wheelhouse_binary_heap::{Definition, LazyDefinition};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "start-stop",
    about: "a timer of one second started and stopped beside N others, on three heaps and three wheels: steps of both together",
    run,
};

/// The delay of the timer that is started and stopped.
const SECOND: Tick = 1_000;
/// The others are due within so many ticks.
const WITHIN: Tick = 10_000;
/// The article's numbers of timers.
const MILLIONS: [u64; 3] = [1_000_000, 5_000_000, 10_000_000];

/// A structure, and how it is measured.
struct Structure {
    name: &'static str,
    is_wheel: bool,
    /// Mean steps of a start and a stop beside n timers with deadlines by their number.
    beside: fn(n: u64, repeats: u64, deadline: &mut dyn FnMut(u64) -> Tick) -> f64,
    /// Starts and stops for each timer that is added meanwhile: where what is stopped stays behind, as many as it takes to throw all of it away more than once.
    repeats: u64,
    /// The structures of a sample hold so many timers together, at least.
    enough: u64,
}

static STRUCTURES: [Structure; 6] = [
    of::<Definition<2>>(false, 1, 1 << 17),
    of::<Definition<4>>(false, 1, 1 << 17),
    of::<LazyDefinition>(false, 24, 1 << 14),
    of::<wheelhouse_round_wheel::Definition>(true, 1, 1 << 14),
    of::<wheelhouse_hierarchical_wheel::Definition>(true, 1, 1 << 14),
    of::<wheelhouse_kafka_wheel::Definition>(true, 1, 1 << 14),
];

const fn of<B: Backend + 'static>(is_wheel: bool, repeats: u64, enough: u64) -> Structure {
    Structure { name: B::INFO.name, is_wheel, beside: beside::<B>, repeats, enough }
}

/// What was counted on a structure.
struct Counted {
    name: &'static str,
    is_wheel: bool,
    /// Beside n timers at random within the ten seconds, and beside half of them: the mean.
    sweep: Curve,
    /// Beside the article's numbers of timers, with its deadlines.
    article: Vec<(u64, f64)>,
}

fn run(scale: &Scale) -> Evidence {
    let article = article(scale);
    let counted: Vec<_> =
        STRUCTURES.iter().map(|structure| count(structure, scale, &article)).collect();
    // The claim is about heaps that take out what is stopped; the lazy one stands beside them.
    let heaps = &counted[..2];
    let mut parts: Vec<Part> =
        counted.iter().filter(|it| it.is_wheel).map(|wheel| more_than(heaps, wheel)).collect();
    let grow: Option<Vec<bool>> =
        heaps.iter().map(|heap| heap.sweep.growth().is(Growth::Constant).map(|is| !is)).collect();
    parts.push(Part::maybe(
        "a heap takes the more steps, the more timers wait, deadlines at random",
        grow.map(|grow| grow.contains(&true)),
    ));
    let figure = figure(&counted);
    let tables = vec![table(&counted, &article)];
    Evidence {
        findings: vec![Finding::new("C03", figure, parts)],
        tables,
        charts: charts(&counted),
    }
}

/// The article's numbers, or as far as the scale goes: its largest n in the place of the second.
fn article(scale: &Scale) -> [u64; 3] {
    let largest = scale.largest();
    if largest >= MILLIONS[0] { MILLIONS } else { [largest / 2, largest, 2 * largest] }
}

fn count(structure: &Structure, scale: &Scale, article: &[u64]) -> Counted {
    let &Structure { name, is_wheel, beside, repeats, enough } = structure;
    let [sweep] = curves(&sizes(scale), scale.seeds(), |n, seed| {
        let mut random = random(seed << 32 | n);
        let copies = (enough / n).max(1);
        // The cost of a heap comes round with each level that fills up, and one of four children has a level for every other size.
        let of_both = (0..copies).flat_map(|_| [n / 2, n]);
        let steps = of_both.map(|n| beside(n, repeats, &mut |_| random.random_range(1..=WITHIN)));
        [steps.sum::<f64>() / (2 * copies) as f64]
    });
    let article =
        article.iter().map(|&n| (n, beside(n, repeats, &mut |at| 1 + at % WITHIN))).collect();
    Counted { name, is_wheel, sweep, article }
}

fn beside<B: Backend + 'static>(
    n: u64,
    repeats: u64,
    deadline: &mut dyn FnMut(u64) -> Tick,
) -> f64 {
    let mut probe = Probe::of::<B>();
    let (few, many) = (n - n / 16, n + n / 16);
    for at in 0..few {
        probe.timer.insert(deadline(at), at);
    }
    let mut steps = 0;
    for at in few..many {
        for _ in 0..repeats {
            let (work, _) = probe.work(|timer| {
                let id = timer.insert(SECOND, at);
                timer.cancel(id)
            });
            steps += work.total();
        }
        probe.timer.insert(deadline(at), at);
    }
    steps as f64 / ((many - few) * repeats) as f64
}

fn more_than(heaps: &[Counted], wheel: &Counted) -> Part {
    let more = |heap: &Counted| {
        heap.article.iter().zip(&wheel.article).all(|((_, heap), (_, wheel))| heap > wheel)
    };
    Part::new(
        format!("a heap takes more steps than {}, beside each number of timers", wheel.name),
        heaps.iter().all(more),
    )
}

fn figure(counted: &[Counted]) -> String {
    let of = |it: &Counted| {
        let steps: Vec<_> = it.article.iter().map(|(_, steps)| format!("{steps:.1}")).collect();
        format!("{} {}", it.name, steps.join(", "))
    };
    let sizes: Vec<_> = counted[0].article.iter().map(|(n, _)| n.to_string()).collect();
    let shown = counted.iter().map(of);
    format!("steps beside {} timers: {}", sizes.join(", "), shown.collect::<Vec<_>>().join("; "))
}

fn table(counted: &[Counted], sizes: &[u64]) -> Table {
    let columns = ["structure", "smallest n", "largest n", "growth"].map(str::to_owned);
    let columns = columns.into_iter().chain(sizes.iter().map(|n| format!("beside {n}")));
    let mut table = Table::new(
        "Steps of a start and a stop, beside n/2 and n timers at random, and beside those of i mod 10,000",
        columns,
    );
    for it in counted {
        let ((first, last), growth) = (it.sweep.ends(), it.sweep.growth());
        let cells =
            [it.name.to_owned(), format!("{first:.2}"), format!("{last:.2}"), growth.to_string()];
        table.row(
            cells.into_iter().chain(it.article.iter().map(|(_, steps)| format!("{steps:.2}"))),
        );
    }
    table
}

/// The two loads are two pictures: a heap's way to the root is another among deadlines at random than among those that rise and begin anew.
fn charts(counted: &[Counted]) -> Vec<Chart> {
    let chart = |title: &str, others: &str, points: fn(&Counted) -> Vec<(f64, f64)>| Chart {
        title: title.to_owned(),
        subtitle: format!(
            "steps to start a timer of one second and to stop it at once, beside n others {others}"
        ),
        x: "timers that wait".to_owned(),
        y: "steps".to_owned(),
        series: counted
            .iter()
            .map(|it| Series { name: it.name.to_owned(), points: points(it) })
            .collect(),
    };
    vec![
        chart("Start and stop, as the benchmark has it", "of i mod 10,000", |it| {
            it.article.iter().map(|(n, steps)| (*n as f64, *steps)).collect()
        }),
        chart("Start and stop, beside timers at random", "within ten seconds", |it| {
            it.sweep.points()
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_timers_stays_within_an_eighth() {
        let (mut least, mut most) = (u64::MAX, 0);
        let steps = beside::<Definition<2>>(160, 1, &mut |at| {
            (least, most) = (least.min(at), most.max(at));
            1 + at
        });
        assert_eq!((least, most), (0, 169));
        // All of them are due before the one that is started: one comparison and one placement, and as the last it is just taken off.
        assert_eq!(steps, 2.0);
    }
}
