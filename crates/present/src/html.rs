//! Renders a document as one page that contains its styles and pictures, and fetches nothing. The
//! only scripts are those of interactive blocks.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::document::{Block, Document, Entry, Filter, Line, Picture};
use super::markdown::{PAGES, PLOTS};
use crate::table::{Cell, Column, Mark, Table};

/// The style sheet of a page.
pub const STYLE: &str = include_str!("report.css");
/// The name of the style sheet's file, for a page that does not contain it.
pub const STYLE_FILE: &str = "report.css";

/// Where the pictures of a page are, and the pages of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartFiles {
    /// In the page, which is a single file. It has no entries.
    Embedded,
    /// In [`PLOTS`] and [`PAGES`]. Holds the path from the page to their parent folder.
    Separate(&'static str),
}

/// The whole page in one file. Text of the document is escaped; pictures are trusted and included
/// unchanged.
pub fn render(document: &Document) -> String {
    page(&document.title, Some(&document.subtitle), PartFiles::Embedded, &document.blocks)
}

/// The page, with its pictures, its style sheet and the pages of its entries in files next to it.
pub fn render_with_files(document: &Document) -> String {
    page(&document.title, Some(&document.subtitle), PartFiles::Separate(""), &document.blocks)
}

/// The page of an entry, for the folder [`PAGES`].
pub fn render_entry(entry: &Entry) -> String {
    let lines = [Block::Lines(entry.lines.clone())];
    page(&entry.title, None, PartFiles::Separate("../"), lines.iter().chain(&entry.blocks))
}

fn page<'a>(
    title: &str,
    subtitle: Option<&str>,
    parts: PartFiles,
    blocks: impl IntoIterator<Item = &'a Block>,
) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                @match parts {
                    PartFiles::Embedded => style { (PreEscaped(STYLE)) },
                    PartFiles::Separate(up) => link rel="stylesheet" href={ (up) (STYLE_FILE) };
                }
            }
            body {
                header {
                    @if let PartFiles::Separate("../") = parts {
                        p { a href="../index.html" { "All" } }
                    }
                    h1 { (title) }
                    @if let Some(subtitle) = subtitle { p.subtitle { (subtitle) } }
                }
                main { @for block in blocks { (render_block(block, parts)) } }
            }
        }
    };
    page.into_string()
}

fn render_block(block: &Block, parts: PartFiles) -> Markup {
    html! {
        @match block {
            Block::Heading(text) => h2 id=(slug(text)) { (text) },
            Block::Text(text) => p { (text) },
            Block::Points(points) => ul { @for point in points { li { (point) } } },
            Block::Warning(text) => p.warning role="alert" { strong { "Warning: " } (text) },
            Block::Table(content) => (table(content)),
            Block::Picture(drawn, caption) => figure {
                (picture(drawn, parts))
                figcaption { (caption) }
            },
            Block::Facts(facts) => dl {
                @for (name, value) in facts { dt { (name) } dd { (value) } }
            },
            Block::Folded(title, blocks) => details {
                summary { (title) }
                @for block in blocks { (render_block(block, parts)) }
            },
            Block::Lines(lines) => div.lines {
                // Each links to its entry, except on the page of that entry.
                @let is_linked = parts == PartFiles::Separate("");
                @for it in lines {
                    @if is_linked { a href=(page_of(&it.entry)) { (line(it, false)) } }
                    @else { (line(it, false)) }
                }
            },
            Block::Entry(content) => (entry(content)),
            Block::Interactive(content) => (content),
            Block::Filter(choice) => (filter(choice)),
        }
    }
}

fn picture(picture: &Picture, parts: PartFiles) -> Markup {
    html! {
        @match parts {
            PartFiles::Embedded => (PreEscaped(&picture.svg)),
            PartFiles::Separate(up) => {
                img src={ (up) (PLOTS) "/" (picture.file) } alt=(picture.title) loading="lazy";
            }
        }
    }
}

/// A line. `anchored` is `true` in its entry, and `false` where the line is repeated.
fn line(line: &Line, anchored: bool) -> Markup {
    let labels: Vec<_> = line.labels.iter().map(|label| slug(label)).collect();
    html! {
        span class={ "line " (labels.join(" ")) } id=[Some(&line.name).filter(|_| anchored)] {
            span.name { (line.name) }
            span.says { (line.text) }
            span class={ "verdict" (mark_class(line.mark)) } { (line.verdict) }
            span.figure { (line.figure) }
        }
    }
}

fn page_of(entry: &str) -> String {
    format!("{PAGES}/{entry}.html")
}

/// An entry. Its title links to its page.
fn entry(entry: &Entry) -> Markup {
    html! {
        section.entry id=(entry.name) {
            p.title { a href=(page_of(&entry.name)) { (entry.title) } }
            @for line in &entry.lines { (self::line(line, true)) }
        }
    }
}

/// Radio buttons and style rules, which hide lines without a script.
fn filter(filter: &Filter) -> Markup {
    let group = slug(&filter.name);
    let rule = |label: &str| {
        let (id, class) = (format!("{group}-{}", slug(label)), slug(label));
        format!(
            "main:has(#{id}:checked) .entry .line:not(.{class}),\
             main:has(#{id}:checked) .entry:not(:has(.line.{class})),\
             main:has(#{id}:checked) details:has(> .entry):not(:has(.line.{class})){{display:none}}"
        )
    };
    html! {
        fieldset.filter {
            legend { (filter.name) }
            label { input type="radio" name=(group) checked; "all" }
            @for label in &filter.labels {
                label { input type="radio" name=(group) id={ (group) "-" (slug(label)) }; (label) }
            }
            style { @for label in &filter.labels { (PreEscaped(rule(label))) } }
        }
    }
}

/// A name as an anchor or a class, as Markdown makes it from a heading.
pub fn slug(text: &str) -> String {
    let kept = text.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn table(content: &Table) -> Markup {
    html! {
        @if content.rows.is_empty() {
            p { strong { (content.title) } }
        } @else {
            (table_grid(content))
        }
        @if !content.notes.is_empty() { ul.notes { @for note in &content.notes { li { (note) } } } }
    }
}

fn table_grid(content: &Table) -> Markup {
    html! {
        div.table {
            table {
                caption { (content.title) }
                thead {
                    tr {
                        @for column in &content.columns {
                            th scope="col" class=(side(column)) { (column.line()) }
                        }
                    }
                }
                tbody {
                    @for row in &content.rows {
                        tr {
                            @for (column, cell) in content.cells_by_column(row) {
                                td class={ (side(column)) (mark_class(cell.mark)) } {
                                    (cell_content(cell))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The first line, and the others in small letters: a figure and its ratio.
fn cell_content(cell: &Cell) -> Markup {
    let star = if cell.mark == Mark::Best { "*" } else { "" };
    let mut lines = cell.shown.split('\n');
    html! {
        (lines.next().unwrap_or_default())
        @for line in lines { br; small { (line) } }
        (star)
    }
}

fn side(column: &Column) -> &'static str {
    if column.is_right { "right" } else { "left" }
}

fn mark_class(mark: Mark) -> &'static str {
    match mark {
        Mark::Plain | Mark::Link => "",
        Mark::Best => " best",
        Mark::Wrong => " wrong",
        Mark::Muted => " muted",
        Mark::Even => " even",
        Mark::Good => " good",
        Mark::Bad => " bad",
    }
}
