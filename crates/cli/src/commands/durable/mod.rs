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
use counts::{Buried, Counts};
use place::Opened;
use std::process::ExitCode;
use wheelhouse_present::console::{print, say};

pub(super) fn run(asked: &Durable) -> Result<ExitCode> {
    match asked {
        Durable::Inspect { place, format } => {
            let mut opened = Opened::to_read(place)?;
            let mut counts = Counts::new(opened.now()?);
            opened.each_job(|job| {
                counts.add(job);
                Ok(())
            })?;
            let mut buried = Buried::default();
            opened.each_letter(|letter| {
                buried.add(letter);
                Ok(())
            })?;
            print(show::all(&opened, &counts, &buried, *format))?;
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
        Durable::Retry(asked) => return letters::retry(asked),
        Durable::Forget(asked) => return letters::forget(asked),
        Durable::Cancel(asked) => return jobs::cancel(asked),
        Durable::Move { jobs, when } => return jobs::move_to(jobs, when),
        Durable::Run(asked) => return jobs::run(asked),
        Durable::Pause(asked) => return jobs::pause(asked),
        Durable::Resume(asked) => return jobs::resume(asked),
    }
    Ok(ExitCode::SUCCESS)
}
