//! A session store: a session is removed when it was not used for its time to live. Each use
//! postpones that.
//!
//! On a manual clock, so an hour of half a million sessions takes seconds, and the moment at which
//! each must be gone is known exactly. A server uses a `Service` instead of the scheduler. The
//! store stays the same.
//!
//! ```sh
//! cargo run --release -p wheelhouse-service --example session_store
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wheelhouse_service::{Handle, ManualClock, Moment, Scheduler};

/// A session, and the job that ends it.
struct Session {
    user: u64,
    /// The number of the job, which is unique. The token is free for another session as soon as the
    /// last run of the job has begun, which is before its closure has removed the session. So the
    /// closure compares the number, to leave the successor alone.
    job: u64,
}

type Sessions = Mutex<HashMap<String, Session>>;

fn lock(sessions: &Sessions) -> MutexGuard<'_, HashMap<String, Session>> {
    sessions.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a session if this job is still the one that ends it. Returns `true` if it was.
fn forget(sessions: &Sessions, token: &str, job: u64) -> bool {
    let mut sessions = lock(sessions);
    let is_its = sessions.get(token).is_some_and(|session| session.job == job);
    is_its && sessions.remove(token).is_some()
}

/// Sessions by token. Each contains the number of a user.
pub(crate) struct SessionStore {
    timers: Handle,
    sessions: Arc<Sessions>,
}

impl SessionStore {
    pub(crate) fn new(timers: Handle) -> Self {
        Self { timers, sessions: Arc::default() }
    }

    /// Begins a session. An error if a session has this token.
    pub(crate) fn begin(
        &self,
        token: &str,
        user: u64,
        time_to_live: Duration,
    ) -> Result<(), Box<dyn Error>> {
        let mut sessions = lock(&self.sessions);
        let (store, expired) = (Arc::clone(&self.sessions), token.to_owned());
        let job = self.timers.after(time_to_live).key(token).run(move |run| {
            forget(&store, &expired, run.job().number());
        })?;
        // This replaces a former session whose closure has not run yet. The lock is held since
        // before the job was scheduled, so the closure of the new job finds the new session.
        sessions.insert(token.to_owned(), Session { user, job: job.number() });
        Ok(())
    }

    /// Postpones the end of a session. Returns `false` if it has expired: then it is gone, or will
    /// be at any moment. `true` is a promise: it lives for `time_to_live` from now.
    pub(crate) fn touch(&self, token: &str, time_to_live: Duration) -> bool {
        self.timers.refresh(token, time_to_live).is_ok()
    }

    /// Ends a session. Returns `false` if it had expired.
    pub(crate) fn end(&self, token: &str) -> bool {
        // Between the two calls, another thread may begin a session with this token.
        self.timers.cancel(token).is_ok_and(|job| {
            forget(&self.sessions, token, job.handle().number());
            true
        })
    }

    /// The user of a session.
    pub(crate) fn user(&self, token: &str) -> Option<u64> {
        lock(&self.sessions).get(token).map(|session| session.user)
    }

    /// The number of sessions.
    pub(crate) fn len(&self) -> usize {
        lock(&self.sessions).len()
    }
}

/// A number of sessions of 30 minutes begin within a minute. Then every tenth is used once a
/// minute, every tenth logs out, and the others are not used. Returns how many are left after 29,
/// 31 and 89 minutes.
pub(crate) fn an_hour_of(sessions: u64) -> Result<Vec<usize>, Box<dyn Error>> {
    let clock = ManualClock::new();
    let mut scheduler =
        Scheduler::builder().clock(clock.clone()).max_jobs(sessions as usize).build()?;
    let store = SessionStore::new(scheduler.handle());
    let time_to_live = Duration::from_secs(30 * 60);
    let token = |n: u64| format!("session {n}");

    for n in 0..sessions {
        clock.set(Moment::from_nanos(n * 60_000_000_000 / sessions));
        store.begin(&token(n), n, time_to_live)?;
    }
    let mut left = Vec::new();
    for minute in 1..=89 {
        scheduler.play(&clock, Moment::from_nanos(minute * 60_000_000_000));
        if minute < 60 {
            assert!(
                (0..sessions).step_by(10).all(|n| store.touch(&token(n), time_to_live)),
                "none of these expires"
            );
        }
        assert_eq!(store.user(&token(0)), (minute < 89).then_some(0));
        match minute {
            2 => assert!((1..sessions).step_by(10).all(|n| store.end(&token(n)))),
            29 | 31 | 89 => left.push(store.len()),
            _ => {}
        }
    }
    let snapshot = scheduler.handle().snapshot();
    assert!(snapshot.lateness.max <= Duration::from_millis(1), "none is more than a tick late");
    println!(
        "{} expiries, {} refreshes, {} polls",
        snapshot.counts.runs, snapshot.counts.rescheduled, snapshot.counts.polls
    );
    Ok(left)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let sessions = std::env::args().nth(1).map_or(Ok(500_000), |number| number.parse())?;
    println!("{sessions} sessions: {:?} after 29, 31 and 89 minutes", an_hour_of(sessions)?);
    Ok(())
}
