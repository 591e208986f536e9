//! The error types. A call that refuses a job returns it in the error.

use std::error::Error;
use std::time::Duration;
use std::{fmt, io};

/// A job that was not scheduled, and the reason. The job is returned unchanged.
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::{Reason, Scheduler};
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let scheduler = Scheduler::builder().build()?;
///     let timers = scheduler.handle();
///     let rejected = timers.every(Duration::ZERO).run(|_| println!("tick")).unwrap_err();
///     assert_eq!(rejected.reason, Reason::ZeroPeriod);
///     timers.every(Duration::from_secs(1)).run(rejected.job)?; // the same closure
///     Ok(())
/// }
/// ```
///
/// With `?` it converts to a [`Reason`] or a `Box<dyn Error>`. Use `map_err(Reason::from)`, which
/// drops the job, for errors that are passed between threads, such as that of `anyhow`, unless the
/// job can be passed too; and for boxes that are downcast to the reason later, since the type of a
/// closure cannot be named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rejected<J> {
    /// The reason.
    pub reason: Reason,
    /// The closure, or the value to be sent.
    pub job: J,
}

impl<J> Rejected<J> {
    pub(crate) fn map<K>(self, job: impl FnOnce(J) -> K) -> Rejected<K> {
        Rejected { reason: self.reason, job: job(self.job) }
    }
}

impl<J> fmt::Debug for Rejected<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.reason, f)
    }
}

impl<J> fmt::Display for Rejected<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.reason, f)
    }
}

impl<J> Error for Rejected<J> {}

const TOO_FAR: &str = "the time is out of range: at most 584 years from the clock's origin";

const STOPPED: &str =
    "the service has been stopped or dropped: keep the `Service` alive while jobs must run";

/// Implements `Debug` by `Display`: a `main` that returns the error prints it by `Debug`, and the
/// message contains the remedy.
macro_rules! debug_as_shown {
    ($error:ty) => {
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}
#[cfg(feature = "cron")]
pub(crate) use debug_as_shown;

/// Why a job was not scheduled.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The period is zero: the job would run without a pause.
    ZeroPeriod,
    /// The period is shorter than the tick, which is given here.
    PeriodBelowTick(Duration),
    /// The job would run zero times.
    ZeroTimes,
    /// The first run is out of range: more than 584 years from the clock's origin.
    Overflow,
    /// The rule has no time in the future, see [`Handle::on`](crate::Handle::on).
    NoOccurrence,
    /// The key is empty.
    EmptyKey,
    /// Another job has this key, and is not [replaced](crate::OneShot::replacing).
    DuplicateKey,
    /// The limit of jobs is reached, which is given here, see
    /// [`max_jobs`](crate::Builder::max_jobs).
    LimitReached(usize),
    /// The service has been stopped or dropped.
    Stopped,
}

debug_as_shown!(Reason);

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroPeriod => f.write_str("a period of zero: use `after` for a single run"),
            Self::PeriodBelowTick(tick) => {
                write!(f, "a period shorter than the tick of {tick:?}: build with a shorter tick")
            }
            Self::ZeroTimes => f.write_str("`times(0)` never runs: omit `times` to repeat forever"),
            Self::Overflow => f.write_str(TOO_FAR),
            Self::NoOccurrence => f.write_str(
                "the rule has no time in the future: its years have passed, or it returns past \
                 times",
            ),
            Self::EmptyKey => f.write_str("an empty key: leave `key` out for a job without one"),
            Self::DuplicateKey => f.write_str(
                "a job with this key is scheduled already: refresh or cancel that one, or schedule \
                 by `replacing`",
            ),
            Self::LimitReached(limit) => write!(
                f,
                "{limit} jobs are scheduled, and no more are allowed: raise `max_jobs`, or try \
                 again when some are over"
            ),
            Self::Stopped => f.write_str(STOPPED),
        }
    }
}

impl Error for Reason {}

/// Drops the job and keeps the reason, for `?` and [`map_err`](Result::map_err).
impl<J> From<Rejected<J>> for Reason {
    fn from(rejected: Rejected<J>) -> Self {
        rejected.reason
    }
}

/// Why a job was not cancelled or moved. The answer is exact: if it is `Running`, the run has
/// begun; and a job that was moved does not run before its new time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeError {
    /// No job has the key: none was scheduled under it, or the last run of its job has begun, or
    /// the job was cancelled. Once the service has been stopped, the error is
    /// [`Stopped`](Self::Stopped) instead.
    UnknownKey,
    /// The job is running. After a cancel, this run continues, and no other follows. After a move,
    /// this is the last run, so there is none to move.
    Running,
    /// The job is over. A one-shot job without a name, a key or another option does not keep how
    /// it ended.
    Over,
    /// The last run of the job has ended.
    Finished,
    /// The job was cancelled before.
    Cancelled,
    /// The service has been stopped, and returns the job or has returned it. By a key,
    /// [`Handle::cancel`](crate::Handle::cancel) and [`Handle::refresh`](crate::Handle::refresh)
    /// then return this error for every key that no job has, even if none ever had it.
    Stopped,
    /// The new time is out of range. The job stays as it was.
    Overflow,
}

debug_as_shown!(ChangeError);

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownKey => {
                "no job has this key: none was scheduled under it, or its last run has begun, or \
                 it was cancelled"
            }
            Self::Running => "the job is running",
            Self::Over => {
                "the job is over: it has run, or was cancelled; name a job to keep its outcome"
            }
            Self::Finished => "the job has finished",
            Self::Cancelled => "the job has been cancelled",
            Self::Stopped => STOPPED,
            Self::Overflow => TOO_FAR,
        })
    }
}

impl Error for ChangeError {}

/// The highest limit of jobs: half of what a backend can hold.
pub(crate) const MOST_JOBS: usize = 1 << 31;

/// The most threads of a service: their numbers take 16 bits of a word, with two values to spare.
pub(crate) const MOST_THREADS: usize = (1 << 16) - 2;

/// An invalid configuration.
#[non_exhaustive]
pub enum BuildError {
    /// The tick is zero or longer than 584 years.
    Tick(Duration),
    /// The number of threads is out of range, see [`workers`](crate::Builder::workers).
    Workers(usize),
    /// [`slow_after`](crate::Builder::slow_after) is zero: each run would be reported as slow.
    SlowAfterZero,
    /// [`max_jobs`](crate::Builder::max_jobs) is zero or higher than 2^31.
    Limit(usize),
    /// A thread could not be started.
    Thread(io::Error),
}

debug_as_shown!(BuildError);

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tick(tick) => {
                write!(f, "a tick of {tick:?}: it must be above zero and below 584 years")
            }
            Self::Workers(threads) => write!(
                f,
                "a service of {threads} threads: leave `workers` out for one per processor and \
                 at least four, or give it a number from 1 to {MOST_THREADS}",
            ),
            Self::SlowAfterZero => f.write_str(
                "a `slow_after` of zero: each run would be reported, so give it a time above zero, \
                 such as a second",
            ),
            Self::Limit(jobs) => write!(
                f,
                "a limit of {jobs} jobs: it is at least one and at most {MOST_JOBS}; leave \
                 `max_jobs` out for no limit"
            ),
            Self::Thread(error) => write!(f, "a thread could not be started: {error}"),
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        if let Self::Thread(error) = self { Some(error) } else { None }
    }
}
