//! Several charts of one kind in a picture, with the same axes and one legend for all.

use maud::{Markup, html};

use super::chart::{Labels, Series};
use super::frame::{Frame, Point, axis_titles, text};
use super::palette::{self, INK};

/// How many panels are next to each other.
const COLUMNS: usize = 2;
/// The size of a panel, without its labels.
const PANEL_SIZE: Point = (400, 260);
/// The distance from one panel to the next.
const PANEL_STEP: Point = (PANEL_SIZE.0 + 64, PANEL_SIZE.1 + 74);
const FIRST_CORNER: Point = (92, 104);
const LEGEND_WIDTH: i32 = 200;
/// The height below the panels.
const BOTTOM_MARGIN: i32 = 56;
/// The distance from one name of the legend to the next.
const LEGEND_LINE_HEIGHT: i32 = 26;

/// The content of the picture.
#[derive(Clone, Debug)]
pub struct Panels {
    /// The texts of the picture, and the axes of each panel.
    pub labels: Labels,
    /// Name and series of each panel, from left to right, then from top to bottom. Whiskers are not
    /// drawn.
    pub panels: Vec<(String, Vec<Series>)>,
}

impl Panels {
    /// The finished picture. Cost: linear in the points.
    pub fn svg(&self) -> String {
        let (width, height) = self.size();
        let middle = (FIRST_CORNER.0 + width - LEGEND_WIDTH) / 2;
        let half_height = (FIRST_CORNER.1 + height - BOTTOM_MARGIN) / 2;
        let drawing = html! {
            @for (place, panel) in self.panels.iter().enumerate() { (self.panel(place, panel)) }
            // All panels have the same axes.
            (axis_titles(&self.labels, (middle, height - 14), (16, half_height)))
            (self.legend())
        };
        palette::picture((width, height), (FIRST_CORNER.0, 32), &self.labels, &drawing)
    }

    fn size(&self) -> Point {
        let rows = self.panels.len().div_ceil(COLUMNS) as i32;
        let width =
            FIRST_CORNER.0 + (COLUMNS as i32 - 1) * PANEL_STEP.0 + PANEL_SIZE.0 + LEGEND_WIDTH;
        (width, FIRST_CORNER.1 + (rows - 1) * PANEL_STEP.1 + PANEL_SIZE.1 + BOTTOM_MARGIN)
    }

    fn panel(&self, place: usize, (name, series): &(String, Vec<Series>)) -> Markup {
        let (column, row) = ((place % COLUMNS) as i32, (place / COLUMNS) as i32);
        let from = (FIRST_CORNER.0 + column * PANEL_STEP.0, FIRST_CORNER.1 + row * PANEL_STEP.1);
        let to = (from.0 + PANEL_SIZE.0, from.1 + PANEL_SIZE.1);
        let frame = Frame { x: &self.labels.x, y: &self.labels.y, from, to };
        html! {
            g color=(INK) stroke="none" fill="currentColor" font-weight="bold" {
                (text(name, (from.0, from.1 - 16)))
            }
            (frame.axes())
            // In reverse, so that the first is on top.
            @for line in series.iter().rev() {
                g color=(line.style.light) { (frame.line(line, &[])) }
            }
        }
    }

    /// A line with its mark and its name for each series, whichever panels it is in.
    fn legend(&self) -> Markup {
        let mut named: Vec<&Series> = Vec::new();
        for series in self.panels.iter().flat_map(|(_, series)| series) {
            if named.iter().all(|other| other.name != series.name) {
                named.push(series);
            }
        }
        let left = self.size().0 - LEGEND_WIDTH + 26;
        let sample = |place: usize, series: &Series| {
            let y = FIRST_CORNER.1 + 8 + place as i32 * LEGEND_LINE_HEIGHT;
            // Without figures, the frame draws the mark and no line.
            let (from, to) = (FIRST_CORNER, FIRST_CORNER);
            let frame = Frame { x: &self.labels.x, y: &self.labels.y, from, to };
            let bare = Series { line: Vec::new(), marks: Vec::new(), ..series.clone() };
            html! {
                g color=(series.style.light) {
                    path stroke-width="2" d={ "M" (left - 14) "," (y) "h28" } {}
                    (frame.line(&bare, &[(left, y)]))
                }
                g color=(INK) stroke="none" fill="currentColor" {
                    (text(&series.name, (left + 22, y)))
                }
            }
        };
        html! { @for (place, series) in named.into_iter().enumerate() { (sample(place, series)) } }
    }
}
