//! Sessions with a time to live.

use super::{Pattern, Phases};
use crate::Measure;
use crate::queue::Queue;
use crate::random::{Delay, PER_MILLE, Random};
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

/// Sessions with a time to live, counted from their last use: each use moves the timer, and it
/// fires after a silence. A new session replaces each one that expires.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refresh {
    /// The time to live, drawn once for each session.
    pub(crate) ttl: Delay,
    /// The time between two uses, in thousandths of the time to live. If it is longer than the time
    /// to live, the session expires.
    pub(crate) gap: Delay,
    /// How many uses in 1,000 are the last, independent of the gap.
    pub(crate) silent: u32,
    /// Uses and expiries for each session.
    pub(crate) laps: u32,
}

/// The next event of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Used,
    Expired,
}

struct State {
    random: Random,
    refresh: Refresh,
    ttls: Vec<Tick>,
    events: Queue<(u32, Event)>,
}

impl Pattern for Refresh {
    fn phases(&self, n: u32, random: Random) -> Phases {
        let state = State { random, refresh: *self, ttls: Vec::new(), events: Queue::new() };
        let (count, laps) = (u64::from(n), u64::from(self.laps));
        let next_event = Stage::timer_ops(Measure::Mix, count * laps, next_event);
        Script::phases(state, vec![Stage::prepare(count, resume), next_event])
    }
}

/// Starts the timer of a session that was last used some time ago.
fn resume(state: &mut State, step: u64, sink: &mut Sink) {
    let label = step as u32;
    let ttl = state.refresh.ttl.draw(&mut state.random);
    state.ttls.push(ttl);
    let (tick, event) = state.draw_next(label, 0);
    // The stream starts at a random point between the last use and the next event, so both times
    // are earlier by the same age.
    let age = state.random.below(tick);
    state.events.push(tick - age, (label, event));
    sink.insert(label, ttl - age);
}

fn next_event(state: &mut State, _: u64, sink: &mut Sink) {
    let Some((tick, (label, event))) = state.events.pop() else { return };
    sink.advance(tick);
    match event {
        Event::Used => sink.reschedule_after(label, state.ttls[label as usize]),
        Event::Expired => {
            let ttl = state.refresh.ttl.draw(&mut state.random);
            state.ttls[label as usize] = ttl;
            sink.insert_after(label, ttl);
        }
    }
    let (tick, event) = state.draw_next(label, sink.now());
    state.events.push(tick, (label, event));
}

impl State {
    /// Draws the event after a use at `now`: another use within the time to live, or the expiry.
    fn draw_next(&mut self, label: u32, now: Tick) -> (Tick, Event) {
        let ttl = self.ttls[label as usize];
        let share = self.refresh.gap.draw(&mut self.random);
        let gap = (u128::from(ttl) * u128::from(share) / u128::from(PER_MILLE)).max(1) as Tick;
        if gap >= ttl || self.random.chance(self.refresh.silent) {
            (now.saturating_add(ttl), Event::Expired)
        } else {
            (now + gap, Event::Used)
        }
    }
}

/// Sessions that are used by Zipf's law: the session of rank k is used in proportion to ln(1 +
/// 1/k), which is nearly 1/k. Each use moves the session's timer to the time of the use plus the
/// time to live, or starts it again if the session has expired.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Popular {
    pub(crate) ttl: Tick,
    /// Uses in a time to live, for each session on average.
    pub(crate) uses: u32,
    /// Uses for each session.
    pub(crate) laps: u32,
}

struct PopularState {
    random: Random,
    popular: Popular,
    /// The label of each rank, in random order, so that sessions that are used often are scattered
    /// in memory.
    label_of_rank: Vec<u32>,
    /// When each session expires.
    deadlines: Vec<Tick>,
}

impl Pattern for Popular {
    fn phases(&self, n: u32, mut random: Random) -> Phases {
        /// Starts the timer of a session that was last used some time ago.
        fn resume(state: &mut PopularState, step: u64, sink: &mut Sink) {
            let deadline = state.random.between(1, state.popular.ttl);
            state.deadlines.push(deadline);
            sink.insert(step as u32, deadline);
        }
        let label_of_rank = random.permutation(n);
        let state = PopularState { random, popular: *self, label_of_rank, deadlines: Vec::new() };
        let (count, laps) = (u64::from(n), u64::from(self.laps));
        let next_use = Stage::timer_ops(Measure::Mix, count * laps, next_use);
        Script::phases(state, vec![Stage::prepare(count, resume), next_use])
    }
}

fn next_use(state: &mut PopularState, step: u64, sink: &mut Sink) {
    let Popular { ttl, uses, .. } = state.popular;
    let in_a_ttl = state.label_of_rank.len() as u128 * u128::from(uses.max(1));
    sink.advance((u128::from(ttl) * u128::from(step) / in_a_ttl) as Tick);
    let rank = state.random.zipf(state.label_of_rank.len() as u64);
    let label = state.label_of_rank[rank as usize];
    let deadline = &mut state.deadlines[label as usize];
    let is_live = *deadline > sink.now();
    *deadline = sink.now() + ttl;
    if is_live { sink.reschedule(label, *deadline) } else { sink.insert(label, *deadline) }
}
