//! What is printed: results to standard output, everything else to standard error.
//!
//! `println!` panics where nothing can be written. Here, results that cannot be printed are an
//! error with a message, except that a reader who has seen enough (`| head`) is none; and a remark
//! that cannot be printed is left out, since there is nobody to tell.

use anyhow::{Context, Result};
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

/// As wide as a line is that people read.
pub const WIDTH: usize = 100;

/// Prints a line, or a text that ends with one, to standard output.
///
/// # Errors
///
/// If it cannot be written, and not for the reason that nobody reads on.
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

/// Signs that have a colour on a terminal, by its code: as expected, better, worse.
const SIGNS: [(char, u8); 3] = [('✓', 32), ('▲', 34), ('▼', 31)];

/// The text with its signs of verdicts in colour, if a person is to read it there: standard output
/// is a terminal, and the environment has no `NO_COLOR`.
pub fn coloured(text: &str) -> String {
    let is_read = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    if is_read { with_colours(text) } else { text.to_owned() }
}

fn with_colours(text: &str) -> String {
    SIGNS.iter().fold(text.to_owned(), |text, (sign, code)| {
        text.replace(*sign, &format!("\x1b[{code}m{sign}\x1b[0m"))
    })
}

/// How wide a line of text may be: as wide as the terminal, and at most [`WIDTH`].
pub fn width() -> usize {
    let terminal = ::console::Term::stdout().size_checked();
    terminal.map_or(WIDTH, |(_, columns)| usize::from(columns).clamp(40, WIDTH))
}

/// Says something to the person at the terminal.
pub fn say(text: impl Display) {
    let _ = std::io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// What a program is to end with: what it came to, or a failure, which is said.
pub fn end(result: Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        say(format_args!("error: {error:#}"));
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_is_coloured_and_what_stands_around_it_is_not() {
        assert_eq!(with_colours("O(1) ✓ 5"), "O(1) \x1b[32m✓\x1b[0m 5");
        assert_eq!(with_colours("5 + 5"), "5 + 5");
    }
}
