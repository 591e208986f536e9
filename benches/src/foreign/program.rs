//! A running program, and the communication with it.

use anyhow::{Context, Result, bail, ensure};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use wheelhouse_machine::clock::{WorkTime, process_cpu_time};
use wheelhouse_machine::interrupt;

/// How often a wait for an answer looks for Ctrl-C.
const POLL: Duration = Duration::from_millis(200);

/// The answer of a program to a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The time of the phase: by the program's clock, and as processor time of its process.
    pub taken: WorkTime,
    /// The checksum of all answers so far.
    pub checksum: u64,
}

/// A path as one word of a shell script.
pub fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// A program that plays the stream of one file, any number of times.
#[derive(Debug)]
pub struct Program {
    child: Child,
    asks: ChildStdin,
    /// Its lines, from a thread that ends with its output.
    answers: Receiver<io::Result<String>>,
}

impl Program {
    /// Starts a program, and waits until it has read the file. Fails if the program cannot be
    /// started or does not answer `ready`, or after Ctrl-C.
    pub fn start(command: &mut Command, file: &Path) -> Result<Self> {
        let shown = command.get_program().to_owned();
        let shown = shown.to_string_lossy();
        let command = command.arg(file).stdin(Stdio::piped()).stdout(Stdio::piped());
        // Ctrl-C ends the run between two phases, or the wait for an answer. A separate process
        // group keeps it from the program, which must not end earlier.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut child = command.spawn().with_context(|| format!("cannot start {shown}"))?;
        let (asks, output) = (child.stdin.take(), child.stdout.take());
        let asks = asks.expect("its input is a pipe");
        let mut lines = BufReader::new(output.expect("its output is a pipe")).lines();
        let (heard, answers) = channel();
        thread::spawn(move || lines.try_for_each(|line| heard.send(line)));
        let program = Self { child, asks, answers };
        program.expect_ready()?;
        Ok(program)
    }

    /// Makes the program drop its timers and begin with the first phase again. Fails if the program
    /// has ended or does not answer `ready`.
    pub fn restart(&mut self) -> Result<()> {
        self.say("new")?;
        self.expect_ready()
    }

    /// Makes the program play its next phase. Fails if the program has ended or does not answer
    /// with a time and a checksum.
    pub fn play(&mut self) -> Result<Answer> {
        let process = self.child.id();
        let before = process_cpu_time(process);
        self.say("play")?;
        let line = self.hear()?;
        let running = process_cpu_time(process).zip(before).map(|(after, before)| after - before);
        let (elapsed, checksum) = parsed(&line)?;
        // If its threads have run in parallel, the processor time may exceed the elapsed time.
        Ok(Answer { taken: WorkTime { elapsed, running: running.unwrap_or(elapsed) }, checksum })
    }

    fn say(&mut self, word: &str) -> Result<()> {
        writeln!(self.asks, "{word}").context("the program has ended; see its message above")
    }

    fn hear(&self) -> Result<String> {
        loop {
            match self.answers.recv_timeout(POLL) {
                Ok(line) => {
                    return Ok(line.context("cannot read from the program")?.trim_end().to_owned());
                }
                Err(RecvTimeoutError::Disconnected) => {
                    bail!("the program has ended; see its message above")
                }
                Err(RecvTimeoutError::Timeout) if interrupt::requested() => {
                    bail!("interrupted before the program answered")
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn expect_ready(&self) -> Result<()> {
        let line = self.hear()?;
        ensure!(line == "ready", "the program answered `{line}`, not `ready`");
        Ok(())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The program may have ended already, and other errors have no remedy.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The time and the checksum of a line: `NANOSECONDS CHECKSUM`, the latter hexadecimal.
fn parsed(line: &str) -> Result<(Duration, u64)> {
    let parsed = line.split_once(' ').and_then(|(nanoseconds, checksum)| {
        let elapsed = Duration::from_nanos(nanoseconds.parse().ok()?);
        Some((elapsed, u64::from_str_radix(checksum, 16).ok()?))
    });
    match parsed {
        Some(parsed) => Ok(parsed),
        None => bail!("the program answered `{line}`, not `NANOSECONDS CHECKSUM`"),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A program that is a shell script.
    fn program(script: &str) -> Result<Program> {
        Program::start(Command::new("sh").args(["-c", script]), Path::new("no-file"))
    }

    #[test]
    fn a_program_is_asked_for_each_phase_and_can_begin_anew() {
        let script = "echo ready; while read -r word; do case $word in \
                      new) echo ready ;; play) echo 1500 ff ;; esac; done";
        let mut program = program(script).unwrap();
        for _ in 0..2 {
            program.restart().unwrap();
            let answer = program.play().unwrap();
            assert_eq!(answer.taken.elapsed, Duration::from_nanos(1500));
            assert_eq!(answer.checksum, 255);
        }
    }

    #[test]
    fn a_program_that_ends_or_gives_a_wrong_answer_is_an_error() {
        let message = |script| match program(script) {
            Err(error) => error.to_string(),
            Ok(mut program) => program.play().unwrap_err().to_string(),
        };
        assert!(message("exit 3").contains("has ended"));
        assert!(message("echo hello").contains("`hello`, not `ready`"));
        assert!(message("echo ready; read -r word; echo fast ff").contains("`fast ff`"));
        assert!(message("echo ready; read -r word").contains("has ended"));
        let missing = Program::start(&mut Command::new("./no-such-program"), Path::new("x"));
        assert!(missing.unwrap_err().to_string().contains("no-such-program"));
    }

    #[test]
    fn a_path_may_have_spaces_and_quotes() {
        let path = "/home/o'brien/my program";
        let script = format!("printf %s {}", quoted(Path::new(path)));
        let shown = Command::new("sh").args(["-c", &script]).output().unwrap().stdout;
        assert_eq!(String::from_utf8(shown).unwrap(), path);
    }

    #[test]
    fn processor_time_is_the_programs_and_not_that_of_its_sleep() {
        let mut program = program("echo ready; read -r word; sleep 0.1; echo 100000000 0").unwrap();
        let taken = program.play().unwrap().taken;
        assert!(taken.elapsed >= Duration::from_millis(100));
        assert!(!cfg!(target_os = "linux") || taken.time() < taken.elapsed, "{taken:?}");
    }
}
