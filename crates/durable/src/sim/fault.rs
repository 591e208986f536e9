//! Faults, and the actions that they strike.

use crate::store::{Change, Kind};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The action of a program that a fault may strike.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Action {
    /// It commits changes of these kinds.
    Commit(Arc<str>),
    Claim,
    Read,
    /// It calls the handler of this kind.
    Handler(Kind),
    /// A handler reports this effect.
    Effect(Arc<str>),
    /// It waits for something to do.
    Rest,
}

/// The name of a change in messages.
pub(super) fn name(change: &Change) -> &'static str {
    match change {
        Change::Put(_) => "schedule",
        Change::Move { .. } => "move",
        Change::Cancel { .. } => "cancel",
        Change::Begin { .. } => "begin",
        Change::Ack { .. } => "ack",
        Change::Retry { .. } => "retry",
        Change::Release { .. } => "release",
        Change::Extend { .. } => "renewal",
        Change::Bury { .. } => "burial",
        Change::Revive { .. } => "revive",
        Change::Forget { .. } => "forget",
    }
}

impl Action {
    pub(super) fn of_commit(changes: &[Change]) -> Self {
        let names: BTreeSet<_> = changes.iter().map(name).collect();
        Self::Commit(Vec::from_iter(names).join(", ").into())
    }

    pub(super) fn is_store(&self) -> bool {
        matches!(self, Self::Commit(_) | Self::Claim | Self::Read)
    }

    /// How much rarer faults are here. An idle program claims, reads and rests all the time, and
    /// nearly all faults would strike it there.
    fn rarity(&self, is_after: bool) -> u32 {
        match self {
            Self::Commit(_) | Self::Handler(_) | Self::Effect(_) => 1,
            Self::Claim if is_after => 1,
            Self::Rest => 10,
            Self::Claim | Self::Read => 50,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Commit(names) => write!(f, "the commit of {names}"),
            Self::Claim => f.write_str("a claim"),
            Self::Read => f.write_str("a lookup"),
            Self::Handler(kind) => write!(f, "the handler of '{kind}'"),
            Self::Effect(name) => write!(f, "the effect '{name}'"),
            Self::Rest => f.write_str("a rest"),
        }
    }
}

/// A moment of a program: before or after something that it does, for the nth time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) program: usize,
    pub(super) action: Action,
    pub(super) is_after: bool,
    pub(super) nth: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The process is killed, and started again after this time.
    Kill(Duration),
    /// The program is stopped as for an update, and started again this time after it has ended.
    Stop(Duration),
    /// The process stands still.
    Stall(Duration),
    /// The machine is suspended: the process stands still, and its clock too.
    Suspend(Duration),
    /// The handler takes this time, while the rest of its program works.
    Slow(Duration),
    /// The call fails. After the call: it took effect, and its answer is lost.
    Fail,
    /// The store cannot be reached for this time.
    Cut(Duration),
    /// The store's clock is set ahead by these milliseconds, or back.
    Jump(i64),
}

#[derive(Clone)]
pub(super) struct Strike {
    pub(super) site: Site,
    pub(super) fault: Fault,
}

/// For example `program 1 is killed for 1.0s after the effect 'charge' (number 2)`.
impl fmt::Display for Strike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { site: Site { program, action, is_after, nth }, fault } = self;
        let what = match fault {
            Fault::Kill(down) => format!("program {program} is killed for {down:.1?}"),
            Fault::Stop(down) => format!("program {program} is stopped, and down for {down:.1?},"),
            Fault::Stall(time) => format!("program {program} stalls for {time:.1?}"),
            Fault::Suspend(time) => {
                format!("the machine of program {program} is suspended for {time:.1?}")
            }
            Fault::Slow(time) => format!("a handler of program {program} takes {time:.1?}"),
            Fault::Fail if *is_after => format!("program {program} loses the store's answer"),
            Fault::Fail => format!("the store fails program {program}"),
            Fault::Cut(time) => format!("program {program} cannot reach the store for {time:.1?}"),
            Fault::Jump(millis) => {
                let way = if *millis < 0 { "back" } else { "ahead" };
                let time = Duration::from_millis(millis.unsigned_abs());
                format!("the store's clock is set {way} by {time:.1?} when program {program} is")
            }
        };
        let when = if *is_after { "after" } else { "before" };
        write!(f, "{what} {when} {action} (number {nth})")
    }
}

/// Decides where faults strike: by chance, or by a plan.
#[derive(Default)]
pub(super) struct Faults {
    rng: Rng,
    plan: Option<Vec<Strike>>,
    /// At most this many faults a day.
    a_day: u32,
    /// The present day, and how many faults more may strike on it.
    day: u64,
    budget: u32,
    one_in: u32,
    /// The number of sites that are not rare until a fault strikes for sure: otherwise a simulation
    /// of a few jobs would often have none.
    countdown: u32,
    /// The kinds of faults that may strike, one for each of [`Fault`].
    allowed: [bool; 8],
    counts: BTreeMap<(usize, Action, bool), u32>,
    pub(super) struck: Vec<Strike>,
}

impl Faults {
    /// By chance. Each seed has its own frequency, number and kinds of faults, since a fault that
    /// must strike alone is not found among many others.
    pub(super) fn by_chance(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed ^ 0x5eed_fa17);
        let a_day = rng.u32(0..=8);
        let one_in = [2, 4, 8, 32, 128][rng.usize(0..5)];
        let longest = 1 << rng.u32(1..=6);
        let countdown = rng.u32(1..=longest);
        let mut allowed = [(); 8].map(|()| rng.bool());
        // Most seeds have kills.
        allowed[0] |= rng.bool();
        Self { rng, a_day, budget: a_day, one_in, countdown, allowed, ..Self::default() }
    }

    /// Only these.
    pub(super) fn planned(plan: Vec<Strike>) -> Self {
        Self { plan: Some(plan), ..Self::by_chance(0) }
    }

    /// No fault strikes from now on.
    pub(super) fn end(&mut self) {
        (self.plan, self.a_day, self.budget) = (None, 0, 0);
    }

    /// The time since the begin is this many days.
    pub(super) fn set_day(&mut self, day: u64) {
        if self.day != day {
            (self.day, self.budget) = (day, self.a_day);
        }
    }

    /// Returns the fault that strikes here. `lease` is how long the program leases jobs.
    pub(super) fn strike(
        &mut self,
        program: usize,
        (action, is_after): (Action, bool),
        lease: Duration,
    ) -> Option<Strike> {
        let rarity = action.rarity(is_after);
        let nth = self.counts.entry((program, action.clone(), is_after)).or_default();
        *nth += 1;
        let site = Site { program, action, is_after, nth: *nth };
        let fault = match &self.plan {
            Some(plan) => plan.iter().find(|its| its.site == site)?.fault,
            None if self.budget == 0 => return None,
            None => {
                self.countdown = self.countdown.wrapping_sub(u32::from(rarity == 1));
                let is_sure = rarity == 1 && self.countdown == 0;
                if !is_sure && self.rng.u32(0..self.one_in * rarity) > 0 {
                    return None;
                }
                self.draw(&site, lease)?
            }
        };
        self.budget = self.budget.saturating_sub(1);
        let strike = Strike { site, fault };
        self.struck.push(strike.clone());
        Some(strike)
    }

    /// A kill after the first time of each effect, in each program.
    pub(super) fn kills(&self) -> Vec<Strike> {
        let programs: BTreeSet<_> = self.counts.keys().map(|(program, ..)| *program).collect();
        let actions: BTreeSet<_> = self.counts.keys().map(|(_, action, _)| action).collect();
        let mut kills = Vec::new();
        for program in programs {
            for action in actions.iter().filter(|action| matches!(action, Action::Effect(_))) {
                let site = Site { program, action: (*action).clone(), is_after: true, nth: 1 };
                kills.push(Strike { site, fault: Fault::Kill(Duration::from_secs(1)) });
            }
        }
        kills
    }

    fn draw(&mut self, Site { action, is_after, .. }: &Site, lease: Duration) -> Option<Fault> {
        // Half of them outlast a lease, by up to four times. The others last down to a thousandth.
        let halvings = if self.rng.bool() { 2.0 } else { 12.0 };
        let time = (lease * 4).mul_f64(0.5_f64.powf(self.rng.f64() * halvings));
        let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        let is_user = matches!(action, Action::Handler(_) | Action::Effect(_));
        let faults = [
            Some(Fault::Kill(time)),
            Some(Fault::Stall(time)),
            Some(Fault::Suspend(time)),
            is_user.then_some(Fault::Slow(time)),
            action.is_store().then_some(Fault::Fail),
            (action.is_store() && !is_after).then_some(Fault::Cut(time)),
            (!is_user).then_some(Fault::Jump(if self.rng.bool() { millis } else { -millis })),
            (*action == Action::Rest).then_some(Fault::Stop(time)),
            // The most common one, twice.
            Some(Fault::Kill(time)),
        ];
        let allowed = self.allowed.into_iter().chain([self.allowed[0]]);
        let faults = faults.into_iter().zip(allowed).filter(|(_, allowed)| *allowed);
        let faults: Vec<Fault> = faults.filter_map(|(fault, _)| fault).collect();
        (!faults.is_empty()).then(|| faults[self.rng.usize(0..faults.len())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Each kind of fault strikes in some of the seeds.
    #[test]
    fn all_faults_strike() {
        let (kind, name) = ("charge/1".into(), "charge".into());
        let (commit, rest) = (Action::of_commit(&[]), Action::Rest);
        let actions = [commit, Action::Claim, Action::Handler(kind), Action::Effect(name), rest];
        let mut counts = HashMap::<_, u32>::new();
        for seed in 0..1_000 {
            let mut faults = Faults::by_chance(seed);
            for action in actions.iter().cycle().take(100) {
                for is_after in [false, true] {
                    faults.strike(1, (action.clone(), is_after), Duration::from_secs(30));
                }
            }
            for strike in faults.struck {
                *counts.entry(std::mem::discriminant(&strike.fault)).or_default() += 1;
            }
        }
        assert!(counts.len() == 8 && counts.values().all(|count| *count > 4), "{counts:?}");
    }
}
