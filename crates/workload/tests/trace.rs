//! A reader returns the operations that were written, and detects damaged files.

use proptest::prelude::*;
use std::io::{self, Read};
use wheelhouse_workload::trace::{Header, Reader, TraceError, Writer};
use wheelhouse_workload::{Measure, Op, find_workload};

const LABELS: u32 = 1000;

fn write(ops: &[Op]) -> Vec<u8> {
    let header = Header {
        name: "test".into(),
        provenance: "made up".into(),
        tick_ns: 1_000_000,
        labels: LABELS,
        operations: ops.len() as u64,
    };
    let mut writer = Writer::new(Vec::new(), header).expect("a valid header");
    ops.iter().for_each(|&op| writer.write(op).expect("a valid operation"));
    writer.finish().expect("the announced number of operations")
}

fn read(file: &[u8]) -> Result<Vec<Op>, TraceError> {
    let mut reader = Reader::new(file)?;
    let ops = reader.by_ref().collect::<Result<Vec<Op>, _>>()?;
    assert_eq!(reader.totals().map(|totals| totals.operations()), Some(ops.len() as u64));
    Ok(ops)
}

fn op() -> impl Strategy<Value = Op> {
    let label = 0..LABELS;
    prop_oneof![
        (label.clone(), any::<u64>()).prop_map(|(label, deadline)| Op::Insert { label, deadline }),
        label.clone().prop_map(|label| Op::Cancel { label }),
        (label, any::<u64>()).prop_map(|(label, deadline)| Op::Reschedule { label, deadline }),
        any::<u64>().prop_map(|to| Op::Advance { to }),
        any::<(u32, u64)>().prop_map(|(count, to)| Op::Ticks { count, to: to.max(count.into()) }),
        Just(Op::Wake),
        any::<u64>().prop_map(|to| Op::Pop { to }),
    ]
}

/// A file of more than one block that is small enough to damage in every way.
fn small() -> (Vec<Op>, Vec<u8>) {
    let mut ops = vec![
        Op::Insert { label: 3, deadline: 7 },
        Op::Advance { to: 5 },
        Op::Reschedule { label: 3, deadline: 9 },
    ];
    ops.extend((0..40_000).map(|i| Op::Insert { label: i % 2, deadline: 9 }));
    ops.extend([Op::Ticks { count: 3, to: 8 }, Op::Cancel { label: 3 }, Op::Wake]);
    let file = write(&ops);
    assert!(file.len() < 2000, "{} bytes are too many to damage one by one", file.len());
    (ops, file)
}

proptest! {
    #[test]
    fn any_operations_come_back(ops in proptest::collection::vec(op(), 0..500)) {
        prop_assert_eq!(read(&write(&ops)).expect("the trace is complete"), ops);
    }

    #[test]
    fn any_bytes_are_an_error_and_no_panic(bytes: Vec<u8>) {
        prop_assert!(read(&bytes).is_err());
    }
}

#[test]
fn long_traces_come_back_from_readers_that_give_little_at_a_time() {
    struct Dribble<R>(R, usize);
    impl<R: Read> Read for Dribble<R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 % 7 + 1;
            let most = self.1.min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }
    let tcp = find_workload("tcp").expect("a known workload");
    assert!(tcp.labels(300) <= LABELS as usize);
    let ops = tcp.phases(300, 1).flat_map(|phase| phase.ops).collect::<Vec<Op>>().repeat(40);
    let file = write(&ops);
    assert_eq!(read(&file).expect("the trace is complete"), ops);
    let reader = Reader::new(Dribble(&file[..], 0)).expect("the trace is complete");
    assert_eq!(reader.collect::<Result<Vec<Op>, _>>().expect("the trace is complete"), ops);
}

#[test]
fn every_truncation_is_an_error() {
    let (ops, file) = small();
    assert_eq!(read(&file).expect("the trace is complete"), ops);
    for length in 0..file.len() {
        let error = read(&file[..length]).expect_err("the file is cut");
        assert!(matches!(error, TraceError::Truncated { .. }), "cut at {length}: {error}");
    }
}

#[test]
fn every_flip_of_a_byte_is_an_error_after_operations_that_are_right() {
    let (ops, file) = small();
    for at in 0..file.len() {
        for flip in [0x01, 0x10, 0x80, 0xff] {
            let mut damaged = file.clone();
            damaged[at] ^= flip;
            assert!(read(&damaged).is_err(), "byte {at} flipped by {flip:#x} goes unnoticed");
            let Ok(reader) = Reader::new(&damaged[..]) else { continue };
            assert!(reader.map_while(Result::ok).zip(&ops).all(|(found, op)| found == *op));
        }
    }
}

#[test]
fn bytes_after_the_end_and_foreign_blocks_are_errors() {
    let (_, file) = small();
    let longer = [&file[..], &[0]].concat();
    assert!(matches!(read(&longer), Err(TraceError::Corrupt { .. })));

    // Two traces with the same header and length: a block of the first in the second is out of
    // order.
    let one = write(&[Op::Cancel { label: 1 }]);
    let other = write(&[Op::Cancel { label: 2 }]);
    let end = one.len() - 37;
    let spliced = [&one[..end], &other[end..]].concat();
    assert!(matches!(read(&spliced), Err(TraceError::Corrupt { .. })));
}

#[test]
fn nothing_is_allocated_for_what_a_header_claims() {
    let header = Header { labels: u32::MAX, operations: 1 << 60, ..Header::default() };
    let writer = Writer::new(Vec::new(), header.clone()).expect("the header may claim any number");
    assert!(matches!(
        writer.finish(),
        Err(TraceError::Operations { announced, written: 0 }) if announced == 1 << 60
    ));

    let mut file = Vec::new();
    drop(Writer::new(&mut file, header).expect("the header may claim any number"));
    let mut reader = Reader::new(&file[..]).expect("the header is complete");
    assert!(matches!(reader.next(), Some(Err(TraceError::Truncated { block: 1 }))));
    assert!(reader.next().is_none(), "no item follows an error");
    assert!(reader.totals().is_none());
}

#[test]
fn lengths_beyond_their_bounds_are_refused_before_anything_is_read() {
    let (_, file) = small();
    let header_length = 8 + 2;
    let block = 8 + 2 + 4 + 28 + "test".len() + "made up".len() + 4;
    assert_eq!(file[block], b'B');
    for (at, what) in [
        (header_length, "its length"),
        (block + 1, "operations"),
        (block + 5, "deflated"),
        (block + 9, "number"),
    ] {
        let mut damaged = file.clone();
        damaged[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        let error = read(&damaged).expect_err("the length is too large");
        assert!(matches!(error, TraceError::TooLong { .. }), "{error}");
        assert!(error.to_string().contains(what), "{error} does not name {what}");
    }
}

#[test]
fn other_files_and_versions_are_told_apart() {
    let (_, mut file) = small();
    assert!(matches!(read(b"\x89PNG\r\n\x1a\n and so on"), Err(TraceError::NotATrace)));
    file[8] = 3;
    assert!(matches!(read(&file), Err(TraceError::Version { found: 3 })));
}

#[test]
fn errors_name_their_remedy() {
    let corrupt = TraceError::Corrupt { block: 3, what: "its checksum does not match" };
    for (error, remedy) in [
        (TraceError::NotATrace, "scripts/record-kernel-timers"),
        (TraceError::Version { found: 9 }, "record it again"),
        (TraceError::Truncated { block: 0 }, "copy it again"),
        (corrupt, "block 3"),
        (TraceError::Label { label: 5, labels: 5 }, "Header::labels"),
        (TraceError::Operations { announced: 1, written: 2 }, "Header::operations"),
    ] {
        assert!(error.to_string().contains(remedy), "{error}");
    }
}

#[test]
fn a_writer_holds_to_its_header() {
    let header = Header { labels: 1, operations: 1, ..Header::default() };
    let mut writer = Writer::new(Vec::new(), header).expect("a valid header");
    assert!(matches!(
        writer.write(Op::Cancel { label: 1 }),
        Err(TraceError::Label { label: 1, labels: 1 })
    ));
    writer.write(Op::Cancel { label: 0 }).expect("the header allows one operation");
    assert!(matches!(
        writer.write(Op::Wake),
        Err(TraceError::Operations { announced: 1, written: 2 })
    ));
    assert!(writer.finish().is_ok(), "refused operations are not counted");

    let provenance = "x".repeat(70_000);
    let error = Writer::new(Vec::new(), Header { provenance, ..Header::default() })
        .expect_err("the length is too large");
    assert!(matches!(error, TraceError::TooLong { .. }));
}

#[test]
fn a_full_disk_is_an_error() {
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    assert!(matches!(Writer::new(Full, Header::default()), Err(TraceError::Io(_))));
}

#[test]
fn phases_hold_what_the_trace_does() {
    let (ops, file) = small();
    let phases: Vec<_> = Reader::new(&file[..])
        .expect("the trace is complete")
        .phases()
        .map(|phase| phase.expect("the trace is complete"))
        .collect();
    assert_eq!(phases.len(), 1);
    assert_eq!(
        (phases[0].measure, phases[0].operations),
        (Some(Measure::Mix), ops.len() as u64 - 3)
    );
    assert_eq!(phases[0].ops, ops);

    let mut cut = Reader::new(&file[..file.len() - 1]).expect("the header is complete").phases();
    assert!(
        cut.next().is_some_and(|phase| phase.is_err()),
        "a phase is returned only after its end was read"
    );
    assert!(cut.next().is_none());
}
