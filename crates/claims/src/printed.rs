//! The answers of the articles' printed code, compared with those of the models.
//!
//! `scripts/run-the-printed-code` extracts the listings from the articles' texts, which are not
//! part of this project, and runs them where Go and a JDK are installed. They print lines of a key
//! and a value. A value that a model predicts is compared with that of the model. The record of the
//! last run is stored with the report. It decides the statements of `claims.toml` that are
//! `by_printed_code`.

use crate::experiments::models::kafka::{KafkaModel, Place};
use crate::experiments::models::rounds::{FOREVER, RoundsModel, Rules};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use wheelhouse_present::files::write_whole;
use wheelhouse_present::table::{Cell, Column, Mark, Table};

/// The record of a run, in the folder of the report.
pub const RECORD: &str = "printed-code.json";

/// The answer of a listing, and the expected one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ComparedAnswer {
    /// The id of the claim.
    pub id: String,
    /// The id and a name: `B4.after-stop`.
    pub key: String,
    /// The question.
    pub asked: String,
    /// The answer of the printed code.
    pub printed: String,
    /// The answer of the model, if there is one.
    pub expected: Option<String>,
    /// The versions of Go and of the JDK that gave the answer, and who ran them if it was not this
    /// project.
    pub by: String,
}

impl ComparedAnswer {
    /// Returns `true` if no model gives another answer.
    pub fn agrees(&self) -> bool {
        self.expected.as_ref().is_none_or(|expected| *expected == self.printed)
    }
}

/// The key of a question, the question, and the answer of the model, if there is one.
type Question = (&'static str, &'static str, Option<fn() -> String>);

/// The answers of the last run, as recorded in the project's report.
pub fn on_record() -> &'static [ComparedAnswer] {
    static ROWS: LazyLock<Vec<ComparedAnswer>> =
        LazyLock::new(|| serde_json::from_str(RECORDED).unwrap_or_default());
    &ROWS
}

const RECORDED: &str = include_str!("../record/printed-code.json");

pub(crate) fn is_asked(key: &str) -> bool {
    QUESTIONS.iter().any(|(of, ..)| *of == key)
}

/// Compares the answers in `rows` with the stated ones, which are listed by the key of the
/// question. Returns `true` if all are as stated, `None` if one is missing, and the answers in a
/// few words.
pub(crate) fn answers(
    stated: &BTreeMap<String, String>,
    rows: &[ComparedAnswer],
) -> (Option<bool>, String) {
    let answer = |key: &String| Some(&rows.iter().find(|row| row.key == *key)?.printed);
    let describe = |(key, stated): (&String, &String)| match answer(key) {
        None => "not run".to_owned(),
        Some(printed) if is_as_stated(printed, stated) => printed.clone(),
        Some(printed) => format!("{printed}, not {}", range_in_words(stated)),
    };
    let mut all: Vec<_> = stated.iter().map(describe).collect();
    all.dedup();
    let known = stated.iter().map(|(key, stated)| Some(is_as_stated(answer(key)?, stated)));
    let hold = known.collect::<Option<Vec<_>>>().map(|all| all.into_iter().all(|same| same));
    (hold, all.join("; "))
}

/// Returns `true` if an answer is the stated one, or its first word is a number in the stated
/// range, such as `100..` or `1.5..3`.
fn is_as_stated(printed: &str, stated: &str) -> bool {
    let Some((low, high)) = stated.split_once("..") else { return printed == stated };
    let figure: Option<f64> = printed.split(' ').next().and_then(|word| word.parse().ok());
    let bound =
        |text: &str, missing| if text.is_empty() { Some(missing) } else { text.parse().ok() };
    let bounds = bound(low, f64::NEG_INFINITY).zip(bound(high, f64::INFINITY));
    figure.zip(bounds).is_some_and(|(figure, (low, high))| (low..=high).contains(&figure))
}

/// A stated answer in words: "100000 or more" for `100000..`.
fn range_in_words(stated: &str) -> String {
    match stated.split_once("..") {
        None => stated.to_owned(),
        Some((low, "")) => format!("{low} or more"),
        Some(("", high)) => format!("{high} or less"),
        Some((low, high)) => format!("{low} to {high}"),
    }
}

const QUESTIONS: &[Question] = &[
    (
        "B1.ticks",
        "four tasks of 5 s in one slot of 12 run at ticks",
        Some(|| ticks(&[(5, 1); 4], 60)),
    ),
    (
        "B2.period-12",
        "a task every 12 s on 12 slots runs at ticks",
        Some(|| ticks(&[(12, FOREVER)], 70)),
    ),
    (
        "B2.period-24",
        "a task every 24 s on 12 slots runs at ticks",
        Some(|| ticks(&[(24, FOREVER)], 70)),
    ),
    ("B3.sub-second", "a task on a wheel of half a second a slot", None),
    ("B3.sub-second-made", "the constructor of a wheel of half a second a slot", None),
    ("B3.1999-ms", "1,999 ms goes into the slot of 1 s", None),
    ("B3.interval-1500-ms", "15 s on slots of 1.5 s go to", None),
    ("B4.after-stop", "a task that is added after the stop", None),
    ("B4.two-of-one-key", "two callers add a key that neither has found", None),
    ("B6.exit", "exit code of a process in which a task panics, S0", None),
    ("B6.exit-s3", "exit code of a process in which a task panics, S3", None),
    ("B7.times-2", "runs in 120 s of a task of 5 s with times = -2", Some(|| runs(-2))),
    ("B7.times-1", "runs in 120 s of a task of 5 s with times = -1", Some(|| runs(-1))),
    ("B7.times0", "runs in 120 s of a task of 5 s with times = 0", Some(|| runs(0))),
    ("B7.times1", "runs in 120 s of a task of 5 s with times = 1", Some(|| runs(1))),
    ("B8.first", "the compiler on the first listing", None),
    ("B8.session", "the compiler on the session store", None),
    ("E2.tick-16", "a task of 16 s runs at tick", Some(|| ticks(&[(16, 1)], 60))),
    ("C11.interval", "an interval of 0", None),
    ("C11.key", "an empty key", None),
    ("C11.delay", "a delay below the interval", None),
    ("E9.15-s", "tick 1 s, 10 slots: 15 s", Some(|| path(1_000, 10, 15_000))),
    (
        "B9.earliest-ms",
        "5,000 to 5,999 ms at a tick of 1 s: early by at most, in ms",
        Some(|| milliseconds_early().max().unwrap_or(0).to_string()),
    ),
    (
        "B9.mean-ms",
        "5,000 to 5,999 ms at a tick of 1 s: early on average by, in ms",
        Some(|| format!("{:?}", milliseconds_early().sum::<u64>() as f64 / 1e3)),
    ),
    (
        "B10.idle-hour",
        "5 ms after an idle hour, tick 1 ms, 20 slots",
        Some(|| path(1, 20, 3_600_005).replace(" ran at 3600005", "")),
    ),
    ("C22.additions", "alex023/clock, 500,000 jobs: additions", None),
    ("C22.updates", "alex023/clock, 500,000 jobs: updates", None),
    ("C22.addition-time", "alex023/clock, 500,000 jobs: mean time of an addition", None),
    ("C22.update-time", "alex023/clock, 500,000 jobs: mean time of an update", None),
    ("C24.latest", "200,000 goroutines in time.Sleep: the last wakes up late by", None),
    ("C29.updates", "alex023/clock, 200,000 jobs: updates", None),
    ("C29.tree-1000", "HuKeping/rbtree: take the first of 1,000, add one", None),
    ("C29.tree-100000", "HuKeping/rbtree: take the first of 100,000, add one", None),
    ("C38.0-ms", "0 ms at a tick of 1 s", Some(|| waits_or_runs(0))),
    ("C38.999-ms", "999 ms at a tick of 1 s", Some(|| waits_or_runs(999))),
    ("C38.1000-ms", "1,000 ms at a tick of 1 s", Some(|| waits_or_runs(1_000))),
    ("C39.1200-ms", "1,200 ms at a tick of 1 s run at, in ms", Some(|| runs_at(1_200).to_string())),
    ("C39.1500-ms", "1,500 ms at a tick of 1 s run at, in ms", Some(|| runs_at(1_500).to_string())),
    ("C45.time-after", "a slot reaches Start late: the wheel's time is then", None),
    ("C41.next-waits", "java.util.Timer: the task after one of 300 ms waits for it", None),
    ("C46.cancelled-kept", "100,000 cancelled in ScheduledThreadPool: left in its queue", None),
    ("C46.cancelled-removed", "the same with setRemoveOnCancelPolicy: left in its queue", None),
    ("C47.later-task-of-timer", "java.util.Timer: runs of a task after one that throws", None),
    ("C47.schedule-again", "java.util.Timer: its error for a new task after that", None),
    ("C47.pool-runs-others", "ScheduledThreadPool runs the other tasks", None),
    ("C47.pool-drops-periodic", "ScheduledThreadPool: a periodic task whose 2nd run throws", None),
];

/// The ticks at which these tasks run on 12 slots. Each task has a delay and a number of runs.
fn ticks_of(tasks: &[(u64, i64)], end: u64) -> Vec<u64> {
    let mut wheel = RoundsModel::new(Rules::S0, 12);
    for (name, (delay, times)) in tasks.iter().enumerate() {
        wheel.add(name as u64, *delay, *times);
    }
    wheel.run(end).into_iter().map(|(tick, _)| tick).collect()
}

/// The same as Go prints them.
fn ticks(tasks: &[(u64, i64)], end: u64) -> String {
    format!("{:?}", ticks_of(tasks, end)).replace(',', "")
}

fn runs(times: i64) -> String {
    ticks_of(&[(5, times)], 120).len().to_string()
}

/// The places and the expiry of a deadline, and how often a slot was offered.
fn path(tick: u64, size: usize, deadline: u64) -> String {
    let mut model = KafkaModel::new(tick, size);
    let mut places: Vec<Place> = model.add(deadline, 0).into_iter().collect();
    let polls = model.drain();
    places.extend(polls.iter().flat_map(|poll| &poll.moved).map(|(.., place)| *place));
    let visited = places.iter().map(|place| format!("L{}[{}]", place.level, place.slot));
    let visited = visited.collect::<Vec<_>>().join(" ");
    let ran = polls.last().map_or(0, |poll| poll.expiry);
    format!("[{visited}] ran at {ran} offers {}", model.offers)
}

/// By how many ms each of a thousand timers runs early.
fn milliseconds_early() -> impl Iterator<Item = u64> {
    (5_000..6_000).map(|deadline| deadline - runs_at(deadline))
}

/// When a timer runs at a tick of 1 s, in ms.
fn runs_at(deadline: u64) -> u64 {
    let mut model = KafkaModel::new(1_000, 10);
    model.add(deadline, 0);
    model.drain().last().map_or(0, |poll| poll.expiry)
}

fn waits_or_runs(deadline: u64) -> String {
    let place = KafkaModel::new(1_000, 10).add(deadline, 0);
    place.map_or("runs at once", |_| "waits").to_owned()
}

/// Compares what the printed code printed, run by these versions of Go and of the JDK, with the
/// expected answers. Each line has a key, a tab and a value. A program that could not be run has no
/// lines, and then no rows.
///
/// # Errors
///
/// If a line has no tab, or its key is unknown, or there is no line.
pub fn compare(lines: &str, by: &str) -> Result<Vec<ComparedAnswer>> {
    let row = |line: &str| {
        let (key, printed) = line.split_once('\t').with_context(|| format!("no tab in: {line}"))?;
        let question = QUESTIONS.iter().find(|(of, ..)| *of == key);
        let (_, asked, model) = question.with_context(|| format!("there is no question {key}"))?;
        Ok(ComparedAnswer {
            id: key.split('.').next().unwrap_or(key).to_owned(),
            key: key.to_owned(),
            asked: (*asked).to_owned(),
            printed: printed.to_owned(),
            expected: model.map(|model| model()),
            by: by.to_owned(),
        })
    };
    let rows: Vec<_> = lines.lines().map(row).collect::<Result<_>>()?;
    ensure!(!rows.is_empty(), "nothing was printed: were Go and a JDK found?");
    Ok(rows)
}

/// The answers in the order of the questions. An earlier answer stays where there is no new one,
/// because its program could not be run.
pub fn merged(new: Vec<ComparedAnswer>, earlier: Vec<ComparedAnswer>) -> Vec<ComparedAnswer> {
    let all: Vec<_> = new.into_iter().chain(earlier).collect();
    QUESTIONS
        .iter()
        .filter_map(|(key, ..)| all.iter().find(|row| row.key == *key).cloned())
        .collect()
}

/// Writes the record of a run into the folder of the report.
pub fn write(rows: &[ComparedAnswer], dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    let json = serde_json::to_string_pretty(rows).context("cannot write the rows as JSON")? + "\n";
    write_whole(&dir.join(RECORD), json.as_bytes())
}

/// Reads the record in the folder of a report. It is empty if the printed code was not run for it.
pub fn read(dir: &Path) -> Result<Vec<ComparedAnswer>> {
    let path = dir.join(RECORD);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not a record", path.display()))
}

/// A sentence on how many answers agree.
pub fn tally(rows: &[ComparedAnswer]) -> String {
    let modelled = rows.iter().filter(|row| row.expected.is_some()).count();
    let disagree = rows.iter().filter(|row| !row.agrees()).count();
    let agree = modelled - disagree;
    format!("Models predict {modelled} of {} answers; {agree} are as predicted.", rows.len())
}

/// The rows of a run as a table.
pub fn table(rows: &[ComparedAnswer]) -> Table {
    let columns = ["question", "what is asked", "the printed code", "the model", "by"];
    let mut table = Table::new("Answers of the printed code", columns.map(Column::left).into());
    for row in rows {
        let mark = if row.agrees() { Mark::Plain } else { Mark::Wrong };
        table.rows.push(vec![
            Cell::text(&row.key),
            Cell::text(&row.asked),
            Cell::text(&row.printed).marked(mark),
            Cell::text(row.expected.as_deref().unwrap_or("-")),
            Cell::text(&row.by),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_different_answer_is_noticed() -> Result<()> {
        let rows = compare("B1.ticks\t[6]\nC11.key\tkey is empty", "go")?;
        assert_eq!([rows[0].agrees(), rows[1].agrees()], [false, true]);
        assert_eq!(tally(&rows), "Models predict 1 of 2 answers; 0 are as predicted.");
        Ok(())
    }

    #[test]
    fn a_statement_holds_if_all_answers_are_as_stated() -> Result<()> {
        let rows = compare("C11.key\tkey is empty\nC11.delay\tkey is empty\nB6.exit\t0", "go")?;
        let answers = |stated: &[(&str, &str)]| {
            let stated = stated.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
            answers(&stated.collect(), &rows)
        };
        let empty = "key is empty";
        let both = answers(&[("C11.key", empty), ("C11.delay", empty)]);
        assert_eq!(both, (Some(true), empty.to_owned()));
        assert_eq!(answers(&[("B6.exit", "2")]), (Some(false), "0, not 2".to_owned()));
        assert!(is_as_stated("1.7 times", "1.5..3") && is_as_stated("10 us", "..10"));
        assert!(!is_as_stated("3.1 times", "1.5..3") && !is_as_stated("many", "1.."));
        assert_eq!(answers(&[("B8.first", "x")]), (None, "not run".to_owned()));
        let stated = ["1.5..3", "100..", "..10", "x"].map(range_in_words);
        assert_eq!(stated, ["1.5 to 3", "100 or more", "10 or less", "x"]);
        Ok(())
    }

    #[test]
    fn the_record_answers_every_question_and_the_models_agree() -> Result<()> {
        let keys: Vec<_> = on_record().iter().map(|row| row.key.as_str()).collect();
        let missing: Vec<_> =
            QUESTIONS.iter().map(|it| it.0).filter(|key| !keys.contains(key)).collect();
        assert!(missing.is_empty(), "scripts/run-the-printed-code was not run since: {missing:?}");
        for row in on_record() {
            let compared = compare(&format!("{}\t{}", row.key, row.printed), &row.by)?;
            assert_eq!(compared, std::slice::from_ref(row));
            assert!(row.agrees(), "{row:?}");
        }
        Ok(())
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        assert!(compare("B99.x\t1", "go").unwrap_err().to_string().contains("B99.x"));
        assert!(compare("", "go").is_err() && compare("no tab", "go").is_err());
    }
}
