//! Faults of the code and the text that the articles print: a model of it shows the fault, and ours, in the same situation, does not.

mod circles;
mod example_texts;
mod port;

use crate::experiment::Experiment;

/// In the order of the report.
pub const ALL: &[Experiment] = &[
    circles::B1,
    circles::B2,
    circles::B3,
    circles::B5,
    port::B9,
    port::B10,
    port::B12,
    example_texts::B13,
    port::B14,
    example_texts::B15,
];
