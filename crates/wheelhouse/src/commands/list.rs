//! `wheelhouse list`.

use anyhow::Result;
use std::process::ExitCode;
use wheelhouse_harness::list;
use wheelhouse_present::console::print;
use wheelhouse_present::table::Format;

pub(super) fn run(format: Format) -> Result<ExitCode> {
    // Where it comes from is left out on a terminal: with it the table would be wider than most.
    print(list::backends(format != Format::Table).render(format)?)?;
    Ok(ExitCode::SUCCESS)
}
