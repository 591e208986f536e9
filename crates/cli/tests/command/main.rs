//! The `wheelhouse` command as users run it: its output, its files, and its errors.

mod claims;
mod durable;
mod endings;
mod instructions;
mod refusals;
mod runs;
mod service;

use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder for one test, removed at its end.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        let path = self.0.path().join(name).display().to_string();
        let spaces = path.contains(char::is_whitespace);
        assert!(
            !spaces,
            "{path} has a space, where `command` splits: set TMPDIR to another folder"
        );
        path
    }

    fn has(&self, name: &str) -> bool {
        self.0.path().join(name).exists()
    }
}

/// The command with these words as arguments. It also measures in a build without optimisation.
fn command(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheelhouse"));
    command.env("WHEELHOUSE_DEBUG_BUILD", "1").args(line.split_whitespace());
    command
}

fn wheelhouse(line: &str) -> Output {
    command(line).output().unwrap()
}

/// The output of a command that must succeed.
fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn succeeds(line: &str) -> String {
    output_of(&mut command(line))
}

/// Runs a command that must fail, and returns its message.
fn fails(line: &str) -> String {
    let output = wheelhouse(line);
    assert!(!output.status.success(), "{line} did not fail");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!message.contains("panicked"), "{message}");
    message
}

/// The trace that comes with the workload crate, in a file.
fn trace_file(scratch: &Scratch, change: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut shipped = wheelhouse_workload::trace::shipped().iter();
    let shipped = shipped.find(|trace| trace.name == "redis").unwrap();
    let mut bytes = shipped.bytes.to_vec();
    change(&mut bytes);
    let path = scratch.path("recorded.trace");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn list_names_every_backend_in_each_format() {
    let table = succeeds("list");
    let json = succeeds("list --format json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(table.lines().all(|line| line.chars().count() <= 125), "too wide:\n{table}");
    assert!(json[0]["source"].as_str().unwrap().contains("Varghese"));
    for (row, info) in wheelhouse_registry::all().iter().enumerate() {
        assert!(table.contains(info.name));
        assert_eq!(json[row]["backend"], info.name);
        assert!(json[row]["bytes-per-timer"].as_f64().unwrap() > 8.0, "at least its payload");
    }
    assert!(table.contains("linux-wheel is late by design: a delay of 1000 ticks by up to 63,"));
}

#[test]
fn verify_compares_every_backend_on_every_stream() {
    let json = succeeds("verify --n 300 --format json");
    let rows: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    let workloads = wheelhouse_workload::workloads().len();
    let traces = wheelhouse_workload::trace::shipped().len();
    let backends = wheelhouse_registry::all();
    // The traces have more timers than the others can have.
    let able = backends.iter().filter(|info| info.max_timers == u32::MAX).count();
    let floor = workloads + traces;
    assert_eq!(rows.len(), workloads * backends.len() + traces * able + floor);
    assert!(rows.iter().all(|row| row["verdict"] == "ok"));
    for workload in rows.chunk_by(|a, b| a["workload"] == b["workload"]) {
        assert!(workload.iter().all(|row| row["checksum"] == workload[0]["checksum"]));
        let is_late = |row: &serde_json::Value| row["backend"] == "linux-wheel";
        assert!(!workload.iter().any(is_late), "its answers differ by design");
    }
}

#[test]
fn another_seed_gives_other_answers_and_the_same_seed_the_same() {
    let run =
        |seed| succeeds(&format!("verify --n 300 --workload steady --format json --seed {seed}"));
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn bench_leaves_results_that_report_and_compare_read() {
    let scratch = Scratch::new();
    let run = |name| {
        let out = scratch.path(name);
        let bench = "bench --quick --all --n 200 --workload uniform --time 1";
        let table = succeeds(&format!("{bench} --out {out}"));
        assert!(wheelhouse_registry::all().iter().all(|info| table.contains(info.name)));
        out
    };
    let (a, b) = (run("a"), run("b"));
    for file in ["run.json", "report.html", "report.md"] {
        assert!(scratch.has(&format!("a/{file}")), "{file} is missing");
    }
    let compared = succeeds(&format!("compare {a} {b} --format json"));
    let rows: Vec<serde_json::Value> = serde_json::from_str(&compared).unwrap();
    assert_eq!(rows.len(), (wheelhouse_registry::all().len() + 1) * 6, "six measures for each");
    succeeds(&format!("report {a} --with {b}"));
    let page = std::fs::read_to_string(scratch.path("a/report.html")).unwrap();
    assert!(page.contains("Dashed: "), "the other run is on the page");
    let markers = "<!-- BEGIN reference: generated by x -->\n<!-- END reference -->\n";
    std::fs::write(scratch.path("a/page.md"), markers).unwrap();
    output_of(command("report run.json --splice page.md").current_dir(&a));
    let refused = fails(&format!("bench --n 200 --workload uniform --out {a}"));
    assert!(refused.contains("--out"), "names the remedy: {refused}");
}

#[test]
fn bench_plays_a_trace_file() {
    let scratch = Scratch::new();
    let whole = trace_file(&scratch, |_| ());
    let out = scratch.path("out");
    let wheel = "--backend hierarchical-wheel --payload 64";
    let table = succeeds(&format!("bench --trace {whole} {wheel} --time 1 --out {out}"));
    assert!(table.contains("hierarchical-wheel") && table.contains("recorded"), "{table}");
    assert!(table.contains("values of 64 bytes"), "{table}");
    assert!(!table.contains("1,000,000"), "a trace has a fixed size: {table}");
    assert!(table.contains("peak") && table.contains("wake-ups"), "{table}");
    let run: serde_json::Value =
        serde_json::from_slice(&std::fs::read(scratch.path("out/run.json")).unwrap()).unwrap();
    let footprint = &run["footprints"][0];
    assert!(footprint["peak"].as_f64().unwrap() > 24.0, "a node is larger: {footprint}");
    assert!(footprint["wakeups"].as_u64().unwrap() > 0, "timers fire in it: {footprint}");
}

#[test]
fn bench_takes_a_trace_from_a_pipe_which_can_be_read_once_only() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let scratch = Scratch::new();
    let piped =
        "cat \"$1\" | \"$2\" bench --trace /dev/stdin --time 1 --backend floor --out \"$3\"";
    let trace = trace_file(&scratch, |_| ());
    let arguments = ["-c", piped, "sh", &trace, env!("CARGO_BIN_EXE_wheelhouse")];
    let mut shell = Command::new("sh");
    shell.env("WHEELHOUSE_DEBUG_BUILD", "1").args(arguments).arg(scratch.path("out"));
    assert!(output_of(&mut shell).contains("floor"));
}

#[test]
fn a_mix_of_the_user_is_answered_at_the_users_number_of_timers() {
    let scratch = Scratch::new();
    let (once, twice) = (scratch.path("once"), scratch.path("twice"));
    let bench = "bench --mix stop:40,move:10,fire:5 --time 1 \
                 --backend list-wheel,binary-heap,floor";
    let shown = succeeds(&format!("{bench} --n 300 --out {once}"));
    for part in ["this mix", "45 % starts, 40 % cancels", "A use has 300 ", "91 % cancels or moves"]
    {
        // The answer is wrapped into lines.
        assert!(shown.replace('\n', " ").contains(part), "{part} is missing in:\n{shown}");
    }
    assert!(shown.contains("Recommendation\nUse "), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    let json = succeeds(&format!("{bench} --n 200,300 --format json --out {twice}"));
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(found["answer"][0].as_str().unwrap().contains(" A use has 300 timers "), "{json}");
    let rows = found["rows"].as_array().unwrap();
    let of_200 = rows.iter().filter(|row| row["n"] == 200.0).count();
    assert_eq!(of_200, 3, "one table with both sizes: {json}");
}
