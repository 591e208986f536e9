//! Sets the report as Markdown.

use super::document::{Block, Document};
use crate::table::markdown_escape;

/// The folder of the pictures, beside the page.
pub const PLOTS: &str = "plots";

/// The report as GitHub shows it, pictures by their files in `plots/`.
pub fn render(document: &Document) -> String {
    let mut out = format!(
        "# {}\n\n{}\n\n",
        markdown_escape(&document.title),
        markdown_escape(&document.subtitle)
    );
    for block in &document.blocks {
        out += &set(block);
        out.push('\n');
    }
    out.trim_end().to_owned() + "\n"
}

/// A picture with its description.
pub fn image(title: &str, path: &str) -> String {
    // A path in angle brackets may hold spaces.
    format!("![{}](<{path}>)", markdown_escape(title))
}

fn set(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("## {}\n", markdown_escape(text)),
        Block::Subheading(text) => format!("### {}\n", markdown_escape(text)),
        Block::Text(text) => format!("{}\n", markdown_escape(text)),
        Block::Points(points) => {
            points.iter().map(|p| format!("- {}\n", markdown_escape(p))).collect()
        }
        Block::Warning(text) => format!("> **Warning:** {}\n", markdown_escape(text)),
        Block::Table(table) => table.markdown(),
        Block::Picture(picture, caption) => {
            let image = image(&picture.title, &format!("{PLOTS}/{}", picture.file));
            format!("{image}\n\n*{}*\n", markdown_escape(caption))
        }
        Block::Facts(facts) => facts
            .iter()
            .map(|(name, value)| format!("- {name}: {}\n", markdown_escape(value)))
            .collect(),
        Block::Interactive(_) => String::new(),
        Block::Folded(title, blocks) => {
            let inner: Vec<String> = blocks.iter().map(set).collect();
            let title = markdown_escape(title);
            format!("<details><summary>{title}</summary>\n\n{}\n</details>\n", inner.join("\n"))
        }
    }
}
