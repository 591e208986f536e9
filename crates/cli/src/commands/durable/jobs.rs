//! `wheelhouse durable cancel`, `move`, `run`, `pause` and `resume`.

use super::place::commit;
use super::{Jobs, Paused, Time};
use anyhow::{Context, Result, ensure};
use std::time::Duration;
use wheelhouse_durable::store::{Change, Key, Outcome, Timestamp, When};
use wheelhouse_present::console::say;

pub(super) fn cancel(asked: &Jobs) -> Result<bool> {
    each(
        asked,
        |key| Change::Cancel { key },
        |outcome| match outcome {
            Outcome::Cancelled => Ok("is cancelled"),
            Outcome::Running => Ok("is running: this run continues, and no further run follows"),
            _ => Err("no job has this key"),
        },
    )
}

pub(super) fn move_to(asked: &Jobs, time: &Time) -> Result<bool> {
    let when = match (time.delay, time.at) {
        (Some(delay), _) => When::After(delay),
        (None, Some(at)) => {
            let millis = at.as_millisecond();
            ensure!(millis >= 0, "--at: the time is before 1970");
            When::At(Timestamp::from_millis(millis.cast_unsigned()))
        }
        (None, None) => unreachable!("one of them is required"),
    };
    moves(asked, when, "is moved")
}

pub(super) fn run(asked: &Jobs) -> Result<bool> {
    moves(asked, When::After(Duration::ZERO), "is due now")
}

fn moves(asked: &Jobs, when: When, done: &'static str) -> Result<bool> {
    each(
        asked,
        |key| Change::Move { key, when },
        |outcome| match outcome {
            Outcome::Done => Ok(done),
            Outcome::Running => Err("is running, and cannot be moved"),
            _ => Err("no job has this key"),
        },
    )
}

/// Makes a change to each job, all in one commit, and prints the outcomes. Returns `true` if all
/// are good.
fn each(
    asked: &Jobs,
    change: impl Fn(Key) -> Change,
    told: impl Fn(Outcome) -> Result<&'static str, &'static str>,
) -> Result<bool> {
    let named = |key: &String| Ok(change(key_of_a_job(key)?));
    let changes: Vec<Change> = asked.keys.iter().map(named).collect::<Result<_>>()?;
    let mut good = true;
    for (key, outcome) in asked.keys.iter().zip(commit(&asked.place, &changes)?) {
        match told(outcome) {
            Ok(done) => say(format_args!("{key}: {done}")),
            Err(why) => {
                say(format_args!("error: {key}: {why}"));
                good = false;
            }
        }
    }
    Ok(good)
}

/// Parses a key and refuses those reserved for the store's own rows: without the row of a shard,
/// the next program would not start.
fn key_of_a_job(text: &str) -> Result<Key> {
    let key = Key::new(text).with_context(|| format!("the key '{text}'"))?;
    ensure!(
        !key.is_reserved(),
        "the key '{text}' is reserved: it is not a job, and nothing was changed; to end a pause, \
         use `wheelhouse durable resume`"
    );
    Ok(key)
}

pub(super) fn pause(asked: &Paused) -> Result<()> {
    let change = Change::pause(asked.kind.as_deref()).context("the kind")?;
    change_pause(asked, change, Outcome::Done, ["is paused", "was paused already"])
}

pub(super) fn resume(asked: &Paused) -> Result<()> {
    let change = Change::resume(asked.kind.as_deref()).context("the kind")?;
    change_pause(asked, change, Outcome::Cancelled, ["is resumed", "was not paused"])
}

/// Makes a change to a pause, and says if that had an effect: if its outcome is `done`.
fn change_pause(
    asked: &Paused,
    change: Change,
    done: Outcome,
    [changed, unchanged]: [&str; 2],
) -> Result<()> {
    let how = if commit(&asked.place, &[change])? == [done] { changed } else { unchanged };
    say(format_args!("{} {how}", asked.kind.as_deref().unwrap_or("everything")));
    Ok(())
}
