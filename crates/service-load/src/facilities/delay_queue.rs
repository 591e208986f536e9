//! tokio-util's `DelayQueue`: one task owns it and receives commands through a channel.

use crate::facility::{Answer, Facility, join, start_thread, wait_for_marker};
use crate::ledger::{Job, PeriodicJob};
use anyhow::Result;
use rustc_hash::FxHashMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue::Key;

/// The most commands processed before the queue is polled for expired items.
const BATCH: usize = 1024;

enum Item {
    Job(Job),
    /// Boxed, so that it does not make every item larger.
    Periodic(Box<(Instant, Duration, PeriodicJob)>),
}

const _: () = assert!(size_of::<Item>() == size_of::<Job>());

/// A command for the task. The caller chooses the number of an item, so that it can cancel without
/// waiting for an answer.
enum Command {
    Insert(u64, Instant, Item),
    Remove(u64),
    Reset(u64, Instant),
    /// Is answered with the number of items in the queue.
    Mark(mpsc::Sender<usize>),
    /// Ends the task. The end of the channel would not do: a sender held elsewhere would keep the
    /// task alive.
    End,
}

/// The sending end, used by callers.
pub(crate) struct Queue {
    commands: UnboundedSender<Command>,
    next: AtomicU64,
    thread: JoinHandle<()>,
}

impl Queue {
    /// Starts a thread with a runtime for the task.
    pub(crate) fn start() -> Result<Self> {
        let (commands, receiver) = unbounded_channel();
        let runtime = Builder::new_current_thread().enable_time().build()?;
        let mut owner = Owner {
            commands: receiver,
            batch: Vec::with_capacity(BATCH),
            queue: DelayQueue::new(),
            keys: FxHashMap::default(),
        };
        let run = move || runtime.block_on(poll_fn(|context| owner.poll(context)));
        let thread = start_thread("delay-queue", run)?;
        Ok(Self { commands, next: AtomicU64::new(0), thread })
    }

    fn insert(&self, due: Instant, item: Item) -> Option<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.commands.send(Command::Insert(number, due, item)).ok()?;
        Some(number)
    }

    fn send(&self, command: Command) -> Answer {
        if self.commands.send(command).is_ok() { Answer::Sent } else { Answer::TooLate }
    }
}

impl Facility for Queue {
    type Handle = u64;
    type Session = u64;

    fn schedule(&self, due: Instant, job: Job) -> Option<u64> {
        self.insert(due, Item::Job(job))
    }

    fn cancel(&self, number: u64) -> Answer {
        self.send(Command::Remove(number))
    }

    fn open(&self, due: Instant, job: Job) -> Option<u64> {
        self.schedule(due, job)
    }

    fn refresh(&self, number: &u64, due: Instant) -> Answer {
        self.send(Command::Reset(*number, due))
    }

    fn every(&self, first: Instant, period: Duration, job: PeriodicJob) -> bool {
        self.insert(first, Item::Periodic(Box::new((first, period, job)))).is_some()
    }

    fn settle(&self, _: usize) -> Result<()> {
        self.count().map(drop)
    }

    fn count(&self) -> Result<usize> {
        wait_for_marker(|done| self.commands.send(Command::Mark(done)).is_ok())
    }

    fn stop(self) {
        self.send(Command::End);
        join(self.thread);
    }
}

/// The receiving end, which owns the queue.
struct Owner {
    commands: UnboundedReceiver<Command>,
    batch: Vec<Command>,
    queue: DelayQueue<(u64, Item)>,
    /// Keys of items that are in the queue. The key of a removed item must not be used: it panics,
    /// or belongs to another item by now.
    keys: FxHashMap<u64, Key>,
}

impl Owner {
    /// Processes commands and expiries by turns, until there are no more of either.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let mut batch = std::mem::take(&mut self.batch);
            let received = self.commands.poll_recv_many(context, &mut batch, BATCH);
            for command in batch.drain(..) {
                match command {
                    Command::End => return Poll::Ready(()),
                    command => self.process(command),
                }
            }
            self.batch = batch;
            let expired = self.expire(context);
            match received {
                Poll::Ready(0) => return Poll::Ready(()),
                Poll::Pending if expired == 0 => return Poll::Pending,
                _ => {}
            }
        }
    }

    fn process(&mut self, command: Command) {
        match command {
            Command::Insert(number, due, item) => {
                self.keys.insert(number, self.queue.insert_at((number, item), due.into()));
            }
            Command::Remove(number) => {
                if let Some(key) = self.keys.remove(&number) {
                    self.queue.remove(&key);
                }
            }
            Command::Reset(number, due) => {
                if let Some(key) = self.keys.get(&number) {
                    self.queue.reset_at(key, due.into());
                }
            }
            // The receiver may have timed out.
            Command::Mark(done) => done.send(self.queue.len()).unwrap_or_default(),
            Command::End => {}
        }
    }

    fn run_periodic(&mut self, number: u64, mut item: Box<(Instant, Duration, PeriodicJob)>) {
        let (due, period, job) = &mut *item;
        job.run();
        *due += *period;
        let due = *due;
        if job.left() > 0 {
            self.process(Command::Insert(number, due, Item::Periodic(item)));
        }
    }

    fn expire(&mut self, context: &mut Context<'_>) -> usize {
        let mut expired = 0;
        while let Poll::Ready(Some(item)) = self.queue.poll_expired(context) {
            let (number, item) = item.into_inner();
            self.keys.remove(&number);
            match item {
                Item::Job(job) => job.run(),
                Item::Periodic(item) => self.run_periodic(number, item),
            }
            expired += 1;
        }
        expired
    }
}
