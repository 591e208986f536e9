//! `wheelhouse claims`.

use super::{Output, play};
use anyhow::{Context, Result, ensure};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;
use wheelhouse_claims::controls::Controls;
use wheelhouse_claims::front::{self, CONTESTANTS, Contestant, Front, cache};
use wheelhouse_claims::instructions::RecordedPair;
use wheelhouse_claims::report::{self, page, question, tables};
use wheelhouse_claims::thresholds::Thresholds;
use wheelhouse_claims::{
    Claim, Judgement, Scale, Setup, instructions, judge, outcomes, printed, select,
};
use wheelhouse_machine::{callgrind, provenance};
use wheelhouse_present::console::{coloured, print, say};
use wheelhouse_present::document::{Block, Document};
use wheelhouse_present::files::{create_writable, write_whole};
use wheelhouse_present::plain;
use wheelhouse_present::progress::Progress;
use wheelhouse_present::table::Format;

/// How many times the classifier is tested on each planted cost.
const CONTROLS: u64 = 20;

/// The folder of the project's report and of the record of the printed code.
const RESULTS: &str = "results/claims";

/// A question is answered with at most this number of claims.
const ANSWERS: usize = 5;

#[derive(Debug, Args)]
pub(crate) struct ClaimsOptions {
    /// Only these claims, each in full: reasons, data, plot.
    #[arg(long, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: Vec<String>,
    /// The claims with most of these words or their synonyms, such as "heap insert".
    #[arg(long, value_name = "WORDS", conflicts_with = "id")]
    pub(crate) question: Option<String>,
    /// Use a smaller range of n and measure no times: seconds instead of minutes. The outcomes
    /// should be the same.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Seeds to use instead of 1 to 5, such as 6,7,8,9,10.
    #[arg(long, value_delimiter = ',', value_name = "SEEDS")]
    pub(crate) seeds: Vec<u64>,
    /// Decide all claims on the smaller range, and record outcomes and figures in
    /// crates/claims/outcomes.toml; with --instructions also the counts, in
    /// crates/claims/instructions.json and cache.json. Review first what has changed.
    #[arg(long, conflicts_with_all = ["id", "question", "quick", "seeds", "out"])]
    pub(crate) record: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Also count instructions with valgrind's callgrind and compare them with the record, which
    /// takes a few minutes more. With --quick only check whether they grow with the number of
    /// timers.
    #[arg(long, conflicts_with = "question")]
    pub(crate) instructions: bool,
    /// Write the whole report into this folder: page, Markdown, plots, verdicts as JSON.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["id", "question"])]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PrintedCode {
    /// A file with a line for each answer: a key, a tab, the output.
    pub(crate) lines: PathBuf,
    /// The versions of Go and of the JDK.
    #[arg(long)]
    pub(crate) by: String,
    /// The folder of the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

pub(super) fn run(options: &ClaimsOptions) -> Result<ExitCode> {
    // These errors are found before minutes of work.
    if let Some(dir) = &options.out {
        create_writable(dir)?;
    }
    ensure!(
        !options.record || Path::new(outcomes::PATH).is_file(),
        "{} is not here; record in the folder of the project",
        outcomes::PATH
    );
    let scale = if options.quick || options.record { Scale::REDUCED } else { Scale::WHOLE };
    let setup =
        Setup::new(&if options.seeds.is_empty() { scale } else { scale.seeded(&*options.seeds) });
    let pairs = if options.instructions { second_opinion(options)? } else { None };
    if options.record {
        return record(&judged(select(&[])?, &setup)?, pairs.as_deref());
    }
    let (judgement, document) = match &options.question {
        Some(asked) => answered(asked, &setup)?,
        None if options.id.is_empty() => whole(options, &setup)?,
        None => {
            let judgement = judged(select(&options.id)?, &setup)?;
            let document = page::selected(&judgement);
            (judgement, document)
        }
    };
    print(match options.output.format {
        Format::Table => coloured(&plain::render(&document)),
        Format::Json => tables::json(&judgement)?,
    })?;
    let mut errors = Vec::new();
    let differing: Vec<_> = judgement.unexpected().map(|it| it.id.as_str()).collect();
    if !differing.is_empty() {
        let (file, all) = (outcomes::PATH, differing.join(", "));
        errors.push(format!("differs from the record in {file} or results/claims: {all}"));
    }
    let missing = judgement.missing();
    if !missing.is_empty() {
        errors.push(format!("in the record, but not decided: {}", missing.join(", ")));
    }
    for it in pairs.map(|pairs| instructions::drifted(&pairs)).unwrap_or_default() {
        errors.push(format!("instructions differ from {}: {it}", instructions::PATH));
    }
    errors.iter().for_each(|error| say(format_args!("error: {error}")));
    Ok(u8::from(!errors.is_empty()).into())
}

/// Writes the files of the record.
fn record(judgement: &Judgement, pairs: Option<&[RecordedPair]>) -> Result<ExitCode> {
    print(tables::tally(judgement))?;
    let outcomes = judgement.record();
    write_whole(Path::new(outcomes::PATH), outcomes::file_text(&outcomes)?.as_bytes())?;
    say(format_args!("recorded: {} outcomes in {}", outcomes.len(), outcomes::PATH));
    if let Some(pairs) = pairs {
        write_whole(Path::new(instructions::PATH), instructions::file_text(pairs)?.as_bytes())?;
        let lines = cache::file_text(play::lines_under_callgrind)?;
        write_whole(Path::new(cache::PATH), lines.as_bytes())?;
        say(format_args!("recorded: counts in {}, {}", instructions::PATH, cache::PATH));
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs everything: the sweep, all claims and the controls. Writes the report if a folder is named.
fn whole(options: &ClaimsOptions, setup: &Setup) -> Result<(Judgement, Document)> {
    let front = swept(&CONTESTANTS, setup, !options.quick);
    let judgement = judged(select(&[])?, setup)?;
    let controls = Controls::draw(&setup.scale, CONTROLS);
    let beside = options.out.as_deref().unwrap_or(Path::new(RESULTS));
    let reported = judgement.comparing_outcomes_only();
    let shown = if options.out.is_some() { &reported } else { &judgement };
    let input = page::ReportInput {
        judgement: shown,
        front: &front,
        scale: &setup.scale,
        controls: &controls,
        printed: &printed::read(beside)?,
        provenance: &provenance::gather(0),
    };
    if let Some(dir) = &options.out {
        let made = report::write(shown, &front, &page::whole(&input), dir)?;
        say(format_args!("report:  {}", made.display()));
    }
    let document = page::brief(&input);
    ensure!(
        controls.confusion(&Thresholds::default()).is_sound(),
        "the classifier misjudges planted controls, so nothing is decided"
    );
    Ok((judgement, document))
}

/// Answers a question with the rows of the structures that it names and the claims that have its
/// words.
fn answered(asked: &str, setup: &Setup) -> Result<(Judgement, Document)> {
    let claims = question::find(asked)?;
    let (all, answers) = (claims.len(), claims.into_iter().take(ANSWERS).collect());
    let front = swept(&question::contestants(asked), setup, false);
    let judgement = judged(answers, setup)?;
    let rows = (!front.rows.is_empty()).then(|| Block::Table(front::narrow(&front)));
    let document = Document { title: asked.to_owned(), ..page::answers(&judgement, all, rows) };
    Ok((judgement, document))
}

/// Compares the output of the printed code with that of the models.
pub(super) fn compare_printed(options: &PrintedCode) -> Result<ExitCode> {
    let lines = std::fs::read_to_string(&options.lines)
        .with_context(|| format!("cannot read {}", options.lines.display()))?;
    let rows = printed::compare(&lines, &options.by)?;
    let all = printed::merged(rows.clone(), printed::read(&options.out)?);
    printed::write(&all, &options.out)?;
    let otherwise: Vec<_> = rows.iter().filter(|row| !row.agrees()).cloned().collect();
    if !otherwise.is_empty() {
        say(printed::table(&otherwise).terminal());
    }
    print(format_args!(
        "{}\nAll answers: {}",
        printed::tally(&rows),
        options.out.join(printed::RECORD).display()
    ))?;
    Ok(u8::from(!otherwise.is_empty()).into())
}

fn swept(contestants: &[Contestant], setup: &Setup, timed: bool) -> Front {
    let part = Duration::from_secs(5);
    let turns = 1 + if timed { front::ROUNDS as u32 } else { 0 };
    let parts = turns * contestants.len() as u32;
    let progress = Mutex::new(Progress::new(part * parts.max(1)));
    let step = |contestant: &Contestant| {
        let mut progress = progress.lock().expect("nothing panics with the lock");
        progress.say(contestant.name.to_owned());
        progress.finish_part(part);
    };
    let front = Front::count(contestants, setup, step);
    if timed { front.time(step) } else { front }
}

fn judged(claims: Vec<Claim>, setup: &Setup) -> Result<Judgement> {
    let experiments = claims.iter().filter_map(|claim| claim.experiment.as_deref());
    let experiments: BTreeSet<_> = experiments.collect();
    let part = Duration::from_secs(1);
    let mut progress = Progress::new(part * experiments.len().max(1) as u32);
    judge(claims, setup, |experiment| {
        progress.say(experiment.name.to_owned());
        progress.finish_part(part);
    })
}

/// Counts the instructions of each pair of operations, if callgrind is installed. With `--quick` it
/// only checks that they grow by less than a fifth from n to 2n, and returns `None`.
fn second_opinion(options: &ClaimsOptions) -> Result<Option<Vec<RecordedPair>>> {
    if callgrind::version().is_none() {
        say("skipped: valgrind is not installed, so instructions are not counted");
        return Ok(None);
    }
    if !options.quick {
        return instructions::count(play::under_callgrind).map(Some);
    }
    let grown = instructions::growing_pairs(play::under_callgrind)?;
    ensure!(grown.is_empty(), "instructions grow with the number of timers: {}", grown.join("; "));
    Ok(None)
}
