//! Child processes: this test program again, running one ignored test.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The environment variable with the path of the store.
pub(crate) const FILE: &str = "WHEELHOUSE_TEST_FILE";

/// Starts this program as a child that runs the test `part` on the store at `path`. Also returns
/// the child's output.
pub(crate) fn child(part: &str, path: &Path) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", part, "--ignored", "--nocapture", "--test-threads=1"])
        .env(FILE, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    (child, lines)
}

/// Waits for a line with this word, and returns the rest of the line.
pub(crate) fn wait_for(lines: &mut BufReader<ChildStdout>, word: &str) -> String {
    let mut line = String::new();
    while lines.read_line(&mut line).unwrap() > 0 {
        // The test harness may have written the beginning of the line.
        if let Some((_, rest)) = line.split_once(word) {
            return rest.trim().to_owned();
        }
        line.clear();
    }
    panic!("the child ended without printing {word}");
}

/// Kills a child that has printed this word, as a crash would.
pub(crate) fn kill_after(word: &str, (mut child, mut lines): (Child, BufReader<ChildStdout>)) {
    wait_for(&mut lines, word);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The file by which the parent tells a child to continue.
pub(crate) fn go(path: &Path) -> PathBuf {
    path.with_extension("go")
}

pub(crate) fn file() -> std::ffi::OsString {
    std::env::var_os(FILE).expect("the parent sets the path")
}
