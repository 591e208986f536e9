//! Timeouts of requests.

use super::{Pattern, Phases};
use crate::Measure;
use crate::queue::Queue;
use crate::random::{Delay, Random};
use crate::script::{Script, Sink, Stage};
use std::cmp::Reverse;
use wheelhouse_core::Tick;

/// Requests with a timeout each, which arrive at random (a Poisson process) and are answered in
/// time or too late: a queue with an unlimited number of servers (M/G/infinity). At the start `n`
/// requests are in progress, as at any later time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requests {
    /// The timeout of every request.
    pub(crate) timeout: Tick,
    /// The time until the answer.
    pub(crate) completion: Delay,
    /// The mean of the shorter of the two. It sets the rate of arrivals, so that `n` requests are
    /// in progress.
    pub(crate) mean_wait: f64,
    /// Requests that arrive for each one in progress.
    pub(crate) laps: u32,
}

struct State {
    random: Random,
    requests: Requests,
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

impl Pattern for Requests {
    /// For an average of `n` concurrent requests. The number of requests varies by its square root,
    /// so even small streams stay well below this. If no label is free, a request waits for another
    /// to end.
    fn labels(&self, n: u32) -> u64 {
        u64::from(n) + u64::from(n) / 8 + 1024
    }

    fn phases(&self, n: u32, random: Random) -> Phases {
        let mut state = State {
            random,
            requests: *self,
            gap: self.mean_wait / f64::from(n),
            clock: 0.0,
            ends: Queue::new(),
            free: (0..self.labels(n) as u32).rev().collect(),
            under_way: Vec::new(),
        };
        state.begin_in_the_middle(n);
        let (count, laps) = (u64::from(n), u64::from(self.laps));
        let request = Stage::timer_ops(Measure::Mix, count * laps, request);
        Script::phases(state, vec![Stage::prepare(count, resume), request])
    }
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
    let answer = sink.now().saturating_add(state.requests.completion.draw(&mut state.random));
    state.start(sink.now() + state.requests.timeout, answer, sink);
}

impl State {
    /// Draws the requests that are in progress at a random time. The probability of each is
    /// proportional to the length of its wait, and the time is uniform within the wait.
    fn begin_in_the_middle(&mut self, n: u32) {
        let Requests { timeout, completion, .. } = self.requests;
        while self.under_way.len() < n as usize {
            let answer = completion.draw(&mut self.random);
            let wait = answer.min(timeout);
            if self.random.below(timeout) < wait {
                let age = self.random.below(wait);
                self.under_way.push((timeout - age, answer - age));
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
