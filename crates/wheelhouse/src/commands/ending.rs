//! What is said at the end of a command, and what it exits with.

use std::path::Path;
use std::process::ExitCode;
use wheelhouse_harness::model::Run;
use wheelhouse_present::console::say;

/// What to exit with after so many wrong answers, which are said.
pub(super) fn exit_code(failures: usize) -> ExitCode {
    complain(failures);
    u8::from(failures > 0).into()
}

/// Says how many answers were wrong, if any was.
pub(super) fn complain(failures: usize) {
    if failures > 0 {
        say(format_args!("error: {failures} wrong: see the rows marked WRONG"));
    }
}

/// Says where everything is, and what is missing.
pub(super) fn tell(run: &Run, dir: &Path, page: &Path) {
    say(format_args!("results: {}\nreport:  {}", dir.display(), page.display()));
    if run.interrupted {
        say("interrupted: the rows that are there are complete, others are missing");
    }
}

/// Says that a file is out of date.
pub(super) fn out_of_date(file: &Path) -> ExitCode {
    let shown = file.display();
    say(format_args!("error: {shown} is out of date; run the same command without --check"));
    ExitCode::FAILURE
}
