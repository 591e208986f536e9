//! The end of a service, step by step: it takes no more jobs, waits, gives back what is left, and
//! ends its threads.

use super::{Service, Stop, Stopped, give_back, given_back, in_order};
use crate::Job;
use crate::shard::Stage;
use crate::sync::thread;
use parking_lot::Mutex;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

impl Service {
    /// Stops, and gives back the jobs that were still to run. From the first instant of the call,
    /// handles refuse new jobs.
    ///
    /// A job that is to run once, and was not cancelled, has begun its run or is among these, and
    /// never both; a periodic one of which a run is still to come is among them, whether or not it
    /// ran before. May be called by a job of the service, or by an observer of its events: it does
    /// not wait for that run, nor is the job given back.
    pub fn stop(self, how: Stop) -> Stopped {
        let own = self.timers.house().own();
        let jobs = self.begin_stop(how, own);
        self.end_stop(how, own, true, jobs)
    }

    /// The same without blocking: the future is ready when the service has stopped. The stop begins
    /// with the call, whether or not the future is awaited, and goes on if it is dropped. It takes
    /// a thread while it waits.
    ///
    /// An async job that awaits it in itself is not waited for.
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheelhouse_service::{Service, Stop};
    ///
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// let service = Service::start()?;
    /// service.handle().after(Duration::from_secs(3600)).run(|_| println!("an hour has passed"))?;
    /// let stopped = service.stop_async(Stop::WaitFor(Duration::from_secs(10))).await;
    /// assert_eq!(stopped.jobs.len(), 1);
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(serve())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stop_async(self, how: Stop) -> Stopping {
        let own = self.timers.house().own();
        let jobs = self.begin_stop(how, own);
        // A thread of the pool may be what waits for this.
        Stopping::begin(move || self.end_stop(how, own, own == 0, jobs))
    }

    /// Takes no more jobs, and takes back what will not run.
    fn begin_stop(&self, how: Stop, own: usize) -> Vec<Job> {
        let house = self.timers.house();
        let jobs = match how {
            Stop::Drain(_) => {
                let taken = house.drain();
                taken.into_iter().map(|taken| given_back(&self.timers, taken)).collect()
            }
            Stop::Now => give_back(&self.timers, true, Stage::Ending),
            // A run that was handed out may wait for the thread that this job has.
            Stop::Wait | Stop::WaitFor(_) => give_back(&self.timers, own > 0, Stage::Closed),
        };
        house.signal.wake();
        jobs
    }

    /// Waits, and takes back the rest; for the threads too, if they may be waited for.
    fn end_stop(mut self, how: Stop, own: usize, join: bool, mut jobs: Vec<Job>) -> Stopped {
        let house = self.timers.house();
        let ended = match how {
            Stop::Now => false,
            Stop::Wait => house.wait(Duration::MAX, own),
            Stop::WaitFor(longest) => house.wait(longest, own),
            Stop::Drain(longest) => {
                let begin = Instant::now();
                house.wait_for_drain(longest, own);
                jobs.extend(give_back(&self.timers, own > 0, Stage::Closed));
                house.signal.wake();
                house.wait(longest.saturating_sub(begin.elapsed()), own)
            }
        };
        if how != Stop::Now {
            // Runs that were handed out and have not begun, jobs that were moved to a later time
            // since then, and jobs that wait for their next run.
            jobs.extend(give_back(&self.timers, true, Stage::Ending));
        }
        let running = house.runs().1;
        self.end_threads(ended && join);
        Stopped { jobs: in_order(jobs), running }
    }

    /// Ends the threads, and waits for that if `wait` is set. A thread of the service never waits:
    /// a job may stop the service that runs it, and other threads may wait for that job.
    pub(super) fn end_threads(&mut self, wait: bool) {
        self.pool.end();
        let threads = std::mem::take(&mut self.threads);
        let own = thread::current().id();
        if wait && threads.iter().all(|thread| thread.thread().id() != own) {
            // They do not panic: what users gave is run guarded.
            threads.into_iter().for_each(|thread| thread.join().unwrap_or_default());
        }
    }
}

/// A service that is being stopped: from [`Service::stop_async`]. Ready when it has stopped, with
/// the result of the stop.
#[must_use = "the service has stopped when this is ready"]
pub struct Stopping<T = Stopped> {
    answer: Arc<Mutex<Answer<T>>>,
}

struct Answer<T> {
    stopped: Option<T>,
    waker: Option<Waker>,
}

impl<T: Send + 'static> Stopping<T> {
    /// Calls `stop` on a new thread, or on this one if none can be started. For durable timers
    /// too.
    #[doc(hidden)]
    pub fn begin(stop: impl FnOnce() -> T + Send + 'static) -> Self {
        let answer = Arc::new(Mutex::new(Answer { stopped: None, waker: None }));
        let (told, stop) = (Arc::clone(&answer), Arc::new(Mutex::new(Some(stop))));
        let stop = move || {
            let Some(stop) = stop.lock().take() else { return };
            let stopped = stop();
            let mut answer = told.lock();
            answer.stopped = Some(stopped);
            let waker = answer.waker.take();
            drop(answer);
            waker.into_iter().for_each(Waker::wake);
        };
        let name = "wheelhouse-stop".to_owned();
        if let Err(_no_thread) = thread::Builder::new().name(name).spawn(stop.clone()) {
            stop();
        }
        Self { answer }
    }
}

impl<T> Future for Stopping<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut answer = self.answer.lock();
        match answer.stopped.take() {
            Some(stopped) => Poll::Ready(stopped),
            None => {
                answer.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> fmt::Debug for Stopping<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stopped = self.answer.lock().stopped.is_some();
        f.debug_struct("Stopping").field("stopped", &stopped).finish()
    }
}
