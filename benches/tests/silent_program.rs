//! Ctrl-C while a program does not answer.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use wheelhouse_benches::foreign::Program;
use wheelhouse_machine::interrupt;

#[test]
fn ctrl_c_ends_the_wait_for_a_program_that_does_not_answer() {
    interrupt::request_for_test(true);
    let start = Instant::now();
    let mut command = Command::new("sh");
    let program = Program::start(command.args(["-c", "exec sleep 60"]), Path::new("no-file"));
    assert!(program.unwrap_err().to_string().contains("interrupted"));
    assert!(start.elapsed() < Duration::from_secs(50), "the program is killed");
}
