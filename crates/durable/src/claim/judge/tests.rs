use super::*;
use crate::store::{Key, State};

const HOUR: u64 = 3_600_000;

fn job(policy: &str, due: u64, attempt: u32) -> Entry {
    let due = Timestamp::from_millis(due);
    Entry {
        key: Key::new("k").unwrap(),
        kind: "work/1".into(),
        payload: Vec::new(),
        policy: policy.to_owned(),
        due,
        visible_at: due,
        generation: 1,
        occurrence: 7,
        attempt,
        state: State::Pending,
    }
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
        assert_eq!((run.again, run.missed, run.is_periodic), (None, 0, false), "{policy} {late}");
    }
    assert!(matches!(judged("late=within:500", 501), Err(End::Dead(why)) if why.contains("late")));
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

/// Lines are stored in a form that every version reads alike. A line that an older version stored
/// keeps its meaning, even if this version would refuse it or read it differently.
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
