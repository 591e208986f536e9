//! Sessions with a time to live: opened, refreshed for a while, and left to expire.
//!
//! Sessions are opened one after another over half a time to live, and each is refreshed every half
//! time to live, in the same order, so the calls come at an even rate. A third of the sessions is
//! never refreshed, a third once, a third twice. Each must expire once, a time to live after the
//! *planned* moment of its last refresh.

use super::end_of_play::end_play;
use super::open_loop::{LEAD, Pace, Produced};
use super::prelude::*;

pub(super) const NOTES: &[&str] = &[
    "lateness: from a time to live after the planned last refresh until the session expired. over \
     100 ms: the number of sessions that were later than that.",
    "refused: refreshes that the facility reported as too late; overtaken: sessions that expired \
     before a refresh in the facility's queue was processed; producer: the lateness of its latest \
     call; CPU/job: processor time of all threads, for each session.",
];

/// The lateness that the article allows.
const ALLOWED: u64 = 100_000_000;

/// The most refreshes of a session.
const ROUNDS: u64 = 2;

/// Calls per second before the first sessions are left to expire.
pub(super) fn rate(load: &Load) -> u64 {
    (f64::from(load.sessions) / (load.ttl.as_secs_f64() / 2.0)).round() as u64
}

fn ttl(load: &Load) -> u64 {
    load.ttl.as_nanos() as u64
}

/// When a session is opened (round 0) or refreshed, in nanoseconds since the origin.
fn moment(load: &Load, session: u32, round: u64) -> u64 {
    let half = ttl(load) / 2;
    let offset = u128::from(half) * u128::from(session) / u128::from(load.sessions);
    round * half + offset as u64
}

/// How often a session is refreshed. Neighbours differ, so that expiries and refreshes mix.
fn refreshes(session: u32) -> u64 {
    u64::from(session) % (ROUNDS + 1)
}

pub(super) fn play<F: Facility>(facility: F, load: &Load) -> Result<Played> {
    let ledger = Ledger::new(Instant::now() + LEAD, load.sessions as usize);
    let begin = cpu_time();
    let (produced, too_late) = produce(&facility, load, &ledger);
    // No session is refreshed later than the last one could be.
    let last = ledger.moment(moment(load, load.sessions, ROUNDS) + ttl(load));
    let ended = end_play(facility, load, last, &produced.jobs, produced.faults)?;
    Ok(ended.and_then(|(checked, end)| {
        check_some_refresh_worked(&checked, &produced.jobs[0].ends)?;
        let Checked { lateness, ran_despite_request } = checked;
        let mut figures = vec![Figure::count("expired", lateness.len())];
        figures.extend(lateness.figures(&[P50, P99, P99_9]));
        figures.extend([
            Figure::count("over 100 ms", lateness.longer_than(ALLOWED)).worst(),
            Figure::count("refused", too_late).worst(),
            Figure::count("overtaken", ran_despite_request).worst(),
            Figure::time("producer", produced.late as f64).worst(),
        ]);
        figures.extend(cpu_figure("CPU/job", [begin, end], lateness.len()));
        Ok(figures)
    }))
}

/// Opens and refreshes the sessions. Also returns how many refreshes the facility reported as too
/// late.
fn produce<'a, F: Facility>(
    facility: &F,
    load: &Load,
    ledger: &'a Arc<Ledger>,
) -> (Produced<'a, F::Session>, u64) {
    let mut pace = Pace::new(ledger.moment(0));
    let all = load.sessions as usize;
    let (mut sessions, mut ends) = (Vec::with_capacity(all), Vec::with_capacity(all));
    let (mut refused, mut too_late) = (0, 0);
    for number in 0..load.sessions {
        let at = moment(load, number, 0);
        pace.wait_for(at);
        let session = facility.open(ledger.moment(at + ttl(load)), ledger.job(number));
        refused += u64::from(session.is_none());
        sessions.push(session);
        ends.push(Expected::Runs(at + ttl(load)));
    }
    for round in 1..=ROUNDS {
        for number in (0..load.sessions).filter(|number| refreshes(*number) >= round) {
            let at = moment(load, number, round);
            pace.wait_for(at);
            let Some(session) = &sessions[number as usize] else { continue };
            let answer = facility.refresh(session, ledger.moment(at + ttl(load)));
            too_late += u64::from(answer == Answer::TooLate);
            let end = &mut ends[number as usize];
            *end = refreshed(*end, answer, at + ttl(load));
        }
    }
    let faults = Faults { refused, ..Faults::default() };
    let jobs = [Expectations { ledger, ends }];
    (Produced { jobs, _handles: sessions, late: pace.latest, faults }, too_late)
}

/// The expected end of a session after a refresh.
fn refreshed(end: Expected, answer: Answer, due: u64) -> Expected {
    let (Expected::Runs(before) | Expected::MaybeRefreshed { earliest: before, .. }) = end else {
        return end;
    };
    match answer {
        Answer::Done => Expected::Runs(due),
        Answer::TooLate => end,
        // A refresh that was sent in time may be processed too late if the queue is long. That is
        // overload and is only counted, since no promise is broken.
        Answer::Sent => Expected::MaybeRefreshed { due, earliest: before },
    }
}

/// A facility that does not report the result of a refresh must have carried out at least one.
/// Otherwise it could ignore all of them.
fn check_some_refresh_worked(checked: &Checked, ends: &[Expected]) -> Result<(), String> {
    let is_unreported = |end: &&Expected| matches!(end, Expected::MaybeRefreshed { .. });
    let unreported = ends.iter().filter(is_unreported).count() as u64;
    if unreported > 0 && checked.ran_despite_request == unreported {
        return Err(format!("of {unreported} sessions that were refreshed, none was kept"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_an_even_rate_in_all_rounds() {
        let load = Load { sessions: 100, ..Load::tiny() };
        let calls = (0..=ROUNDS).flat_map(|round| (0..100).map(move |n| (n, round)));
        let moments: Vec<_> = calls.map(|(n, round)| moment(&load, n, round)).collect();
        let mut steps = moments.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(steps.all(|step| step == 1_000_000), "100 in half of 200 ms");
        assert_eq!(rate(&load), 1_000);
        assert_eq!((0..6).map(refreshes).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn only_a_reported_refresh_moves_the_expected_end() {
        let open = Expected::Runs(100);
        assert_eq!(refreshed(open, Answer::Done, 200), Expected::Runs(200));
        assert_eq!(refreshed(open, Answer::TooLate, 200), open);
        let unsure = refreshed(open, Answer::Sent, 200);
        assert_eq!(unsure, Expected::MaybeRefreshed { due: 200, earliest: 100 });
        let twice = refreshed(unsure, Answer::Sent, 300);
        assert_eq!(twice, Expected::MaybeRefreshed { due: 300, earliest: 100 });
    }
}
