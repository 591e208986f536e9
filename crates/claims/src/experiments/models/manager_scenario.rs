//! One task manager, with one driver, for tasks that run once, so many times, or for ever, and are cancelled and changed before they run.

use super::checks::Checks;
use super::structures::{Outcomes, each};
use crate::count::random;
use crate::experiment::Experiment;
use crate::{Evidence, Finding, Scale, Table};
use rand::RngExt;
use std::collections::BTreeMap;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};
use wheelhouse_oracle::Oracle;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "manager-scenario",
    about: "every structure and the oracle: 300 tasks that run once, N times or without end, cancelled and changed; driven by four operations tick by tick, and from wake-up to wake-up",
    run,
};

const TASKS: u64 = 300;
const HORIZON: Tick = 2_000;

/// How often a task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runs {
    Times(u64),
    Unlimited,
}

/// What somebody wants of the manager.
#[derive(Clone, Copy, Debug)]
enum Wish {
    Add {
        task: u64,
        delay: Tick,
        runs: Runs,
    },
    Cancel {
        task: u64,
    },
    /// The next run is to be so long from now.
    Change {
        task: u64,
        delay: Tick,
    },
}

/// Wishes by the tick at which they come.
type Script = BTreeMap<Tick, Vec<Wish>>;

/// Delays and ticks are multiples of ten, so that many tasks are due at one tick.
fn script(seed: u64) -> Script {
    let mut random = random(seed);
    let mut script = Script::new();
    for task in 0..TASKS {
        let (at, delay) = (10 * random.random_range(0..100), 10 * random.random_range(1..=8));
        let runs = [Runs::Times(1), Runs::Times(random.random_range(2..=9)), Runs::Unlimited]
            [task as usize % 3];
        script.entry(at).or_default().push(Wish::Add { task, delay, runs });
        let later = at + random.random_range(1..delay);
        match random.random_range(0..4) {
            0 => script.entry(later).or_default().push(Wish::Cancel { task }),
            1 => script
                .entry(later)
                .or_default()
                .push(Wish::Change { task, delay: 10 * random.random_range(1..=8) }),
            _ => {}
        }
    }
    script
}

/// With which operations the manager drives its structure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    /// Add, delete, advance, fire, at each tick. A change is a delete and an add.
    FourOperations,
    /// The same without delete.
    WithoutDelete,
    /// From wake-up to wake-up; a change is a reschedule.
    Wakeups,
}

/// A task as the manager keeps it.
struct Task {
    period: Tick,
    left: Runs,
    timer: Option<TimerId>,
}

struct Manager<'a, T> {
    timer: &'a mut T,
    driver: Driver,
    tasks: BTreeMap<u64, Task>,
    /// (tick, task) of each run.
    ran: Vec<(Tick, u64)>,
}

/// Plays a script: what ran when.
fn play(timer: &mut impl Timer<u64>, driver: Driver, script: &Script) -> Vec<(Tick, u64)> {
    let mut manager = Manager { timer, driver, tasks: BTreeMap::new(), ran: Vec::new() };
    let mut wishes = script.iter().peekable();
    let mut now = 0;
    while now <= HORIZON {
        // At one tick wishes come before the tasks that are due.
        while let Some((_, wishes)) = wishes.next_if(|(at, _)| **at <= now) {
            wishes.iter().for_each(|wish| manager.grant(*wish, now));
        }
        manager.run_due(now);
        let next_wish = wishes.peek().map(|(at, _)| **at);
        now = match driver {
            Driver::Wakeups => manager
                .timer
                .next_wakeup()
                .into_iter()
                .chain(next_wish)
                .min()
                .unwrap_or(HORIZON + 1),
            _ => now + 1,
        };
    }
    manager.ran
}

impl<T: Timer<u64>> Manager<'_, T> {
    fn grant(&mut self, wish: Wish, now: Tick) {
        match wish {
            Wish::Add { task, delay, runs } => {
                let timer = Some(self.timer.insert(now + delay, task));
                self.tasks.insert(task, Task { period: delay, left: runs, timer });
            }
            Wish::Cancel { task } => {
                if let Some(Task { timer: Some(id), .. }) =
                    self.tasks.get(&task).filter(|_| self.driver != Driver::WithoutDelete)
                {
                    self.timer.cancel(*id);
                    self.tasks.remove(&task);
                }
            }
            Wish::Change { task, delay } => self.change(task, now + delay),
        }
    }

    fn change(&mut self, task: u64, deadline: Tick) {
        let Some(timer) = self.tasks.get_mut(&task).and_then(|task| task.timer.as_mut()) else {
            return;
        };
        match self.driver {
            Driver::Wakeups => _ = self.timer.reschedule(*timer, deadline),
            Driver::FourOperations => {
                self.timer.cancel(*timer);
                *timer = self.timer.insert(deadline, task);
            }
            // What is not deleted runs as well.
            Driver::WithoutDelete => *timer = self.timer.insert(deadline, task),
        }
    }

    fn run_due(&mut self, now: Tick) {
        while let Some(Expired { deadline, value: name, .. }) = self.timer.pop_expired(now) {
            self.ran.push((now, name));
            let Some(task) = self.tasks.get_mut(&name) else { continue };
            task.left = match task.left {
                Runs::Times(left) => Runs::Times(left.saturating_sub(1)),
                Runs::Unlimited => Runs::Unlimited,
            };
            task.timer = (task.left != Runs::Times(0))
                .then(|| self.timer.insert(deadline + task.period, name));
        }
    }
}

fn run(scale: &Scale) -> Evidence {
    let (mut by_ticks, mut by_wakeups) = (BTreeMap::new(), BTreeMap::new());
    let mut sound = Sound::default();
    for seed in scale.seeds() {
        let script = script(seed);
        // The oracle is the judge, with a reschedule for a change.
        let right = play(&mut Oracle::<u64>::new(), Driver::Wakeups, &script);
        sound.add(&script, &right);
        for (driver, same) in
            [(Driver::FourOperations, &mut by_ticks), (Driver::Wakeups, &mut by_wakeups)]
        {
            for (name, ran) in each(TASKS, |timer| play(timer, driver, &script)) {
                *same.entry(name).or_insert(0) += u64::from(ran == right);
            }
        }
        let undeleted = play(&mut Oracle::<u64>::new(), Driver::WithoutDelete, &script);
        sound.undeleted += undeleted.len().saturating_sub(right.len());
    }
    let (c14, first) = four_operations(scale, &sound, by_ticks);
    let (c21, second) = one_driver(scale, &sound, by_wakeups);
    Evidence { findings: vec![c14, c21], tables: vec![first, second], charts: Vec::new() }
}

fn four_operations(
    scale: &Scale,
    sound: &Sound,
    same: BTreeMap<&'static str, u64>,
) -> (Finding, Table) {
    let mut checks = Checks::new("Add, fire, delete, advance, and no other operation");
    let same: Outcomes<u64> = same.into_iter().collect();
    checks.everywhere(
        "scripts that run as the oracle does with five operations",
        scale.seeds,
        &same,
    );
    checks.holds(
        "without delete tasks run that should not",
        sound.undeleted > 0,
        format!("{} runs too many", sound.undeleted),
    );
    checks.into_parts(
        "C14",
        format!("{} runs, in the same order on {} structures", sound.runs, same.len()),
    )
}

fn one_driver(scale: &Scale, sound: &Sound, same: BTreeMap<&'static str, u64>) -> (Finding, Table) {
    let mut checks = Checks::new("One driver, from wake-up to wake-up");
    let same: Outcomes<u64> = same.into_iter().collect();
    checks.everywhere("scripts that run as the oracle does", scale.seeds, &same);
    checks.is(
        "tasks that run once or N times, and were not cancelled: as often as asked",
        sound.limited,
        sound.limited_right,
    );
    checks.is(
        "tasks without end, and not cancelled: at each period",
        sound.unlimited,
        sound.unlimited_right,
    );
    checks.is("cancelled tasks that run after it", 0, sound.cancelled_ran);
    checks.is(
        "changed tasks that next run when they were changed to",
        sound.changed,
        sound.changed_right,
    );
    checks.holds(
        "several tasks run at one tick",
        sound.at_once > 1,
        format!("up to {}", sound.at_once),
    );
    let figure = format!(
        "{} runs of {} scripts, up to {} at one tick, on {} structures",
        sound.runs,
        scale.seeds,
        sound.at_once,
        same.len()
    );
    checks.into_parts("C21", figure)
}

/// What the tasks are to do, and how many did.
#[derive(Default)]
struct Sound {
    runs: usize,
    undeleted: usize,
    limited: usize,
    limited_right: usize,
    unlimited: usize,
    unlimited_right: usize,
    cancelled_ran: usize,
    changed: usize,
    changed_right: usize,
    at_once: usize,
}

impl Sound {
    /// Looks at each task by itself: from the script when it is to run, from the runs when it did.
    fn add(&mut self, script: &Script, ran: &[(Tick, u64)]) {
        let mut of_task: BTreeMap<u64, Vec<Tick>> = BTreeMap::new();
        let mut at_tick: BTreeMap<Tick, usize> = BTreeMap::new();
        for (tick, task) in ran {
            of_task.entry(*task).or_default().push(*tick);
            *at_tick.entry(*tick).or_default() += 1;
        }
        self.runs += ran.len();
        self.at_once = self.at_once.max(at_tick.into_values().max().unwrap_or(0));
        for task in 0..TASKS {
            let wishes =
                script.iter().flat_map(|(at, wishes)| wishes.iter().map(move |wish| (*at, *wish)));
            self.add_task(
                wishes.filter(|(_, wish)| wish.task() == task),
                of_task.get(&task).map_or(&[], Vec::as_slice),
            );
        }
    }

    fn add_task(&mut self, wishes: impl Iterator<Item = (Tick, Wish)>, ran: &[Tick]) {
        let (mut first, mut period, mut wanted) = (0, 1, Runs::Times(0));
        for (at, wish) in wishes {
            match wish {
                Wish::Add { delay, runs, .. } => {
                    (first, period, wanted) = (at + delay, delay, runs)
                }
                // All wishes come before the first run.
                Wish::Cancel { .. } => {
                    self.cancelled_ran += ran.len();
                    return;
                }
                Wish::Change { delay, .. } => {
                    first = at + delay;
                    self.changed += 1;
                    self.changed_right += usize::from(ran.first() == Some(&first));
                }
            }
        }
        let at_each = |times: u64| {
            (0..times).map(move |run| first + run * period).take_while(|tick| *tick <= HORIZON)
        };
        match wanted {
            Runs::Times(times) => {
                self.limited += 1;
                self.limited_right += usize::from(at_each(times).eq(ran.iter().copied()));
            }
            Runs::Unlimited => {
                self.unlimited += 1;
                self.unlimited_right += usize::from(at_each(HORIZON).eq(ran.iter().copied()));
            }
        }
    }
}

impl Wish {
    fn task(self) -> u64 {
        let (Self::Add { task, .. } | Self::Cancel { task } | Self::Change { task, .. }) = self;
        task
    }
}
