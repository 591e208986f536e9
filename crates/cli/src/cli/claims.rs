//! The arguments of `wheelhouse claims`, and of the hidden commands that serve it.

use super::Output;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ClaimsOptions {
    /// Only these claims, each in full: reasons, data, plot.
    #[arg(long, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: Vec<String>,
    /// The claims with most of these words or their synonyms, such as "heap insert".
    #[arg(long, value_name = "WORDS", conflicts_with = "id")]
    pub(crate) question: Option<String>,
    /// Use a smaller range of n and measure no times: seconds instead of minutes. The outcomes
    /// should be the same.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Seeds to use instead of 1 to 5, such as 6,7,8,9,10.
    #[arg(long, value_delimiter = ',', value_name = "SEEDS")]
    pub(crate) seeds: Vec<u64>,
    /// Decide all claims on the smaller range, and record outcomes and figures in
    /// crates/claims/outcomes.toml; with --instructions also the counts, in
    /// crates/claims/instructions.json and cache.json. Review first what has changed.
    #[arg(long, conflicts_with_all = ["id", "question", "quick", "seeds", "out"])]
    pub(crate) record: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Also count instructions with valgrind's callgrind and compare them with the record, which
    /// takes a few minutes more. With --quick only check whether they grow with the number of
    /// timers.
    #[arg(long, conflicts_with = "question")]
    pub(crate) instructions: bool,
    /// Write the whole report into this folder: page, Markdown, plots, verdicts as JSON.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["id", "question"])]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PrintedCode {
    /// A file with a line for each answer: a key, a tab, the output.
    pub(crate) lines: PathBuf,
    /// The versions of Go and of the JDK.
    #[arg(long)]
    pub(crate) by: String,
    /// The folder of the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}
