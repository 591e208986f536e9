//! Runs experiments and holds what comes out to what is on record.

use crate::{Claim, Evidence, Experiment, Scale, Verdict, experiments};
use anyhow::Result;
use serde::Serialize;

/// A claim and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// The claim.
    pub claim: Claim,
    /// What came out.
    pub verdict: Verdict,
    /// The figure that decides; empty for documentation.
    pub figure: String,
}

impl Judged {
    /// Whether it came out as recorded.
    pub fn as_expected(&self) -> bool {
        self.verdict == self.claim.expected
    }
}

/// Claims judged, and the evidence.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// In the order of the claims that were asked about.
    pub judged: Vec<Judged>,
    /// What each experiment gave, in the order in which they ran.
    pub evidence: Vec<(Experiment, Evidence)>,
}

impl Judgement {
    /// The evidence on a claim.
    pub fn evidence_on(&self, claim: &Claim) -> Option<&Evidence> {
        let name = claim.experiment.as_deref()?;
        self.evidence
            .iter()
            .find(|(experiment, _)| experiment.name == name)
            .map(|(_, evidence)| evidence)
    }

    /// Those that came out otherwise than recorded.
    pub fn unexpected(&self) -> impl Iterator<Item = &Judged> {
        self.judged.iter().filter(|judged| !judged.as_expected())
    }
}

/// Runs the experiments that these claims name, each once, and judges the claims. `before` is told of each experiment before it runs.
///
/// # Errors
///
/// If a claim names an experiment that does not exist.
pub fn judge(
    claims: Vec<Claim>,
    scale: &Scale,
    mut before: impl FnMut(&Experiment),
) -> Result<Judgement> {
    let mut evidence: Vec<(Experiment, Evidence)> = Vec::new();
    for name in claims.iter().filter_map(|claim| claim.experiment.as_deref()) {
        if evidence.iter().all(|(ran, _)| ran.name != name) {
            let experiment = experiments::find(name)?;
            before(&experiment);
            evidence.push((experiment, experiment.run(scale)));
        }
    }
    let mut judgement = Judgement { judged: Vec::new(), evidence };
    judgement.judged = claims.into_iter().map(|claim| judged(claim, &judgement)).collect();
    Ok(judgement)
}

/// A claim whose experiment says nothing about it is undecided.
fn judged(claim: Claim, judgement: &Judgement) -> Judged {
    if claim.experiment.is_none() {
        return Judged { claim, verdict: Verdict::Documentation, figure: String::new() };
    }
    let found = judgement.evidence_on(&claim).and_then(|evidence| evidence.finding(&claim.id));
    let (verdict, figure) =
        found.map_or((Verdict::Undecided, String::new()), |it| (it.verdict(), it.figure.clone()));
    Judged { claim, verdict, figure }
}
