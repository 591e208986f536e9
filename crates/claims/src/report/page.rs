//! The report on the claims, before it is set in type.

use super::{pictures, tables};
use crate::controls::Confusion;
use crate::thresholds::{Threshold, Thresholds};
use crate::{Article, Judged, Judgement, Scale};
use wheelhouse_machine::provenance::{self, Provenance};
use wheelhouse_present::document::{Block, Document};
use wheelhouse_present::table::{Cell, Column, Table};

/// The whole report: the articles from the first to the last with their claims, and what the method is worth.
pub fn whole(
    judgement: &Judgement,
    scale: &Scale,
    confusion: &Confusion,
    made: &Provenance,
) -> Document {
    let mut blocks = Vec::new();
    blocks.extend(judgement.unexpected().map(|it| {
        let recorded = it.recorded.map_or("nothing", crate::Outcome::name);
        Block::Warning(format!("{} came out {}; on record is {recorded}.", it.id, it.outcome))
    }));
    if *scale != Scale::WHOLE {
        blocks.push(Block::Warning("Counted on a reduced range of n.".to_owned()));
    }
    blocks.push(Block::Text(tables::tally(judgement)));
    blocks.push(Block::Table(tables::by_article(judgement)));
    for article in Article::ALL {
        blocks.push(Block::Heading(format!("{}: {}", article.name(), article.title())));
        blocks.push(Block::Text(article.source().to_owned()));
        let mut of: Vec<_> =
            judgement.judged.iter().filter(|judged| judged.claim.article == article).collect();
        of.sort_by_key(|judged| judged.claim.line.unwrap_or(u32::MAX));
        for judged in of {
            blocks.push(Block::Subheading(format!("{} · {}", judged.claim.id, place(judged))));
            blocks.push(Block::Text(judged.claim.says.clone()));
            blocks.extend(explained(judged, judgement));
        }
    }
    blocks.push(Block::Heading("The method, and what it is worth".to_owned()));
    blocks.push(Block::Table(tables::counted(&confusion.table())));
    blocks.push(Block::Table(thresholds(judgement)));
    blocks.push(Block::Facts(provenance::lines(made)));
    Document {
        title: "What the articles claim, and what holds".to_owned(),
        subtitle: "Decided by counting operations on a virtual clock".to_owned(),
        blocks,
    }
}

/// The report on some claims only, with everything on each.
pub fn some(judgement: &Judgement) -> Document {
    let (title, subtitle) = match judgement.judged.as_slice() {
        [single] => (single.claim.id.clone(), place(single)),
        several => (format!("{} claims", several.len()), tables::tally(judgement)),
    };
    let on_each = judgement.judged.iter().flat_map(|judged| {
        let heading = Block::Heading(format!("{} · {}", judged.claim.id, place(judged)));
        let heading = (judgement.judged.len() > 1).then_some(heading);
        let says = [Block::Text(judged.claim.says.clone())];
        heading.into_iter().chain(says).chain(explained(judged, judgement))
    });
    Document { title, subtitle, blocks: on_each.collect() }
}

/// Who says it, and where.
fn place(judged: &Judged) -> String {
    let line = judged.claim.line.map_or(String::new(), |line| format!(", line {line}"));
    format!("{}{line}: {}", judged.claim.article.name(), judged.claim.article.title())
}

/// Statements, data and pictures of a claim.
fn explained(judged: &Judged, judgement: &Judgement) -> Vec<Block> {
    let told = |it: &crate::Decided| {
        format!("{} {}: {} ({}; {})", it.id, it.outcome, it.quote, it.number, it.by.name())
    };
    let mut blocks = vec![
        Block::Points(judged.statements.iter().map(told).collect()),
        Block::Text(judged.because()),
    ];
    let ran = judgement.evidence.iter();
    let of = judged.claim.experiment.as_deref();
    if let Some((experiment, evidence)) = ran.into_iter().find(|it| Some(it.0.name) == of) {
        blocks.push(Block::Text(format!("Experiment {}: {}.", experiment.name, experiment.about)));
        blocks.extend(evidence.tables.iter().map(|it| Block::Table(tables::counted(it))));
        let drawn = pictures::of(experiment, evidence).into_iter();
        blocks.extend(drawn.map(|(picture, caption)| Block::Picture(picture, caption)));
    }
    blocks
}

/// Every threshold, its value, and the statements that come out otherwise with half and with double.
pub fn thresholds(judgement: &Judgement) -> Table {
    let columns = [
        Column::left("threshold"),
        Column::right("value"),
        Column::left("otherwise at half"),
        Column::left("otherwise at double"),
    ];
    let mut table = Table::new("All numbers of our own, and what hangs on them", columns.into());
    for threshold in Threshold::ALL {
        let otherwise = |factor| {
            let changed = judgement.with(*threshold, factor);
            let told = |(id, outcome): &(_, crate::Outcome)| format!("{id} {outcome}");
            let told = changed.iter().map(told).collect::<Vec<_>>().join(", ");
            if told.is_empty() { "none".to_owned() } else { told }
        };
        let value = Thresholds::default().of(*threshold);
        table.rows.push(vec![
            Cell::text(threshold.what()).wrapped(40),
            Cell::figure(value, value.to_string()),
            Cell::text(otherwise(0.5)).wrapped(40),
            Cell::text(otherwise(2.0)).wrapped(40),
        ]);
    }
    table
}
