//! The work of async jobs: a closure is called when a run begins, and the future that it returns is
//! the run.

use crate::shared::{Run, RunFuture, RunResult, Work};
use crate::work::{RunOutput, call_again};
use std::marker::PhantomData;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// A closure that returns a future, and the time limit of that. `C` says how often the closure is
/// called.
pub(crate) struct Async<C, Fut> {
    pub(crate) call: C,
    limit: Option<Duration>,
    future: PhantomData<fn() -> Fut>,
}

impl<C, Fut> Async<C, Fut> {
    pub(crate) fn new(call: C, limit: Option<Duration>) -> Self {
        Self { call, limit, future: PhantomData }
    }

    fn run(future: Fut, limit: Option<Duration>) -> RunFuture
    where
        Fut: Future<Output: RunOutput> + Send + 'static,
    {
        RunFuture { future: Box::pin(async { future.await.into_result() }), limit }
    }
}

/// A closure that is called once.
pub(crate) struct AsyncOnce<F>(pub(crate) F);

/// A closure that is called again when the run before has ended.
pub(crate) struct AsyncEach<F>(pub(crate) F);

/// The methods of both. `call` runs a returned job on the thread of its caller.
macro_rules! call {
    () => {
        fn call(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) {
            if let Some(run) = self.call_async(run, result) {
                result.error = block_on(run.future).err();
            }
        }
    };
}

impl<F, Fut> Work for Async<AsyncOnce<F>, Fut>
where
    F: FnOnce(&Run<'_>) -> Fut + Send + 'static,
    Fut: Future<Output: RunOutput> + Send + 'static,
{
    fn call_async(self: Box<Self>, run: &Run<'_>, _: &mut RunResult) -> Option<RunFuture> {
        Some(Self::run((self.call.0)(run), self.limit))
    }

    call!();
}

impl<F, Fut> Work for Async<AsyncEach<F>, Fut>
where
    F: FnMut(&Run<'_>) -> Fut + Send + 'static,
    Fut: Future<Output: RunOutput> + Send + 'static,
{
    fn call_async(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) -> Option<RunFuture> {
        let (limit, mut future) = (self.limit, None);
        call_again(self, result, |work| future = Some((work.call.0)(run)));
        future.map(|future| Self::run(future, limit))
    }

    call!();
}

/// Polls a future on this thread until it is ready.
fn block_on<T>(future: impl Future<Output = T>) -> T {
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
