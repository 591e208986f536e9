//! Requests with a timeout each: a queue without a limit on the servers (M/G/infinity).

use super::Phases;
use crate::Measure;
use crate::delay::Delay;
use crate::queue::Queue;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use std::cmp::Reverse;
use wheelhouse_core::Tick;

/// How many labels `n` requests on average can need at a time: their number varies by its square
/// root, so that even the smallest streams stay well below. Should they not, a request waits for
/// one to end.
pub(crate) fn labels(n: u32) -> u64 {
    u64::from(n) + u64::from(n) / 8 + 1024
}

struct State {
    random: Random,
    timeout: Tick,
    completion: Delay,
    /// Mean time between requests.
    gap: f64,
    /// When the next request comes; finer than a tick, since there may be thousands in one.
    clock: f64,
    /// When each request ends, its label, and whether by an answer: then its timer is cancelled.
    ends: Queue<(u32, bool)>,
    free: Vec<u32>,
    /// Those under way at the start: what is left until the deadline, and until the answer.
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
    /// Draws the requests that are under way at a random moment: the chance to meet one is as its
    /// wait is long, and the moment is anywhere within the wait.
    fn begin_in_the_middle(&mut self, n: u32) {
        while self.under_way.len() < n as usize {
            let answer = self.completion.draw(&mut self.random);
            let wait = answer.min(self.timeout);
            if self.random.below(self.timeout) < wait {
                let age = self.random.below(wait);
                self.under_way.push((self.timeout - age, answer - age));
            }
        }
        // The oldest is taken first, from the end.
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
