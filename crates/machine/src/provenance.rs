//! Where a figure comes from: the machine, the build, the commit.

use crate::clock;
use serde::{Deserialize, Serialize};
use std::fs::read_to_string;
use std::path::Path;
use std::process::Command;
use wheelhouse_present::units;

/// Where a figure comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Start of the run, UTC, as in `2026-11-21T02:10:00Z`.
    pub started: String,
    /// A short label of the machine for folder names, as in `xeon-2c`.
    pub host: String,
    /// CPU model as the kernel reports it.
    pub cpu: String,
    /// Logical processors.
    pub cores: usize,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Operating system and kernel.
    pub kernel: String,
    /// `rustc --version` of the build.
    pub rustc: String,
    /// Build profile and flags.
    pub profile: String,
    /// Commit of the source, `unknown` outside a checkout.
    pub commit: String,
    /// `true` if the checkout had uncommitted changes.
    pub dirty: bool,
    /// The command line that wrote this.
    pub command: String,
    /// The seed of the run.
    pub seed: u64,
    /// The processor that the measuring thread was pinned to, if it was.
    pub pinned_to: Option<usize>,
    /// Cost of reading the clock twice, in nanoseconds: median. It is included in the latencies of
    /// single operations.
    pub clock_overhead_ns: f64,
}

/// Gathers everything that is known now, for a thread that is not pinned. A fact that cannot be
/// found out is `unknown`.
pub fn gather(seed: u64) -> Provenance {
    let cpu = cpu_model();
    // The processors of the machine: a process that is pinned, as by `taskset`, sees only its own.
    let counted = read_to_string("/proc/cpuinfo").ok().and_then(|file| processors(&file));
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    let cores = counted.unwrap_or_else(available);
    Provenance {
        started: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        host: host_label(&cpu, cores),
        cpu,
        cores,
        memory_bytes: meminfo("MemTotal").unwrap_or(0),
        kernel: output("uname", &["-srm"]).unwrap_or_else(unknown),
        rustc: env!("WHEELHOUSE_RUSTC").to_owned(),
        profile: env!("WHEELHOUSE_PROFILE").to_owned(),
        commit: git(&["rev-parse", "HEAD"]).unwrap_or_else(unknown),
        // Untracked files, such as the results of earlier runs, do not change the build.
        dirty: git(&["status", "--porcelain", "--untracked-files=no"])
            .is_some_and(|changes| !changes.is_empty()),
        command: command_line(),
        seed,
        pinned_to: None,
        clock_overhead_ns: clock::overhead(),
    }
}

/// Name and value of every known fact about the machine, the build and the command of a run.
pub fn facts(p: &Provenance) -> Vec<(&'static str, String)> {
    let dirty = if p.dirty { " with uncommitted changes" } else { "" };
    let pinned = p.pinned_to.map_or("no".to_owned(), |cpu| format!("yes, to processor {cpu}"));
    vec![
        ("started", p.started.clone()),
        ("host", p.host.clone()),
        ("processor", p.cpu.clone()),
        ("logical processors", p.cores.to_string()),
        ("memory", units::bytes(p.memory_bytes)),
        ("kernel", p.kernel.clone()),
        ("compiler", p.rustc.clone()),
        ("profile", p.profile.clone()),
        ("commit", format!("{}{dirty}", p.commit)),
        ("command", p.command.clone()),
        ("seed", p.seed.to_string()),
        ("pinned", pinned),
        ("clock overhead", format!("{} per pair of reads", units::time(p.clock_overhead_ns))),
    ]
}

/// Machine, compiler and commit in one line, for below a table or plot.
pub fn line(p: &Provenance) -> String {
    let dirty = if p.dirty { " + uncommitted changes" } else { "" };
    let date: String = p.started.chars().take(10).collect();
    let memory = units::bytes(p.memory_bytes);
    let Provenance { cpu, cores, kernel, rustc, .. } = p;
    let build = format!("{rustc}, commit {}{dirty}", short_commit(&p.commit));
    format!("{cpu}, {cores} processors, {memory}, {kernel}, {build}, {date}")
}

/// The first eight characters of a commit.
pub fn short_commit(commit: &str) -> String {
    commit.chars().take(8).collect()
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

/// Asks git about the checkout that this program was built from, wherever it runs.
fn git(arguments: &[&str]) -> Option<String> {
    output("git", &[&["-C", env!("CARGO_MANIFEST_DIR")], arguments].concat())
}

fn cpu_model() -> String {
    let cpuinfo = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map(|(_, model)| model.trim().to_owned());
    model.or_else(|| output("sysctl", &["-n", "machdep.cpu.brand_string"])).unwrap_or_else(unknown)
}

/// The number of processors that the kernel reports.
fn processors(cpuinfo: &str) -> Option<usize> {
    let count = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
    (count > 0).then_some(count)
}

/// A value that the kernel reports about the machine's memory, in bytes.
pub fn meminfo(name: &str) -> Option<u64> {
    bytes_on_line(&read_to_string("/proc/meminfo").ok()?, name)
}

/// The bytes on the line `NAME: ... kB` of one of the kernel's files.
pub fn bytes_on_line(file: &str, name: &str) -> Option<u64> {
    let value = file.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(value.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}

/// A label for the kind of machine, not for its owner: the distinctive word of the CPU's name and
/// the number of cores.
fn host_label(cpu: &str, cores: usize) -> String {
    const IGNORED_WORDS: [&str; 10] =
        ["intel(r)", "amd", "cpu", "processor", "core(tm)", "(r)", "unknown", "apple", "with", "@"];
    let lower = cpu.to_lowercase();
    let word =
        lower.split_whitespace().find(|word| !IGNORED_WORDS.contains(word)).unwrap_or("machine");
    let word = word.replace("(r)", "").replace("(tm)", "");
    let word: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{}-{cores}c", if word.is_empty() { "machine" } else { &word })
}

/// The bench that `cargo bench` runs by default.
const DEFAULT_BENCH: &str = "timers";

/// The command line as a user would type it. It has only the name of the program, since the folder
/// of the build is private.
fn command_line() -> String {
    // An argument may be a path that is not UTF-8.
    let mut arguments = std::env::args_os().map(|it| it.to_string_lossy().into_owned());
    let program = arguments.next().unwrap_or_default();
    as_typed(Path::new(&program), arguments)
}

/// [`command_line`] for any program and arguments.
fn as_typed(program: &Path, arguments: impl Iterator<Item = String>) -> String {
    let name = program.file_stem().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let (benches, rest): (Vec<_>, Vec<_>) = arguments.partition(|argument| argument == "--bench");
    let rest = without_results(rest);
    // Cargo passes `--bench` to a bench, whose file name ends with a hash.
    let (command, separator) = if benches.is_empty() {
        (name, " ")
    } else {
        let target = name.rsplit_once('-').map_or(name.as_str(), |(target, _hash)| target);
        match target {
            DEFAULT_BENCH => ("cargo bench".to_owned(), " -- "),
            _ => (format!("cargo bench --bench {target}"), " -- "),
        }
    };
    if rest.is_empty() { command } else { format!("{command}{separator}{}", rest.join(" ")) }
}

/// Removes the paths of results, which do not change them, and may be private.
fn without_results(arguments: Vec<String>) -> Vec<String> {
    const OPTIONS: [&str; 2] = ["--out", "--verdict"];
    let mut is_option = false;
    let is_kept = |argument: &String| {
        let (option, has_value) =
            argument.split_once('=').map_or((argument.as_str(), false), |it| (it.0, true));
        let is_named = OPTIONS.contains(&option);
        let is_value = std::mem::replace(&mut is_option, is_named && !has_value);
        !is_value && !is_named
    };
    arguments.into_iter().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_files_are_read_by_name() {
        let file = "MemTotal:       24683524 kB\nMemAvailable:   1 kB\nHugePages: x kB\n";
        let bytes = |names: [&str; 2]| names.map(|name| bytes_on_line(file, name));
        assert_eq!(bytes(["MemTotal", "MemAvailable"]), [Some(25_275_928_576), Some(1024)]);
        assert_eq!(bytes(["Mem", "HugePages"]), [None, None]);
        let file = "processor\t: 0\nmodel name\t: x\n\nprocessor\t: 1\nmodel name\t: x\n";
        assert_eq!((processors(file), processors("")), (Some(2), None));
    }

    #[test]
    fn the_command_line_is_reconstructed_as_typed() {
        let typed = |program: &str, arguments: &[&str]| {
            as_typed(Path::new(program), arguments.iter().map(|it| it.to_string()))
        };
        let peers = "/x/target/release/deps/peers-2e00c496a79dd8bb";
        let options = ["--n", "5e6", "--bench"];
        assert_eq!(typed(peers, &options), "cargo bench --bench peers -- --n 5e6");
        assert_eq!(typed("/x/timers-0123456789abcdef", &["--bench"]), "cargo bench");
        assert_eq!(typed("target/release/wheelhouse", &["list"]), "wheelhouse list");
        let paths =
            ["--out=/x", "--n", "5e6", "--out", "/home/me/runs", "--verdict", "/y", "--bench"];
        assert_eq!(typed(peers, &paths), "cargo bench --bench peers -- --n 5e6");
    }

    #[test]
    fn the_host_label_is_the_cpu_name_and_the_core_count() {
        assert_eq!(host_label("Intel(R) Xeon(R) Processor", 2), "xeon-2c");
        assert_eq!(host_label("AMD EPYC 7763 64-Core Processor", 8), "epyc-8c");
        assert_eq!(host_label("", 1), "machine-1c");
    }
}
