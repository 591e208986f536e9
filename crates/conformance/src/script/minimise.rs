//! Shortens a failing script. proptest also removes steps, but does not know that steps refer to
//! timers by number: if an insertion is removed, later steps refer to other timers. This module
//! renumbers the timers.

use super::{Script, Step, run};
use wheelhouse_core::backend::Backend;

/// Returns a script that still fails, but passes if any single step is removed. Returns `steps` if
/// it does not fail. Runs O(n^2) scripts for n steps, so it is for scripts of up to some hundred
/// steps.
///
/// ```
/// use wheelhouse_conformance::OracleDefinition;
/// use wheelhouse_conformance::script::{Step, When, minimise};
///
/// let steps = vec![Step::Insert(When::In(5)), Step::Wake];
/// assert_eq!(minimise::<OracleDefinition>(steps.clone()), steps); // nothing fails here
/// ```
pub fn minimise<B: Backend>(steps: Vec<Step>) -> Vec<Step> {
    shortest(steps, run::<B>)
}

/// Shortens a script for `play`, which is [`run`] for a backend.
pub(crate) fn shortest(steps: Vec<Step>, play: Script) -> Vec<Step> {
    let fails = |steps: &[Step]| play(steps).is_err();
    let mut steps = numbered(steps);
    if !fails(&steps) {
        return steps;
    }
    loop {
        let length = steps.len();
        // From the end, so that the steps after the failure are removed first.
        for at in (0..length).rev() {
            if at < steps.len() {
                let shorter = without(&steps, at);
                if fails(&shorter) {
                    steps = shorter;
                }
            }
        }
        if steps.len() == length {
            return steps;
        }
    }
}

/// The number of the timer that a step cancels or moves.
fn timer(step: &mut Step) -> Option<&mut u16> {
    match step {
        Step::Cancel(timer) | Step::Reschedule(timer, _) | Step::Postpone(timer, _) => Some(timer),
        _ => None,
    }
}

/// The same script, with the numbers of timers reduced modulo the number of timers inserted so far.
fn numbered(mut steps: Vec<Step>) -> Vec<Step> {
    let mut inserted = 0;
    for step in &mut steps {
        if let Step::Insert(_) = step {
            inserted += 1;
        } else if let (Some(timer), 1..) = (timer(step), inserted) {
            *timer %= inserted;
        }
    }
    steps
}

/// The script without a step. If that step inserts a timer, the steps that refer to this timer are
/// removed too. The other steps refer to the same timers as before.
fn without(steps: &[Step], at: usize) -> Vec<Step> {
    let inserts =
        |steps: &[Step]| steps.iter().filter(|step| matches!(step, Step::Insert(_))).count() as u16;
    let gone = matches!(steps[at], Step::Insert(_)).then(|| inserts(&steps[..at]));
    let others = steps.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, step)| *step);
    let renumbered = others.filter_map(|mut step| match (timer(&mut step), gone) {
        (Some(timer), Some(gone)) if *timer == gone => None,
        (Some(timer), Some(gone)) if *timer > gone => {
            *timer -= 1;
            Some(step)
        }
        _ => Some(step),
    });
    renumbered.collect()
}
