//! Every statement comes out as it is on record, on a reduced range of n, and the controls are
//! sound.

use std::collections::BTreeSet;
use wheelhouse_claims::controls::Controls;
use wheelhouse_claims::outcomes::recorded;
use wheelhouse_claims::{Lab, Scale, claims, judge, thresholds::Thresholds};

#[test]
fn every_statement_comes_out_as_recorded() -> anyhow::Result<()> {
    let judgement = judge(claims()?, &Lab::new(&Scale::REDUCED), |_| ())?;
    let told = |it: &wheelhouse_claims::Decided| {
        format!("{} {} and not {:?}: {} ({})", it.id, it.outcome, it.recorded, it.quote, it.number)
    };
    let unexpected: Vec<_> = judgement.unexpected().map(told).collect();
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
    // Nor is anything on record that nothing decides any more.
    let decided: BTreeSet<_> = judgement.statements().map(|it| it.id.clone()).collect();
    let record: BTreeSet<_> = recorded()?.into_keys().collect();
    assert_eq!(decided, record);
    // Nor has a claim no statement, nor does a text name a number that there is none of.
    for judged in &judgement.judged {
        let (id, because) = (&judged.claim.id, judged.because());
        assert!(!judged.statements.is_empty(), "{id}");
        assert!(!because.contains('{'), "{id}: {because}");
    }
    Ok(())
}

#[test]
fn the_controls_are_sound() {
    let controls = Controls::draw(&Scale::REDUCED, 10);
    let confusion = controls.confusion(&Thresholds::default());
    assert!(confusion.is_sound(), "{} wrong, {} missed", confusion.wrong(), confusion.missed());
}
