//! The report on the claims, before it is set in type.

use super::{pictures, tables};
use crate::controls::Confusion;
use crate::{Article, Evidence, Experiment, Judged, Judgement, Line, Scale, summary};
use anyhow::{Context, Result};
use wheelhouse_machine::provenance::{self, Provenance};
use wheelhouse_present::document::{Block, Document};
use wheelhouse_present::table::Table;

/// The whole report: a summary, the articles from the first to the last with their claims, and what the classifier is worth.
///
/// # Errors
///
/// If the summary names a claim that was not judged.
pub fn whole(
    judgement: &Judgement,
    scale: &Scale,
    confusion: &Confusion,
    instructions: Option<Table>,
    made: &Provenance,
) -> Result<Document> {
    let mut blocks = unexpected(judgement);
    if *scale != Scale::WHOLE {
        let on = "Counted on a reduced range of n; the summary and what is said of each claim describe the whole range.";
        blocks.push(Block::Warning(on.to_owned()));
    }
    blocks.push(Block::Heading("In twelve lines".to_owned()));
    blocks.push(Block::Points(summary_lines(judgement)?));
    blocks.push(Block::Text(tables::tally(judgement)));
    blocks.push(Block::Table(tables::by_article(judgement)));
    blocks.push(Block::Text(HOW.to_owned()));
    for article in Article::ALL {
        blocks.push(Block::Heading(format!("{}: {}", article.name(), article.title())));
        blocks.push(Block::Text(article.source().to_owned()));
        let mut of: Vec<_> =
            judgement.judged.iter().filter(|judged| judged.claim.article == article).collect();
        // As a reader of the article comes to them.
        of.sort_by_key(|judged| judged.claim.line.unwrap_or(u32::MAX));
        blocks.extend(of.into_iter().flat_map(|judged| section(judged, judgement)));
    }
    blocks.push(Block::Heading("What the classifier is worth".to_owned()));
    blocks.push(Block::Text(CLASSIFIER.to_owned()));
    blocks.push(Block::Table(tables::counted(&confusion.table())));
    if let Some(table) = instructions {
        blocks.push(Block::Heading("A second opinion: instructions".to_owned()));
        blocks.push(Block::Text(INSTRUCTIONS.to_owned()));
        blocks.push(Block::Table(table));
    }
    blocks.push(Block::Heading("Where this comes from".to_owned()));
    blocks.push(Block::Facts(provenance::lines(made)));
    Ok(Document {
        title: "What the articles claim, and what holds".to_owned(),
        subtitle:
            "Decided by counting operations on a virtual clock; every figure can be made again"
                .to_owned(),
        blocks,
    })
}

/// The report on some claims only, with everything on each.
pub fn some(judgement: &Judgement) -> Document {
    let (title, subtitle) = match judgement.judged.as_slice() {
        [single] => (format!("{}: {}", single.claim.id, single.verdict), place(single)),
        several => (format!("{} claims", several.len()), tables::tally(judgement)),
    };
    let on_each = judgement.judged.iter().flat_map(|judged| {
        let heading =
            Block::Heading(format!("{} · {} · {}", judged.claim.id, judged.verdict, place(judged)));
        let heading = (judgement.judged.len() > 1).then_some(heading);
        heading
            .into_iter()
            .chain([Block::Text(judged.claim.says.clone())])
            .chain(explained(judged, judgement))
    });
    Document { title, subtitle, blocks: on_each.collect() }
}

/// Who says it, and where.
fn place(judged: &Judged) -> String {
    let line = judged.claim.line.map_or(String::new(), |line| format!(", line {line}"));
    format!("{}{line}: {}", judged.claim.article.name(), judged.claim.article.title())
}

/// The summary as it stands in a README.
///
/// # Errors
///
/// If it names a claim that was not judged.
pub fn summary_section(judgement: &Judgement) -> Result<String> {
    let lines = summary_lines(judgement)?
        .into_iter()
        .map(|line| format!("- {}\n", wheelhouse_present::table::markdown_escape(&line)));
    Ok(format!("{}\n{}\n", lines.collect::<String>(), tables::tally(judgement)))
}

const HOW: &str = "Each claim has a sentence in our words, a verdict, the figure that decides it, and the statements that the claim was taken \
    apart into, each with whether it holds: all hold and the claim is confirmed, none and it is refuted, some and it is nuanced. \
    A verdict follows from what was counted and is held to the one on record; a change of the code that changes one fails the tests. \
    A step is a comparison of two deadlines, a link followed or written, a slot looked into, an entry read in search of what is due, an element of an array moved, or a \
    timer moved from a level to another; fields of the timer itself are not counted.";

const CLASSIFIER: &str = "Constant, logarithmic and linear are told apart by a rule on the differences from n to 2n. Here the same rule is given \
    costs whose class is known. A class in the column of another would be an error; undecided is none.";

const INSTRUCTIONS: &str = "Steps are what the structures say of themselves. Instructions are what the processor was given, whatever they say: \
    a structure that grows here and not there would hide work from its meter. A step of one structure is not as many instructions as one of another, \
    so that the order of two can differ: a red-black tree, which branches and turns, takes two instructions for each of a heap, which it nearly equals in steps; \
    a skip list takes more steps than the tree to start a timer, and fewer instructions.";

fn unexpected(judgement: &Judgement) -> Vec<Block> {
    let warning = |judged: &Judged| {
        let id = &judged.claim.id;
        Block::Warning(format!(
            "{id} came out {}; on record is {}.",
            judged.verdict, judged.claim.expected
        ))
    };
    judgement.unexpected().map(warning).collect()
}

/// Each line of the summary with the verdicts that it rests on; it is taken back if one came out otherwise than on record.
fn summary_lines(judgement: &Judgement) -> Result<Vec<String>> {
    let line = |line: Line| {
        let of = |id: &String| {
            let judged = judgement.judged.iter().find(|judged| judged.claim.id == *id);
            judged.with_context(|| format!("the summary names {id}, which was not judged"))
        };
        let rests_on = line.claims.iter().map(of).collect::<Result<Vec<_>>>()?;
        let verdicts: Vec<_> =
            rests_on.iter().map(|it| format!("{} {}", it.claim.id, it.verdict)).collect();
        let taken_back = if rests_on.iter().all(|it| it.as_expected()) {
            ""
        } else {
            "No longer as on record: "
        };
        Ok(format!("{taken_back}{} ({})", line.says, verdicts.join(", ")))
    };
    summary()?.into_iter().map(line).collect()
}

/// A claim on the page: what is said open, what was counted folded. Data and pictures stand with the first claim that their experiment decides, but for
/// the tables that are of another.
fn section(judged: &Judged, judgement: &Judgement) -> Vec<Block> {
    let claim = &judged.claim;
    let line = claim.line.map_or(String::new(), |line| format!(" · line {line}"));
    let heading = format!("{}{line} · {}", claim.id, judged.verdict);
    let mut blocks = vec![Block::Subheading(heading), Block::Text(claim.says.clone())];
    let Some((experiment, evidence)) = ran(judged, judgement) else {
        blocks.push(Block::Text(claim.because.clone()));
        blocks.extend(
            claim
                .figure
                .as_ref()
                .map(|figure| Block::Text(format!("The article's figure: {figure}."))),
        );
        blocks
            .extend(claim.source.as_ref().map(|source| Block::Text(format!("Source: {source}."))));
        return blocks;
    };
    blocks.push(Block::Text(format!("{}. {}", judged.figure.trim_end_matches('.'), claim.because)));
    let mut folded = facts(judged, Some(experiment));
    folded.extend(parts(judged, evidence));
    match evidence.findings.first().filter(|found| found.claim != claim.id) {
        Some(first) => {
            folded.extend(set(evidence
                .tables
                .iter()
                .filter(|table| table.on == Some(claim.id.as_str()))));
            folded.push(Block::Text(format!("What else was counted stands with {}.", first.claim)));
        }
        None => {
            let mut pictures = drawn(experiment, evidence).into_iter();
            blocks.extend(pictures.next());
            folded.extend(set(evidence.tables_on(&claim.id)));
            folded.extend(pictures);
        }
    }
    blocks.push(Block::Folded("How it was decided".to_owned(), folded));
    blocks
}

/// Test, parts, data and pictures of a claim.
fn explained(judged: &Judged, judgement: &Judgement) -> Vec<Block> {
    let ran = ran(judged, judgement);
    let mut blocks = facts(judged, ran.map(|(experiment, _)| experiment));
    if let Some((experiment, evidence)) = ran {
        blocks.extend(parts(judged, evidence));
        blocks.extend(set(evidence.tables_on(&judged.claim.id)));
        blocks.extend(drawn(experiment, evidence));
    }
    blocks
}

fn facts(judged: &Judged, experiment: Option<&Experiment>) -> Vec<Block> {
    let claim = &judged.claim;
    let all = [
        ("verdict", Some(judged.verdict.to_string())),
        ("on record", Some(claim.expected.to_string())),
        ("figure", Some(judged.figure.clone()).filter(|figure| !figure.is_empty())),
        ("the article's figure", claim.figure.clone()),
        ("what would decide", Some(claim.test.clone())),
        ("why", Some(claim.because.clone())),
        ("source", claim.source.clone()),
        (
            "experiment",
            experiment.map(|experiment| format!("{}: {}", experiment.name, experiment.about)),
        ),
    ];
    vec![Block::Facts(all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())]
}

fn parts(judged: &Judged, evidence: &Evidence) -> Option<Block> {
    let found = evidence.finding(&judged.claim.id)?;
    Some(Block::Points(found.parts.iter().map(told).collect()))
}

fn set<'a>(counted: impl Iterator<Item = &'a crate::Table>) -> impl Iterator<Item = Block> {
    counted.map(|table| Block::Table(tables::counted(table)))
}

fn told(part: &crate::Part) -> String {
    let holds = match part.holds {
        Some(true) => "holds",
        Some(false) => "does not hold",
        None => "undecided",
    };
    format!("{holds}: {}", part.statement)
}

fn drawn(experiment: &Experiment, evidence: &Evidence) -> Vec<Block> {
    pictures::of(experiment, evidence)
        .into_iter()
        .map(|(picture, caption)| Block::Picture(picture, caption))
        .collect()
}

/// The experiment on a claim, and what it gave.
fn ran<'a>(judged: &Judged, judgement: &'a Judgement) -> Option<(&'a Experiment, &'a Evidence)> {
    let name = judged.claim.experiment.as_deref()?;
    judgement
        .evidence
        .iter()
        .find(|(experiment, _)| experiment.name == name)
        .map(|(experiment, evidence)| (experiment, evidence))
}
