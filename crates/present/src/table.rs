//! A table that is built once and shown in four formats: on a terminal, as Markdown, HTML and JSON.
//!
//! People and programs read different things: a cell has a short text ("1.23 µs") and a full value
//! (1234.5). Terminal, Markdown and HTML show the text; JSON contains the value.

use clap::ValueEnum;
use serde_json::Value;

use crate::console::width;

/// The format in which a command prints its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people, on a terminal.
    #[default]
    Table,
    /// A list of objects, one per row.
    Json,
}

/// The head of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name for people. A line break keeps the column narrow on a terminal; other formats show
    /// a space.
    pub name: String,
    /// The name for programs: the key in JSON.
    pub key: String,
    /// `true` for figures, which are aligned to the right.
    pub is_right: bool,
}

impl Column {
    /// A column of names; the key is the name with `-` for each space or line break.
    pub fn left(name: impl Into<String>) -> Self {
        Self::new(name, false)
    }

    /// A column of figures; the key is the name with `-` for each space or line break.
    pub fn right(name: impl Into<String>) -> Self {
        Self::new(name, true)
    }

    /// The same column under another key.
    pub fn keyed(self, key: impl Into<String>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// The name on one line.
    pub fn line(&self) -> String {
        self.name.replace('\n', " ")
    }

    /// A column of figures if `is_right`, otherwise one of names.
    pub fn new(name: impl Into<String>, is_right: bool) -> Self {
        let name = name.into();
        Self { key: name.replace([' ', '\n'], "-"), name, is_right }
    }
}

/// How a cell is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// No mark.
    #[default]
    Plain,
    /// The best of its column: `*` on the terminal, bold elsewhere.
    Best,
    /// A wrong answer, shown instead of a figure.
    Wrong,
    /// Context that does not compete.
    Muted,
    /// The path of a file, relative to the page with the table: a link in Markdown.
    Link,
    /// As expected.
    Even,
    /// Better than expected.
    Good,
    /// Worse than expected.
    Bad,
}

/// One field of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The text for people. A line break separates figure and ratio; formats with one line show a
    /// space.
    pub shown: String,
    /// The value for programs.
    pub value: Value,
    /// How it is marked.
    pub mark: Mark,
}

impl Cell {
    /// A cell whose text is its value.
    pub fn text(text: impl Into<String>) -> Self {
        let shown = text.into();
        Self { value: Value::String(shown.clone()), shown, mark: Mark::Plain }
    }

    /// A figure, and the text that shows it. NaN and infinities have no value.
    pub fn figure(value: f64, shown: impl Into<String>) -> Self {
        Self { shown: shown.into(), value: Value::from(value), mark: Mark::Plain }
    }

    /// A whole number with thousands separators.
    pub fn count(value: u64) -> Self {
        Self { shown: crate::units::count(value), value: Value::from(value), mark: Mark::Plain }
    }

    /// A cell for which nothing was measured.
    pub fn missing() -> Self {
        Self { shown: "-".to_owned(), value: Value::Null, mark: Mark::Muted }
    }

    /// A cell for a wrong answer, which has no figure.
    pub fn wrong() -> Self {
        Self { shown: "WRONG".to_owned(), value: Value::from("WRONG"), mark: Mark::Wrong }
    }

    /// The same cell, with its text broken by [`wrap`].
    pub fn wrapped(self, width: usize) -> Self {
        Self { shown: wrap(&self.shown, width), ..self }
    }

    /// The same cell with a mark.
    pub fn marked(self, mark: Mark) -> Self {
        Self { mark, ..self }
    }

    /// The text on one line.
    pub fn line(&self) -> String {
        self.shown.replace('\n', " ")
    }
}

/// Columns, rows, and notes below them that explain the figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The subject, with its unit.
    pub title: String,
    /// The heads.
    pub columns: Vec<Column>,
    /// The rows. Cells that are missing at the end of a row are empty.
    pub rows: Vec<Vec<Cell>>,
    /// Notes on how to read the table.
    pub notes: Vec<String>,
}

impl Table {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: Vec<Column>) -> Self {
        Self { title: title.into(), columns, rows: Vec::new(), notes: Vec::new() }
    }

    /// The text in a format, with a line break at its end.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Table => self.terminal(),
            Format::Json => format!("{:#}\n", self.json()),
        }
    }

    /// For a terminal: title, table, notes.
    pub fn terminal(&self) -> String {
        use comfy_table::{CellAlignment, presets};
        let mut drawn = comfy_table::Table::new();
        // Cells of two lines need a rule between rows. With one line, the eye follows the row
        // without it.
        let has_tall_rows = self.rows.iter().flatten().any(|cell| cell.shown.contains('\n'));
        drawn.load_preset(if has_tall_rows {
            presets::UTF8_HORIZONTAL_ONLY
        } else {
            ONE_LINE_ROWS
        });
        let aligned = |column: &Column, text: String| {
            let side = if column.is_right { CellAlignment::Right } else { CellAlignment::Left };
            comfy_table::Cell::new(text).set_alignment(side)
        };
        drawn.set_header(self.columns.iter().map(|column| aligned(column, column.name.clone())));
        for row in &self.rows {
            drawn.add_row(self.cells_by_column(row).map(|(column, cell)| {
                let star = if cell.mark == Mark::Best { "*" } else { "" };
                aligned(column, format!("{}{star}", cell.shown))
            }));
        }
        for column in drawn.column_iter_mut() {
            column.set_padding((0, if has_tall_rows { 1 } else { 2 }));
        }
        let mut out = format!("{}\n{drawn}\n", self.title);
        for note in &self.notes {
            out += &format!("{}\n", wrap(note, width()));
        }
        out
    }

    /// A GitHub table with its title in bold before and its notes as a list after it.
    pub fn markdown(&self) -> String {
        let mut out = format!("**{}**\n\n", markdown_escape(&self.title));
        if !self.rows.is_empty() {
            out += &self.markdown_rows();
            out.push('\n');
        }
        out.extend(self.notes.iter().map(|note| format!("- {}\n", markdown_escape(note))));
        out
    }

    /// The GitHub table alone.
    pub fn markdown_rows(&self) -> String {
        let line = |fields: Vec<String>| format!("| {} |\n", fields.join(" | "));
        let mut out = line(self.columns.iter().map(|c| markdown_escape(&c.line())).collect());
        let rule = |c: &Column| if c.is_right { "---:" } else { ":---" }.to_owned();
        out += &line(self.columns.iter().map(rule).collect());
        for row in &self.rows {
            out += &line(self.cells_by_column(row).map(|(_, cell)| markdown_cell(cell)).collect());
        }
        out
    }

    /// A list of objects, one per row, under the keys of the columns.
    pub fn json(&self) -> Value {
        let field = |(column, cell): (&Column, &Cell)| (column.key.clone(), cell.value.clone());
        let object = |row: &Vec<Cell>| self.cells_by_column(row).map(field).collect::<Value>();
        self.rows.iter().map(object).collect()
    }

    /// Each column with its cell of a row, even if the row is short.
    pub fn cells_by_column<'a>(
        &'a self,
        row: &'a [Cell],
    ) -> impl Iterator<Item = (&'a Column, &'a Cell)> {
        static EMPTY: Cell = Cell { shown: String::new(), value: Value::Null, mark: Mark::Plain };
        self.columns.iter().enumerate().map(|(i, column)| (column, row.get(i).unwrap_or(&EMPTY)))
    }
}

/// The items without repetitions, in the order of first appearance. O(n k) for k different items.
pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

/// Lines above the heads, below the heads, and below the table; no others.
const ONE_LINE_ROWS: &str = "  ── ══      ──    ";

fn markdown_cell(cell: &Cell) -> String {
    let lines: Vec<_> = cell.shown.split('\n').map(markdown_escape).collect();
    // A figure and its ratio share a line. If there are more lines, each is separate.
    let text = lines.join(if lines.len() > 2 { "<br>" } else { " " });
    match cell.mark {
        Mark::Best | Mark::Wrong if !text.is_empty() => format!("**{text}**"),
        Mark::Link => format!("[{text}](<{text}>)"), // escapes hold in both places
        _ => text,
    }
}

/// A text, broken between words into lines of at most `width` characters, unless a word is longer.
pub fn wrap(text: &str, width: usize) -> String {
    wrap_after(text, width, "", "")
}

/// [`wrap`], with a prefix for the first line and one for the others.
pub(crate) fn wrap_after(text: &str, width: usize, first: &str, others: &str) -> String {
    let mut out = String::new();
    let (mut line, mut is_bare) = (first.to_owned(), true);
    for word in text.split_whitespace() {
        if !is_bare && line.chars().count() + 1 + word.chars().count() > width {
            out += &format!("{line}\n");
            line = others.to_owned();
        } else if !is_bare {
            line.push(' ');
        }
        line += word;
        is_bare = false;
    }
    out + &line
}

/// Escapes a text, so that Markdown shows it unchanged and on one line.
///
/// ```
/// use wheelhouse_present::table::markdown_escape;
///
/// assert_eq!(markdown_escape("a|b <c>\n*d*"), "a\\|b &lt;c&gt; \\*d\\*");
/// ```
pub fn markdown_escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '\\' | '*' | '`' | '[' | ']' | '~' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_in_markdown_and_values_are_whole_in_json() {
        let columns = vec![Column::left("x|y"), Column::right("two\nlines")];
        let mut table = Table::new("a | b <c>", columns);
        let text = "p|q \"r\", s\n<t>";
        table.rows =
            vec![vec![Cell::text(text)], vec![Cell::wrong(), Cell::figure(1_234.567, "1,235")]];
        table.notes = vec!["*n*".to_owned()];
        let markdown = "**a \\| b &lt;c&gt;**\n\n| x\\|y | two lines |\n| :--- | ---: |\n\
                        | p\\|q \"r\", s &lt;t&gt; |  |\n| **WRONG** | 1,235 |\n\n- \\*n\\*\n";
        assert_eq!(table.markdown(), markdown);
        let json = table.json();
        assert_eq!((&json[0]["x|y"], &json[0]["two-lines"]), (&Value::from(text), &Value::Null));
        assert_eq!(json[1]["two-lines"], 1_234.567);
        assert!(table.terminal().contains("1,235"));
    }
}
