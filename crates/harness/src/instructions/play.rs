//! The program that runs under callgrind: it plays one stream on one structure.
//!
//! It makes the stream again from its name, n and seed. Only [`PLAY_PHASE`] is counted.
//!
//! [`PLAY_PHASE`]: crate::contender::PLAY_PHASE

use super::plan;
use crate::contender;
use crate::idle::{self, PLAYER};
use crate::stream::ExpectedAnswers;
use anyhow::{Context, Result};
use std::io::Read;
use wheelhouse_workload::Checksum;

/// One stream on one structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Play {
    /// Name of the backend, or `player`, which reads on standard input how many timers fire.
    pub backend: String,
    /// Name of the workload or trace.
    pub workload: String,
    /// Number of timers.
    pub n: u32,
    /// The seed of the workload.
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
        if self.backend == PLAYER {
            return Ok(idle::play(&stream, &read_counts()?));
        }
        let contenders = contender::select(std::slice::from_ref(&self.backend))?;
        let contender = contenders.first().context("no backend is named")?;
        // The parent process checks the answers: under callgrind the oracle would take a minute.
        let played = contender.play(&stream, &ExpectedAnswers::default());
        Ok(played.checksums.last().copied().unwrap_or_default())
    }
}

/// Encodes numbers for the player's standard input.
pub(super) fn encode_counts(counts: &[u32]) -> Vec<u8> {
    counts.iter().flat_map(|count| count.to_le_bytes()).collect()
}

/// Reads the numbers from standard input.
fn read_counts() -> Result<Vec<u32>> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).context("cannot read how many timers fire")?;
    let words = bytes.chunks_exact(4);
    Ok(words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}
