//! The work of jobs, as a shard sees it.

/// The properties of work that a shard needs.
pub(crate) trait ShardWork: Send {
    /// A second copy, for a run that overlaps with another. `None` if the runs of this work cannot
    /// overlap.
    fn fork(&self) -> Option<Box<Self>>;

    /// Returns `true` if it takes only an instant, so that it needs no executor.
    fn is_instant(&self) -> bool;

    /// Returns `true` if a future waits for it.
    fn is_awaited(&self) -> bool;
}
