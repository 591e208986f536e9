//! Made-up runs, shaped like real ones.

use wheelhouse_harness::model::{Census, FLOOR, Failure, Latency, Memory, Run, Throughput};
use wheelhouse_machine::provenance::Provenance;

pub(crate) const SIZES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// The backends of the plausible run, each with its base cost and its growth per doubling of n.
const SHAPES: [(&str, f64, f64); 5] = [
    (FLOOR, 4.0, 0.25),
    ("hierarchical-wheel", 18.0, 0.6),
    ("round-wheel", 16.0, 1.4),
    ("binary-heap", 21.0, 3.0),
    ("skip-list", 60.0, 9.0),
];

const MEASURES: [(&str, &str, f64); 8] = [
    ("insert-cold", "uniform", 1.2),
    ("insert-warm", "uniform", 0.9),
    ("cancel", "uniform", 0.8),
    ("reschedule", "uniform", 1.4),
    ("fire-jump", "uniform", 1.7),
    ("fire-ticks", "uniform", 2.0),
    ("steady", "steady", 3.0),
    ("hold", "hold-exponential", 2.6),
];

/// Four backends and the floor at four sizes with five repetitions each. One answer is wrong, one
/// row has a single sample, one is all zeros, and some rows are missing.
pub(crate) fn run() -> Run {
    let mut run = empty();
    for (backend, base, slope) in SHAPES {
        for n in SIZES {
            let growth = (n as f64 / 1_000.0).log2() * slope;
            for (measure, workload, factor) in MEASURES {
                let ns = (base + growth) * factor;
                run.throughput.push(throughput(backend, workload, n, measure, ns));
            }
            for (operation, factor) in [("insert", 1.0), ("cancel", 0.8), ("tick", 3.0)] {
                let ns = (base + growth) * factor + 30.0;
                run.latency.push(latency(backend, "steady", n, operation, ns));
            }
            if backend != FLOOR {
                run.memory.push(memory(backend, n, base));
            }
        }
        for (trace, n) in [("trace:nginx", 183_204), ("trace:kafka", 52_000)] {
            run.throughput.push(throughput(backend, trace, n, "mix", base * 2.0));
        }
    }
    for workload in ["steady", "hold-exponential"] {
        // As many calls as operations. The share of timers that fire is unknown.
        let census =
            |n| Census { workload: workload.to_owned(), n, starts: n, ..Census::default() };
        run.census.extend(SIZES.map(census));
    }
    spoil(&mut run);
    run
}

pub(crate) fn empty() -> Run {
    Run::new(provenance())
}

pub(crate) fn provenance() -> Provenance {
    Provenance {
        started: "2026-11-21T02:10:00Z".to_owned(),
        host: "xeon-2c".to_owned(),
        cpu: "Example(R) CPU @ 2.00GHz".to_owned(),
        cores: 2,
        memory_bytes: 8 << 30,
        kernel: "Linux 6.1.0".to_owned(),
        rustc: "rustc 1.95.0".to_owned(),
        profile: "release, thin LTO".to_owned(),
        commit: "02ff5b6a9d0c".to_owned(),
        dirty: false,
        command: "wheelhouse bench --seed 1".to_owned(),
        seed: 1,
        pinned_to: Some(1),
        clock_overhead_ns: 27.0,
    }
}

/// A row with five samples of at least `ns`.
pub(crate) fn throughput(
    backend: &str,
    workload: &str,
    n: u64,
    measure: &str,
    ns: f64,
) -> Throughput {
    // Disturbances of the machine are mostly small.
    let ns_per_op = [1.0, 1.08, 1.01, 1.0, 1.03].map(|slower| ns * slower).to_vec();
    let (operations, rounds) = (n, Vec::new());
    Throughput {
        backend: backend.to_owned(),
        workload: workload.to_owned(),
        n,
        measure: measure.to_owned(),
        operations,
        ns_per_op,
        rounds,
    }
}

pub(crate) fn latency(backend: &str, workload: &str, n: u64, operation: &str, ns: f64) -> Latency {
    let times = [1.0, 1.1, 1.2, 1.4, 2.0, 6.0].map(|longer| (ns * longer) as u64);
    let curve = [50.0, 90.0, 99.0, 99.9, 99.99, 100.0].into_iter().zip(times).collect();
    let [p50, p90, p99, p999, p9999, max] = times;
    let count = 400_000;
    Latency {
        backend: backend.to_owned(),
        workload: workload.to_owned(),
        n,
        operation: operation.to_owned(),
        count,
        p50,
        p90,
        p99,
        p999,
        p9999,
        max,
        curve,
    }
}

pub(crate) fn memory(backend: &str, n: u64, base: f64) -> Memory {
    let live = 24.0 + base * 0.6 + 3_000.0 / n as f64;
    Memory { backend: backend.to_owned(), n, live, peak: live * 1.5, churned: live * 1.1 }
}

/// Adds the flaws that real runs have.
fn spoil(run: &mut Run) {
    let skip_list = |r: &Throughput, n: u64| r.backend == "skip-list" && r.n == n;
    run.throughput.retain(|r| !(skip_list(r, 1_000_000) && r.measure == "hold"));
    run.throughput.retain(|r| !(skip_list(r, 100_000) && r.workload == "uniform"));
    let message = "fired timer 17 at tick 40 & not <41>; checksum 1 | 2";
    run.failures.push(Failure {
        backend: "skip-list".to_owned(),
        workload: "uniform".to_owned(),
        n: 100_000,
        message: message.to_owned(),
    });
    for row in &mut run.throughput {
        match (row.backend.as_str(), row.n, row.measure.as_str()) {
            ("binary-heap", 10_000, "cancel") => row.ns_per_op.truncate(1),
            (FLOOR, 1_000, "reschedule") => row.ns_per_op.fill(0.0),
            _ => {}
        }
    }
}
