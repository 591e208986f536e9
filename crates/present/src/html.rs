//! Sets the report as one page: styles and pictures in it, no script, nothing fetched.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::document::{Block, Document, Entry, Filter, Line, Picture};
use super::markdown::PLOTS;
use crate::table::{Align, Cell, Mark, Table};

const STYLE: &str = include_str!("report.css");

/// Where the pictures of a page are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// In it: the page is one file.
    Inside,
    /// In [`PLOTS`] beside it: the page stays small.
    Beside,
}

/// The whole page. What comes from the run is escaped; pictures are our own and stand in it as they are.
pub fn render(document: &Document) -> String {
    render_with(document, Pictures::Inside)
}

/// The whole page, with its pictures in it or beside it.
pub fn render_with(document: &Document, pictures: Pictures) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (document.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (document.title) }
                    p.subtitle { (document.subtitle) }
                }
                main { @for block in &document.blocks { (set(block, pictures)) } }
            }
        }
    };
    page.into_string()
}

fn set(block: &Block, pictures: Pictures) -> Markup {
    html! {
        @match block {
            Block::Heading(text) => h2 id=(slug(text)) { (text) },
            Block::Subheading(text) => h3 id=(slug(text)) { (text) },
            Block::Text(text) => p { (text) },
            Block::Points(points) => ul { @for point in points { li { (point) } } },
            Block::Warning(text) => p.warning role="alert" { strong { "Warning: " } (text) },
            Block::Table(content) => (table(content)),
            Block::Picture(drawn, caption) => figure { (picture(drawn, pictures)) figcaption { (caption) } },
            Block::Facts(facts) => dl { @for (name, value) in facts { dt { (name) } dd { (value) } } },
            Block::Folded(title, blocks) => details {
                summary { (title) }
                @for block in blocks { (set(block, pictures)) }
            },
            Block::Lines(lines) => div.lines { @for line in lines { a href={ "#" (line.entry) } { (self::line(line)) } } },
            Block::Entry(content) => (entry(content, pictures)),
            Block::Filter(choice) => (filter(choice)),
        }
    }
}

fn picture(picture: &Picture, pictures: Pictures) -> Markup {
    html! {
        @match pictures {
            Pictures::Inside => (PreEscaped(&picture.svg)),
            Pictures::Beside => img src={ (PLOTS) "/" (picture.file) } alt=(picture.title) loading="lazy";
        }
    }
}

fn line(line: &Line) -> Markup {
    let labels: Vec<_> = line.labels.iter().map(|label| slug(label)).collect();
    html! {
        span class={ "line " (labels.join(" ")) } id=[Some(&line.name).filter(|name| !name.is_empty())] {
            span.name { (line.name) }
            span.says { (line.text) }
            span class={ "verdict" (mark(line.mark)) } { (line.verdict) }
            span.figure { (line.figure) }
        }
    }
}

/// The anchor is within what is folded: a browser unfolds it to get there.
fn entry(entry: &Entry, pictures: Pictures) -> Markup {
    html! {
        details.entry {
            summary { @for line in &entry.lines { (self::line(line)) } }
            div id=(entry.name) {
                h4 { (entry.title) }
                @for block in &entry.blocks { (set(block, pictures)) }
            }
        }
    }
}

/// Buttons and rules of style: no script is needed to hide what is not asked for.
fn filter(filter: &Filter) -> Markup {
    let group = slug(&filter.name);
    let rule = |label: &str| {
        let (id, class) = (format!("{group}-{}", slug(label)), slug(label));
        format!(
            "main:has(#{id}:checked) .entry .line:not(.{class}),\
             main:has(#{id}:checked) .entry:not(:has(.line.{class})){{display:none}}"
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

/// A name as an anchor or a class: what Markdown makes of a heading.
pub fn slug(text: &str) -> String {
    let kept = text.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn table(content: &Table) -> Markup {
    html! {
        @if content.rows.is_empty() { p { strong { (content.title) } } } @else { (grid(content)) }
        @if !content.notes.is_empty() { ul.notes { @for note in &content.notes { li { (note) } } } }
    }
}

fn grid(content: &Table) -> Markup {
    html! {
        div.table {
            table {
                caption { (content.title) }
                thead {
                    tr { @for column in &content.columns { th scope="col" class=(side(column.align)) { (column.line()) } } }
                }
                tbody {
                    @for row in &content.rows {
                        tr {
                            @for (column, cell) in content.across(row) {
                                td class=(class(column.align, cell)) { (field(cell)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The first line and, smaller, the others: a figure and its ratio.
fn field(cell: &Cell) -> Markup {
    let star = if cell.mark == Mark::Best { "*" } else { "" };
    let mut lines = cell.shown.split('\n');
    html! {
        (lines.next().unwrap_or_default())
        @for line in lines { br; small { (line) } }
        (star)
    }
}

fn side(align: Align) -> &'static str {
    match align {
        Align::Left => "left",
        Align::Right => "right",
    }
}

fn class(align: Align, cell: &Cell) -> String {
    format!("{}{}", side(align), mark(cell.mark))
}

fn mark(mark: Mark) -> &'static str {
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
