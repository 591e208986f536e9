//! The worked examples: the figures that the articles print, computed, and shown on the structures. E15 is decided where its model is, by `netty-transfer-cap`.

mod literature;
mod s0;
mod s1;
mod s2;
mod s3;
mod s4;

use crate::experiment::Experiment;

/// In the order of the report.
pub const ALL: &[Experiment] = &[
    s0::E1,
    s0::E2,
    s0::E3,
    s0::E4,
    s1::E5,
    s1::E6,
    s1::E7,
    s2::E8,
    s3::E9,
    s4::E10,
    s4::E11,
    s4::E12,
    s4::E13,
    literature::E14,
    literature::E16,
];
