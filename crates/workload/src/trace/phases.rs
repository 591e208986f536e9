//! Reads a trace as phases.

use super::{Reader, Totals, TraceError};
use crate::{Measure, Phase};
use std::io::Read;

/// The most operations of a phase.
const OPS_PER_PHASE: usize = 1 << 22;

/// The operations of a trace in phases of [`Measure::Mix`], each counted by its insertions,
/// cancellations and reschedules. Returned by [`Reader::phases`].
#[derive(Debug)]
pub struct Phases<R> {
    reader: Reader<R>,
}

impl<R: Read> Reader<R> {
    /// The operations as phases of [`Measure::Mix`](crate::Measure::Mix), with at most 2^22
    /// operations each. Play them like those of a workload.
    pub fn phases(self) -> Phases<R> {
        Phases { reader: self }
    }
}

impl<R: Read> Phases<R> {
    /// The reader, with [`header`](Reader::header) and [`totals`](Reader::totals).
    pub fn reader(&self) -> &Reader<R> {
        &self.reader
    }
}

impl<R: Read> Iterator for Phases<R> {
    type Item = Result<Phase, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut ops, mut totals) = (Vec::new(), Totals::default());
        for op in self.reader.by_ref().take(OPS_PER_PHASE) {
            match op {
                Ok(op) => {
                    totals.add(op);
                    ops.push(op);
                }
                Err(error) => return Some(Err(error)),
            }
        }
        let phase =
            Phase { measure: Some(Measure::Mix), operations: totals.timer_operations(), ops };
        (!phase.ops.is_empty()).then_some(Ok(phase))
    }
}
