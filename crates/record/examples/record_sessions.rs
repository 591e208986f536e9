//! Records a server's idle timeouts: connections stay alive, close, or time out.
//!
//! One tick is a millisecond. Each connection has one timer. A request moves it, a close cancels
//! it, and if it fires, the connection was silent and is closed. The program has a `Recorder`
//! around its `HierarchicalWheel::new()`; nothing else is different.
//!
//! ```sh
//! cargo run --release -p wheelhouse-record --example record_sessions -- sessions.trace
//! cargo run --release -p wheelhouse-cli -- bench --trace sessions.trace
//! ```

use std::path::Path;
use std::time::Duration;
use wheelhouse_core::{Timer, TimerId};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_record::{Error, Recorder, Summary};

const IDLE: u64 = 30_000;

fn main() {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: record_sessions FILE");
        std::process::exit(2);
    };
    match record(Path::new(&path), 20_000) {
        Ok((closed, summary)) => println!("{closed} connections timed out\n{summary}"),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}

/// Records the server. Returns how many connections timed out, and a summary of the recording.
fn record(path: &Path, connections: u64) -> Result<(usize, Summary), Error> {
    let mut timeouts = Recorder::builder()
        .tick(Duration::from_millis(1))
        .note("an example")
        .create(path, HierarchicalWheel::new())?;
    let closed = serve(&mut timeouts, connections);
    Ok((closed, timeouts.finish()?))
}

/// The server, on any backend: a new connection each millisecond, with five requests each. Returns
/// how many timed out.
fn serve(timeouts: &mut impl Timer<u64>, connections: u64) -> usize {
    let mut open: Vec<TimerId> = Vec::new();
    let mut closed = 0;
    for now in 0..connections {
        open.push(timeouts.insert(now + IDLE, now));
        // Connections of these ages have a request. After its last one, a connection is closed.
        for age in [10, 100, 1_000, 3_000, 9_000].iter().filter(|age| now >= **age) {
            let connection = open[(now - age) as usize];
            timeouts.reschedule(connection, now + IDLE);
        }
        // Every tenth client disappears without closing its connection.
        if now >= 9_500 && now % 10 != 0 {
            timeouts.cancel(open[(now - 9_500) as usize]);
        }
        closed += timeouts.advance(now, |_| ());
    }
    // The last connections are silent from now on. The loop sleeps from wake-up to wake-up.
    while let Some(wakeup) = timeouts.next_wakeup() {
        closed += timeouts.advance(wakeup, |_| ());
    }
    closed
}
