//! The cost of an operation with ten and with a hundred million timers.
//!
//! The harness keeps its streams and an oracle in memory, a few hundred bytes per timer. This
//! program keeps only the structure and the handles: a hundred million timers take 4 GiB. So it
//! checks less: every timer fires or is cancelled exactly once, in order, at its deadline, and the
//! values add up.
//!
//! ```text
//! cargo run --release -p wheelhouse-benches --example scale -- [--n TIMERS] [--backend NAMES]
//! ```
//!
//! The defaults are 10,000,000 timers, and the hierarchical wheel, the list wheel, the round wheel
//! and the lazy heap. They take turns in three rounds, and a figure is the median of these. This
//! takes some five minutes. Ten times the timers take more than ten times as long if memory has
//! pages of 4 KiB.

use anyhow::Result;
use clap::Parser;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Tick, Timer, TimerId};
use wheelhouse_frame::options::ExperimentOptions;
use wheelhouse_frame::{Contender, Experiment, Figure, select_contenders};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_present::console::{exit_code, print};
use wheelhouse_present::units;
use wheelhouse_registry::Visitor;

/// Delays are uniform in `1..=LONGEST`, as in the harness.
const LONGEST: Tick = 1 << 20;
const COLUMNS: [&str; 8] = [
    "insert cold",
    "cancel",
    "insert warm",
    "reschedule",
    "steady",
    "hold",
    "fire jump",
    "fire ticks",
];

/// The structures that are measured by default.
const USUAL: [&str; 4] = ["hierarchical-wheel", "list-wheel", "round-wheel", "lazy-heap"];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 29
    }

    fn delay(&mut self) -> Tick {
        1 + self.next() % LONGEST
    }
}

/// All numbers of 0..n in a scattered order that needs no memory: it steps by a number that has no
/// common divisor with n.
fn scattered(n: u64) -> impl Iterator<Item = usize> {
    let step = (n * 618 / 1000..).find(|step| gcd(*step, n) == 1).unwrap_or(1);
    (0..n).scan(n / 3, move |at, _| {
        *at = (*at + step) % n;
        Some(*at as usize)
    })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Times one column: nanoseconds for each of `count` operations.
fn time(count: u64, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().max(Duration::from_nanos(1)).as_nanos() as f64 / count as f64
}

/// Checks that timers fire in order and not early, and adds up their values.
#[derive(Default)]
struct Fired {
    last: Tick,
    sum: u64,
}

impl Fired {
    fn add(&mut self, deadline: Tick, value: u64, now: Tick) {
        assert!(deadline >= self.last && deadline <= now, "in order, and not early");
        self.last = deadline;
        self.sum += value;
    }
}

fn measure<B: Backend>(n: u64) -> Vec<Figure> {
    let mut random = Random(n);
    let mut wheel = B::build::<u64, NoMeter>();
    let mut ids: Vec<TimerId> = Vec::with_capacity(n as usize);
    let cold = time(n, || (0..n).for_each(|value| ids.push(wheel.insert(random.delay(), value))));
    let cancel =
        time(n, || scattered(n).for_each(|at| assert_eq!(wheel.cancel(ids[at]), Some(at as u64))));
    let warm =
        time(n, || scattered(n).for_each(|at| ids[at] = wheel.insert(random.delay(), at as u64)));
    let reschedule =
        time(n, || scattered(n).for_each(|at| assert!(wheel.reschedule(ids[at], random.delay()))));
    let mut now = 0;
    // The clock moves by a tick when sixteen times as many timers were replaced as are due in a
    // tick.
    let steady = time(n, || {
        for (step, at) in scattered(n).enumerate() {
            wheel.cancel(ids[at]);
            ids[at] = wheel.insert(now + random.delay(), at as u64);
            if (step as u64).is_multiple_of(16 * (n / LONGEST + 1)) {
                now += 1;
                wheel.advance(now, |expired| assert_eq!(expired.deadline, now));
            }
        }
    });
    for (value, id) in (0..n).zip(&mut ids) {
        if wheel.deadline(*id).is_none() {
            *id = wheel.insert(now + random.delay(), value);
        }
    }
    let mut last = now;
    let hold = time(n, || {
        for _ in 0..n {
            let (deadline, value) = take_earliest(&mut wheel);
            assert!(deadline >= last, "in order");
            last = deadline;
            ids[value as usize] = wheel.insert(deadline + random.delay(), value);
        }
    });
    now = wheel.now();
    let mut fired = Fired { last: now, sum: 0 };
    now += LONGEST;
    let jump = time(n, || _ = wheel.advance(now, |it| fired.add(it.deadline, it.value, now)));
    assert_eq!((fired.sum, wheel.len()), (n * (n - 1) / 2, 0), "every timer fires once");
    (0..n).for_each(|value| _ = wheel.insert(now + random.delay(), value));
    let mut fired = Fired { last: now, sum: 0 };
    let ticks = time(n, || {
        for tick in now + 1..=now + LONGEST {
            wheel.advance(tick, |it| {
                assert_eq!(it.deadline, tick, "neither early nor late");
                fired.add(it.deadline, it.value, tick);
            });
        }
    });
    assert_eq!((fired.sum, wheel.len()), (n * (n - 1) / 2, 0), "every timer fires once");
    let times = [cold, cancel, warm, reschedule, steady, hold, jump, ticks];
    COLUMNS.into_iter().zip(times).map(|(name, ns)| Figure::time(name, ns)).collect()
}

/// Moves the clock from wake-up to wake-up until a timer is due, and takes that timer.
fn take_earliest(wheel: &mut impl Timer<u64>) -> (Tick, u64) {
    loop {
        let wakeup = wheel.next_wakeup().unwrap_or_default();
        if let Some(expired) = wheel.pop_expired(wakeup) {
            return (expired.deadline, expired.value);
        }
    }
}

/// Measures the nanoseconds of an empty tick and of `next_wakeup`, with a million timers far ahead.
fn idle() -> [f64; 2] {
    const TICKS: Tick = 1 << 27;
    let mut wheel = HierarchicalWheel::<u64>::new();
    (0..1_000_000).for_each(|n| _ = wheel.insert((1 << 40) + n * 7, n));
    let tick = time(TICKS, || {
        (1..=TICKS).for_each(|now| assert_eq!(wheel.advance(std::hint::black_box(now), |_| ()), 0))
    });
    let ask = time(TICKS, || {
        (0..TICKS).for_each(|_| assert!(std::hint::black_box(&wheel).next_wakeup().is_some()))
    });
    [tick, ask]
}

#[derive(Clone, Copy, PartialEq)]
struct Scale;

impl Experiment for Scale {
    type Load = u64;
    const ALL: &'static [Self] = &[Self];
    const TITLE: &'static str = "Ten million timers and more";

    fn name(self) -> &'static str {
        "scale"
    }

    fn title(self, n: &u64) -> String {
        format!("time per operation with {} timers; every expiry is checked", units::count(*n))
    }
}

struct Contenders(Vec<Contender<Scale>>);

impl Visitor for Contenders {
    fn visit<B: Backend + 'static>(&mut self) {
        let play = |_, n: &u64| Ok(Ok(measure::<B>(*n)));
        self.0.push(Contender::new(B::INFO.name, B::INFO.structure, play));
    }
}

/// The cost of an operation with very many timers.
#[derive(Debug, Parser)]
struct Cli {
    /// Number of timers.
    #[arg(long, default_value_t = 10_000_000)]
    #[arg(value_parser = clap::value_parser!(u64).range(2..=1 << 31))]
    n: u64,
    #[command(flatten)]
    options: ExperimentOptions,
}

fn run(Cli { n, mut options }: Cli) -> Result<ExitCode> {
    if options.backend.is_empty() {
        options.backend = USUAL.map(str::to_owned).into();
    }
    let mut all = Contenders(Vec::new());
    wheelhouse_registry::visit(&mut all);
    let plan = options.plan(select_contenders(all.0, &options.backend)?, n, 0, false)?;
    let code = options.play(&plan, Path::new("results"), false)?;
    let [tick, ask] = idle().map(units::time);
    print(format_args!(
        "The hierarchical wheel with a million timers far ahead: an empty tick {tick}, \
         `next_wakeup` {ask}."
    ))?;
    Ok(code)
}

fn main() -> ExitCode {
    exit_code(run(Cli::parse()))
}
