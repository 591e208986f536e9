//! Messages at the end of a command, and its exit code.

use std::path::Path;
use std::process::ExitCode;
use wheelhouse_harness::model::Run;
use wheelhouse_present::console::say;

/// Prints the number of wrong answers, if any, and returns the exit code.
pub(super) fn exit_code(failures: usize) -> ExitCode {
    complain(failures);
    u8::from(failures > 0).into()
}

/// Prints the number of wrong answers, if any.
pub(super) fn complain(failures: usize) {
    if failures > 0 {
        say(format_args!("error: {failures} wrong answers: see the rows marked WRONG"));
    }
}

/// Prints the paths of the results and whether rows are missing.
pub(super) fn tell(run: &Run, dir: &Path, page: &Path) {
    say(format_args!("results: {}\nreport:  {}", dir.display(), page.display()));
    if run.interrupted {
        say("interrupted: some rows are missing; the others are complete");
    }
}

/// Prints that a file is out of date.
pub(super) fn out_of_date(file: &Path) -> ExitCode {
    let shown = file.display();
    say(format_args!("error: {shown} is out of date; run the same command without --check"));
    ExitCode::FAILURE
}
