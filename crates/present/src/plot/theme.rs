//! Light and dark: how a drawing of fixed colours becomes one that follows the reader's.
//!
//! The drawing library writes each colour into each element. That is what a viewer without style sheets shows: the light
//! version. For all others a style sheet inside the picture names those same colours and gives each its dark counterpart
//! under `prefers-color-scheme: dark`; it works in an `<img>`, where the page's own styles do not reach. The ground is
//! part of the picture, so that a page whose theme differs from the system's still shows dark on light or light on dark.

use std::fmt::Write;

use super::palette::{self, Rgb};

/// Text.
pub(super) const INK: Rgb = (0x1F, 0x23, 0x28);
/// Text of second rank, and the frame.
pub(super) const FAINT_INK: Rgb = (0x57, 0x60, 0x6A);
/// Lines of the grid.
pub(super) const GRID: Rgb = (0xDD, 0xE1, 0xE6);
/// The ground.
pub(super) const GROUND: Rgb = (0xFF, 0xFF, 0xFF);

const DARK: [(Rgb, Rgb); 4] = [
    (INK, (0xE6, 0xED, 0xF3)),
    (FAINT_INK, (0x9D, 0xA7, 0xB3)),
    (GRID, (0x2B, 0x32, 0x3B)),
    (GROUND, (0x0D, 0x11, 0x17)),
];

/// Gives a drawing its title, its style sheet, and its broken lines.
pub(super) fn finish(drawing: &str, title: &str) -> String {
    let Some((head, body)) = drawing.split_once('>') else {
        return drawing.to_owned();
    };
    let head = head.replacen(
        "<svg",
        "<svg class=\"wheelhouse-plot\" role=\"img\" font-family=\"sans-serif\"",
        1,
    );
    let body = broken(&squeezed(body));
    format!(
        "{head}>\n<title>{}</title>\n<style>\n{}</style>\n{body}",
        escape(title),
        style_sheet(&body)
    )
}

/// The same drawing in half the bytes: what is the default is left out, and shapes that are drawn
/// alike, one after the other, become one path.
fn squeezed(body: &str) -> String {
    let mut out = String::with_capacity(body.len() / 2);
    let mut path: Option<String> = None;
    for line in body.replace("\">\n", "\">").replace("\n</text>", "</text>").lines() {
        let line = line.replace(" opacity=\"1\"", "").replace(" stroke=\"none\"", "");
        let line = line.replace(" font-family=\"sans-serif\"", "");
        let (look, data) = match as_path(&line) {
            Some((look, data)) => (Some(look), data),
            None => (None, line + "\n"),
        };
        if look != path {
            out += if path.is_some() { "\"/>\n" } else { "" };
            // Writing to a String cannot fail.
            let _ = look.as_ref().map(|look| write!(out, "<path{look} d=\""));
            path = look;
        }
        out += &data;
    }
    out + if path.is_some() { "\"/>\n" } else { "" }
}

/// A line or a polygon as the looks and the data of a path.
fn as_path(line: &str) -> Option<(String, String)> {
    let (shape, rest) = line.strip_prefix('<')?.split_once(' ')?;
    let end = match shape {
        "polyline" => "",
        "polygon" => "z",
        _ => return None,
    };
    let (look, points) = rest.split_once("points=\"")?;
    let points = points.strip_suffix("\"/>")?.trim_end();
    Some((format!(" {}", look.trim_end()), format!("M{}{end}", points.replace(' ', "L"))))
}

/// Breaks the lines of the reference's colour: an attribute and no style, so that it shows
/// everywhere.
fn broken(body: &str) -> String {
    let dashed = palette::REFERENCE.light;
    let stroke = format!("stroke=\"{}\" stroke-width=\"2\"", hex(dashed));
    body.replace(&stroke, &format!("{stroke} stroke-dasharray=\"7 5\""))
}

/// Rules for the colours that a drawing has.
fn style_sheet(body: &str) -> String {
    let mut css = String::from(
        ".wheelhouse-plot { height: auto; max-width: 100%; }\n\
         .wheelhouse-plot text { font-family: system-ui, -apple-system, \"Segoe UI\", sans-serif; }\n\
         .wheelhouse-plot path { stroke-linejoin: round; stroke-linecap: round; }\n\
         @media (prefers-color-scheme: dark) {\n",
    );
    for (light, dark) in DARK.into_iter().chain(palette::pairs()) {
        let (light, dark) = (hex(light), hex(dark));
        for what in ["fill", "stroke"] {
            let coloured = format!("{what}=\"{light}\"");
            if body.contains(&coloured) {
                // Writing to a String cannot fail.
                let _ = writeln!(css, "  .wheelhouse-plot [{coloured}] {{ {what}: {dark}; }}");
            }
        }
    }
    css.push_str("}\n");
    css
}

fn hex((r, g, b): Rgb) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_that_look_alike_become_one_path() {
        let line =
            |points| format!("<polyline fill=\"none\" opacity=\"1\" points=\"{points} \"/>\n");
        let drawn = format!("{}{}<rect/>\n", line("1,2 3,4"), line("5,6 7,8"));
        assert_eq!(squeezed(&drawn), "<path fill=\"none\" d=\"M1,2L3,4M5,6L7,8\"/>\n<rect/>\n");
        let corner = "<polygon fill=\"#FFFFFF\" points=\"1,1 2,1 2,2 \"/>\n";
        assert_eq!(squeezed(corner), "<path fill=\"#FFFFFF\" d=\"M1,1L2,1L2,2z\"/>\n");
    }

    #[test]
    fn texts_keep_their_words() {
        let text = "<text x=\"1\" opacity=\"1\">\na b\n</text>\n";
        assert_eq!(squeezed(text), "<text x=\"1\">a b</text>\n");
    }
}
