//! The timers of TCP connections in a server's kernel.

use super::{Pattern, Phases};
use crate::Measure;
use crate::queue::Queue;
use crate::random::{Delay, Random};
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

/// TCP connections with requests and answers: the timers of each, in ticks, and its events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tcp {
    /// Retransmission timeout. Started with an answer, restarted with each acknowledgement, stopped
    /// by the last one.
    pub(crate) retransmission: Tick,
    /// Delayed acknowledgement. Stopped by an answer that comes before it.
    pub(crate) delayed_ack: Tick,
    /// TIME_WAIT after a connection was closed. Always fires.
    pub(crate) time_wait: Tick,
    /// Keepalive. Rarely fires.
    pub(crate) keepalive: Tick,
    /// The segments of an answer, each of which is acknowledged.
    pub(crate) segments: u32,
    /// How many segments in 1,000 are lost, so that their retransmission timeout fires.
    pub(crate) lost: u32,
    /// How many exchanges in 1,000 are the last, so that the connection is closed and another is
    /// opened.
    pub(crate) closed: u32,
    /// The time from an answer to the next request.
    pub(crate) think: Delay,
    /// The time from a request to its answer.
    pub(crate) service: Delay,
    /// The time from a segment to its acknowledgement.
    pub(crate) round_trip: Delay,
    /// Events for each timer.
    pub(crate) laps: u32,
}

/// Labels per connection, one for each of its timers.
const TIMERS: u32 = 3;
const KEEPALIVE: u32 = 0;
const RETRANSMISSION: u32 = 1;
const DELAYED_ACK: u32 = 2;
/// The number of closed connections that can be in TIME_WAIT at a time, per open one.
const TIME_WAIT_LABELS: u32 = 2;

/// The number of connections for about `n` live timers: a connection and its closed predecessor
/// have little more than two.
fn connections(n: u32) -> u32 {
    n.div_ceil(2)
}

/// The event that a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The client sends its next request.
    Request,
    /// The server's program answers.
    Answer,
    /// A segment is acknowledged. The value is the number of acknowledgements still to come.
    Acknowledged(u32),
    /// The retransmission timeout fires, since a segment was lost.
    TimedOut,
}

struct State {
    random: Random,
    tcp: Tcp,
    connections: u32,
    events: Queue<(u32, Event)>,
    time_waits: u32,
}

impl Pattern for Tcp {
    fn labels(&self, n: u32) -> u64 {
        u64::from(connections(n)) * u64::from(TIMERS + TIME_WAIT_LABELS)
    }

    fn phases(&self, n: u32, random: Random) -> Phases {
        let (tcp, connections) = (*self, connections(n));
        let state = State { random, tcp, connections, events: Queue::new(), time_waits: 0 };
        let stages = vec![
            Stage::prepare(u64::from(connections), resume),
            Stage::timer_ops(Measure::Mix, u64::from(n) * u64::from(self.laps), next_event),
        ];
        Script::phases(state, stages)
    }
}

/// Starts the timers of an open connection, and of one that was closed less than a TIME_WAIT ago.
fn resume(state: &mut State, step: u64, sink: &mut Sink) {
    let connection = step as u32;
    let keepalive = state.random.between(1, state.tcp.keepalive);
    sink.insert(label(connection, KEEPALIVE), keepalive);
    let left = state.random.between(1, state.tcp.time_wait);
    state.start_time_wait(left, sink);
    let first = state.tcp.think.draw_remaining(&mut state.random);
    state.events.push(first, (connection, Event::Request));
}

fn next_event(state: &mut State, _: u64, sink: &mut Sink) {
    let Some((tick, (connection, event))) = state.events.pop() else { return };
    sink.advance(tick);
    let (delay, next) = match event {
        Event::Request => state.on_request(connection, sink),
        Event::Answer => state.on_answer(connection, sink),
        Event::Acknowledged(left) => state.on_acknowledged(connection, left, sink),
        Event::TimedOut => state.on_timed_out(connection, sink),
    };
    state.events.push(sink.now().saturating_add(delay), (connection, next));
}

fn label(connection: u32, timer: u32) -> u32 {
    connection * TIMERS + timer
}

impl State {
    /// TIME_WAIT outlives its connection, so it has separate labels, which are reused in turn.
    fn start_time_wait(&mut self, delay: u64, sink: &mut Sink) {
        let label = self.connections * TIMERS + self.time_waits;
        self.time_waits = (self.time_waits + 1) % (self.connections * TIME_WAIT_LABELS);
        sink.insert_after(label, delay);
    }

    /// The answer acknowledges the request if it comes soon enough. Otherwise the delayed
    /// acknowledgement fires.
    fn on_request(&mut self, connection: u32, sink: &mut Sink) -> (u64, Event) {
        sink.insert_after(label(connection, DELAYED_ACK), self.tcp.delayed_ack);
        (self.tcp.service.draw(&mut self.random), Event::Answer)
    }

    fn on_answer(&mut self, connection: u32, sink: &mut Sink) -> (u64, Event) {
        sink.cancel(label(connection, DELAYED_ACK));
        sink.insert_after(label(connection, RETRANSMISSION), self.tcp.retransmission);
        self.await_acknowledgement(self.tcp.segments.saturating_sub(1))
    }

    fn await_acknowledgement(&mut self, left: u32) -> (u64, Event) {
        if self.random.chance(self.tcp.lost) {
            return (self.tcp.retransmission, Event::TimedOut);
        }
        (
            self.tcp.round_trip.draw(&mut self.random).min(self.tcp.retransmission - 1),
            Event::Acknowledged(left),
        )
    }

    /// Each acknowledgement restarts the timer, and the last one stops it.
    fn on_acknowledged(&mut self, connection: u32, left: u32, sink: &mut Sink) -> (u64, Event) {
        if left > 0 {
            sink.reschedule_after(label(connection, RETRANSMISSION), self.tcp.retransmission);
            return self.await_acknowledgement(left - 1);
        }
        sink.cancel(label(connection, RETRANSMISSION));
        if self.random.chance(self.tcp.closed) {
            sink.cancel(label(connection, KEEPALIVE));
            self.start_time_wait(self.tcp.time_wait, sink);
            // The next connection.
            sink.insert_after(label(connection, KEEPALIVE), self.tcp.keepalive);
        }
        (self.tcp.think.draw(&mut self.random), Event::Request)
    }

    /// The timer has fired. The segment is sent again with twice the timeout, and arrives.
    fn on_timed_out(&mut self, connection: u32, sink: &mut Sink) -> (u64, Event) {
        sink.insert_after(label(connection, RETRANSMISSION), 2 * self.tcp.retransmission);
        (self.tcp.round_trip.draw(&mut self.random), Event::Acknowledged(0))
    }
}
