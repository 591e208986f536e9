use super::{Pattern, Phases};
use crate::Measure;
use crate::queue::Queue;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

/// Pairs of a client and a server: a request, then a response of many paced messages. They have ten
/// timers in total, after the benchmark of Ratas. Times are in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Messages {
    /// Idle timeout of each end. Moved by every message.
    pub(crate) idle: Tick,
    /// The time until a pair stops sending requests.
    pub(crate) close: Tick,
    /// The time that it stays open after that.
    pub(crate) linger: Tick,
    /// The time between two messages of a response.
    pub(crate) pace: Tick,
    /// The time from the end of a response to the next request.
    pub(crate) request: Tick,
    /// Timeout of a response. Moved to half of this when its first message comes, stopped by the
    /// last.
    pub(crate) patience: Tick,
    /// The number of messages of a response.
    pub(crate) per_response: u32,
    /// Events for each timer.
    pub(crate) laps: u32,
}

/// Labels per pair. Three of the ten timers are never started: the two for requests of the server,
/// and the pace timer of the client.
const TIMERS: u32 = 7;
const CLIENT_IDLE: u32 = 0;
const SERVER_IDLE: u32 = 1;
const CLIENT_CLOSE: u32 = 2;
const SERVER_CLOSE: u32 = 3;
const PACE: u32 = 4;
const REQUEST: u32 = 5;
const DEADLINE: u32 = 6;

/// The number of pairs for about `n` live timers: a pair has about five at a time.
fn pairs(n: u32) -> u32 {
    n.div_ceil(5)
}

/// The next timer of a pair that fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Request,
    Pace,
    Close,
}

struct Pair {
    /// The messages of the response that are still to be sent.
    unsent: u32,
    closing: bool,
}

struct State {
    random: Random,
    messages: Messages,
    pairs: Vec<Pair>,
    events: Queue<(u32, Event)>,
}

impl Pattern for Messages {
    fn labels(&self, n: u32) -> u64 {
        u64::from(pairs(n)) * u64::from(TIMERS)
    }

    fn phases(&self, n: u32, random: Random) -> Phases {
        let state = State { random, messages: *self, pairs: Vec::new(), events: Queue::new() };
        let stages = vec![
            Stage::prepare(u64::from(pairs(n)), resume),
            Stage::timer_ops(Measure::Mix, u64::from(n) * u64::from(self.laps), next_event),
        ];
        Script::phases(state, stages)
    }
}

/// Starts the timers of a pair that was opened some time ago and is between two requests.
fn resume(state: &mut State, step: u64, sink: &mut Sink) {
    let pair = step as u32;
    let open = state.random.between(1, state.messages.close);
    let until_request = state.random.between(1, state.messages.request);
    state.pairs.push(Pair { unsent: 0, closing: false });
    state.open(pair, open, until_request, sink);
}

fn next_event(state: &mut State, _: u64, sink: &mut Sink) {
    let Some((tick, (pair, event))) = state.events.pop() else { return };
    sink.advance(tick);
    match event {
        Event::Request => state.on_request(pair, sink),
        Event::Pace if state.pairs[pair as usize].unsent > 0 => state.send(pair, sink),
        Event::Pace => {}
        Event::Close => state.on_close(pair, sink),
    }
}

fn label(pair: u32, timer: u32) -> u32 {
    pair * TIMERS + timer
}

impl State {
    fn open(&mut self, pair: u32, close: u64, until_request: u64, sink: &mut Sink) {
        for (timer, delay) in [
            (CLIENT_IDLE, self.messages.idle),
            (SERVER_IDLE, self.messages.idle),
            (CLIENT_CLOSE, close),
            (SERVER_CLOSE, close),
            (REQUEST, until_request),
        ] {
            sink.insert_after(label(pair, timer), delay);
        }
        self.events.push(sink.now() + close, (pair, Event::Close));
        self.events.push(sink.now() + until_request, (pair, Event::Request));
    }

    /// The client asks, and the server sends the first message of its response at once.
    fn on_request(&mut self, pair: u32, sink: &mut Sink) {
        if self.pairs[pair as usize].closing {
            return;
        }
        sink.insert_after(label(pair, DEADLINE), self.messages.patience);
        self.pairs[pair as usize].unsent = self.messages.per_response;
        self.send(pair, sink);
        sink.reschedule_after(label(pair, DEADLINE), self.messages.patience / 2); // answered
    }

    /// Sends a message: it moves the idle timeouts of both ends and starts the pace timer.
    fn send(&mut self, pair: u32, sink: &mut Sink) {
        sink.reschedule_after(label(pair, SERVER_IDLE), self.messages.idle);
        sink.reschedule_after(label(pair, CLIENT_IDLE), self.messages.idle);
        self.pairs[pair as usize].unsent -= 1;
        sink.insert_after(label(pair, PACE), self.messages.pace);
        self.events.push(sink.now() + self.messages.pace, (pair, Event::Pace));
        if self.pairs[pair as usize].unsent == 0 {
            sink.cancel(label(pair, DEADLINE));
            sink.insert_after(label(pair, REQUEST), self.messages.request);
            self.events.push(sink.now() + self.messages.request, (pair, Event::Request));
        }
    }

    /// At the first close timer the pair stops sending requests. At the second it ends, and another
    /// pair replaces it.
    fn on_close(&mut self, pair: u32, sink: &mut Sink) {
        self.pairs[pair as usize].closing = !self.pairs[pair as usize].closing;
        if self.pairs[pair as usize].closing {
            for timer in [CLIENT_CLOSE, SERVER_CLOSE] {
                sink.insert_after(label(pair, timer), self.messages.linger);
            }
            self.events.push(sink.now() + self.messages.linger, (pair, Event::Close));
        } else {
            sink.cancel(label(pair, CLIENT_IDLE));
            sink.cancel(label(pair, SERVER_IDLE));
            let until_request = self.random.between(1, self.messages.request);
            self.open(pair, self.messages.close, until_request, sink);
        }
    }
}
