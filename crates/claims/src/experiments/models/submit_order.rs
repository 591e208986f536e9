//! Messages through three channels, served by a choice at random where several are ready: whose order is kept?
//!
//! Four callers add and remove, a ticker ticks; each kind of message has a first-in-first-out channel, as in S0. On an unbuffered channel a caller waits until its
//! message is taken; on a buffered one it goes on at once.

use super::checks::Checks;
use crate::count::random;
use crate::experiment::Experiment;
use crate::{Evidence, Scale, Table};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::collections::VecDeque;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "submit-order",
    about: "model of S0's select over three channels, unbuffered and buffered: 100,000 messages of four callers and a ticker; those that are overtaken, by channel, caller and in all",
    run,
};

const MESSAGES: u64 = 100_000;
const CALLERS: usize = 4;
/// Add and remove, and the ticker's.
const CHANNELS: usize = 3;
const TICKS: usize = 2;

/// A message, numbered in the order of sending.
#[derive(Clone, Copy, Debug)]
struct Message {
    number: u64,
    caller: usize,
    channel: usize,
}

/// Messages that were served after one that was sent later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Overtaken {
    served: u64,
    /// By one of the same channel, of any channel, of the same caller.
    in_channel: u64,
    in_all: u64,
    of_caller: u64,
}

/// The latest message served, by channel, by caller and of all.
#[derive(Default)]
struct Latest {
    of_channel: [u64; CHANNELS],
    of_caller: [u64; CALLERS + 1],
    of_all: u64,
}

impl Overtaken {
    fn serve(&mut self, message: Message, latest: &mut Latest) {
        let Message { number, caller, channel } = message;
        let overtaken = |latest: &mut u64| {
            let overtaken = number < *latest;
            *latest = number.max(*latest);
            u64::from(overtaken)
        };
        self.served += 1;
        self.in_channel += overtaken(&mut latest.of_channel[channel]);
        self.of_caller += overtaken(&mut latest.of_caller[caller]);
        self.in_all += overtaken(&mut latest.of_all);
    }
}

/// Sends and serves all messages. Each turn sends none, one or two, and serves one, so that the channels are now empty and now full.
fn select(buffered: bool, mut random: Pcg64Mcg) -> Overtaken {
    let mut channels: [VecDeque<Message>; CHANNELS] = Default::default();
    let (mut overtaken, mut latest) = (Overtaken::default(), Latest::default());
    let mut number = 0;
    while overtaken.served < MESSAGES {
        for _ in 0..random.random_range(0..=2) {
            // The ticker is the last of the callers; its channel holds one tick, and drops those that find it full.
            let caller = random.random_range(0..=CALLERS);
            let has_to_wait = caller == CALLERS || !buffered;
            let waits =
                has_to_wait && channels.iter().flatten().any(|message| message.caller == caller);
            if number < MESSAGES && !waits {
                let channel = if caller == CALLERS { TICKS } else { random.random_range(0..TICKS) };
                number += 1;
                channels[channel].push_back(Message { number, caller, channel });
            }
        }
        let ready: Vec<usize> =
            (0..CHANNELS).filter(|channel| !channels[*channel].is_empty()).collect();
        if ready.is_empty() {
            continue;
        }
        let chosen = ready[random.random_range(0..ready.len())];
        if let Some(message) = channels[chosen].pop_front() {
            overtaken.serve(message, &mut latest);
        }
    }
    overtaken
}

fn run(scale: &Scale) -> Evidence {
    let mut table = Table::new(
        "Messages served after one that was sent later, of 100,000; sums over the seeds",
        ["channels", "messages", "of the same channel", "of any channel", "of the same caller"],
    );
    let [unbuffered, buffered] = [false, true].map(|buffered| {
        let each = scale.seeds().map(|seed| select(buffered, random(seed)));
        let sum = each.fold(Overtaken::default(), |sum, of| Overtaken {
            served: sum.served + of.served,
            in_channel: sum.in_channel + of.in_channel,
            in_all: sum.in_all + of.in_all,
            of_caller: sum.of_caller + of.of_caller,
        });
        let counts =
            [sum.served, sum.in_channel, sum.in_all, sum.of_caller].map(|count| count.to_string());
        table.row(
            std::iter::once(if buffered { "buffered" } else { "unbuffered" }.to_owned())
                .chain(counts),
        );
        sum
    });
    let mut checks = Checks::new("Overtaken messages");
    checks.is("within a channel, unbuffered", 0, unbuffered.in_channel);
    checks.is("within a channel, buffered", 0, buffered.in_channel);
    checks.is("of one caller that waits for each hand-over", 0, unbuffered.of_caller);
    checks.is("of one caller that does not wait", 0, buffered.of_caller);
    checks.is("across channels, unbuffered as S0 has them", 0, unbuffered.in_all);
    let share = 100.0 * unbuffered.in_all as f64 / unbuffered.served as f64;
    let figure = format!("none overtaken within a channel, {share:.1} % across the three");
    let (finding, detail) = checks.into_parts("C10", figure);
    Evidence { findings: vec![finding], tables: vec![table, detail], charts: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_served_after_a_later_one_is_overtaken() {
        let (mut overtaken, mut latest) = (Overtaken::default(), Latest::default());
        for (number, caller, channel) in [(1, 0, 0), (3, 1, 1), (2, 1, 0), (4, 0, 0)] {
            overtaken.serve(Message { number, caller, channel }, &mut latest);
        }
        assert_eq!(overtaken, Overtaken { served: 4, in_channel: 0, in_all: 1, of_caller: 1 });
    }
}
