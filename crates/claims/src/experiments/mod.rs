//! The experiments, by what they look at.
//!
//! Each is a function from a [`Scale`](crate::Scale) to [`Evidence`](crate::Evidence) that decides
//! one claim or several. It counts, on a virtual clock, and asks a structure only what any program
//! may ask: the public interface, and the meter. Where an article's own code is on trial a model of
//! it stands beside ours: `port` is Kafka's wheel as it is printed, on which several stand.

pub mod bugs;
mod bulk;
mod configured;
pub mod examples;
pub mod models;
pub mod ordered;
pub mod paper;
mod port;
pub mod wheels;

use crate::experiment::Experiment;
use anyhow::{Context, Result};

/// All experiments, in the order of the report.
pub fn all() -> impl Iterator<Item = Experiment> {
    [ordered::ALL, wheels::ALL, models::ALL, paper::ALL, bugs::ALL, examples::ALL]
        .into_iter()
        .flatten()
        .copied()
}

/// The experiment of a name.
///
/// # Errors
///
/// If there is none.
pub fn find(name: &str) -> Result<Experiment> {
    all()
        .find(|experiment| experiment.name == name)
        .with_context(|| format!("there is no experiment '{name}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_every_claim_finds_its_experiment() -> Result<()> {
        let names: Vec<_> = all().map(|experiment| experiment.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for claim in claims()? {
            claim.experiment.as_deref().map(find).transpose()?;
        }
        Ok(())
    }
}
