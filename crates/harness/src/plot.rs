//! Pictures of a run: latency by percentile, time per operation against n, memory against n.
//!
//! Each is an SVG that needs no script, font or link, and follows the reader's light or dark theme.
//! A structure has the same colour in all of them ([`style_of`]). [`all`] draws every picture that
//! a run has data for.

use std::collections::BTreeSet;

use crate::model::{FLOOR, Latency, Memory, Run};
use crate::summary;
use wheelhouse_machine::provenance::{Provenance, short_commit};
use wheelhouse_present::document::Picture;
use wheelhouse_present::plot::axis::Axis;
use wheelhouse_present::plot::chart::{Chart, Labels, Series};
use wheelhouse_present::plot::palette::{self, Style};
use wheelhouse_present::stats;
use wheelhouse_present::table::distinct;
use wheelhouse_present::units;

/// The subject of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Time per operation of a measure on a workload, against n.
    Time {
        /// The workload.
        workload: String,
        /// The measure.
        measure: String,
    },
    /// Time of single operations on a workload at n, by percentile.
    Latency {
        /// The workload.
        workload: String,
        /// Timers.
        n: u64,
        /// The operation.
        operation: String,
    },
    /// Bytes per timer, against n.
    Memory,
}

/// Every picture that the run has data for: times, then latencies, then memory. Each has a unique
/// file name.
pub fn all(run: &Run) -> Vec<(Subject, Picture)> {
    let mut names = BTreeSet::new();
    let draw = |subject: Subject| {
        let mut picture = draw(run, &subject)?;
        let (file, mut copies) = (picture.file.trim_end_matches(".svg").to_owned(), 1);
        while !names.insert(picture.file.clone()) {
            copies += 1;
            picture.file = format!("{file}-{copies}.svg");
        }
        Some((subject, picture))
    };
    subjects(run).into_iter().filter_map(draw).collect()
}

/// The picture that represents the run: the steady mix against n, or else the first picture.
pub fn main_picture(run: &Run) -> Option<Picture> {
    let is_steady =
        |it: &Subject| matches!(it, Subject::Time { measure, .. } if measure == "steady");
    // The least key is that of a steady picture. Of equal keys, `min_by_key` returns the first.
    all(run).into_iter().min_by_key(|(subject, _)| !is_steady(subject)).map(|it| it.1)
}

/// Draws one picture; `None` if the run has nothing to show for it.
pub fn draw(run: &Run, subject: &Subject) -> Option<Picture> {
    let mut chart = match subject {
        Subject::Time { workload, measure } => time(run, workload, measure),
        Subject::Latency { workload, n, operation } => latency(run, workload, *n, operation),
        Subject::Memory => memory(run),
    }?;
    let Provenance { host, commit, dirty, .. } = &run.provenance;
    let dirty = if *dirty { "+" } else { "" };
    let (title, file) = title_and_file(subject);
    chart.labels.title.clone_from(&title);
    chart.labels.subtitle += &format!(" · {host}, {}{dirty}", short_commit(commit));
    Some(Picture { title, file, svg: chart.svg() })
}

/// A chart that needs a title.
fn untitled(subtitle: &str, x: Axis, y: Axis, series: Vec<Series>) -> Chart {
    let labels = Labels { title: String::new(), subtitle: subtitle.to_owned(), x, y };
    Chart { labels, series, level: None, whisker_gap: 0 }
}

/// The most characters in the name of a picture's file, which may contain the name of a trace.
const LONGEST_NAME: usize = 100;

/// The title of a picture, and the name of its file: lower case, words joined by `-`.
fn title_and_file(subject: &Subject) -> (String, String) {
    let (title, words) = match subject {
        Subject::Time { workload, measure } if measure == workload => {
            (format!("{}: time per operation", capitalized(measure)), format!("time {measure}"))
        }
        Subject::Time { workload, measure } => (
            format!("{} ({workload}): time per operation", capitalized(measure)),
            format!("time {measure} {workload}"),
        ),
        Subject::Latency { workload, n, operation } => (
            format!("Latency of one {operation} ({workload}), n = {}", units::count(*n)),
            format!("latency {operation} {workload} {n}"),
        ),
        Subject::Memory => ("Memory per timer".to_owned(), "memory".to_owned()),
    };
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let plain: String = words.chars().take(LONGEST_NAME).map(plain).collect();
    (title, format!("{plain}.svg"))
}

fn subjects(run: &Run) -> Vec<Subject> {
    let times = run.throughput.iter();
    let times =
        times.map(|r| Subject::Time { workload: r.workload.clone(), measure: r.measure.clone() });
    let latencies = run.latency.iter().map(|r| {
        let (workload, operation) = (r.workload.clone(), r.operation.clone());
        Subject::Latency { workload, n: r.n, operation }
    });
    distinct(times.chain(latencies).chain([Subject::Memory]))
}

/// `insert-warm` as `Insert warm`.
fn capitalized(name: &str) -> String {
    let words = name.replace('-', " ");
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The style of a structure, from its place in the registry. The floor has none; its line is
/// dashed.
pub fn style_of(name: &str) -> Style {
    if name == FLOOR {
        return palette::REFERENCE;
    }
    let registry: Vec<&str> = wheelhouse_registry::all().iter().map(|info| info.name).collect();
    palette::style_of(name, &registry)
}

/// A line per backend that `fill` adds points to, in the order of the run.
fn series(run: &Run, fill: impl Fn(&mut Series)) -> Vec<Series> {
    let filled = summary::backends(run).into_iter().map(|name| {
        let (style, line, marks, whiskers) = (style_of(&name), vec![], vec![], vec![]);
        let mut series = Series { name, style, line, marks, whiskers };
        fill(&mut series);
        series
    });
    filled.filter(|series| !series.line.is_empty()).collect()
}

/// Nanoseconds per operation against n. A line needs two sizes; a single one is in the table only.
fn time(run: &Run, workload: &str, measure: &str) -> Option<Chart> {
    let rows = || run.throughput.iter().filter(|r| r.workload == workload && r.measure == measure);
    let sizes: BTreeSet<u64> = rows().map(|r| r.n).collect();
    let series = series(run, |series| {
        for row in rows().filter(|r| r.backend == series.name) {
            let (n, samples) = (row.n as f64, &row.ns_per_op);
            let median = stats::median(samples).filter(|ns| *ns > 0.0);
            if let (Some(median), Some((least, most))) = (median, stats::range(samples)) {
                series.line.push((n, median));
                let has_whisker = samples.len() > 1 && least > 0.0;
                series.whiskers.extend(has_whisker.then_some((n, least, most)));
            }
        }
        series.line.sort_by(|a, b| a.0.total_cmp(&b.0));
        series.marks.clone_from(&series.line);
    });
    if sizes.len() < 2 || series.is_empty() {
        return None;
    }
    let values = series.iter().flat_map(|s| {
        let ends = s.whiskers.iter().flat_map(|w| [w.1, w.2]);
        s.line.iter().map(|p| p.1).chain(ends)
    });
    let x = Axis::sizes("timers n (log scale)", &sizes.into_iter().collect::<Vec<_>>())?;
    let y = Axis::time("time per operation", values)?;
    let subtitle = "median; whiskers from the fastest to the slowest repetition; lower is better";
    Some(untitled(subtitle, x, y, series))
}

/// The distribution of single operations: the share of operations that took no longer than a time.
fn latency(run: &Run, workload: &str, n: u64, operation: &str) -> Option<Chart> {
    let is_it = |r: &&Latency| r.workload == workload && r.n == n && r.operation == operation;
    let rows = || run.latency.iter().filter(is_it);
    let series = series(run, |series| {
        let row = rows().find(|r| r.backend == series.name);
        row.into_iter().for_each(|row| add_curve(row, series));
    });
    let finest =
        rows().flat_map(|r| &r.curve).map(|p| p.0).filter(|p| *p < 100.0).fold(0.0, f64::max);
    let clock = run.provenance.clock_overhead_ns;
    let values = series.iter().flat_map(|s| s.line.iter().chain(&s.marks)).map(|p| p.1);
    let y = Axis::time("time of one operation", values)?;
    let x = Axis::percentiles(
        "share of operations that took no longer, % (each further nine has the same width)",
        finest,
    );
    let level = (clock > 0.0 && y.spans(clock)).then(|| (clock, "reading the clock".to_owned()));
    let subtitle = "each includes the clock's overhead; lower is better";
    Some(Chart { level, ..untitled(subtitle, x, y, series) })
}

fn add_curve(row: &Latency, series: &mut Series) {
    let named = [50.0, 90.0, 99.0, 99.9, 99.99, 100.0];
    let named = named.into_iter().zip([row.p50, row.p90, row.p99, row.p999, row.p9999, row.max]);
    // In a histogram of `count` values, a percentile beyond 1 - 1/count is the maximum.
    let is_measured = |p: f64| p >= 100.0 || (row.count as f64) * (1.0 - p / 100.0) >= 0.999;
    let visible = |(p, ns): (f64, u64)| (ns > 0 && is_measured(p)).then_some((p, ns as f64));
    series.marks = named.filter_map(visible).collect();
    series.line = row.curve.iter().copied().filter_map(visible).collect();
    if series.line.is_empty() {
        series.line.clone_from(&series.marks);
    }
    series.line.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
}

/// Bytes per live timer against n, with whiskers from the smallest to the largest of live, peak and
/// churned.
fn memory(run: &Run) -> Option<Chart> {
    let sizes: BTreeSet<u64> = run.memory.iter().map(|r| r.n).collect();
    let series = series(run, |series| {
        let mut rows: Vec<_> = run.memory.iter().filter(|r| r.backend == series.name).collect();
        rows.sort_by_key(|r| r.n);
        for Memory { n, live, peak, churned, .. } in rows {
            series.line.push((*n as f64, *live));
            let ends = stats::range(&[*live, *peak, *churned]);
            series.whiskers.extend(ends.map(|(least, most)| (*n as f64, least, most)));
        }
        series.marks.clone_from(&series.line);
    });
    let x = Axis::sizes("live timers n (log scale)", &sizes.into_iter().collect::<Vec<_>>())?;
    let values = series.iter().flat_map(|s| s.whiskers.iter().flat_map(|w| [w.1, w.2]));
    let y = Axis::amount("bytes per live timer", values)?;
    let subtitle =
        "after n insertions; whiskers include the peak while growing and the state after churn";
    Some(Chart { whisker_gap: 5, ..untitled(subtitle, x, y, series) })
}
