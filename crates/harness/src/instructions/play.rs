//! The program that runs under callgrind: it plays one stream on one structure.
//!
//! It makes the stream again from its name, n and seed. Only [`PLAY_PHASE`] is counted.
//!
//! [`PLAY_PHASE`]: crate::structure::PLAY_PHASE

use super::plan;
use crate::stream::ExpectedAnswers;
use crate::structure;
use anyhow::{Context, Result};
use wheelhouse_workload::Checksum;

/// One stream on one structure.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct Play {
    /// Name of the backend.
    #[arg(long)]
    pub backend: String,
    /// Name of the workload or trace.
    #[arg(long)]
    pub workload: String,
    /// Number of timers.
    #[arg(long)]
    pub n: u32,
    /// Seed of the workload.
    #[arg(long)]
    pub seed: u64,
}

impl Play {
    /// The arguments for the command `wheelhouse` that call [`play`](Self::play).
    pub fn arguments(&self) -> Vec<String> {
        let (n, seed) = (self.n.to_string(), self.seed.to_string());
        let what = ["play-stream", "--backend", &self.backend, "--workload", &self.workload];
        let which = ["--n", &n, "--seed", &seed];
        what.into_iter().chain(which).map(str::to_owned).collect()
    }

    /// Plays the stream and returns the checksum over all answers.
    ///
    /// # Errors
    ///
    /// If there is no such backend, workload or trace.
    pub fn play(&self) -> Result<Checksum> {
        let stream = plan::stream(&self.workload, self.n, self.seed)?;
        let structures = structure::select(std::slice::from_ref(&self.backend))?;
        let structure = structures.first().context("no backend is named")?;
        // The parent process checks the answers: under callgrind the oracle would take a minute.
        let played = structure.play(&stream, &ExpectedAnswers::default());
        Ok(played.checksums.last().copied().unwrap_or_default())
    }
}
