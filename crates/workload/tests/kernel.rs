//! Conversion of ftrace's text into a stream.

use wheelhouse_workload::kernel::{KernelError, Options, Recording, convert};
use wheelhouse_workload::{Op, trace};

/// Jiffies at the first event of every text here.
const START: u64 = 4_294_900_000;

fn start(cpu: u32, timer: &str, now: u64, timeout: i64) -> String {
    let (at, expires) = (now as f64 / 250.0, (START + now).wrapping_add_signed(timeout));
    format!(
        "a b-1 [{cpu:03}] d..1. {at:.6}: timer_start: timer={timer} function=f expires={expires} \
         [timeout={timeout}] flags=\n"
    )
}

fn cancel(cpu: u32, timer: &str) -> String {
    format!("a b-1 [{cpu:03}] d..1. 1.000000: timer_cancel: timer={timer}\n")
}

fn expire(cpu: u32, timer: &str, now: u64) -> String {
    format!(
        "<idle>-0 [{cpu:03}] ..s1. {:.6}: timer_expire_entry: timer={timer} function=f now={} \
         baseclk=1\n",
        now as f64 / 250.0,
        START + now
    )
}

fn options() -> Options {
    let mut options = Options::default();
    options.hz = Some(250);
    options
}

fn recorded(lines: &[String]) -> Recording {
    convert(lines.concat().as_bytes(), &options()).expect("a valid text")
}

fn ops(lines: &[String]) -> Vec<Op> {
    recorded(lines).ops
}

#[test]
fn starts_and_cancels_advance_the_clock() {
    let found =
        ops(&[start(0, "aa", 0, 50), start(1, "bb", 2, 10), cancel(0, "aa"), start(0, "aa", 3, 7)]);
    let expected = [
        Op::Insert { label: 0, deadline: 50 },
        Op::Advance { to: 2 },
        Op::Insert { label: 1, deadline: 12 },
        Op::Reschedule { label: 0, deadline: 10 },
    ];
    // The last cancel and start are mod_timer, and the clock seems to move between them.
    assert_eq!(found[..3], expected[..3]);
    assert_eq!(found[3..], [Op::Advance { to: 3 }, expected[3]]);
}

#[test]
fn a_cancel_is_one_if_another_event_of_its_cpu_comes_between() {
    let found =
        ops(&[start(0, "aa", 0, 50), cancel(0, "aa"), start(0, "bb", 0, 9), start(0, "aa", 0, 50)]);
    assert_eq!(found[1], Op::Cancel { label: 0 });
    assert_eq!(found[3], Op::Insert { label: 0, deadline: 50 });
    let other_cpu =
        ops(&[start(0, "aa", 0, 50), cancel(0, "aa"), start(1, "bb", 0, 9), start(0, "aa", 0, 50)]);
    assert_eq!(other_cpu[2], Op::Reschedule { label: 0, deadline: 50 });
}

#[test]
fn an_expiry_only_advances_the_clock() {
    let lines = [
        start(0, "aa", 0, 5),
        cancel(1, "aa"),
        start(1, "bb", 6, 100),
        expire(1, "aa", 6),
        start(0, "aa", 6, 5),
    ];
    let recording = recorded(&lines);
    let expected = [
        Op::Insert { label: 0, deadline: 5 },
        Op::Advance { to: 6 },
        Op::Insert { label: 1, deadline: 106 },
        Op::Insert { label: 0, deadline: 11 },
    ];
    assert_eq!(recording.ops, expected);
    assert_eq!((recording.counts.cancels_by_expiry, recording.counts.expiries), (1, 1));
}

#[test]
fn late_and_unknown_cancels_are_left_out_and_counted() {
    let lines = [
        start(0, "aa", 0, 5),
        cancel(0, "cc"),
        start(0, "bb", 9, 1),
        cancel(0, "aa"),
        start(0, "aa", 9, 1),
    ];
    let recording = recorded(&lines);
    assert_eq!(recording.counts.cancels_unknown, 1);
    // Fires at 5 in the stream, moved at 9 in the kernel: it is inserted again.
    assert_eq!(recording.ops.last(), Some(&Op::Insert { label: 0, deadline: 10 }));

    let late = [start(0, "aa", 0, 5), start(0, "bb", 9, 1), cancel(0, "aa")];
    let recording = recorded(&late);
    assert_eq!(recording.counts.cancels_late, 1);
    assert!(!recording.ops.contains(&Op::Cancel { label: 0 }));
}

#[test]
fn a_timer_moved_unseen_is_cancelled_when_it_expires() {
    let recording = recorded(&[start(0, "aa", 0, 50), expire(0, "aa", 6)]);
    assert_eq!(recording.ops.last(), Some(&Op::Cancel { label: 0 }));
    assert_eq!(recording.counts.expiries_early, 1);
}

#[test]
fn jiffies_seen_out_of_order_do_not_turn_time_back() {
    let found = ops(&[start(0, "aa", 5, 9), start(1, "bb", 4, 9), start(0, "cc", 5, -20)]);
    let expected = [
        Op::Insert { label: 0, deadline: 9 },
        Op::Insert { label: 1, deadline: 8 },
        Op::Insert { label: 2, deadline: 0 }, // before the recording began
    ];
    assert_eq!(found, expected);
}

/// Every setting of the kernel, over a second, with different times on two CPUs.
#[test]
fn the_length_of_a_jiffy_is_found_for_each_setting_of_the_kernel() {
    for hz in [100, 200, 250, 300, 500, 1000] {
        for (from, seconds) in [(0.0, 1.0), (812.004, 1.07), (86_400.5, 30.3)] {
            let start = |at: f64, off: u64| {
                let expires = START + (at * f64::from(hz)) as u64 + 9 - off;
                format!(
                    "a-1 [000] d..1. {at:.6}: timer_start: timer=aa function=f expires={expires} \
                     [timeout=9] flags=\n"
                )
            };
            let text = start(from, 0) + &start(from + seconds, 1);
            let found = convert(text.as_bytes(), &Options::default()).map(|found| found.hz);
            assert!(found.as_ref().is_ok_and(|found| *found == hz), "{hz} {seconds}: {found:?}");
        }
    }
    for hz in [24, 150, 400, 700, 1300] {
        let text = [start(0, "aa", 0, 9), start(0, "aa", hz, 9)].concat();
        let text = text.replace(&format!("{:.6}:", hz as f64 / 250.0), "1.000000:");
        let error =
            convert(text.as_bytes(), &Options::default()).expect_err("no kernel has this HZ");
        assert!(matches!(error, KernelError::Hz { .. }), "{hz}: {error}");
    }
}

#[test]
fn an_impossible_length_of_a_jiffy_is_refused() {
    for hz in [0, 1_000_000_001] {
        let mut options = Options::default();
        options.hz = Some(hz);
        let error = convert(start(0, "aa", 0, 9).as_bytes(), &options).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(&hz.to_string()) && message.contains("--hz"), "{message}");
    }
}

/// The script has the option that the error names.
#[test]
fn the_option_that_an_error_names_exists() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let script = std::process::Command::new("bash")
        .args(["scripts/record-kernel-timers", "--help"])
        .current_dir(root)
        .output()
        .expect("bash runs the script");
    let help = String::from_utf8(script.stdout).expect("the help is text");
    let error = convert(start(0, "aa", 0, 9).as_bytes(), &Options::default()).unwrap_err();
    let message = error.to_string();
    let named: Vec<_> = message.split_whitespace().filter(|word| word.starts_with("--")).collect();
    assert_eq!(named, ["--hz"], "{message}");
    assert!(help.contains("--hz N"), "{help}");
    let text = std::fs::read_to_string(format!("{root}/scripts/record-kernel-timers")).unwrap();
    assert!(text.contains("| --hz |") && text.contains("${hz:+--hz"), "the script has the option");
}

/// From `trace-cmd report`: with its head, high-resolution timers and a gap, on a kernel of 100
/// jiffies a second.
#[test]
fn reports_of_trace_cmd_are_read() {
    let text = include_str!("golden/trace-cmd-hz100.txt");
    let recording = convert(text.as_bytes(), &Options::default()).expect("a valid text");
    let expected = [
        Op::Insert { label: 0, deadline: 30 },
        Op::Advance { to: 10 },
        Op::Insert { label: 1, deadline: 210 },
        Op::Advance { to: 20 },
        Op::Reschedule { label: 0, deadline: 50 },
        Op::Cancel { label: 0 },
        Op::Advance { to: 210 },
    ];
    assert_eq!((recording.ops.as_slice(), recording.hz), (&expected[..], 100));
    let counts = recording.counts;
    assert_eq!((counts.starts, counts.cancels, counts.expiries, counts.lost), (3, 3, 1, 1));
    assert_eq!((counts.cancels_by_move, counts.cancels_by_expiry), (1, 1));
}

/// From ftrace on a 32-bit kernel of 1000 jiffies a second, five minutes after it was booted.
#[test]
fn jiffies_continue_after_they_wrap() {
    let text = include_str!("golden/ftrace-32-bit-hz1000.txt");
    let recording = convert(text.as_bytes(), &Options::default()).expect("a valid text");
    let expected = [
        Op::Insert { label: 0, deadline: 500 },
        Op::Advance { to: 300 },
        Op::Insert { label: 1, deadline: 350 },
        Op::Advance { to: 350 },
        Op::Advance { to: 399 },
        Op::Insert { label: 1, deadline: 402 },
        Op::Advance { to: 402 },
        Op::Advance { to: 450 },
        Op::Reschedule { label: 0, deadline: 1350 },
        Op::Advance { to: 1200 },
        Op::Insert { label: 2, deadline: 1198 },
    ];
    assert_eq!((recording.ops.as_slice(), recording.hz), (&expected[..], 1000));
    assert_eq!(recording.counts.expiries_early, 0);
    // On a 64-bit kernel nothing wraps around at this time.
    let recording = recorded(&[start(0, "aa", 66_000, 2_000), start(0, "aa", 70_000, 5)]);
    let expected = [Op::Advance { to: 4_000 }, Op::Insert { label: 0, deadline: 4_005 }];
    assert_eq!(recording.ops[1..], expected);
}

#[test]
fn recordings_can_be_cut() {
    let mut options = options();
    options.at_most_starts = Some(2);
    let text = [start(0, "aa", 0, 9), start(0, "bb", 0, 9), cancel(0, "aa"), start(0, "cc", 0, 9)]
        .concat();
    let recording = convert(text.as_bytes(), &options).expect("a valid text");
    assert_eq!((recording.counts.starts, recording.labels, recording.ops.len()), (2, 2, 3));
}

#[test]
fn bad_lines_are_named_by_number() {
    let text = format!("# tracer: nop\n{}what is this\n", start(0, "aa", 0, 9));
    let error = convert(text.as_bytes(), &options()).expect_err("the last line is invalid");
    assert!(matches!(error, KernelError::Line { number: 3, .. }), "{error}");
    assert!(error.to_string().contains("line 3"), "{error}");

    let endless = "x".repeat(10_000);
    let error = convert(endless.as_bytes(), &options()).expect_err("the line is too long");
    assert!(matches!(error, KernelError::Line { number: 1, .. }), "{error}");
    assert!(matches!(convert(&b"# nothing\n"[..], &options()), Err(KernelError::Empty)));
}

#[test]
fn lost_events_are_counted_and_names_may_be_any_bytes() {
    let mut text = start(0, "aa", 0, 9).into_bytes();
    text[0] = 0xff;
    text.extend(b"CPU:1 [LOST 12 EVENTS]\nCPU:0 [LOST 3 EVENTS]\n");
    let recording = convert(&text[..], &options()).expect("a valid text");
    assert_eq!((recording.counts.lost, recording.ops.len()), (15, 1));
}

#[test]
fn a_recording_is_written_with_its_provenance() {
    let recording = recorded(&[start(0, "aa", 0, 9), cancel(0, "aa")]);
    let mut file = std::io::Cursor::new(Vec::new());
    recording.write(&mut file, "tiny", "by hand").expect("memory cannot fail");
    let reader = trace::Reader::new(&file.get_ref()[..]).expect("the trace is complete");
    let trace::Header { name, tick_ns, labels, operations, provenance, .. } =
        reader.header().clone();
    assert_eq!((name.as_str(), tick_ns, labels, operations), ("tiny", 4_000_000, 1, 2));
    let start = "by hand; HZ=250; kernel events: 1 starts, 1 cancels";
    assert!(provenance.starts_with(start), "{provenance}");
    let ops: Vec<Op> = reader.collect::<Result<_, _>>().expect("the trace is complete");
    assert_eq!(ops, recording.ops);
}
