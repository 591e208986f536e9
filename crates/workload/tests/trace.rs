//! A reader returns the operations that were written, and detects damaged files.

use proptest::prelude::*;
use std::io::{self, Cursor, Read};
use wheelhouse_workload::trace::{Finished, Header, REMARK, Reader, TraceError, Writer};
use wheelhouse_workload::{Op, find_workload};

fn header() -> Header {
    Header { name: "test".into(), provenance: "made up".into(), tick_ns: 7, ..Header::default() }
}

/// A writer into memory, which cannot fail.
fn writer(limit: u64) -> Writer<Cursor<Vec<u8>>> {
    Writer::new(Cursor::new(Vec::new()), header(), limit).expect("memory cannot fail")
}

fn finished(
    mut writer: Writer<Cursor<Vec<u8>>>,
    ops: &[Op],
    remark: &str,
) -> Finished<Cursor<Vec<u8>>> {
    ops.iter().for_each(|&op| writer.write(op).expect("a valid operation"));
    writer.finish(remark).expect("memory cannot fail")
}

/// A deflated file.
fn write(ops: &[Op]) -> Vec<u8> {
    let writer = Writer::deflating(Cursor::new(Vec::new()), header()).expect("memory cannot fail");
    finished(writer, ops, "").output.into_inner()
}

fn read(file: &[u8]) -> Result<Vec<Op>, TraceError> {
    let mut reader = Reader::new(file)?;
    let ops = reader.by_ref().collect::<Result<Vec<Op>, _>>()?;
    assert_eq!(reader.totals().map(|totals| totals.operations()), Some(ops.len() as u64));
    Ok(ops)
}

fn op() -> impl Strategy<Value = Op> {
    let label = 0..u32::MAX;
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
    fn any_operations_are_decoded_as_encoded(
        ops in proptest::collection::vec(op(), 0..300),
        times in 1..80_usize,
    ) {
        let ops = ops.repeat(times); // often of several blocks
        prop_assert!(read(&write(&ops)).expect("the trace is complete") == ops);
        let finished = finished(writer(u64::MAX), &ops, "");
        let file = finished.output.get_ref();
        prop_assert!(read(file).expect("the trace is complete") == ops);
        let reader = Reader::new(&file[..]).expect("the trace is complete");
        prop_assert_eq!(reader.header(), &finished.header);
        prop_assert_eq!(finished.header.operations, ops.len() as u64);
        prop_assert_eq!(finished.bytes, file.len() as u64);
        prop_assert_eq!(finished.output.position(), finished.bytes);
    }

    #[test]
    fn any_bytes_are_an_error_and_no_panic(bytes: Vec<u8>) {
        prop_assert!(read(&bytes).is_err());
    }
}

#[test]
fn long_traces_are_read_from_readers_that_return_few_bytes() {
    struct Dribble<R>(R, usize);
    impl<R: Read> Read for Dribble<R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 % 7 + 1;
            let most = self.1.min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }
    let tcp = find_workload("tcp").expect("a known workload");
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

    // Two traces of the same length: the block, or the header, of one with the rest of the other.
    let [one, other] = ["; one", "; two"].map(|remark| {
        let label = u32::from(remark == "; two");
        finished(writer(u64::MAX), &[Op::Cancel { label }, Op::Cancel { label: 9 }], remark)
    });
    let [one, other] = [one.output.get_ref(), other.output.get_ref()];
    let (end, block) = (one.len() - 37, one.len() - 37 - 28);
    assert_eq!((one[block], one[end]), (b'B', b'E'));
    for from in [block, end] {
        let spliced = [&one[..from], &other[from..]].concat();
        assert!(matches!(read(&spliced), Err(TraceError::Corrupt { .. })), "from {from}");
    }
}

#[test]
fn a_header_does_not_determine_what_is_allocated() {
    // A writer that does not finish leaves a header that claims the largest numbers.
    let mut file = Vec::new();
    drop(Writer::new(Cursor::new(&mut file), header(), u64::MAX).expect("memory cannot fail"));
    let mut reader = Reader::new(&file[..]).expect("the header is complete");
    assert_eq!((reader.header().labels, reader.header().operations), (u32::MAX, u64::MAX));
    assert!(matches!(reader.next(), Some(Err(TraceError::Truncated { block: 1 }))));
    assert!(reader.next().is_none(), "no item follows an error");
    assert!(reader.totals().is_none());
}

#[test]
fn lengths_beyond_their_bounds_are_refused_before_anything_is_read() {
    let (_, file) = small();
    let header_length = 8 + 2;
    let block = 8 + 2 + 4 + 28 + "test".len() + "made up".len() + REMARK + 4;
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
fn other_files_and_versions_have_different_errors() {
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
        (TraceError::Label, "use smaller ones"),
        (TraceError::Full { limit: 300 }, "300 bytes"),
    ] {
        assert!(error.to_string().contains(remedy), "{error}");
    }
}

#[test]
fn a_remark_is_cut_to_its_reserved_size() {
    for (remark, kept) in [
        ("", ""),
        ("; cut", "; cut"),
        (&"x".repeat(200), &"x".repeat(REMARK)),
        (&format!("x{}", "é".repeat(100)), &format!("x{}", "é".repeat(31))),
    ] {
        let provenance = finished(writer(u64::MAX), &[Op::Wake], remark).header.provenance;
        assert_eq!(provenance.trim_end(), format!("made up{kept}"));
        assert_eq!(provenance.len(), "made up".len() + REMARK);
    }
}

#[test]
fn the_last_label_and_long_texts_are_refused() {
    let mut writer = writer(u64::MAX);
    let refused = writer.write(Op::Insert { label: u32::MAX, deadline: 1 });
    assert!(matches!(refused, Err(TraceError::Label)));
    let finished = finished(writer, &[Op::Cancel { label: u32::MAX - 1 }], "");
    assert_eq!((finished.header.labels, finished.totals.cancels), (u32::MAX, 1));
    assert_eq!(read(finished.output.get_ref()).expect("the trace is complete").len(), 1);

    let provenance = "x".repeat(70_000);
    let long = Header { provenance, ..Header::default() };
    let error = Writer::deflating(Cursor::new(Vec::new()), long).expect_err("it is too long");
    assert!(matches!(error, TraceError::TooLong { .. }));
}

#[test]
fn a_full_trace_can_be_finished() {
    let mut writer = writer(300);
    let refused = (0..).find_map(|to| writer.write(Op::Advance { to }).err());
    assert!(matches!(refused, Some(TraceError::Full { limit: 300 })));
    let finished = finished(writer, &[], "");
    assert!(finished.bytes <= 300, "{}", finished.bytes);
    assert!(!read(finished.output.get_ref()).expect("the trace is complete").is_empty());
}

#[test]
fn a_full_disk_is_an_error() {
    let mut disk = [0; 20];
    let output = Cursor::new(&mut disk[..]);
    assert!(matches!(Writer::new(output, header(), u64::MAX), Err(TraceError::Io(_))));
}
