//! How the wheels of this workspace are driven and measured.

use crate::count::Probe;
use crate::growth::{Curve, Growth, Sample};
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

/// What was done at one tick on the way from wake-up to wake-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wakeup {
    pub(super) tick: Tick,
    /// Timers that fired.
    pub(super) fired: u64,
    /// Timers that were moved to a lower level.
    pub(super) moved: u64,
}

/// Advances from wake-up to wake-up until no timer is left. `seen` is told of each tick and of what fired at it, as (deadline, value).
pub(super) fn wakeups<T: Timer<u64>>(probe: &mut Probe<T>, mut seen: impl FnMut(Tick, &[(Tick, u64)])) -> Vec<Wakeup> {
    let mut wakeups = Vec::new();
    while let Some(tick) = probe.timer.next_wakeup() {
        let before = probe.steps();
        let fired = probe.fired(tick);
        let moved = probe.steps().since(&before).of(Work::CascadeMove);
        wakeups.push(Wakeup { tick, fired: fired.len() as u64, moved });
        seen(tick, &fired);
    }
    wakeups
}

/// Several costs of one run: a curve of each, from a run for each seed at each size.
pub(super) fn curves<const K: usize>(
    sizes: &[u64],
    seeds: impl Iterator<Item = u64> + Clone,
    mut costs: impl FnMut(u64, u64) -> [f64; K],
) -> [Curve; K] {
    let mut runs = |n: u64| seeds.clone().map(|seed| costs(n, seed)).collect::<Vec<_>>();
    let runs: Vec<_> = sizes.iter().map(|&n| (n, runs(n))).collect();
    let of = |cost: usize, runs: &[[f64; K]]| runs.iter().map(|costs| costs[cost]).collect();
    std::array::from_fn(|cost| Curve(runs.iter().map(|(n, runs)| Sample { n: *n, costs: of(cost, runs) }).collect()))
}

/// Whether all of these are of one class; `None` if one of them is undecided.
pub(super) fn all_are(class: Growth, growths: impl IntoIterator<Item = Growth>) -> Option<bool> {
    let are = growths.into_iter().map(|growth| growth.is(class)).collect::<Option<Vec<bool>>>()?;
    Some(are.into_iter().all(|is| is))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::configured;

    #[test]
    fn each_wheel_fires_what_it_holds_from_wakeup_to_wakeup() {
        fn check<T: Timer<u64>>(mut probe: Probe<T>) {
            probe.fill([7, 300, 300, 5_000]);
            let mut fired = Vec::new();
            let wakeups = wakeups(&mut probe, |tick, timers| fired.extend(timers.iter().map(|timer| (tick, timer.0))));
            assert_eq!(fired, [(7, 7), (300, 300), (300, 300), (5_000, 5_000)]);
            assert_eq!(wakeups.iter().map(|wakeup| wakeup.fired).sum::<u64>(), 4);
        }
        check(configured::single_wheel(64));
        check(configured::hashed_wheel(64));
        check(configured::round_wheel(64));
        check(configured::hierarchical_wheel(64, 0));
        check(configured::kafka_wheel(20, 0));
    }

    #[test]
    fn one_run_gives_several_curves() {
        let [one, two] = curves(&[2, 4], 1..=2, |n, seed| [n as f64, (n * seed) as f64]);
        assert_eq!((one.points(), two.points()), (vec![(2.0, 2.0), (4.0, 4.0)], vec![(2.0, 3.0), (4.0, 6.0)]));
    }
}
