//! Renders a document as Markdown.

use super::document::{Block, Document, Entry, Line};
use crate::table::markdown_escape;

/// The folder of the pictures, next to the page.
pub const PLOTS: &str = "plots";

/// The folder of the pages of entries, next to the page.
pub const PAGES: &str = "pages";

/// The document as GitHub shows it, with links to the pictures in `plots/`.
pub fn render(document: &Document) -> String {
    let Document { title, subtitle, blocks } = document;
    let mut out = format!("# {}\n\n{}\n", markdown_escape(title), markdown_escape(subtitle));
    out.extend(blocks.iter().map(|block| format!("\n{}", render_block(block, ""))));
    out.trim_end().to_owned() + "\n"
}

/// The page of an entry, for the folder [`PAGES`].
pub fn page(entry: &Entry) -> String {
    let mut out = format!("# {}\n\n", markdown_escape(&entry.title));
    out.extend(entry.lines.iter().map(|line| list_item(line, None)));
    out.extend(entry.blocks.iter().map(|block| format!("\n{}", render_block(block, "../"))));
    out.trim_end().to_owned() + "\n"
}

/// A line as a list item. Its name links to the page of its entry.
fn list_item(line: &Line, pages: Option<&str>) -> String {
    let name = markdown_escape(&line.name);
    let name = match pages {
        Some(pages) => format!("[{name}]({pages}/{}.md)", line.entry),
        None => name,
    };
    let figure = match line.figure.as_str() {
        "" => String::new(),
        figure => format!(" ({})", markdown_escape(figure)),
    };
    format!("- {name} {} **{}**{figure}\n", markdown_escape(&line.text), line.verdict)
}

/// A picture with its description.
pub fn image(title: &str, path: &str) -> String {
    // A path in angle brackets may contain spaces.
    format!("![{}](<{path}>)", markdown_escape(title))
}

/// A block of a page. `up` is the path from the page to the parent folder of the pictures.
fn render_block(block: &Block, up: &str) -> String {
    match block {
        Block::Heading(text) => format!("## {}\n", markdown_escape(text)),
        Block::Text(text) => format!("{}\n", markdown_escape(text)),
        Block::Points(points) => {
            points.iter().map(|point| format!("- {}\n", markdown_escape(point))).collect()
        }
        Block::Warning(text) => format!("> **Warning:** {}\n", markdown_escape(text)),
        Block::Table(table) => table.markdown(),
        Block::Picture(picture, caption) => {
            let image = image(&picture.title, &format!("{up}{PLOTS}/{}", picture.file));
            format!("{image}\n\n*{}*\n", markdown_escape(caption))
        }
        Block::Facts(facts) => facts
            .iter()
            .map(|(name, value)| format!("- {name}: {}\n", markdown_escape(value)))
            .collect(),
        Block::Interactive(_) | Block::Filter(_) => String::new(),
        Block::Folded(title, blocks) => {
            let inner: Vec<String> = blocks.iter().map(|block| render_block(block, up)).collect();
            let title = markdown_escape(title);
            format!("<details><summary>{title}</summary>\n\n{}\n</details>\n", inner.join("\n"))
        }
        Block::Lines(lines) | Block::Entry(Entry { lines, .. }) => {
            lines.iter().map(|line| list_item(line, Some(PAGES))).collect()
        }
    }
}
