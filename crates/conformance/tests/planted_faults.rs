//! Tests that the suite finds faults. They are planted into a small timer facility, one at a time,
//! which is exact or rounds deadlines up. The check that is meant for a fault must
//! fail, with the number of a promise in its message. Without a fault both pass all checks.

mod planted;

use planted::{FAULT, Fault, Planted, Rounding, STOP_LOOPING};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;
use wheelhouse_conformance::script::{decode, minimise, run};
use wheelhouse_conformance::{Check, Random, checks, contract_10_the_whole_range_of_u64};
use wheelhouse_core::backend::Backend;

mod without_a_fault {
    mod exact {
        wheelhouse_conformance::suite!(crate::Planted);
    }

    mod late {
        wheelhouse_conformance::suite!(crate::Rounding);
    }
}

/// Runs all checks whose name starts with `prefix`, each with a fault. Returns the message of the
/// first check that fails.
fn failure<B: Backend>(fault: Fault, prefix: &str) -> Option<String> {
    let checks = checks::<B>();
    let mut matching = checks.iter().filter(|check| check.name.starts_with(prefix)).peekable();
    assert!(matching.peek().is_some(), "no check is called {prefix}..");
    matching.find_map(|check| {
        let check = check.check;
        let run = move || {
            FAULT.set(fault);
            check();
        };
        let panic = thread::spawn(run).join().err()?;
        let message = panic.downcast_ref::<String>().map(String::as_str);
        message.or_else(|| panic.downcast_ref::<&str>().copied()).map(str::to_owned)
    })
}

/// Defines a test for each fault: the promise whose check fails, the promise that the message names
/// if that is another one, and the other checks that find the fault too.
macro_rules! faults {
    ($backend:ident: $(
        $test:ident: $fault:ident
            breaks $contract:literal $(by $named:literal)? $(and $other:ident)?;
    )+) => {
        $(
            #[test]
            fn $test() {
                let prefix = format!("contract_{:02}_", $contract);
                let message = failure::<$backend>(Fault::$fault, &prefix).expect("it is found");
                let named = [$contract, $($named)?].into_iter().next_back().unwrap_or(0);
                let promise = format!("contract {named}");
                assert!(message.contains(&promise), "does not name promise {named}: {message}");
                $(
                    let message = failure::<$backend>(Fault::$fault, stringify!($other));
                    let message = message.expect(concat!("found by ", stringify!($other)));
                    assert!(message.contains("step "), "does not name the step: {message}");
                )?
            }
        )+
    };
}

faults! {
    Planted:
    early_by_one: EarlyByOne breaks 2 and property;
    early_in_a_far_slot: EarlyInAFarSlot breaks 2 and property;
    late_by_one: LateByOne breaks 2 and property;
    late_by_a_turn: LateByATurn breaks 2 and property;
    capped: Capped breaks 3 by 2 and differential;
    lost_on_cancel: LostOnCancel breaks 1 and property;
    lost_on_reschedule: LostOnReschedule breaks 4 by 5 and property;
    forgets_values: ForgetsValues breaks 1;
    wrong_tie_order: WrongTieOrder breaks 3 and property;
    move_keeps_its_place: MoveKeepsItsPlace breaks 3 and property_many_ties;
    postponed_is_lost: PostponedIsLost breaks 3 by 1 and property_any_sequence;
    postponed_fires_early: PostponedFiresEarly breaks 3 by 2 and property_any_sequence;
    postponed_back_is_late: PostponedBackIsLate breaks 3 and property_any_sequence;
    cascade_loses_order: CascadeLosesOrder breaks 3 and differential;
    overdue_last: OverdueLast breaks 4 by 3 and property;
    overdue_waits: OverdueWaits breaks 4 by 2 and property;
    aliasing_handle: AliasingHandle breaks 5 and property;
    aliasing_after_many_reuses: AliasingAfterManyReuses breaks 5;
    fired_handle_answers: FiredHandleAnswers breaks 5 and property;
    time_runs_back: TimeRunsBack breaks 6 and property;
    wakeup_too_late: WakeupTooLate breaks 7 and property;
    wakeup_at_every_tick: WakeupAtEveryTick breaks 7 and property;
    wakeup_for_the_cancelled: WakeupForTheCancelled breaks 7 and property;
    wakeup_of_nothing: WakeupOfNothing breaks 7 and property;
    panic_loses_others: PanicLosesOthers breaks 9 and property;
    signed_comparison: SignedComparison breaks 10 by 2 and property;
    last_tick_never_comes: LastTickNeverComes breaks 10 by 2 and property_end_of_time;
    quadratic_work: QuadraticWork breaks 11;
    scans_on_every_tick: ScansOnEveryTick breaks 11;
    visits_every_slot: VisitsEverySlot breaks 11;
}

#[cfg(feature = "memory")]
faults! {
    Planted:
    leaking_memory: LeakingMemory breaks 8;
    lazy_cancel_without_bound: LazyCancelWithoutBound breaks 8;
}

/// Faults of a structure that is late by design.
mod late_by_design {
    use super::*;

    faults! {
        Rounding:
        rounds_down: RoundsDown breaks 2 and differential;
        beyond_the_bound: BeyondTheBound breaks 2 and differential;
        capped: Capped breaks 2 and differential;
        keeps_wide_slots: KeepsWideSlots breaks 2 and differential;
        forgets_deadlines: ForgetsDeadlines breaks 2 by 5 and differential;
        ties_out_of_order: TiesOutOfOrder breaks 3;
        jumps_reversed: JumpsReversed breaks 3;
        overdue_waits: OverdueWaits breaks 4 by 2 and differential;
        hand_of_the_run: HandOfTheRun breaks 4 by 2 and differential;
        wakeup_too_late: WakeupTooLate breaks 7 and differential;
        wakeup_at_every_tick: WakeupAtEveryTick breaks 7 and differential;
        wakeup_of_nothing: WakeupOfNothing breaks 7 and differential;
        panic_loses_others: PanicLosesOthers breaks 9 and differential;
        end_wraps: EndWraps breaks 10 by 2 and differential;
    }
}

/// A structure that iterates over ticks does not hang the suite: the check fails after its time
/// limit.
#[test]
fn a_loop_over_the_distance_is_stopped() {
    let check = || {
        FAULT.set(Fault::LoopsOverDistance);
        contract_10_the_whole_range_of_u64::<Planted>();
    };
    let check = Check { name: "contract_10_the_whole_range_of_u64", check };
    let outcome = check.run_within(Duration::from_secs(2));
    STOP_LOOPING.store(true, Ordering::Relaxed);
    let message = outcome.expect_err("a loop over 2^64 ticks is not caught");
    assert!(message.contains("has not ended") && message.contains("contract 10"), "{message}");
}

/// A random sequence that fails is shortened and printed as Rust code.
#[test]
fn a_failing_sequence_is_short() {
    let message = failure::<Planted>(Fault::LostOnCancel, "property_many_ties").expect("caught");
    let (_, steps) =
        message.split_once("shortest sequence found: ").expect("the sequence is printed");
    assert_eq!(steps.matches("Insert(").count(), 2, "two timers are enough to lose one: {message}");
    assert_eq!(steps.matches("Cancel(").count(), 1, "{message}");
    assert_eq!(steps.matches("), ").count(), 2, "and no other step: {message}");
}

/// Scripts decoded from bytes find a fault too, as in the fuzz target, and the printed script is
/// short.
#[test]
fn random_bytes_find_a_fault() {
    FAULT.set(Fault::MoveKeepsItsPlace);
    let mut random = Random::new(1);
    let mut bytes = || std::array::from_fn::<u8, 300, _>(|_| random.word() as u8);
    let mut scripts = (0..1_000).map(|_| decode(&bytes()));
    let script =
        scripts.find(|script| run::<Planted>(script).is_err()).expect("the fault is not found");
    let short = minimise::<Planted>(script);
    assert!(run::<Planted>(&short).is_err(), "the short script still fails: {short:?}");
    assert!(short.len() <= 5, "two timers, a move and at most two expiries: {short:?}");
}
