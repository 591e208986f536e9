//! The colour and the mark of a name, which are the same in every plot.
//!
//! A known name gets the colour of its position in the list of known names, so leaving others out
//! changes nothing. Other names get one of the remaining colours, by a hash of their name. If two
//! of them get the same colour, mostly their marks differ, and always the names at the ends of
//! their lines. The hues are those of Okabe and Ito ("Color Universal Design", 2008), darkened for
//! light and lightened for dark backgrounds until each has a contrast of at least 3 to 1. No
//! reading depends on the hue alone, since every line has marks of a shape and its name.

use std::fmt;

/// The shape at the points of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A disc.
    Circle,
    /// A square on its side.
    Square,
    /// A triangle on its base.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A triangle on its tip.
    Wedge,
    /// An upright cross.
    Plus,
    /// A diagonal cross.
    Cross,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The colour on a light background. The style sheet finds what to recolour by it.
    pub light: Rgb,
    /// The colour on a dark background.
    pub dark: Rgb,
    /// Shape of its points.
    pub shape: Shape,
    /// `true` if the line is dashed, as that of [`REFERENCE`] is.
    pub dashed: bool,
}

/// Red, green, blue; shown as `#RRGGBB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02X}{:02X}{:02X}", self.0, self.1, self.2)
    }
}

/// Pairs of a light and a dark colour, in the order in which the known names get them.
const COLOURS: [(Rgb, Rgb); 8] = [
    (Rgb(0x00, 0x66, 0xB2), Rgb(0x5C, 0xB3, 0xFF)), // blue
    (Rgb(0xC4, 0x4E, 0x00), Rgb(0xFF, 0x9A, 0x4D)), // vermilion
    (Rgb(0x00, 0x80, 0x5C), Rgb(0x3F, 0xD4, 0xA4)), // bluish green
    (Rgb(0xA8, 0x3C, 0x86), Rgb(0xE8, 0x8F, 0xCB)), // reddish purple
    (Rgb(0x8A, 0x68, 0x00), Rgb(0xE6, 0xC3, 0x4A)), // ochre
    (Rgb(0x1B, 0x85, 0x9E), Rgb(0x6F, 0xD6, 0xE8)), // sky
    (Rgb(0x5B, 0x4B, 0xC4), Rgb(0xB0, 0xA3, 0xFF)), // violet
    (Rgb(0x9E, 0x1F, 0x2F), Rgb(0xFF, 0x8B, 0x93)), // crimson
];

const SHAPES: [Shape; 7] = [
    Shape::Circle,
    Shape::Square,
    Shape::Triangle,
    Shape::Diamond,
    Shape::Wedge,
    Shape::Plus,
    Shape::Cross,
];

const GREY: (Rgb, Rgb) = (Rgb(0x6E, 0x77, 0x81), Rgb(0x9D, 0xA7, 0xB1));

/// The style of a line that is there for comparison and does not compete.
pub const REFERENCE: Style =
    Style { light: GREY.0, dark: GREY.1, shape: Shape::Circle, dashed: true };

/// The style of a name, given the known names in their order.
pub fn style_of(name: &str, known: &[&str]) -> Style {
    let (colour, shape) = match known.iter().position(|it| *it == name) {
        Some(place) => (place, place),
        None => {
            let taken = known.len() % COLOURS.len();
            let (free, hash) = (COLOURS.len() - taken, hash(name) as usize);
            (taken + hash % free, hash / free)
        }
    };
    let (light, dark) = COLOURS[colour % COLOURS.len()];
    Style { light, dark, shape: SHAPES[shape % SHAPES.len()], dashed: false }
}

/// Every pair of colours that a style can have.
pub fn colour_pairs() -> impl Iterator<Item = (Rgb, Rgb)> {
    COLOURS.into_iter().chain([GREY])
}

/// FNV-1a. Its result is the same on every machine and in every version, which the standard
/// library's hasher does not promise.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["north", "east", "south", "west"];

    #[test]
    fn known_names_differ_in_colour_and_shape() {
        let styles = KNOWN.map(|name| style_of(name, &KNOWN));
        for (i, a) in styles.iter().enumerate() {
            for b in &styles[i + 1..] {
                assert_ne!(a.light, b.light);
                assert_ne!(a.dark, b.dark);
                assert_ne!(a.shape, b.shape);
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
            assert!(contrast(light, Rgb(255, 255, 255)) >= 3.0, "{light:?} on white");
            assert!(contrast(dark, Rgb(0x0D, 0x11, 0x17)) >= 3.0, "{dark:?} on dark");
        }
    }

    /// The contrast ratio of WCAG 2.
    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn luminance(Rgb(r, g, b): Rgb) -> f64 {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }
}
