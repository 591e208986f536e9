//! Recordings in memory, and programs to record.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::io::Cursor;
use wheelhouse_conformance::script::{Step, When};
use wheelhouse_core::{Tick, Timer, TimerId};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_record::{DEFAULT_LIMIT, Recorder};
use wheelhouse_workload::Op;
use wheelhouse_workload::trace::{Header, Reader, TraceError};

/// A wheel that is recorded in memory.
pub(crate) type Wheel<'a> = Recorder<HierarchicalWheel<u64>, Cursor<&'a mut Vec<u8>>>;

pub(crate) fn recorder(bytes: &mut Vec<u8>, limit: u64) -> Wheel<'_> {
    let builder = Recorder::builder().limit(limit);
    builder.write_to(Cursor::new(bytes), HierarchicalWheel::new()).expect("memory can be written")
}

/// The trace of these calls.
pub(crate) fn recorded(calls: impl FnOnce(&mut Wheel<'_>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    calls(&mut recorder(&mut bytes, DEFAULT_LIMIT));
    bytes
}

/// The content of a complete trace.
pub(crate) fn read(bytes: &[u8]) -> (Header, Vec<Op>) {
    let (header, ops, error) = read_part(bytes);
    assert!(error.is_none(), "{error:?}");
    (header, ops)
}

/// The readable part of a trace, and the error that ended it.
pub(crate) fn read_part(bytes: &[u8]) -> (Header, Vec<Op>, Option<TraceError>) {
    let mut reader = match Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (Header::default(), Vec::new(), Some(error)),
    };
    let (mut ops, mut error) = (Vec::new(), None);
    for op in reader.by_ref() {
        match op {
            Ok(op) => ops.push(op),
            Err(found) => error = Some(found),
        }
    }
    (reader.header().clone(), ops, error)
}

/// Plays steps with the meaning that they have in the conformance suite. Returns the deadline and
/// value of each timer that fired. The value is its number in order of insertion.
pub(crate) fn play<B: Timer<u64>>(timer: &mut B, steps: &[Step]) -> Vec<(Tick, u64)> {
    let (mut fired, mut ids) = (Vec::new(), Vec::new());
    let pick = |ids: &[TimerId], timer: u16| ids[usize::from(timer) % ids.len()];
    for step in steps {
        let now = timer.now();
        match *step {
            Step::Insert(when) => ids.push(timer.insert(tick(when, now), ids.len() as u64)),
            Step::Cancel(which) if !ids.is_empty() => _ = timer.cancel(pick(&ids, which)),
            Step::Reschedule(which, when) if !ids.is_empty() => {
                timer.reschedule(pick(&ids, which), tick(when, now));
            }
            Step::Advance(when) => {
                timer.advance(tick(when, now), |it| fired.push((it.deadline, it.value)));
            }
            Step::Pop(when) => {
                let expired = timer.pop_expired(tick(when, now));
                fired.extend(expired.map(|it| (it.deadline, it.value)));
            }
            Step::Wake => wake(timer, &mut fired),
            Step::Panic(when, nth) => panic_at(timer, tick(when, now), nth, &mut fired),
            Step::Cancel(_) | Step::Reschedule(..) | Step::Compact => timer.compact(),
        }
    }
    fired
}

fn tick(when: When, now: Tick) -> Tick {
    match when {
        When::In(distance) => now.saturating_add(distance),
        When::Ago(distance) => now.saturating_sub(distance),
        When::At(tick) => tick,
    }
}

fn wake<B: Timer<u64>>(timer: &mut B, fired: &mut Vec<(Tick, u64)>) {
    let before = fired.len();
    while fired.len() == before {
        let Some(wakeup) = timer.next_wakeup() else { return };
        timer.advance(wakeup, |it| fired.push((it.deadline, it.value)));
    }
}

/// Advances with a callback that panics at timer `nth`, counted from 0.
fn panic_at<B: Timer<u64>>(timer: &mut B, to: Tick, nth: u8, fired: &mut Vec<(Tick, u64)>) {
    let end = fired.len() + usize::from(nth);
    let call = std::panic::AssertUnwindSafe(|| {
        timer.advance(to, |it| {
            fired.push((it.deadline, it.value));
            if fired.len() > end {
                std::panic::resume_unwind(Box::new("as planned")); // prints nothing
            }
        });
    });
    let _panicked = std::panic::catch_unwind(call);
}

/// Plays a recording. Returns the deadline and the number of each timer that fires.
pub(crate) fn replay<B: Timer<u64>>(timer: &mut B, labels: u32, ops: &[Op]) -> Vec<(Tick, u64)> {
    let mut ids: Vec<Option<TimerId>> = vec![None; labels as usize];
    let (mut fired, mut inserted) = (Vec::new(), 0);
    for op in ops {
        match *op {
            Op::Insert { label, deadline } => {
                ids[label as usize] = Some(timer.insert(deadline, inserted));
                inserted += 1;
            }
            Op::Cancel { label } => {
                let id = ids[label as usize].expect("it was inserted");
                assert!(timer.cancel(id).is_some(), "only live timers are recorded");
            }
            Op::Reschedule { label, deadline } => {
                let id = ids[label as usize].expect("it was inserted");
                assert!(timer.reschedule(id, deadline), "only live timers are recorded");
            }
            Op::Advance { to } => {
                timer.advance(to, |it| fired.push((it.deadline, it.value)));
            }
            Op::Ticks { count, to } => {
                for left in (0..Tick::from(count)).rev() {
                    timer.advance(to - left, |it| fired.push((it.deadline, it.value)));
                }
            }
            Op::Pop { to } => {
                fired.extend(timer.pop_expired(to).map(|it| (it.deadline, it.value)));
            }
            Op::Wake => panic!("a recorder writes where the clock went"),
        }
    }
    fired
}
