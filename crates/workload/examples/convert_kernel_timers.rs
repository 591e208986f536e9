//! Converts the text of ftrace about the kernel's timers into a trace;
//! `scripts/record-kernel-timers` calls it.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use wheelhouse_workload::kernel::{self, Options};

const USAGE: &str = "usage: convert_kernel_timers --name NAME --output FILE [--provenance TEXT] \
                     [--hz HZ] [--at-most STARTS] < TEXT";

#[derive(Default)]
struct Arguments {
    name: String,
    output: String,
    provenance: String,
    options: Options,
}

fn main() -> ExitCode {
    match arguments().and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("convert_kernel_timers: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let recording = kernel::convert(io::stdin().lock(), &arguments.options)?;
    // Written under another name and renamed, so that an existing file stays complete if this
    // fails.
    let unfinished = format!("{}.part", arguments.output);
    let mut file = BufWriter::new(File::create(&unfinished)?);
    recording.write(&mut file, &arguments.name, &arguments.provenance)?;
    file.flush()?;
    let size = file.get_ref().metadata()?.len();
    std::fs::rename(&unfinished, &arguments.output)?;
    println!(
        "{}: {} operations, {} labels, HZ={}, {size} bytes",
        arguments.output,
        recording.ops.len(),
        recording.labels,
        recording.hz
    );
    println!("{}", recording.counts);
    Ok(())
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut arguments = Arguments::default();
    let mut words = std::env::args().skip(1);
    while let Some(option) = words.next() {
        let value = words.next().ok_or_else(|| format!("{option} needs a value\n{USAGE}"))?;
        let number = || value.parse().map_err(|_| format!("{option} needs a number, not {value}"));
        match option.as_str() {
            "--name" => arguments.name = value,
            "--output" => arguments.output = value,
            "--provenance" => arguments.provenance = value,
            "--hz" => arguments.options.hz = Some(u32::try_from(number()?)?),
            "--at-most" => arguments.options.at_most_starts = Some(number()?),
            _ => return Err(format!("no such option: {option}\n{USAGE}").into()),
        }
    }
    if arguments.name.is_empty() || arguments.output.is_empty() {
        return Err(USAGE.into());
    }
    Ok(arguments)
}
