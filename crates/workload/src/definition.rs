//! The definition of a workload, which is data.

use crate::delay::Delay;
use crate::op::Phase;
use crate::patterns::connections::Tcp;
use crate::patterns::messages::Messages;
use crate::patterns::periodic::Period;
use crate::patterns::{self, Phases};
use crate::random::Random;
use wheelhouse_core::Tick;

/// The largest number of timers of a stream. Larger numbers are reduced to it; 0 becomes 1.
pub const MAX_TIMERS: u32 = 1 << 28;

/// A named stream of operations: its source, what it shows, and its parameters.
///
/// ```
/// use wheelhouse_workload::{Measure, find_workload};
///
/// let steady = find_workload("steady").unwrap();
/// let measured = steady.phases(1000, 1).filter(|phase| phase.measure == Some(Measure::Steady));
/// assert_eq!(measured.map(|phase| phase.operations).sum::<u64>(), 4000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Workload {
    /// The name in tables, files and on the command line.
    pub name: &'static str,
    /// Its number in the project's inventory of workloads, and earlier measurements with it.
    pub source: &'static str,
    /// Its events, the length of a tick, and what it shows.
    pub story: &'static str,
    /// The mechanism and all its parameters.
    pub pattern: Pattern,
}

/// The mechanism that generates the operations of a workload. If a pattern has `laps`, it takes
/// that many steps for each timer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Pattern {
    /// Each operation separately, on all timers in random order: insert, cancel, insert again,
    /// reschedule (four times), fire in one jump; insert again, fire tick by tick.
    ///
    /// Delays are uniform in 1..=`longest` for any number of timers, so that figures are
    /// comparable. Only the tick-by-tick run depends on that number: its length is the number of
    /// timers, rounded up to a power of two, and at least 1024 ticks, so that it measures expiries
    /// and not empty ticks. Its delays are uniform over that length. With 1,000,000 timers both
    /// ranges are 2^20.
    Uniform {
        /// The longest delay.
        longest: Tick,
    },
    /// A constant number of timers. Each step cancels the timer of a random label and inserts it
    /// again, with a delay uniform in 1..=`longest`. If the timer of the label has fired, the
    /// cancellation has no effect, and the timer is inserted again.
    ///
    /// The clock moves after a whole number of steps. The longest delay is adapted to that number,
    /// so that the same share of timers fires for every `n`. If there are fewer steps within
    /// `longest` than ticks, the clock moves one tick per step and the delays are shorter.
    Steady {
        /// The longest delay.
        longest: Tick,
        /// Steps per hundred timers while the clock moves by `longest`: the more steps, the fewer
        /// timers fire.
        churn: u32,
        /// Steps for each timer.
        laps: u32,
    },
    /// Take the earliest timer and insert it again after an increment. Timers that are due together
    /// are taken together. At the start, each timer is at a random point of an increment. With
    /// exponential increments the stream is in equilibrium from the start; with others it reaches
    /// equilibrium later.
    Hold {
        /// The time from one expiry of a timer to the next.
        increment: Delay,
        /// Steps for each timer.
        laps: u32,
    },
    /// One timer is started and stopped at once, repeatedly, while others wait.
    StartStop {
        /// The i-th waiting timer is due at i modulo this.
        background: Tick,
        /// The delay of the timer that is started and stopped.
        delay: Tick,
        /// Pairs of start and stop for each waiting timer.
        laps: u32,
        /// The ticks that the clock moves in total, evenly, at most one per pair.
        ticks: u32,
    },
    /// Requests arrive at random (a Poisson process), each with a timeout. They are answered in
    /// time or too late. At the start `n` requests are in progress, as at any later time.
    Requests {
        /// The timeout of every request.
        timeout: Tick,
        /// The time until the answer.
        completion: Delay,
        /// The mean of the shorter of the two. It sets the rate of arrivals, so that `n` requests
        /// are in progress.
        mean_wait: f64,
        /// Requests that arrive for each one in progress.
        laps: u32,
    },
    /// Sessions with a time to live, counted from their last use. A new session replaces each one
    /// that expires.
    Refresh {
        /// The time to live, drawn once for each session.
        ttl: Delay,
        /// The time between two uses, in thousandths of the time to live. If it is longer than the
        /// time to live, the session expires.
        gap: Delay,
        /// How many uses in 1,000 are the last, independent of the gap.
        silent: u32,
        /// Uses and expiries for each session.
        laps: u32,
    },
    /// Sessions that are used by Zipf's law: the session of rank k is used in proportion to ln(1 +
    /// 1/k), which is nearly 1/k. Each use moves the session's timer to the time of the use plus
    /// the time to live, or starts it again if the session has expired.
    Popular {
        /// The time to live.
        ttl: Tick,
        /// Uses in a time to live, for each session on average.
        uses: u32,
        /// Uses for each session.
        laps: u32,
    },
    /// TCP connections with requests and answers.
    Connections {
        /// The timers of a connection.
        tcp: Tcp,
        /// Events for each timer.
        laps: u32,
    },
    /// Pairs of a client and a server: a request, then a response of many paced messages.
    MessagePairs {
        /// The timers of a pair.
        messages: Messages,
        /// Events for each timer.
        laps: u32,
    },
    /// All timers in one burst, all due at the same tick.
    Burst {
        /// The delay of every timer.
        delay: Tick,
        /// How many in 1,000 are cancelled before they are due, evenly over the delay.
        cancelled: u32,
    },
    /// Each operation separately, on timers that are all due at the same tick: insert all, start
    /// and stop one more, cancel all in random order, insert all again, fire in one jump.
    SameDeadline {
        /// The delay of every timer.
        delay: Tick,
    },
    /// Timers that are inserted again when they fire, one period after their deadline.
    Periodic {
        /// The i-th timer has kind i modulo the number of kinds.
        kinds: &'static [Period],
        /// Expiries for each timer.
        laps: u32,
    },
    /// Rounds with very few timers: a single one; two within a long time; a long idle time; one
    /// that is due soon.
    Sparse {
        /// The delay of the single timer.
        alone: Tick,
        /// The longest delay of the two timers.
        pair_within: Tick,
        /// The time without live timers.
        idle: Tick,
        /// The delay of the last timer.
        soon: Tick,
    },
    /// All deadlines are equal modulo a number, within a few laps. The clock passes them tick by
    /// tick.
    SameSlot {
        /// The remainder of every deadline.
        offset: Tick,
        /// The modulus.
        modulus: Tick,
        /// The number of laps.
        laps: u32,
    },
    /// Each inserted timer is due before all others. Then each timer, beginning with the latest, is
    /// moved before all others.
    Descending,
    /// All deadlines are in one slot of a high level. The clock jumps to the edge of the slot and
    /// passes it tick by tick.
    CascadeStorm {
        /// The first tick of the slot, above 0.
        start: Tick,
        /// The width of the slot.
        width: Tick,
    },
    /// All timers are started, then all are cancelled in random order, long before they are due.
    /// This is repeated.
    CancelStorm {
        /// The shortest delay; the longest is twice that.
        far: Tick,
        /// The time between the rounds.
        pause: Tick,
        /// The number of rounds.
        rounds: u32,
    },
}

impl Workload {
    /// How many labels the stream for `n` timers uses: the argument of
    /// [`Player::new`](crate::Player::new).
    pub fn labels(&self, n: u32) -> usize {
        let n = bounded(n);
        let labels = match self.pattern {
            Pattern::Requests { .. } => patterns::requests::labels(n),
            Pattern::Connections { .. } => patterns::connections::labels(n),
            Pattern::MessagePairs { .. } => patterns::messages::labels(n),
            Pattern::StartStop { .. } | Pattern::SameDeadline { .. } => u64::from(n) + 1,
            Pattern::Sparse { .. } => u64::from(patterns::sparse::LABELS),
            _ => u64::from(n),
        };
        labels as usize
    }

    /// The stream for about `n` live timers, from 1 to [`MAX_TIMERS`]. The name, `n` and `seed`
    /// determine the operations, bit for bit, on every machine.
    ///
    /// The iterator generates a phase when it is called. A phase has at most 2^22 operations or a
    /// few more; a longer one is split into several with the same measure, one after another. So
    /// the figure of a measure is the time of all its phases divided by the sum of their
    /// [`operations`](Phase::operations).
    ///
    /// ```
    /// use wheelhouse_workload::{Op, Phase, find_workload};
    ///
    /// let burst = find_workload("delay-queue-burst").unwrap();
    /// let ops: Vec<Op> = burst.phases(100, 1).flat_map(|Phase { ops, .. }| ops).collect();
    /// assert_eq!(ops[0], Op::Insert { label: 0, deadline: 1_800_000 });
    /// assert_eq!(ops.last(), Some(&Op::Advance { to: 1_800_000 }));
    /// ```
    pub fn phases(&self, n: u32, seed: u64) -> Box<dyn Iterator<Item = Phase>> {
        let n = bounded(n);
        self.pattern.phases(n, Random::new(self.name, n, seed))
    }
}

fn bounded(n: u32) -> u32 {
    n.clamp(1, MAX_TIMERS)
}

impl Pattern {
    fn phases(self, n: u32, random: Random) -> Phases {
        use crate::patterns::{
            adversarial, burst, connections, hold, messages, periodic, popular, refresh, requests,
            same_deadline, sparse, start_stop, steady, uniform,
        };
        match self {
            Self::Uniform { longest } => uniform::phases(longest, n, random),
            Self::Steady { longest, churn, laps } => {
                steady::phases(longest, churn, laps, n, random)
            }
            Self::Hold { increment, laps } => hold::phases(increment, laps, n, random),
            Self::StartStop { background, delay, laps, ticks } => {
                start_stop::phases(background, delay, laps, ticks, n)
            }
            Self::Requests { timeout, completion, mean_wait, laps } => {
                requests::phases(timeout, completion, mean_wait, laps, n, random)
            }
            Self::Refresh { ttl, gap, silent, laps } => {
                refresh::phases(ttl, gap, silent, laps, n, random)
            }
            Self::Popular { ttl, uses, laps } => popular::phases(ttl, uses, laps, n, random),
            Self::Connections { tcp, laps } => connections::phases(tcp, laps, n, random),
            Self::MessagePairs { messages, laps } => messages::phases(messages, laps, n, random),
            Self::Burst { delay, cancelled } => burst::phases(delay, cancelled, n, random),
            Self::SameDeadline { delay } => same_deadline::phases(delay, n, random),
            Self::Periodic { kinds, laps } => periodic::phases(kinds, laps, n, random),
            Self::Sparse { alone, pair_within, idle, soon } => {
                sparse::phases(alone, pair_within, idle, soon, n, random)
            }
            Self::SameSlot { offset, modulus, laps } => {
                adversarial::same_slot(offset, modulus, laps, n, random)
            }
            Self::Descending => adversarial::descending(n),
            Self::CascadeStorm { start, width } => {
                adversarial::cascade_storm(start, width, n, random)
            }
            Self::CancelStorm { far, pause, rounds } => {
                adversarial::cancel_storm(far, pause, rounds, n, random)
            }
        }
    }
}
