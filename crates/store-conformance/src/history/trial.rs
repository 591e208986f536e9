//! Processes on one store that are stopped and killed, and the check of what they wrote.

use super::{Checked, Log, check, drain, read};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_durable::store::Store;

/// How many processes, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// At a time.
    pub processes: usize,
    /// In which they are stopped and killed.
    pub time: Duration,
    /// Whether the store repeats calls whose answer was lost.
    pub repeats: bool,
}

/// Starts processes by `command`, which is told the name of each and where its log is to be; stops,
/// continues, kills and starts them again at random, and calls `disturb` in between. Then drains
/// the store and checks.
///
/// # Panics
///
/// If a rule is broken, or hardly anything was done.
pub fn trial(
    trial: Trial,
    folder: &Path,
    command: impl Fn(&str, &Path) -> Command,
    mut disturb: impl FnMut(u32),
    mut store: Box<dyn Store>,
) -> Checked {
    let mut random = Pcg64::seed_from_u64(17);
    let mut logs: Vec<PathBuf> = Vec::new();
    let mut start = || -> Child {
        let name = format!("p{}", logs.len());
        logs.push(folder.join(&name));
        command(&name, &logs[logs.len() - 1]).spawn().expect("a child")
    };
    let mut children: Vec<Child> = (0..trial.processes).map(|_| start()).collect();
    let (begun, mut stops, mut kills) = (Instant::now(), 0, 0);
    while begun.elapsed() < trial.time {
        // Longer than the lease: the stopped one comes back superseded.
        thread::sleep(Duration::from_millis(random.random_range(50..150)));
        let which = random.random_range(0..children.len());
        if random.random_ratio(2, 3) {
            signal(&children[which], "STOP");
            disturb(stops);
            thread::sleep(Duration::from_millis(250));
            signal(&children[which], "CONT");
            stops += 1;
        } else {
            children[which].kill().expect("a kill");
            children[which].wait().expect("its end");
            children[which] = start();
            kills += 1;
        }
    }
    for child in &mut children {
        child.kill().expect("a kill");
        child.wait().expect("its end");
    }
    logs.push(folder.join("drain"));
    drain(&mut *store, &mut Log::create(&logs[logs.len() - 1]));
    let logs: Vec<_> = logs.iter().filter(|log| log.exists()).map(|log| read(log)).collect();
    let checked = check(&logs, trial.repeats).unwrap_or_else(|why| panic!("{why}"));
    eprintln!("{stops} stops, {kills} kills: {checked:?}");
    assert!(stops > 2 && kills > 0 && checked.scheduled > 100 && checked.acked > 50);
    checked
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status();
    assert!(sent.expect("`kill`").success());
}
