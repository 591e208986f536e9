//! Recordings in memory.

use std::io::Cursor;
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_record::{DEFAULT_LIMIT, Recorder};
use wheelhouse_workload::Op;
use wheelhouse_workload::trace::{Header, Reader, TraceError};

/// A wheel that is recorded in memory.
pub(crate) type Wheel<'a> = Recorder<HierarchicalWheel<u64>, Cursor<&'a mut Vec<u8>>>;

pub(crate) fn recorder(bytes: &mut Vec<u8>, limit: u64) -> Wheel<'_> {
    let builder = Recorder::builder().limit(limit);
    builder.write_to(Cursor::new(bytes), HierarchicalWheel::new()).expect("memory can be written")
}

/// The trace of these calls.
pub(crate) fn recorded(calls: impl FnOnce(&mut Wheel<'_>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    calls(&mut recorder(&mut bytes, DEFAULT_LIMIT));
    bytes
}

pub(crate) fn read(bytes: &[u8]) -> (Header, Vec<Op>) {
    let (header, ops, error) = read_part(bytes);
    assert!(error.is_none(), "{error:?}");
    (header, ops)
}

/// The readable part of a trace, and the error that ended it.
pub(crate) fn read_part(bytes: &[u8]) -> (Header, Vec<Op>, Option<TraceError>) {
    let mut reader = match Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (Header::default(), Vec::new(), Some(error)),
    };
    let (mut ops, mut error) = (Vec::new(), None);
    for op in reader.by_ref() {
        match op {
            Ok(op) => ops.push(op),
            Err(found) => error = Some(found),
        }
    }
    (reader.header().clone(), ops, error)
}
