//! `wheelhouse index`.

use anyhow::Result;
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_harness::report;
use wheelhouse_present::console::{print, say};

pub(super) fn run(folder: &Path) -> Result<ExitCode> {
    let index = report::index::render(folder)?;
    print(index.text)?;
    index.broken.iter().for_each(|error| say(format_args!("error: {error:#}")));
    Ok(u8::from(!index.broken.is_empty()).into())
}
