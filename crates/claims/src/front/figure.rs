//! The figure of the front: the lines of all structures in four panels, steps against n, on
//! logarithmic axes.

use super::{Front, FrontRow, Operation};
use wheelhouse_present::document::Picture;
use wheelhouse_present::plot::axis::Axis;
use wheelhouse_present::plot::chart::{Labels, Series};
use wheelhouse_present::plot::palette;
use wheelhouse_present::plot::panels::Panels;

/// The panels. An empty tick is in the table only, because it takes most structures one step.
const SHOWN: [Operation; 4] =
    [Operation::InsertRandom, Operation::InsertEarliest, Operation::Cancel, Operation::Fire];

/// Every other point is marked, since the lines are close to each other.
const MARKED: usize = 2;

/// The picture, if anything was counted.
pub fn figure(front: &Front) -> Option<Picture> {
    let cells = || front.rows.iter().flat_map(|row| &row.cells);
    let points =
        || cells().filter(|cell| SHOWN.contains(&cell.operation)).flat_map(|it| it.curve.points());
    let x = Axis::amount("timers", points().map(|(n, _)| n))?.horizontal();
    let y = Axis::amount("steps of one operation", points().map(|(_, steps)| steps))?;
    let registry: Vec<&str> = wheelhouse_registry::all().iter().map(|info| info.name).collect();
    let panel = |operation: Operation| {
        let series = front.rows.iter().filter_map(|row| series(row, operation, &registry));
        (operation.name().to_owned(), series.collect())
    };
    let title = "Which operation grows with the number of timers?".to_owned();
    let subtitle = "Steps counted by the meter; a flat line is constant, a gentle slope \
                    logarithmic, a diagonal linear."
        .to_owned();
    let panels = Panels {
        labels: Labels { title: title.clone(), subtitle, x, y },
        panels: SHOWN.map(panel).into(),
    };
    Some(Picture { file: "front.svg".to_owned(), title, svg: panels.svg() })
}

fn series(row: &FrontRow, operation: Operation, registry: &[&str]) -> Option<Series> {
    let cell = row.cells.iter().find(|cell| cell.operation == operation)?;
    let line = cell.curve.points();
    Some(Series {
        name: row.contestant.name.to_owned(),
        style: palette::style_of(row.contestant.name, registry),
        marks: line.iter().copied().step_by(MARKED).collect(),
        line,
        whiskers: Vec::new(),
    })
}
