//! Listing the keys page by page.

use crate::connection::Connection;
use crate::error::Result;
use std::collections::VecDeque;
use wheelhouse_durable::store::{Key, StoreError};

/// About how many keys the server is asked for at a time.
const COUNT: usize = 512;

/// The most listings that are remembered.
const LISTINGS: usize = 16;

/// The ends of the last pages of listings.
#[derive(Default)]
pub(crate) struct Scans(VecDeque<Scan>);

impl Scans {
    /// Returns the listing whose last page ended with the row `after`, which may be gone. If it is
    /// not remembered, searches for the row from the beginning, O(n).
    pub(crate) fn begin_after(
        &self,
        connection: &mut Connection,
        after: Option<&Key>,
    ) -> Result<Scan> {
        let Some(key) = after else { return Ok(Scan::default()) };
        if let Some(scan) = self.0.iter().find(|scan| scan.last.as_ref() == after) {
            return Ok(scan.clone());
        }
        let mut scan = Scan::default();
        while scan.last.as_ref() != after {
            if scan.page(connection, 1)?.is_empty() {
                let why = format!("job {key} is gone, so the list cannot continue: list again");
                return Err(StoreError::Refused(why));
            }
        }
        Ok(scan)
    }

    /// Remembers the end of a page, instead of the end `before` of the page before. After an error
    /// this is not called, so that the page can be read again.
    pub(crate) fn remember(&mut self, scan: Scan, before: Option<&Key>) {
        let is_before = |scan: &Scan| before.is_some() && scan.last.as_ref() == before;
        if let Some(at) = self.0.iter().position(is_before) {
            self.0.remove(at);
        }
        self.0.push_back(scan);
        if self.0.len() > LISTINGS {
            self.0.pop_front();
        }
    }
}

/// The end of a page. Redis has no order of the keys of a hash, only a cursor through it. It may
/// return more keys than were asked for; the excess waits here for the next page.
#[derive(Clone, Default)]
pub(crate) struct Scan {
    pub(crate) last: Option<Key>,
    cursor: u64,
    waiting: VecDeque<Key>,
    /// The number of connections made when the cursor was last used, and the server's process.
    connections: u64,
    process: Option<String>,
    /// `true` if the cursor has wrapped: all keys were read.
    ended: bool,
}

impl Scan {
    /// The next `max` keys, or fewer if no more are left.
    pub(crate) fn page(&mut self, connection: &mut Connection, max: usize) -> Result<Vec<Key>> {
        while self.waiting.len() < max && !self.ended {
            let mut command = redis::cmd("HSCAN");
            command.arg(&connection.keys.jobs).arg(self.cursor).arg("COUNT").arg(COUNT);
            // Keys and rows alternate. The empty key is not a job's.
            let (cursor, found): (u64, Vec<Vec<u8>>) = connection.query(&command)?;
            self.check(connection)?;
            self.cursor = cursor;
            self.ended = cursor == 0;
            let keys = found.into_iter().step_by(2).filter(|key| !key.is_empty()).map(Key::new);
            let keys: Result<Vec<_>, _> = keys.collect();
            self.waiting.extend(keys.map_err(|error| StoreError::Damaged(error.to_string()))?);
        }
        let page: Vec<Key> = self.waiting.drain(..max.min(self.waiting.len())).collect();
        self.last = page.last().cloned().or(self.last.take());
        Ok(page)
    }

    /// Fails if the cursor is of another server, or of the same before a restart. The order of the
    /// keys depends on the process, so the list would miss some.
    fn check(&mut self, connection: &mut Connection) -> Result<()> {
        let connections = connection.servers.changes();
        if self.connections == connections {
            return Ok(());
        }
        let info: String = connection.query(redis::cmd("INFO").arg("server"))?;
        let process = info.lines().find_map(|line| line.strip_prefix("run_id:")).map(str::to_owned);
        if self.cursor > 0 && self.process != process {
            let why = "the server was restarted, or is another one, so the list cannot continue: \
                       list again";
            return Err(StoreError::Refused(why.into()));
        }
        (self.connections, self.process) = (connections, process);
        Ok(())
    }
}
