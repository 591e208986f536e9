//! Traces of unknown length.

use proptest::prelude::*;
use std::io::Cursor;
use wheelhouse_workload::Op;
use wheelhouse_workload::trace::{Finished, Header, LiveWriter, REMARK, Reader, TraceError};

fn header() -> Header {
    Header { name: "live".into(), provenance: "made up".into(), tick_ns: 7, ..Header::default() }
}

fn write(ops: &[Op], remark: &str) -> Finished<Cursor<Vec<u8>>> {
    let mut writer =
        LiveWriter::new(Cursor::new(Vec::new()), header(), u64::MAX).expect("memory cannot fail");
    ops.iter().for_each(|&op| writer.write(op).expect("a valid operation"));
    writer.finish(remark).expect("memory cannot fail")
}

fn read(file: &[u8]) -> (Header, Vec<Op>) {
    let mut reader = Reader::new(file).expect("it has a header");
    let ops = reader.by_ref().collect::<Result<_, _>>().expect("the trace is complete");
    (reader.header().clone(), ops)
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (0..u32::MAX, any::<u64>()).prop_map(|(label, deadline)| Op::Insert { label, deadline }),
        (0..u32::MAX).prop_map(|label| Op::Cancel { label }),
        (0..u32::MAX, any::<u64>())
            .prop_map(|(label, deadline)| Op::Reschedule { label, deadline }),
        any::<u64>().prop_map(|to| Op::Advance { to }),
        any::<u64>().prop_map(|to| Op::Pop { to }),
        Just(Op::Wake),
    ]
}

proptest! {
    #[test]
    fn any_operations_come_back(
        ops in proptest::collection::vec(op(), 0..300),
        times in 1..80_usize,
    ) {
        let ops = ops.repeat(times); // often of several blocks
        let finished = write(&ops, "");
        let (header, found) = read(finished.output.get_ref());
        prop_assert_eq!(&header, &finished.header);
        prop_assert_eq!(header.operations, ops.len() as u64);
        prop_assert_eq!(finished.totals.operations(), ops.len() as u64);
        prop_assert_eq!(finished.bytes, finished.output.get_ref().len() as u64);
        prop_assert_eq!(finished.output.position(), finished.bytes);
        prop_assert!(found == ops);
    }
}

#[test]
fn a_header_of_another_trace_is_an_error() {
    let ops = [Op::Insert { label: 1, deadline: 2 }, Op::Advance { to: 9 }];
    let (one, other) = (write(&ops, "; one"), write(&ops, "; other"));
    let start = one.output.get_ref().len() - 37 - 26 - 4; // before the only block
    assert_eq!(one.output.get_ref()[start], b'B');
    let spliced = [&one.output.get_ref()[..start], &other.output.get_ref()[start..]].concat();
    let last = Reader::new(&spliced[..]).expect("the header is complete").last();
    assert!(matches!(last, Some(Err(TraceError::Corrupt { .. }))), "{last:?}");
}

#[test]
fn a_remark_takes_no_more_than_its_room() {
    let ops = [Op::Wake];
    for (remark, kept) in [
        ("", ""),
        ("; cut", "; cut"),
        (&"x".repeat(200), &"x".repeat(REMARK)),
        (&format!("x{}", "é".repeat(100)), &format!("x{}", "é".repeat(31))),
    ] {
        let finished = write(&ops, remark);
        let (header, _) = read(finished.output.get_ref());
        assert_eq!(header.provenance.trim_end(), format!("made up{kept}"));
        assert_eq!(header.provenance.len(), "made up".len() + REMARK);
    }
}

#[test]
fn the_last_label_is_refused_and_the_rest_is_kept() {
    let mut writer =
        LiveWriter::new(Cursor::new(Vec::new()), header(), u64::MAX).expect("memory cannot fail");
    writer.write(Op::Cancel { label: 3 }).expect("a valid label");
    let refused = writer.write(Op::Insert { label: u32::MAX, deadline: 1 });
    assert!(matches!(refused, Err(TraceError::Label { label: u32::MAX, labels: 4 })));
    writer.write(Op::Cancel { label: u32::MAX - 1 }).expect("a valid label");
    assert_eq!(writer.totals().cancels, 2);
    let finished = writer.finish("").expect("memory cannot fail");
    assert_eq!(finished.header.labels, u32::MAX);
    assert_eq!(read(finished.output.get_ref()).1.len(), 2);
}

#[test]
fn a_full_trace_says_how_long_it_may_be() {
    let mut writer =
        LiveWriter::new(Cursor::new(Vec::new()), header(), 300).expect("memory cannot fail");
    let refused = (0..).find_map(|to| writer.write(Op::Advance { to }).err());
    let error = refused.expect("the limit is reached at some time");
    assert!(matches!(error, TraceError::Full { limit: 300 }));
    assert!(error.to_string().contains("300 bytes"), "{error}");
    let finished = writer.finish("").expect("memory cannot fail");
    assert!(finished.bytes <= 300, "{}", finished.bytes);
    assert!(!read(finished.output.get_ref()).1.is_empty());
}
