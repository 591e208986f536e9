//! Statements as lines: sentence, outcome, and the figure that decides.

use crate::{DecidedStatement, JudgedClaim, Judgement, Origin, Outcome};
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
        text: it.sentence.clone(),
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

/// The ten statements that readers of the articles ask for first. Each is understood without its
/// claim.
const HEADLINES: [&str; 10] = [
    "C32.6",  // a wheel inserts in O(1), in any order
    "C36.2",  // Kafka's DelayQueue costs nothing
    "C28.4",  // a later task changes many indices of a heap
    "C32.11", // with a million timers a wheel is much better than Go's
    "C32.10", // a heap fires in O(log n)
    "C43.5",  // a wheel is ahead of a heap
    "C25.4",  // a list deletes in O(n)
    "C16.1",  // rounds scan a list at every tick
    "C42.1",  // a tick-driven wheel makes useless advances
    "B1.1",   // the printed code loses tasks
];

/// Those that were judged, each preceded by the article that says it.
pub(super) fn headlines(judgement: &Judgement) -> Vec<Line> {
    let find = |id: &&str| {
        let claims = judgement.claims.iter();
        let mut all =
            claims.flat_map(|judged| judged.statements.iter().map(move |it| (judged, it)));
        let (judged, it) = all.find(|(_, it)| it.id == **id)?;
        let article = judged.claim.article.name();
        let is_ours = it.whose == Origin::Ours;
        let name = if is_ours { it.id.clone() } else { format!("{article} {}", it.id) };
        Some(Line { name, ..line(judged, it) })
    };
    HEADLINES.iter().filter_map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcomes;

    #[test]
    fn every_headline_is_a_statement_on_record() -> anyhow::Result<()> {
        let record = outcomes::recorded(&crate::Scale::REDUCED)?;
        for name in HEADLINES {
            assert!(record.contains_key(name), "{name} is no statement any more");
        }
        Ok(())
    }
}
