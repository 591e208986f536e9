//! What five articles claim of timer facilities, as data, and the experiments that decide which of it holds.
//!
//! A [`Claim`] is an entry of `claims.toml`: a sentence of an article in our words, what would confirm or refute it, the experiment that
//! decides, and the verdict that is on record. An [`Experiment`] is a program that counts: it runs structures of this workspace,
//! or a model of an article's printed code, on a virtual clock, and gives [`Evidence`]: tables, charts, and for each claim a
//! [`Finding`] with the [`Verdict`] that follows from what was counted.
//!
//! ```text
//!  claims.toml ──▶ Claim ─────────────────────────────┐
//!                    │ names                          ├──▶ Judged: verdict, expected, figure
//!  structures ──▶ Experiment ──▶ Evidence ─ Finding ──┘
//!                    │
//!          samples ─▶ classify ─▶ Growth          constant, logarithmic, linear, or undecided
//! ```
//!
//! What a person reads of it, [`report`] makes; [`instructions`] is a second opinion on the steps.
//!
//! Nothing here reads a clock. A class of growth is decided on operation counts, by [`classify`](growth::classify), whose own errors
//! are measured on planted costs ([`controls`]). Whoever changes a structure so that a claim no longer comes out as recorded sees it in
//! `cargo test`, and in the exit code of `wheelhouse claims`.
//!
//! ```
//! use wheelhouse_claims::{Scale, Verdict, claims, experiments};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let claim = claims()?.into_iter().find(|claim| claim.id == "E7").ok_or("no E7")?;
//! let experiment = experiments::find(claim.experiment.as_deref().ok_or("documentation only")?)?;
//! let evidence = experiment.run(&Scale::REDUCED);
//! assert_eq!(evidence.finding("E7").map(|found| found.verdict()), Some(Verdict::Confirmed));
//! # Ok(())
//! # }
//! ```

mod claim;
pub mod controls;
pub mod count;
mod evidence;
mod experiment;
pub mod experiments;
pub mod front;
pub mod growth;
pub mod instructions;
mod judge;
pub mod report;
mod scale;

pub use claim::{Article, Claim, Line, Verdict, claims, select, summary};
pub use evidence::{Chart, Evidence, Finding, Part, Series, Table};
pub use experiment::Experiment;
pub use judge::{Judged, Judgement, judge};
pub use scale::Scale;

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
