//! Statements as lines: sentence, outcome, and the figure that decides.

use crate::{Decided, Judged, Outcome};
use wheelhouse_present::document::Line;
use wheelhouse_present::table::Mark;

/// The statements of a claim.
pub(super) fn of(judged: &Judged) -> Vec<Line> {
    judged.statements.iter().map(|it| line(judged, it)).collect()
}

fn line(judged: &Judged, it: &Decided) -> Line {
    let outcome = it.outcome;
    let verdict = it.otherwise().map_or(outcome.to_string(), |how| format!("{outcome}, {how}"));
    let labels = [it.outcome.name(), judged.claim.article.name(), it.by.name(), it.whose.name()];
    Line {
        name: it.id.clone(),
        text: it.quote.clone(),
        verdict,
        mark: mark(it),
        figure: it.number.clone(),
        labels: labels.map(str::to_owned).into(),
        entry: judged.claim.id.clone(),
    }
}

fn mark(it: &Decided) -> Mark {
    match it.outcome {
        _ if !it.as_recorded() => Mark::Wrong,
        Outcome::Confirmed => Mark::Even,
        Outcome::Refuted => Mark::Bad,
        Outcome::Undecided => Mark::Muted,
    }
}
