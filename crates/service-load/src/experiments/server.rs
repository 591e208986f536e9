//! The timers of a server: an idle timeout for each connection, moved whenever something arrives on
//! it, and a timeout for each request, cancelled by the answer.
//!
//! One producer makes all calls, at an even rate: refreshes of random connections, and requests.
//! Nearly all requests are answered within a tenth of a second. Idle timeouts are half a minute, so
//! none expires during the play. To find a refresh that does nothing, connections are opened with a
//! near deadline and moved once, and the play begins after that deadline.

use super::end_of_play::{time_for, wait_for_runs, with_enough_time};
use super::open_loop::{LEAD, Plan, produce};
use super::prelude::*;
use super::refresh::Refresher;

pub(super) const NOTES: &[&str] = &[
    "processors: processor time of all threads, including the one that makes the calls, for each \
     second of the plan; includes the time until the facility had processed all calls.",
    "timeouts: requests without an answer; p50, p99, max: how long after its time a timeout ran; \
     producer: the lateness of its latest call.",
];

/// How often each connection is refreshed per second, on average.
pub(super) const REFRESHES: u32 = 5;

/// The idle timeout of a connection.
const IDLE: Duration = Duration::from_secs(30);

/// The time between the first deadline of the connections and the play. In this time a facility
/// with a coarse tick also runs what is due.
const CHECKED: Duration = Duration::from_millis(20);

/// The timeout of a request, and the range of delays of the answer, in nanoseconds.
const TIMEOUT: u64 = 1_000_000_000;
const ANSWERED: std::ops::RangeInclusive<u64> = 1_000_000..=100_000_000;

/// One request in this many has no answer.
pub(super) const UNANSWERED_EACH: usize = 100;

fn requests(load: &Load) -> Plan {
    let mut random = Pcg64Mcg::seed_from_u64(load.seed);
    let all = load.fires_at(load.request_rate) as usize;
    let due = |request: usize| {
        TIMEOUT + (request as u128 * 1_000_000_000 / u128::from(load.request_rate)) as u64
    };
    let unanswered = (0..all).step_by(UNANSWERED_EACH);
    let run = unanswered.len();
    let answered = (0..all).filter(|request| request % UNANSWERED_EACH != 0);
    let due = unanswered.chain(answered).map(due).collect();
    Plan::new(due, run, |due| (due - TIMEOUT, due - TIMEOUT + random.random_range(ANSWERED)))
}

/// The connections, and the progress of their refreshes.
struct Connections<'a, F: Facility> {
    facility: &'a F,
    producer: Refresher<F>,
    random: Pcg64Mcg,
    origin: Instant,
    /// Planned refreshes, and those made so far.
    planned: u64,
    made: u64,
    rate: u64,
}

impl<'a, F: Facility> Connections<'a, F> {
    fn new(facility: &'a F, producer: Refresher<F>, load: &Load, origin: Instant) -> Self {
        let random = Pcg64Mcg::seed_from_u64(load.seed);
        let rate = load.connections * REFRESHES;
        let planned = load.fires_at(rate);
        Self { facility, producer, random, origin, planned, made: 0, rate: rate.into() }
    }

    /// When the next refresh is to be made, in nanoseconds since the origin.
    fn next(&self) -> u64 {
        self.made * 1_000_000_000 / self.rate
    }

    /// Makes the refreshes that are planned up to this moment.
    fn refresh_until(&mut self, at: u64) {
        while self.made < self.planned && self.next() <= at {
            let number = self.random.random_range(0..self.producer.sessions.len());
            let due = self.origin + Duration::from_nanos(self.next()) + IDLE;
            let answer = self.facility.refresh(&self.producer.sessions[number], due);
            self.producer.too_late += u64::from(answer == Answer::TooLate);
            self.made += 1;
        }
    }
}

pub(super) fn play<F: Facility>(start: &dyn Fn() -> Result<F>, load: &Load) -> Result<Played> {
    let what = format!("{} connections could not be opened and moved", load.connections);
    with_enough_time(&what, time_for(load.connections), |near| attempt(start()?, load, near))
}

/// One play with connections that are opened with this deadline. Returns `None` if it was too
/// close.
fn attempt<F: Facility>(facility: F, load: &Load, near: Duration) -> Result<Option<Played>> {
    let all = load.connections as usize;
    let due = Instant::now() + near;
    let ledger = Ledger::new(Instant::now(), all);
    let producer = Refresher::open(&facility, &ledger, 0..load.connections, due);
    let refused = all - producer.sessions.len();
    if refused > 0 {
        facility.stop();
        return Ok(Some(Err(format!("{refused} connections were refused"))));
    }
    // The end time is now, so each connection is moved exactly once.
    let producer = producer.refresh(&facility, Instant::now(), IDLE);
    facility.settle(all)?;
    if Instant::now() >= due {
        facility.stop();
        return Ok(None);
    }
    thread::sleep(due + CHECKED - Instant::now());
    facility.settle(all)?;
    serve(facility, load, &ledger, producer).map(Some)
}

/// The play itself, after all connections were opened.
fn serve<F: Facility>(
    facility: F,
    load: &Load,
    connection_ledger: &Arc<Ledger>,
    producer: Refresher<F>,
) -> Result<Played> {
    let plan = requests(load);
    let ledger = Ledger::new(Instant::now() + LEAD, plan.due.len());
    let mut connections = Connections::new(&facility, producer, load, ledger.moment(0));
    let begin = cpu_time();
    let produced = produce(&facility, &plan, &ledger, |at| connections.refresh_until(at));
    connections.refresh_until(u64::MAX); // what is left after the last request
    facility.settle(connection_ledger.len() + plan.run)?;
    let used = cpu_time().zip(begin).and_then(|(end, begin)| end.checked_sub(begin));
    debug_assert_eq!(connections.made, connections.planned);
    wait_for_runs(&produced.jobs, ledger.moment(plan.last), load.patience);
    facility.settle(connection_ledger.len())?;
    let mut faults = Faults { too_late: connections.producer.too_late, ..produced.faults };
    faults.count(&facility, &[(connection_ledger, connection_ledger.len()), (&ledger, 0)])?;
    drop(connections);
    facility.stop();
    faults.ran = connection_ledger.runs();
    Ok(faults.check(&produced.jobs).map(|Checked { lateness, ran_despite_request }| {
        let processors = used.map(|used| used.div_duration_f64(load.fires_time));
        let mut figures: Vec<_> =
            processors.map(|it| Figure::number("processors", it)).into_iter().collect();
        figures.push(Figure::count("timeouts", lateness.len()));
        figures.extend(lateness.figures(&[P50, P99]));
        figures.push(Figure::count("cancelled, ran", ran_despite_request).worst());
        figures.push(Figure::time("producer", produced.late as f64).worst());
        figures
    }))
}

#[cfg(test)]
mod tests {
    use super::super::open_loop::Event;
    use super::*;
    use crate::facilities::HeapAndCondvar;

    #[test]
    fn requests_have_an_even_rate_and_one_in_a_hundred_has_no_answer() {
        let load = Load { request_rate: 1_000, ..Load::tiny() };
        let plan = requests(&load);
        assert_eq!((plan.run, plan.due.len()), (1, 100));
        let mut due = plan.due.clone();
        due.sort_unstable();
        assert!(due.windows(2).all(|pair| pair[1] - pair[0] == 1_000_000), "{due:?}");
        let (answers, requests): (Vec<Event>, Vec<Event>) =
            plan.events.iter().partition(|event| event.cancels);
        assert_eq!((requests.len(), answers.len()), (100, 99));
        for event in requests {
            assert_eq!(event.at, plan.due[event.number as usize] - TIMEOUT);
        }
        for event in answers {
            let after = event.at + TIMEOUT - plan.due[event.number as usize];
            assert!(ANSWERED.contains(&after), "{after}");
        }
    }

    #[test]
    fn refreshes_are_made_up_to_a_moment_and_no_more_than_planned() {
        let load = Load { connections: 200, ..Load::tiny() };
        let (origin, facility) = (Instant::now(), HeapAndCondvar::start().unwrap());
        let ledger = Ledger::new(origin, 200);
        let producer = Refresher::open(&facility, &ledger, 0..200, origin + IDLE);
        let mut connections = Connections::new(&facility, producer, &load, origin);
        // A thousand a second, for a tenth of a second.
        let made = [0, 999_999, 5_000_000, 98_000_000, 99_000_000, u64::MAX].map(|at| {
            connections.refresh_until(at);
            connections.made
        });
        assert_eq!(made, [1, 1, 6, 99, 100, 100]);
        assert_eq!(connections.producer.too_late, 0);
        drop(connections);
        facility.stop();
    }
}
