//! Shows results: tables, plots and pages of figures. Nothing here depends on timers.
//!
//! ```text
//!  samples ──▶ stats ──▶ units ──▶ table ──┐
//!                                          ├──▶ document ──▶ html, markdown, plain
//!  points ───▶ plot ───────────────────────┘                      │
//!                                                 files, splice ◀─┘
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`stats`] | median, spread, and the interval of a ratio |
//! | [`units`] | figures as people read them |
//! | [`table`] | a table, and its forms: terminal, Markdown, JSON |
//! | [`plot`] | line charts as SVG: axes, colours, marks |
//! | [`document`] | a page as a list of blocks |
//! | [`html`], [`markdown`], [`plain`] | renderers of a page |
//! | [`files`] | files that are written completely or not at all, and links between them |
//! | [`splice`] | a generated part of a page that is otherwise written by hand |
//! | [`console`] | results to standard output, remarks to standard error |
//! | [`progress`] | the progress of a long run |
//! | [`unknown`] | the error about an unknown name |
//!
//! A page is built once, as a [`document::Document`]. The three renderers only format it, so they
//! all say the same.

pub mod console;
pub mod document;
pub mod files;
pub mod html;
pub mod markdown;
pub mod plain;
pub mod plot;
pub mod progress;
pub mod splice;
pub mod stats;
pub mod table;
pub mod units;
pub mod unknown;

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
