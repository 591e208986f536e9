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

fn judged(policy: &str, late: u64) -> Verdict {
    judge(&job(policy, 1_000, 1), Timestamp::from_millis(1_000 + late), 20)
}

fn again(due: u64, occurrence: u64) -> Option<Again> {
    Some(Again { when: When::At(Timestamp::from_millis(due)), occurrence })
}

#[test]
fn a_plain_job_runs_however_late() {
    let run = Verdict::Run { again: None, missed: 0, is_periodic: false };
    assert_eq!((judged("", 0), judged("", 1_000 * HOUR)), (run.clone(), run));
}

#[test]
fn late_ones_are_judged_by_their_policy() {
    let run = Verdict::Run { again: None, missed: 0, is_periodic: false };
    assert_eq!(judged("late=within:500", 500), run);
    assert!(matches!(judged("late=within:500", 501), Verdict::Bury(why) if why.contains("late")));
    assert_eq!(judged("late=skip:500", 500), run);
    assert_eq!(judged("late=skip:500", 501), Verdict::Skip { again: None, why: None });
    assert_eq!(judged("expires=1500", 499), run);
    assert_eq!(judged("expires=1500", 500), Verdict::Bury("expired".into()));
}

#[test]
fn what_was_claimed_too_often_is_poison() {
    let attempt =
        |policy, attempt| judge(&job(policy, 1_000, attempt), Timestamp::from_millis(1_000), 20);
    assert!(matches!(attempt("", 20), Verdict::Run { .. }));
    assert!(matches!(attempt("", 21), Verdict::Bury(why) if why.contains("20 attempts")));
    assert!(matches!(attempt("attempts=1", 2), Verdict::Bury(_)));
    assert!(matches!(attempt("attempts=30", 21), Verdict::Run { .. }));
    let Verdict::Skip { again: next, why: Some(_) } = attempt("every=50", 21) else {
        panic!("a periodic job continues with the next")
    };
    assert_eq!(next, again(1_050, 8));
}

#[test]
fn a_late_periodic_run_stands_for_those_it_missed() {
    let run = |again, missed| Verdict::Run { again, missed, is_periodic: true };
    assert_eq!(judged("every=100", 0), run(again(1_100, 8), 0));
    assert_eq!(judged("every=100", 99), run(again(1_100, 8), 0));
    assert_eq!(judged("every=100", 100), run(again(1_200, 9), 1));
    assert_eq!(judged("every=100", 550), run(again(1_600, 13), 5));
    assert_eq!(judged("missed=burst;every=100", 550), run(again(1_100, 8), 0));
    assert_eq!(
        judged("late=skip:50;every=100", 550),
        Verdict::Skip { again: again(1_600, 13), why: None }
    );
    assert_eq!(judged("expires=1150;every=100", 120), run(None, 1), "no occurrence after its end");
}

#[test]
fn a_newer_policy_is_left_alone() {
    assert_eq!(judged("colour=blue", 0), Verdict::NotUnderstood);
    assert_eq!(judged("zone=Nowhere/Town;cron=* * * * *", 0), Verdict::NotUnderstood);
}

#[cfg(feature = "cron")]
#[test]
fn cron_lines_are_worked_out_from_what_was_due() {
    let run = |again, missed| Verdict::Run { again, missed, is_periodic: true };
    let hourly = "zone=UTC;cron=0 * * * *";
    let judged = |late| judge(&job(hourly, HOUR, 1), Timestamp::from_millis(HOUR + late), 20);
    assert_eq!(judged(0), run(again(2 * HOUR, 8), 0));
    assert_eq!(judged(3 * HOUR), run(again(5 * HOUR, 11), 3));
    // The seconds of a century are not computed one by one.
    let secondly = job("zone=UTC;cron=* * * * * *", 1_000, 1);
    let century = Timestamp::from_millis(100 * 365 * 24 * HOUR);
    let Verdict::Run { again: Some(next), missed, .. } = judge(&secondly, century, 20) else {
        panic!("it runs")
    };
    assert_eq!(missed, MOST_MISSED);
    assert_eq!(next.when, When::At(century.saturating_add(Duration::from_secs(1))));
}

/// Lines are stored in a form that every version reads alike. A line that an older version stored
/// keeps its meaning, even if this version would refuse it or read it differently.
#[cfg(feature = "cron")]
#[test]
fn stored_cron_lines_keep_their_meaning() {
    // Thursday, 1970-01-01, and the days after it.
    let next = |line: &str| {
        let job = job(&format!("zone=UTC;cron={line}"), 0, 1);
        let Verdict::Run { again: Some(next), .. } = judge(&job, Timestamp::from_millis(0), 20)
        else {
            panic!("{line}: {:?}", judge(&job, Timestamp::from_millis(0), 20))
        };
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
    assert_eq!(judged("zone=UTC;cron=0 25 * * *", 0), Verdict::NotUnderstood);
}
