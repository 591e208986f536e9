//! The shell script that is the parent of a server, and ends the server when this program ends.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// A running `keeper.sh`.
#[derive(Debug)]
pub(crate) struct Keeper {
    folder: PathBuf,
    child: Child,
    /// `None` after the keeper was told to end.
    pipes: Mutex<Option<(ChildStdin, BufReader<ChildStdout>)>>,
}

impl Keeper {
    /// A keeper of `command`, which it does not start yet. It owns the folder and removes it.
    pub(crate) fn new(folder: PathBuf, command: &[String]) -> Self {
        let mut child = Command::new("sh")
            .args(["-c", include_str!("keeper.sh"), "keeper"])
            .arg(&folder)
            .args(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // In its own process group: Ctrl-C would otherwise end the keeper before the server.
            .process_group(0)
            .spawn()
            .expect("a shell named sh");
        let orders = child.stdin.take().expect("piped");
        let answers = BufReader::new(child.stdout.take().expect("piped"));
        Self { folder, child, pipes: Mutex::new(Some((orders, answers))) }
    }

    /// Sends an order to the keeper and returns its answer.
    pub(crate) fn order(&self, order: &str) -> String {
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        let (orders, answers) = pipes.as_mut().expect("a keeper that is not dropped");
        writeln!(orders, "{order}").expect("a keeper that lives");
        let mut answer = String::new();
        answers.read_line(&mut answer).expect("a keeper that lives");
        answer.trim_end().to_owned()
    }

    /// The standard output and error of the server so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        *self.pipes.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        let _ = self.child.wait();
    }
}

/// A new folder, which only its keeper removes.
pub(crate) fn folder() -> PathBuf {
    tempfile::Builder::new().prefix("wheelhouse-").tempdir().expect("a temporary folder").keep()
}

/// The path of a program, searched for in `PATH` and then in these folders. If it is missing,
/// prints that a test is skipped, and which package has the program.
pub(crate) fn program(name: &str, folders: &[PathBuf], package: &str) -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = std::env::split_paths(&path).chain(folders.iter().cloned());
    let found = all.find_map(|folder| Some(folder.join(name)).filter(|program| program.is_file()));
    if found.is_none() {
        eprintln!("SKIPPED, no {name} here: apt-get install {package}");
    }
    found.map(|program| text(&program))
}

/// Runs a command to its end.
pub(crate) fn run(command: &[String]) {
    let output = Command::new(&command[0]).args(&command[1..]).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}

/// A path as an argument of a command.
pub(crate) fn text(path: &Path) -> String {
    path.to_str().expect("a path in UTF-8").to_owned()
}
