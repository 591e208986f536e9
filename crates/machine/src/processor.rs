//! The processor that other programs use least, and work on all processors.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How long the processors are watched. Linux counts their time in hundredths of a second.
const OBSERVATION: Duration = Duration::from_millis(300);

/// The allowed processor that other programs use least. Watches all processors for 0.3 s. If
/// several are equal, it is the last of them, since interrupts mostly go to the first. Without
/// Linux's `/proc/stat`, it is the last allowed one. `None` if none is allowed.
///
/// A benchmark that stays on one processor shares it with everything else that is pinned there, and
/// the scheduler cannot move it away.
///
/// ```
/// assert_eq!(wheelhouse_machine::processor::quietest(&[0]), Some(0));
/// ```
pub fn quietest(allowed: &[usize]) -> Option<usize> {
    let (first, others) = allowed.split_first()?;
    if others.is_empty() {
        return Some(*first);
    }
    let read = || fs::read_to_string("/proc/stat").unwrap_or_default();
    let before = read();
    thread::sleep(OBSERVATION);
    least_used(allowed, &before, &read())
}

/// [`quietest`], from two readings of `/proc/stat`.
fn least_used(allowed: &[usize], before: &str, after: &str) -> Option<usize> {
    let used = |processor: usize| {
        let [before, after] = [before, after].map(|stat| ticks_in_use(stat, processor));
        after.saturating_sub(before)
    };
    allowed.iter().copied().rev().min_by_key(|processor| used(*processor))
}

/// How long a processor has been in use since the machine started; 0 if the file does not have it.
fn ticks_in_use(stat: &str, processor: usize) -> u64 {
    let name = format!("cpu{processor}");
    let mut rows = stat.lines().map(str::split_ascii_whitespace);
    let Some(row) = rows.find_map(|mut row| (row.next() == Some(&name)).then_some(row)) else {
        return 0;
    };
    // user, nice, system, idle, iowait, irq, softirq, steal. The time of guests is part of user.
    let in_use = |at: usize| !matches!(at, 3 | 4);
    let fields = row.take(8).enumerate().filter(|(at, _)| in_use(*at));
    fields.map(|(_, field)| field.parse().unwrap_or(0)).sum::<u64>()
}

/// Does something with each item, on all processors. The items are begun in order, and the results
/// have the same order.
///
/// ```
/// let squares = wheelhouse_machine::processor::on_all(&[1, 2, 3], |number| number * number);
/// assert_eq!(squares, [1, 4, 9]);
/// ```
///
/// # Panics
///
/// If `act` panics.
pub fn on_all<T: Copy + Sync, R: Send>(items: &[T], act: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        let claim = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < items.len());
        while let Some(at) = claim() {
            let result = act(items[at]);
            results.lock().expect("no thread panics with the lock").push((at, result));
        }
    };
    thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    let mut results = results.into_inner().expect("no thread panics with the lock");
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `/proc/stat` of three processors that were in use for these times.
    fn stat(used: [u64; 3]) -> String {
        let row = |(at, used): (usize, u64)| format!("cpu{at} {used} 1 2 90000 70000 0 3 0 5 0\n");
        let rows: String = used.into_iter().enumerate().map(row).collect();
        format!("cpu  999 9 9 9 9 9 9 9 9 9\n{rows}intr 5 6 7\n")
    }

    #[test]
    fn the_least_used_allowed_processor_is_chosen() {
        let before = stat([10, 20, 30]);
        let chosen = |after, allowed: &[usize]| least_used(allowed, &before, &stat(after));
        assert_eq!(chosen([10, 20, 60], &[0, 1, 2]), Some(1));
        assert_eq!(chosen([10, 50, 60], &[0, 1, 2]), Some(0));
        assert_eq!(chosen([40, 50, 60], &[1, 2]), Some(2), "the last of equal ones");
        assert_eq!(chosen([10, 50, 61], &[1, 2]), Some(1), "only allowed ones");
        assert_eq!(least_used(&[0, 3], "", ""), Some(3), "without the file, the last");
        assert_eq!(quietest(&[]), None);
        let stat = "cpu0 5 0 5 900 800 1 1 1 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\n";
        let in_use = [0, 1, 2].map(|processor| ticks_in_use(stat, processor));
        assert_eq!(in_use, [13, 0, 0], "idle and iowait do not count");
    }
}
