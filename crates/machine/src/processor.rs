//! The processor that other programs use least.

use std::fs;
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
    }

    #[test]
    fn idle_and_iowait_do_not_count_as_use() {
        let stat = "cpu0 5 0 5 900 800 1 1 1 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\n";
        assert_eq!([0, 1, 2].map(|processor| ticks_in_use(stat, processor)), [13, 0, 0]);
    }

    #[test]
    fn without_proc_stat_the_last_allowed_is_chosen() {
        assert_eq!(least_used(&[0, 3], "", ""), Some(3));
        assert_eq!(quietest(&[]), None);
    }
}
