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
        let mut total = 0;
        let mut after: Option<Key> = None;
        loop {
            let (mut page, mut last, mut done) = (0, None, Ok(()));
            let read = self.store.scan(after.as_ref(), PAGE, &mut |job| {
                page += 1;
                last = Some(job.key.clone());
                if done.is_ok() {
                    done = each(job);
                }
            });
            done?;
            read.map_err(|error| {
                let last = last.as_ref().or(after.as_ref());
                let place = last.map_or_else(String::new, |key| format!(", after the job {key}"));
                failure(&format!("{}{place}", self.name), error)
            })?;
            if page == 0 {
                return Ok(total);
            }
            total += page;
            after = last;
        }
    }

    /// Calls `each` with every dead letter, by generation; returns their number.
    pub(super) fn each_letter(&mut self, mut each: impl FnMut(&Dead) -> Result<()>) -> Result<u64> {
        let mut total = 0;
        let mut after = None;
        loop {
            let (mut page, mut done) = (0, Ok(()));
            let read = self.store.dead(after, PAGE, &mut |letter| {
                page += 1;
                after = Some(letter.job.generation);
                if done.is_ok() {
                    done = each(letter);
                }
            });
            done?;
            read.map_err(|error| failure(&format!("{}, dead letters", self.name), error))?;
            if page == 0 {
                return Ok(total);
            }
            total += page;
        }
    }

    /// The dead letter of a generation.
    pub(super) fn letter(&mut self, generation: u64) -> Result<Option<Dead>> {
        let mut found = None;
        let each = &mut |letter: &Dead| found = Some(letter.clone());
        let read = self.store.dead(generation.checked_sub(1), 1, each);
        read.map_err(|error| failure(&self.name, error))?;
        Ok(found.filter(|letter| letter.job.generation == generation))
    }
}
