//! The part of a stream that a program can play.

use wheelhouse_core::{Expired, Tick, Timer, TimerId};
use wheelhouse_oracle::Oracle;
use wheelhouse_workload::{Measure, Op, Phase};

/// The clock of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// A clock of the program, which moves as the stream says. The program does not report its next
    /// wake-up.
    Virtual,
    /// The system's clock. An hour is added to every delay, so that no timer is due while the
    /// program runs. The only expiry that can be played is one call that fires all live timers.
    Real,
}

/// The part of a stream that a program can play. It has as many phases as the stream.
#[derive(Debug, Default)]
pub struct Part {
    /// The phases. A phase that cannot be played is replaced by operations that leave the same
    /// timers live: each timer that would fire is cancelled.
    pub phases: Vec<Phase>,
    /// For each phase, `true` if its operations are those of the stream, so that its time counts.
    pub is_own: Vec<bool>,
}

/// The part of the stream `phases` that a program with this clock can play. Labels are below
/// `labels`.
pub fn part_of(phases: &[Phase], labels: usize, clock: Clock) -> Part {
    let mut follower = Follower { oracle: Oracle::new(), ids: vec![None; labels] };
    let mut part = Part::default();
    for phase in phases {
        let (ops, is_playable) = match clock {
            Clock::Virtual => follower.with_clock(phase),
            Clock::Real => follower.without_clock(phase),
        };
        part.phases.push(Phase { ops, ..*phase });
        // A program that plays a stream again already has its memory.
        let is_cold = phase.measure == Some(Measure::InsertCold);
        part.is_own.push(is_playable && !is_cold);
    }
    part
}

/// Plays a stream on the oracle to find the timers that fire.
struct Follower {
    /// A timer's value is its label.
    oracle: Oracle<u32>,
    ids: Vec<Option<TimerId>>,
}

impl Follower {
    /// The operations of a phase for a program whose clock can be moved; `true` if they are those
    /// of the phase.
    fn with_clock(&mut self, phase: &Phase) -> (Vec<Op>, bool) {
        let is_playable = !phase.ops.iter().any(|op| matches!(op, Op::Wake | Op::Pop { .. }));
        let (mut replaced, _) = self.replace(phase);
        if is_playable {
            return (phase.ops.clone(), true);
        }
        replaced.push(Op::Advance { to: self.oracle.now() });
        (replaced, false)
    }

    /// The operations of a phase for a program on real time; `true` if they are those of the phase.
    fn without_clock(&mut self, phase: &Phase) -> (Vec<Op>, bool) {
        let is_one_call = matches!(phase.ops.as_slice(), [Op::Advance { .. }]);
        let (replaced, fired) = self.replace(phase);
        if fired > 0 && is_one_call && self.oracle.is_empty() {
            return (phase.ops.clone(), true);
        }
        (replaced, fired == 0)
    }

    /// The operations of a phase without movements of the clock, and with a cancellation for each
    /// timer that fires; and the number of these.
    fn replace(&mut self, phase: &Phase) -> (Vec<Op>, u64) {
        let (mut ops, mut count) = (Vec::with_capacity(phase.ops.len()), 0);
        for &op in &phase.ops {
            let fired = self.apply(op);
            if matches!(op, Op::Insert { .. } | Op::Cancel { .. } | Op::Reschedule { .. }) {
                ops.push(op);
            }
            count += fired.len() as u64;
            ops.extend(fired.into_iter().map(|label| Op::Cancel { label }));
        }
        (ops, count)
    }

    /// Plays an operation and returns the labels that fire.
    fn apply(&mut self, op: Op) -> Vec<u32> {
        match op {
            Op::Insert { label, deadline } => {
                self.ids[label as usize] = Some(self.oracle.insert(deadline, label));
            }
            Op::Cancel { label } => {
                if let Some(id) = self.ids[label as usize].take() {
                    self.oracle.cancel(id);
                }
            }
            Op::Reschedule { label, deadline } => {
                if let Some(id) = self.ids[label as usize] {
                    self.oracle.reschedule(id, deadline);
                }
            }
            Op::Advance { to } | Op::Ticks { to, .. } => return self.advance(to),
            Op::Pop { to } => {
                return self.oracle.pop_expired(to).into_iter().map(|it| it.value).collect();
            }
            Op::Wake => {
                // The oracle's wake-ups are exact.
                return self.oracle.next_wakeup().map_or_else(Vec::new, |to| self.advance(to));
            }
        }
        Vec::new()
    }

    fn advance(&mut self, to: Tick) -> Vec<u32> {
        let mut fired = Vec::new();
        self.oracle.advance(to, |Expired { value, .. }| fired.push(value));
        fired
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelhouse_workload::{Player, find_workload};

    /// The measures of a workload's phases that are the stream's own.
    fn own(name: &str, clock: Clock) -> Vec<Measure> {
        let workload = find_workload(name).unwrap();
        let phases: Vec<Phase> = workload.phases(200, 1).collect();
        let part = part_of(&phases, workload.labels(200), clock);
        assert_eq!((part.phases.len(), part.is_own.len()), (phases.len(), phases.len()));
        let moves = |op: &Op| matches!(op, Op::Advance { .. } | Op::Ticks { .. } | Op::Wake);
        for phase in part.phases.iter().filter(|it| clock == Clock::Real && it.ops.len() > 1) {
            assert!(!phase.ops.iter().any(moves), "a real clock cannot be moved: {phase:?}");
        }
        let own = part.phases.iter().zip(&part.is_own).filter(|(_, is_own)| **is_own);
        own.filter_map(|(phase, _)| phase.measure).collect()
    }

    #[test]
    fn a_program_on_real_time_plays_what_fires_nothing_or_everything_at_once() {
        use Measure::{Cancel, FireJump, FireTicks, InsertWarm, Mix, Reschedule};
        let all = [Cancel, InsertWarm, Reschedule, FireJump];
        assert_eq!(own("uniform", Clock::Real), all);
        assert_eq!(own("uniform", Clock::Virtual), [&all[..], &[FireTicks]].concat());
        assert_eq!(own("delay-queue-burst", Clock::Real), [Mix, Mix, Mix]);
        assert_eq!(own("steady", Clock::Real), []);
        assert_eq!(own("steady", Clock::Virtual), [Measure::Steady]);
        assert_eq!(own("hold-exponential", Clock::Virtual), []);
    }

    #[test]
    fn a_reduced_stream_leaves_the_same_timers_live() {
        for name in ["uniform", "hold-exponential", "tcp", "periodic", "delay-queue-burst"] {
            let workload = find_workload(name).unwrap();
            let labels = workload.labels(200);
            let phases: Vec<Phase> = workload.phases(200, 1).collect();
            for clock in [Clock::Virtual, Clock::Real] {
                let part = part_of(&phases, labels, clock);
                let [mut whole, mut reduced] = [(); 2].map(|()| Player::new(Oracle::new(), labels));
                for (at, (phase, of_part)) in phases.iter().zip(&part.phases).enumerate() {
                    whole.play(&phase.ops);
                    reduced.play(&of_part.ops);
                    let differs =
                        (0..labels as u32).find(|&it| whole.is_live(it) != reduced.is_live(it));
                    assert_eq!(differs, None, "{name}, {clock:?}, phase {at}");
                }
            }
        }
    }
}
