//! Statements as lines: what is said, what came of it, the figure.

use crate::{Judged, Judgement, Part, Verdict};
use wheelhouse_present::document::Line;
use wheelhouse_present::table::Mark;

/// The statements of a claim.
pub(super) fn of(judged: &Judged, judgement: &Judgement) -> Vec<Line> {
    let claim = &judged.claim;
    let evidence = judgement.evidence_on(claim).and_then(|it| it.finding(&claim.id));
    let Some(found) = evidence else {
        let verdict = Verdict::Documentation.name();
        return vec![line(judged, claim.id.clone(), &claim.says, verdict, String::new())];
    };
    let numbered = found.parts.iter().enumerate();
    let of = |(at, part): (usize, &Part)| {
        let verdict = match part.holds {
            Some(true) => "confirmed",
            Some(false) => "refuted",
            None => "undecided",
        };
        line(judged, format!("{}.{}", claim.id, at + 1), &part.statement, verdict, String::new())
    };
    numbered.map(of).collect()
}

fn line(judged: &Judged, name: String, text: &str, verdict: &str, figure: String) -> Line {
    let labels = vec![verdict.to_owned(), judged.claim.article.name().to_owned()];
    let entry = judged.claim.id.clone();
    let mark = mark(verdict);
    Line { name, text: text.to_owned(), verdict: verdict.to_owned(), mark, figure, labels, entry }
}

fn mark(verdict: &str) -> Mark {
    match verdict {
        "confirmed" => Mark::Even,
        "refuted" => Mark::Bad,
        _ => Mark::Muted,
    }
}
