//! Checks, before a stream is played, that there is enough memory for it. A failed allocation ends
//! the program at once and loses every figure that is not yet saved.
//!
//! A stream is in memory as a whole, with 16 bytes per operation. Workloads differ in how many
//! operations they have per timer, so these are counted in a sample of the workload.

use crate::source::StreamSource;
use crate::stream::Stream;
use anyhow::{Result, ensure};
use std::fs::read_to_string;
use std::path::Path;
use wheelhouse_machine::provenance;
use wheelhouse_present::units;
use wheelhouse_workload::Op;

/// The number of timers in the sample, and the largest number that is not checked: it takes a
/// hundred megabytes. Beyond it, the operations per timer hardly decrease. Those of `steady`, for
/// instance, stop decreasing when its steps outnumber its ticks, which is at this size.
const SAMPLE_TIMERS: u32 = 1 << 18;

/// The most timers that streams are made for. Labels have 32 bits, and a larger stream would fill
/// the memory of most machines.
const MAX_TIMERS: u32 = 200_000_000;

/// Reads a number of timers: `5000000`, `5_000_000` or `5e6`.
///
/// # Errors
///
/// If it is not a number, zero, or more than streams are made for. The message states the range.
pub fn parse_timers(text: &str) -> Result<u32, String> {
    // A double represents every allowed number exactly, and reads both notations.
    match text.replace('_', "").parse::<f64>() {
        Ok(n) if n.fract() == 0.0 && (1.0..=f64::from(MAX_TIMERS)).contains(&n) => Ok(n as u32),
        _ => Err(format!(
            "the number of timers must be from 1 to {MAX_TIMERS}, as in 1_000_000 or 1e6"
        )),
    }
}

/// Memory per label, even if no timer ever has it: an entry in the table of handles and one in each
/// of the floor's two arrays. One of these is rounded up to a power of two.
const PER_LABEL: u64 = 8 + 16 + 2 * 16;

/// Memory per movement of the clock: how many timers fire at it, in an array that doubles.
const PER_TICK: u64 = 3 * 4;

/// Memory per operation. A trace file was read once, and is copied to be played.
const PER_OPERATION: u64 = size_of::<Op>() as u64;

/// Memory per timer that is started, if it fires: its label twice, and its number in an array that
/// doubles. In bytes per timer without the operations, the estimate for `uniform` is 164; the peak
/// of `verify` was 160 with a million timers.
const PER_START: u64 = 2 * 4 + 3 * 8;

/// Memory per structure for an operation that is timed by itself: its time in an array that
/// doubles.
const PER_TIME: u64 = 2 * 4;

/// The most operations of a trace file that is read: they are in memory twice.
pub(crate) fn most_operations() -> u64 {
    available().map_or(u64::MAX, |(bytes, _)| bytes / (2 * PER_OPERATION))
}

/// Refuses a run that needs more memory than there is. Checks nothing if the system does not report
/// how much that is. Single operations are timed on `timed` structures.
///
/// # Errors
///
/// If the largest size needs more memory than is available, on any of the sources, or a trace
/// does.
pub fn check(sources: &[StreamSource], sizes: &[u32], timed: usize) -> Result<()> {
    let Some((available, limited_by)) = available() else { return Ok(()) };
    let n = sizes.iter().copied().max().filter(|n| *n > SAMPLE_TIMERS);
    for source in sources {
        let (what, needed, remedy) = match (source, n) {
            (StreamSource::Workload(_) | StreamSource::Mix(_), Some(n)) => {
                let what = format!("n = {n} ({})", source.name());
                let by_sample = needed(&source.load(SAMPLE_TIMERS, 1)?, 0);
                let scaled = by_sample * u64::from(n) / u64::from(SAMPLE_TIMERS);
                (what, scaled, "use a smaller --n")
            }
            (StreamSource::File(stream), _) => {
                let (labels, ticks) = (stream.labels, ticks(stream));
                let what = format!("{} ({labels} labels, {ticks} ticks)", stream.name);
                let remedy = "record less, reuse the labels of timers that have ended, and use \
                              longer ticks";
                (what, needed(stream, timed), remedy)
            }
            _ => continue,
        };
        ensure!(
            needed <= available,
            "{what} needs about {}, and {limited_by} {} available; {remedy}",
            units::bytes(needed),
            units::bytes(available),
        );
    }
    Ok(())
}

/// How often a stream moves the clock, counting single ticks.
fn ticks(stream: &Stream) -> u64 {
    let ops = stream.phases.iter().flat_map(|phase| &phase.ops);
    ops.map(|op| match op {
        Op::Ticks { count, .. } => u64::from(*count),
        Op::Advance { .. } | Op::Wake | Op::Pop { .. } => 1,
        _ => 0,
    })
    .sum()
}

/// About how many bytes it takes to verify and measure a stream.
fn needed(stream: &Stream, timed: usize) -> u64 {
    let operations: u64 = stream.phases.iter().map(|phase| phase.ops.len() as u64).sum();
    let ticks = ticks(stream);
    stream.labels as u64 * PER_LABEL
        + ticks * PER_TICK
        + operations * PER_OPERATION
        + stream.insertions() as u64 * PER_START
        + (operations + ticks) * timed as u64 * PER_TIME
}

/// The available bytes, and what limits them: the machine, the limit of a container, or this
/// process's limit (`ulimit -v`), whichever leaves least.
fn available() -> Option<(u64, &'static str)> {
    let machine = provenance::meminfo("MemAvailable").map(|bytes| (bytes, "the machine has"));
    let cgroups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let container = cgroup_left(Path::new("/sys/fs/cgroup"), &cgroups)
        .map(|bytes| (bytes, "the memory limit of this control group (container) leaves"));
    let limit =
        address_space_left().map(|bytes| (bytes, "the limit of this process (ulimit -v) leaves"));
    [machine, container, limit].into_iter().flatten().min()
}

/// The bytes that the memory limits of this process's control group and its ancestors leave; `None`
/// without a limit. `mounted` has the files of control groups, and `cgroups` is the content of
/// `/proc/self/cgroup`. In a container, that may name a path of the host, which is not mounted:
/// then the limit is that of the mounted root, which is the last ancestor.
fn cgroup_left(mounted: &Path, cgroups: &str) -> Option<u64> {
    let groups = cgroups.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let path = Path::new(path.trim_start_matches('/'));
        // Version 2 has one hierarchy, without a list of controllers.
        match controllers {
            "" => Some((mounted.to_owned(), path, ["memory.max", "memory.current"])),
            _ if controllers.split(',').any(|controller| controller == "memory") => {
                let files = ["memory.limit_in_bytes", "memory.usage_in_bytes"];
                Some((mounted.join("memory"), path, files))
            }
            _ => None,
        }
    });
    let left = groups.flat_map(|(root, path, files)| {
        path.ancestors().filter_map(move |group| group_left(&root.join(group), files))
    });
    left.min()
}

/// The bytes that the limit of one control group leaves, by its files.
fn group_left(group: &Path, [limit, usage]: [&str; 2]) -> Option<u64> {
    let number = |file| read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
    // The kernel frees the pages of files when the memory is needed.
    let statistics = read_to_string(group.join("memory.stat")).ok()?;
    // Version 1 has a second line, which includes the groups below, as the usage does.
    let of_files = statistics.lines().filter_map(|line| {
        let (name, bytes) = line.split_once(' ')?;
        name.ends_with("inactive_file").then(|| bytes.parse::<u64>().ok())?
    });
    let in_use = number(usage)?.saturating_sub(of_files.max().unwrap_or(0));
    Some(number(limit)?.saturating_sub(in_use)) // `max` is no number
}

/// The bytes that the limit of the address space leaves; `None` without a limit.
fn address_space_left() -> Option<u64> {
    let limits = read_to_string("/proc/self/limits").ok()?;
    let most = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most: u64 = most.split_whitespace().next()?.parse().ok()?; // `unlimited` is no number
    let status = read_to_string("/proc/self/status").ok()?;
    let in_use = provenance::bytes_on_line(&status, "VmSize").unwrap_or(0);
    Some(most.saturating_sub(in_use))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelhouse_core::Tick;
    use wheelhouse_workload::trace;

    #[test]
    fn numbers_of_timers_may_have_underscores_or_an_exponent() {
        for text in ["5000000", "5_000_000", "5e6", "0.5e7"] {
            assert_eq!(parse_timers(text), Ok(5_000_000), "{text}");
        }
        for text in ["", "0", "-1", "1.5", "1e9", "nan", "inf", "many"] {
            assert!(parse_timers(text).is_err(), "{text}");
        }
    }

    /// A trace file of two operations, whose numbers cannot be trusted.
    fn two_operations(labels: u32, count: u32) -> StreamSource {
        let output = std::io::Cursor::new(Vec::new());
        let mut writer = trace::Writer::deflating(output, trace::Header::default()).unwrap();
        writer.write(Op::Insert { label: labels - 1, deadline: 5 }).unwrap();
        writer.write(Op::Ticks { count, to: Tick::from(count) }).unwrap();
        let file = writer.finish("").unwrap().output.into_inner();
        StreamSource::File(Stream::from_trace("two", &file[..]).unwrap())
    }

    #[test]
    fn a_trace_that_needs_more_memory_than_available_is_refused() {
        assert!(check(&[two_operations(1, 9)], &[], 9).is_ok());
        let (available, _) = available().unwrap();
        for (labels, count) in [(u32::MAX, 9), (1, u32::MAX)] {
            let refused = check(&[two_operations(labels, count)], &[], 0);
            let needed = u64::from(labels) * PER_LABEL + u64::from(count) * PER_TICK;
            assert_eq!(refused.is_err(), needed > available, "{labels} labels, {count} ticks");
        }
    }

    #[test]
    fn the_limit_of_a_container_is_found() {
        let mounted = tempfile::tempdir().unwrap();
        let group = |path: &str, [limit, usage]: [&str; 2], values: [&str; 2]| {
            let group = mounted.path().join(path);
            std::fs::create_dir_all(&group).unwrap();
            std::fs::write(group.join(limit), values[0]).unwrap();
            std::fs::write(group.join(usage), values[1]).unwrap();
            let statistics = "anon 9\ninactive_file 50\ntotal_inactive_file 100\n";
            std::fs::write(group.join("memory.stat"), statistics).unwrap();
        };
        let left = |cgroups| cgroup_left(mounted.path(), cgroups);
        assert_eq!(left("0::/\n"), None, "the root of version 2 has no such files");
        let files = ["memory.max", "memory.current"];
        group("a", files, ["2000\n", "700\n"]);
        group("a/b", files, ["max\n", "600\n"]);
        assert_eq!(left("0::/a/b\n"), Some(1_400), "the parent has a limit");
        group("a/b", files, ["1000\n", "600\n"]);
        assert_eq!(left("0::/a/b\n"), Some(500));
        let files = ["memory.limit_in_bytes", "memory.usage_in_bytes"];
        group("memory", files, ["900\n", "1100\n"]);
        assert_eq!(left("3:cpuset:/x\n2:cpu,memory:/of/the/host\n"), Some(0));
        assert_eq!(left("3:cpuset:/a\n"), None);
    }

    #[test]
    fn the_operations_of_a_stream_and_their_times_are_counted() {
        let stream = StreamSource::find("uniform").unwrap().load(1 << 14, 1).unwrap();
        let [bare, timed] = [0, 10].map(|timed| needed(&stream, timed) >> 14);
        // Each timer has eight operations, three of them starts, one label and one tick.
        assert_eq!(bare, 8 * 16 + 3 * PER_START + PER_LABEL + PER_TICK);
        assert!(timed - bare > 10 * 8 * 4, "an operation has a time for each structure");
    }

    #[test]
    fn shipped_traces_and_few_timers_are_not_checked() {
        assert!(check(&[StreamSource::find("uniform").unwrap()], &[SAMPLE_TIMERS], 0).is_ok());
        assert!(check(&[StreamSource::find("trace:redis").unwrap()], &[u32::MAX], 0).is_ok());
        assert!(check(&[], &[], 0).is_ok());
    }
}
