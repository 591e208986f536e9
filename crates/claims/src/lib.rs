#![doc = include_str!("../README.md")]

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
