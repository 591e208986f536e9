//! Ten minutes of everything at once. No job is lost or early, and memory is released. Started by
//! hand:
//!
//! ```sh
//! cargo test --release -p wheelhouse-service-load --test soak -- --ignored --nocapture
//! ```

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wheelhouse_machine::allocator::{allocated, return_freed_memory};
use wheelhouse_service::{Handle, JobHandle, Service};

const TIME: Duration = Duration::from_secs(600);

/// Jobs of a wave: a third have a key and are moved, a third are cancelled, a third only run.
const JOBS: u64 = 300_000;

/// The longest delay of a job of a wave, in milliseconds.
const LONGEST: u64 = 10_000;

/// The number of waves after which the service has grown to its full size. Some tables double late.
const FIRST: u64 = 10;

const PERIODIC: u64 = 1_000;

/// The runs that a program observes.
#[derive(Default)]
struct Seen {
    ran: AtomicU64,
    early: AtomicU64,
    periodic_runs: AtomicU64,
}

fn schedule(timers: &Handle, seen: &Arc<Seen>, key: Option<String>, millis: u64) -> JobHandle {
    let (seen, delay) = (Arc::clone(seen), Duration::from_millis(millis));
    let due = Instant::now() + delay;
    let plan = timers.after(delay);
    let plan = match key {
        Some(key) => plan.key(key),
        None => plan,
    };
    let run = plan.run(move |_| {
        seen.ran.fetch_add(1, Ordering::Relaxed);
        // The service's clock and ours are read one after another.
        let early = Instant::now() + Duration::from_millis(1) < due;
        seen.early.fetch_add(u64::from(early), Ordering::Relaxed);
    });
    run.expect("it is taken in")
}

/// Schedules one wave. Returns how many of its jobs will run.
fn wave(timers: &Handle, seen: &Arc<Seen>, number: u64) -> u64 {
    let mut random = Pcg64Mcg::seed_from_u64(number);
    let mut delay = move || random.random_range(1..=LONGEST);
    let mut run = 0;
    let mut handles = Vec::new();
    for n in 0..JOBS {
        match n % 3 {
            0 => {
                let key = format!("{number} {n}");
                drop(schedule(timers, seen, Some(key.clone()), delay()));
                // It may already be running.
                let _ = timers.refresh(&key, Duration::from_millis(LONGEST));
                run += 1;
            }
            1 => handles.push(schedule(timers, seen, None, delay())),
            _ => {
                drop(schedule(timers, seen, None, delay()));
                run += 1;
            }
        }
    }
    run + handles.into_iter().map(|handle| u64::from(handle.cancel().is_err())).sum::<u64>()
}

#[test]
#[ignore = "ten minutes in a release build: run it by hand"]
fn ten_minutes_of_everything() {
    return_freed_memory();
    let (before, begin) = (allocated(), Instant::now());
    let seen = Arc::new(Seen::default());
    let service = Service::start().expect("it starts");
    let timers = service.handle();
    for _ in 0..PERIODIC {
        let seen = Arc::clone(&seen);
        let periodic = timers.every(Duration::from_secs(1)).run(move |_| {
            seen.periodic_runs.fetch_add(1, Ordering::Relaxed);
        });
        drop(periodic.expect("it is taken in"));
    }
    let (mut expected, mut most_at_first) = (0, 0);
    for number in 1.. {
        expected += wave(&timers, &seen, number);
        let most = Instant::now() + Duration::from_millis(LONGEST) * 3;
        while timers.len() > PERIODIC as usize || seen.ran.load(Ordering::Relaxed) < expected {
            assert!(Instant::now() < most, "{} jobs are left", timers.len());
            std::thread::sleep(Duration::from_millis(50));
        }
        let held = allocated() - before;
        if number <= FIRST {
            most_at_first = held.max(most_at_first);
        }
        let (ran, elapsed) = (seen.ran.load(Ordering::Relaxed), begin.elapsed());
        println!("{elapsed:>8.0?}: wave {number}, {ran} runs, {held} bytes held");
        assert!(held <= most_at_first + most_at_first / 20, "{most_at_first} in the first waves");
        if elapsed >= TIME {
            break;
        }
    }
    assert_eq!(seen.early.load(Ordering::Relaxed), 0);
    assert_eq!(seen.ran.load(Ordering::Relaxed), expected);
    let elapsed = begin.elapsed().as_secs();
    let periodic_runs = seen.periodic_runs.load(Ordering::Relaxed);
    let off_by = periodic_runs.abs_diff(elapsed * PERIODIC);
    assert!(off_by <= 2 * PERIODIC, "{periodic_runs} in {elapsed} s");
    drop((service, timers));
    let left = allocated().saturating_sub(before);
    println!("{expected} runs, {periodic_runs} periodic runs; {left} bytes are left");
    assert!(left < 64 << 10, "{left} bytes");
}
