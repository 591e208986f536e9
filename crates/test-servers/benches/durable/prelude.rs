//! The names that most experiments use.

pub(crate) use crate::experiment::{DurableExperiment, Load};
pub(crate) use crate::measure::{nanos, quantile, wait_for_runs};
pub(crate) use crate::storage::{DirectStore, JobStorage, KIND, PAYLOAD, Request, key};
pub(crate) use anyhow::{Result, ensure};
pub(crate) use std::sync::{Arc, Mutex, PoisonError};
pub(crate) use std::thread;
pub(crate) use std::time::{Duration, Instant};
pub(crate) use wheelhouse_durable::store::Store;
pub(crate) use wheelhouse_durable::{Durable, DurableRun, Handlers, Next};
pub(crate) use wheelhouse_frame::Figure;
