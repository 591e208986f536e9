//! Errors as types. A call that refuses a job gives it back.

use crate::drive::MOST_THREADS;
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
/// With `?` it becomes a [`Reason`] or a `Box<dyn Error>`. An error that is passed between threads,
/// such as `Box<dyn Error + Send + Sync>` or that of `anyhow`, accepts it only if the job can be
/// passed too, which many closures cannot: then `map_err(Reason::from)` drops the job and keeps the
/// reason.
///
/// **To ask for the reason later**, convert the error by `.map_err(Reason::from)?`, as below. With
/// `?` alone the box contains this type with the type of the closure, which has no name:
/// `downcast_ref::<Reason>()` then finds nothing, and only the message is left.
///
/// ```
/// use std::cell::Cell;
/// use std::error::Error;
/// use std::time::Duration;
/// use wheelhouse_service::{Handle, JobHandle, Reason, Scheduler};
///
/// fn count_seconds(timers: &Handle) -> Result<JobHandle, Box<dyn Error + Send + Sync>> {
///     let count = Cell::new(0); // not `Sync`, and need not be: one run at a time
///     let plan = timers.every(Duration::from_secs(1));
///     Ok(plan.run(move |_| count.set(count.get() + 1)).map_err(Reason::from)?)
/// }
///
/// fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
///     let scheduler = Scheduler::builder().max_jobs(1).build()?;
///     count_seconds(&scheduler.handle())?;
///     let error = count_seconds(&scheduler.handle()).unwrap_err();
///     assert_eq!(error.downcast_ref(), Some(&Reason::LimitReached(1)));
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rejected<J> {
    /// Why.
    pub reason: Reason,
    /// What was to be scheduled: the closure, or the value that was to be sent.
    pub job: J,
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

/// What is said of a time that has no name.
const TOO_FAR: &str = "a time too far away to be named: at most 584 years from the clock's origin";

/// What is said by handles that outlive their service.
const STOPPED: &str =
    "the service has been stopped or dropped: keep the `Service` for as long as jobs are to run";

/// `Debug` that is `Display`: a `main` that returns the error prints it by `Debug`, and the message
/// has the remedy.
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
    /// A period of zero: it would run without end. For a single run there is
    /// [`after`](crate::Handle::after).
    ZeroPeriod,
    /// A period shorter than the tick, which is named here: several runs would be due at the same
    /// tick for ever.
    PeriodBelowTick(Duration),
    /// To be run zero times. Without [`times`](crate::Periodic::times) there is no end.
    ZeroTimes,
    /// The first run would be after the last moment there is, 584 years from the clock's origin.
    Overflow,
    /// The rule names no time in the future, see [`Handle::on`](crate::Handle::on).
    NoOccurrence,
    /// A key without a character. A job without a key is one on which [`key`](crate::OneShot::key)
    /// was not called.
    EmptyKey,
    /// A job with this key is pending or periodic, and was not to be replaced.
    DuplicateKey,
    /// As many jobs as are allowed, which is named here, are scheduled, see
    /// [`max_jobs`](crate::Builder::max_jobs).
    LimitReached(usize),
    /// The service has been stopped, or dropped: it is kept for as long as jobs are to run.
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
            Self::ZeroTimes => {
                f.write_str("a job to be run zero times: leave `times` out for no end")
            }
            Self::Overflow => f.write_str(TOO_FAR),
            Self::NoOccurrence => f.write_str(
                "a rule that names no time in the future: its years have passed, or it answers \
                 with past times",
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

/// Drops the job, which says nothing of why it was refused, so that `?` and
/// [`map_err`](Result::map_err) take the reason alone.
impl<J> From<Rejected<J>> for Reason {
    fn from(rejected: Rejected<J>) -> Self {
        rejected.reason
    }
}

/// Why a job was not cancelled or moved. What it says is decided: a job that answers `Running` has
/// begun its run, and one that was moved does not run before its new time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeError {
    /// No job has the key: none ever had it, or the last run of the one that had has begun, or it
    /// was cancelled. Once the service has been stopped, the answer is [`Stopped`](Self::Stopped)
    /// instead.
    UnknownKey,
    /// It is running now. In answer to a cancellation: this run continues, and no other follows. In
    /// answer to a move: this is its last run, and there is none to be moved.
    Running,
    /// It is over. How it ended is not kept of a one-shot job without name or key.
    Over,
    /// Its last run has ended.
    Finished,
    /// It was cancelled before.
    Cancelled,
    /// The service has been stopped. It gives the job back or has done so, unless there was none:
    /// by a key, [`Handle::cancel`](crate::Handle::cancel) and
    /// [`Handle::refresh`](crate::Handle::refresh) answer this for every key that no job has any
    /// more.
    Stopped,
    /// To be moved to a time too far away to be named. It stays as it was.
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
                "the job is over: it has run, or was cancelled; with a name, its handle knows which"
            }
            Self::Finished => "the job has finished",
            Self::Cancelled => "the job was cancelled before",
            Self::Stopped => STOPPED,
            Self::Overflow => TOO_FAR,
        })
    }
}

impl Error for ChangeError {}

/// A configuration that no scheduler can have.
#[non_exhaustive]
pub enum BuildError {
    /// A tick of zero, or of more than 584 years.
    Tick(Duration),
    /// A number of threads that cannot be, see [`workers`](crate::Builder::workers).
    Workers(usize),
    /// Each run to be reported as slow, [`slow_after`](crate::Builder::slow_after) a time of zero.
    SlowAfterZero,
    /// No job allowed: [`max_jobs`](crate::Builder::max_jobs) of zero.
    NoJobs,
    /// More jobs allowed than a backend can hold; [`Builder::MOST_JOBS`](crate::Builder::MOST_JOBS)
    /// is the most.
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
                "a service of {threads} threads: leave `workers` out for one per processor, or \
                 give it a number from 1 to {MOST_THREADS}",
            ),
            Self::SlowAfterZero => f.write_str(
                "a `slow_after` of zero: each run would be reported, so give it a time above zero, \
                 such as a second",
            ),
            Self::NoJobs => f.write_str(
                "a limit of zero jobs: each would be refused; leave `max_jobs` out for no limit",
            ),
            Self::Limit(jobs) => {
                let most = crate::Builder::MOST_JOBS;
                write!(f, "a limit of {jobs} jobs: a backend holds at most {most}")
            }
            Self::Thread(error) => write!(f, "a thread could not be started: {error}"),
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Thread(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for BuildError {
    fn from(error: io::Error) -> Self {
        Self::Thread(error)
    }
}
