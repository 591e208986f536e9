//! `wheelhouse claims`.

use super::play;
use crate::cli::{ClaimsOptions, Form};
use anyhow::Result;
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;
use wheelhouse_claims::front::{self, CONTESTANTS, Contestant, Front};
use wheelhouse_claims::report::{self, page, question, tables};
use wheelhouse_claims::{Claim, Judgement, Scale, controls, instructions, judge, select};
use wheelhouse_machine::{callgrind, provenance};
use wheelhouse_present::console::{coloured, print, say};
use wheelhouse_present::document::{Block, Document};
use wheelhouse_present::progress::Progress;
use wheelhouse_present::table::Table;
use wheelhouse_present::{html, markdown, plain};

/// How often the classifier is tried on each planted cost.
const CONTROLS: u64 = 20;

/// A question is answered by so many claims.
const ANSWERS: usize = 5;

pub(super) fn run(options: &ClaimsOptions) -> Result<ExitCode> {
    let scale = if options.quick { Scale::REDUCED } else { Scale::WHOLE };
    let (judgement, text) = match &options.question {
        Some(asked) => answered(asked, &scale, options.format)?,
        None if options.id.is_empty() => whole(options, &scale)?,
        None => {
            let judgement = judged(select(&options.id)?, &scale)?;
            let text = printed(&page::some(&judgement), &judgement, options.format)?;
            (judgement, text)
        }
    };
    print(text)?;
    let unexpected = judgement.unexpected().count();
    if unexpected > 0 {
        let file = "crates/claims/claims.toml";
        say(format_args!("error: {unexpected} came out otherwise than on record in {file}"));
    }
    Ok(u8::from(unexpected > 0).into())
}

/// Everything: the sweep, all claims, the controls; and the report, if a folder is named.
fn whole(options: &ClaimsOptions, scale: &Scale) -> Result<(Judgement, String)> {
    let front = swept(&CONTESTANTS, scale, !options.quick);
    let judgement = judged(select(&[])?, scale)?;
    let instructions = if options.instructions { second_opinion()? } else { None };
    let found = page::Found {
        judgement: &judgement,
        front: &front,
        scale,
        confusion: &controls::confusion(scale, CONTROLS),
        instructions: instructions.as_ref(),
        made: &provenance::gather(0),
    };
    let document = page::whole(&found);
    if let Some(dir) = &options.out {
        let made = report::write(&judgement, &front, &document, dir)?;
        say(format_args!("report:  {}", made.display()));
    }
    let text = match options.format {
        Form::Table => coloured(&plain::render(&page::brief(&found))),
        form => printed(&document, &judgement, form)?,
    };
    Ok((judgement, text))
}

/// The row of each structure that the question names, and the claims that have its words.
fn answered(asked: &str, scale: &Scale, form: Form) -> Result<(Judgement, String)> {
    let claims = question::find(asked)?;
    let (all, answers) = (claims.len(), claims.into_iter().take(ANSWERS).collect());
    let front = swept(&question::contestants(asked), scale, false);
    let judgement = judged(answers, scale)?;
    let rows = (!front.rows.is_empty()).then(|| Block::Table(front::narrow(&front)));
    let document = Document { title: asked.to_owned(), ..page::found(&judgement, all, rows) };
    let text = printed(&document, &judgement, form)?;
    Ok((judgement, text))
}

fn swept(contestants: &[Contestant], scale: &Scale, timed: bool) -> Front {
    let part = Duration::from_secs(5);
    let parts = contestants.len() * if timed { 2 } else { 1 };
    let progress = Mutex::new(Progress::new(part * parts.max(1) as u32));
    let step = |contestant: &Contestant| {
        let mut progress = progress.lock().expect("nothing panics with the lock");
        progress.say(contestant.name.to_owned());
        progress.finish_part(part);
    };
    let front = Front::count(contestants, scale, step);
    if timed { front.time(step) } else { front }
}

fn judged(claims: Vec<Claim>, scale: &Scale) -> Result<Judgement> {
    let experiments = claims.iter().filter_map(|claim| claim.experiment.as_deref());
    let experiments: BTreeSet<_> = experiments.collect();
    let part = Duration::from_secs(1);
    let mut progress = Progress::new(part * experiments.len().max(1) as u32);
    judge(claims, scale, |experiment| {
        progress.say(experiment.name.to_owned());
        progress.finish_part(part);
    })
}

fn printed(document: &Document, judgement: &Judgement, form: Form) -> Result<String> {
    Ok(match form {
        Form::Table => coloured(&plain::render(document)),
        Form::Json => tables::json(judgement)?,
        Form::Markdown => markdown::render(document),
        Form::Html => html::render(document),
    })
}

/// The instructions, if callgrind is there.
fn second_opinion() -> Result<Option<Table>> {
    if !callgrind::is_installed() {
        say("valgrind is not installed: instructions are not counted; the verdicts do not need it");
        return Ok(None);
    }
    instructions::table(play::under_callgrind).map(Some)
}
