//! Several charts of one kind in a picture: the same axes in each, one legend for all.

use super::axis::Axis;
use super::chart::Series;
use super::pen::{Drawn, Pen, Point, Side, Text};
use super::theme::{self, FAINT_INK, GRID, GROUND, INK};

/// Panels that stand side by side.
const ACROSS: usize = 2;
/// The frame of a panel, without its labels.
const FRAME: Point = (400, 260);
/// From one frame to the next.
const STEP: Point = (FRAME.0 + 62, FRAME.1 + 74);
/// The corner of the first frame.
const FIRST: Point = (78, 100);
/// Room for the legend.
const LEGEND: i32 = 196;
/// From one name of the legend to the next.
const LINE: i32 = 26;

const TITLE: Text = Text { size: 22, colour: INK, side: Side::Left, bold: true };
const SUBTITLE: Text = Text { size: 14, colour: FAINT_INK, side: Side::Left, bold: false };
const NAME: Text = Text { size: 16, colour: INK, side: Side::Left, bold: false };
const PANEL: Text = Text { size: 17, colour: INK, side: Side::Left, bold: true };
const AXIS_TITLE: Text = Text { size: 15, colour: INK, side: Side::Centre, bold: false };
const BELOW: Text = Text { size: 14, colour: FAINT_INK, side: Side::Centre, bold: false };
const BESIDE: Text = Text { size: 14, colour: FAINT_INK, side: Side::Right, bold: false };

/// What is drawn.
#[derive(Clone, Debug)]
pub struct Panels {
    /// In large letters.
    pub title: String,
    /// What the figures are, beneath it.
    pub subtitle: String,
    /// Across, in each panel.
    pub x: Axis,
    /// Up, in each panel.
    pub y: Axis,
    /// From left to right, then from top to bottom. Of a series whiskers are not drawn.
    pub panels: Vec<(String, Vec<Series>)>,
}

impl Panels {
    /// The finished picture. Cost: linear in the points.
    pub fn svg(&self) -> String {
        let drawing = Pen::drawing(self.size(), |pen| self.draw(pen));
        theme::finish(&drawing, &self.title)
    }

    fn size(&self) -> Point {
        let rows = self.panels.len().div_ceil(ACROSS) as i32;
        let width = FIRST.0 + (ACROSS as i32 - 1) * STEP.0 + FRAME.0 + LEGEND;
        (width, FIRST.1 + (rows - 1) * STEP.1 + FRAME.1 + 56)
    }

    fn draw(&self, pen: &mut Pen<'_>) -> Drawn {
        pen.rect((0, 0), self.size(), GROUND)?;
        pen.text(&self.title, (FIRST.0, 28), TITLE)?;
        pen.text(&self.subtitle, (FIRST.0, 54), SUBTITLE)?;
        for (at, (name, series)) in self.panels.iter().enumerate() {
            let place = ((at % ACROSS) as i32, (at / ACROSS) as i32);
            let corner = (FIRST.0 + place.0 * STEP.0, FIRST.1 + place.1 * STEP.1);
            pen.text(name, (corner.0, corner.1 - 14), PANEL)?;
            self.draw_axes(pen, corner)?;
            // The first is drawn last, on top.
            series.iter().rev().try_for_each(|series| self.draw_series(pen, corner, series))?;
        }
        self.draw_titles(pen)?;
        self.draw_legend(pen)
    }

    fn draw_axes(&self, pen: &mut Pen<'_>, (left, top): Point) -> Drawn {
        let (right, bottom) = (left + FRAME.0, top + FRAME.1);
        let (up, across) =
            (|at: f64| bottom - scaled(at, FRAME.1), |at: f64| left + scaled(at, FRAME.0));
        for y in self.y.ticks.iter().map(|tick| up(tick.at)) {
            pen.line(&[(left, y), (right, y)], GRID, 1, 1.0)?;
        }
        for x in self.x.ticks.iter().map(|tick| across(tick.at)) {
            pen.line(&[(x, top), (x, bottom)], GRID, 1, 1.0)?;
        }
        for tick in &self.y.ticks {
            pen.text(&tick.label, (left - 8, up(tick.at)), BESIDE)?;
        }
        for tick in &self.x.ticks {
            pen.text(&tick.label, (across(tick.at), bottom + 16), BELOW)?;
        }
        pen.line(&[(left, top), (left, bottom), (right, bottom)], FAINT_INK, 1, 1.0)
    }

    fn draw_series(&self, pen: &mut Pen<'_>, (left, top): Point, series: &Series) -> Drawn {
        let point = |(x, y): &(f64, f64)| {
            let (x, y) = (self.x.place(*x)?, self.y.place(*y)?);
            Some((left + scaled(x, FRAME.0), top + FRAME.1 - scaled(y, FRAME.1)))
        };
        let line: Vec<Point> = series.line.iter().filter_map(point).collect();
        pen.line(&line, series.style.light, 2, 1.0)?;
        let marks: Vec<Point> = series.marks.iter().filter_map(point).collect();
        pen.marks(&marks, series.style)
    }

    /// The axes are the same everywhere: they are named once.
    fn draw_titles(&self, pen: &mut Pen<'_>) -> Drawn {
        let (width, height) = self.size();
        let middle = (FIRST.0 + (width - LEGEND)) / 2;
        pen.text(&self.x.title, (middle, height - 16), AXIS_TITLE)?;
        pen.upright(&self.y.title, (16, (FIRST.1 + height - 56) / 2), AXIS_TITLE)
    }

    fn draw_legend(&self, pen: &mut Pen<'_>) -> Drawn {
        let mut named: Vec<&Series> = Vec::new();
        for series in self.panels.iter().flat_map(|(_, series)| series) {
            if named.iter().all(|other| other.name != series.name) {
                named.push(series);
            }
        }
        let left = self.size().0 - LEGEND + 26;
        for (at, series) in named.into_iter().enumerate() {
            let y = FIRST.1 + 8 + at as i32 * LINE;
            pen.line(&[(left - 14, y), (left + 14, y)], series.style.light, 2, 1.0)?;
            pen.marks(&[(left, y)], series.style)?;
            pen.text(&series.name, (left + 22, y), NAME)?;
        }
        Ok(())
    }
}

fn scaled(at: f64, length: i32) -> i32 {
    (at * f64::from(length)).round() as i32
}
