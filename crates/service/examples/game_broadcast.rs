//! A game tells its players that a base is attacked. The article on alex023/clock measures its
//! timers this way: half a million tasks are pending, some due in seconds and some in weeks, and
//! clients receive the news of a task within 100 ms.
//!
//! An army marches on the northern base and arrives at a known moment; then each player receives
//! the news in the mailbox of their connection. Each player has a separate job, so the news for a
//! player who logs out can be cancelled, and the lateness that the service records is that of each
//! player's news. (If neither is needed, a single job for all players costs less.)
//!
//! ```sh
//! cargo run --release -p wheelhouse-service --example game_broadcast
//! ```

use std::error::Error;
use std::time::Duration;
use wheelhouse_service::crossbeam_channel::{Receiver, Sender, bounded};
use wheelhouse_service::{Handle, JobHandle, Moment, Service, Stop};

/// The limit in the article.
pub(crate) const LIMIT: Duration = Duration::from_millis(100);
/// The time from the order to the attack.
const MARCH: Duration = Duration::from_millis(500);
/// Longer than anything here can take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A message to a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct News(&'static str);

/// A player who is logged in. The channel is bounded, so a connection that hangs does not fill the
/// memory; the service waits for no receiver, and reports messages that it could not send.
pub(crate) struct Player {
    mailbox: Sender<News>,
    connection: Receiver<News>,
}

impl Player {
    fn log_in() -> Self {
        let (mailbox, connection) = bounded(4);
        Self { mailbox, connection }
    }
}

/// How a broadcast went.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Players who received it, once each.
    pub(crate) told: usize,
    /// Players who had logged out and received nothing.
    pub(crate) spared: usize,
    /// The median of the delays after the event.
    pub(crate) median: Duration,
    /// From the event to the last player's mailbox.
    pub(crate) last: Duration,
}

/// Schedules a message to each player. The handles are in the order of the players.
fn announce(
    timers: &Handle,
    at: Moment,
    news: News,
    players: &[Player],
) -> Result<Vec<JobHandle>, Box<dyn Error>> {
    let job = |player: &Player| timers.at(at).named(news.0).send(&player.mailbox, news);
    Ok(players.iter().map(job).collect::<Result<_, _>>()?)
}

/// A broadcast to a number of players, in a service that has a number of other tasks.
pub(crate) fn broadcast(players: usize, others: usize) -> Result<Outcome, Box<dyn Error>> {
    let service = Service::builder().max_jobs(players + others).start()?;
    let timers = service.handle();
    for n in 0..others {
        // Most in two hours, a few in weeks: buildings, harvests, the end of a season.
        let hours = if n % 100 == 0 { 24 * 21 } else { 2 };
        timers.after(Duration::from_secs(3600 * hours)).run(|_| ())?;
    }

    let news = News("the northern base is under attack");
    let players: Vec<_> = (0..players).map(|_| Player::log_in()).collect();
    let jobs = announce(&timers, timers.now().saturating_add(MARCH), news, &players)?;
    // One of a hundred logs out while the army marches: `Ok` means that it was in time.
    let logged_out: Vec<bool> =
        (0..).zip(&jobs).map(|(n, job)| n % 100 == 99 && job.cancel().is_ok()).collect();

    let mut told = 0;
    for (player, _) in players.iter().zip(&logged_out).filter(|(_, out)| !**out) {
        told += usize::from(player.connection.recv_timeout(PATIENCE)? == news);
    }
    // After the stop, all runs have ended and are recorded. The other tasks have not begun.
    drop(service.stop(Stop::Wait));
    assert!(
        players.iter().all(|player| player.connection.is_empty()),
        "no player receives it twice or after logging out"
    );
    let snapshot = timers.snapshot();
    Ok(Outcome {
        told,
        spared: logged_out.iter().filter(|out| **out).count(),
        median: snapshot.lateness.p50,
        last: snapshot.lateness.max + snapshot.run_time.max,
    })
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |number| number.parse());
    let (players, others) = (number(10_000)?, number(500_000)?);
    let Outcome { told, spared, median, last } = broadcast(players, others)?;
    println!("{told} players told, next to {others} other tasks; {spared} had logged out");
    println!("after the event: median {median:?}, all within {last:?}; the limit is {LIMIT:?}");
    if last > LIMIT { Err("too late".into()) } else { Ok(()) }
}
