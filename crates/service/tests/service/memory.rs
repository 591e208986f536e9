//! The memory of a pending job: the bytes of the service and of its backend together.
//!
//! Measured by an allocator that counts for one thread, on a scheduler that this thread drives. The
//! closures of the jobs are empty; the size of a closure is added to the byte.

use crate::common::{HOUR, Log, Rig, at, ms};
use allocation_counter::{AllocationInfo, measure};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::future::pending;
use std::ops::RangeInclusive;
use std::sync::{Arc, LazyLock};
use wheelhouse_service::future::DelayQueue;
use wheelhouse_service::{Group, Handle, JobHandle};

/// Numbers of jobs around the points at which arrays double: the arrays of service and backend are
/// full with the first number and have just doubled with the second, and the third is one more than
/// the table of keys has room for.
const NUMBERS: [usize; 4] = [1 << 16, (1 << 16) + 1, (7 << 14) + 1, 1 << 17];

/// Schedules the n-th job of a kind.
type Schedule = fn(&Handle, usize) -> JobHandle;

/// Schedules `jobs` jobs of a kind. Returns the bytes and allocations per job, without those of the
/// service itself.
fn of_each(jobs: usize, schedule: Schedule) -> (f64, f64) {
    let mut pending = AllocationInfo::default();
    let all = measure(|| {
        let (rig, mut handles) = (Rig::new(), Vec::with_capacity(jobs));
        pending = measure(|| {
            handles.extend((0..jobs).map(|n| schedule(&rig.timers, n)));
        });
        assert_eq!(rig.timers.len(), jobs);
        // A cancelled job is returned, and its memory is freed when it is dropped, also while the
        // service runs.
        let cancel = |job: JobHandle| drop(job.cancel().unwrap());
        let cancelled = measure(|| handles.drain(..).for_each(cancel));
        let left = pending.count_current + cancelled.count_current;
        assert!(left < 1_000, "{cancelled:?} after {pending:?}");
    });
    assert_eq!((all.bytes_current, all.count_current), (0, 0), "all memory is freed");
    (pending.bytes_current as f64 / jobs as f64, pending.count_current as f64 / jobs as f64)
}

/// Checks jobs of a kind against the documentation of the crate: the bytes, which are fewer the
/// fuller the arrays are, and the allocations.
fn takes(kind: &str, bytes: RangeInclusive<f64>, allocations: f64, schedule: Schedule) {
    let seen = NUMBERS.map(|jobs| of_each(jobs, schedule));
    println!("{kind}: {seen:.1?}");
    for (jobs, (each, count)) in NUMBERS.into_iter().zip(seen) {
        assert!(bytes.contains(&each), "{kind}: {each} bytes each of {jobs}, {bytes:?} documented");
        let more = count - allocations;
        assert!(more.abs() < 0.1, "{kind}: {count} allocations each, {allocations} documented");
    }
}

fn one_shot(timers: &Handle, n: usize) -> JobHandle {
    timers.after(HOUR + ms(n as u64)).run(|_| ()).unwrap()
}

/// With a key of 16 bytes.
fn keyed(timers: &Handle, n: usize) -> JobHandle {
    timers.after(HOUR + ms(n as u64)).key(format!("session {n:08}")).run(|_| ()).unwrap()
}

static CHANNEL: LazyLock<(Sender<u64>, Receiver<u64>)> = LazyLock::new(|| bounded(1000));

#[test]
fn each_kind_of_job_takes_as_much_as_documented() {
    // Created before the measurement.
    LazyLock::force(&CHANNEL);
    // 90 if the array of the wheel is nearly full, 120 if it has just doubled.
    takes("one-shot", 85.0..=121.0, 1.0, |timers, n| {
        let held = [n, n]; // a closure of 16 bytes
        timers.after(HOUR + ms(n as u64)).run(move |_| assert!(held[0] == held[1])).unwrap()
    });
    takes("send", 90.0..=130.0, 1.0, |timers, n| {
        timers.after(HOUR + ms(n as u64)).send(&CHANNEL.0, n as u64).unwrap()
    });
    takes("periodic", 205.0..=275.0, 1.0, |timers, n| {
        timers.every(HOUR + ms(n as u64)).run(|_| ()).unwrap()
    });
    takes("keyed", 325.0..=390.0, 2.0, keyed);
}

/// A program may have a queue for each connection. The handles of values keep little of it.
#[test]
fn a_delay_queue_with_one_value_is_small_and_returns_its_memory() {
    let mut rig = Rig::new();
    rig.play(1_000_000);
    let mut made = None;
    let new = measure(|| {
        let queue = DelayQueue::new(&rig.timers);
        let delayed = queue.insert(ms(10), [0_u8; 64]).unwrap();
        made = Some((queue, delayed));
    });
    let (queue, delayed) = made.unwrap();
    assert!(new.bytes_current < 5_000, "{new:?}");
    let values = measure(|| (0..1_000).for_each(|n| drop(queue.insert(ms(n), [0; 64]).unwrap())));
    let dropped = measure(|| drop(queue));
    let left = new.bytes_current + values.bytes_current + dropped.bytes_current;
    assert!(left < 2_500, "{left} bytes are left: {values:?} {dropped:?}");
    drop(delayed);
}

#[test]
fn what_comes_and_goes_while_the_driver_is_held_up_takes_no_memory() {
    let rig = Rig::new();
    let moved = rig.timers.after(10 * HOUR).run(|_| ()).unwrap();
    let come_and_go = || {
        drop(rig.timers.after(HOUR).run(|_| ()).unwrap().cancel().unwrap());
        moved.refresh(5 * HOUR).unwrap();
        moved.refresh(10 * HOUR).unwrap();
    };
    come_and_go();
    let seen = measure(|| (0..100_000).for_each(|_| come_and_go()));
    assert!(seen.bytes_max < 1_000, "{seen:?}");
}

/// A job that is moved comes due again and again. Others come due and are cancelled.
#[test]
fn what_comes_and_goes_while_all_jobs_are_paused_takes_no_memory() {
    let mut rig = Rig::new();
    rig.timers.pause();
    let moved = rig.timers.after(ms(1)).run(|_| ()).unwrap();
    let mut come_and_go = || {
        moved.refresh(ms(1)).unwrap();
        let cancelled = rig.timers.after(ms(1)).run(|_| ()).unwrap();
        rig.timers.execute(|_| unreachable!("all are paused")).unwrap();
        rig.pass(ms(1));
        drop(cancelled.cancel().unwrap());
        rig.timers
            .jobs()
            .filter(|job| job.number() > 1)
            .for_each(|job| drop(job.cancel().unwrap()));
    };
    (0..10).for_each(|_| come_and_go());
    let seen = measure(|| (0..10_000).for_each(|_| come_and_go()));
    // An entry in a list takes 16 bytes. The wheel grows once.
    assert!(seen.bytes_current < 40_000, "{seen:?}");
    rig.timers.resume();
    assert_eq!((rig.pass(ms(1)), rig.timers.len()), (1, 0));
}

/// Runs that wait for their group lose their turns. Fault: they stayed in its queue.
#[test]
fn what_comes_and_goes_while_its_group_is_full_takes_no_memory() {
    let (mut rig, _kept, _) = Rig::with_kept_futures();
    let group = Group::new(1);
    drop(rig.timers.after(ms(0)).group(&group).run_async(|_| pending()).unwrap());
    let moved = rig.timers.after(ms(0)).group(&group).run(|_| ()).unwrap();
    let mut come_and_go = || {
        moved.refresh(ms(1)).unwrap();
        let cancelled = rig.timers.after(ms(1)).group(&group).run(|_| ()).unwrap();
        rig.pass(ms(1));
        drop(cancelled.cancel().unwrap());
    };
    (0..100).for_each(|_| come_and_go());
    let seen = measure(|| (0..10_000).for_each(|_| come_and_go()));
    assert!(seen.bytes_current < 40_000, "{seen:?}");
    assert!(rig.timers.snapshot().in_flight < 50 && group.waiting() < 50);
}

/// The keys, and the jobs that came due while all were paused.
#[test]
fn compact_releases_what_jobs_that_are_gone_have_left() {
    let mut rig = Rig::new();
    rig.play(1);
    // The first run allocates the distributions, and the thread its first entry.
    rig.timers.execute(|_| ()).unwrap();
    rig.pass(ms(1));
    rig.timers.compact();
    let left = measure(|| {
        let jobs: Vec<_> = (0..10_000).map(|n| keyed(&rig.timers, n)).collect();
        jobs.into_iter().for_each(|job| drop(job.cancel().unwrap()));
        rig.timers.pause();
        (0..10_000).for_each(|_| drop(rig.timers.after(ms(1)).run(|_| ()).unwrap()));
        rig.pass(ms(1));
        rig.timers.resume();
        rig.pass(ms(1));
        rig.timers.compact();
    });
    assert_eq!(rig.timers.len(), 0);
    assert!(left.bytes_current < 10_000, "{left:?}");
}

/// Fault: a handle that was kept after a stop kept the memory of all jobs, and the waker.
#[test]
fn a_stop_releases_the_memory_of_the_jobs_and_the_waker() {
    let (mut rig, held) = (Rig::new(), Arc::new(()));
    let waker = Arc::clone(&held);
    rig.scheduler.set_waker(Arc::new(move || drop(Arc::clone(&waker))));
    let Rig { scheduler, timers, .. } = rig;
    let left = measure(|| {
        (0..100_000).for_each(|n| drop(one_shot(&timers, n)));
        (0..10_000).for_each(|n| drop(keyed(&timers, n)));
        assert_eq!(scheduler.stop().len(), 110_000);
    });
    assert!(left.bytes_current < 10_000, "{left:?}");
    assert_eq!(Arc::strong_count(&held), 1);
}

/// Nearly all of 200,000 jobs are cancelled. The remaining jobs keep their handles, their order and
/// their times.
fn after_a_storm(give_back: impl FnOnce(&mut Rig)) {
    let mut rig = Rig::new();
    let log = Log::default();
    let (mut kept, mut storm) = (Vec::new(), Vec::new());
    for n in 0..200_000_u64 {
        if n % 10_000 == 0 {
            kept.push(rig.timers.after(ms(1_000 - n / 1_000)).run(log.times()).unwrap());
        } else {
            storm.push(rig.timers.after(HOUR).run(|_| ()).unwrap());
        }
    }
    storm.into_iter().for_each(|job| drop(job.cancel().unwrap()));
    let given_back = -measure(|| give_back(&mut rig)).bytes_current;
    let per_job = 60 * 200_000;
    assert!(given_back > per_job * 9 / 10, "{given_back} bytes of {per_job}");
    drop(kept.remove(3).cancel().unwrap());
    kept[4].reschedule(at(5_000)).unwrap();
    rig.play(10_000);
    let mut times: Vec<u64> = (0..20).map(|n| 1_000 - 10 * n).rev().collect();
    times.retain(|time| ![970, 950].contains(time));
    times.push(5_000);
    assert_eq!(log.take(), times);
    assert!(kept.iter().all(|job| job.cancel().is_err()));
    // It fills again.
    for _ in 0..100_000 {
        rig.timers.after(ms(1)).run(log.times()).unwrap();
    }
    assert_eq!(rig.play(10_001), 100_000);
}

#[test]
fn after_a_storm_memory_is_given_back() {
    after_a_storm(|rig| rig.timers.compact());
    // Also when the scheduler looks, which it does at once.
    after_a_storm(|rig| {
        assert_eq!(rig.scheduler.next_wakeup(), Some(at(0)));
        rig.scheduler.poll(at(0));
    });
    after_a_storm(|rig| _ = rig.play(811));
}

/// Releasing memory takes milliseconds. Fault: jobs that were due meanwhile were late.
#[test]
fn memory_is_not_given_back_while_jobs_are_due() {
    let mut rig = Rig::new();
    rig.play(1);
    let busy = rig.timers.every(ms(1)).run(|_| ()).unwrap();
    let storm: Vec<_> = (0..200_000).map(|n| one_shot(&rig.timers, n)).collect();
    storm.into_iter().for_each(|job| drop(job.cancel().unwrap()));
    let mut given_back = || -measure(|| _ = rig.pass(ms(20))).bytes_current;
    assert!(given_back() < 10_000);
    drop(busy.cancel().unwrap());
    assert!(given_back() > 10_000_000);
}

/// The driver need not wait for the earliest deadline, which may be an hour ahead. The jobs that
/// are cancelled last are in all parts of the memory.
#[test]
fn the_end_of_a_storm_wakes_a_driver_that_sleeps() {
    let mut rig = Rig::new();
    let wakes = Log::default();
    let log = wakes.clone();
    rig.scheduler.set_waker(Arc::new(move || log.push(())));
    rig.play(1);
    let left = measure(|| {
        let storm = (0..200_000).map(|n| (n % 200, one_shot(&rig.timers, n)));
        let (last, first): (Vec<_>, Vec<_>) = storm.partition(|(part, _)| *part == 0);
        for jobs in [first, last] {
            rig.scheduler.next_wakeup();
            wakes.take();
            jobs.into_iter().for_each(|(_, job)| drop(job.cancel().unwrap()));
            assert_eq!(wakes.take().len(), 1);
            rig.scheduler.poll(at(1));
        }
    });
    assert!(left.bytes_current < 10_000, "{left:?}");
}
