//! Tables of the claims.

use crate::controls::Controls;
use crate::thresholds::{Threshold, Thresholds};
use crate::{Judgement, Origin, Outcome};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use wheelhouse_present::table::{Cell, Column, Table};

/// The numbers of statements that are confirmed, refuted and undecided, in a sentence: first those
/// of the articles, then those of each other mark.
pub fn tally(judgement: &Judgement) -> String {
    let of = |origin: Origin| {
        let all: Vec<_> = judgement.statements().filter(|it| it.whose == origin).collect();
        let [confirmed, refuted, undecided] =
            Outcome::ALL.map(|outcome| all.iter().filter(|it| it.outcome == outcome).count());
        let undecided =
            if undecided == 0 { String::new() } else { format!(", {undecided} undecided") };
        let whose = match origin {
            Origin::Article => "from the articles",
            Origin::Sharpened => "from the articles, sharpened by us",
            Origin::Ours => "our own",
            Origin::Literature => "from the literature",
        };
        let not = if refuted == 1 { "does not" } else { "do not" };
        let part = format!("{} {whose} ({confirmed} hold, {refuted} {not}{undecided})", all.len());
        (!all.is_empty()).then_some(part)
    };
    let differing = judgement.unexpected().count() + judgement.missing().len();
    let record = match differing {
        0 => "All outcomes are as recorded in the repository".to_owned(),
        n => format!("{n} outcomes differ from the record"),
    };
    let marks = Origin::ALL.into_iter().filter_map(of).collect::<Vec<_>>().join("; ");
    let (claims, statements) = (judgement.claims.len(), judgement.statements().count());
    format!("{claims} claims are split into {statements} statements: {marks}. {record}.")
}

/// The outcomes as JSON, for programs.
pub fn json(judgement: &Judgement) -> Result<String> {
    let entry = |judged: &crate::JudgedClaim| {
        let claim = &judged.claim;
        json!({
            "id": claim.id, "article": claim.article.name(), "line": claim.line,
            "original": claim.original, "says": claim.says, "experiment": claim.experiment,
            "because": claim.because, "so": claim.so, "source": claim.source,
            "statements": judged.statements,
        })
    };
    let verdicts: Value = judgement.claims.iter().map(entry).collect();
    serde_json::to_string_pretty(&verdicts).context("cannot write the verdicts as JSON")
}

/// Each threshold with its value and the statements whose outcome changes if it is halved or
/// doubled. Also says whether the controls then fail.
pub fn thresholds(judgement: &Judgement, controls: &Controls) -> Table {
    let columns = [
        Column::left("threshold"),
        Column::right("value"),
        Column::left("outcomes at half of it"),
        Column::left("outcomes at twice of it"),
    ];
    let mut table = Table::new("All thresholds, and the outcomes that change", columns.into());
    for threshold in Threshold::ALL {
        let changed = |factor| {
            let scaled = Thresholds::default().scaled(*threshold, factor);
            let fail = !controls.confusion(&scaled).is_sound();
            let fail = fail.then(|| "the controls show errors".to_owned());
            let changes =
                by_outcome(&judgement.changed_by(*threshold, factor)).into_iter().chain(fail);
            let changes = changes.collect::<Vec<_>>().join("; ");
            if changes.is_empty() { "none".to_owned() } else { changes }
        };
        let value = Thresholds::default().of(*threshold);
        table.rows.push(vec![
            Cell::text(threshold.what()).wrapped(40),
            Cell::figure(value, value.to_string()),
            Cell::text(changed(0.5)).wrapped(40),
            Cell::text(changed(2.0)).wrapped(40),
        ]);
    }
    table
}

/// Statements grouped by their outcome: "refuted: C27.3, C27.4".
fn by_outcome(changed: &[(&str, Outcome)]) -> Vec<String> {
    let of = |wanted: Outcome| {
        let ids = changed.iter().filter(|(_, outcome)| *outcome == wanted).map(|(id, _)| *id);
        let ids = ids.collect::<Vec<_>>();
        (!ids.is_empty()).then(|| format!("{wanted}: {}", ids.join(", ")))
    };
    Outcome::ALL.into_iter().filter_map(of).collect()
}
