//! Light and dark: a picture with fixed colours that follows the reader's theme.
//!
//! Each colour is an attribute of the element that uses it. A viewer without style sheets shows
//! these colours: the light version. For other viewers, a style sheet inside the picture matches
//! the same colours and gives each its dark counterpart under `prefers-color-scheme: dark`. That
//! also works in an `<img>`, which the styles of the page do not reach. The background is part of
//! the picture: on a page whose theme differs from the system's, it still shows dark on light or
//! light on dark.

use maud::{Markup, PreEscaped, html};

use super::frame::Point;
use super::palette::{self, Colour};

/// Text.
pub(super) const INK: Colour = "#1F2328";
/// Secondary text, and the frame.
pub(super) const FAINT_INK: Colour = "#57606A";
pub(super) const GRID: Colour = "#DDE1E6";
pub(super) const BACKGROUND: Colour = "#FFFFFF";

const DARK_BACKGROUND: Colour = "#0D1117";
const DARK_COLOURS: [(Colour, Colour); 4] =
    [(INK, "#E6EDF3"), (FAINT_INK, "#9DA7B3"), (GRID, "#2B323B"), (BACKGROUND, DARK_BACKGROUND)];

/// The whole picture: the background, title and subtitle from `corner` on, and the drawing.
///
/// Every part of the drawing takes its colour from the `color` around it: lines directly, areas and
/// text by `fill="currentColor"`.
pub(super) fn picture(
    (width, height): Point,
    corner: Point,
    (title, subtitle): (&str, &str),
    drawing: &Markup,
) -> String {
    let svg = html! {
        svg class="wheelhouse-plot" role="img" xmlns="http://www.w3.org/2000/svg"
            width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) }
            font-family="system-ui, -apple-system, 'Segoe UI', sans-serif" font-size="16"
            fill="none" stroke="currentColor" stroke-linejoin="round" stroke-linecap="round" {
            title { (title) }
            style { (PreEscaped(style_sheet(&drawing.0))) }
            rect width=(width) height=(height) color=(BACKGROUND) fill="currentColor" {}
            g stroke="none" fill="currentColor" {
                text color=(INK) x=(corner.0) y=(corner.1) font-size="22" font-weight="bold" {
                    (title)
                }
                text color=(FAINT_INK) x=(corner.0) y=(corner.1 + 23) font-size="14" { (subtitle) }
            }
            (drawing)
        }
    };
    svg.into_string()
}

/// The style sheet, with the colours that the drawing uses and no others.
fn style_sheet(drawing: &str) -> String {
    let used = palette::colour_pairs().filter(|(light, _)| drawing.contains(*light));
    let recoloured = DARK_COLOURS.into_iter().chain(used).map(|(light, dark)| {
        format!(".wheelhouse-plot [color=\"{light}\"] {{ color: {dark}; }}\n")
    });
    format!(
        ".wheelhouse-plot {{ height: auto; max-width: 100%; }}\n\
         @media (prefers-color-scheme: dark) {{\n{}\
         .wheelhouse-plot [stroke=\"{BACKGROUND}\"] {{ stroke: {DARK_BACKGROUND}; }}\n}}\n",
        recoloured.collect::<String>(),
    )
}
