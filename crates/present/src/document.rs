//! What a page says, in order, before it is set in type.

use maud::Markup;

use crate::table::{Mark, Table};

/// A whole page.
#[derive(Clone, Debug)]
pub struct Document {
    /// What it is about.
    pub title: String,
    /// Machine and commit in a line.
    pub subtitle: String,
    /// Its parts, in order.
    pub blocks: Vec<Block>,
}

/// A picture on a page.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Name of its file.
    pub file: String,
    /// What it is called.
    pub title: String,
    /// The picture.
    pub svg: String,
}

/// A part of a page.
#[derive(Clone, Debug)]
pub enum Block {
    /// Begins a section.
    Heading(String),
    /// Begins a part of a section.
    Subheading(String),
    /// Plain text.
    Text(String),
    /// Plain text that leads to a file beside the page, by its name.
    Link(String, &'static str),
    /// Plain texts, each a point of its own.
    Points(Vec<String>),
    /// What a reader must know before believing a figure.
    Warning(String),
    /// Figures.
    Table(Table),
    /// A picture and how to read it.
    Picture(Picture, String),
    /// Names and their values.
    Facts(Vec<(&'static str, String)>),
    /// What only some readers want: folded until asked for.
    Folded(String, Vec<Block>),
    /// What only the page can have, as HTML; in Markdown nothing stands in its place.
    Interactive(Markup),
    /// Lines, each of which leads to an entry.
    Lines(Vec<Line>),
    /// Lines in front of a page of their own.
    Entry(Entry),
    /// Shows only the lines with one of these labels, or all; in HTML only.
    Filter(Filter),
}

/// A sentence with a verdict.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// What it is called; also its anchor, in an entry.
    pub name: String,
    /// The sentence.
    pub text: String,
    /// The verdict.
    pub verdict: String,
    /// How the verdict is shown.
    pub mark: Mark,
    /// The figure behind it.
    pub figure: String,
    /// By what a [`Filter`] finds it.
    pub labels: Vec<String>,
    /// The name of the entry that it leads to.
    pub entry: String,
}

/// Lines, and the page that stands behind them: folded in HTML, a file of its own in Markdown, and
/// left out of a terminal's text.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its anchor and the name of its file.
    pub name: String,
    /// What the page is about.
    pub title: String,
    /// What stands in front.
    pub lines: Vec<Line>,
    /// The page.
    pub blocks: Vec<Block>,
}

/// A choice between labels.
#[derive(Clone, Debug)]
pub struct Filter {
    /// What is chosen.
    pub name: String,
    /// The labels.
    pub labels: Vec<String>,
}

impl Document {
    /// All entries, in order, those that are folded away too.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        entries(&self.blocks).into_iter()
    }

    /// All pictures, those that are folded away too.
    pub fn pictures(&self) -> Vec<&Picture> {
        pictures(&self.blocks)
    }
}

fn entries<'a>(blocks: &'a [Block]) -> Vec<&'a Entry> {
    let of = |block: &'a Block| match block {
        Block::Entry(entry) => vec![entry],
        Block::Folded(_, blocks) => entries(blocks),
        _ => Vec::new(),
    };
    blocks.iter().flat_map(of).collect()
}

fn pictures<'a>(blocks: &'a [Block]) -> Vec<&'a Picture> {
    let of = |block: &'a Block| match block {
        Block::Picture(picture, _) => vec![picture],
        Block::Folded(_, blocks) | Block::Entry(Entry { blocks, .. }) => pictures(blocks),
        _ => Vec::new(),
    };
    blocks.iter().flat_map(of).collect()
}
