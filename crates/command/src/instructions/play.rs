//! What runs under callgrind: one stream on one structure.
//!
//! The stream is made anew here, from its name, n and seed. Only [`PLAY_PHASE`] is counted.
//!
//! [`PLAY_PHASE`]: wheelhouse_harness::contender::PLAY_PHASE

use super::plan;
use anyhow::{Context, Result};
use std::io::Read;
use wheelhouse_harness::contender;
use wheelhouse_harness::idle::{self, PLAYER};
use wheelhouse_harness::stream::Solution;
use wheelhouse_present::console;

/// One stream on one structure.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub(crate) struct Play {
    /// Name of the backend, or `player`, which is told on standard input how many timers fire.
    #[arg(long)]
    pub(crate) backend: String,
    /// Name of the workload or trace.
    #[arg(long)]
    pub(crate) workload: String,
    /// Timers.
    #[arg(long)]
    pub(crate) n: u32,
    /// Of the workload.
    #[arg(long)]
    pub(crate) seed: u64,
}

impl Play {
    /// The arguments that lead here.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let (n, seed) = (self.n.to_string(), self.seed.to_string());
        let what = ["play-stream", "--backend", &self.backend, "--workload", &self.workload];
        let which = ["--n", &n, "--seed", &seed];
        what.into_iter().chain(which).map(str::to_owned).collect()
    }

    /// Plays, and prints the checksum over all answers.
    ///
    /// # Errors
    ///
    /// If there is no such backend, workload or trace.
    pub(crate) fn play(&self) -> Result<()> {
        let stream = plan::stream(&self.workload, self.n, self.seed)?;
        if self.backend == PLAYER {
            return console::print(idle::play(&stream, &told()?));
        }
        let contenders = contender::select(std::slice::from_ref(&self.backend))?;
        let contender = contenders.first().context("no backend is named")?;
        // The answers are judged by who started this: under callgrind the oracle would take a
        // minute.
        let played = contender.play(&stream, &Solution::default());
        console::print(played.checksums.last().copied().unwrap_or_default())
    }
}

/// Numbers as they are written to the player's input.
pub(crate) fn tell(counts: &[u32]) -> Vec<u8> {
    counts.iter().flat_map(|count| count.to_le_bytes()).collect()
}

/// The numbers on standard input.
fn told() -> Result<Vec<u32>> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).context("cannot read how many timers fire")?;
    let words = bytes.chunks_exact(4);
    Ok(words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}
