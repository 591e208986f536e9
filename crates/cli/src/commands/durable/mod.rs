//! `wheelhouse durable`: shows and changes the jobs in a store of durable timers.

mod counts;
mod dump;
mod jobs;
mod letters;
mod place;
mod show;
mod times;

use super::Output;
use anyhow::{Result, ensure};
use clap::{Args, Subcommand};
use counts::Counts;
use place::{LIVE, Opened, Place, ensure_exists, failure};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use wheelhouse_present::console::{print, say};
use wheelhouse_store_sqlite::SqliteStore;

#[derive(Debug, Subcommand)]
pub(crate) enum Durable {
    /// Shows the contents of a store: jobs by kind and state, due times, overdue jobs, dead
    /// letters. Changes nothing.
    #[command(after_help = "Examples:\n  wheelhouse durable inspect orders.timers\n  \
            wheelhouse durable inspect redis://127.0.0.1/ --queue orders --format json")]
    Inspect {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
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
    #[arg(long = "in", value_name = "TIME", value_parser = times::delay)]
    pub(crate) delay: Option<Duration>,
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
pub(crate) struct Letters {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Generations of dead letters, as `inspect` and `dump --dead` show them.
    #[arg(required = true, value_name = "GENERATION")]
    pub(crate) generations: Vec<u64>,
}

pub(super) fn run(asked: &Durable) -> Result<ExitCode> {
    let mut good = true;
    match asked {
        Durable::Inspect { place, output } => {
            let mut opened = Opened::to_read(place)?;
            let mut counts = Counts { now: opened.now()?, ..Counts::default() };
            opened.each_job(|job| {
                counts.add(job);
                Ok(())
            })?;
            opened.each_letter(|letter| {
                counts.bury(letter);
                Ok(())
            })?;
            print(show::all(&opened, &counts, output.format))?;
        }
        Durable::Dump { place, dead } => dump::dump(&mut Opened::to_read(place)?, *dead)?,
        Durable::Verify { place } => {
            let mut opened = Opened::to_read(place)?;
            place::check_integrity(place)?;
            let jobs = opened.each_job(|_| Ok(()))?;
            let letters = opened.each_letter(|_| Ok(()))?;
            let name = &opened.name;
            say(format_args!("{name}: can be read, jobs: {jobs}, dead letters: {letters}"));
        }
        Durable::Backup { file, to } => backup(file, to)?,
        Durable::Restore { from, file } => restore(from, file)?,
        Durable::Retry(asked) => good = letters::retry(asked)?,
        Durable::Forget(asked) => good = letters::forget(asked)?,
        Durable::Cancel(asked) => good = jobs::cancel(asked)?,
        Durable::Move { jobs, when } => good = jobs::move_to(jobs, when)?,
        Durable::Run(asked) => good = jobs::run(asked)?,
        Durable::Pause(asked) => jobs::pause(asked)?,
        Durable::Resume(asked) => jobs::resume(asked)?,
    }
    Ok(u8::from(!good).into())
}

fn backup(file: &Path, to: &Path) -> Result<()> {
    is_file(file, LIVE)?;
    let copied = SqliteStore::open_to_read(file).and_then(|store| store.backup(to));
    copied.map_err(|error| failure(&file.display().to_string(), error))?;
    say(format_args!("{}: copied to {}", file.display(), to.display()));
    Ok(())
}

fn restore(from: &Path, file: &Path) -> Result<()> {
    is_file(from, "the copy")?;
    let replaced = SqliteStore::restore(from, file)
        .map_err(|error| failure(&file.display().to_string(), error))?;
    say(format_args!("{}: restored from {}", file.display(), from.display()));
    if let Some(replaced) = replaced {
        say(format_args!("the previous file is now {}", replaced.display()));
    }
    Ok(())
}

/// Checks that there is a file. If not, the error says to name `what`.
fn is_file(path: &Path, what: &str) -> Result<()> {
    let url = path.to_str().is_some_and(|path| path.contains("://"));
    ensure!(!url, "{} is a server: use its own tools to copy it", path.display());
    ensure_exists(path, what)
}

/// A job, for tests.
#[cfg(test)]
fn entry(key: &[u8]) -> wheelhouse_durable::store::Entry {
    use wheelhouse_durable::store::{Entry, Key, State, Timestamp};
    let at = Timestamp::from_millis(1);
    let (payload, policy, state) = (Vec::new(), String::new(), State::Pending);
    let (generation, occurrence, attempt) = (3, 4, 5);
    let (key, kind) = (Key::new(key).unwrap(), "a/1".into());
    let (due, visible_at) = (at, at);
    Entry { key, kind, payload, policy, due, visible_at, generation, occurrence, attempt, state }
}
