//! What a page says, in order, before it is set in type.

use maud::Markup;

use crate::table::Table;

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
}
