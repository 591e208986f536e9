//! The arguments of `wheelhouse durable`.

use clap::{Args, Subcommand};
use std::path::PathBuf;
use wheelhouse_present::table::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum Durable {
    /// What lies in a store: jobs by kind and state, what is due when, what is overdue, dead
    /// letters. Changes nothing.
    #[command(after_help = "Examples:\n  wheelhouse durable inspect orders.timers\n  \
            wheelhouse durable inspect redis://127.0.0.1/ --queue orders --format json")]
    Inspect {
        #[command(flatten)]
        place: Place,
        /// In which form to print: for people; all of it as JSON; the counts by kind as CSV.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Every job as a line of JSON. Changes nothing.
    #[command(
        after_help = "A payload is under `payload` if it is JSON, else under `payload_text` \
            if it is text, else\nunder `payload_hex`; a key that is no text under `key_hex`. Times \
            are UTC, or milliseconds since\n1970 after the year 9999.\n\nExamples:\n  \
            wheelhouse durable dump orders.timers | jq -r 'select(.attempt > 3) | .key'\n  \
            wheelhouse durable dump orders.timers --dead"
    )]
    Dump {
        #[command(flatten)]
        place: Place,
        /// The dead letters instead of the jobs.
        #[arg(long)]
        dead: bool,
    },
    /// Checks that every job and dead letter can be read, and of a file SQLite's integrity. Changes
    /// nothing; takes seconds for a million jobs.
    #[command(after_help = "Example:\n  wheelhouse durable verify orders.timers")]
    Verify {
        #[command(flatten)]
        place: Place,
    },
    /// Copies a SQLite file while programs use it. The copy is one file, whole and synced.
    #[command(after_help = "Example:\n  wheelhouse durable backup orders.timers monday.timers")]
    Backup {
        /// The file that the programs open.
        file: PathBuf,
        /// The copy; it must not exist.
        to: PathBuf,
    },
    /// Puts a copy in the place of a SQLite file that no program has open. The file that was there
    /// is kept as FILE.replaced.
    #[command(after_help = "Stop the programs first: they lock the file.\n\nExample:\n  \
            wheelhouse durable restore monday.timers orders.timers")]
    Restore {
        /// The copy; it stays.
        from: PathBuf,
        /// The file that the programs open.
        file: PathBuf,
    },
    /// Makes jobs of dead letters again, due at once.
    #[command(after_help = "Opens the store to write, as a program does.\n\nExample:\n  \
            wheelhouse durable retry orders.timers 1790000000000017")]
    Retry(Letters),
    /// Removes dead letters, and prints them as `dump --dead` does.
    #[command(after_help = "Opens the store to write, as a program does.\n\nExample:\n  \
            wheelhouse durable forget orders.timers 1790000000000017 >> forgotten.jsonl")]
    Forget(Letters),
    /// Cancels jobs, also those that a program has leased and not begun. A run that has begun
    /// continues and is not repeated.
    #[command(after_help = "Opens the store to write, as a program does.\n\nExample:\n  \
            wheelhouse durable cancel orders.timers order-17 order-18")]
    Cancel(Jobs),
    /// Moves jobs to another time; those that are running stay as they are.
    #[command(after_help = "Opens the store to write, as a program does.\n\nExamples:\n  \
            wheelhouse durable move orders.timers --in 90m order-17\n  \
            wheelhouse durable move orders.timers --at 2026-12-24T18:00:00Z order-17")]
    Move {
        #[command(flatten)]
        jobs: Jobs,
        #[command(flatten)]
        when: Time,
    },
    /// Moves jobs to the present. A periodic job continues from there.
    #[command(after_help = "Opens the store to write, as a program does.\n\nExample:\n  \
            wheelhouse durable run orders.timers report")]
    Run(Jobs),
    /// Keeps further runs of a kind from beginning, or all runs, in all programs within a second.
    /// With several stores (`start_shards`), this pauses the named store alone: repeat it for each.
    #[command(after_help = "Opens the store to write, as a program does. `inspect` tells what is \
            paused.\n\nExamples:\n  wheelhouse durable pause orders.timers mail/1\n  \
            wheelhouse durable pause redis://127.0.0.1/ --queue orders")]
    Pause(Paused),
    /// Lets runs of a kind begin again, or all runs. With several stores (`start_shards`), this
    /// resumes the named store alone: repeat it for each.
    #[command(after_help = "Opens the store to write, as a program does.\n\nExample:\n  \
            wheelhouse durable resume orders.timers mail/1")]
    Resume(Paused),
}

/// Which jobs.
#[derive(Debug, Args)]
pub(crate) struct Jobs {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Keys of jobs. With several stores (`start_shards`), name the one that has them.
    #[arg(required = true, value_name = "KEY")]
    pub(crate) keys: Vec<String>,
}

/// When.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Time {
    /// So long from now: 90m, 1h 30m, 2d.
    #[arg(long = "in", value_name = "TIME")]
    pub(crate) delay: Option<jiff::SignedDuration>,
    /// At a time, in UTC or with an offset: 2026-12-24T18:00:00Z.
    #[arg(long, value_name = "DATE")]
    pub(crate) at: Option<jiff::Timestamp>,
}

/// Pauses.
#[derive(Debug, Args)]
pub(crate) struct Paused {
    #[command(flatten)]
    pub(crate) place: Place,
    /// A kind of jobs; all of the queue without.
    #[arg(value_name = "KIND")]
    pub(crate) kind: Option<String>,
}

/// Where the jobs lie.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// A SQLite file, or the URL of a server: redis://HOST/, unix:///SOCKET (Redis),
    /// postgres://USER@HOST/DATABASE. Of servers that encrypt, rediss://.. and ?sslmode=require, if
    /// this command was built with the feature `tls`.
    pub(crate) store: String,
    /// The queue on a server, as the programs name it; there is no default.
    #[arg(long, value_name = "NAME")]
    pub(crate) queue: Option<String>,
}

/// Which dead letters.
#[derive(Debug, Args)]
pub(crate) struct Letters {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Generations of dead letters, as `inspect` and `dump --dead` tell them.
    #[arg(required = true, value_name = "GENERATION")]
    pub(crate) generations: Vec<u64>,
}
