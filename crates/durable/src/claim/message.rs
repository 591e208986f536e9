//! Messages to the claimer.

/// A message to the claimer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The clock was set, or something in the wheel is due earlier.
    Look,
    /// Something is due, or there is room again.
    Ask,
    /// It is time to renew leases.
    Renew,
    /// It is time to look for runs that take long, and for what is paused.
    Watch,
    /// It is time to look for kinds without a handler.
    LookForKinds,
    /// No more is to be leased; what is leased is renewed.
    Stop,
    /// Nothing is in flight any more.
    Over,
}
