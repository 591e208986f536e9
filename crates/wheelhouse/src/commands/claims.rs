//! `wheelhouse claims`.

use super::play;
use crate::cli::Form;
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use wheelhouse_claims::report::{self, page, tables};
use wheelhouse_claims::thresholds::Thresholds;
use wheelhouse_claims::{Judgement, Lab, Scale, controls, instructions, judge, select};
use wheelhouse_machine::{callgrind, provenance};
use wheelhouse_present::console::{print, say};
use wheelhouse_present::document::{Block, Document};
use wheelhouse_present::progress::Progress;
use wheelhouse_present::table::Table;
use wheelhouse_present::{html, markdown, plain};

/// How often the classifier is tried on each planted cost.
const CONTROLS: u64 = 20;

pub(super) fn run(
    ids: &[String],
    quick: bool,
    format: Form,
    instructions: bool,
    out: Option<&Path>,
) -> Result<ExitCode> {
    let scale = if quick { Scale::REDUCED } else { Scale::WHOLE };
    let chosen = select(ids)?;
    let experiments = chosen.iter().filter_map(|claim| claim.experiment.as_deref());
    let experiments: BTreeSet<_> = experiments.collect();
    let part = Duration::from_secs(1);
    let mut progress = Progress::new(part * experiments.len().max(1) as u32);
    let judgement = judge(chosen, &Lab::new(&scale), |experiment| {
        progress.say(experiment.name.to_owned());
        progress.finish_part(part);
    })?;
    drop(progress);
    let whole =
        ids.is_empty().then(|| whole_report(&judgement, &scale, instructions)).transpose()?;
    if let (Some(dir), Some(document)) = (out, &whole) {
        let made = report::write(&judgement, document, dir)?;
        say(format_args!("report:  {}", made.display()));
    }
    print(printed(&judgement, whole, format)?)?;
    let unexpected = judgement.unexpected().count();
    if unexpected > 0 {
        let file = wheelhouse_claims::outcomes::PATH;
        say(format_args!("error: {unexpected} came out otherwise than on record in {file}"));
    }
    Ok(u8::from(unexpected > 0).into())
}

fn printed(judgement: &Judgement, whole: Option<Document>, format: Form) -> Result<String> {
    let document = || whole.unwrap_or_else(|| page::some(judgement));
    Ok(match format {
        Form::Table if judgement.judged.len() == 1 => plain::render(&document()),
        Form::Table => tables::verdicts_table(judgement).terminal(),
        Form::Json => tables::json(judgement)?,
        Form::Markdown => markdown::render(&document()),
        Form::Html => html::render(&document()),
    })
}

fn whole_report(judgement: &Judgement, scale: &Scale, instructions: bool) -> Result<Document> {
    let confusion = controls::confusion(scale, CONTROLS, &Thresholds::default());
    anyhow::ensure!(confusion.is_sound(), "the planted controls show errors: nothing is decided");
    let counted = if instructions { second_opinion()? } else { None };
    let mut document = page::whole(judgement, scale, &confusion, &provenance::gather(0));
    document.blocks.extend(counted.map(Block::Table));
    Ok(document)
}

/// The instructions, if callgrind is there.
fn second_opinion() -> Result<Option<Table>> {
    if !callgrind::is_installed() {
        say("valgrind is not installed: instructions are not counted; the verdicts do not need it");
        return Ok(None);
    }
    instructions::table(play::under_callgrind).map(Some)
}
