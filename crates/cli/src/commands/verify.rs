//! `wheelhouse verify`.

use super::ending::exit_code;
use crate::cli::What;
use anyhow::Result;
use std::process::ExitCode;
use wheelhouse_harness::source::StreamSource;
use wheelhouse_harness::{contender, verify};
use wheelhouse_machine::interrupt::{self, INTERRUPTED};
use wheelhouse_present::console::{print, say};
use wheelhouse_present::table::Format;

pub(super) fn run(n: u32, what: &What, format: Format) -> Result<ExitCode> {
    let all = what.workload.is_empty();
    let sources = if all { StreamSource::all() } else { StreamSource::select(&what.workload)? };
    let contenders = contender::select(&what.backend)?;
    interrupt::watch();
    let verified = verify::verify(&sources, &contenders, n, what.seed)?;
    print(verified.table.render(format)?)?;
    if interrupt::requested() {
        say("interrupted: only the rows shown were verified");
        return Ok(INTERRUPTED.into());
    }
    Ok(exit_code(verified.failures.len()))
}
