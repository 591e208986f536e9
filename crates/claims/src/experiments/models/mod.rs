//! Models of the articles' printed code. `rounds` is a wheel with rounds, by the rules of each
//! article; `kafka` is the wheel of levels that S3 ports to Go.

pub(crate) mod kafka;
pub(crate) mod rounds;
