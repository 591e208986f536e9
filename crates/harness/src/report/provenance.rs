//! Where a run comes from, as lines that people read.

use crate::model::Provenance;
use wheelhouse_present::units;

/// Name and value of each thing that is known of a run's machine, build and command.
pub fn lines(p: &Provenance) -> Vec<(&'static str, String)> {
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

/// Machine, compiler and commit in one line, to stand under a table or plot.
pub fn line(p: &Provenance) -> String {
    let dirty = if p.dirty { " + uncommitted changes" } else { "" };
    let date: String = p.started.chars().take(10).collect();
    let memory = units::bytes(p.memory_bytes);
    format!(
        "{}, {} processors, {memory}, {}, {}, commit {}{dirty}, {date}",
        p.cpu,
        p.cores,
        p.kernel,
        p.rustc,
        short(&p.commit)
    )
}

/// The first eight characters of a commit.
pub fn short(commit: &str) -> String {
    commit.chars().take(8).collect()
}
