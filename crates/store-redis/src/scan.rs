//! Listing the keys page by page.

use crate::connection::Connection;
use std::collections::VecDeque;
use wheelhouse_durable::store::{Key, StoreError};

/// About how many keys the server is asked for at a time.
const COUNT: usize = 512;

/// The end of the last page. Redis has no order of the keys of a hash, only a cursor through it. It
/// may return more keys than were asked for; the excess waits here for the next page.
#[derive(Default)]
pub(crate) struct Scan {
    last: Option<Key>,
    cursor: u64,
    waiting: VecDeque<Key>,
    /// `true` if the cursor has wrapped: all keys were read.
    ended: bool,
}

impl Scan {
    /// Makes the next page begin after this key. O(1) if the last page ended there; otherwise it
    /// searches from the beginning, O(n).
    pub(crate) fn begin_after(
        &mut self,
        connection: &mut Connection,
        after: Option<&Key>,
    ) -> Result<(), StoreError> {
        if after.is_some() && after == self.last.as_ref() {
            return Ok(());
        }
        *self = Self::default();
        while after.is_some() && self.last.as_ref() != after {
            if self.page(connection, 1)?.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// The next `max` keys, or fewer if no more are left.
    pub(crate) fn page(
        &mut self,
        connection: &mut Connection,
        max: usize,
    ) -> Result<Vec<Key>, StoreError> {
        while self.waiting.len() < max && !self.ended {
            let mut command = redis::cmd("HSCAN");
            command.arg(&connection.keys.states).arg(self.cursor).arg("COUNT").arg(COUNT);
            // Keys and states alternate.
            let (cursor, found): (u64, Vec<Vec<u8>>) = connection.query(&command)?;
            self.cursor = cursor;
            self.ended = cursor == 0;
            let keys = found.into_iter().step_by(2).map(Key::new);
            let keys: Result<Vec<_>, _> = keys.collect();
            self.waiting.extend(keys.map_err(|error| StoreError::Damaged(error.to_string()))?);
        }
        let page: Vec<Key> = self.waiting.drain(..max.min(self.waiting.len())).collect();
        self.last = page.last().cloned().or(self.last.take());
        Ok(page)
    }
}
