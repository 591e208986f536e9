//! Decides whether a claimed job runs, by its policy and the store's clock. This happens when a
//! worker is free for it, before its handler is called.

use super::ended::End;
use crate::handlers::Occurrence;
use crate::plan::{CronRule, Late, Missed, Policy, Repeat};
use crate::store::{Again, Entry, Timestamp, When};
use std::time::Duration;

/// The most missed occurrences of a cron line that are counted, since each must be computed.
const MOST_MISSED: u64 = 10_000;

/// The shortest and the longest time that a job waits if its policy is not understood.
pub(super) const NOT_UNDERSTOOD: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// Returns the occurrence to run, or the end of the job. `policy` is `None` if it has a part that
/// this program does not know.
pub(super) fn judge(
    job: &Entry,
    policy: Option<&Policy>,
    now: Timestamp,
    max_attempts: u32,
) -> Result<Occurrence, End> {
    let late = now.saturating_since(job.due);
    // The wait doubles the lateness: a newer program can run the job soon, and a job that no
    // program understands is claimed less and less often.
    let [shortest, longest] = NOT_UNDERSTOOD;
    let not_understood = || End::NotUnderstood(late.clamp(shortest, longest));
    let policy = policy.ok_or_else(not_understood)?;
    let (again, missed) = next_occurrence(policy, job, now).ok_or_else(not_understood)?;
    let is_periodic = policy.repeat.is_some();
    let give_up = |why| if is_periodic { End::GaveUp(why, again) } else { End::Dead(why) };
    match policy.late {
        Late::Skip(longest) if late > longest => Err(End::Skipped(again)),
        Late::Within(longest) if late > longest => {
            Err(give_up(format!("{late:?} late, at most {longest:?} are allowed")))
        }
        _ if policy.expires.is_some_and(|expires| expires <= now) => Err(match is_periodic {
            true => End::Skipped(None),
            false => End::Dead("expired".to_owned()),
        }),
        _ if job.attempt > max_attempts => Err(give_up(format!(
            "{max_attempts} attempts, and the last did not end: its process was killed, or it lost \
             its lease"
        ))),
        _ => Ok(Occurrence { again, missed, is_periodic, now }),
    }
}

/// Returns the occurrence after this one, and the number of occurrences skipped before it. `None`
/// if the rule cannot be understood.
fn next_occurrence(policy: &Policy, job: &Entry, now: Timestamp) -> Option<(Option<Again>, u64)> {
    let (due, missed) = match &policy.repeat {
        None => return Some((None, 0)),
        Some(Repeat::Every(period)) => {
            let late = now.as_millis().saturating_sub(job.due.as_millis());
            let missed = if policy.missed == Missed::Once { late / period } else { 0 };
            let after = (missed + 1).saturating_mul(*period);
            (Some(job.due.saturating_add(Duration::from_millis(after))), missed)
        }
        Some(Repeat::Cron { line, zone }) => {
            let mut rule = CronRule::stored(line, zone)?;
            let (mut next, mut missed) = (rule.next(job.due), 0);
            while policy.missed == Missed::Once && missed < MOST_MISSED {
                let Some(past) = next.filter(|next| *next <= now) else { break };
                next = rule.next(past);
                missed += 1;
            }
            if missed == MOST_MISSED {
                next = rule.next(now);
            }
            (next, missed)
        }
    };
    let due = due.filter(|due| policy.expires.is_none_or(|expires| *due < expires));
    let occurrence = job.occurrence + missed + 1;
    Some((due.map(|due| Again { when: When::At(due), occurrence }), missed))
}

#[cfg(test)]
mod tests;
