//! Reads a store in pages, so that memory does not grow with the number of jobs.
//!
//! The pages are not a snapshot: programs may add and finish jobs between two pages.

use super::place::{Opened, failure};
use anyhow::Result;
use wheelhouse_durable::store::{Dead, Entry, Store, StoreError};

/// Rows per page. A payload may have a megabyte or more.
const PAGE: usize = 128;

impl Opened {
    /// Calls `each` with every job, in the store's order; returns the number of jobs.
    pub(super) fn each_job(&mut self, each: impl FnMut(&Entry) -> Result<()>) -> Result<u64> {
        self.each_row(
            |store, after: Option<&Entry>, max| store.scan(after.map(|job| &job.key), max),
            |after| after.map_or_else(String::new, |job| format!(", after the job {}", job.key)),
            each,
        )
    }

    /// Calls `each` with every dead letter, by generation; returns their number.
    pub(super) fn each_letter(&mut self, each: impl FnMut(&Dead) -> Result<()>) -> Result<u64> {
        self.each_row(
            |store, after: Option<&Dead>, max| store.dead(after.map(|its| its.job.generation), max),
            |_| ", dead letters".into(),
            each,
        )
    }

    /// Calls `each` with all rows that `read` returns, of which each page comes after a row. If
    /// they cannot be read, the error names the `place`, after the last row that can be read.
    fn each_row<R>(
        &mut self,
        read: impl Fn(&mut dyn Store, Option<&R>, usize) -> Result<Vec<R>, StoreError>,
        place: impl Fn(Option<&R>) -> String,
        mut each: impl FnMut(&R) -> Result<()>,
    ) -> Result<u64> {
        let (mut total, mut max, mut last) = (0, PAGE, None);
        loop {
            let mut page = match read(&mut *self.store, last.as_ref(), max) {
                // Row by row, to find the last one that can be read.
                Err(error) if max > 1 && !error.is_transient() => {
                    max = 1;
                    continue;
                }
                Err(error) => {
                    let place = format!("{}{}", self.name, place(last.as_ref()));
                    return Err(failure(&place, error));
                }
                Ok(page) => page,
            };
            page.iter().try_for_each(&mut each)?;
            total += page.len() as u64;
            let Some(row) = page.pop() else { return Ok(total) };
            last = Some(row);
        }
    }

    pub(super) fn letter(&mut self, generation: u64) -> Result<Option<Dead>> {
        let read = self.store.dead(generation.checked_sub(1), 1);
        let found = read.map_err(|error| failure(&self.name, error))?.pop();
        Ok(found.filter(|letter| letter.job.generation == generation))
    }
}
