//! Messages to the claimer.

/// A message to the claimer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The clock was set, or the wheel has an earlier deadline: poll it.
    Look,
    /// A job may be due, or there is room again: claim.
    Ask,
    /// Renew leases.
    Renew,
    /// Look for slow runs and for pauses.
    Watch,
    /// Look for kinds without a handler.
    LookForKinds,
    /// Lease no more jobs, and continue to renew leases.
    Stop,
    /// No job is in flight any more: end the thread.
    Over,
}
