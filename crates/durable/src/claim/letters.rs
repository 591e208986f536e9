//! Removes dead letters that are too old or too many.

use super::Claimer;
use crate::commit::carry_out;
use crate::lease::Message;
use crate::observe::count;
use crate::store::{Change, Outcome, StoreError, Timestamp};
use crate::timers::Settings;

const LETTERS_IN_PAGE: usize = 16;

const REMOVED_AT_ONCE: usize = 256;

/// A look for dead letters to remove. Each step makes one call of the store, by the connection of
/// the claims: renewals and claims wait for one step at most, and no end of a run waits in the
/// committer's queue behind thousands of letters.
#[derive(Default)]
pub(super) enum Letters {
    #[default]
    None,
    /// When each letter that was read became one, and its generation.
    Read(Vec<(Timestamp, u64)>),
    /// The generations of the letters to remove, the oldest last.
    Remove(Vec<u64>),
}

impl Claimer {
    /// Begins a look, unless letters may be kept without limits, or an earlier look has not ended.
    pub(super) fn look_for_letters(&mut self) {
        let Settings { dead_for, most_dead, .. } = self.timers.shared().settings;
        let is_limited = dead_for.is_some() || most_dead.is_some();
        if is_limited && matches!(self.letters, Letters::None) {
            self.letters = Letters::Read(Vec::new());
            self.timers.shared().flight.tell(Message::Letters);
        }
    }

    /// Makes the next step. A look that fails is repeated within a minute.
    pub(super) fn step_letters(&mut self) {
        let letters = std::mem::take(&mut self.letters);
        let (next, shared) = (self.next_letters(letters), self.timers.shared());
        match next {
            Ok(Letters::None) => {}
            Ok(next) => {
                shared.flight.tell(Message::Letters);
                self.letters = next;
            }
            Err(error) => shared.reporter.report_failure(&error),
        }
    }

    fn next_letters(&self, letters: Letters) -> Result<Letters, StoreError> {
        let mut store = self.store.lock();
        match letters {
            Letters::None => unreachable!("a step is made during a look"),
            Letters::Read(mut read) => {
                let after = read.last().map(|(_, generation)| *generation);
                let page = store.dead(after, LETTERS_IN_PAGE)?;
                if page.is_empty() {
                    return Ok(Letters::Remove(self.surplus(read, store.now()?)));
                }
                read.extend(page.iter().map(|its| (its.at, its.job.generation)));
                Ok(Letters::Read(read))
            }
            Letters::Remove(mut rest) => {
                let some = rest.split_off(rest.len().saturating_sub(REMOVED_AT_ONCE));
                if some.is_empty() {
                    return Ok(Letters::None);
                }
                let forget = |generation| Change::Forget { generation };
                let changes: Vec<Change> = some.into_iter().map(forget).collect();
                let reporter = &self.timers.shared().reporter;
                let outcomes = carry_out(reporter, &mut **store, &changes)?;
                let done = outcomes.iter().filter(|outcome| **outcome == Outcome::Done);
                done.for_each(|_| count(&reporter.counters.others.counts.forgotten));
                Ok(Letters::Remove(rest))
            }
        }
    }

    /// Returns the generations of the letters that are too old or too many, the oldest last.
    fn surplus(&self, mut letters: Vec<(Timestamp, u64)>, now: Timestamp) -> Vec<u64> {
        let Settings { dead_for, most_dead, .. } = self.timers.shared().settings;
        letters.sort_unstable();
        let is_old = |at: Timestamp| dead_for.is_some_and(|time| at.saturating_add(time) <= now);
        let old = letters.iter().take_while(|(at, _)| is_old(*at)).count();
        let surplus = old.max(letters.len().saturating_sub(most_dead.unwrap_or(usize::MAX)));
        letters[..surplus].iter().rev().map(|(_, generation)| *generation).collect()
    }
}
