use std::collections::BTreeSet;

use wheelhouse_harness::model::{FLOOR, Run, Throughput};
use wheelhouse_harness::plot::{self, Subject};
use wheelhouse_present::document::Picture;

use crate::synthetic;

fn steady(run: &Run) -> String {
    plot::draw(run, &Subject::Time { workload: "steady".to_owned(), measure: "steady".to_owned() })
        .expect("there is data")
        .svg
}

/// The points of every line: one line for each structure.
fn lines(svg: &str) -> Vec<Vec<(i32, i32)>> {
    let lines = svg.split("<polyline").skip(1);
    let points = lines.map(|l| l.split("points=\"").nth(1).unwrap().split('"').next().unwrap());
    let pair =
        |p: &str| p.split_once(',').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap();
    points.map(|p| p.split_whitespace().map(pair).collect()).collect()
}

fn files(run: &Run) -> Vec<String> {
    plot::all(run).into_iter().map(|(_, picture)| picture.file).collect()
}

#[test]
fn every_subject_with_data_has_a_picture_with_a_unique_name() {
    let mut run = synthetic::run();
    assert_eq!(files(&run).len(), 8 + 3 * 4 + 1, "traces with a single n have none");
    assert_eq!(plot::main_picture(&run).unwrap().file, "time-steady.svg");
    let is_hold = |row: &&Throughput| row.workload == "hold-exponential";
    let mut other: Vec<_> = run.throughput.iter().filter(is_hold).cloned().collect();
    other.iter_mut().for_each(|r| r.workload = "hold:exponential".to_owned());
    run.throughput.extend(other);
    let mut of_trace = run.latency[0].clone();
    of_trace.workload = format!("trace:{}", "x".repeat(250));
    run.latency.push(of_trace);
    let files = files(&run);
    let unique: BTreeSet<&str> = files.iter().map(String::as_str).collect();
    assert_eq!(unique.len(), files.len());
    assert!(unique.iter().all(|file| file.len() < 200), "too long for a file: {unique:?}");
    let hold = ["time-hold-hold-exponential.svg", "time-hold-hold-exponential-2.svg"];
    for file in ["time-steady.svg", "latency-tick-steady-1000000.svg", hold[0], hold[1]] {
        assert!(unique.contains(file), "{file} in {unique:?}");
    }
}

#[test]
fn lines_rise_with_their_figures() {
    let lines = lines(&steady(&synthetic::run()));
    assert_eq!(lines.len(), 5);
    for line in lines {
        assert_eq!(line.len(), 4);
        let rises = |pair: &[(i32, i32)]| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1;
        assert!(line.windows(2).all(rises), "{line:?}");
    }
}

#[test]
fn pictures_stand_alone_and_have_both_themes() {
    for (_, Picture { file, svg, .. }) in plot::all(&synthetic::run()) {
        assert!(svg.starts_with("<svg class=\"wheelhouse-plot\""), "{file}");
        let parts = ["xmlns=\"http://www.w3.org/2000", "prefers-color-scheme: dark", "<title>"];
        assert!(parts.iter().all(|part| svg.contains(part)), "{file}");
        assert!(["<script", "NaN", "inf"].iter().all(|it| !svg.contains(it)), "{file}");
        let parts = svg.split(['"', '\n']).filter(|p| p.len() == 7 && p.starts_with('#'));
        for colour in parts.collect::<BTreeSet<_>>() {
            let dark = format!("[color=\"{colour}\"] {{ color: #");
            assert!(svg.contains(&dark), "{colour} in {file}");
        }
    }
}

#[test]
fn only_the_line_of_the_floor_is_dashed() {
    let svg = steady(&synthetic::run());
    assert_eq!(svg.matches("stroke-dasharray").count(), 1);
    let mut run = synthetic::run();
    run.throughput.retain(|r| r.backend != FLOOR);
    assert_eq!(steady(&run).matches("stroke-dasharray").count(), 0);
}

#[test]
fn figures_that_cannot_be_drawn_are_left_out() {
    assert!(files(&synthetic::empty()).is_empty());
    assert!(plot::main_picture(&synthetic::empty()).is_none());
    let mut zeros = synthetic::run();
    zeros.throughput.iter_mut().for_each(|r| r.ns_per_op.fill(0.0));
    zeros.latency.iter_mut().for_each(|r| {
        (r.p50, r.p90, r.p99, r.p999, r.p9999, r.max) = (0, 0, 0, 0, 0, 0);
        r.curve.clear();
    });
    zeros.memory.iter_mut().for_each(|r| (r.live, r.peak, r.churned) = (0.0, 0.0, 0.0));
    assert_eq!(files(&zeros), ["memory.svg"], "a logarithmic axis has no zero");
}
