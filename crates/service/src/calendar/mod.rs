//! Calendar jobs: a rule names the times of their runs.

#[cfg(feature = "cron")]
pub mod cron;
#[cfg(feature = "cron")]
mod plain_line;

use crate::event::EventKind;
use crate::guard::guarded;
use crate::handle::Handle;
use crate::job::{Backoff, Group, Key, Pace, Repeat, draw_jitter};
use crate::job_handle::JobHandle;
use crate::plan::{Options, common_methods, repeated_methods};
use crate::shared::{Run, RunFuture, RunResult, Work, unboxed};
use crate::time::Due;
use crate::work::{AsyncEach, CallEach, SendEach, call_again};
use crate::{Reason, Rejected};
use crossbeam_channel::Sender;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Names the times at which a job runs: a closure, or with the feature `cron` a `cron::Cron`.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use wheelhouse_service::{ManualClock, Moment, Scheduler};
///
/// /// Each full hour, UTC.
/// fn hourly(after: SystemTime) -> Option<SystemTime> {
///     let hours = after.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs() / 3600;
///     Some(SystemTime::UNIX_EPOCH + Duration::from_secs((hours + 1) * 3600))
/// }
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let clock = ManualClock::with_wall(SystemTime::UNIX_EPOCH + Duration::from_secs(1000));
///     let mut scheduler = Scheduler::builder().clock(clock.clone()).build()?;
///     let timers = scheduler.handle();
///     let chime = timers.on(hourly).named("chime");
///     let job = chime.run(|run| println!("chime {}", run.number()))?;
///     assert_eq!(job.remaining(), Some(Duration::from_secs(2600)));
///     scheduler.play(&clock, Moment::ORIGIN.saturating_add(Duration::from_secs(24 * 3600)));
///     assert_eq!(job.runs(), 24);
///     Ok(())
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name the times of a job",
    label = "expected a cron line read by `Cron::new`, or another `Rule`",
    note = "a cron line (feature `cron`): `timers.on(Cron::new(\"30 2 * * *\", TimeZone::UTC)?)`",
    note = "any other rule: a closure `|after: SystemTime| -> Option<SystemTime>` that returns the \
            first time after `after`"
)]
pub trait Rule: Send + 'static {
    /// The first time after `after`; `None` if there is none. If it is not later than `after`, the
    /// job ends, as for `None`.
    fn next(&mut self, after: SystemTime) -> Option<SystemTime>;
}

// Otherwise the compiler would ask for a closure, and not show the hint above.
#[diagnostic::do_not_recommend]
impl<F: FnMut(SystemTime) -> Option<SystemTime> + Send + 'static> Rule for F {
    fn next(&mut self, after: SystemTime) -> Option<SystemTime> {
        self(after)
    }
}

/// When a rule that panicked is asked again, and a run that was dropped before it began is retried.
const RETRY: Duration = Duration::from_secs(60);

/// A job at the times that a rule names: from [`Handle::on`]. Nothing is scheduled until
/// [`run`](Self::run) or [`send`](Self::send) is called. If such a call fails, its error has the
/// [`Reason`], and the closure or value.
///
/// The service asks the rule for the next time when a run begins. If one or more times pass during
/// a run, or while the machine stalls, one late run makes up for the first of them and the others
/// are skipped, not counted as missed; [`Run::time`] returns the time that a run is for. A run
/// never begins before the wall clock shows its time, see [`Handle::at`].
///
/// No time has two runs. If the wall clock is set back, the rule is asked only for times after that
/// of the last run, and a run that is pending stays the next one. A run that the caller
/// [moved](JobHandle::refresh) has no time of the rule. When it begins, the rule is asked for the
/// next time. So a run that was moved to an earlier time is an additional run. If it was moved to a
/// later time, the times before that have no run.
///
/// The job ends when the rule has no further time, after [`times(n)`](Self::times) runs, or when a
/// run calls [`Run::end`]. A rule without a time in the future is refused:
/// [`Reason::NoOccurrence`]. The last run of a rule that ends is not [retried](Self::retry). If the
/// rule panics, that is reported as a panic of the job; the run takes place, and the rule is asked
/// again a minute after it. A run that was dropped before it began is retried after a minute, for
/// the same time.
#[must_use = "nothing is scheduled until `run` or `send` is called"]
pub struct OnRule<'h> {
    options: Options<'h>,
    times: Option<u64>,
    /// Type-erased, so the compiler has a single message for a type that is not a rule.
    rule: Box<dyn Rule>,
    first: Option<SystemTime>,
}

impl OnRule<'_> {
    common_methods!();
    repeated_methods!();

    fn schedule_again<W: Work>(mut self, work: W) -> Result<JobHandle, Rejected<W>> {
        let tick = self.options.handle.ticks().length();
        // The period is only used if the rule panics or a run is dropped. A shorter period would
        // retry once for each period of a stall.
        let repeat = Repeat::new(tick.max(RETRY), self.times, Pace::Rule, tick);
        let repeat = self.first.ok_or(Reason::NoOccurrence).and(repeat).map(Some);
        let jitter = self.options.rare_state().jitter;
        let inner = RunResult { work: Some(Box::new(work)), ..RunResult::default() };
        let work = CallOnRule { rule: self.rule, last: None, jitter, inner };
        let inner = |work: CallOnRule| unboxed(work.inner.work.expect("it has not run"));
        self.options.schedule(repeat, work).map_err(|rejected| rejected.map(inner))
    }
}

impl Handle {
    /// Plans a job at the times that a rule names: a cron line (feature `cron`), or a closure.
    ///
    /// A cron line is read by `Cron::new`. A `&str` alone does not compile:
    ///
    /// ```compile_fail,E0277
    /// let service = wheelhouse_service::Service::start().unwrap();
    /// let nightly = service.handle().on("30 2 * * *"); // on(Cron::new("30 2 * * *", zone)?)
    /// ```
    pub fn on<R: Rule>(&self, mut rule: R) -> OnRule<'_> {
        let wall = self.clock().wall();
        let first = rule.next(wall).filter(|first| *first > wall);
        let due = first.and_then(|time| Due::at_time(self.clock(), time));
        OnRule { options: Options::new(self, due), times: None, rule: Box::new(rule), first }
    }
}

/// Work, and the rule that names the times of its runs.
struct CallOnRule {
    rule: Box<dyn Rule>,
    /// The time that the last run was for.
    last: Option<SystemTime>,
    jitter: Duration,
    inner: RunResult,
}

impl CallOnRule {
    /// Moves the next run to the next time of the rule, or ends the job if there is none. Returns
    /// the work, unless the run only asks the rule.
    ///
    /// It is called before the closure. So a closure that panics has a next run, and a closure that
    /// ends or moves the job overrides the rule.
    fn begin(&mut self, run: &Run<'_>) -> Option<Box<dyn Work>> {
        if !run.is_last() && !run.facts.extra {
            self.plan_next(run);
        }
        let work = self.inner.work.take_if(|_| !run.facts.asks_rule_only);
        let is_here = work.is_some() || run.facts.asks_rule_only;
        debug_assert!(is_here, "the run before put the work back");
        work
    }

    fn plan_next(&mut self, run: &Run<'_>) {
        // A run that was moved to a moment has no time of the rule, and replaces none.
        self.last = run.time().or(self.last);
        let shards = &run.service.shards;
        let wall = shards.clock.wall();
        let after = self.last.map_or(wall, |last| wall.max(last));
        let next = match guarded(|| self.rule.next(after)) {
            // A rule that keeps naming a time in the past would make the job run without a pause.
            Ok(next) => next.filter(|next| *next > after),
            Err(message) => {
                shards.with(run.facts.id.shard(), |state| state.ask_rule_again(run.facts.id));
                return run.job().fail(EventKind::Panicked(message));
            }
        };
        let due = next.and_then(|next| Due::at_time(&*shards.clock, next));
        let due = due.map(|due| due.delayed_by(draw_jitter(self.jitter)));
        if shards.move_to(run.facts.id, due, false).is_err() {
            run.end();
        }
    }
}

impl Work for CallOnRule {
    fn call(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) {
        call_again(self, result, |it, result| {
            it.begin(run).into_iter().for_each(|work| work.call(run, &mut it.inner));
            let RunResult { error, undelivered, .. } = &mut it.inner;
            (result.error, result.undelivered) = (error.take(), undelivered.take());
        });
    }

    fn call_async(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) -> Option<RunFuture> {
        call_again(self, result, |it, _| {
            it.begin(run).and_then(|work| work.call_async(run, &mut it.inner))
        })
    }
}
