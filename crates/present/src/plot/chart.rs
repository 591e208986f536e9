//! Draws one chart: frame, grid, lines with their marks, whiskers, and names at the ends of the lines.

use super::axis::Axis;
use super::labels;
use super::palette::Style;
use super::pen::{Drawn, Pen, Point, Side, Text};
use super::theme::{self, FAINT_INK, GRID, GROUND, INK};

const WIDTH: i32 = 900;
const HEIGHT: i32 = 520;
const LEFT: i32 = 104;
const TOP: i32 = 78;
const BOTTOM: i32 = HEIGHT - 66;
/// How far the whiskers of all lines at one x spread, so that those of the first do not cross the axis.
const WIDEST_ASIDE: i32 = 40;

/// Letters of a name, and the width of one, a little above the average of common fonts.
const LONGEST_NAME: usize = 30;
const NAME_LETTER: f64 = 8.5;

const TITLE: Text = Text { size: 22, colour: INK, side: Side::Left, bold: true };
const SUBTITLE: Text = Text { size: 14, colour: FAINT_INK, side: Side::Left, bold: false };
const NAME: Text = Text { size: 16, colour: INK, side: Side::Left, bold: false };
const AXIS_TITLE: Text = Text { size: 16, colour: INK, side: Side::Centre, bold: false };
const TICK_BELOW: Text = Text { size: 16, colour: FAINT_INK, side: Side::Centre, bold: false };
const TICK_LEFT: Text = Text { size: 16, colour: FAINT_INK, side: Side::Right, bold: false };

/// What is drawn.
#[derive(Clone, Debug)]
pub struct Chart {
    /// In large letters.
    pub title: String,
    /// What the figures are, beneath it.
    pub subtitle: String,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// The lines, the first on top.
    pub series: Vec<Series>,
    /// A level to compare with, and its name.
    pub level: Option<(f64, String)>,
    /// How far apart the whiskers of lines at one x stand: 0 puts each through its mark.
    pub aside: i32,
}

/// A line of a chart, in the units of the axes.
#[derive(Clone, Debug)]
pub struct Series {
    /// Stands at its end.
    pub name: String,
    /// Colour and mark.
    pub style: Style,
    /// The line.
    pub line: Vec<(f64, f64)>,
    /// Where it is marked.
    pub marks: Vec<(f64, f64)>,
    /// (x, low, high) of each whisker.
    pub whiskers: Vec<(f64, f64, f64)>,
}

impl Chart {
    /// The finished picture. Cost: linear in the points.
    pub fn svg(&self) -> String {
        let drawing = Pen::drawing((WIDTH, HEIGHT), |pen| self.draw(pen));
        theme::finish(&drawing, &self.title)
    }

    fn draw(&self, pen: &mut Pen<'_>) -> Drawn {
        pen.rect((0, 0), (WIDTH, HEIGHT), GROUND)?;
        pen.text(&self.title, (LEFT, 32), TITLE)?;
        pen.text(&self.subtitle, (LEFT, 57), SUBTITLE)?;
        self.draw_axes(pen)?;
        if let Some((value, name)) = &self.level {
            self.draw_level(pen, *value, name)?;
        }
        for (i, series) in self.series.iter().enumerate() {
            self.draw_whiskers(pen, series, i as i32)?;
        }
        for series in self.series.iter().rev() {
            self.draw_series(pen, series)?;
        }
        self.draw_names(pen)
    }

    fn draw_axes(&self, pen: &mut Pen<'_>) -> Drawn {
        for y in self.y.ticks.iter().map(|tick| self.up(tick.at)) {
            pen.line(&[(LEFT, y), (self.right(), y)], GRID, 1, 1.0)?;
        }
        for x in self.x.ticks.iter().map(|tick| self.across(tick.at)) {
            pen.line(&[(x, TOP), (x, BOTTOM)], GRID, 1, 1.0)?;
        }
        for tick in &self.y.ticks {
            pen.text(&tick.label, (LEFT - 10, self.up(tick.at)), TICK_LEFT)?;
        }
        for tick in &self.x.ticks {
            pen.text(&tick.label, (self.across(tick.at), BOTTOM + 18), TICK_BELOW)?;
        }
        pen.line(&[(LEFT, TOP), (LEFT, BOTTOM), (self.right(), BOTTOM)], FAINT_INK, 1, 1.0)?;
        let middle = (LEFT + self.right()) / 2;
        pen.text(&self.x.title, (middle, HEIGHT - 20), AXIS_TITLE)?;
        pen.upright(&self.y.title, (18, (TOP + BOTTOM) / 2), AXIS_TITLE)
    }

    fn draw_level(&self, pen: &mut Pen<'_>, value: f64, name: &str) -> Drawn {
        let Some(at) = self.y.place(value) else { return Ok(()) };
        let y = self.up(at);
        pen.line(&[(LEFT, y), (self.right(), y)], FAINT_INK, 1, 0.8)?;
        pen.text(name, (LEFT + 8, y - 9), SUBTITLE)
    }

    fn draw_whiskers(&self, pen: &mut Pen<'_>, series: &Series, place: i32) -> Drawn {
        let width = (self.aside * self.series.len() as i32).min(WIDEST_ASIDE);
        let aside = width * (2 * place - self.series.len() as i32 + 1)
            / (2 * self.series.len().max(1) as i32);
        for (x, low, high) in &series.whiskers {
            if let (Some(low), Some(high)) = (self.point(*x, *low), self.point(*x, *high)) {
                let x = low.0 + aside;
                pen.line(&[(x, low.1), (x, high.1)], series.style.light, 1, 0.9)?;
                for y in [low.1, high.1] {
                    pen.line(&[(x - 3, y), (x + 3, y)], series.style.light, 1, 0.9)?;
                }
            }
        }
        Ok(())
    }

    fn draw_series(&self, pen: &mut Pen<'_>, series: &Series) -> Drawn {
        let colour = series.style.light;
        let line: Vec<Point> = series.line.iter().filter_map(|(x, y)| self.point(*x, *y)).collect();
        pen.line(&line, colour, 2, 1.0)?;
        let marks = series.marks.iter().filter_map(|(x, y)| self.point(*x, *y));
        pen.marks(&marks.collect::<Vec<_>>(), series.style)
    }

    /// Names stand in a column to the right of the plot, each as near to the end of its line as the others let it.
    fn draw_names(&self, pen: &mut Pen<'_>) -> Drawn {
        let ends: Vec<(Point, &Series)> =
            self.series.iter().filter_map(|s| Some((self.end(s)?, s))).collect();
        let wanted: Vec<i32> = ends.iter().map(|((_, y), _)| *y).collect();
        let places = labels::spread(&wanted, 22, TOP + 4, BOTTOM - 4);
        for ((end, series), y) in ends.into_iter().zip(places) {
            let colour = series.style.light;
            let mark = (self.right() + 38, y);
            let bend = [
                (end.0 + 7, end.1),
                (self.right() + 9, end.1),
                (self.right() + 24, y),
                (mark.0 - 8, y),
            ];
            pen.line(&bend, colour, 1, 0.55)?;
            pen.marks(&[mark], series.style)?;
            pen.text(&fitting(&series.name), (mark.0 + 12, y), NAME)?;
        }
        Ok(())
    }

    fn end(&self, series: &Series) -> Option<Point> {
        series.line.iter().rev().find_map(|(x, y)| self.point(*x, *y))
    }

    fn point(&self, x: f64, y: f64) -> Option<Point> {
        Some((self.across(self.x.place(x)?), self.up(self.y.place(y)?)))
    }

    /// The right end of the plot: leaves room for the longest name.
    fn right(&self) -> i32 {
        let longest =
            self.series.iter().map(|s| fitting(&s.name).chars().count()).max().unwrap_or(0);
        WIDTH - (60 + (longest as f64 * NAME_LETTER) as i32).max(120)
    }

    fn across(&self, at: f64) -> i32 {
        LEFT + (at * f64::from(self.right() - LEFT)).round() as i32
    }

    fn up(&self, at: f64) -> i32 {
        BOTTOM - (at * f64::from(BOTTOM - TOP)).round() as i32
    }
}

/// The name, cut if it would take more than its share of the width from the data.
fn fitting(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    name.chars().take(LONGEST_NAME - 1).chain(['…']).collect()
}
