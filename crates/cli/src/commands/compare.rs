//! `wheelhouse compare`.

use anyhow::{Result, ensure};
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_harness::{compare, store};
use wheelhouse_present::console::{print, say};
use wheelhouse_present::table::Format;

pub(super) fn run(run_a: &Path, run_b: &Path, format: Format) -> Result<ExitCode> {
    let (a, b) = (store::load(run_a)?, store::load(run_b)?);
    let comparison = compare::compare(&a, &b);
    comparison.warnings.iter().for_each(|warning| say(format_args!("warning: {warning}")));
    ensure!(
        !comparison.rows.is_empty(),
        "the runs have no row in common: A has {}; B has {}",
        compare::describe_rows(&a),
        compare::describe_rows(&b)
    );
    print(comparison.table().render(format)?)?;
    Ok(ExitCode::SUCCESS)
}
