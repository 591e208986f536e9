//! The outcomes under other seeds: what would have come out if chance had been another.

use crate::statement::Outcome;
use crate::{Lab, Scale, claims, judge};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The page of the last run, in the folder of the report.
pub const MARKDOWN: &str = "stability.md";

/// Seeds of a run: as many as stand behind the outcomes on record.
const SEEDS: u64 = 5;

/// How often each statement came out how, over many runs with seeds of their own.
#[derive(Clone, Debug)]
pub struct Stability {
    /// Runs, each of five seeds.
    pub runs: u64,
    /// By statement: how often it was confirmed, refuted, undecided; and what is on record.
    pub outcomes: BTreeMap<String, ([u64; 3], Option<Outcome>)>,
}

/// Decides all claims so many times, on the reduced range of n, with the seeds 1 to 5, 6 to 10 and
/// so on. `before` is told of each run.
///
/// # Errors
///
/// As [`judge`].
pub fn stability(runs: u64, mut before: impl FnMut(u64)) -> Result<Stability> {
    let mut outcomes: BTreeMap<String, ([u64; 3], Option<Outcome>)> = BTreeMap::new();
    for run in 0..runs {
        before(run);
        let seeds: Vec<u64> = (1..=SEEDS).map(|seed| run * SEEDS + seed).collect();
        let judgement = judge(claims()?, &Lab::new(&Scale::REDUCED.seeded(seeds)), |_| ())?;
        for it in judgement.statements() {
            let (counts, _) = outcomes.entry(it.id.clone()).or_insert(([0; 3], it.recorded));
            counts[it.outcome as usize] += 1;
        }
    }
    Ok(Stability { runs, outcomes })
}

/// What the page in a folder says first: how many statements came out as recorded in every run.
/// None if there is no page.
///
/// # Errors
///
/// If there is one that cannot be read.
pub fn read(dir: &Path) -> Result<Option<String>> {
    let path = dir.join(MARKDOWN);
    if !path.exists() {
        return Ok(None);
    }
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.split("\n\n").nth(1).map(|first| first.trim().to_owned()))
}

impl Stability {
    /// The statements that did not come out as recorded in every run.
    pub fn unstable(&self) -> impl Iterator<Item = (&str, [u64; 3], Option<Outcome>)> {
        let as_recorded = |counts: &[u64; 3], recorded: Option<Outcome>| {
            recorded.is_some_and(|outcome| counts[outcome as usize] == self.runs)
        };
        let all = self.outcomes.iter();
        all.filter(move |(_, (counts, recorded))| !as_recorded(counts, *recorded))
            .map(|(id, (counts, recorded))| (id.as_str(), *counts, *recorded))
    }

    /// As a page of Markdown.
    pub fn markdown(&self) -> String {
        let (runs, all) = (self.runs, self.outcomes.len());
        let (seeds, unstable) = (runs * SEEDS, self.unstable().count());
        let mut text = format!(
            "# The outcomes under {seeds} seeds\n\n\
             {runs} runs of {SEEDS} seeds each, on the reduced range of n. Of {all} statements \
             {} came out as recorded in every run.\n",
            all - unstable
        );
        if unstable > 0 {
            text += "\n| statement | on record | confirmed | refuted | undecided |\n\
                     | :--- | :--- | ---: | ---: | ---: |\n";
        }
        for (id, [confirmed, refuted, undecided], recorded) in self.unstable() {
            let recorded = recorded.map_or("nothing", Outcome::name);
            // To write into a string cannot fail.
            _ = writeln!(text, "| {id} | {recorded} | {confirmed} | {refuted} | {undecided} |");
        }
        text + "\n<sub>`wheelhouse claims --stability RUNS --out DIR` writes this file.</sub>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_out_otherwise_once_is_unstable() {
        let outcomes = [
            ("C1.1".to_owned(), ([3, 0, 0], Some(Outcome::Confirmed))),
            ("C1.2".to_owned(), ([2, 0, 1], Some(Outcome::Confirmed))),
        ];
        let stability = Stability { runs: 3, outcomes: outcomes.into() };
        assert_eq!(stability.unstable().map(|it| it.0).collect::<Vec<_>>(), ["C1.2"]);
        let text = stability.markdown();
        assert!(
            text.contains("Of 2 statements 1 came out")
                && text.contains("| C1.2 | confirmed | 2 |")
        );
        let dir = std::env::temp_dir().join(format!("wheelhouse-stable-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        assert_eq!(read(&dir).unwrap(), None);
        fs::write(dir.join(MARKDOWN), &text).unwrap();
        let first = read(&dir).unwrap().unwrap();
        fs::remove_dir_all(&dir).unwrap();
        assert!(first.starts_with("3 runs of 5 seeds each") && first.ends_with("in every run."));
    }
}
