use super::*;
use wheelhouse_conformance::check_random_operations;

impl<T, M: Meter> LinuxWheel<T, M> {
    /// The tick at which the slot of the timer at a place ends, and the index of its level.
    fn place_of(&self, place: u32) -> (Tick, u32) {
        let (number, entry) = self
            .timers
            .link_at(place)
            .map(|link| link.get() - 1)
            .zip(self.timers.at(place))
            .unwrap();
        (end_of(number, entry.deadline), number)
    }

    fn check(&self) {
        let mut found = self.lists.iter(&self.due).count();
        assert!(self.lists.iter(&self.due).all(|place| self.place_of(place).0 <= self.now));
        for (number, level) in self.levels.iter().enumerate() {
            for (occupied, slot) in level.slots() {
                assert_eq!(occupied, !slot.is_empty());
                let places: Vec<_> =
                    self.lists.iter(slot).map(|place| self.place_of(place)).collect();
                assert!(places.iter().all(|(end, of)| *end > self.now && *of as usize == number));
                assert!(places.windows(2).all(|pair| pair[0] == pair[1]), "one slot, one end");
                found += places.len();
            }
        }
        assert_eq!(found, self.timers.len());
    }
}

#[test]
fn invariants_hold_under_random_operations() {
    for bits in [6, 9, 14, 30] {
        check_random_operations(&mut LinuxWheel::new(), bits.into(), bits, |wheel| wheel.check());
    }
}

/// The table in the comment of Linux's source, with a thousand ticks a second. Where that comment
/// says 64, 512 and so on, the code of Linux has 63, 504.
#[test]
fn levels_and_widths_are_those_of_linux() {
    let table = [
        (1, 0),
        (8, 63),
        (64, 504),
        (512, 4_032),
        (4_096, 32_256),
        (32_768, 258_048),
        (262_144, 2_064_384),
        (2_097_152, 16_515_072),
        (16_777_216, 132_120_576),
    ];
    for (number, (ticks, from)) in (0..).zip(table) {
        assert_eq!((level_of(from), LinuxWheel::<()>::lateness(from) + 1), (number, ticks));
        assert!(number == 0 || level_of(from - 1) == number - 1);
    }
    assert_eq!(level_of(Tick::MAX), 20);
}

#[test]
fn no_delay_is_late_by_more_than_eight_sixty_thirds_of_it() {
    let edges = (0..64).flat_map(|bit| [1 << bit, 63_u64.checked_shl(bit).unwrap_or(0)]);
    let around = edges
        .flat_map(|edge| [edge.saturating_sub(1), edge, edge.saturating_add(1)])
        .chain([Tick::MAX]);
    for delay in around.filter(|delay| *delay > 0) {
        let lateness = u128::from(LinuxWheel::<()>::lateness(delay));
        assert!(lateness * 63 < 8 * u128::from(delay), "{delay}: {lateness}");
    }
}

/// In the worst case the lateness is exactly the bound: if the deadline is the first tick of its
/// slot.
#[test]
fn the_bound_is_reached_on_each_level() {
    for number in 1..20 {
        let delay = 63 << (3 * (number - 1));
        let deadline = (1 << 62) + 1;
        let bound = LinuxWheel::<()>::lateness(delay);
        let mut wheel = LinuxWheel::new();
        wheel.advance(deadline - delay, |_| ());
        wheel.insert(deadline, ());
        assert_eq!(wheel.next_wakeup(), Some(deadline + bound), "level {number}");
        assert_eq!(
            (wheel.advance(deadline + bound - 1, |_| ()), wheel.advance(deadline + bound, |_| ())),
            (0, 1)
        );
    }
}

/// Drivers used a timer of nine minutes as a time limit. With ticks of a millisecond it fired after
/// more than 550 seconds.
#[test]
fn nine_minutes_become_more_than_550_seconds() {
    let took = (0..32_768_u64).step_by(97).filter_map(|start| {
        let mut wheel = LinuxWheel::new();
        wheel.advance(start, |_| ());
        wheel.insert(start + 540_000, ());
        Some(wheel.next_wakeup()? - start)
    });
    let (least, most) =
        took.fold((Tick::MAX, 0), |(least, most), took| (least.min(took), most.max(took)));
    assert!(
        (540_000..541_000).contains(&least) && (572_000..=572_767).contains(&most),
        "{least} to {most}"
    );
}
