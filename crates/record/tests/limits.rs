//! The causes that end a recording: its limit, its output, its recorder.

mod common;

use common::{read, read_part, recorded, recorder};
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wheelhouse_core::Timer;
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_record::{DEFAULT_LIMIT, Recorder};
use wheelhouse_workload::Op;
use wheelhouse_workload::trace::TraceError;

/// A program with every kind of call. Returns how many timers fired.
fn program(timer: &mut impl Timer<u64>, rounds: u64) -> usize {
    let mut fired = 0;
    for round in 0..rounds {
        let start = round * 100;
        let ids: Vec<_> = (0..8).map(|n| timer.insert(start + 10 + n * n, n)).collect();
        assert!(timer.cancel(ids[3]).is_some());
        assert!(timer.reschedule(ids[5], start + 40));
        fired += timer.advance(start + 11, |_| ());
        while timer.pop_expired(start + 99).is_some() {
            fired += 1;
        }
    }
    fired
}

/// How many timers fire in a round of the program.
const FIRED: usize = 7;

/// The complete recording of a program, operation by operation.
fn whole(rounds: u64) -> Vec<Op> {
    read(&recorded(|timer| _ = program(timer, rounds))).1
}

#[test]
fn a_trace_at_its_limit_is_complete_and_a_prefix() {
    let empty = recorded(|_| ()).len() as u64;
    let some: Vec<u64> = (0..6_000).step_by(13).collect();
    // The second program writes several blocks.
    for (rounds, limits) in [(30, some), (10_000, vec![65_000, 66_000, 131_000, 200_000])] {
        let (all, mut lengths) = (whole(rounds), Vec::new());
        for limit in limits {
            let mut bytes = Vec::new();
            let mut timer = recorder(&mut bytes, limit);
            let fired = program(&mut timer, rounds);
            assert_eq!(fired, rounds as usize * FIRED, "the program does not notice");
            let before = timer.ended();
            let summary = timer.finish().expect("memory can be written");
            drop(timer);
            let (header, ops) = read(&bytes);
            assert_eq!(ops, all[..ops.len()], "the trace is the beginning");
            assert_eq!(summary.totals.operations(), ops.len() as u64);
            assert_eq!(summary.bytes, bytes.len() as u64);
            assert!(summary.bytes <= limit.max(empty), "{} bytes of {limit}", summary.bytes);
            let cut = ops.len() < all.len();
            assert!(!cut || summary.bytes + 100 > limit, "{} bytes of {limit}", summary.bytes);
            assert_eq!(summary.at_limit, cut);
            assert_eq!(before.is_some(), cut, "a trace at its limit is finished at once");
            let remark = format!("stopped at its limit of {limit} bytes");
            assert_eq!(header.provenance.contains(&remark), cut);
            lengths.push(ops.len());
        }
        assert!(lengths.is_sorted());
        let ends = (lengths[0] == 0, lengths.last() == Some(&all.len()));
        assert_eq!(ends, (rounds == 30, rounds == 30), "from nothing to all of the short program");
    }
}

#[test]
fn a_write_error_does_not_affect_the_program() {
    let complete = recorded(|timer| _ = program(timer, 3));
    // Only whole blocks can be read, and only the second program writes any.
    for (rounds, rooms) in
        [(3, (0..complete.len()).collect()), (10_000, vec![65_000, 66_000, 140_000])]
    {
        let all = whole(rounds);
        for room in rooms {
            let mut bytes = vec![0; room];
            let output = Cursor::new(&mut bytes[..]);
            let builder = Recorder::builder();
            let Ok(mut timer) = builder.write_to(output, HierarchicalWheel::new()) else {
                assert!(read_part(&bytes).2.is_some(), "it failed within its header");
                continue;
            };
            let fired = program(&mut timer, rounds);
            assert_eq!(fired, rounds as usize * FIRED, "failing after {room} bytes");
            assert_eq!(timer.ended().is_some(), rounds > 3, "it stops when it fails");
            let error = timer.finish().expect_err("it could not be written");
            assert!(matches!(error.cause(), TraceError::Io(_)), "{error}");
            let kept = timer.finish().expect_err("the error is kept");
            assert_eq!(kept.to_string(), error.to_string());
            assert_eq!(timer.advance(u64::MAX, |_| ()), 0, "nothing is left");
            drop(timer);
            let (header, ops, error) = read_part(&bytes);
            assert_eq!(ops, all[..ops.len()], "only operations of the program are read");
            assert!(error.is_some(), "failing after {room} bytes");
            if rounds > 3 {
                assert_eq!(ops.is_empty(), room < 65_700, "whole blocks can be read");
                assert!(matches!(error, Some(TraceError::Truncated { .. })), "{error:?}");
                assert_eq!((header.labels, header.operations), (u32::MAX, u64::MAX));
                assert!(header.provenance.contains("not finished"));
            }
        }
    }
}

#[test]
fn dropping_a_recorder_finishes_its_trace() {
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    let (shared, mut bytes) = (Arc::clone(&outcomes), Vec::new());
    let timer = Recorder::builder()
        .tick(Duration::from_millis(1))
        .note("a test")
        .on_end(move |outcome| shared.lock().unwrap().push(outcome.clone()))
        .write_to(Cursor::new(&mut bytes), HierarchicalWheel::new());
    let mut timer = timer.expect("memory can be written");
    program(&mut timer, 2);
    assert!(outcomes.lock().unwrap().is_empty());
    drop(timer);
    let (header, ops) = read(&bytes);
    assert_eq!((header.name.as_str(), header.tick_ns, ops), ("recording", 1_000_000, whole(2)));
    let provenance = header.provenance;
    assert!(provenance.contains("hierarchical_wheel") && provenance.contains("; a test"));
    let outcomes = outcomes.lock().unwrap();
    let [Ok(summary)] = &outcomes[..] else { panic!("not one successful outcome: {outcomes:?}") };
    assert_eq!((summary.at_limit, summary.bytes), (false, bytes.len() as u64));
}

#[test]
fn pending_ticks_are_written_at_the_end() {
    let bytes = recorded(|timer| {
        (1..=5).for_each(|tick| assert_eq!(timer.advance(tick, |_| ()), 0));
    });
    assert_eq!(read(&bytes).1, [Op::Ticks { count: 5, to: 5 }]);
}

#[test]
fn after_finish_a_recorder_only_calls_its_backend() {
    let mut bytes = Vec::new();
    let mut timer = recorder(&mut bytes, DEFAULT_LIMIT);
    program(&mut timer, 1);
    let summary = timer.finish().expect("memory can be written");
    let id = timer.insert(1_000, 1);
    assert!(timer.reschedule(id, 900));
    assert_eq!(timer.advance(900, |_| ()), 1);
    assert_eq!(timer.finish().expect("it is the same"), summary);
    drop(timer);
    assert_eq!(bytes.len() as u64, summary.bytes);
}

#[test]
fn an_output_that_cannot_seek_is_refused() {
    struct Pipe;
    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    impl Seek for Pipe {
        fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
            Err(io::ErrorKind::NotSeekable.into())
        }
    }
    let refused = Recorder::builder().write_to(Pipe, HierarchicalWheel::<u64>::new());
    assert!(matches!(refused.map(drop).unwrap_err().cause(), TraceError::Io(_)));
}

#[test]
fn the_error_names_a_file_that_cannot_be_created() {
    let path = std::env::temp_dir().join("no such folder for wheelhouse").join("a.trace");
    let error = Recorder::create(&path, HierarchicalWheel::<u64>::new()).map(drop).unwrap_err();
    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
}

#[test]
fn a_trace_begins_at_the_current_position_of_its_output() {
    let mut bytes = b"before".to_vec();
    let mut output = Cursor::new(&mut bytes);
    output.set_position(6);
    let timer = Recorder::builder().write_to(output, HierarchicalWheel::new());
    let mut timer = timer.expect("memory can be written");
    program(&mut timer, 1);
    let length = timer.finish().expect("memory can be written").bytes;
    drop(timer);
    let (before, trace) = bytes.split_at(6);
    assert_eq!((before, trace.len() as u64), (&b"before"[..], length));
    assert_eq!(read(trace).1, whole(1));
}
