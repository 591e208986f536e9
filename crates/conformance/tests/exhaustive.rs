//! The check of all short sequences plays all of them, and finds planted faults.

// Each test file uses a part of the faults.
#[allow(dead_code)]
mod planted;

use planted::{FAULT, Fault, Planted};
use wheelhouse_conformance::{BORDERS, exhaustive};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Tick, Timer};

fn play(fault: Fault, calls: usize) -> u64 {
    FAULT.set(fault);
    exhaustive(Planted::build::<u64, NoMeter>, BORDERS, calls)
}

#[test]
fn without_a_fault_every_sequence_is_played() {
    let played: Vec<_> = (0..4).map(|calls| play(Fault::None, calls)).collect();
    assert_eq!(played, [1, 17, 385, 10_847]);
}

/// Saturated ticks are equal, so two deadlines, one `advance` and two `pop_expired` are left.
#[test]
fn at_the_last_tick_fewer_calls_are_left() {
    let at_the_end = || {
        let mut timer = Planted::build::<u64, NoMeter>();
        timer.advance(Tick::MAX, |_| ());
        timer
    };
    assert_eq!(exhaustive(at_the_end, BORDERS, 1), 1 + 2 + 3);
}

/// Defines a test for each fault, with the number of calls that reveal it and the message.
macro_rules! faults {
    ($($test:ident: $fault:ident in $calls:literal calls: $message:literal;)+) => {
        $(
            #[test]
            #[should_panic(expected = $message)]
            fn $test() {
                play(Fault::$fault, $calls);
            }
        )+
    };
}

faults! {
    a_stale_handle_that_reaches_another_timer: AliasingHandle in 3 calls:
        "from tick 0: [Insert(At(0)), Cancel(0), Insert(At(0))";
    a_timer_that_is_late_at_a_border: LateByATurn in 1 calls: "contract 2, never late";
    a_reschedule_that_keeps_the_order: MoveKeepsItsPlace in 3 calls:
        "from tick 0: [Insert(At(0)), Insert(At(0)), Reschedule(0, At(0))";
    a_wakeup_after_the_deadline: WakeupTooLate in 1 calls: "next_wakeup: Some(1)";
    a_wakeup_that_leads_nowhere: WakeupAtEveryTick in 1 calls:
        "more than 64 wake-ups in a row fire nothing";
    a_clock_that_runs_back: TimeRunsBack in 2 calls: "now: 0, expected 1";
    a_postponed_timer_that_is_lost: PostponedIsLost in 2 calls:
        "from tick 0: [Insert(At(0)), Postpone(0, At(4))";
    a_postponed_timer_that_is_early: PostponedFiresEarly in 2 calls: "contract 2, never early";
    a_timer_that_is_postponed_to_an_earlier_tick: PostponedBackIsLate in 2 calls:
        "contract 2, never late";
    a_structure_that_panics: PanicsWithThree in 3 calls: "panics: no room
in this sequence, from tick 0: [Insert(At(0)), Insert(At(0)), Insert(At(0))]";
}
