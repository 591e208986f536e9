//! The processor time of the whole program.
//!
//! On a machine that also does other work, elapsed time says little, but processor time still says
//! what a job costs.

use std::process;
use std::time::Duration;
use wheelhouse_frame::Figure;
use wheelhouse_machine::clock::process_cpu_time;

/// The processor time that all threads of this program have used so far. `None` if the system does
/// not report it.
pub(crate) fn used() -> Option<Duration> {
    process_cpu_time(process::id())
}

/// Processor time between two readings, divided by a number of jobs. `None` if the system does not
/// report it.
pub(crate) fn figure(
    name: &'static str,
    begin: Option<Duration>,
    end: Option<Duration>,
    each: u64,
) -> Option<Figure> {
    let used = end?.checked_sub(begin?)?;
    Some(Figure::time(name, used.as_nanos() as f64 / each.max(1) as f64))
}

/// Processor time between two readings, divided by the elapsed time: the average number of
/// processors in use.
pub(crate) fn processors_used(
    begin: Option<Duration>,
    end: Option<Duration>,
    time: Duration,
) -> Option<Figure> {
    let used = end?.checked_sub(begin?)?;
    Some(Figure::number("processors", used.div_duration_f64(time)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_divided_by_jobs_or_by_elapsed_time() {
        let [begin, end] = [1_000, 1_500].map(|millis| Some(Duration::from_millis(millis)));
        assert_eq!(figure("CPU/job", begin, end, 1_000).unwrap().value, 500_000.0);
        assert_eq!(processors_used(begin, end, Duration::from_secs(2)).unwrap().value, 0.25);
        let none = [figure("CPU/job", None, end, 1), figure("CPU/job", end, begin, 1)];
        assert_eq!(none, [None, None]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn time_that_a_thread_uses_counts() {
        let before = used().unwrap();
        crate::job_work::JobWork::Spins(Duration::from_millis(2)).run(0);
        assert!(used().unwrap() - before >= Duration::from_millis(2));
    }
}
