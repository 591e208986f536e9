//! Text in a table is shown as it stands, in every form.

use wheelhouse_present::table::{Cell, Column, Table};

#[test]
fn text_is_escaped_in_every_form() {
    let mut table = Table::new("a | b <c>", vec![Column::left("x|y"), Column::right("two\nlines")]);
    table.rows =
        vec![vec![Cell::text("p|q \"r\", s\n<t>")], vec![Cell::wrong(), Cell::count(1_234_567)]];
    table.notes = vec!["*n*".to_owned()];
    let markdown = table.markdown();
    assert!(
        markdown
            .contains("| p\\|q \"r\", s &lt;t&gt; |  |\n| **WRONG** | 1,234,567 |\n\n- \\*n\\*\n"),
        "{markdown}"
    );
    assert!(
        markdown.starts_with("**a \\| b &lt;c&gt;**\n\n| x\\|y | two lines |\n| :--- | ---: |\n"),
        "{markdown}"
    );
    let text = table.csv().unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    assert_eq!(reader.headers().unwrap(), &csv::StringRecord::from(vec!["x|y", "two-lines"]));
    assert_eq!(&reader.records().next().unwrap().unwrap()[0], "p|q \"r\", s\n<t>");
    assert_eq!(table.json()[0]["two-lines"], serde_json::Value::Null);
    assert!(table.terminal().contains("1,234,567"));
}
