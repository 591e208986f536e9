//! Checks the migration page: the tests that it names exist, and its statements about tokio hold
//! for tokio's own intervals.

use crate::common::{Rig, ms, poll};
use std::fs;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::time::MissedTickBehavior;
use wheelhouse_service::Missed;
use wheelhouse_service::future::Interval;

#[test]
fn each_test_that_the_page_names_exists() {
    let root = env!("CARGO_MANIFEST_DIR");
    let page = fs::read_to_string(format!("{root}/MIGRATION.md")).unwrap();
    let is_test = |text: &&str| text.starts_with("tests/") && text.contains("::");
    let named: Vec<_> = page.split('`').filter(is_test).collect();
    assert!(named.len() >= 20, "{named:?}");
    for test in named {
        let (file, name) = test.split_once("::").unwrap();
        let source = fs::read_to_string(format!("{root}/{file}")).unwrap();
        assert!(source.contains(&format!("fn {name}()")), "{test}");
    }
}

/// Waits for the next beat, and returns when it was due, in milliseconds.
fn beat(rig: &mut Rig, interval: &mut Interval) -> u64 {
    loop {
        match poll(&mut pin!(interval.tick())) {
            Poll::Ready(beat) => return beat.unwrap().unwrap().deadline.as_nanos() / 1_000_000,
            Poll::Pending => {
                let wakeup = rig.scheduler.next_wakeup().unwrap();
                rig.scheduler.play(&rig.clock, wakeup);
            }
        }
    }
}

/// The four beats after the beat at 0, of our interval. The first of them is taken no sooner than
/// at `taken`.
fn beats(missed: Missed, period: u64, taken: u64) -> [u64; 4] {
    let mut rig = Rig::new();
    let mut interval =
        rig.timers.every(ms(period)).first_after(Duration::ZERO).missed(missed).interval().unwrap();
    assert_eq!(beat(&mut rig, &mut interval), 0);
    rig.play(taken);
    [(); 4].map(|()| beat(&mut rig, &mut interval))
}

/// The same of tokio, on a clock that only advances while the beat is awaited.
fn beats_of_tokio(missed: MissedTickBehavior, period: u64, taken: u64) -> [u64; 4] {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        // From here on, whole milliseconds are also those of tokio's driver.
        tokio::time::sleep(ms(1)).await;
        let mut interval = tokio::time::interval(ms(period));
        interval.set_missed_tick_behavior(missed);
        let first = interval.tick().await;
        tokio::time::advance(ms(taken)).await;
        assert_eq!(first.elapsed(), ms(taken));
        let mut beats = [0; 4];
        for beat in &mut beats {
            *beat = (interval.tick().await - first).as_millis() as u64;
        }
        beats
    })
}

#[test]
fn beats_that_are_missed_differ_from_those_of_tokio_as_the_page_says() {
    let both = |period, taken| {
        let ours =
            [Missed::Burst, Missed::Skip, Missed::Delay].map(|missed| beats(missed, period, taken));
        let theirs =
            [MissedTickBehavior::Burst, MissedTickBehavior::Skip, MissedTickBehavior::Delay];
        (ours, theirs.map(|missed| beats_of_tokio(missed, period, taken)))
    };
    // More than 5 ms late, and no beat is due at that moment: no difference.
    let same = [[10, 20, 30, 40], [10, 40, 50, 60], [10, 43, 53, 63]];
    assert_eq!(both(10, 33), (same, same));
    // A beat is due at exactly that moment.
    let [burst, delay] = [[10, 20, 30, 40], [10, 40, 50, 60]];
    assert_eq!(both(10, 30), ([burst, [10, 30, 40, 50], delay], [burst, [10, 40, 50, 60], delay]));
    // Four milliseconds late: several periods, or part of one.
    let burst = [2, 4, 6, 8];
    assert_eq!(both(2, 6), ([burst, [2, 6, 8, 10], [2, 8, 10, 12]], [burst; 3]));
    let burst = [10, 20, 30, 40];
    assert_eq!(both(10, 14), ([burst, burst, [10, 24, 34, 44]], [burst; 3]));
}
