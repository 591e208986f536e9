//! The ten statements that readers of the articles ask for first.

use super::lines;
use crate::Judgement;
use wheelhouse_present::document::Line;

/// The ids. Each statement is understood without its claim.
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
pub(super) fn lines(judgement: &Judgement) -> Vec<Line> {
    let find = |name: &&str| {
        let mut lines = judgement.claims.iter().flat_map(lines::of);
        let line = lines.find(|line| line.name == **name)?;
        let [article, origin] = [1, 3].map(|at| line.labels.get(at).cloned().unwrap_or_default());
        let name =
            if origin == "ours" { line.name.clone() } else { format!("{article} {}", line.name) };
        Some(Line { name, ..line })
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
