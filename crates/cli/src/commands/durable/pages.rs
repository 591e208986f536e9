//! Reads a store in pages, so that memory does not grow with the number of jobs.
//!
//! The pages are not a snapshot: programs may add and finish jobs between two pages.

use super::place::{Opened, failure};
use anyhow::Result;
use wheelhouse_durable::store::{Dead, Entry, Key};

/// Rows per page. A payload may have a megabyte or more.
const PAGE: usize = 128;

impl Opened {
    /// Calls `each` with every job, in the store's order; returns the number of jobs.
    pub(super) fn each_job(&mut self, mut each: impl FnMut(&Entry) -> Result<()>) -> Result<u64> {
        let (mut total, mut max) = (0, PAGE);
        let mut after: Option<Key> = None;
        loop {
            let page = match self.store.scan(after.as_ref(), max) {
                // Row by row, to name the last one that can be read.
                Err(error) if max > 1 && !error.is_transient() => {
                    max = 1;
                    continue;
                }
                page => page,
            };
            let page = page.map_err(|error| {
                let last = after.as_ref();
                let place = last.map_or_else(String::new, |key| format!(", after the job {key}"));
                failure(&format!("{}{place}", self.name), error)
            })?;
            let Some(last) = page.last() else { return Ok(total) };
            page.iter().try_for_each(&mut each)?;
            total += page.len() as u64;
            after = Some(last.key.clone());
        }
    }

    /// Calls `each` with every dead letter, by generation; returns their number.
    pub(super) fn each_letter(&mut self, mut each: impl FnMut(&Dead) -> Result<()>) -> Result<u64> {
        let (mut total, mut max) = (0, PAGE);
        let mut after = None;
        loop {
            let page = match self.store.dead(after, max) {
                Err(error) if max > 1 && !error.is_transient() => {
                    max = 1;
                    continue;
                }
                page => page,
            };
            let page =
                page.map_err(|error| failure(&format!("{}, dead letters", self.name), error))?;
            let Some(last) = page.last() else { return Ok(total) };
            page.iter().try_for_each(&mut each)?;
            total += page.len() as u64;
            after = Some(last.job.generation);
        }
    }

    /// The dead letter of a generation.
    pub(super) fn letter(&mut self, generation: u64) -> Result<Option<Dead>> {
        let read = self.store.dead(generation.checked_sub(1), 1);
        let found = read.map_err(|error| failure(&self.name, error))?.pop();
        Ok(found.filter(|letter| letter.job.generation == generation))
    }
}
