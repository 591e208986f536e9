//! Shared by the bench targets.
