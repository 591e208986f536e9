//! The colour and the mark of a name, which are the same in every plot.
//!
//! A known name gets the colour of its position in the list of known names, so leaving others out
//! changes nothing. Other names get one of the remaining colours, by a hash of their name. If two
//! of them get the same colour, mostly their marks differ, and always the names at the ends of
//! their lines. The hues are those of Okabe and Ito ("Color Universal Design", 2008), darkened for
//! light and lightened for dark backgrounds until each has a contrast of at least 3 to 1. No
//! reading depends on the hue alone, since every line has marks of a shape and its name.
//!
//! A picture with fixed colours follows the reader's theme. Each colour is an attribute of the
//! element that uses it. A viewer without style sheets shows these colours: the light version. For
//! other viewers, a style sheet inside the picture matches the same colours and gives each its dark
//! counterpart under `prefers-color-scheme: dark`. That also works in an `<img>`, which the styles
//! of the page do not reach. The background is part of the picture: on a page whose theme differs
//! from the system's, it still shows dark on light or light on dark.

use super::chart::Labels;
use super::frame::Point;
use maud::{Markup, PreEscaped, html};

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The colour on a light background. The style sheet finds what to recolour by it.
    pub light: Colour,
    /// The colour on a dark background.
    pub dark: Colour,
    /// The outline of the mark at its points, as the data of a path from the point: 14 units wide
    /// or a little more.
    pub mark: &'static str,
    /// `true` if the line is dashed, as that of [`REFERENCE`] is.
    pub dashed: bool,
}

/// A colour, as `#RRGGBB`.
pub type Colour = &'static str;

/// Pairs of a light and a dark colour, in the order in which the known names get them.
const COLOURS: [(Colour, Colour); 8] = [
    ("#0066B2", "#5CB3FF"), // blue
    ("#C44E00", "#FF9A4D"), // vermilion
    ("#00805C", "#3FD4A4"), // bluish green
    ("#A83C86", "#E88FCB"), // reddish purple
    ("#8A6800", "#E6C34A"), // ochre
    ("#1B859E", "#6FD6E8"), // sky
    ("#5B4BC4", "#B0A3FF"), // violet
    ("#9E1F2F", "#FF8B93"), // crimson
];

const MARKS: [&str; 7] = [
    DISC,
    "m-6-6h12v12h-12z",                                  // a square
    "m0-7 7 13h-14z",                                    // a triangle on its base
    "m0-8 8 8-8 8-8-8z",                                 // a diamond
    "m0 7 7-13h-14z",                                    // a triangle on its tip
    "m-3-7h6v4h4v6h-4v4h-6v-4h-4v-6h4z",                 // an upright cross
    "m3-7 4 4-3 3 3 3-4 4-3-3-3 3-4-4 3-3-3-3 4-4 3 3z", // a diagonal cross
];

const DISC: &str = "m-6,0a6,6 0 1 1 12,0a6,6 0 1 1-12,0z";

const GREY: (Colour, Colour) = ("#6E7781", "#9DA7B1");

/// The style of a line that is there for comparison and does not compete.
pub const REFERENCE: Style = Style { light: GREY.0, dark: GREY.1, mark: DISC, dashed: true };

/// The style of a name, given the known names in their order.
pub fn style_of(name: &str, known: &[&str]) -> Style {
    let (colour, mark) = match known.iter().position(|it| *it == name) {
        Some(place) => (place, place),
        None => {
            let taken = known.len() % COLOURS.len();
            let (free, hash) = (COLOURS.len() - taken, hash(name) as usize);
            (taken + hash % free, hash / free)
        }
    };
    let (light, dark) = COLOURS[colour % COLOURS.len()];
    Style { light, dark, mark: MARKS[mark % MARKS.len()], dashed: false }
}

/// Every pair of colours that a style can have.
fn colour_pairs() -> impl Iterator<Item = (Colour, Colour)> {
    COLOURS.into_iter().chain([GREY])
}

/// FNV-1a. Its result is the same on every machine and in every version, which the standard
/// library's hasher does not promise.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

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
    Labels { title, subtitle, .. }: &Labels,
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
    let used = colour_pairs().filter(|(light, _)| drawing.contains(*light));
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

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["north", "east", "south", "west"];

    #[test]
    fn known_names_differ_in_colour_and_mark() {
        let styles = KNOWN.map(|name| style_of(name, &KNOWN));
        for (i, a) in styles.iter().enumerate() {
            for b in &styles[i + 1..] {
                assert_ne!(a.light, b.light);
                assert_ne!(a.dark, b.dark);
                assert_ne!(a.mark, b.mark);
            }
        }
    }

    #[test]
    fn other_names_do_not_get_the_colours_of_known_names() {
        let known = KNOWN.map(|name| style_of(name, &KNOWN).light);
        for name in ["up", "down", "left", "right", "ahead"] {
            let style = style_of(name, &KNOWN);
            assert!(!known.contains(&style.light), "{name} has a colour of a known name");
            assert_eq!(style, style_of(name, &KNOWN));
        }
    }

    #[test]
    fn every_colour_has_enough_contrast() {
        for (light, dark) in colour_pairs() {
            assert!(contrast(light, "#FFFFFF") >= 3.0, "{light:?} on white");
            assert!(contrast(dark, "#0D1117") >= 3.0, "{dark:?} on dark");
        }
    }

    /// The contrast ratio of WCAG 2.
    fn contrast(a: Colour, b: Colour) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn luminance(colour: Colour) -> f64 {
        let linear = |at: usize| {
            let c = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(1) + 0.7152 * linear(3) + 0.0722 * linear(5)
    }
}
