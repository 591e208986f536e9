use std::collections::BTreeSet;

use wheelhouse_harness::model::{FLOOR, Run};
use wheelhouse_harness::plot::{self, Subject};

use crate::synthetic;

fn steady(run: &Run) -> String {
    plot::draw(run, &Subject::Time { workload: "steady".to_owned(), measure: "steady".to_owned() })
        .expect("there is data")
}

/// The points of every line: one line for each structure.
fn lines(svg: &str) -> Vec<Vec<(i32, i32)>> {
    let lines = svg.split("<polyline").skip(1);
    let points = lines.map(|l| l.split("points=\"").nth(1).unwrap().split('"').next().unwrap());
    let pair =
        |p: &str| p.split_once(',').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap();
    points.map(|p| p.split_whitespace().map(pair).collect()).collect()
}

#[test]
fn every_subject_with_data_has_a_picture_with_a_unique_name() {
    let run = synthetic::run();
    let pictures = plot::all(&run);
    assert_eq!(pictures.len(), 8 + 3 * 4 + 1, "traces with a single n have none");
    let names: BTreeSet<&str> = pictures.iter().map(|p| p.file.as_str()).collect();
    assert_eq!(names.len(), pictures.len());
    assert!(
        names.contains("time-steady.svg") && names.contains("latency-tick-steady-1000000.svg"),
        "{names:?}"
    );
    assert_eq!(plot::main_picture(&run).unwrap().file, "time-steady.svg");
}

#[test]
fn equal_file_names_get_a_suffix() {
    let mut run = synthetic::run();
    let mut other: Vec<_> =
        run.throughput.iter().filter(|r| r.workload == "hold-exponential").cloned().collect();
    other.iter_mut().for_each(|r| r.workload = "hold:exponential".to_owned());
    run.throughput.extend(other);
    let pictures = plot::all(&run);
    let names: BTreeSet<&str> = pictures.iter().map(|p| p.file.as_str()).collect();
    assert!(
        names.contains("time-hold-hold-exponential.svg")
            && names.contains("time-hold-hold-exponential-2.svg")
    );
}

#[test]
fn lines_rise_with_their_figures() {
    let lines = lines(&steady(&synthetic::run()));
    assert_eq!(lines.len(), 5);
    for line in lines {
        assert_eq!(line.len(), 4);
        assert!(
            line.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1),
            "{line:?}"
        );
    }
}

#[test]
fn pictures_stand_alone_and_have_both_themes() {
    for picture in plot::all(&synthetic::run()) {
        let svg = &picture.svg;
        assert!(svg.starts_with("<svg class=\"wheelhouse-plot\""), "{}", picture.file);
        let parts = ["xmlns=\"http://www.w3.org/2000", "prefers-color-scheme: dark", "<title>"];
        assert!(parts.iter().all(|part| svg.contains(part)), "{}", picture.file);
        assert!(["<script", "NaN", "inf"].iter().all(|it| !svg.contains(it)), "{}", picture.file);
    }
}

#[test]
fn every_colour_has_a_dark_counterpart() {
    for picture in plot::all(&synthetic::run()) {
        let parts = picture.svg.split(['"', '\n']).filter(|p| p.len() == 7 && p.starts_with('#'));
        for colour in parts.collect::<BTreeSet<_>>() {
            assert!(
                picture.svg.contains(&format!("[color=\"{colour}\"] {{ color: #")),
                "{colour} in {}",
                picture.file
            );
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
    assert!(plot::all(&synthetic::empty()).is_empty());
    assert!(plot::main_picture(&synthetic::empty()).is_none());
    let mut zeros = synthetic::run();
    zeros.throughput.iter_mut().for_each(|r| r.ns_per_op.fill(0.0));
    zeros.latency.iter_mut().for_each(|r| {
        (r.p50, r.p90, r.p99, r.p999, r.p9999, r.max) = (0, 0, 0, 0, 0, 0);
        r.curve.clear();
    });
    zeros.memory.iter_mut().for_each(|r| (r.live, r.peak, r.churned) = (0.0, 0.0, 0.0));
    let drawn: Vec<String> = plot::all(&zeros).into_iter().map(|p| p.file).collect();
    assert_eq!(drawn, ["memory.svg"], "a logarithmic axis has no zero");
}
