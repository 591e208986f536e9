//! How often the threads of this program go to sleep: the kernel counts a voluntary context switch
//! each time that a thread has woken up and waits again.

use std::collections::HashMap;
use std::fs;

/// A thread of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// How often it has gone to sleep so far.
    pub sleeps: u64,
}

/// The threads of this program, by their ids. Empty if the system does not report them.
pub fn all() -> HashMap<String, Thread> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let thread = |task: fs::DirEntry| {
        let read = |file| fs::read_to_string(task.path().join(file)).ok();
        let status = read("status")?;
        let sleeps = status.lines().find_map(|it| it.strip_prefix("voluntary_ctxt_switches:"))?;
        let (name, sleeps) = (read("comm")?.trim().to_owned(), sleeps.trim().parse().ok()?);
        Some((task.file_name().into_string().ok()?, Thread { name, sleeps }))
    };
    tasks.filter_map(thread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_thread_that_goes_to_sleep_is_counted() {
        let slept = Barrier::new(2);
        let sleeper = || {
            (0..20).for_each(|_| thread::sleep(Duration::from_millis(1)));
            slept.wait();
            slept.wait();
        };
        thread::scope(|scope| {
            thread::Builder::new().name("sleeper".into()).spawn_scoped(scope, sleeper).unwrap();
            slept.wait();
            let all = all();
            slept.wait();
            let sleeps = all.values().find(|it| it.name == "sleeper").map(|it| it.sleeps);
            assert!(all.is_empty() || sleeps >= Some(20), "{sleeps:?}");
        });
    }
}
