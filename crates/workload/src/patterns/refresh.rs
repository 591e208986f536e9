//! Sessions that live as long as they are used: each use moves the timer, and it fires after a
//! silence.

use super::Phases;
use crate::Measure;
use crate::delay::Delay;
use crate::queue::Queue;
use crate::random::{PER_MILLE, Random};
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

/// The next event of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Used(u32),
    Expired(u32),
}

struct State {
    random: Random,
    ttl: Delay,
    gap: Delay,
    silent: u32,
    ttls: Vec<Tick>,
    events: Queue<Event>,
}

pub(crate) fn phases(
    ttl: Delay,
    gap: Delay,
    silent: u32,
    laps: u32,
    n: u32,
    random: Random,
) -> Phases {
    let state = State { random, ttl, gap, silent, ttls: Vec::new(), events: Queue::new() };
    let steps = u64::from(n) * u64::from(laps);
    let stages = vec![
        Stage::prepare(u64::from(n), resume),
        Stage::timer_ops(Measure::Mix, steps, next_event),
    ];
    Box::new(Script::new(state, stages))
}

/// Starts the timer of a session that was last used some time ago.
fn resume(state: &mut State, step: u64, sink: &mut Sink) {
    let label = step as u32;
    let ttl = state.ttl.draw(&mut state.random);
    state.ttls.push(ttl);
    let event = state.draw_next(label, 0);
    // The stream starts at a random point between the last use and the next event, so both times
    // are earlier by the same age.
    let age = state.random.below(event.0);
    state.events.push(event.0 - age, event.1);
    sink.insert(label, ttl - age);
}

fn next_event(state: &mut State, _: u64, sink: &mut Sink) {
    let Some((tick, event)) = state.events.pop() else { return };
    sink.advance(tick);
    let label = match event {
        Event::Used(label) => {
            sink.reschedule_after(label, state.ttls[label as usize]);
            label
        }
        Event::Expired(label) => {
            let ttl = state.ttl.draw(&mut state.random);
            state.ttls[label as usize] = ttl;
            sink.insert_after(label, ttl);
            label
        }
    };
    let (tick, event) = state.draw_next(label, sink.now());
    state.events.push(tick, event);
}

impl State {
    /// Draws the event after a use at `now`: another use within the time to live, or the expiry.
    fn draw_next(&mut self, label: u32, now: Tick) -> (Tick, Event) {
        let ttl = self.ttls[label as usize];
        let share = self.gap.draw(&mut self.random);
        let gap = (u128::from(ttl) * u128::from(share) / u128::from(PER_MILLE)).max(1) as Tick;
        if gap >= ttl || self.random.chance(self.silent) {
            (now.saturating_add(ttl), Event::Expired(label))
        } else {
            (now + gap, Event::Used(label))
        }
    }
}
