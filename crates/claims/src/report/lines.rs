//! Statements as lines: what is said, what came of it, the number that decides.

use crate::{Decided, Judged, Outcome};
use wheelhouse_present::document::Line;
use wheelhouse_present::table::Mark;

/// The statements of a claim.
pub(super) fn of(judged: &Judged) -> Vec<Line> {
    judged.statements.iter().map(|it| line(judged, it)).collect()
}

fn line(judged: &Judged, it: &Decided) -> Line {
    let verdict = match it.recorded {
        Some(recorded) if !it.as_recorded() => format!("{}, not {recorded}", it.outcome),
        None => format!("{}, not on record", it.outcome),
        _ => it.outcome.name().to_owned(),
    };
    let labels = [it.outcome.name(), judged.claim.article.name(), it.by.name()];
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
