//! Output: results to standard output, everything else to standard error.
//!
//! `println!` panics if it cannot write. Here, results that cannot be printed are an error with a
//! message. A reader who closes the pipe early (`| head`) is not an error. A remark that cannot be
//! printed is dropped.

use anyhow::{Context, Result};
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};
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
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

/// Signs that are coloured on a terminal, with their codes: as expected, better, worse.
const SIGNS: [(char, u8); 3] = [('✓', 32), ('▲', 34), ('▼', 31)];

/// The text with coloured verdict signs if a person reads it: standard output is a terminal, and
/// the environment has no `NO_COLOR`.
pub fn coloured(text: &str) -> String {
    let is_for_a_person = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    if is_for_a_person { with_colours(text) } else { text.to_owned() }
}

fn with_colours(text: &str) -> String {
    SIGNS.iter().fold(text.to_owned(), |text, (sign, code)| {
        text.replace(*sign, &format!("\x1b[{code}m{sign}\x1b[0m"))
    })
}

/// The width for a line of text: that of the terminal, from 40 to [`WIDTH`].
pub fn width() -> usize {
    let terminal = ::console::Term::stdout().size_checked();
    terminal.map_or(WIDTH, |(_, columns)| usize::from(columns).clamp(40, WIDTH))
}

/// Prints a remark for the person at the terminal.
pub fn say(text: impl Display) {
    let _ = std::io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// The exit code of a program: its result, or a failure, which is printed.
pub fn exit_code(result: Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        say(format_args!("error: {error:#}"));
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_verdict_sign_is_coloured() {
        assert_eq!(with_colours("O(1) ✓ 5"), "O(1) \x1b[32m✓\x1b[0m 5");
        assert_eq!(with_colours("5 + 5"), "5 + 5");
    }
}
