//! The content of a page, in order, before it is rendered.

use maud::Markup;

use crate::table::{Mark, Table};

/// A whole page.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its heading.
    pub title: String,
    /// One line with machine and commit.
    pub subtitle: String,
    /// Its parts, in order.
    pub blocks: Vec<Block>,
}

/// A picture on a page.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The name of its file.
    pub file: String,
    /// Its title.
    pub title: String,
    /// The picture itself.
    pub svg: String,
}

/// A part of a page.
#[derive(Clone, Debug)]
pub enum Block {
    /// Begins a section.
    Heading(String),
    /// Plain text.
    Text(String),
    /// Plain texts, each an item of a list.
    Points(Vec<String>),
    /// A fact that a reader must know before believing a figure.
    Warning(String),
    /// Figures.
    Table(Table),
    /// A picture and its caption.
    Picture(Picture, String),
    /// Names and their values.
    Facts(Vec<(&'static str, String)>),
    /// A title, and content that only some readers want. It is folded until the reader asks for it.
    Folded(String, Vec<Block>),
    /// HTML for the page alone. Markdown and plain text leave it out.
    Interactive(Markup),
    /// Lines, each with a link to an entry.
    Lines(Vec<Line>),
    /// An entry, which has a separate page.
    Entry(Entry),
    /// Shows only the lines with one of these labels, or all. In HTML only.
    Filter(Filter),
}

/// A sentence with a verdict.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Its name. In an entry, also its anchor.
    pub name: String,
    /// The sentence.
    pub text: String,
    /// The verdict.
    pub verdict: String,
    /// How the verdict is shown.
    pub mark: Mark,
    /// The figure behind the verdict.
    pub figure: String,
    /// The labels by which a [`Filter`] finds it.
    pub labels: Vec<String>,
    /// The name of the entry that it links to.
    pub entry: String,
}

/// Lines, and a page with the details, in a separate file. Plain text leaves it out.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its anchor and the name of its file.
    pub name: String,
    /// The title of the page.
    pub title: String,
    /// The lines, which are always shown.
    pub lines: Vec<Line>,
    /// The content of the page.
    pub blocks: Vec<Block>,
}

/// A choice between labels.
#[derive(Clone, Debug)]
pub struct Filter {
    /// The name of the choice.
    pub name: String,
    /// The labels.
    pub labels: Vec<String>,
}

impl Document {
    /// All entries, in order, including folded ones.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        all(&self.blocks).into_iter().filter_map(|block| match block {
            Block::Entry(entry) => Some(entry),
            _ => None,
        })
    }

    /// All pictures, in order, including folded ones and those of entries.
    pub fn pictures(&self) -> impl Iterator<Item = &Picture> {
        all(&self.blocks).into_iter().filter_map(|block| match block {
            Block::Picture(picture, _) => Some(picture),
            _ => None,
        })
    }
}

/// All blocks, each followed by those within it.
fn all(blocks: &[Block]) -> Vec<&Block> {
    let mut found = Vec::new();
    for block in blocks {
        found.push(block);
        if let Block::Folded(_, inner) | Block::Entry(Entry { blocks: inner, .. }) = block {
            found.extend(all(inner));
        }
    }
    found
}
