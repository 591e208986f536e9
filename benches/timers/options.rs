//! What both halves of the run take from the command line. criterion reads the same arguments and refuses what nobody
//! knows, so here it is enough to look for what matters.

/// Options of `cargo bench -- ...`.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Only what has this in its name.
    pub(crate) filter: Option<String>,
    /// Less time, fewer sizes.
    pub(crate) quick: bool,
    /// Run everything once, measure nothing.
    pub(crate) test: bool,
    /// Print the names of the benches.
    pub(crate) only_lists: bool,
    /// The rest makes no sense with what was asked for.
    pub(crate) only_criterion: bool,
}

/// criterion's options that are followed by a value.
const WITH_VALUE: [&str; 20] = [
    "-c",
    "--color",
    "--colour",
    "-s",
    "--save-baseline",
    "-b",
    "--baseline",
    "--baseline-lenient",
    "--load-baseline",
    "--format",
    "--profile-time",
    "--sample-size",
    "--warm-up-time",
    "--measurement-time",
    "--nresamples",
    "--noise-threshold",
    "--significance-level",
    "--confidence-level",
    "--plotting-backend",
    "--output-format",
];

impl Options {
    /// Reads the arguments after the program's name.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Self {
        let mut options = Self::default();
        let mut benches = false;
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--bench" => benches = true,
                "--quick" => options.quick = true,
                "--test" => options.test = true,
                "--list" => options.only_lists = true,
                "--profile-time" | "--load-baseline" => options.only_criterion = true,
                _ => {}
            }
            if WITH_VALUE.contains(&argument.as_str()) {
                arguments.next();
            } else if !argument.starts_with('-') {
                options.filter = Some(argument);
            }
        }
        // As criterion has it: without cargo bench's `--bench`, this is `cargo test --benches`.
        options.test |= !benches;
        options.only_criterion |= options.only_lists;
        options
    }
}
