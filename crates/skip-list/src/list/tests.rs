use super::*;
use alloc::vec;
use wheelhouse_conformance::{Random, check_random_operations};
use wheelhouse_core::meter::CountingMeter;

impl<T, M: Meter> SkipList<T, M> {
    /// Checks all links. Returns the number of timers.
    fn check(&self) -> usize {
        let base = self.base.check(&self.nodes).into_iter();
        let base: Vec<_> = base.map(|link| (link, self.nodes[link.at as usize].other)).collect();
        base.iter().for_each(|(link, _)| {
            assert_eq!(self.base.deadline_of(&self.nodes, link.at), link.deadline);
        });
        self.towers.check(&base);
        base.len()
    }
}

#[test]
fn invariants_hold_under_random_operations() {
    for (seed, bits) in [(1, 2), (1, 11), (7, 11)] {
        check_random_operations(&mut SkipList::new().with_seed(seed), seed, bits, |list| {
            assert_eq!(list.check(), list.len());
        });
    }
}

#[test]
fn a_timer_before_all_others_costs_two_comparisons_a_level() {
    let mut list = SkipList::builder().meter(CountingMeter::default()).build().unwrap();
    let timers = 10_000;
    for deadline in (0..timers).rev() {
        list.insert(deadline, ());
    }
    // In such a short run, the height is at most two levels above log4 of the number of timers.
    let levels = u64::from(timers.ilog2() / 2) + 3;
    assert!(list.meter().count(Work::Comparison) <= (1 + 2 * levels) * timers);
    assert_eq!(list.check(), timers as usize);
}

#[test]
fn memory_of_towers_is_used_again() {
    let mut list = SkipList::<()>::new();
    let mut random = Random::new(3);
    let mut ids: Vec<_> = (0..2_000).map(|_| list.insert(random.word(), ())).collect();
    for _ in 0..200_000 {
        let at = random.index(ids.len());
        list.cancel(ids[at]);
        ids[at] = list.insert(random.word(), ());
    }
    // A timer uses a third of a node on average. The memory for each height is that of its peak.
    assert!(list.towers.len() < 2_000, "{}", list.towers.len());
    assert_eq!(list.check(), 2_000);
}

/// A model: the levels as sorted arrays, with an independent count of the steps.
struct Model(Vec<Vec<(Tick, u64)>>);

impl Model {
    /// The comparisons and links of a search that looks two nodes ahead on each level in use.
    /// Reaching the end of a level counts as a comparison too.
    fn search(&self, deadline: Tick) -> (u64, u64) {
        let (mut comparisons, mut links, mut at) = (1, 0, None);
        if self.0[0].last().is_none_or(|last| last.0 <= deadline) {
            return (comparisons, links);
        }
        for level in self.0.iter().rev().filter(|level| !level.is_empty()) {
            let mut passed = level.partition_point(|timer| Some(*timer) <= at);
            let mut is_passed = |ahead: Option<&(Tick, u64)>| {
                comparisons += 1;
                ahead.is_some_and(|timer| timer.0 <= deadline)
            };
            while is_passed(level.get(passed + 1)) {
                (passed, links) = (passed + 2, links + 1);
            }
            (passed, links) = (passed + usize::from(is_passed(level.get(passed))), links + 1);
            at = level[..passed].last().copied();
        }
        (comparisons, links)
    }

    /// Inserts a timer on its levels, or removes it from them.
    fn toggle(&mut self, timer: (Tick, u64), height: usize) {
        for level in &mut self.0[..height] {
            match level.binary_search(&timer) {
                Ok(at) => _ = level.remove(at),
                Err(at) => level.insert(at, timer),
            }
        }
    }
}

#[test]
fn the_meter_counts_the_same_steps_as_a_model() {
    let mut list = SkipList::builder().meter(CountingMeter::default()).build().unwrap();
    let (mut model, mut heights) = (Model(vec![Vec::new(); 16]), Heights::DEFAULT);
    let (mut timers, mut random) = (Vec::new(), Random::new(9));
    for number in 0..10_000 {
        list.meter().reset();
        let (counted, told) = if timers.is_empty() || random.below(5) > 1 {
            let (timer, height) = ((random.below(5_000), number), heights.draw());
            let (comparisons, links) = model.search(timer.0);
            model.toggle(timer, height);
            timers.push((timer, height, list.insert(timer.0, ())));
            ((comparisons, links + 7 * height as u64), list.meter())
        } else {
            let at = random.index(timers.len());
            let (timer, height, id) = timers.swap_remove(at);
            model.toggle(timer, height);
            assert!(list.cancel(id).is_some());
            ((0, 4 * height as u64), list.meter())
        };
        assert_eq!((told.count(Work::Comparison), told.count(Work::Link)), counted, "{number}");
        assert_eq!(told.total(), counted.0 + counted.1);
    }
}
