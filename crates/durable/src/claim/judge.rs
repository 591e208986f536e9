//! Decides whether a claimed job runs, by its policy and the store's clock. This happens when a
//! worker is free for it, before its handler is called.

use super::work::End;
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
mod tests {
    use super::*;
    use crate::store::rules::Row;
    use crate::store::{Key, State};

    const HOUR: u64 = 3_600_000;

    fn job(policy: &str, due: u64, attempt: u32) -> Entry {
        let (due, state) = (Timestamp::from_millis(due), State::Pending);
        let row = Row { due, visible_at: due, generation: 1, occurrence: 7, attempt, state };
        row.of(Key::new("k").unwrap(), "work/1".into(), Vec::new(), policy.to_owned())
    }

    fn judge_at(job: &Entry, now: u64) -> Result<Occurrence, End> {
        judge(job, Policy::from_text(&job.policy).as_ref(), Timestamp::from_millis(now), 20)
    }

    fn judged(policy: &str, late: u64) -> Result<Occurrence, End> {
        judge_at(&job(policy, 1_000, 1), 1_000 + late)
    }

    fn again(due: u64, occurrence: u64) -> Option<Again> {
        Some(Again { when: When::At(Timestamp::from_millis(due)), occurrence })
    }

    /// The run of a periodic job at this time.
    fn run(now: u64, again: Option<Again>, missed: u64) -> Result<Occurrence, End> {
        Ok(Occurrence { again, missed, is_periodic: true, now: Timestamp::from_millis(now) })
    }

    #[test]
    fn late_ones_are_judged_by_their_policy() {
        for (policy, late) in [
            ("", 0),
            ("", 1_000 * HOUR),
            ("late=within:500", 500),
            ("late=skip:500", 500),
            ("expires=1500", 499),
        ] {
            let run = judged(policy, late).unwrap();
            assert_eq!(
                (run.again, run.missed, run.is_periodic),
                (None, 0, false),
                "{policy} {late}"
            );
        }
        assert!(
            matches!(judged("late=within:500", 501), Err(End::Dead(why)) if why.contains("late"))
        );
        assert_eq!(judged("late=skip:500", 501), Err(End::Skipped(None)));
        assert_eq!(judged("expires=1500", 500), Err(End::Dead("expired".into())));
    }

    #[test]
    fn what_was_claimed_too_often_is_poison() {
        let attempt = |policy, attempt| judge_at(&job(policy, 1_000, attempt), 1_000);
        assert!(attempt("", 20).is_ok());
        assert!(matches!(attempt("", 21), Err(End::Dead(why)) if why.contains("20 attempts")));
        let next = attempt("every=50", 21);
        assert!(matches!(next, Err(End::GaveUp(_, next)) if next == again(1_050, 8)), "{next:?}");
    }

    #[test]
    fn a_late_periodic_run_stands_for_those_it_missed() {
        for (policy, late, next, missed) in [
            ("every=100", 0, again(1_100, 8), 0),
            ("every=100", 99, again(1_100, 8), 0),
            ("every=100", 100, again(1_200, 9), 1),
            ("every=100", 550, again(1_600, 13), 5),
            ("missed=burst;every=100", 550, again(1_100, 8), 0),
            // No occurrence at its end or later.
            ("expires=1200;every=100", 120, None, 1),
        ] {
            assert_eq!(judged(policy, late), run(1_000 + late, next, missed), "{policy} {late}");
        }
        assert_eq!(judged("late=skip:50;every=100", 550), Err(End::Skipped(again(1_600, 13))));
        assert_eq!(judged("expires=1500;every=1000", 500), Err(End::Skipped(None)));
        let late = judged("late=within:50;every=100", 550);
        assert!(matches!(late, Err(End::GaveUp(_, next)) if next == again(1_600, 13)), "{late:?}");
    }

    #[test]
    fn a_newer_policy_is_left_alone() {
        for policy in ["colour=blue", "zone=Nowhere/Town;cron=* * * * *"] {
            for (late, wait) in [(0, 1_000), (1_000, 1_000), (4_000, 4_000), (HOUR, 60_000)] {
                let released = End::NotUnderstood(Duration::from_millis(wait));
                assert_eq!(judged(policy, late), Err(released), "{policy} {late}");
            }
        }
    }

    #[cfg(feature = "cron")]
    #[test]
    fn cron_lines_are_worked_out_from_what_was_due() {
        let hourly = job("zone=UTC;cron=0 * * * *", HOUR, 1);
        assert_eq!(judge_at(&hourly, HOUR), run(HOUR, again(2 * HOUR, 8), 0));
        assert_eq!(judge_at(&hourly, 4 * HOUR), run(4 * HOUR, again(5 * HOUR, 11), 3));
        // The seconds of a century are not computed one by one.
        let secondly = job("zone=UTC;cron=* * * * * *", 1_000, 1);
        let century = 100 * 365 * 24 * HOUR;
        let next = again(century + 1_000, 7 + MOST_MISSED + 1);
        assert_eq!(judge_at(&secondly, century), run(century, next, MOST_MISSED));
    }

    /// Lines are stored in a form that every version reads alike. A line that an older version
    /// stored keeps its meaning, even if this version would refuse it or read it differently.
    #[cfg(feature = "cron")]
    #[test]
    fn stored_cron_lines_keep_their_meaning() {
        // Thursday, 1970-01-01, and the days after it.
        let next = |line: &str| {
            let run = judge_at(&job(&format!("zone=UTC;cron={line}"), 0, 1), 0);
            let next = run.unwrap_or_else(|end| panic!("{line}: {end:?}")).again.unwrap();
            let When::At(due) = next.when else { panic!("a time") };
            due.as_millis() / HOUR
        };
        // As older versions stored them: each second day or Monday, hour 1, minute 0.
        assert_eq!(next("0 0 */2 * MON"), 2 * 24);
        assert_eq!(next("0 MON * * *"), 1);
        assert_eq!(next("*/90 * * * *"), 1);
        for (line, plain, hours) in [
            ("0 0 */2 * MON", "0 0 */2 * +MON", 4 * 24),
            ("0 22-23 * * Saturday-Monday  # nights", "0 22-23 * * 6-6,0-1", 2 * 24 + 22),
            ("@midnight", "@daily", 24),
            ("0 9 * * MON-FRI", "0 9 * * MON-FRI", 9),
        ] {
            let rule = CronRule::new(line, "UTC").unwrap();
            assert_eq!((rule.plain(), next(rule.plain())), (plain, hours), "{line}");
        }
        let released = Err(End::NotUnderstood(Duration::from_secs(1)));
        assert_eq!(judged("zone=UTC;cron=0 25 * * *", 0), released);
    }
}
