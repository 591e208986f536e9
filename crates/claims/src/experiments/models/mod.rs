//! Models of what the articles print: each wheel once.
//!
//! `rounds` is a wheel with rounds, by the rules of each article; `kafka` the wheel of levels that
//! S3 ports to Go; `linux` the kernel's arithmetic.

pub(crate) mod kafka;
pub(super) mod linux;
pub(crate) mod rounds;
