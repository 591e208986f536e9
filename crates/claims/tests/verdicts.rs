//! Every statement has the outcome on record, on a reduced range of n, and the controls are sound.
//! The report agrees with the record.

use anyhow::Context;
use std::collections::BTreeSet;
use std::path::Path;
use wheelhouse_claims::controls::Controls;
use wheelhouse_claims::outcomes::{recorded, reported};
use wheelhouse_claims::{Outcome, Scale, Setup, claims, judge, select, thresholds::Thresholds};

/// The remedy if the record or the report differs.
const RENEW: &str = "follow step 3 of `Adding a claim` in README.md";

#[test]
fn every_statement_has_the_outcome_on_record() -> anyhow::Result<()> {
    let judgement = judge(claims()?, &Setup::new(&Scale::REDUCED), |_| ())?;
    let describe = |it: &wheelhouse_claims::DecidedStatement| {
        let how = it.difference_from_record().unwrap_or_default();
        format!("{} {}, {how}: {} ({})", it.id, it.outcome, it.sentence, it.number)
    };
    let unexpected: Vec<_> = judgement.unexpected().map(describe).collect();
    assert!(unexpected.is_empty(), "{}\nif this is intended, {RENEW}", unexpected.join("\n"));
    assert_eq!(judgement.missing(), [] as [&str; 0]);
    let decided: BTreeSet<_> = judgement.statements().map(|it| it.id.clone()).collect();
    for judged in &judgement.claims {
        let id = &judged.claim.id;
        assert!(!judged.statements.is_empty(), "{id} has no statement");
        for number in judged.claim.sharpened.iter().chain(&judged.claim.ours) {
            assert!(decided.contains(&format!("{id}.{number}")), "{id} marks {number}");
        }
    }
    // The report has the same statements.
    let of_report: BTreeSet<_> = reported()?.into_iter().map(|it| it.id).collect();
    assert_eq!(decided, of_report, "results/claims is of other statements: scripts/reproduce");
    Ok(())
}

#[test]
fn the_pages_of_the_report_agree_with_its_verdicts() -> anyhow::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/claims");
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).with_context(|| path.display().to_string())
    };
    let readme = plain(&read("README.md")?);
    let record = recorded(&Scale::WHOLE)?;
    for it in reported()? {
        let of = it.id.split('.').next().unwrap_or_default();
        let page = plain(&read(&format!("pages/{of}.md"))?);
        let line = plain(&format!("{} **{}** ({})", it.sentence, it.outcome, it.number));
        assert!(readme.contains(&line), "README.md of results/claims has not: {line}; {RENEW}");
        assert!(page.contains(&line), "pages/{of}.md of results/claims has not: {line}; {RENEW}");
        assert_eq!(
            record.get(&it.id).map(|recorded| recorded.outcome),
            Some(it.outcome),
            "{}; {RENEW}",
            it.id
        );
    }
    Ok(())
}

/// Removes the escapes of Markdown.
fn plain(markdown: &str) -> String {
    markdown.replace('\\', "").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// The comparison with the record notices a missing statement, as when an experiment returns early,
/// and another outcome, figure or sentence.
#[test]
fn a_difference_from_the_record_is_noticed() -> anyhow::Result<()> {
    let c46 = select(&["C46".to_owned()])?;
    let mut judgement = judge(c46, &Setup::new(&Scale::REDUCED), |_| ())?;
    assert_eq!((judgement.unexpected().count(), judgement.missing().len()), (0, 0));
    let statements = &mut judgement.claims[0].statements;
    statements.retain(|it| it.id != "C46.2");
    statements[0].outcome = Outcome::Undecided;
    let figure = &mut statements[1].number;
    *figure = figure.replace("639", "600");
    statements[2].sentence = "Not so.".to_owned();
    let unexpected: Vec<_> = judgement.unexpected().map(|it| it.id.as_str()).collect();
    assert_eq!(unexpected, ["C46.6", "C46.7", "C46.8"]);
    assert_eq!(judgement.missing(), ["C46.2"]);
    // A new report replaces the figures and sentences on record, but not the outcomes.
    let reported = judgement.comparing_outcomes_only();
    assert_eq!(reported.unexpected().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["C46.6"]);
    Ok(())
}

#[test]
fn the_controls_are_sound() {
    let controls = Controls::draw(&Scale::REDUCED, 10);
    let confusion = controls.confusion(&Thresholds::default());
    assert!(confusion.is_sound(), "{} wrong, {} missed", confusion.wrong(), confusion.missed());
}
