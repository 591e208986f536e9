//! What an operation of the hierarchical wheel costs at ten and at a hundred million timers.
//!
//! The harness keeps its streams and an oracle in memory, a few hundred bytes a timer; here nothing
//! is kept but the wheel and the handles, so that a hundred million timers take 4 GiB. What is
//! checked is what can be checked so: everything that was started fires or is cancelled, once, in
//! order, each at its own deadline, and the values add up.
//!
//! ```text
//! cargo run --release -p wheelhouse-benches --example scale -- [TIMERS ...] > results/scale.md
//! ```
//!
//! Without numbers: 10,000,000 and 100,000,000, each once: every figure is the mean of at least ten
//! million operations, but of one run, so that a slow minute of the machine shows in it. That takes
//! about a quarter of an hour where memory has pages of 4 KiB; each row is told on the error output
//! as it comes.

use std::time::{Duration, Instant};
use wheelhouse_hierarchical_wheel::{HierarchicalWheel, Tick, Timer, TimerId};
use wheelhouse_machine::provenance;

/// Delays are uniform in `1..=LONGEST`, as in the harness.
const LONGEST: Tick = 1 << 20;
const COLUMNS: [&str; 7] =
    ["insert cold", "cancel", "insert warm", "reschedule", "steady", "fire jump", "fire ticks"];

/// A generator, and an order of 0..n that needs no memory.
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

/// All of 0..n, scattered: steps by a number that has no divisor in common with n.
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

/// Checks what fires: in order, due, and all of it.
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

/// All columns at n timers.
fn measure(n: u64) -> [f64; COLUMNS.len()] {
    let mut random = Random(n);
    let mut wheel = HierarchicalWheel::<u64>::new();
    let mut ids: Vec<TimerId> = Vec::with_capacity(n as usize);
    let cold = time(n, || (0..n).for_each(|value| ids.push(wheel.insert(random.delay(), value))));
    let cancel =
        time(n, || scattered(n).for_each(|at| assert_eq!(wheel.cancel(ids[at]), Some(at as u64))));
    let warm =
        time(n, || scattered(n).for_each(|at| ids[at] = wheel.insert(random.delay(), at as u64)));
    let reschedule =
        time(n, || scattered(n).for_each(|at| assert!(wheel.reschedule(ids[at], random.delay()))));
    let mut now = 0;
    // One tick each time that sixteen times as many timers were replaced as are due in one.
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
    [cold, cancel, warm, reschedule, steady, jump, ticks]
}

/// The nanoseconds of an empty tick, and of asking for the next wake-up, with a million timers far
/// ahead.
fn idle() -> (f64, f64) {
    const TICKS: Tick = 1 << 27;
    let mut wheel = HierarchicalWheel::<u64>::new();
    (0..1_000_000).for_each(|n| _ = wheel.insert((1 << 40) + n * 7, n));
    let tick = time(TICKS, || {
        (1..=TICKS).for_each(|now| assert_eq!(wheel.advance(std::hint::black_box(now), |_| ()), 0))
    });
    let ask = time(TICKS, || {
        (0..TICKS).for_each(|_| assert!(std::hint::black_box(&wheel).next_wakeup().is_some()))
    });
    (tick, ask)
}

fn main() -> anyhow::Result<()> {
    let sizes: Result<Vec<u64>, _> =
        std::env::args().skip(1).map(|n| n.replace('_', "").parse()).collect();
    let mut sizes =
        sizes.map_err(|_| anyhow::anyhow!("numbers of timers are written as 10_000_000"))?;
    if sizes.is_empty() {
        sizes = vec![10_000_000, 100_000_000];
    }
    anyhow::ensure!(
        sizes.iter().all(|n| (2..=1 << 31).contains(n)),
        "a number of timers is between 2 and 2^31"
    );
    let mut rows = Vec::new();
    for &n in &sizes {
        eprintln!("{n} timers");
        let row = measure(n);
        let columns = COLUMNS.iter().zip(row).map(|(name, ns)| format!("{name} {ns:.1}"));
        eprintln!("  {}", columns.collect::<Vec<_>>().join(", "));
        rows.push(row);
    }
    let it = provenance::gather(0);
    println!(
        "# Ten and a hundred million timers\n\n\
         hierarchical-wheel, ns per operation, one run; every expiry checked.\n"
    );
    println!("| n | {} |\n|---:|{}", COLUMNS.join(" | "), "---:|".repeat(COLUMNS.len()));
    for (&n, row) in sizes.iter().zip(&rows) {
        println!("| {n} | {} |", row.map(|ns| format!("{ns:.1}")).join(" | "));
    }
    let (tick, ask) = idle();
    println!(
        "\nAn empty tick: {tick:.2} ns; `next_wakeup`: {ask:.2} ns, with a million timers far \
         ahead.\n"
    );
    println!(
        "{}, {} processors, {}, {}, commit {}, `{}`",
        it.cpu, it.cores, it.kernel, it.rustc, it.commit, it.command
    );
    Ok(())
}
