//! Sets the report as one page: styles and pictures in it, nothing fetched. The only scripts are
//! those of interactive blocks.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::document::{Block, Document};
use crate::table::{Align, Cell, Mark, Table};

const STYLE: &str = include_str!("report.css");

/// The whole page. What comes from the run is escaped; pictures are our own and stand in it as they
/// are.
pub fn render(document: &Document) -> String {
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
                main { @for block in &document.blocks { (set(block)) } }
            }
        }
    };
    page.into_string()
}

fn set(block: &Block) -> Markup {
    html! {
        @match block {
            Block::Heading(text) => h2 { (text) },
            Block::Subheading(text) => h3 { (text) },
            Block::Text(text) => p { (text) },
            Block::Points(points) => ul { @for point in points { li { (point) } } },
            Block::Warning(text) => p.warning role="alert" { strong { "Warning: " } (text) },
            Block::Table(content) => (table(content)),
            Block::Picture(picture, caption) => figure {
                (PreEscaped(&picture.svg))
                figcaption { (caption) }
            },
            Block::Facts(facts) => dl {
                @for (name, value) in facts { dt { (name) } dd { (value) } }
            },
            Block::Folded(title, blocks) => details {
                summary { (title) }
                @for block in blocks { (set(block)) }
            },
            Block::Interactive(content) => (content),
        }
    }
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
                    tr {
                        @for column in &content.columns {
                            th scope="col" class=(side(column.align)) { (column.line()) }
                        }
                    }
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

/// Figure and, smaller, its ratio.
fn field(cell: &Cell) -> Markup {
    let star = if cell.mark == Mark::Best { "*" } else { "" };
    html! {
        @match cell.shown.split_once('\n') {
            Some((figure, ratio)) => { (figure) br; small { (ratio) (star) } },
            None => { (cell.shown) (star) },
        }
    }
}

fn side(align: Align) -> &'static str {
    match align {
        Align::Left => "left",
        Align::Right => "right",
    }
}

fn class(align: Align, cell: &Cell) -> String {
    let mark = match cell.mark {
        Mark::Plain | Mark::Link => "",
        Mark::Best => " best",
        Mark::Wrong => " wrong",
        Mark::Muted => " muted",
    };
    format!("{}{mark}", side(align))
}
