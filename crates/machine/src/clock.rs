//! The time of a piece of work, and the cost of reading the clock.

use std::time::{Duration, Instant};
use wheelhouse_present::stats;

/// Work that takes at least this long is judged by the time in which its thread had a processor.
/// Asking for that is a system call, which would count in shorter work.
const LONG: Duration = Duration::from_millis(1);

/// The time of a piece of work of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkTime {
    /// From its start to its end.
    pub elapsed: Duration,
    /// How long the thread had a processor during that time. If the system does not report it, the
    /// whole time.
    pub running: Duration,
}

impl WorkTime {
    /// Does some work and measures it.
    pub fn measure<R>(work: impl FnOnce() -> R) -> (Self, R) {
        // The reads of `Instant` are innermost, so that `elapsed` covers the work alone.
        let before = thread_cpu_time();
        let start = Instant::now();
        let result = work();
        let elapsed = start.elapsed();
        let running =
            thread_cpu_time().zip(before).map_or(elapsed, |(after, before)| after - before);
        (Self { elapsed, running: running.min(elapsed) }, result)
    }

    /// The time of the work, without the time of other processes if the work is long enough to
    /// measure that.
    pub fn time(&self) -> Duration {
        if self.elapsed >= LONG { self.running } else { self.elapsed }
    }
}

/// How long this thread has had a processor so far; `None` if the system does not report it.
#[cfg(unix)]
fn thread_cpu_time() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).ok()
}

#[cfg(not(unix))]
fn thread_cpu_time() -> Option<Duration> {
    None
}

/// How long all threads of another process have had a processor so far; `None` if there is no such
/// process, or the system does not report it.
#[cfg(target_os = "linux")]
pub fn process_cpu_time(process: u32) -> Option<Duration> {
    let pid = nix::unistd::Pid::from_raw(process.try_into().ok()?);
    Some(nix::time::clock_getcpuclockid(pid).ok()?.now().ok()?.into())
}

#[cfg(not(target_os = "linux"))]
pub fn process_cpu_time(_: u32) -> Option<Duration> {
    None
}

/// The cost of two reads of the clock: the median of many pairs with nothing between them, in
/// nanoseconds.
pub fn overhead() -> f64 {
    let pair = |_| Instant::now().elapsed().as_nanos() as f64;
    stats::median(&(0..100_000).map(pair).collect::<Vec<_>>()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_does_not_count_as_running_time() {
        let (taken, answer) = WorkTime::measure(|| {
            std::thread::sleep(Duration::from_millis(20));
            7
        });
        assert_eq!(answer, 7);
        assert!(taken.elapsed >= Duration::from_millis(20));
        assert!(!cfg!(unix) || taken.time() < Duration::from_millis(10), "{taken:?}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_running_time_of_a_process_includes_its_threads() {
        let (taken, before) = WorkTime::measure(|| process_cpu_time(std::process::id()).unwrap());
        assert!(process_cpu_time(std::process::id()).unwrap() >= before, "{taken:?}");
        assert!(process_cpu_time(std::process::id()).unwrap() >= thread_cpu_time().unwrap());
        assert_eq!(process_cpu_time(u32::MAX), None);
    }

    #[test]
    fn short_work_is_judged_by_elapsed_time() {
        let [elapsed, running] = [500, 300].map(Duration::from_micros);
        assert_eq!(WorkTime { elapsed, running }.time(), elapsed);
        assert_eq!(WorkTime { elapsed: elapsed * 2, running }.time(), running);
    }
}
