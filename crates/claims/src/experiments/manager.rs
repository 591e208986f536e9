//! C14, C21: a task manager over four operations, on every structure.

use crate::count::random;
use crate::{Evidence, Experiment, Lab};
use rand::RngExt;
use std::collections::BTreeMap;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};
use wheelhouse_oracle::Oracle;

pub(super) const MANAGER: Experiment = Experiment {
    name: "manager-scenario",
    about: "every structure and the oracle: 300 tasks that run once, N times or without end, \
        cancelled and changed; driven by four operations tick by tick, and from wake-up to wake-up",
    run: manager,
};

const TASKS: u64 = 300;
const HORIZON: Tick = 2_000;

/// What somebody wants of the manager. No end to the runs is `u64::MAX`.
#[derive(Clone, Copy, Debug)]
enum Wish {
    Add {
        delay: Tick,
        runs: u64,
    },
    Cancel,
    /// The next run is to be so long from now.
    Change {
        delay: Tick,
    },
}

/// Wishes by the tick at which they come, each of a task.
type Script = BTreeMap<Tick, Vec<(u64, Wish)>>;

/// Delays and ticks are multiples of ten, so that many tasks are due at one tick.
fn script(seed: u64) -> Script {
    let (mut random, mut script) = (random(seed), Script::new());
    for task in 0..TASKS {
        let (at, delay) = (10 * random.random_range(0..100), 10 * random.random_range(1..=8));
        let runs = [1, random.random_range(2..=9), u64::MAX][task as usize % 3];
        script.entry(at).or_default().push((task, Wish::Add { delay, runs }));
        let later = at + random.random_range(1..delay);
        let wish = match random.random_range(0..4) {
            0 => Wish::Cancel,
            1 => Wish::Change { delay: 10 * random.random_range(1..=8) },
            _ => continue,
        };
        script.entry(later).or_default().push((task, wish));
    }
    script
}

/// With which operations the manager drives its structure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    /// Add, delete, advance, fire, at each tick. A change is a delete and an add.
    FourOperations,
    /// The same without delete: what is not deleted runs as well.
    WithoutDelete,
    /// From wake-up to wake-up; a change is a reschedule.
    Wakeups,
}

struct Manager<'a, T> {
    timer: &'a mut T,
    driver: Driver,
    /// Period, runs left, and timer of each task.
    tasks: BTreeMap<u64, (Tick, u64, Option<TimerId>)>,
    /// (tick, task) of each run.
    ran: Vec<(Tick, u64)>,
}

/// Plays a script: what ran when.
fn play(timer: &mut impl Timer<u64>, driver: Driver, script: &Script) -> Vec<(Tick, u64)> {
    let mut manager = Manager { timer, driver, tasks: BTreeMap::new(), ran: Vec::new() };
    let (mut wishes, mut now) = (script.iter().peekable(), 0);
    while now <= HORIZON {
        // At one tick wishes come before the tasks that are due.
        while let Some((_, wishes)) = wishes.next_if(|(at, _)| **at <= now) {
            wishes.iter().for_each(|(task, wish)| manager.grant(*task, *wish, now));
        }
        manager.run_due(now);
        let next = manager.timer.next_wakeup().into_iter();
        let next = next.chain(wishes.peek().map(|(at, _)| **at)).min().unwrap_or(HORIZON + 1);
        now = if driver == Driver::Wakeups { next } else { now + 1 };
    }
    manager.ran
}

impl<T: Timer<u64>> Manager<'_, T> {
    fn grant(&mut self, task: u64, wish: Wish, now: Tick) {
        match wish {
            Wish::Add { delay, runs } => {
                let timer = Some(self.timer.insert(now + delay, task));
                self.tasks.insert(task, (delay, runs, timer));
            }
            Wish::Cancel if self.driver == Driver::WithoutDelete => {}
            Wish::Cancel => {
                let timer = self.tasks.remove(&task).and_then(|(.., timer)| timer);
                timer.into_iter().for_each(|id| _ = self.timer.cancel(id));
            }
            Wish::Change { delay } => self.change(task, now + delay),
        }
    }

    fn change(&mut self, task: u64, deadline: Tick) {
        let Some((.., Some(timer))) = self.tasks.get_mut(&task) else { return };
        match self.driver {
            Driver::Wakeups => _ = self.timer.reschedule(*timer, deadline),
            driver => {
                if driver == Driver::FourOperations {
                    self.timer.cancel(*timer);
                }
                *timer = self.timer.insert(deadline, task);
            }
        }
    }

    fn run_due(&mut self, now: Tick) {
        while let Some(Expired { deadline, value: task, .. }) = self.timer.pop_expired(now) {
            self.ran.push((now, task));
            let Some((period, left, timer)) = self.tasks.get_mut(&task) else { continue };
            *left -= u64::from(*left < u64::MAX && *left > 0);
            *timer = (*left > 0).then(|| self.timer.insert(deadline + *period, task));
        }
    }
}

/// When a task is to run, from the script alone; none if it is cancelled, which is always before
/// its first run.
fn expected(script: &Script, task: u64) -> Vec<Tick> {
    let (mut first, mut period, mut wanted) = (0, 1, 0);
    let wishes = script.iter().flat_map(|(at, wishes)| wishes.iter().map(move |it| (*at, *it)));
    for (at, (_, wish)) in wishes.filter(|(_, (of, _))| *of == task) {
        match wish {
            Wish::Add { delay, runs } => (first, period, wanted) = (at + delay, delay, runs),
            Wish::Cancel => return Vec::new(),
            Wish::Change { delay } => first = at + delay,
        }
    }
    (0..wanted).map(|run| first + run * period).take_while(|tick| *tick <= HORIZON).collect()
}

fn manager(lab: &Lab, e: &mut Evidence) {
    let [mut by_four, mut by_wakeups] = [const { Vec::<(&'static str, u64)>::new() }; 2];
    let [mut runs, mut undeleted, mut right, mut at_once] = [0; 4];
    for seed in lab.seeds() {
        let script = script(seed);
        // The oracle is the judge, with a reschedule for a change.
        let judge = play(&mut Oracle::<u64>::new(), Driver::Wakeups, &script);
        for (driver, same) in
            [(Driver::FourOperations, &mut by_four), (Driver::Wakeups, &mut by_wakeups)]
        {
            for (at, (name, ran)) in
                lab.each(TASKS, |timer| play(timer, driver, &script)).into_iter().enumerate()
            {
                same.resize(same.len().max(at + 1), (name, 0));
                same[at].1 += u64::from(ran == judge);
            }
        }
        runs += judge.len();
        let all = play(&mut Oracle::<u64>::new(), Driver::WithoutDelete, &script);
        undeleted += all.len().saturating_sub(judge.len());
        let of = |task: u64| judge.iter().filter(move |(_, of)| *of == task).map(|(tick, _)| *tick);
        right += (0..TASKS).filter(|task| of(*task).eq(expected(&script, *task))).count();
        let of_tick = |tick: Tick| judge.iter().filter(|(at, _)| *at == tick).count();
        at_once = (0..=HORIZON).map(of_tick).fold(at_once, usize::max);
    }
    let scripts = lab.seeds().count() as u64;
    let quote = "Four operations are enough: add, fire, delete, advance.";
    e.everywhere("C14.1", quote, scripts, &by_four);
    let quote = "All four are needed: without delete tasks run that should not.";
    e.holds("C14.2", quote, undeleted > 0, format!("{undeleted} runs too many"));
    let quote = "A single driver manages one-shot, N-times and unlimited tasks.";
    e.everywhere("C21.1", quote, scripts, &by_wakeups);
    let quote = "Each runs as often and when asked, if cancelled or changed before, too.";
    e.is("C21.2", quote, (scripts * TASKS) as usize, right);
    let quote = "Several tasks fire at one instant.";
    e.holds("C21.3", quote, at_once > 1, format!("up to {at_once} of {runs} runs"));
}
