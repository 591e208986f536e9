//! The methods that the kinds of plan share.

/// The methods of all kinds of plan.
macro_rules! common_methods {
    () => {
        /// Gives the job a name, for messages and traces. The [handles](JobHandle) of a named job
        /// return how it ended; a one-shot job without name or key does not keep its outcome. Costs
        /// some 200 bytes and an allocation.
        pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
            self.options.rare_options().name = Some(name.into());
            self
        }

        /// Gives the job a unique key, under which it can be found, cancelled and moved until its
        /// last run begins. If another job has the key, this one is refused.
        ///
        /// The key is free *before* the closure of the last run is called, so that the closure can
        /// schedule another job under it. Other threads can do so too. If the closure removes data
        /// under the same key elsewhere, compare [`JobHandle::number`] first, as the example
        /// `session_store` does: the data may be that of the next job.
        pub fn key(mut self, key: impl Into<Key>) -> Self {
            let rare_options = self.options.rare_options();
            (rare_options.key, rare_options.replace) = (Some(key.into()), false);
            self
        }

        /// Gives the job a key. If another job has the key, that job is cancelled; if it is
        /// running, its run continues. For an instant both exist, and both count for
        /// [`max_jobs`](crate::Builder::max_jobs).
        pub fn replacing(mut self, key: impl Into<Key>) -> Self {
            let rare_options = self.options.rare_options();
            (rare_options.key, rare_options.replace) = (Some(key.into()), true);
            self
        }

        /// Allows runs to be late by up to `slack`, so that the driver wakes up once for jobs that
        /// are due close together: deadlines are rounded up to whole multiples of it. The default
        /// is a tick, and for [periodic](crate::Periodic) jobs a thousandth of the period, a
        /// millisecond at most.
        pub fn slack(mut self, slack: Duration) -> Self {
            self.options.rare_options().slack = Some(slack);
            self
        }

        /// Retries runs that fail: runs that return an [error](Self::try_run), panic, exceed their
        /// [limit](Self::limit), or are dropped by their executor. A one-shot job is retried only
        /// if it is scheduled by `try_run` or `try_run_async`: the closure of `run` can be called
        /// only once.
        ///
        /// Until an attempt succeeds or the last has failed, the job is not over and keeps its key.
        /// A periodic job keeps its schedule: if its next run is due before the retry, that run is
        /// the next attempt. Retries are additional to the runs that
        /// [`times`](crate::Periodic::times) counts.
        pub fn retry(mut self, backoff: Backoff) -> Self {
            self.options.rare_state().retry = Some(backoff);
            self
        }

        /// Declares that the runs are futures. Returns their time limit.
        pub(crate) fn be_async(&mut self) -> Option<Duration> {
            self.options.rare_state().dispatch.is_async = true;
            self.options.rare_options().limit
        }

        /// Runs begin only when the group has a free place, see [`Group`].
        pub fn group(mut self, group: &Group) -> Self {
            self.options.rare_state().dispatch.group = Some(group.clone());
            self
        }

        /// Declares that the runs may block, for instance because they wait for a disk. Another
        /// thread then takes the lead before each run, so other jobs do not even wait for the
        /// [patience](crate::Builder::workers). To wake that thread costs the leader some 5
        /// microseconds. It has no effect if all threads are in runs, or if there is only one.
        pub fn blocking(mut self) -> Self {
            self.options.rare_state().dispatch.blocks = true;
            self
        }

        /// Ends each run of an [async job](Self::run_async) after `limit`: the future is dropped,
        /// which is [reported](crate::EventKind::TimedOut). Closures cannot be interrupted, and
        /// ignore the limit. The limit holds until the threads of the service have ended, so only a
        /// run on [another executor](crate::Builder::spawn_on) can outlive it.
        pub fn limit(mut self, limit: Duration) -> Self {
            self.options.rare_options().limit = Some(limit);
            self
        }

        /// Schedules a closure that may fail. An error that it returns is
        /// [kept](JobHandle::last_error) and [reported](crate::EventKind::GaveUp), and with
        /// [`retry`](Self::retry) the run is retried.
        pub fn try_run<F, T, E>(self, function: F) -> Result<JobHandle, Rejected<F>>
        where
            F: FnMut(&Run<'_>) -> Result<T, E> + Send + 'static,
            E: fmt::Display,
        {
            self.schedule_again(CallEach(function)).map_err(|rejected| rejected.map(|work| work.0))
        }

        /// Schedules an async job that may fail: [`run_async`](Self::run_async) with the errors of
        /// [`try_run`](Self::try_run). A run that exceeds its [limit](Self::limit) has failed too.
        pub fn try_run_async<F, Fut, T, E>(mut self, function: F) -> Result<JobHandle, Rejected<F>>
        where
            F: FnMut(&Run<'_>) -> Fut + Send + 'static,
            Fut: Future<Output = Result<T, E>> + Send + 'static,
            E: fmt::Display,
        {
            let limit = self.be_async();
            self.schedule_again(AsyncEach { function, limit })
                .map_err(|rejected| rejected.map(|work| work.function))
        }
    };
}

/// The methods of plans whose jobs have several runs.
macro_rules! repeated_methods {
    () => {
        /// Ends the job after this number of runs.
        pub fn times(mut self, runs: u64) -> Self {
            self.times = Some(runs);
            self
        }

        /// Delays each run by a random time up to `jitter`, drawn for each run, so that many jobs
        /// that started together do not all run at the same moment. The schedule does not drift,
        /// and a run that is late because of jitter does not count as missing periods.
        /// [`Run::deadline`] includes the jitter.
        ///
        /// The delay counts from the time in the schedule, even if the first time is past. Then the
        /// first run is due at once, unless its time plus the delay is still to come.
        pub fn jitter(mut self, jitter: Duration) -> Self {
            self.options.rare_state().jitter = jitter;
            self
        }

        /// Schedules a closure. One run at a time.
        pub fn run<F>(self, function: F) -> Result<JobHandle, Rejected<F>>
        where
            F: FnMut(&Run<'_>) + Send + 'static,
        {
            self.schedule_again(CallEach(function)).map_err(|rejected| rejected.map(|work| work.0))
        }

        /// Schedules an async job, see [`OneShot::run_async`](crate::OneShot::run_async). One run
        /// at a time: a run ends when its future is ready.
        pub fn run_async<F, Fut>(mut self, function: F) -> Result<JobHandle, Rejected<F>>
        where
            F: FnMut(&Run<'_>) -> Fut + Send + 'static,
            Fut: Future<Output = ()> + Send + 'static,
        {
            let limit = self.be_async();
            self.schedule_again(AsyncEach { function, limit })
                .map_err(|rejected| rejected.map(|work| work.function))
        }

        /// Sends a copy of a value at each time, from the thread that leads; at the times of a
        /// rule from where closures run, since the rule is your code. Cloning the value should be
        /// cheap, as for a value behind an [`Arc`]. If the channel is full, the copy is dropped,
        /// which is [reported](crate::EventKind::ChannelFull). If the receiver is gone, the job
        /// ends.
        pub fn send<T: Clone + Send + 'static>(
            self,
            sender: &Sender<T>,
            value: T,
        ) -> Result<JobHandle, Rejected<T>> {
            self.schedule_again(SendEach { sender: sender.clone(), value })
                .map_err(|rejected| rejected.map(|work| work.value))
        }
    };
}
pub(crate) use {common_methods, repeated_methods};
