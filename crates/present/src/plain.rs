//! Renders a document as text for a terminal.

use super::document::{Block, Document, Entry, Line};
use crate::console::WIDTH;
use crate::table::wrap_after;

/// The document as text. Pictures are named, not drawn.
pub fn render(document: &Document) -> String {
    let mut out = filled(&document.title, "", "") + &filled(&document.subtitle, "", "") + "\n";
    for block in &document.blocks {
        out += &render_block(block);
        out.push('\n');
    }
    out.trim_end().to_owned() + "\n"
}

fn render_block(block: &Block) -> String {
    match block {
        Block::Heading(text) => {
            format!("{}{}\n", filled(text, "", ""), "-".repeat(text.chars().count().min(WIDTH)))
        }
        Block::Text(text) => filled(text, "", ""),
        Block::Points(points) => points.iter().map(|point| filled(point, "- ", "  ")).collect(),
        Block::Warning(text) => filled(text, "warning: ", "  "),
        Block::Table(table) => table.terminal(),
        Block::Picture(picture, caption) => {
            filled(&format!("[plot: {}] {caption}", picture.title), "", "  ")
        }
        Block::Facts(facts) => {
            facts.iter().map(|(name, value)| filled(value, &format!("{name}: "), "    ")).collect()
        }
        Block::Interactive(_) | Block::Filter(_) => String::new(),
        Block::Folded(title, blocks) => {
            format!("{title}\n{}", blocks.iter().map(render_block).collect::<String>())
        }
        Block::Lines(lines) | Block::Entry(Entry { lines, .. }) => lines.iter().map(line).collect(),
    }
}

/// Verdict and name have separate columns, so that a reader can scan them.
fn line(line: &Line) -> String {
    let figure = match line.figure.as_str() {
        "" => String::new(),
        figure => format!(" ({figure})"),
    };
    let head = format!("{:<10} {:<6} ", line.verdict, line.name);
    filled(&format!("{}{figure}", line.text), &head, &" ".repeat(18))
}

/// Text in lines of [`WIDTH`], with one prefix for the first line and one for the others.
fn filled(text: &str, first: &str, others: &str) -> String {
    wrap_after(text, WIDTH, first, others) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_wrapped_without_losing_words() {
        let text = "word ".repeat(60);
        let wrapped = filled(&text, "- ", "  ");
        assert!(wrapped.lines().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(wrapped.split_whitespace().filter(|word| *word == "word").count(), 60);
        assert_eq!(filled("a b", "x: ", "  "), "x: a b\n");
    }
}
