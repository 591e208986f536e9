//! `wheelhouse durable retry` and `forget`: turn dead letters into jobs again, or delete them.

use super::Letters;
use super::dump::letter_line;
use super::place::{Opened, commit};
use anyhow::Result;
use std::time::Duration;
use wheelhouse_durable::store::{Change, Dead, Outcome, When};
use wheelhouse_present::console::{print, say};

pub(super) fn retry(asked: &Letters) -> Result<bool> {
    let (letters, mut good) = find(asked)?;
    let when = When::After(Duration::ZERO);
    let outcomes = commit_all(asked, &letters, |generation| Change::Revive { generation, when })?;
    for (Dead { job, .. }, outcome) in letters.iter().zip(outcomes) {
        let (key, kind, generation) = (&job.key, &job.kind, job.generation);
        match outcome {
            Outcome::Done => say(format_args!("{generation}: {key} ({kind}) is due now")),
            Outcome::Duplicate => {
                say(format_args!(
                    "error: {generation}: a newer job has the key {key}; wait for its end, cancel \
                     it, or forget this letter"
                ));
                good = false;
            }
            _ => good = gone(generation),
        }
    }
    Ok(good)
}

pub(super) fn forget(asked: &Letters) -> Result<bool> {
    let (letters, mut good) = find(asked)?;
    // Printed before they are deleted, so that nothing is lost if printing fails.
    letters.iter().try_for_each(|letter| print(letter_line(letter)))?;
    let outcomes = commit_all(asked, &letters, |generation| Change::Forget { generation })?;
    for (letter, outcome) in letters.iter().zip(outcomes) {
        if outcome != Outcome::Done {
            good = gone(letter.job.generation);
        }
    }
    Ok(good)
}

/// The letters that were found; `true` if all were.
fn find(asked: &Letters) -> Result<(Vec<Dead>, bool)> {
    let mut opened = Opened::to_read(&asked.place)?;
    let mut letters = Vec::new();
    let mut good = true;
    for generation in &asked.generations {
        match opened.letter(*generation)? {
            Some(letter) => letters.push(letter),
            None => good = gone(*generation),
        }
    }
    Ok((letters, good))
}

/// Makes a change for each letter, all in one commit. Without letters the store is not opened.
fn commit_all(
    asked: &Letters,
    letters: &[Dead],
    change: impl Fn(u64) -> Change,
) -> Result<Vec<Outcome>> {
    let changes: Vec<Change> = letters.iter().map(|its| change(its.job.generation)).collect();
    if changes.is_empty() { Ok(Vec::new()) } else { commit(&asked.place, &changes) }
}

/// Prints that there is no such letter, and returns `false`.
fn gone(generation: u64) -> bool {
    say(format_args!(
        "error: there is no dead letter {generation}: `wheelhouse durable dump --dead` lists them"
    ));
    false
}
