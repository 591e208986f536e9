//! A run that is a future, for any executor of futures.

use super::due_run::{self, DueRun};
use crate::future::Sleep;
use crate::guard::{discard, guarded};
use crate::handle::{Back, Handle, RunFuture, Work};
use crate::job::Seat;
use crate::observe::RunSpan;
use crate::shard::Begun;
use crate::time::Moment;
use crate::{EventKind, JobHandle};
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// A run of an async job: a future to be polled until it is ready, by the executor of
/// [`Builder::spawn_on`](crate::Builder::spawn_on), or else by the thread that leads.
///
/// The run begins with the first poll. Until then the job can be cancelled or moved; then the
/// future does nothing. Dropping it before it is ready is reported as [`EventKind::Abandoned`]; a
/// periodic job continues with its next period. Panics are caught and do not reach the executor.
#[must_use = "a run that is dropped is reported as abandoned"]
pub struct AsyncRun {
    state: State,
}

enum State {
    Due(DueRun),
    /// In a box, so that the future is small before it begins.
    Going(Box<Going>),
    Over,
}

struct Going {
    timers: Handle,
    begun: Begun<dyn Work>,
    started: Moment,
    run: RunFuture,
    /// Ready when the run has reached its limit.
    limit: Option<Sleep>,
    back: Back,
    span: RunSpan,
    /// Its place in a group. Released last.
    seat: Option<Seat>,
}

impl AsyncRun {
    pub(super) fn new(run: DueRun) -> Self {
        Self { state: State::Due(run) }
    }

    /// The job. `None` when the run is over.
    pub fn job(&self) -> Option<JobHandle> {
        match &self.state {
            State::Due(run) => Some(run.job()),
            State::Going(going) => Some(going.job()),
            State::Over => None,
        }
    }
}

/// Begins a run, unless its turn is over.
fn begin(mut due: DueRun) -> Option<Box<Going>> {
    let timers = due.timers().clone();
    let mut begun = due.begin()?;
    let started = timers.now();
    due_run::free_key(timers.shared(), &begun);
    let (work, mut back, mut run) = (begun.work.take(), Back::default(), None);
    let (outcome, span) = {
        let its = due_run::run_of(timers.anchor(begun.id.shard()), &begun, started);
        let span = RunSpan::of(&its);
        let entered = span.enter();
        let outcome = guarded(|| run = work.and_then(|work| work.call_async(&its, &mut back)));
        drop(entered);
        (outcome, span)
    };
    let Some(run) = run else {
        let outcome = outcome.map_err(EventKind::Panicked);
        due_run::end(&timers, due_run::finish(&timers, begun, (started, None), outcome, back).0);
        return None;
    };
    let limit = run.limit.map(|limit| timers.sleep(limit).limiting_run());
    Some(Box::new(Going {
        timers,
        begun,
        started,
        run,
        limit,
        back,
        span,
        seat: due.seat().take(),
    }))
}

impl Going {
    fn job(&self) -> JobHandle {
        self.timers.job_handle(self.begun.id, self.begun.info.clone())
    }

    /// Polls the future. Returns the result if it has ended.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), EventKind>> {
        let entered = self.span.enter();
        let polled = guarded(|| self.run.future.as_mut().poll(context));
        drop(entered);
        match polled {
            Err(message) => return Poll::Ready(Err(EventKind::Panicked(message))),
            Ok(Poll::Ready(outcome)) => {
                self.back.error = outcome.err();
                return Poll::Ready(due_run::result(&self.begun, &mut self.back));
            }
            Ok(Poll::Pending) => {}
        }
        let (Some(limit), Some(sleep)) = (self.run.limit, &mut self.limit) else {
            return Poll::Pending;
        };
        match Pin::new(sleep).poll(context) {
            Poll::Ready(Ok(())) => Poll::Ready(Err(EventKind::TimedOut(limit))),
            // The service has ended, and no thread is left to enforce the limit; or the limit is
            // out of range. Then there is no limit.
            Poll::Ready(Err(_)) => {
                self.limit = None;
                Poll::Pending
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn end(self, outcome: Result<(), EventKind>) {
        let Self { timers, begun, started, run, limit, back, span, seat } = self;
        // The future and what it owns are dropped before the run is over.
        let entered = span.enter();
        discard(run);
        drop(entered);
        drop(limit);
        due_run::end(&timers, due_run::finish(&timers, begun, (started, None), outcome, back).0);
        drop(seat);
    }
}

impl Future for AsyncRun {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let state = std::mem::replace(&mut self.state, State::Over);
        let timers = match &state {
            State::Due(due) => due.timers().clone(),
            State::Going(going) => going.timers.clone(),
            State::Over => return Poll::Ready(()),
        };
        let _inside = timers.house().enter();
        let going = match state {
            State::Due(due) => begin(due),
            State::Going(going) => Some(going),
            State::Over => None,
        };
        let Some(mut going) = going else { return Poll::Ready(()) };
        match going.poll(context) {
            Poll::Ready(outcome) => {
                going.end(outcome);
                Poll::Ready(())
            }
            Poll::Pending => {
                self.state = State::Going(going);
                Poll::Pending
            }
        }
    }
}

impl Drop for AsyncRun {
    fn drop(&mut self) {
        if let State::Going(going) = std::mem::replace(&mut self.state, State::Over) {
            let timers = going.timers.clone();
            let _inside = timers.house().enter();
            timers.house().with(going.begun.id.shard(), |core| core.counts.abandoned += 1);
            going.end(Err(EventKind::Abandoned));
        }
    }
}

impl fmt::Debug for AsyncRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AsyncRun").field(&self.job()).finish()
    }
}

/// Polls a future on this thread until it is ready.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}
