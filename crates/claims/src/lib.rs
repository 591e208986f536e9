//! The claims of five articles about timer structures, as data, and the experiments that decide
//! which hold.
//!
//! A [`Claim`] is an entry of `claims.toml`: a phrase of an article, its translation, and the
//! reason for the outcome. It is split into *statements*, each confirmed, refuted or undecided.
//! Each has a mark ([`Origin`]): the article's, the article's in a sharper form, ours, or the
//! literature's. An [`Experiment`] counts the operations of a structure of this workspace, or of a
//! model of an article's printed code, on a virtual clock. Outcomes, figures and sentences are
//! [recorded](outcomes).
//!
//! ```text
//!  claims.toml ──▶ Claim ──────────────────────────────────────╮
//!                    │ names                                   ├─▶ JudgedClaim: as recorded or not
//!  structures ──▶ Experiment ──▶ Evidence: statements, tables ─╯
//!    (Setup)         │
//!          samples ─▶ Shape                class, slope per doubling with its interval, spikes
//! ```
//!
//! No outcome of an experiment depends on a measured time. Statements about times are decided by
//! sources or by the printed code. The report's first table also shows times ([`front`]), which
//! decide nothing. Operation counts decide how a cost grows ([`growth`]).
//! [Instructions](instructions) decide which of two structures is cheaper, because a step of one
//! may cost more than a step of the other. The code that decides the growth is tested on costs of
//! known growth ([`controls`]). Planted faults must change the outcomes of claims ([`fault`]). All
//! thresholds of the experiments are in one table ([`thresholds`]). If a statement differs from the
//! record, `cargo test` and `wheelhouse claims` fail.
//!
//! ```
//! use wheelhouse_claims::{Outcome, Scale, Setup, judge, select};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let judgement = judge(select(&["B1".to_owned()])?, &Setup::new(&Scale::REDUCED), |_| ())?;
//! let lost = judgement.statement("B1.1").ok_or("no B1.1")?;
//! assert_eq!((lost.outcome, lost.matches_record()), (Outcome::Confirmed, true));
//! # Ok(())
//! # }
//! ```

#[macro_use]
mod words;

mod claim;
pub mod controls;
pub mod count;
mod evidence;
pub mod experiments;
pub mod fault;
pub mod front;
pub mod growth;
pub mod instructions;
mod judge;
mod life;
pub mod outcomes;
pub mod printed;
pub mod report;
mod setup;
mod statement;
pub mod thresholds;

pub use claim::{Article, Claim, Origin, PrintedCodeStatement, SourcedStatement, claims, select};
pub use evidence::{Evidence, Sweep};
pub use experiments::Experiment;
pub use judge::{DecidedStatement, JudgedClaim, Judgement, judge};
pub use setup::{Scale, Setup};
pub use statement::{Criterion, EvidenceKind, Outcome, StatedGrowth, Statement};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
