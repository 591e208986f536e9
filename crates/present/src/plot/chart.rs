//! Draws one chart: frame, grid, lines with their marks, whiskers, and names at the ends of the
//! lines.

use maud::{Markup, html};

use super::axis::Axis;
use super::frame::{Frame, Point, axis_titles, text};
use super::palette::{self, FAINT_INK, INK, Style};

const WIDTH: i32 = 900;
const HEIGHT: i32 = 520;
const LEFT: i32 = 104;
const TOP: i32 = 78;
const BOTTOM: i32 = HEIGHT - 66;
/// How far the whiskers of all lines at one x may spread, so that those of the first do not cross
/// the axis.
const MAX_WHISKER_SPREAD: i32 = 40;

/// The most letters of a name.
const LONGEST_NAME: usize = 30;

/// The width of a letter, a little above the average of common fonts.
const NAME_LETTER: f64 = 8.5;

/// The texts and axes of a picture.
#[derive(Clone, Debug)]
pub struct Labels {
    /// Shown in large letters.
    pub title: String,
    /// A description of the figures, shown below the title.
    pub subtitle: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
}

/// The content of a chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Its texts and axes.
    pub labels: Labels,
    /// The lines. The first is on top.
    pub series: Vec<Series>,
    /// A level for comparison, and its name.
    pub level: Option<(f64, String)>,
    /// The distance between the whiskers of lines at one x. 0 puts each through its mark.
    pub whisker_gap: i32,
}

/// A line of a chart, in the units of the axes.
#[derive(Clone, Debug)]
pub struct Series {
    /// Shown at the end of the line.
    pub name: String,
    /// Colour and mark.
    pub style: Style,
    /// The line.
    pub line: Vec<(f64, f64)>,
    /// The points with a mark.
    pub marks: Vec<(f64, f64)>,
    /// (x, low, high) of each whisker.
    pub whiskers: Vec<(f64, f64, f64)>,
}

impl Chart {
    /// The finished picture. Cost: linear in the points.
    pub fn svg(&self) -> String {
        let (from, to) = ((LEFT, TOP), (self.right(), BOTTOM));
        let frame = Frame { x: &self.labels.x, y: &self.labels.y, from, to };
        let named = self.with_name_heights(&frame);
        let middle = (LEFT + frame.to.0) / 2;
        let drawing = html! {
            (frame.axes())
            (axis_titles(&self.labels, (middle, HEIGHT - 20), (18, (TOP + BOTTOM) / 2)))
            @if let Some((value, name)) = &self.level { (draw_level(&frame, *value, name)) }
            // In reverse, so that the first is on top.
            @for (place, (series, name)) in named.into_iter().enumerate().rev() {
                g color=(series.style.light) {
                    (self.draw_whiskers(&frame, series, place as i32))
                    (draw_series(&frame, series, name))
                }
            }
        };
        palette::picture((WIDTH, HEIGHT), (LEFT, 38), &self.labels, &drawing)
    }

    /// Each series with the height of its name; `None` if no part of its line is visible. Names
    /// form a column to the right of the plot. Each is as close to the end of its line as the
    /// others allow.
    fn with_name_heights(&self, frame: &Frame<'_>) -> Vec<(&Series, Option<i32>)> {
        let end = |series: &Series| frame.points(&series.line).pop().map(|end| end.1);
        let ends: Vec<Option<i32>> = self.series.iter().map(end).collect();
        let wanted: Vec<i32> = ends.iter().flatten().copied().collect();
        let mut places = spread(&wanted, 22, TOP + 4, BOTTOM - 4).into_iter();
        let names = ends.into_iter().map(|end| end.and_then(|_| places.next()));
        self.series.iter().zip(names).collect()
    }

    fn draw_whiskers(&self, frame: &Frame<'_>, series: &Series, place: i32) -> Markup {
        let count = self.series.len().max(1) as i32;
        let width = (self.whisker_gap * count).min(MAX_WHISKER_SPREAD);
        let offset = width * (2 * place - count + 1) / (2 * count);
        let whisker = |(x, low, high): &(f64, f64, f64)| {
            let ((x, low), (_, high)) = (frame.point((*x, *low))?, frame.point((*x, *high))?);
            let x = x + offset;
            Some(format!("M{},{low}h6M{x},{low}V{high}M{},{high}h6", x - 3, x - 3))
        };
        let whiskers: String = series.whiskers.iter().filter_map(whisker).collect();
        html! { @if !whiskers.is_empty() { path d=(whiskers) {} } }
    }

    /// The right end of the plot, which leaves room for the longest name.
    fn right(&self) -> i32 {
        let longest =
            self.series.iter().map(|s| shortened(&s.name).chars().count()).max().unwrap_or(0);
        WIDTH - (60 + (longest as f64 * NAME_LETTER) as i32).max(120)
    }
}

fn draw_level(frame: &Frame<'_>, value: f64, name: &str) -> Markup {
    let y = frame.y.place(value).map(|at| frame.up(at));
    html! {
        @if let Some(y) = y {
            g color=(FAINT_INK) {
                path d={ "M" (LEFT) "," (y) "H" (frame.to.0) } {}
                g stroke="none" fill="currentColor" font-size="14" {
                    (text(name, (LEFT + 8, y - 9)))
                }
            }
        }
    }
}

/// The line with its marks, and a thinner line from its end to its name at the height `name`.
fn draw_series(frame: &Frame<'_>, series: &Series, name: Option<i32>) -> Markup {
    let end = frame.points(&series.line).pop().zip(name);
    let (right, at) = (frame.to.0, frame.to.0 + 38);
    html! {
        @if let Some(((x, y), name)) = end {
            path opacity=".55" d={
                "M" (x + 7) "," (y) "H" (right + 9) "L" (right + 24) "," (name) "H" (at - 8)
            } {}
        }
        (frame.line(series, &name.map(|y| (at, y)).into_iter().collect::<Vec<Point>>()))
        @if let Some(y) = name {
            g color=(INK) stroke="none" fill="currentColor" {
                (text(&shortened(&series.name), (at + 12, y)))
            }
        }
    }
}

/// The name, cut if it is so long that it would take width from the data.
fn shortened(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    name.chars().take(LONGEST_NAME - 1).chain(['…']).collect()
}

/// Places for labels that want to be at `wanted`: at least `gap` apart, between `low` and `high`,
/// and in the same order. If they do not fit, the gap shrinks until they do. O(k log k).
fn spread(wanted: &[i32], gap: i32, low: i32, high: i32) -> Vec<i32> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|i| wanted[*i]);
    let gaps = wanted.len().saturating_sub(1).max(1) as i32;
    let gap = gap.min((high - low) / gaps);
    let mut places = vec![0; wanted.len()];
    let mut next = low;
    for i in &order {
        places[*i] = wanted[*i].clamp(next, high.max(next));
        next = places[*i] + gap;
    }
    // Labels that were pushed past the end are pushed back.
    let mut last = high;
    for i in order.iter().rev() {
        places[*i] = places[*i].min(last);
        last = places[*i] - gap;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn only_labels_that_overlap_are_moved() {
        assert_eq!(spread(&[10, 50, 90], 20, 0, 100), [10, 50, 90]);
        assert_eq!(spread(&[50, 50, 50], 20, 0, 100), [50, 70, 90]);
        assert_eq!(spread(&[100, 95, 99], 20, 0, 100), [100, 60, 80]);
        assert_eq!(spread(&[], 20, 0, 100), [0; 0]);
    }

    #[test]
    fn the_gap_shrinks_if_labels_do_not_fit() {
        let places = spread(&[5; 21], 20, 0, 100);
        assert_eq!((places.iter().min(), places.iter().max()), (Some(&0), Some(&100)));
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] == 5));
    }
}
