//! `wheelhouse claims`: verdicts, explanations, the report.

use super::{Scratch, fails, succeeds};

#[test]
fn a_claim_is_explained_with_experiment_data_and_parts() {
    let text = succeeds(&["claims", "--quick", "--id", "C28"]);
    for part in [
        "C28: nuanced",
        "does not hold: a later deadline costs more",
        "experiment: heap-later-insert",
        "binary-heap",
        "[plot:",
    ] {
        assert!(text.contains(part), "{part} in:\n{text}");
    }
}

#[test]
fn a_claim_is_a_page_with_its_plot_in_it() {
    let page = succeeds(&["claims", "--quick", "--id", "c28", "--format", "html"]);
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("<svg") && page.contains("heap-4"),
        "{page}"
    );
    let markdown = succeeds(&["claims", "--quick", "--id", "C28,C01", "--format", "markdown"]);
    assert!(
        markdown.contains("## C01 · documentation") && markdown.contains("## C28 · nuanced"),
        "{markdown}"
    );
}

#[test]
fn programs_get_the_parts_of_a_claim() {
    let json = succeeds(&["claims", "--quick", "--id", "C28", "--format", "json"]);
    let verdicts: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(verdicts[0]["verdict"], "nuanced");
    assert_eq!(verdicts[0]["parts"][1]["holds"], false);
}

#[test]
fn an_unknown_claim_is_an_error_that_names_the_known_ones() {
    let message = fails(&["claims", "--id", "C999"]);
    assert!(message.contains("no claim is called 'C999'") && message.contains("C28"), "{message}");
}

#[test]
fn a_report_of_some_claims_is_refused() {
    let scratch = Scratch::new("claims");
    let message = fails(&["claims", "--id", "C28", "--out", &scratch.path("report")]);
    assert!(message.contains("cannot be used with"), "{message}");
}
