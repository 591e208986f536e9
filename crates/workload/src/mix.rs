//! A mix of operations in given shares.
//!
//! The catalogue has fixed workloads; a mix is chosen by the user: "of a hundred operations, 45
//! start a timer, 40 stop one, 10 move one, and 5 timers fire". The number of live timers is
//! constant, so each timer that is stopped or fires is started again at once. The share that fires
//! determines the speed of the clock: it stands still until a whole expiry is due by that share,
//! then moves to the next deadline.

use crate::queue::Queue;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use crate::{MAX_TIMERS, Measure, Phase};
use std::fmt;
use std::str::FromStr;
use wheelhouse_core::Tick;

/// The default range of delays, in ticks: a minute of milliseconds.
const DELAYS: (u32, u32) = (1, 60_000);

/// Steps for each timer.
const LAPS: u64 = 4;

/// Shares of operations with a constant number of live timers. They are also the name of the stream
/// and part of its seed: `stop:8,fire:1` and `stop:80,fire:10` have the same proportions but
/// different operations.
///
/// ```
/// use wheelhouse_workload::Mix;
///
/// let mix: Mix = "start:45,stop:40,move:10,fire:5".parse()?;
/// assert_eq!(mix.to_string(), "start:45,stop:40,move:10,fire:5");
/// assert!("start:45,stop:40,move:10,fire:15".parse::<Mix>().is_err()); // 45 starts, 55 ends
/// assert!("stop:9,fire:1,delay:30000".parse::<Mix>().is_ok()); // every delay is 30,000 ticks
/// assert!("stop:9,fire:1,delay:100-5000".parse::<Mix>().is_ok()); // between 100 and 5,000
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    /// Share of timers that are stopped before they are due.
    stop: u32,
    /// Share of timers that are moved, to later or earlier.
    moves: u32,
    /// Share of timers that fire.
    fire: u32,
    /// The least and the greatest delay.
    delays: (u32, u32),
}

impl Mix {
    /// The share of starts, which equals that of stops and expiries together.
    fn start(self) -> u32 {
        self.stop + self.fire
    }

    /// The stream for `n` live timers, like [`Workload::phases`](crate::Workload::phases); its
    /// labels are below `n`. The first phase is preparation.
    pub fn phases(self, n: u32, seed: u64) -> Box<dyn Iterator<Item = Phase>> {
        let n = n.clamp(1, MAX_TIMERS);
        let random = Random::new(&self.to_string(), n, seed);
        let state = State { random, mix: self, n, owed: 0, events: Queue::new(), due: Vec::new() };
        let count = u64::from(n);
        let stages =
            vec![Stage::prepare(count, insert), Stage::timer_ops(Measure::Mix, count * LAPS, step)];
        Script::phases(state, stages)
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stop, moves, fire, delays } = self;
        write!(f, "start:{},stop:{stop},move:{moves},fire:{fire}", self.start())?;
        match delays {
            it if *it == DELAYS => Ok(()),
            (from, to) if from == to => write!(f, ",delay:{from}"),
            (from, to) => write!(f, ",delay:{from}-{to}"),
        }
    }
}

impl FromStr for Mix {
    type Err = String;

    /// Reads shares as in `start:45,stop:40,move:10,fire:5`, in any order. A share that is left out
    /// is 0, except `start`, which follows from the others. `delay:30000` gives all timers that
    /// delay in ticks; `delay:1-60000`, the default, is a range.
    ///
    /// # Errors
    ///
    /// If a name is unknown or occurs twice, a share is not a number below 10,000, all shares are
    /// 0, `start` is not the sum of `stop` and `fire`, or a delay is 0 or not a range. The message
    /// says what to write.
    fn from_str(text: &str) -> Result<Self, String> {
        const NAMES: [&str; 4] = ["start", "stop", "move", "fire"];
        let (mut shares, mut delays) = ([None; 4], None);
        let twice = |name: &str| Err(format!("{} occurs twice; keep one", name.trim()));
        for part in text.split(',') {
            let (name, share) = part.split_once(':').ok_or_else(|| wrong(part))?;
            if name.trim() == "delay" {
                if delays.replace(range(share)?).is_some() {
                    return twice(name);
                }
                continue;
            }
            let at = NAMES.iter().position(|known| *known == name.trim());
            let place = &mut shares[at.ok_or_else(|| wrong(part))?];
            let share = share.trim().parse().ok().filter(|share| *share < 10_000);
            if place.replace(share.ok_or_else(|| wrong(part))?).is_some() {
                return twice(name);
            }
        }
        let [start, stop, moves, fire] = shares;
        let [stop, moves, fire] = [stop, moves, fire].map(Option::unwrap_or_default);
        let mix = Self { stop, moves, fire, delays: delays.unwrap_or(DELAYS) };
        if stop + moves + fire == 0 {
            return Err("nothing happens in this mix; write start:45,stop:40,move:10,fire:5".into());
        }
        if start.is_some_and(|start| start != mix.start()) {
            return Err(format!(
                "the number of timers is constant, so `start` is the sum of `stop` and `fire`: \
                 write start:{}, or leave it out",
                mix.start()
            ));
        }
        Ok(mix)
    }
}

fn wrong(part: &str) -> String {
    format!("`{part}` is not a share of a mix; write start:45,stop:40,move:10,fire:5")
}

/// Reads a delay, or the least and the greatest delay.
fn range(text: &str) -> Result<(u32, u32), String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let [from, to] = [from, to].map(|ticks| ticks.trim().parse().unwrap_or(0));
    let is_range = 0 < from && from <= to;
    let wrong = || format!("`{text}` is not a delay; write delay:30000 or delay:1-60000, in ticks");
    is_range.then_some((from, to)).ok_or_else(wrong)
}

struct State {
    random: Random,
    mix: Mix,
    n: u32,
    /// Expiries that the share of `fire` demands and that have not happened, in units of 1 /
    /// (`stop` + `move` + `fire`), so that it is an integer.
    owed: i64,
    /// Deadlines, including stale ones of timers that were stopped or moved since.
    events: Queue<u32>,
    /// The deadline of the timer of each label.
    due: Vec<Tick>,
}

fn insert(state: &mut State, step: u64, sink: &mut Sink) {
    state.due.push(0);
    let label = step as u32;
    let deadline = state.draw_deadline(label, sink.now());
    sink.insert(label, deadline);
}

/// Stops or moves a timer, then fires the timers that are owed.
fn step(state: &mut State, _: u64, sink: &mut Sink) {
    let Mix { stop, moves, fire, .. } = state.mix;
    let all = stop + moves + fire;
    state.owed += i64::from(fire);
    let drawn = state.random.below(u64::from(all)) as u32;
    let label = state.random.below(u64::from(state.n)) as u32;
    if drawn < stop {
        sink.cancel(label);
        let deadline = state.draw_deadline(label, sink.now());
        sink.insert(label, deadline);
    } else if drawn < stop + moves {
        let deadline = state.draw_deadline(label, sink.now());
        sink.reschedule(label, deadline);
    }
    while state.owed >= i64::from(all) {
        state.owed -= i64::from(all) * state.fire_next(sink);
    }
}

impl State {
    fn draw_deadline(&mut self, label: u32, now: Tick) -> Tick {
        let (from, to) = self.mix.delays;
        let deadline = now + self.random.between(from.into(), to.into());
        self.due[label as usize] = deadline;
        self.events.push(deadline, label);
        deadline
    }

    /// Moves the clock to the next deadline and restarts the timers that fire there. Returns their
    /// number.
    fn fire_next(&mut self, sink: &mut Sink) -> i64 {
        let mut fired = 0;
        while let Some((tick, label)) = self.events.pop_due(match fired {
            0 => Tick::MAX,
            _ => sink.now(),
        }) {
            if self.due[label as usize] != tick {
                continue;
            }
            sink.advance(tick);
            // Cleared, so that a second event at the same tick is ignored: a timer that was moved
            // away and back has two.
            self.due[label as usize] = 0;
            fired += 1;
            let deadline = self.draw_deadline(label, tick);
            sink.insert(label, deadline);
        }
        fired
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;

    #[test]
    fn shares_are_read_in_any_order_and_checked_for_consistency() {
        let mix = |text: &str| text.parse::<Mix>();
        let asked = Mix { stop: 40, moves: 10, fire: 5, delays: DELAYS };
        for text in ["start:45,stop:40,move:10,fire:5", "fire:5, move:10, stop:40"] {
            assert_eq!(mix(text), Ok(asked), "{text}");
        }
        for text in ["", "stop", "stop:x", "halt:4", "stop:1,stop:2", "stop:0", "stop:4294967295"] {
            assert!(mix(text).is_err(), "{text}");
        }
        assert!(mix("start:1,stop:40").unwrap_err().contains("start:40"));
    }

    #[test]
    fn delays_are_read_and_are_part_of_the_name() {
        for text in
            ["start:10,stop:9,move:0,fire:1,delay:7", "start:10,stop:9,move:0,fire:1,delay:7-9"]
        {
            assert_eq!(text.parse::<Mix>().unwrap().to_string(), text);
        }
        let usual: Mix = "stop:9,fire:1,delay:1-60000".parse().unwrap();
        assert_eq!(usual.to_string(), "start:10,stop:9,move:0,fire:1");
        for text in ["delay:0", "delay:", "delay:9-7", "delay:1-x", "delay:1,delay:1"] {
            assert!(format!("stop:9,fire:1,{text}").parse::<Mix>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_deadline_is_within_the_delays() {
        let mix: Mix = "stop:4,move:2,fire:1,delay:30-40".parse().unwrap();
        let mut now = 0;
        for op in mix.phases(100, 1).flat_map(|phase| phase.ops) {
            match op {
                Op::Insert { deadline, .. } | Op::Reschedule { deadline, .. } => {
                    assert!((now + 30..=now + 40).contains(&deadline), "{deadline} at {now}");
                }
                Op::Advance { to } => now = to,
                _ => {}
            }
        }
        assert!(now > 0);
    }
}
