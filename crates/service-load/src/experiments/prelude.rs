//! The names that most experiments use.

pub(super) use crate::check::{Checked, Expectations, Expected, Faults};
pub(super) use crate::facility::{Answer, Facility};
pub(super) use crate::figures::{Distribution, P50, P90, P99, P99_9, P99_99, cpu_figure, cpu_time};
pub(super) use crate::ledger::Ledger;
pub(super) use crate::load::Load;
pub(super) use anyhow::Result;
pub(super) use rand::{RngExt, SeedableRng};
pub(super) use rand_pcg::Pcg64Mcg;
pub(super) use std::sync::Arc;
pub(super) use std::thread;
pub(super) use std::time::{Duration, Instant};
pub(super) use wheelhouse_frame::{Figure, Played};
pub(super) use wheelhouse_machine::allocator::allocated;
