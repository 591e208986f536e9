//! Makes a failing script short. proptest shrinks one step after the other and does not know that
//! timers go by number: without an insertion, the numbers behind it mean other timers. This does
//! know.

use super::{Script, Step, run};
use wheelhouse_core::backend::Backend;

/// A script that fails as well, from which no single step can be left out: `steps` itself if it
/// does not fail. Runs O(n^2) scripts for n steps, so it is for scripts of hundreds of steps.
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

/// The same for [`run`] on some backend.
pub(crate) fn shortest(steps: Vec<Step>, play: Script) -> Vec<Step> {
    let fails = |steps: &[Step]| play(steps).is_err();
    let mut steps = numbered(steps);
    if !fails(&steps) {
        return steps;
    }
    loop {
        let length = steps.len();
        // From the end: what comes after the failure goes first, at no cost to the rest.
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

/// The timer that a step is about.
fn timer(step: &mut Step) -> Option<&mut u16> {
    match step {
        Step::Cancel(timer) | Step::Reschedule(timer, _) => Some(timer),
        _ => None,
    }
}

/// The same script with the number of each timer as it is, not modulo how many there are.
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

/// The script without a step and, if that starts a timer, without what is done to it. Others keep
/// their timers.
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
