//! Runs experiments and compares the outcomes with the record.

use crate::claim::Origin;
use crate::outcomes::{self, Record, RecordedStatement};
use crate::statement::{EvidenceKind, Outcome};
use crate::thresholds::{Threshold, Thresholds};
use crate::{Claim, Evidence, Experiment, Setup, experiments, printed};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Mutex;
use wheelhouse_machine::processor;

/// A statement and its outcome.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct DecidedStatement {
    /// The claim and a number, as `C28.2`.
    pub id: String,
    /// The sentence.
    pub sentence: String,
    /// The author of the statement.
    pub whose: Origin,
    /// The kind of evidence that decides it.
    pub by: EvidenceKind,
    /// The figure that decides, in a few words; for a source, what the source says.
    pub number: String,
    /// The outcome of this run.
    pub outcome: Outcome,
    /// The record: outcome, figure and sentence.
    #[serde(skip)]
    pub recorded: Option<RecordedStatement>,
}

impl DecidedStatement {
    /// Returns `true` if outcome, figure and sentence equal the record.
    pub fn matches_record(&self) -> bool {
        self.difference_from_record().is_none()
    }

    /// Returns how it differs from the record, if it does.
    pub fn difference_from_record(&self) -> Option<String> {
        let Some(recorded) = &self.recorded else { return Some("not on record".to_owned()) };
        let figure =
            recorded.figure.as_ref().filter(|it| !outcomes::figures_agree(it, &self.number));
        if recorded.outcome != self.outcome {
            Some(format!("not {}", recorded.outcome))
        } else if let Some(figure) = figure {
            Some(format!("on record with '{figure}'"))
        } else {
            let reworded = recorded.sentence.as_ref().filter(|it| **it != self.sentence);
            reworded.map(|sentence| format!("on record as '{sentence}'"))
        }
    }
}

/// A claim and the outcomes of its statements.
#[derive(Clone, Debug)]
pub struct JudgedClaim {
    /// The claim.
    pub claim: Claim,
    /// Its statements.
    pub statements: Vec<DecidedStatement>,
}

/// The claims, judged, and the evidence.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The claims, in the order in which they were passed.
    pub claims: Vec<JudgedClaim>,
    /// The experiments that ran, with what they found.
    pub evidence: Vec<(Experiment, Evidence)>,
    record: Record,
}

impl Judgement {
    /// All statements, in the order of the claims.
    pub fn statements(&self) -> impl Iterator<Item = &DecidedStatement> + Clone {
        self.claims.iter().flat_map(|judged| &judged.statements)
    }

    /// The statement with this id.
    pub fn statement(&self, id: &str) -> Option<&DecidedStatement> {
        self.statements().find(|it| it.id.eq_ignore_ascii_case(id))
    }

    /// The ids on record that nothing decided, although their claims were selected.
    pub fn missing(&self) -> Vec<String> {
        let is_asked = |id: &str| {
            let of = id.split_once('.').map_or(id, |(of, _)| of);
            self.claims.iter().any(|judged| judged.claim.id == of)
        };
        let record = self.record.keys().filter(|id| is_asked(id));
        record.filter(|id| self.statement(id).is_none()).cloned().collect()
    }

    /// Accepts all figures and sentences as they are, since a new report replaces those on record.
    /// Outcomes of experiments are still compared.
    #[must_use]
    pub fn comparing_outcomes_only(&self) -> Self {
        let mut reported = self.clone();
        let statements = reported.claims.iter_mut().flat_map(|judged| &mut judged.statements);
        for it in statements {
            let on_record = it.recorded.as_ref().map(|recorded| recorded.outcome);
            let outcome = if it.by.is_experiment() { on_record } else { Some(it.outcome) };
            let any = |outcome| RecordedStatement { outcome, figure: None, sentence: None };
            it.recorded = outcome.map(any);
        }
        reported
    }

    /// The statements that differ from the record, or are not on record.
    pub fn unexpected(&self) -> impl Iterator<Item = &DecidedStatement> {
        self.statements().filter(|it| !it.matches_record())
    }

    /// The new record of the statements that experiments decide: outcomes, figures and sentences.
    pub fn record(&self) -> Record {
        let recorded = |it: &DecidedStatement| RecordedStatement {
            outcome: it.outcome,
            figure: Some(it.number.clone()),
            sentence: Some(it.sentence.clone()),
        };
        let of_experiments = self.statements().filter(|it| it.by.is_experiment());
        of_experiments.map(|it| (it.id.clone(), recorded(it))).collect()
    }

    /// The statements whose outcome changes if a threshold is multiplied: (id, new outcome).
    pub fn changed_by(&self, threshold: Threshold, factor: f64) -> Vec<(&'static str, Outcome)> {
        let (as_is, other) =
            (Thresholds::default(), Thresholds::default().scaled(threshold, factor));
        let statements = self.evidence.iter().flat_map(|(_, evidence)| &evidence.statements);
        let changed = statements.filter_map(|it| {
            let outcome = it.criterion.outcome(&other);
            (outcome != it.criterion.outcome(&as_is)).then_some((it.id, outcome))
        });
        changed.collect()
    }
}

/// Runs the experiments that these claims name, each once, on all processors, and judges the
/// claims. Calls `before` when an experiment begins.
///
/// # Errors
///
/// If a claim names an experiment that does not exist, or the record cannot be read.
pub fn judge(
    claims: Vec<Claim>,
    setup: &Setup,
    before: impl FnMut(&Experiment) + Send,
) -> Result<Judgement> {
    let names: BTreeSet<_> = claims.iter().filter_map(|it| it.experiment.as_deref()).collect();
    names.iter().try_for_each(|name| experiments::find(name).map(|_| ()))?;
    let chosen = experiments::ALL.iter().filter(|experiment| names.contains(experiment.name));
    let chosen: Vec<Experiment> = chosen.copied().collect();
    let before = Mutex::new(before);
    let evidence = processor::on_all(&chosen, |experiment| {
        before.lock().expect("no thread panics with the lock")(&experiment);
        (experiment, experiment.run(setup))
    });
    let record = outcomes::recorded(&setup.scale)?;
    let claims = claims.into_iter().map(|claim| judged(claim, &evidence, &record)).collect();
    Ok(Judgement { claims, evidence, record })
}

fn judged(claim: Claim, evidence: &[(Experiment, Evidence)], record: &Record) -> JudgedClaim {
    let thresholds = Thresholds::default();
    let decided = |id: &str, sentence: &str, by: EvidenceKind, number: String, outcome: Outcome| {
        DecidedStatement {
            id: id.to_owned(),
            sentence: sentence.to_owned(),
            whose: claim.origin(number_of(id)),
            by,
            number,
            outcome,
            recorded: record.get(id).cloned(),
        }
    };
    let is_of = |id: &str| id.split_once('.').is_some_and(|(of, _)| of == claim.id);
    let all = evidence.iter().flat_map(|(_, evidence)| &evidence.statements);
    let counted = all.filter(|statement| is_of(statement.id)).map(|it| {
        decided(it.id, &it.sentence, it.by, it.number.clone(), it.criterion.outcome(&thresholds))
    });
    let by_sources = claim.by_sources.iter().map(|it| {
        decided(&it.id, &it.sentence, EvidenceKind::Sources, it.says.clone(), it.outcome)
    });
    let by_printed_code = claim.by_printed_code.iter().map(|it| {
        let (holds, answers) = printed::answers(&it.prints, printed::on_record());
        decided(&it.id, &it.sentence, EvidenceKind::PrintedCode, answers, holds.into())
    });
    let mut statements: Vec<_> = counted.chain(by_sources).chain(by_printed_code).collect();
    statements.sort_by_key(|it| number_of(&it.id));
    JudgedClaim { claim, statements }
}

/// The number of a statement within its claim.
fn number_of(id: &str) -> u32 {
    id.split_once('.').and_then(|(_, number)| number.parse().ok()).unwrap_or(u32::MAX)
}
