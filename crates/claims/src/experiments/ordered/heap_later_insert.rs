//! What a heap pays for a timer that comes later than all, earlier than all, or at random.

use crate::count::{LONGEST, Order, Probe, random};
use crate::experiment::Experiment;
use crate::growth::{Curve, Growth};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_binary_heap::Definition;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "heap-later-insert",
    about: "binary-heap and heap-4 of n random timers: work of an insertion later than all, earlier than all, and at random, and of finding the first",
    run,
};

/// Insertions of which a sample is the mean.
const INSERTIONS: u64 = 256;

/// The deadline of a new timer.
type Deadline = fn(&mut Pcg64Mcg) -> Tick;

/// Where the new timer goes.
const PLACES: [(&str, Deadline); 3] = [
    ("later than all", |_| 1 << 40),
    ("at random", |random| 1 + random.random_range(0..LONGEST)),
    ("earlier than all", |_| 0),
];

fn run(scale: &Scale) -> Evidence {
    let mut table = Table::new(
        "Work of an insertion into a heap, comparisons and moves",
        ["heap", "insertion", "smallest n", "largest n", "growth"],
    );
    let mut series = Vec::new();
    let mut growths = Vec::new();
    for (place, deadline) in PLACES {
        for (name, curve) in [
            (<Definition<2>>::INFO.name, sweep::<Definition<2>>(scale, deadline)),
            (<Definition<4>>::INFO.name, sweep::<Definition<4>>(scale, deadline)),
        ] {
            table.row([name, place].map(str::to_owned).into_iter().chain(curve.cells()));
            series.push(Series { name: format!("{name}, {place}"), points: curve.points() });
            growths.push((place, curve.growth(), curve.ends().1));
        }
    }
    let later: Vec<_> = growths.iter().filter(|(place, ..)| *place == PLACES[0].0).collect();
    // The claim is that the cost grows; undecided if that is undecided for one of them.
    let grows =
        later.iter().map(|(_, growth, _)| growth.is(Growth::Constant).map(|constant| !constant));
    let grows = grows.collect::<Option<Vec<bool>>>().map(|grows| grows.contains(&true));
    let steps = later.iter().map(|(.., steps)| *steps).fold(0.0, f64::max);
    let figure = format!("{steps:.1} steps at n = {}, whatever n is", scale.largest());
    let finding = first(scale);
    let cells = [<Definition<2>>::INFO.name, "none: finding the first"].map(str::to_owned);
    table.row(cells.into_iter().chain(finding.cells()));
    let finds = finding.growth().is(Growth::Constant);
    let parts = [
        Part::maybe("it finds its first timer in constant work", finds),
        Part::maybe("a later deadline costs more, the more timers there are", grows),
    ];
    let chart = Chart {
        title: "A heap takes a later timer".to_owned(),
        subtitle: "comparisons and moves of one insertion into n random timers".to_owned(),
        x: "timers".to_owned(),
        y: "steps".to_owned(),
        series,
    };
    Evidence {
        findings: vec![Finding::new("C28", figure, parts)],
        tables: vec![table],
        charts: vec![chart],
    }
}

/// The work of asking for the first deadline.
fn first(scale: &Scale) -> Curve {
    Curve::sweep(&scale.sizes(), scale.seeds(), |n, seed| {
        let mut probe = Probe::of::<Definition<2>>();
        probe.fill(Order::Random.delays(n, seed));
        let (work, next) = probe.work(|timer| timer.next_wakeup());
        assert!(next.is_some(), "n timers are live");
        work.total() as f64
    })
}

/// The mean work of an insertion, undone after each so that n stays.
fn sweep<B: Backend + 'static>(scale: &Scale, deadline: Deadline) -> Curve {
    Curve::sweep(&scale.sizes(), scale.seeds(), |n, seed| {
        let mut probe = Probe::of::<B>();
        probe.fill(Order::Random.delays(n, seed));
        let mut random = random(seed);
        let mut steps = 0;
        for _ in 0..INSERTIONS {
            let at = deadline(&mut random);
            let (work, id) = probe.work(|timer| timer.insert(at, 0));
            steps += work.total();
            probe.timer.cancel(id);
        }
        steps as f64 / INSERTIONS as f64
    })
}
