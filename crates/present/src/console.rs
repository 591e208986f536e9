//! Output: results to standard output, everything else to standard error.
//!
//! `println!` panics if it cannot write. Here, results that cannot be printed are an error with a
//! message. A reader who closes the pipe early (`| head`) is not an error. A remark that cannot be
//! printed is dropped.

use anyhow::{Context, Result};
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// The width of a line that people read.
pub const WIDTH: usize = 100;

/// Prints a line, or a text that ends with one, to standard output.
///
/// # Errors
///
/// If it cannot be written, unless the reader has closed the pipe.
pub fn print(text: impl Display) -> Result<()> {
    let mut text = text.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let mut out = io::stdout().lock();
    unless_nobody_reads(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// The result of writing to standard output. A broken pipe is not an error: the reader has seen
/// enough.
///
/// # Errors
///
/// If there is any other error.
pub fn unless_nobody_reads(written: io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

/// The text with coloured verdict signs (as expected, better, worse) if a person reads it: standard
/// output is a terminal, and the environment has no `NO_COLOR`.
pub fn coloured(text: &str) -> String {
    let style = ::console::Style::new;
    let signs = [('✓', style().green()), ('▲', style().blue()), ('▼', style().red())];
    signs.iter().fold(text.to_owned(), |text, (sign, style)| {
        text.replace(*sign, &style.apply_to(sign).to_string())
    })
}

/// The width for a line of text: that of the terminal, from 40 to [`WIDTH`].
pub fn width() -> usize {
    let terminal = ::console::Term::stdout().size_checked();
    terminal.map_or(WIDTH, |(_, columns)| usize::from(columns).clamp(40, WIDTH))
}

/// Prints a remark for the person at the terminal.
pub fn say(text: impl Display) {
    let _ = io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// The exit code of a program: its result, or a failure, which is printed.
pub fn exit_code(result: Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        say(format_args!("error: {error:#}"));
        ExitCode::FAILURE
    })
}
