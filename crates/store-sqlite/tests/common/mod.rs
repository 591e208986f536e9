//! Helpers of the tests.
#![allow(dead_code, reason = "each test program uses some of it")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use wheelhouse_durable::store::StoreClock;
use wheelhouse_service::ManualClock;

/// A temporary folder, and the path of a store in it.
pub(crate) fn temporary() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.timers");
    (folder, path)
}

/// A clock that advances only by hand, and a store's clock that shows it.
pub(crate) fn manual() -> (ManualClock, StoreClock) {
    let clock = ManualClock::new();
    (clock.clone(), StoreClock::new(clock))
}

/// A mount, until this value is dropped.
pub(crate) struct Mounted(pub(crate) PathBuf);

impl Mounted {
    /// `None`, and a line on standard error, if this process may not mount.
    pub(crate) fn new(what: &Path, options: &[&str], at: impl Into<PathBuf>) -> Option<Self> {
        let at = at.into();
        std::fs::create_dir_all(&at).unwrap();
        match Command::new("mount").args(options).arg(what).arg(&at).output() {
            Ok(output) if output.status.success() => Some(Self(at)),
            other => {
                eprintln!("SKIPPED, cannot mount (run the tests as root): {other:?}");
                None
            }
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Lazily, because a child may still have files open when a test fails.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// The environment variable with the path of the store.
const FILE: &str = "WHEELHOUSE_TEST_FILE";

/// The path that the parent gives to a child.
pub(crate) fn file() -> PathBuf {
    std::env::var_os(FILE).expect("the parent sets the path").into()
}

/// A child process: this test program again, running one ignored test.
pub(crate) struct Process {
    pub(crate) child: Child,
    pub(crate) lines: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a child that runs the test `part` on the store at `path`.
    pub(crate) fn start(part: &str, path: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", part, "--ignored", "--nocapture", "--test-threads=1"])
            .env(FILE, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// Waits for a line with this word, and returns the rest of the line.
    pub(crate) fn wait_for(&mut self, word: &str) -> String {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            // The test harness may have written the beginning of the line.
            if let Some((_, rest)) = line.split_once(word) {
                return rest.trim().to_owned();
            }
            line.clear();
        }
        panic!("the child ended without printing {word}");
    }

    /// Kills it, as a crash would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end. Returns `true` if it has succeeded. Kills it after five minutes: one of
    /// its threads has panicked, and another waits for that thread.
    pub(crate) fn succeeds(&mut self) -> bool {
        let begun = Instant::now();
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status.success(),
                None if begun.elapsed() > Duration::from_secs(300) => self.kill(),
                None => thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}
