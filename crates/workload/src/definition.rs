//! What a workload is: data.

use crate::delay::Delay;
use crate::op::Phase;
use crate::patterns::connections::Tcp;
use crate::patterns::messages::Messages;
use crate::patterns::periodic::Period;
use crate::patterns::{self, Phases};
use crate::random::Random;
use wheelhouse_core::Tick;

/// The largest number of timers a stream is made for; more count as so many, and none as one.
pub const MAX_TIMERS: u32 = 1 << 28;

/// A named stream of operations: where it comes from, what it shows, and its parameters.
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
    /// Its number in the project's inventory of workloads, and who measured with it before.
    pub source: &'static str,
    /// What happens in it, what a tick stands for, and what it shows.
    pub story: &'static str,
    /// The mechanism and all its parameters.
    pub pattern: Pattern,
}

/// How the operations of a workload come about. Where a pattern has `laps`, it takes so many steps
/// for each timer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Pattern {
    /// Every operation by itself, on all timers in random order: insert, cancel, insert again,
    /// reschedule (four times), fire by one jump; insert again, fire tick by tick.
    ///
    /// Delays are uniform in 1..=`longest` whatever the number of timers, so that figures compare.
    /// The tick-by-tick run alone is as long as there are timers, rounded up to a power of two, and
    /// at least 1024 ticks, so that what it shows are expiries and not empty ticks; its delays are
    /// uniform over that length. At 1,000,000 timers both ranges are 2^20.
    Uniform {
        /// The longest delay.
        longest: Tick,
    },
    /// A constant number of timers. Each step cancels the timer of a random label and inserts it
    /// again, with a delay uniform in 1..=`longest`. A label whose timer has fired is cancelled in
    /// vain and inserted again.
    ///
    /// The clock moves after a whole number of steps. The longest delay is adapted to that number,
    /// so that the same share of timers fires at every `n`. With fewer steps within `longest` than
    /// it has ticks, the clock moves a tick a step and the delays are shorter.
    Steady {
        /// The longest delay.
        longest: Tick,
        /// Steps for a hundred timers while the clock moves by `longest`: with more of them fewer
        /// timers fire.
        churn: u32,
        /// Steps for each timer.
        laps: u32,
    },
    /// Take the earliest timer, insert it again after an increment. Timers due together are taken
    /// together. At first, each timer is somewhere within an increment: exponential ones are in
    /// equilibrium from the start, the others reach it on the way.
    Hold {
        /// From one expiry of a timer to its next.
        increment: Delay,
        /// Steps for each timer.
        laps: u32,
    },
    /// One timer is started and stopped at once, over and over, beside others that wait.
    StartStop {
        /// The i-th timer that waits is due at i modulo this.
        background: Tick,
        /// The delay of the one that is started and stopped.
        delay: Tick,
        /// Pairs of start and stop for each timer that waits.
        laps: u32,
        /// How far the clock moves in all, evenly, and at most a tick a pair.
        ticks: u32,
    },
    /// Requests arrive at random (a Poisson process), each with a timeout, and are answered after a
    /// while or not in time. At first `n` of them are under way, as they would be at any moment.
    Requests {
        /// Of every request.
        timeout: Tick,
        /// Until the answer.
        completion: Delay,
        /// The mean of the shorter of the two: it sets the rate at which `n` are under way.
        mean_wait: f64,
        /// Requests that arrive for each one that is under way.
        laps: u32,
    },
    /// Sessions with a time to live, counted from their last use. One that expires makes place for
    /// a new one.
    Refresh {
        /// The time to live; a session keeps its own.
        ttl: Delay,
        /// From use to use, in thousandths of the time to live. Where it is longer than that, the
        /// session expires.
        gap: Delay,
        /// How many uses in 1,000 are the last, whatever the gap.
        silent: u32,
        /// Uses and expiries for each session.
        laps: u32,
    },
    /// Sessions that are used by Zipf's law: the session of rank k is used in proportion to
    /// ln(1 + 1/k), which is nearly 1/k. Each use moves the session's timer to a time to live from
    /// then on, or starts it again if the session has expired.
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
        /// Their timers.
        tcp: Tcp,
        /// Events for each timer.
        laps: u32,
    },
    /// Pairs of a client and a server: a request, then a response of many paced messages.
    MessagePairs {
        /// Their timers.
        messages: Messages,
        /// Events for each timer.
        laps: u32,
    },
    /// All timers in one burst, all due at the same tick.
    Burst {
        /// Of every timer.
        delay: Tick,
        /// How many in 1,000 are cancelled before, evenly over the delay.
        cancelled: u32,
    },
    /// Every operation by itself, on timers that are all due at the same tick: insert all, start
    /// and stop one more, cancel all in random order, insert all again, fire by one jump.
    SameDeadline {
        /// Of every timer.
        delay: Tick,
    },
    /// Timers that are inserted again whenever they fire, one period after the deadline they had.
    Periodic {
        /// The i-th timer is of the kind i modulo their number.
        kinds: &'static [Period],
        /// Expiries for each timer.
        laps: u32,
    },
    /// Rounds with hardly a timer: one, alone; two within a long time; a long idleness; one due
    /// soon after.
    Sparse {
        /// The delay of the first.
        alone: Tick,
        /// Both of the second kind are due anywhere within this.
        pair_within: Tick,
        /// How long nothing is live.
        idle: Tick,
        /// The delay of the last.
        soon: Tick,
    },
    /// All deadlines are equal modulo a number, and lie in a few laps; the clock goes through them
    /// tick by tick.
    SameSlot {
        /// What they are.
        offset: Tick,
        /// Modulo what.
        modulus: Tick,
        /// In how many laps.
        laps: u32,
    },
    /// Each insertion is due before all that are there; then each timer, from the latest on, is
    /// moved before all others.
    Descending,
    /// All deadlines lie in one slot of a high level; the clock jumps to its edge and goes through
    /// it tick by tick.
    CascadeStorm {
        /// The first tick of the slot; above 0.
        start: Tick,
        /// Its width.
        width: Tick,
    },
    /// All timers are started and all cancelled, in random order, long before they are due; several
    /// times.
    CancelStorm {
        /// The shortest delay; the longest is twice that.
        far: Tick,
        /// What passes between the rounds.
        pause: Tick,
        /// How often.
        rounds: u32,
    },
}

impl Workload {
    /// How many labels the stream for `n` timers uses: what [`Player::new`](crate::Player::new) is
    /// to be given.
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

    /// The stream for about `n` live timers, from 1 to [`MAX_TIMERS`]. The same three, name, `n`
    /// and `seed`, give the same operations, bit for bit, on every machine.
    ///
    /// A phase is made when it is asked for, and holds 2^22 operations or a few more at most: a
    /// longer one comes as several, one after another, with the same measure. So the figure of a
    /// measure is the time of all its phases by the sum of their [`operations`](Phase::operations).
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
