//! Going through the keys by pages.

use crate::connection::Connection;
use std::collections::VecDeque;
use wheelhouse_durable::store::{Key, StoreError};

/// How many keys the server is asked for at a time, about.
const COUNT: usize = 512;

/// Where the last page ended. Redis has no order of the keys of a hash, but a cursor through it,
/// which gives some more keys at a time than were asked for; those wait here.
#[derive(Default)]
pub(crate) struct Scan {
    last: Option<Key>,
    cursor: u64,
    waiting: VecDeque<Key>,
    /// Whether the cursor has come round.
    ended: bool,
}

impl Scan {
    /// Makes the next page begin after this key: where the last page ended, or wherever it is.
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

    /// The next keys: as many, or fewer where no more are left.
    pub(crate) fn page(
        &mut self,
        connection: &mut Connection,
        max: usize,
    ) -> Result<Vec<Key>, StoreError> {
        while self.waiting.len() < max && !self.ended {
            let mut command = redis::cmd("HSCAN");
            command.arg(&connection.keys.states).arg(self.cursor).arg("COUNT").arg(COUNT);
            // Keys and states, one after the other.
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
