//! The arguments of `wheelhouse durable`.

use clap::{Args, Subcommand};
use std::path::PathBuf;
use wheelhouse_present::table::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum Durable {
    /// Shows the contents of a store: jobs by kind and state, due times, overdue jobs, dead
    /// letters. Changes nothing.
    #[command(after_help = "Examples:\n  wheelhouse durable inspect orders.timers\n  \
            wheelhouse durable inspect redis://127.0.0.1/ --queue orders --format json")]
    Inspect {
        #[command(flatten)]
        place: Place,
        /// Output format.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Prints every job as a line of JSON. Changes nothing.
    #[command(
        after_help = "The field of a payload is `payload` if it is JSON, `payload_text` if it is \
            other text, and\n`payload_hex` otherwise. A key that is not text is `key_hex`. Times \
            are UTC; after the year 9999,\nmilliseconds since 1970.\n\nExamples:\n  \
            wheelhouse durable dump orders.timers | jq -r 'select(.attempt > 3) | .key'\n  \
            wheelhouse durable dump orders.timers --dead"
    )]
    Dump {
        #[command(flatten)]
        place: Place,
        /// Print the dead letters instead of the jobs.
        #[arg(long)]
        dead: bool,
    },
    /// Checks that every job and dead letter can be read, and the integrity of a SQLite file.
    /// Changes nothing. Takes seconds for a million jobs.
    #[command(after_help = "Example:\n  wheelhouse durable verify orders.timers")]
    Verify {
        #[command(flatten)]
        place: Place,
    },
    /// Copies a SQLite file while programs use it. The copy is a single file, complete and synced.
    #[command(after_help = "Example:\n  wheelhouse durable backup orders.timers monday.timers")]
    Backup {
        /// The file that the programs open.
        file: PathBuf,
        /// The copy; it must not exist.
        to: PathBuf,
    },
    /// Replaces a SQLite file that no program has open with a copy. The previous file is kept as
    /// FILE.replaced.
    #[command(after_help = "Stop the programs first: they lock the file.\n\nExample:\n  \
            wheelhouse durable restore monday.timers orders.timers")]
    Restore {
        /// The copy, which is kept.
        from: PathBuf,
        /// The file that the programs open.
        file: PathBuf,
    },
    /// Turns dead letters into jobs again, due at once.
    #[command(after_help = "Opens the store to write, as a program does.\n\nExample:\n  \
            wheelhouse durable retry orders.timers 1790000000000017")]
    Retry(Letters),
    /// Removes dead letters, and prints them as `dump --dead` does.
    #[command(after_help = "Opens the store to write, as a program does.\n\nExample:\n  \
            wheelhouse durable forget orders.timers 1790000000000017 >> forgotten.jsonl")]
    Forget(Letters),
    /// Cancels jobs, including jobs that a program has leased and not begun. A run that has begun
    /// continues and is not repeated.
    #[command(after_help = "Opens the store to write, as a program does.\n\nExample:\n  \
            wheelhouse durable cancel orders.timers order-17 order-18")]
    Cancel(Jobs),
    /// Moves jobs to another time. Jobs that are running do not change.
    #[command(after_help = "Opens the store to write, as a program does.\n\nExamples:\n  \
            wheelhouse durable move orders.timers --in 90m order-17\n  \
            wheelhouse durable move orders.timers --at 2026-12-24T18:00:00Z order-17")]
    Move {
        #[command(flatten)]
        jobs: Jobs,
        #[command(flatten)]
        when: Time,
    },
    /// Makes jobs due now. A periodic job continues from now.
    #[command(after_help = "Opens the store to write, as a program does.\n\nExample:\n  \
            wheelhouse durable run orders.timers report")]
    Run(Jobs),
    /// Pauses a kind, or all jobs: within a second no further run begins in any program. With
    /// several stores (`start_shards`), this pauses the named store alone: repeat it for each.
    #[command(
        after_help = "Opens the store to write, as a program does. `inspect` shows pauses.\n\n\
            Examples:\n  wheelhouse durable pause orders.timers mail/1\n  \
            wheelhouse durable pause redis://127.0.0.1/ --queue orders"
    )]
    Pause(Paused),
    /// Resumes a kind, or all jobs. With several stores (`start_shards`), this resumes the named
    /// store alone: repeat it for each.
    #[command(after_help = "Opens the store to write, as a program does.\n\nExample:\n  \
            wheelhouse durable resume orders.timers mail/1")]
    Resume(Paused),
}

#[derive(Debug, Args)]
pub(crate) struct Jobs {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Keys of jobs. With several stores (`start_shards`), name the store that has them.
    #[arg(required = true, value_name = "KEY")]
    pub(crate) keys: Vec<String>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Time {
    /// A delay from now: 90m, 1h 30m, 2d.
    #[arg(long = "in", value_name = "TIME")]
    pub(crate) delay: Option<jiff::SignedDuration>,
    /// A time, in UTC or with an offset: 2026-12-24T18:00:00Z.
    #[arg(long, value_name = "DATE")]
    pub(crate) at: Option<jiff::Timestamp>,
}

#[derive(Debug, Args)]
pub(crate) struct Paused {
    #[command(flatten)]
    pub(crate) place: Place,
    /// A kind of jobs [default: all jobs of the queue].
    #[arg(value_name = "KIND")]
    pub(crate) kind: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Place {
    /// A SQLite file, or the URL of a server: redis://HOST/, unix:///SOCKET (Redis),
    /// postgres://USER@HOST/DATABASE. It takes one address: with replicas or Sentinels, that of the
    /// primary. With TLS, if this command was built with the feature `tls`: rediss://.. and
    /// ?sslmode=require.
    pub(crate) store: String,
    /// The queue on a server, by the name that the programs use. There is no default.
    #[arg(long, value_name = "NAME")]
    pub(crate) queue: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Letters {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Generations of dead letters, as `inspect` and `dump --dead` show them.
    #[arg(required = true, value_name = "GENERATION")]
    pub(crate) generations: Vec<u64>,
}
