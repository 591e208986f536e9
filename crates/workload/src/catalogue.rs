//! The workloads: names, sources, stories and parameters. These determine a stream completely.

use crate::Workload;
use crate::patterns::adversarial::{CancelStorm, CascadeStorm, Descending, SameSlot};
use crate::patterns::burst::{Burst, SameDeadline};
use crate::patterns::connections::Tcp;
use crate::patterns::messages::Messages;
use crate::patterns::requests::Requests;
use crate::patterns::restarted::{Hold, Period, Periodic};
use crate::patterns::sessions::{Popular, Refresh};
use crate::patterns::sparse::Sparse;
use crate::patterns::steady::{StartStop, Steady};
use crate::patterns::uniform::Uniform;
use crate::random::Delay;

/// The mean of the increments of the hold model, for each distribution.
const HOLD_MEAN: u64 = 1 << 16;

const fn steady(churn: u32) -> Steady {
    Steady { longest: 1 << 16, churn, laps: 4 }
}

const fn hold(increment: Delay) -> Hold {
    Hold { increment, laps: 2 }
}

/// Eight delays with a share of 99 %, and 32 others: from 2 s up, each a third longer than the
/// previous one. Shares of 32,000.
const FEW_DELAYS: &[(u32, Delay)] = &{
    const USUAL: [(u32, u64); 8] = [
        (9_600, 30_000),
        (6_400, 60_000),
        (4_800, 5_000),
        (3_840, 10_000),
        (2_560, 75_000),
        (1_920, 1_000),
        (1_600, 300_000),
        (960, 15_000),
    ];
    let mut parts = [(10, Delay::Constant(0)); 40];
    let (mut at, mut other) = (0, 2_000);
    while at < parts.len() {
        if at < USUAL.len() {
            parts[at] = (USUAL[at].0, Delay::Constant(USUAL[at].1));
        } else {
            parts[at].1 = Delay::Constant(other);
            other += other / 3;
        }
        at += 1;
    }
    parts
};

pub(crate) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "uniform",
        source: "the columns of timer-wheel benchmarks; Varghese and Lauck 1987 for the operations",
        story: "Each operation separately, on all timers, in random order: insert into fresh \
                memory, cancel, insert into used memory, reschedule, fire in one jump, fire tick \
                by tick. Delays are uniform in 1..=2^20 ticks. It shows the cost of an operation \
                when its timer is not in the caches.",
        pattern: &Uniform { longest: Some(1 << 20) },
    },
    Workload {
        name: "steady",
        source: "the churn of a server at constant load; Larkin, Sen and Tarjan 2014 for why \
                 measuring single operations misleads",
        story: "A constant number of timers. Each step cancels a random one and starts another, \
                with delays uniform in 1..=2^16, while the clock moves. It shows the cost of work \
                that lazy cancellation defers, and how a structure ages when its memory is freed \
                and reused in random order.",
        pattern: &steady(400),
    },
    Workload {
        name: "steady-6",
        source: "the same, if nearly all timers are cancelled",
        story: "The steady workload with four times as many steps before a timer is due: one timer \
                in sixteen fires.",
        pattern: &steady(1_600),
    },
    Workload {
        name: "steady-50",
        source: "the same, if half of the timers fire",
        story: "The steady workload with fewer steps before a timer is due: half of the timers \
                fire.",
        pattern: &steady(159),
    },
    Workload {
        name: "steady-90",
        source: "the same, if few timers are cancelled",
        story: "The steady workload with very few steps before a timer is due: nine timers in ten \
                fire.",
        pattern: &steady(21),
    },
    Workload {
        name: "hold-exponential",
        source: "W9; Jones 1986, Rönngren and Ayani 1997",
        story: "The hold model of discrete-event simulation: take the earliest timer, insert it \
                again later. Exponential increments with a mean of 2^16 are the standard case, and \
                the easiest for every structure.",
        pattern: &hold(Delay::Exponential { mean: HOLD_MEAN as f64 }),
    },
    Workload {
        name: "hold-uniform",
        source: "W9; Jones 1986",
        story: "The hold model with increments uniform up to twice their mean of 2^16. Insertions \
                are further from the front than with exponential increments.",
        pattern: &hold(Delay::Uniform { least: 1, most: 2 * HOLD_MEAN - 1 }),
    },
    Workload {
        name: "hold-constant",
        source: "W9; Jones 1986",
        story: "The hold model with every increment 2^16, as with equal timeouts: each insertion \
                is the latest of all. The best case for insertion into a heap and into a list \
                searched from its rear, the worst for a list searched from the front.",
        pattern: &hold(Delay::Constant(HOLD_MEAN)),
    },
    Workload {
        name: "hold-bimodal",
        source: "W9; Jones 1986 for the shape, with our parameters",
        story: "The hold model: of ten increments, nine are short (up to a fifth of the mean) and \
                one is long (about nine times the mean). The mean is 2^16. The timers form two \
                groups, and structures that adapt to a sample misjudge them.",
        pattern: &hold(Delay::Mixture(&[
            (900, Delay::Uniform { least: 1, most: 13_107 }),
            (100, Delay::Uniform { least: 589_824, most: 602_931 }),
        ])),
    },
    Workload {
        name: "hold-pareto",
        source: "W9; Tang, Goh and Thng 2005 (ladder queue)",
        story: "The hold model with Pareto increments of shape 1.5 and mean 2^16, cut at 2^32. \
                Without the cut the variance would be infinite. A wheel uses all of its levels, \
                and a calendar queue finds no good width for its days.",
        pattern: &hold(Delay::Pareto { shape: 1.5, least: HOLD_MEAN as f64 / 3.0, most: 1 << 32 }),
    },
    Workload {
        name: "kafka-low",
        source: "W1; Confluent 2015, \"Apache Kafka, Purgatory, and Hierarchical Timing Wheels\"",
        story: "Requests waiting in Kafka's purgatory with a timeout of 200 ms each. Half are \
                answered within 20 ms, three quarters within 60. A tick is 1 ms. 92 in 100 are \
                cancelled, most of them soon: nearly all operations are insertions and \
                cancellations.",
        pattern: &Requests {
            timeout: 200,
            completion: Delay::LogNormal { median: 20.0, upper_quartile: 60.0, most: 1 << 20 },
            mean_wait: 47.3,
            laps: 2,
        },
    },
    Workload {
        name: "kafka-high",
        source: "W2; Confluent 2015, \"Apache Kafka, Purgatory, and Hierarchical Timing Wheels\"",
        story: "The same purgatory with slow answers: half within 200 ms, three quarters within \
                400. So half of the timeouts of 200 ms fire. A tick is 1 ms.",
        pattern: &Requests {
            timeout: 200,
            completion: Delay::LogNormal { median: 200.0, upper_quartile: 400.0, most: 1 << 20 },
            mean_wait: 152.0,
            laps: 2,
        },
    },
    Workload {
        name: "start-stop",
        source: "W3; RussellLuo/timingwheel, BenchmarkTimingWheel_StartStop",
        story: "A timer of 1 s is started and stopped at once, repeatedly, while other timers wait \
                that are due within 10 s. A tick is 1 ms. This is the benchmark of the Go wheels: \
                it measures the pair with everything in the caches. Here the clock also moves by a \
                second in total, so a tenth of the waiting timers fire if there are 10,000 or \
                more.",
        pattern: &StartStop { background: 10_000, delay: 1000, laps: 2, ticks: 1000 },
    },
    Workload {
        name: "message-pairs",
        source: "W4; Snellman 2016, Ratas, test_benchmark.cc",
        story: "Clients ask servers once a second for 128 messages, 200 us apart. A tick is 20 us. \
                Every message moves two idle timeouts of 60 s, which therefore never fire, and \
                starts a pace timer, which always fires. The deadline of a response is moved once \
                and then cancelled. A pair closes after 180 s. Short and long timers are mixed, \
                and all timers of a kind end in the same way.",
        pattern: &Messages {
            idle: 3_000_000,
            close: 9_000_000,
            linger: 500_000,
            pace: 10,
            request: 50_000,
            patience: 5120,
            per_response: 128,
            laps: 2,
        },
    },
    Workload {
        name: "tcp",
        source: "W5; Linux include/net/tcp.h for the times; Varghese and Lauck 1987 for timers per \
                 connection",
        story: "The sockets of a server. A tick is 1 ms. The retransmission timer of 200 ms is \
                started again with each acknowledgement, and one in 200 fires. Acknowledgements \
                are delayed by up to 40 ms. TIME_WAIT of 60 s always fires; keepalive of two hours \
                rarely does.",
        pattern: &Tcp {
            retransmission: 200,
            delayed_ack: 40,
            time_wait: 60_000,
            keepalive: 7_200_000,
            segments: 4,
            lost: 5,
            closed: 50,
            think: Delay::Exponential { mean: 3000.0 },
            service: Delay::LogNormal { median: 8.0, upper_quartile: 25.0, most: 10_000 },
            round_trip: Delay::Uniform { least: 10, most: 100 },
            laps: 6,
        },
    },
    Workload {
        name: "keepalive",
        source: "W6; TFdream/blog, issue 318: 100,000 connections, 30 s, some 3,000 resets a \
                 second",
        story: "Connections that are closed after 30 s of silence and send a heartbeat every 27 to \
                30 s. A tick is 1 ms. Nearly all operations are reschedules of a timer that is \
                about to fire. One connection in a hundred falls silent, and another replaces it.",
        pattern: &Refresh {
            ttl: Delay::Constant(30_000),
            gap: Delay::Uniform { least: 900, most: 999 },
            silent: 10,
            laps: 4,
        },
    },
    Workload {
        name: "session-ttl",
        source: "W7; alex023/clock: sessions by the million, \"very simple\"",
        story: "Sessions that live as long as they are used. A tick is 1 ms. One in ten lives for \
                seconds, eight for two hours, one for days or weeks. Each is used three times in \
                that span on average, at random times: one wait in twenty is too long, and the \
                session expires. There are deadlines on all scales, and those of the shortest \
                sessions are moved most often.",
        pattern: &Refresh {
            ttl: Delay::Mixture(&[
                (100, Delay::Uniform { least: 2000, most: 10_000 }),
                (800, Delay::Constant(7_200_000)),
                (100, Delay::Uniform { least: 86_400_000, most: 2_419_200_000 }),
            ]),
            gap: Delay::Exponential { mean: 333.0 },
            silent: 0,
            laps: 4,
        },
    },
    Workload {
        name: "often-moved",
        source: "nginx and redis, recorded: 97 to 99 % of their moves are to a later deadline",
        story: "Connections that time out after 30 s of silence and are used ten times in that \
                span, at random times. A tick is 1 ms. Nearly all operations are moves to a later \
                deadline, most of them of timers that are far from due.",
        pattern: &Refresh {
            ttl: Delay::Constant(30_000),
            gap: Delay::Exponential { mean: 100.0 },
            silent: 10,
            laps: 4,
        },
    },
    Workload {
        name: "popular-sessions",
        source: "Zipf's law, the distribution of visits to web pages and of keys in caches; \
                 Breslau et al. 1999",
        story: "Sessions that expire after 30 s of silence. A tick is 1 ms. Each is used ten times \
                in that span on average, but by Zipf's law: a few are used very often, and half of \
                the least used expire between two uses. Most timers that are moved are in the \
                caches.",
        pattern: &Popular { ttl: 30_000, uses: 10, laps: 4 },
    },
    Workload {
        name: "mostly-answered",
        source: "clients of servers: an answer within a second, a timeout of half a minute",
        story: "Requests with a timeout of 30 s each. They are answered after half a second on \
                average, except one in a hundred, which is never answered. A tick is 1 ms. Every \
                timer has the same delay, and nearly all are cancelled soon: the best case for a \
                queue of equal delays.",
        pattern: &Requests {
            timeout: 30_000,
            completion: Delay::Mixture(&[
                (990, Delay::Exponential { mean: 500.0 }),
                (10, Delay::Constant(60_000)),
            ]),
            mean_wait: 795.0,
            laps: 4,
        },
    },
    Workload {
        name: "few-delays",
        source: "the timers of a Linux kernel under nginx and redis, recorded: some 40 different \
                 delays, of which eight make up nearly all",
        story: "Timeouts of 40 different lengths, from a second to hours; eight of them make up 99 \
                %. Each is moved three times in its span on average. A tick is 1 ms. It shows the \
                gain of structures that keep equal delays together.",
        pattern: &Refresh {
            ttl: Delay::Mixture(FEW_DELAYS),
            gap: Delay::Exponential { mean: 333.0 },
            silent: 0,
            laps: 4,
        },
    },
    Workload {
        name: "delay-queue-burst",
        source: "W8; the order audit of the Kafka articles: a million orders, each checked after \
                 half an hour",
        story: "All timers in one burst, all due 30 minutes later at the same tick; four in a \
                hundred are cancelled before. A tick is 1 ms. With equal deadlines insertion is \
                cheap for most structures, the order of insertion decides the order of expiry, and \
                one tick fires nearly everything.",
        pattern: &Burst { delay: 1_800_000, cancelled: 40 },
    },
    Workload {
        name: "same-deadline",
        source: "the articles' order audit; RussellLuo/timingwheel, BenchmarkTimingWheel_StartStop",
        story: "The same burst, with each operation measured separately. All timers are started, \
                due 30 minutes later at the same tick. One more is started and stopped repeatedly. \
                All are stopped in random order, started again, and fire at once. A tick is 1 ms. \
                In this case, the articles claim, a wheel is faster than Go's heap.",
        pattern: &SameDeadline { delay: 1_800_000 },
    },
    Workload {
        name: "periodic",
        source: "W10; xtimingwheel's periodic tasks",
        story: "Timers that restart when they fire: a quarter with periods of 1 to 300 ms in \
                aligned phases, a quarter with such periods in random phases, a quarter every 256 \
                and a quarter every 512 ticks. A tick is 1 ms. The last two fall into the slot \
                that a wheel of that size is just scanning.",
        pattern: &Periodic {
            kinds: &[
                Period { period: Delay::Uniform { least: 1, most: 300 }, aligned: true },
                Period { period: Delay::Uniform { least: 1, most: 300 }, aligned: false },
                Period { period: Delay::Constant(256), aligned: false },
                Period { period: Delay::Constant(512), aligned: true },
            ],
            laps: 4,
        },
    },
    Workload {
        name: "sparse",
        source: "W11; the articles' 350 s timer and 720-hour month wheel; RussellLuo/timingwheel's \
                 idle clock",
        story: "Very few timers: one in 350 s; two within a month of 720 hours; an idle hour, then \
                one due in 5 ms. A tick is 1 ms. The number of timers counts the insertions; at \
                most two are live. It shows what a structure does while nothing happens.",
        pattern: &Sparse { alone: 350_000, pair_within: 2_592_000_000, idle: 3_600_000, soon: 5 },
    },
    Workload {
        name: "same-slot",
        source: "W12; Varghese and Lauck 1987, on hashing all timers into one bucket",
        story: "Every deadline is 17 modulo 4096, in sixteen laps. A wheel of up to 4096 slots has \
                all timers in one slot, and a wheel that counts rounds visits all of them in every \
                lap.",
        pattern: &SameSlot { offset: 17, modulus: 4096, laps: 16 },
    },
    Workload {
        name: "descending",
        source: "W12; worst case of a heap's insertion",
        story: "Each inserted timer is due before all others. Then each timer, beginning with the \
                latest, is moved before all others: in a heap, each goes all the way up. Then all \
                fire.",
        pattern: &Descending,
    },
    Workload {
        name: "cascade-storm",
        source: "W12; the cascade of hierarchical wheels, Linux Documentation/timers/hrtimers.rst",
        story: "All deadlines are within 2^16 ticks from 2^24 on: one slot of the fourth level of \
                eight bits. The clock jumps to its edge; at the next tick a wheel that cascades \
                whole slots moves every timer at once. Look at the longest single tick.",
        pattern: &CascadeStorm { start: 1 << 24, width: 1 << 16 },
    },
    Workload {
        name: "cancel-storm",
        source: "W12; netty #2541, JDK-4092905: memory that cancelled timers keep",
        story: "All timers are started, 30 to 60 days ahead, and all are cancelled before any is \
                due; this is repeated three times, a second apart. A tick is 1 ms. A structure \
                that only marks cancelled timers keeps their memory for a month unless it cleans \
                up.",
        pattern: &CancelStorm { far: 2_592_000_000, pause: 1000, rounds: 3 },
    },
];

/// The workload `uniform` with delays of about one tick per timer: uniform up to the number of
/// timers, rounded up to a power of two. It is not one of [`workloads`](crate::workloads).
pub const UNIFORM_DENSE: Workload = Workload {
    name: "uniform-dense",
    source: "the costs of a wheel depend on the span of delays",
    story: "The uniform workload with delays up to the number of timers.",
    pattern: &Uniform { longest: None },
};
