//! Wakes waiting programs when another process has committed an earlier job. On Linux, by inotify.
//!
//! ```text
//!  A: commits, then reads its holder file ──▶ kernel ──▶ B: thread of the watcher ──▶ waker
//!  A: dies; the kernel closes its holder file ──────┘
//! ```
//!
//! * **A signal** is a read of one byte of the committer's own holder file. It writes nothing, so
//!   it dirties no page and leaves nothing behind when a process is killed. A watcher watches the
//!   holder files of all other stores, but not its own, so no program wakes itself. If a process is
//!   killed after its commit and before its signal, the end of the process is the signal.
//! * **A new holder file** is found by a watch on the folder: it gets its name by a rename.
//! * **`commit_in`** cannot signal after the commit of its caller. It opens the journal instead. A
//!   watcher then looks for the commit: at once, because the transaction may be short, and again
//!   from the next write to the journal on, which is that commit, because its transaction has the
//!   write lock. It is visible only after its sync, so the watcher looks several times, with pauses
//!   that double up to [`LAST_LOOK`].
//!
//! Signals that come faster than a watcher handles them are merged by the kernel, and one wake-up
//! serves all of them. [`PAUSE`] bounds the number of wake-ups.
//!
//! The kernel reports the events of one machine. If there is no inotify, or it has no watch
//! left, programs are not woken, but they poll the store.

use crate::holder;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_durable::store::Waker;

/// A read by its holder, or the end of its holder.
const SIGNALS: WatchFlags = WatchFlags::ACCESS.union(WatchFlags::CLOSE_WRITE);

/// The pause after a wake-up, so that there are at most 4,000 a second.
const PAUSE: Duration = Duration::from_micros(250);

/// The pauses before the first and the last look for a commit of `commit_in`. After about a second
/// in all, the next poll finds it.
const FIRST_LOOK: Duration = Duration::from_millis(2);
const LAST_LOOK: Duration = Duration::from_millis(512);

/// Tells the watchers of other stores that a commit has made a job visible earlier.
pub(crate) fn signal(holder: &File) {
    // The content does not matter.
    let _ = std::os::unix::fs::FileExt::read_at(holder, &mut [0], 0);
}

/// Tells all watchers that a connection with this journal will commit jobs.
///
/// Closing a file drops the process's POSIX locks on it. SQLite has locks on the store and on the
/// index of the journal, but none on the journal.
pub(crate) fn announce(journal: &Path) {
    drop(File::open(journal));
}

/// A thread that calls a waker at each signal of another store. It ends after this value.
pub(crate) struct Watcher(PipeWriter);

impl Drop for Watcher {
    fn drop(&mut self) {
        // The end of the pipe is not enough: a child that was forked may keep a copy of it. If the
        // write fails, the thread has ended.
        _ = (&self.0).write(&[0]);
    }
}

struct Watch {
    inotify: OwnedFd,
    /// The store, and its own holder file.
    store: PathBuf,
    own: Option<PathBuf>,
    journal: PathBuf,
    /// The watch of the journal.
    journal_watch: i32,
    /// The time of the next look, and the pause before it.
    look: Option<(Instant, Duration)>,
    /// Ends when the [`Watcher`] is dropped.
    end: PipeReader,
    waker: Waker,
}

impl Watcher {
    /// Watches the store at `store` with this journal, whose own holder file is `own`.
    ///
    /// # Errors
    ///
    /// If the system has no inotify, or no instance, watch or thread is left.
    pub(crate) fn start(
        (store, journal): (&Path, &Path),
        own: Option<&Path>,
        waker: Waker,
    ) -> io::Result<Self> {
        let (end, ends) = io::pipe()?;
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let journal_watch = inotify::add_watch(&inotify, journal, WatchFlags::OPEN)?;
        // Before the files are listed, so that no later one is missed.
        inotify::add_watch(&inotify, holder::folder(store), WatchFlags::MOVED_TO)?;
        let (store, journal) = (store.to_owned(), journal.to_owned());
        let (own, look) = (own.map(Path::to_owned), None);
        let watch = Watch { inotify, store, own, journal, journal_watch, look, end, waker };
        watch.watch_holders()?;
        thread::Builder::new().name("wheelhouse-sqlite".into()).spawn(move || watch.run())?;
        Ok(Self(ends))
    }
}

impl Watch {
    /// Watches the holder files of all other stores. A watch that exists stays as it is.
    fn watch_holders(&self) -> io::Result<()> {
        for (_, path) in holder::paths(&self.store)? {
            if self.own.as_ref() != Some(&path) {
                match inotify::add_watch(&self.inotify, &path, SIGNALS) {
                    // Its holder has just closed, or does not let this user read it.
                    Err(Errno::NOENT | Errno::ACCESS) => {}
                    watched => drop(watched?),
                }
            }
        }
        Ok(())
    }

    fn run(mut self) {
        while self.wait().unwrap_or(false) {
            let signalled = self.read_events();
            if self.looks() | signalled {
                (self.waker)();
                thread::sleep(PAUSE);
            }
        }
    }

    /// Returns `true` if it is time to look, and plans the next look.
    fn looks(&mut self) -> bool {
        let now = Instant::now();
        let Some((_, pause)) = self.look.filter(|(at, _)| *at <= now) else { return false };
        self.look = (pause < LAST_LOOK).then(|| (now + 2 * pause, 2 * pause));
        true
    }

    /// Waits for an event, or for the time of the next look. Returns `false` at the end.
    fn wait(&self) -> io::Result<bool> {
        let left = self.look.map(|(at, _)| at.saturating_duration_since(Instant::now()));
        let left = left.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        let all = PollFlags::IN;
        let mut files = [PollFd::new(&self.inotify, all), PollFd::new(&self.end, all)];
        match poll(&mut files, left.as_ref()) {
            Ok(_) => Ok(files[1].revents().is_empty()),
            Err(Errno::INTR) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads all events that have arrived. Returns `true` if one is a signal.
    fn read_events(&mut self) -> bool {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let (mut signalled, mut has_new, mut written, mut opened) = (false, false, false, false);
        {
            let mut events = Reader::new(&self.inotify, &mut buffer);
            let prefix = holder::prefix(&self.store);
            while let Ok(event) = events.next() {
                if let Some(name) = event.file_name() {
                    has_new |= name.to_bytes().starts_with(prefix.as_bytes());
                } else if event.wd() == self.journal_watch {
                    written |= event.events().contains(ReadFlags::MODIFY);
                    opened |= event.events().contains(ReadFlags::OPEN);
                } else if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                    has_new = true;
                } else {
                    signalled |= !event.events().contains(ReadFlags::IGNORED);
                }
            }
        }
        if opened || written {
            self.begin_to_look(opened);
        }
        if has_new {
            // A store that no watch is left for does not wake this one. It is polled.
            let _ = self.watch_holders();
        }
        // A new store may have committed before its holder file was watched.
        signalled | has_new
    }

    /// Begins to look for a commit of another connection. If that has just opened the journal, its
    /// commit may be over already, or be the next write to the journal.
    fn begin_to_look(&mut self, opened: bool) {
        let first = Instant::now() + FIRST_LOOK;
        // A look that is planned earlier stays, so that a flow of commits does not postpone it.
        let at = self.look.map_or(first, |(planned, _)| planned.min(first));
        self.look = Some((at, FIRST_LOOK));
        let written = if opened { WatchFlags::MODIFY } else { WatchFlags::empty() };
        let events = WatchFlags::OPEN.union(written);
        // Without the journal, each call of the store is refused.
        if let Ok(watch) = inotify::add_watch(&self.inotify, &self.journal, events) {
            self.journal_watch = watch;
        }
    }
}
