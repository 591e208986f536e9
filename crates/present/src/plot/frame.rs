//! The frame of a plot: its axes with their grid, and the lines and marks in it.

use maud::{Markup, html};

use super::axis::Axis;
use super::chart::{Labels, Series};
use super::palette::{BACKGROUND, FAINT_INK, GRID, INK};

/// A point of the picture: to the right, and down.
pub(super) type Point = (i32, i32);

/// From the middle of lower-case letters to their baseline.
const HALF_LETTER: i32 = 5;

/// A rectangle of the picture, with axes along its left and lower side.
pub(super) struct Frame<'a> {
    pub(super) x: &'a Axis,
    pub(super) y: &'a Axis,
    /// Its upper left corner.
    pub(super) from: Point,
    /// Its lower right corner.
    pub(super) to: Point,
}

impl Frame<'_> {
    /// The point of a figure; `None` if an axis cannot show it.
    pub(super) fn point(&self, (x, y): (f64, f64)) -> Option<Point> {
        Some((self.across(self.x.place(x)?), self.up(self.y.place(y)?)))
    }

    pub(super) fn points(&self, figures: &[(f64, f64)]) -> Vec<Point> {
        figures.iter().filter_map(|figure| self.point(*figure)).collect()
    }

    fn across(&self, at: f64) -> i32 {
        self.from.0 + (at * f64::from(self.to.0 - self.from.0)).round() as i32
    }

    pub(super) fn up(&self, at: f64) -> i32 {
        self.to.1 - (at * f64::from(self.to.1 - self.from.1)).round() as i32
    }

    /// The grid, its labels, and the frame.
    pub(super) fn axes(&self) -> Markup {
        let ((left, top), (right, bottom)) = (self.from, self.to);
        let columns = || self.x.ticks.iter().map(|tick| (self.across(tick.at), &tick.label));
        let rows = || self.y.ticks.iter().map(|tick| (self.up(tick.at), &tick.label));
        let grid = rows().map(|(y, _)| format!("M{left},{y}H{right}"));
        let grid = grid.chain(columns().map(|(x, _)| format!("M{x},{top}V{bottom}")));
        html! {
            path color=(GRID) d=(grid.collect::<String>()) {}
            g color=(FAINT_INK) {
                path d={ "M" (left) "," (top) "V" (bottom) "H" (right) } {}
                g stroke="none" fill="currentColor" {
                    g text-anchor="end" {
                        @for (y, label) in rows().filter(|row| !row.1.is_empty()) {
                            text x=(left - 10) y=(y + HALF_LETTER) { (label) }
                        }
                    }
                    g text-anchor="middle" {
                        @for (x, label) in columns().filter(|column| !column.1.is_empty()) {
                            text x=(x) y=(bottom + 18 + HALF_LETTER) { (label) }
                        }
                    }
                }
            }
        }
    }

    /// The line of a series and its marks, with a further mark at each of `others`.
    pub(super) fn line(&self, series: &Series, others: &[Point]) -> Markup {
        let line = straightened(&self.points(&series.line));
        let line: Vec<String> = line.into_iter().map(|(x, y)| format!("{x},{y}")).collect();
        let (dashes, mark) = (series.style.dashed.then_some("7 5"), series.style.mark);
        let marks =
            without_overlaps(self.points(&series.marks)).into_iter().chain(others.iter().copied());
        html! {
            @if line.len() > 1 {
                polyline stroke-width="2" stroke-dasharray=[dashes] points=(line.join(" ")) {}
            }
            // The rim separates a mark from the lines behind it.
            path fill="currentColor" stroke=(BACKGROUND) stroke-width="2"
                d=(marks.map(|(x, y)| format!("M{x},{y}{mark}")).collect::<String>()) {}
        }
    }
}

/// A text at mid-height of its point. The element around it sets the horizontal alignment.
pub(super) fn text(words: &str, (x, y): Point) -> Markup {
    html! { text x=(x) y=(y + HALF_LETTER) { (words) } }
}

/// The titles of the axes: one at a point, and one upright at another.
pub(super) fn axis_titles(labels: &Labels, x: Point, y: Point) -> Markup {
    let upright = format!("translate({},{})rotate(-90)", y.0, y.1);
    html! {
        g color=(INK) stroke="none" fill="currentColor" text-anchor="middle" {
            (text(&labels.x.title, x))
            g transform=(upright) { (text(&labels.y.title, (0, 0))) }
        }
    }
}

/// The same line without points that are on a straight line between their neighbours.
fn straightened(points: &[Point]) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    for point in points {
        if let [.., a, b] = kept[..] {
            let (incoming, outgoing) = ((b.0 - a.0, b.1 - a.1), (point.0 - b.0, point.1 - b.1));
            let (turn, ahead) = (
                incoming.0 * outgoing.1 - incoming.1 * outgoing.0,
                incoming.0 * outgoing.0 + incoming.1 * outgoing.1,
            );
            // Drop `b` if the line goes straight on through it, and not back.
            kept.truncate(kept.len() - usize::from(turn == 0 && ahead >= 0));
        }
        kept.push(*point);
    }
    kept
}

/// The points at which marks do not overlap.
fn without_overlaps(mut places: Vec<Point>) -> Vec<Point> {
    places.dedup_by(|next, kept| next.0.abs_diff(kept.0).max(next.1.abs_diff(kept.1)) < 14);
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_points_on_a_straight_line_are_removed() {
        let corner = [(0, 0), (5, 5), (5, 5), (10, 10), (20, 10)];
        assert_eq!(straightened(&corner), [(0, 0), (10, 10), (20, 10)]);
        let there_and_back = [(5, 10), (5, 20), (5, 15)];
        assert_eq!(straightened(&there_and_back), there_and_back);
        assert_eq!(straightened(&[]), []);
    }

    #[test]
    fn marks_do_not_overlap() {
        let kept = without_overlaps(vec![(0, 0), (13, 0), (14, 0), (14, 14)]);
        assert_eq!(kept, [(0, 0), (14, 0), (14, 14)]);
    }
}
