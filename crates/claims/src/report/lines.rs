//! Statements as lines: sentence, outcome, and the figure that decides.

use crate::{DecidedStatement, JudgedClaim, Outcome};
use wheelhouse_present::document::Line;
use wheelhouse_present::table::Mark;

pub(super) fn of(judged: &JudgedClaim) -> Vec<Line> {
    judged.statements.iter().map(|it| line(judged, it)).collect()
}

fn line(judged: &JudgedClaim, it: &DecidedStatement) -> Line {
    let outcome = it.outcome;
    let verdict =
        it.difference_from_record().map_or(outcome.to_string(), |how| format!("{outcome}, {how}"));
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

fn mark(it: &DecidedStatement) -> Mark {
    match it.outcome {
        _ if !it.matches_record() => Mark::Wrong,
        Outcome::Confirmed => Mark::Even,
        Outcome::Refuted => Mark::Bad,
        Outcome::Undecided => Mark::Muted,
    }
}
