//! The tests that the migration page names exist.

use std::fs;

#[test]
fn each_test_that_the_page_names_exists() {
    let root = env!("CARGO_MANIFEST_DIR");
    let page = fs::read_to_string(format!("{root}/MIGRATION.md")).unwrap();
    let named: Vec<_> =
        page.split('`').filter(|text| text.starts_with("tests/")).filter(|text| text.contains("::")).collect();
    assert!(named.len() >= 20, "{named:?}");
    for test in named {
        let (file, name) = test.split_once("::").unwrap();
        let source = fs::read_to_string(format!("{root}/{file}")).unwrap();
        assert!(source.contains(&format!("fn {name}()")), "{test}");
    }
}
