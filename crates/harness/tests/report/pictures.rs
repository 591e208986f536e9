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
fn a_structure_has_the_same_colour_in_every_run() {
    let mark = plot::style_of("round-wheel").light;
    let mut run = synthetic::run();
    let drawn =
        |run: &Run| steady(run).split("</style>").nth(1).unwrap().contains(&format!("\"{mark}\""));
    assert!(drawn(&run));
    run.throughput.retain(|r| r.backend == "round-wheel");
    assert!(drawn(&run), "alone");
    run.throughput.iter_mut().for_each(|r| r.backend = "binary-heap".to_owned());
    assert!(!drawn(&run), "another");
}

#[test]
fn a_line_is_found_by_the_name_of_its_structure() {
    let run = synthetic::run();
    let svg = steady(&run);
    for name in wheelhouse_harness::summary::backends(&run) {
        let group = svg.split(&format!("<g data-structure=\"{name}\"")).nth(1).expect("a group");
        let group = group.split("<g data-structure").next().unwrap();
        assert!(group.contains("<polyline") && group.contains(&format!(">{name}</text>")));
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
fn names_are_escaped() {
    let mut run = synthetic::run();
    for row in run.throughput.iter_mut().filter(|r| r.backend == "skip-list") {
        row.backend = "<b>&\"x\"".to_owned();
        row.workload = "a</title>b".to_owned();
    }
    for picture in plot::all(&run) {
        assert!(!picture.svg.contains("<b>"), "{}", picture.file);
        assert_eq!(picture.svg.matches("</title>").count(), 1, "{}", picture.file);
    }
    assert!(plot::all(&run).iter().any(|p| p.svg.contains("&lt;b&gt;&amp;&quot;x&quot;")));
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
    let mut odd = synthetic::run();
    odd.throughput[0].ns_per_op = vec![f64::NAN, f64::INFINITY, 1e300];
    odd.throughput[1].ns_per_op = vec![1e-300];
    odd.throughput[2].ns_per_op.clear();
    odd.throughput[3].n = 0;
    odd.latency[0].curve = vec![(f64::NAN, 5), (-3.0, 1), (250.0, u64::MAX)];
    odd.memory[0].peak = f64::INFINITY;
    odd.provenance.clock_overhead_ns = f64::NAN;
    for picture in plot::all(&odd) {
        assert!(!picture.svg.contains("NaN"), "{}", picture.file);
    }
}
