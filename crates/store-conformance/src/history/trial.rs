//! Processes on one store that are stopped and killed, and the check of their logs.
//!
//! The processes run the test program itself: its ignored test `plays`, which calls [`child`]. They
//! get their arguments by environment variables.

use super::{Checked, Log, check, drain, play, read};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{Store, StoreError};

/// The duration of a trial.
const TIME: Duration = Duration::from_secs(4);
const PROCESSES: usize = 3;

const PLACE: &str = "WHEELHOUSE_TEST_PLACE";
const NAME: &str = "WHEELHOUSE_TEST_NAME";
const LOG: &str = "WHEELHOUSE_TEST_LOG";

/// The work of a process of a trial, until it is killed. It opens the store at the trial's place,
/// retrying until that succeeds, and calls `play` on it.
pub fn child(open: impl Fn(&str) -> Result<Box<dyn Store>, StoreError>) {
    let told = |name| env::var(name).expect("the parent sets it");
    let mut log = Log::create(Path::new(&told(LOG)));
    let mut store = loop {
        match open(&told(PLACE)) {
            Ok(store) => break store,
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    };
    play(&mut *store, &mut log, &told(NAME), 10 * TIME);
}

fn start(place: &str, name: &str, log: &Path) -> Child {
    let mut command = Command::new(env::current_exe().expect("a path"));
    command.args(["--exact", "plays", "--ignored", "--nocapture"]).stdout(Stdio::null());
    command.env(PLACE, place).env(NAME, name).env(LOG, log).spawn().expect("a child")
}

/// Starts three processes that open the store at `place`. For four seconds it stops and continues,
/// or kills and restarts one of them at random, and calls `disturb` while a process is stopped.
/// Then it drains the store and checks the logs. `repeats`: `true` if the store repeats calls whose
/// answer was lost. Panics if a rule is broken, or too few calls were made.
pub fn trial(
    place: &str,
    logs: &Path,
    repeats: bool,
    mut disturb: impl FnMut(u32),
    mut store: Box<dyn Store>,
) -> Checked {
    let (folder, mut logs) = (logs, Vec::<PathBuf>::new());
    let mut random = Pcg64::seed_from_u64(17);
    let mut next = || {
        let name = format!("p{}", logs.len());
        logs.push(folder.join(&name));
        start(place, &name, &logs[logs.len() - 1])
    };
    let mut children: Vec<Child> = (0..PROCESSES).map(|_| next()).collect();
    let (begun, mut stops, mut kills) = (Instant::now(), 0, 0);
    while begun.elapsed() < TIME {
        // The stop below is longer than the lease, so the stopped process is superseded.
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
            children[which] = next();
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
    let checked = check(&logs, repeats).unwrap_or_else(|why| panic!("{why}"));
    eprintln!("{stops} stops, {kills} kills: {checked:?}");
    assert!(stops > 2 && kills > 0 && checked.scheduled > 100 && checked.acked > 50);
    checked
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status();
    assert!(sent.expect("`kill`").success());
}
