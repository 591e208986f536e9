//! Requests with a timeout each: a queue with an unlimited number of servers (M/G/infinity).

use super::Phases;
use crate::Measure;
use crate::delay::Delay;
use crate::queue::Queue;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use std::cmp::Reverse;
use wheelhouse_core::Tick;

/// The number of labels for an average of `n` concurrent requests. The number of requests varies by
/// its square root, so even small streams stay well below this. If no label is free, a request
/// waits for another to end.
pub(crate) fn labels(n: u32) -> u64 {
    u64::from(n) + u64::from(n) / 8 + 1024
}

struct State {
    random: Random,
    timeout: Tick,
    completion: Delay,
    /// Mean time between requests.
    gap: f64,
    /// When the next request comes. Finer than a tick, since thousands may come in one tick.
    clock: f64,
    /// The end of each request, with its label, and `true` if an answer ends it and its timer is
    /// cancelled.
    ends: Queue<(u32, bool)>,
    free: Vec<u32>,
    /// The requests in progress at the start: the remaining times until the deadline and until the
    /// answer.
    under_way: Vec<(Tick, Tick)>,
}

pub(crate) fn phases(
    timeout: Tick,
    completion: Delay,
    mean_wait: f64,
    laps: u32,
    n: u32,
    random: Random,
) -> Phases {
    let mut state = State {
        random,
        timeout,
        completion,
        gap: mean_wait / f64::from(n),
        clock: 0.0,
        ends: Queue::new(),
        free: (0..labels(n) as u32).rev().collect(),
        under_way: Vec::new(),
    };
    state.begin_in_the_middle(n);
    let (count, steps) = (u64::from(n), u64::from(n) * u64::from(laps));
    let stages =
        vec![Stage::prepare(count, resume), Stage::timer_ops(Measure::Mix, steps, request)];
    Box::new(Script::new(state, stages))
}

fn resume(state: &mut State, _: u64, sink: &mut Sink) {
    let Some((deadline, answer)) = state.under_way.pop() else { return };
    state.start(deadline, answer, sink);
}

fn request(state: &mut State, _: u64, sink: &mut Sink) {
    state.clock += state.random.exponential(state.gap);
    state.end_until(state.clock as Tick, sink);
    while state.free.is_empty() {
        let Some(tick) = state.ends.next_tick() else { break };
        state.clock = state.clock.max(tick as f64);
        state.end_until(tick, sink);
    }
    sink.advance(state.clock as Tick);
    let answer = sink.now().saturating_add(state.completion.draw(&mut state.random));
    state.start(sink.now() + state.timeout, answer, sink);
}

impl State {
    /// Draws the requests that are in progress at a random time. The probability of each is
    /// proportional to the length of its wait, and the time is uniform within the wait.
    fn begin_in_the_middle(&mut self, n: u32) {
        while self.under_way.len() < n as usize {
            let answer = self.completion.draw(&mut self.random);
            let wait = answer.min(self.timeout);
            if self.random.below(self.timeout) < wait {
                let age = self.random.below(wait);
                self.under_way.push((self.timeout - age, answer - age));
            }
        }
        // They are popped from the end, so the oldest is the last.
        self.under_way.sort_by_key(|&under_way| Reverse(under_way));
    }

    fn start(&mut self, deadline: Tick, answer: Tick, sink: &mut Sink) {
        let Some(label) = self.free.pop() else { return };
        self.ends.push(answer.min(deadline), (label, answer < deadline));
        sink.insert(label, deadline);
    }

    fn end_until(&mut self, tick: Tick, sink: &mut Sink) {
        while let Some((end, (label, answered))) = self.ends.pop_due(tick) {
            if answered {
                sink.advance(end);
                sink.cancel(label);
            }
            self.free.push(label);
        }
    }
}
