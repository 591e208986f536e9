//! Light and dark: how a drawing of fixed colours becomes one that follows the reader's.
//!
//! The drawing library writes each colour into each element. That is what a viewer without style
//! sheets shows: the light version. For all others a style sheet inside the picture names those
//! same colours and gives each its dark counterpart under `prefers-color-scheme: dark`; it works in
//! an `<img>`, where the page's own styles do not reach. The ground is part of the picture, so that
//! a page whose theme differs from the system's still shows dark on light or light on dark.

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
    let head = head.replacen("<svg", "<svg class=\"wheelhouse-plot\" role=\"img\"", 1);
    format!(
        "{head}>\n<title>{}</title>\n<style>\n{}</style>{}",
        escape(title),
        style_sheet(),
        broken(body)
    )
}

/// Breaks the lines of the reference's colour: an attribute and no style, so that it shows
/// everywhere.
fn broken(body: &str) -> String {
    let dashed = palette::REFERENCE.light;
    let stroke = format!("stroke=\"{}\" stroke-width=\"2\"", hex(dashed));
    body.replace(&stroke, &format!("{stroke} stroke-dasharray=\"7 5\""))
}

fn style_sheet() -> String {
    let mut css = String::from(
        ".wheelhouse-plot { height: auto; max-width: 100%; }\n\
         .wheelhouse-plot text { font-family: system-ui, -apple-system, \"Segoe UI\", sans-serif; \
         }\n\
         .wheelhouse-plot polyline { stroke-linejoin: round; stroke-linecap: round; }\n\
         @media (prefers-color-scheme: dark) {\n",
    );
    for (light, dark) in DARK.into_iter().chain(palette::pairs()) {
        let (light, dark) = (hex(light), hex(dark));
        // Writing to a String cannot fail.
        let _ = writeln!(css, "  .wheelhouse-plot [fill=\"{light}\"] {{ fill: {dark}; }}");
        let _ = writeln!(css, "  .wheelhouse-plot [stroke=\"{light}\"] {{ stroke: {dark}; }}");
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
