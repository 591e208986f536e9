//! `wheelhouse durable`: shows and changes the jobs in a store of durable timers.

mod copies;
mod counts;
mod dump;
mod jobs;
mod letters;
mod pages;
mod place;
mod show;
mod times;

use crate::cli::durable::Durable;
use anyhow::Result;
use counts::Counts;
use place::Opened;
use std::process::ExitCode;
use wheelhouse_present::console::{print, say};

pub(super) fn run(asked: &Durable) -> Result<ExitCode> {
    let mut good = true;
    match asked {
        Durable::Inspect { place, format } => {
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
            print(show::all(&opened, &counts, *format))?;
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
        Durable::Backup { file, to } => copies::backup(file, to)?,
        Durable::Restore { from, file } => copies::restore(from, file)?,
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
