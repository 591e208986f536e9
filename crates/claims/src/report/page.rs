//! The contents of the report, independent of its format: answers first, method last.

use super::{pictures, tables};
use crate::controls::Controls;
use crate::front::{self, Front};
use crate::printed::{self, ComparedAnswer};
use crate::thresholds::Thresholds;
use crate::{
    Article, DecidedStatement, Experiment, JudgedClaim, Judgement, Origin, Outcome, Scale,
};
use wheelhouse_machine::provenance::{self, Provenance};
use wheelhouse_present::document::{Block, Document, Entry, Filter, Line};
use wheelhouse_present::table::{Mark, Table, distinct};

/// The results of a whole run.
#[derive(Clone, Copy, Debug)]
pub struct ReportInput<'a> {
    /// The claims, judged.
    pub judgement: &'a Judgement,
    /// The table of the front.
    pub front: &'a Front,
    /// The scale of the run.
    pub scale: &'a Scale,
    /// Planted costs, on which the classifier is tested.
    pub controls: &'a Controls,
    /// The answers of the articles' printed code, if it was run.
    pub printed: &'a [ComparedAnswer],
    /// When, where and from which sources the report was made.
    pub provenance: &'a Provenance,
}

/// The whole report: the front, ten headlines, the statements by article, the method.
pub fn whole(input: &ReportInput<'_>) -> Document {
    let mut blocks = opening(input, front::grid(input.front));
    blocks.push(Block::Heading("The statements, by article".to_owned()));
    blocks.push(Block::Text(STATEMENTS.to_owned()));
    blocks.extend(filters(input.judgement).map(Block::Filter));
    for article in Article::ALL {
        let source = Block::Text(article.source().to_owned());
        let entries = entries(article, input).map(Block::Entry);
        blocks.push(Block::Folded(
            format!("{}: {}", article.name(), article.title()),
            std::iter::once(source).chain(entries).collect(),
        ));
    }
    blocks.push(Block::Folded(
        "Method, other seeds, printed code, machine".to_owned(),
        method(input),
    ));
    Document { title: TITLE.to_owned(), subtitle: SUBTITLE.to_owned(), blocks }
}

/// The part of the report for a terminal: the front and the headlines.
pub fn brief(input: &ReportInput<'_>) -> Document {
    let mut blocks = opening(input, front::narrow(input.front));
    blocks.push(Block::Text(WAYS_ON.to_owned()));
    Document { title: TITLE.to_owned(), subtitle: SUBTITLE.to_owned(), blocks }
}

/// The report on some claims only, with all details of each.
pub fn selected(judgement: &Judgement) -> Document {
    let (name, subtitle) = match judgement.claims.as_slice() {
        [single] => (title(single), place(single)),
        several => (format!("{} claims", several.len()), tables::tally(judgement)),
    };
    let on_each = judgement.claims.iter().flat_map(|judged| {
        let heading = (judgement.claims.len() > 1).then(|| Block::Heading(title(judged)));
        let lines = Block::Lines(lines_of(judged));
        heading.into_iter().chain([lines]).chain(explained(judged, judgement))
    });
    Document { title: name, subtitle, blocks: on_each.collect() }
}

/// The answer to a question: the counts of the structures that it names, if any, and the statements
/// of the claims that match its words. `all` is the number of claims that match; `judgement` may
/// have fewer of them.
pub fn answers(judgement: &Judgement, all: usize, counted: Option<Block>) -> Document {
    let answered = judgement.claims.len();
    let on_each = judgement.claims.iter().flat_map(|judged| {
        let so = Block::Text(format!("So: {}", judged.claim.so));
        [Block::Heading(title(judged)), Block::Lines(lines_of(judged)), so]
    });
    let more = "--id CLAIM shows the data of a claim. ".to_owned();
    let left = match all - answered {
        0 => more,
        left => format!("{more}{left} more claims match; add words to find fewer."),
    };
    let blocks = counted.into_iter().chain(on_each).chain([Block::Text(left)]).collect();
    Document { title: String::new(), subtitle: tables::tally(judgement), blocks }
}

const TITLE: &str = "Which claims on timers hold?";
const SUBTITLE: &str = "The claims of five articles, decided by counted steps, by the code that \
    the articles print, and by sources. scripts/reproduce decides them again.";
const STATEMENTS: &str = "Each claim is split into statements. Each statement links to the page of \
    its claim, with data, plot, and the reason for the outcome. In parentheses is the figure that \
    decides it: if it is about growth, the steps at the smallest and at the largest n (or the \
    range of several costs at the largest n), and the class.";
const WAYS_ON: &str = "More: --question \"heap insert\" finds claims by words, --id C28 shows one \
    with its data, --out DIR writes the whole report.";

/// The opening of the report, on a page and on a terminal.
fn opening(input: &ReportInput<'_>, grid: Table) -> Vec<Block> {
    let mut blocks = unexpected(input.judgement);
    if *input.scale != Scale::WHOLE {
        blocks.push(Block::Warning("Counted on a reduced range of n.".to_owned()));
    }
    blocks.push(Block::Heading(front::QUESTION.to_owned()));
    blocks.push(Block::Text(front::answer(input.front)));
    blocks.push(Block::Table(grid));
    let caption = "Means over the seeds.".to_owned();
    blocks.extend(front::figure(input.front).map(|picture| Block::Picture(picture, caption)));
    blocks.push(Block::Heading("Ten headlines".to_owned()));
    blocks.push(Block::Lines(headlines(input.judgement)));
    blocks.push(Block::Text(tables::tally(input.judgement)));
    blocks
}

/// One warning for all statements that differ from the record, naming the first few.
fn unexpected(judgement: &Judgement) -> Vec<Block> {
    const SHOWN: usize = 8;
    let describe = |it: &DecidedStatement| {
        format!("{} {} ({})", it.id, it.outcome, it.difference_from_record().unwrap_or_default())
    };
    let missing = judgement.missing().into_iter().map(|id| format!("{id} (missing)"));
    let all: Vec<_> = judgement.unexpected().map(describe).chain(missing).collect();
    let more = if all.len() > SHOWN { " ..." } else { "" };
    let first = all[..all.len().min(SHOWN)].join(", ");
    let text = format!("{} differ from the record: {first}{more}", all.len());
    if all.is_empty() { Vec::new() } else { vec![Block::Warning(text)] }
}

/// The statements of a claim as lines: sentence, outcome, and the figure that decides.
fn lines_of(judged: &JudgedClaim) -> Vec<Line> {
    judged.statements.iter().map(|it| line(judged, it)).collect()
}

fn line(judged: &JudgedClaim, it: &DecidedStatement) -> Line {
    let outcome = it.outcome;
    let verdict =
        it.difference_from_record().map_or(outcome.to_string(), |how| format!("{outcome}, {how}"));
    let labels = [it.outcome.name(), judged.claim.article.name(), it.by.name(), it.whose.name()];
    Line {
        name: it.id.clone(),
        text: it.sentence.clone(),
        verdict,
        mark: mark(it),
        figure: it.number.clone(),
        labels: labels.map(str::to_owned).into(),
        entry: judged.claim.id.clone(),
    }
}

fn mark(it: &DecidedStatement) -> Mark {
    match it.outcome {
        _ if !it.matches_record() => Mark::Wrong,
        Outcome::Confirmed => Mark::Even,
        Outcome::Refuted => Mark::Bad,
        Outcome::Undecided => Mark::Muted,
    }
}

/// The ten statements that readers of the articles ask for first. Each is understood without its
/// claim.
const HEADLINES: [&str; 10] = [
    "C32.6",  // a wheel inserts in O(1), in any order
    "C36.2",  // Kafka's DelayQueue costs nothing
    "C28.4",  // a later task changes many indices of a heap
    "C32.11", // with a million timers a wheel is much better than Go's
    "C32.10", // a heap fires in O(log n)
    "C43.5",  // a wheel is ahead of a heap
    "C25.4",  // a list deletes in O(n)
    "C16.1",  // rounds scan a list at every tick
    "C42.1",  // a tick-driven wheel makes useless advances
    "B1.1",   // the printed code loses tasks
];

/// Those that were judged, each preceded by the article that says it.
fn headlines(judgement: &Judgement) -> Vec<Line> {
    let find = |id: &&str| {
        let claims = judgement.claims.iter();
        let mut all =
            claims.flat_map(|judged| judged.statements.iter().map(move |it| (judged, it)));
        let (judged, it) = all.find(|(_, it)| it.id == **id)?;
        let article = judged.claim.article.name();
        let is_ours = it.whose == Origin::Ours;
        let name = if is_ours { it.id.clone() } else { format!("{article} {}", it.id) };
        Some(Line { name, ..line(judged, it) })
    };
    HEADLINES.iter().filter_map(find).collect()
}

/// Filters by outcome, by article, by what decided, and by whose the statements are.
fn filters(judgement: &Judgement) -> impl Iterator<Item = Filter> {
    let lines: Vec<_> = judgement.claims.iter().flat_map(lines_of).collect();
    ["outcome", "article", "decided by", "whose"].into_iter().enumerate().map(move |(at, name)| {
        let labels = distinct(lines.iter().filter_map(|line| line.labels.get(at).cloned()));
        Filter { name: name.to_owned(), labels }
    })
}

/// The claims of an article, in the order of its lines.
fn entries(article: Article, input: &ReportInput<'_>) -> impl Iterator<Item = Entry> {
    let mut of: Vec<_> =
        input.judgement.claims.iter().filter(|judged| judged.claim.article == article).collect();
    of.sort_by_key(|judged| judged.claim.line.unwrap_or(u32::MAX));
    of.into_iter().map(|judged| Entry {
        name: judged.claim.id.clone(),
        title: title(judged),
        lines: lines_of(judged),
        blocks: explained(judged, input.judgement)
            .into_iter()
            .chain(printed_answers(judged, input))
            .collect(),
    })
}

/// The answers of the printed code, if the claim is about it.
fn printed_answers(judged: &JudgedClaim, input: &ReportInput<'_>) -> Option<Block> {
    let is_named = |key: &str| {
        judged.claim.by_printed_code.iter().any(|it| it.prints.keys().any(|named| named == key))
    };
    let of = input.printed.iter().filter(|row| row.id == judged.claim.id || is_named(&row.key));
    let rows: Vec<_> = of.cloned().collect();
    (!rows.is_empty()).then(|| Block::Table(printed::table(&rows)))
}

fn title(judged: &JudgedClaim) -> String {
    format!("{}: {}", judged.claim.id, judged.claim.says)
}

/// The article, the line and the title.
fn place(judged: &JudgedClaim) -> String {
    let line = judged.claim.line.map_or(String::new(), |line| format!(", line {line}"));
    format!("{}{line}: {}", judged.claim.article.name(), judged.claim.article.title())
}

/// The reason for the outcome, the pictures, and the tables.
fn explained(judged: &JudgedClaim, judgement: &Judgement) -> Vec<Block> {
    let name = judged.claim.experiment.as_deref();
    let ran = judgement.evidence.iter().find(|(experiment, _)| Some(experiment.name) == name);
    let mut blocks = vec![facts(judged, ran.map(|(experiment, _)| experiment))];
    if let Some((experiment, evidence)) = ran {
        blocks.extend(pictures::of(experiment, evidence).map(|(it, on)| Block::Picture(it, on)));
        blocks.extend(evidence.sweeps.iter().map(|sweep| Block::Table(sweep.table())));
    }
    blocks
}

fn facts(judged: &JudgedClaim, experiment: Option<&Experiment>) -> Block {
    let claim = &judged.claim;
    let all = [
        ("who", Some(place(judged))),
        ("its words", claim.original.clone()),
        ("why", Some(claim.because.clone())),
        ("so", Some(claim.so.clone())),
        ("source", claim.source.clone()),
        ("experiment", experiment.map(|it| format!("{}: {}", it.name, it.about))),
    ];
    Block::Facts(all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}

fn method(input: &ReportInput<'_>) -> Vec<Block> {
    let mut blocks = vec![
        Block::Heading("Method".to_owned()),
        Block::Text(STEPS.to_owned()),
        Block::Heading("Accuracy of the classifier".to_owned()),
        Block::Text(CLASSIFIER.to_owned()),
        Block::Table(input.controls.confusion(&Thresholds::default()).table()),
        Block::Text(POWER.to_owned()),
        Block::Table(input.controls.power(&Thresholds::default())),
        Block::Heading("Thresholds of our choice".to_owned()),
        Block::Text(THRESHOLDS.to_owned()),
        Block::Table(tables::thresholds(input.judgement, input.controls)),
    ];
    if !input.printed.is_empty() {
        blocks.push(Block::Heading("The printed code, run".to_owned()));
        blocks.push(Block::Text(format!("{PRINTED} {}", printed::tally(input.printed))));
        blocks.push(Block::Table(printed::table(input.printed)));
    }
    blocks.push(Block::Heading("Provenance".to_owned()));
    blocks.push(Block::Facts(provenance::facts(input.provenance)));
    blocks
}

const STEPS: &str = "A step is a comparison of two deadlines, a link followed or written, a slot \
    visited, an entry read to find due timers, an array element moved, or a timer moved to another \
    level. Access to fields of the timer itself is not counted. Outcomes are compared with the \
    record: if a change of the code changes one, the tests and the command fail.";

const CLASSIFIER: &str = "One rule on the differences from n to 2n distinguishes constant, \
    logarithmic and linear costs. The table applies it to planted costs, whose class is known, and \
    counts how often it gives each class. Another class is an error; undecided is not.";

const POWER: &str = "Each draw is a cost that grows by some steps for each doubling of n, with \
    noise of one to nine steps.";

const THRESHOLDS: &str = "If a threshold is halved or doubled, these statements have another \
    outcome. 'The controls show errors' means that the classifier then misjudges planted costs.";

const PRINTED: &str =
    "scripts/run-the-printed-code extracts the listings from the articles' texts and runs them.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Setup, claims, judge, outcomes};
    use wheelhouse_present::markdown;

    #[test]
    fn the_page_has_all_claims_in_folded_sections() -> anyhow::Result<()> {
        let setup = Setup::new(&Scale::REDUCED);
        let claims: Vec<_> = claims()?.into_iter().filter(|it| it.experiment.is_none()).collect();
        let judgement = judge(claims, &setup, |_| ())?;
        let page = whole(&ReportInput {
            judgement: &judgement,
            front: &Front { rows: Vec::new() },
            scale: &setup.scale,
            controls: &Controls::draw(&setup.scale, 1),
            printed: &[],
            provenance: &provenance::gather(0),
        });
        assert!(!page.blocks.iter().any(|block| matches!(block, Block::Entry(_))));
        assert!(judgement.claims.len() > 5);
        assert_eq!(page.entries().count(), judgement.claims.len());
        let line = "[C05.3](pages/C05.md) Quartz contains a trace of one. **refuted**";
        assert!(markdown::render(&page).contains(line));
        Ok(())
    }

    #[test]
    fn every_headline_is_a_statement_on_record() -> anyhow::Result<()> {
        let record = outcomes::recorded(&Scale::REDUCED)?;
        for name in HEADLINES {
            assert!(record.contains_key(name), "{name} is no statement any more");
        }
        Ok(())
    }
}
