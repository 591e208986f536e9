//! `wheelhouse list`.

use anyhow::Result;
use std::process::ExitCode;
use wheelhouse_harness::list;
use wheelhouse_present::console::print;
use wheelhouse_present::table::Format;

pub(super) fn run(format: Format) -> Result<ExitCode> {
    // The column of sources is left out on a terminal, since the table would be too wide.
    print(list::backends(format != Format::Table).render(format)?)?;
    Ok(ExitCode::SUCCESS)
}
