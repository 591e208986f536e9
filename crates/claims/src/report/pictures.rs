//! The charts of the experiments, drawn like those of the benchmarks.

use crate::{Chart, Evidence, Experiment};
use wheelhouse_present::document::Picture;
use wheelhouse_present::plot::axis::Axis;
use wheelhouse_present::plot::chart::{self, Series};
use wheelhouse_present::plot::palette;

/// The pictures of an experiment, each with its caption. A chart that has no point to show is
/// skipped.
pub fn of(experiment: &Experiment, evidence: &Evidence) -> impl Iterator<Item = (Picture, String)> {
    let numbered = evidence.charts.iter().enumerate();
    numbered
        .filter_map(|(at, chart)| Some((picture(experiment, at, chart)?, chart.subtitle.clone())))
}

fn picture(experiment: &Experiment, at: usize, chart: &Chart) -> Option<Picture> {
    let number = if at == 0 { String::new() } else { format!("-{}", at + 1) };
    Some(Picture {
        file: format!("{}{number}.svg", experiment.name),
        title: chart.title.clone(),
        svg: draw(chart)?,
    })
}

fn draw(chart: &Chart) -> Option<String> {
    let registry: Vec<&str> = wheelhouse_registry::all().iter().map(|info| info.name).collect();
    let points = || chart.series.iter().flat_map(|series| series.points.iter().copied());
    let x = Axis::amount(&chart.x, points().map(|point| point.0))?.horizontal();
    let y = Axis::amount(&chart.y, points().map(|point| point.1))?;
    // A structure has its own colour. A chart without structures uses the colours of the first
    // ones.
    let any_structure = chart.series.iter().any(|series| registry.contains(&series.name.as_str()));
    let style = |at: usize, name: &str| match registry.get(at).filter(|_| !any_structure) {
        Some(place) => palette::style_of(place, &registry),
        None => palette::style_of(name, &registry),
    };
    let series = chart.series.iter().enumerate().map(|(at, series)| Series {
        name: series.name.clone(),
        style: style(at, &series.name),
        line: series.points.clone(),
        marks: series.points.clone(),
        whiskers: Vec::new(),
    });
    let (title, subtitle) = (chart.title.clone(), chart.subtitle.clone());
    Some(
        chart::Chart {
            labels: chart::Labels { title, subtitle, x, y },
            series: series.collect(),
            level: None,
            whisker_gap: 0,
        }
        .svg(),
    )
}
