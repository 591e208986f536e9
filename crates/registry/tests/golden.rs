//! The worked examples on hierarchies of wheels, from the articles that this project examines and
//! from Varghese and Lauck's paper. The level of a timer cannot be seen from outside, but its way
//! down can: each wake-up before the deadline is the tick at which the timer moves to a lower
//! level. Examples with 10 or 60 slots are scaled to powers of two.

macro_rules! examples {
    ($name:ident, $wheel:ident, $package:ident) => {
        mod $name {
            use wheelhouse_core::Timer;
            use wheelhouse_core::meter::{CountingMeter, Work};
            use $package::$wheel;

            fn wheel(slots: usize, start: u64) -> $wheel<&'static str> {
                $wheel::builder().slots_per_level(slots).start(start).build().unwrap()
            }

            /// The ticks of all wake-ups until no timer is live, and each timer that fires with its
            /// tick.
            fn wakeups(wheel: &mut $wheel<&'static str>) -> (Vec<u64>, Vec<(u64, &'static str)>) {
                let (mut ticks, mut fired) = (Vec::new(), Vec::new());
                while let Some(tick) = wheel.next_wakeup() {
                    ticks.push(tick);
                    wheel.advance(tick, |expired| fired.push((tick, expired.value)));
                }
                (ticks, fired)
            }

            /// E9, *Kafka's wheel in Go* (luozhiyun): 10 slots of 1 s. A 2 s task is in slot 2. A
            /// 15 s task is in [10, 19] of the second wheel, and at 10 it goes down to slot 5. The
            /// same on 8 slots: 15 is in [8, 15], and goes down at 8.
            #[test]
            fn e9_a_timer_goes_down_when_its_slot_begins() {
                let mut wheel = wheel(8, 0);
                wheel.insert(2, "2 s");
                wheel.insert(15, "15 s");
                assert_eq!(wakeups(&mut wheel), (vec![2, 8, 15], vec![(2, "2 s"), (15, "15 s")]));
            }

            /// E9, the other half: at 2, a task of 9 s "uses slot 1 again", without a second wheel,
            /// since a wheel reaches one turn from where its hand is. Here a wheel reaches only to
            /// the end of its turn, since no slot holds two turns. On 8 slots, at 2, a delay of 7
            /// ends in the next turn, and the timer takes one step down on the way.
            #[test]
            fn e9_the_next_turn_is_the_next_level() {
                let mut wheel = wheel(8, 2);
                wheel.insert(2 + 7, "next turn");
                wheel.insert(2 + 5, "this turn");
                assert_eq!(
                    wakeups(&mut wheel),
                    (vec![7, 8, 9], vec![(7, "this turn"), (9, "next turn")])
                );
            }

            /// E9: the spans of the levels, 10 s and 100 s as printed, 8 and 64 here. Among the
            /// delays from tick 0 are the last that takes no step down, one that takes one, and one
            /// that takes two.
            #[test]
            fn e9_the_spans_of_the_levels() {
                for (deadline, ticks) in [
                    (7, vec![7]),
                    (8, vec![8]),
                    (63, vec![56, 63]),
                    (64, vec![64]),
                    (79, vec![64, 72, 79]),
                ] {
                    let mut wheel = wheel(8, 0);
                    wheel.insert(deadline, "");
                    assert_eq!(wakeups(&mut wheel).0, ticks, "due at {deadline}");
                }
            }

            /// E11, *Netty and Kafka*: 8 x 8 x 8, a task of 500 s. The article moves it down "after
            /// 436 s, 64 s being left" and "another 56 s later, 8 s being left". But a slot is
            /// emptied when it begins. Slot 7 of the third wheel begins at 7 * 64 = 448, with 52 s
            /// left. Slot 6 of the second begins at 448 + 6 * 8 = 496, with 4 s left, which is slot
            /// 4 of the first.
            #[test]
            fn e11_a_timer_goes_down_at_448_and_496_not_at_436_and_492() {
                let mut wheel = wheel(8, 0);
                wheel.insert(500, "500 s");
                assert_eq!(wakeups(&mut wheel), (vec![448, 496, 500], vec![(500, "500 s")]));
            }

            /// E11: "three levels handle delays up to 512 s". That holds only if the clock is at
            /// the beginning of a turn. From 500 of the 512 phases, 500 s end after the turn, and a
            /// fourth level is needed (Kafka's needs it from 416).
            #[test]
            fn e11_the_range_shrinks_as_the_turn_passes() {
                let first = |start| {
                    let mut wheel = wheel(8, start);
                    wheel.insert(start + 500, "");
                    wheel.next_wakeup()
                };
                let phases = (0..512).filter(|start| first(*start) == Some(512)).count();
                assert_eq!(phases, 500);
                assert_eq!((first(11), first(12)), (Some(448), Some(512)));
            }

            /// E12, *Netty and Kafka*: a 350 s task costs 349 ticks in vain on a wheel that ticks.
            /// Here it costs one call for each level passed: 350 is 536 in octal.
            #[test]
            fn e12_a_timer_of_350_ticks_costs_three_calls() {
                let mut by_eight = wheel(8, 0);
                by_eight.insert(350, "350 s");
                assert_eq!(wakeups(&mut by_eight).0, [0o500, 0o530, 0o536]);
                let mut by_default = wheel(256, 0);
                by_default.insert(350, "350 s");
                assert_eq!(wakeups(&mut by_default).0, [256, 350]);
            }

            /// E12, the cost: all 349 empty ticks together visit the two slots that the timer
            /// passes through, and move it twice. The five other visits are words of the map of
            /// occupied slots: two for each search for the next slot, and one to find none.
            #[test]
            fn e12_empty_ticks_visit_no_slot() {
                let mut wheel = $wheel::builder()
                    .slots_per_level(8)
                    .meter(CountingMeter::default())
                    .build()
                    .unwrap();
                wheel.insert(350, ());
                wheel.meter().reset();
                let fired: usize = (1..=350).map(|tick| wheel.advance(tick, |_| ())).sum();
                assert_eq!(
                    (
                        fired,
                        wheel.meter().count(Work::CascadeMove),
                        wheel.meter().count(Work::SlotVisit)
                    ),
                    (1, 2, 2 + 5)
                );
            }

            /// E14, Varghese and Lauck's figures 10 and 11: at 11 d 10:24:30 a timer of 50 min 45
            /// s, due at 11 d 11:15:15, waits in the slot of its hour, then in that of its minute,
            /// then in that of its second. The same on wheels of 64 slots: the digits are those of
            /// base 64, and 24:30 + 50:45 carries twice.
            #[test]
            fn e14_hour_then_minute_then_second() {
                let clock = |day: u64, hour: u64, minute: u64, second: u64| {
                    ((day * 64 + hour) * 64 + minute) * 64 + second
                };
                let mut wheel = wheel(64, clock(11, 10, 24, 30));
                wheel.insert(clock(11, 10, 24, 30) + clock(0, 0, 50, 45), "figure 10");
                let way_down =
                    vec![clock(11, 11, 0, 0), clock(11, 11, 11, 0), clock(11, 11, 11, 11)];
                assert_eq!(
                    wakeups(&mut wheel),
                    (way_down, vec![(clock(11, 11, 11, 11), "figure 10")])
                );
            }

            /// E14: 100 days of seconds take the paper 100 + 24 + 60 + 60 = 244 slots instead of
            /// 8.64 million. Here four levels of 64 slots, 256 slots in all, reach 194 days. The
            /// timer moves at most three times.
            #[test]
            fn e14_a_hundred_days_take_four_levels() {
                assert!(64_u64.pow(4) > 100 * 86_400);
                let mut wheel = wheel(64, 0);
                wheel.insert(100 * 86_400, "100 days");
                wheel.insert(100 * 86_400 - 1, "a second less");
                let (ticks, fired) = wakeups(&mut wheel);
                assert!(ticks.len() <= 2 * 4, "{ticks:?}");
                assert_eq!(fired, [(8_639_999, "a second less"), (8_640_000, "100 days")]);
            }
        }
    };
}

examples!(list_wheel, ListWheel, wheelhouse_hierarchical_wheel);
examples!(hierarchical_wheel, HierarchicalWheel, wheelhouse_hierarchical_wheel);
