//! Every claim comes out as it is on record, on a reduced range of n.

use wheelhouse_claims::{Scale, claims, judge};

#[test]
fn every_claim_comes_out_as_recorded() -> anyhow::Result<()> {
    let judgement = judge(claims()?, &Scale::REDUCED, |_| ())?;
    let unexpected: Vec<_> = judgement
        .unexpected()
        .map(|it| {
            let parts = judgement
                .evidence_on(&it.claim)
                .and_then(|evidence| evidence.finding(&it.claim.id));
            format!(
                "{}: {} and not {}: {}\n  {:?}",
                it.claim.id, it.verdict, it.claim.expected, it.figure, parts
            )
        })
        .collect();
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
    Ok(())
}
