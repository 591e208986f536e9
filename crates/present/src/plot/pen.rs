//! The drawing library, in the few words that a chart needs.

use plotters::prelude::{
    DrawingBackend, FontTransform, IntoFont, SVGBackend, ShapeStyle, TextStyle,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle};

use super::palette::{Rgb, Shape, Style, rgb};
use super::theme::GROUND;

/// A place in the picture: to the right, and down.
pub(super) type Point = (i32, i32);

/// What drawing gives. In memory nothing of it can fail.
pub(super) type Drawn = Result<(), Box<dyn std::error::Error>>;

/// To which side of its place a text lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// It begins there.
    Left,
    /// It lies around it.
    Centre,
    /// It ends there.
    Right,
}

/// How a text is set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    /// Height of the letters, in units of the picture.
    pub(super) size: u32,
    pub(super) colour: Rgb,
    pub(super) side: Side,
    pub(super) bold: bool,
}

/// The drawing library divides font sizes by this on their way into SVG.
const FONT_SCALE: f64 = 1.24;

/// Half the width of a mark.
const REACH: i32 = 5;

/// Draws into one picture.
pub(super) struct Pen<'a> {
    backend: SVGBackend<'a>,
}

impl Pen<'_> {
    /// The picture that `draw` makes.
    pub(super) fn drawing(
        (width, height): Point,
        draw: impl FnOnce(&mut Pen<'_>) -> Drawn,
    ) -> String {
        let mut drawing = String::new();
        let mut pen =
            Pen { backend: SVGBackend::with_string(&mut drawing, (width as u32, height as u32)) };
        // If it ever failed, what was drawn until then is still a picture.
        let _ = draw(&mut pen);
        drop(pen);
        drawing
    }

    /// A filled rectangle.
    pub(super) fn rect(&mut self, from: Point, to: Point, colour: Rgb) -> Drawn {
        self.backend.draw_rect(from, to, &rgb(colour).filled(), true)?;
        Ok(())
    }

    /// A line through all points.
    pub(super) fn line(
        &mut self,
        points: &[Point],
        colour: Rgb,
        width: u32,
        opacity: f64,
    ) -> Drawn {
        if points.len() > 1 {
            let style =
                ShapeStyle { color: rgb(colour).mix(opacity), filled: false, stroke_width: width };
            self.backend.draw_path(points.iter().copied(), &style)?;
        }
        Ok(())
    }

    /// A text at mid-height of its place.
    pub(super) fn text(&mut self, text: &str, at: Point, set: Text) -> Drawn {
        self.set(text, at, set, FontTransform::None)
    }

    /// A text that reads upwards.
    pub(super) fn upright(&mut self, text: &str, at: Point, set: Text) -> Drawn {
        self.set(text, at, set, FontTransform::Rotate270)
    }

    /// The marks of a line, with a rim of the ground's colour that parts them from lines behind.
    pub(super) fn marks(&mut self, at: &[Point], style: Style) -> Drawn {
        at.iter().try_for_each(|at| self.shape(*at, REACH + 2, style.shape, GROUND))?;
        at.iter().try_for_each(|at| self.shape(*at, REACH, style.shape, style.light))
    }

    fn set(&mut self, text: &str, at: Point, set: Text, turn: FontTransform) -> Drawn {
        if text.is_empty() {
            return Ok(());
        }
        let side = match set.side {
            Side::Left => HPos::Left,
            Side::Centre => HPos::Center,
            Side::Right => HPos::Right,
        };
        let weight = if set.bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = ("sans-serif", f64::from(set.size) * FONT_SCALE)
            .into_font()
            .style(weight)
            .transform(turn);
        let colour = rgb(set.colour);
        let style = TextStyle::from(font).color(&colour).pos(Pos::new(side, VPos::Center));
        self.backend.draw_text(text, &style, at)?;
        Ok(())
    }

    fn shape(&mut self, (x, y): Point, reach: i32, shape: Shape, colour: Rgb) -> Drawn {
        let filled = rgb(colour).filled();
        let corners: Vec<Point> = match shape {
            Shape::Circle => {
                self.backend.draw_circle((x, y), reach as u32, &filled, true)?;
                return Ok(());
            }
            Shape::Square => {
                vec![(-reach, -reach), (reach, -reach), (reach, reach), (-reach, reach)]
            }
            Shape::Triangle => vec![(0, -reach - 1), (reach + 1, reach), (-reach - 1, reach)],
            Shape::Wedge => vec![(0, reach + 1), (reach + 1, -reach), (-reach - 1, -reach)],
            Shape::Diamond => {
                vec![(0, -reach - 2), (reach + 2, 0), (0, reach + 2), (-reach - 2, 0)]
            }
            Shape::Plus => plus(reach + 1),
            Shape::Cross => plus(reach + 1)
                .into_iter()
                .map(|(x, y)| ((x - y) * 7 / 10, (x + y) * 7 / 10))
                .collect(),
        };
        self.backend.fill_polygon(corners.into_iter().map(|(dx, dy)| (x + dx, y + dy)), &filled)?;
        Ok(())
    }
}

/// The outline of an upright cross.
fn plus(reach: i32) -> Vec<Point> {
    let arm = (reach / 3).max(1);
    vec![
        (-arm, -reach),
        (arm, -reach),
        (arm, -arm),
        (reach, -arm),
        (reach, arm),
        (arm, arm),
        (arm, reach),
        (-arm, reach),
        (-arm, arm),
        (-reach, arm),
        (-reach, -arm),
        (-arm, -arm),
    ]
}
