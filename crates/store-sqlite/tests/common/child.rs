//! Children: this very program, of which one ignored test runs that is the child's part.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// Where a child finds the file.
pub(crate) const FILE: &str = "WHEELHOUSE_TEST_FILE";

/// This program as a child that runs one part on the file; what it says, line by line.
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

/// The rest of the first line that begins with this word.
pub(crate) fn wait_for(lines: &mut BufReader<ChildStdout>, word: &str) -> String {
    let mut line = String::new();
    while lines.read_line(&mut line).unwrap() > 0 {
        // The test harness may have written the beginning of the line.
        if let Some((_, rest)) = line.split_once(word) {
            return rest.trim().to_owned();
        }
        line.clear();
    }
    panic!("the child ended without saying {word}");
}

pub(crate) fn file() -> std::ffi::OsString {
    std::env::var_os(FILE).expect("run by its parent")
}
