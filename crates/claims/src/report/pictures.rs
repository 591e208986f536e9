//! The pictures of the experiments, drawn like those of the benchmarks.

use crate::{Evidence, Experiment, Sweep};
use wheelhouse_present::document::Picture;
use wheelhouse_present::plot::axis::Axis;
use wheelhouse_present::plot::chart::{Chart, Labels, Series};
use wheelhouse_present::plot::palette;

/// The pictures of an experiment, each with its caption. A sweep that has no point to show is
/// skipped.
pub(super) fn of(
    experiment: &Experiment,
    evidence: &Evidence,
) -> impl Iterator<Item = (Picture, String)> {
    evidence.sweeps.iter().enumerate().filter_map(|(at, sweep)| {
        let number = if at == 0 { String::new() } else { format!("-{}", at + 1) };
        let file = format!("{}{number}.svg", experiment.name);
        let picture = Picture { file, title: sweep.title.clone(), svg: draw(sweep)? };
        Some((picture, sweep.unit.clone()))
    })
}

fn draw(sweep: &Sweep) -> Option<String> {
    let registry: Vec<&str> = wheelhouse_registry::all().iter().map(|info| info.name).collect();
    let lines = sweep.lines.iter().map(|(name, curve)| {
        let points = curve.points().into_iter().filter(|(_, cost)| *cost > 0.0);
        (name, points.collect::<Vec<_>>())
    });
    let lines: Vec<_> = lines.filter(|(_, points)| !points.is_empty()).collect();
    let points = || lines.iter().flat_map(|(_, points)| points.iter().copied());
    let x = Axis::amount(&sweep.x, points().map(|point| point.0))?.horizontal();
    let y = Axis::amount("steps", points().map(|point| point.1))?;
    // A structure has its own colour. A picture without structures uses the colours of the first
    // ones.
    let any_structure = lines.iter().any(|(name, _)| registry.contains(&name.as_str()));
    let style = |at: usize, name: &str| match registry.get(at).filter(|_| !any_structure) {
        Some(place) => palette::style_of(place, &registry),
        None => palette::style_of(name, &registry),
    };
    let series = lines.iter().enumerate().map(|(at, (name, points))| Series {
        name: (*name).clone(),
        style: style(at, name),
        line: points.clone(),
        marks: points.clone(),
        whiskers: Vec::new(),
    });
    let (title, subtitle) = (sweep.title.clone(), sweep.unit.clone());
    let labels = Labels { title, subtitle, x, y };
    let chart = Chart { labels, series: series.collect(), level: None, whisker_gap: 0 };
    Some(chart.svg())
}
