//! `wheelhouse claims`: verdicts, explanations, the report.

use super::{Scratch, command, fails, output_of, succeeds};

#[test]
fn a_claim_is_explained_with_statements_experiment_data_and_plot() {
    let text = succeeds("claims --quick --id C28");
    for part in [
        "refuted    C28.4  A new task with a later deadline changes many indices.",
        "如果新增任务执行时间靠后",
        "A late task is the cheapest one for a heap",
        "experiment: heap-later-insert",
        "binary-heap",
        "[plot:",
    ] {
        assert!(text.contains(part), "{part} in:\n{text}");
    }
}

#[test]
fn programs_get_the_statements_of_a_claim() {
    let json = succeeds("claims --quick --id C28 --format json");
    let verdicts: serde_json::Value = serde_json::from_str(&json).unwrap();
    let fourth = &verdicts[0]["statements"][3];
    assert_eq!((&fourth["id"], &fourth["outcome"]), (&"C28.4".into(), &"refuted".into()));
    assert_eq!(fourth["whose"], "article");
}

#[test]
fn a_question_is_answered_by_structures_and_statements() {
    let asked = |question| output_of(command("claims --quick --question").arg(question));
    let text = asked("heap later deadline");
    assert!(text.contains("binary-heap") && text.contains("refuted    C28.4"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let text = asked("netty ticks in vain");
    assert!(text.contains("confirmed  C42.1") && text.contains("So: True"), "{text}");
}

#[test]
fn answers_of_the_printed_code_are_compared_with_the_models() {
    let scratch = Scratch::new();
    let (lines, out) = (scratch.path("lines.tsv"), scratch.path("out"));
    let compare = format!("printed-code {lines} --by go --out {out}");
    std::fs::write(&lines, "B1.ticks\t[6 18 30 42]\n").unwrap();
    assert!(succeeds(&compare).contains("1 of 1 answers; 1 are as predicted"));
    std::fs::write(&lines, "B1.ticks\t[6 6 6 6]\n").unwrap();
    assert!(fails(&compare).contains("[6 6 6 6]"));
}

/// Only instruction counts show work that a structure does without counting it.
#[test]
fn instructions_do_not_grow_with_the_number_of_timers() {
    // A claim that takes no time, since only the instructions matter here.
    succeeds("claims --quick --instructions --id C47");
}
