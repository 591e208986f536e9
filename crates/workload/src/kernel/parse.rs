//! Parses a line of ftrace's text.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Line {
    /// One of the three tracepoints.
    Event(Event),
    /// The number of events that the kernel dropped.
    Lost(u64),
    /// A comment, an empty line, or another event.
    Other,
}

/// One of the three tracepoints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Event {
    /// Seconds, by the clock of the trace.
    pub(super) at: f64,
    pub(super) cpu: u32,
    /// The address of the timer.
    pub(super) timer: u64,
    pub(super) kind: Kind,
}

/// The kind of event, with its jiffies as printed. Those of a 32-bit kernel wrap around at 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Start { expires: u64, timeout: i64 },
    Cancel,
    Expire { now: u64 },
}

const EVENTS: [&str; 3] = ["timer_start:", "timer_cancel:", "timer_expire_entry:"];

/// Parses a line of `trace`, `trace_pipe`, `trace-cmd report` or `perf script`; the error says what
/// is wrong with it.
pub(super) fn parse(line: &str) -> Result<Line, &'static str> {
    if let Some(lost) = lost(line) {
        return Ok(Line::Lost(lost));
    }
    // From the right, because the name of the process comes first and may contain anything.
    let Some((at, name)) =
        EVENTS.iter().filter_map(|name| find_event(line, name).map(|at| (at, *name))).max()
    else {
        return other(line);
    };
    let (before, fields) = (&line[..at], &line[at + name.len()..]);
    let before = before.strip_suffix("timer:").unwrap_or(before); // as perf prints it
    let before = before.trim_end().strip_suffix(':').ok_or("there is no time before the event")?;
    let (before, time) =
        before.rsplit_once(char::is_whitespace).ok_or("there is no time before the event")?;
    let at = time.parse().map_err(|_| "the time before the event is not a number of seconds")?;
    let cpu = cpu(before).ok_or("there is no CPU, as in [001], before the event")?;
    let timer = hexadecimal(fields, "timer=").ok_or("there is no address after timer=")?;
    Ok(Line::Event(Event { at, cpu, timer, kind: kind(name, fields)? }))
}

fn kind(name: &str, fields: &str) -> Result<Kind, &'static str> {
    match name {
        "timer_start:" => Ok(Kind::Start {
            expires: number(fields, "expires=").ok_or("there is no number after expires=")?,
            timeout: number(fields, "[timeout=").ok_or("there is no number after [timeout=")?,
        }),
        "timer_cancel:" => Ok(Kind::Cancel),
        _ => {
            Ok(Kind::Expire { now: number(fields, "now=").ok_or("there is no number after now=")? })
        }
    }
}

/// The start of the last event with a name. The name must be a complete word, or follow the
/// `timer:` of perf, since `hrtimer_start` is an event of another kind of timer.
fn find_event(line: &str, name: &str) -> Option<usize> {
    line.rmatch_indices(name).map(|(at, _)| at).find(|at| {
        let before = &line[..*at];
        let before = before.strip_suffix("timer:").unwrap_or(before);
        before.is_empty() || before.ends_with(char::is_whitespace)
    })
}

/// Accepts lines without a timer event: comments, empty lines, the head of `trace-cmd report`,
/// stacks, and other events.
fn other(line: &str) -> Result<Line, &'static str> {
    let line = line.trim();
    let is_event = || line.contains('[') && line.contains(": ");
    let is_head = || {
        let cpu = line.strip_prefix("CPU ").and_then(|rest| rest.strip_suffix(" is empty"));
        let number = line.strip_prefix("cpus=").or(line.strip_prefix("version = ")).or(cpu);
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    if line.is_empty()
        || line.starts_with('#')
        || line.starts_with("=> ")
        || is_head()
        || is_event()
    {
        Ok(Line::Other)
    } else {
        Err("this is not a line of ftrace")
    }
}

/// `CPU:1 [LOST 234 EVENTS]`; from `trace-cmd` `CPU:1 [234 EVENTS DROPPED]`, or without the number.
fn lost(line: &str) -> Option<u64> {
    let (cpu, rest) = line.trim().strip_prefix("CPU:")?.split_once(" [")?;
    cpu.parse::<u32>().ok()?;
    let lost = rest.strip_prefix("LOST ").and_then(|rest| rest.strip_suffix(" EVENTS]"));
    match lost.or(rest.strip_suffix(" EVENTS DROPPED]")) {
        Some(number) => number.parse().ok(),
        // Without a number, at least one.
        None => (rest == "EVENTS DROPPED]").then_some(1),
    }
}

/// The CPU, from the last word of the form `[001]`.
fn cpu(before: &str) -> Option<u32> {
    let number = |word: &str| word.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    before.split_whitespace().rev().find_map(number)
}

fn field<'a>(fields: &'a str, key: &str) -> Option<&'a str> {
    let value = fields.split_whitespace().find_map(|word| word.strip_prefix(key))?;
    Some(value.trim_end_matches(']'))
}

fn number<N: std::str::FromStr>(fields: &str, key: &str) -> Option<N> {
    field(fields, key)?.parse().ok()
}

fn hexadecimal(fields: &str, key: &str) -> Option<u64> {
    let digits = field(fields, key)?;
    u64::from_str_radix(digits.strip_prefix("0x").unwrap_or(digits), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: &str = "           nginx-8396    [001] d.s3.  2044.960865: timer_start: \
                         timer=ffff88813c9d4e78 function=tcp_delack_timer expires=4295403489 \
                         [timeout=10] bucket_expiry=4295403490 cpu=1 idx=34 flags=D|I";

    #[test]
    fn events_of_ftrace_and_perf_are_parsed() {
        let of_start = |timeout| {
            let kind = Kind::Start { expires: 4_295_403_489, timeout };
            Event { at: 2_044.960_865, cpu: 1, timer: 0xffff_8881_3c9d_4e78, kind }
        };
        let (cancel, expire) = (Kind::Cancel, Kind::Expire { now: 429 });
        for (line, expected) in [
            (START, of_start(10)),
            (&START.replace("[timeout=10]", "[timeout=-4]"), of_start(-4)),
            // The name of a process may look like anything.
            (&START.replace("nginx", "a [7] timer_cancel: é"), of_start(10)),
            (
                "<idle>-0 [000] d.s2.  2044.500033: timer_cancel: timer=ffffc9000007fdf8",
                Event { at: 2_044.500_033, cpu: 0, timer: 0xffff_c900_0007_fdf8, kind: cancel },
            ),
            (
                "<idle>-0 [000] ..s1. 2044.5: timer_expire_entry: timer=1f function=f now=429 \
                 baseclk=428",
                Event { at: 2_044.5, cpu: 0, timer: 0x1f, kind: expire },
            ),
            (
                "redis-server 812 [001] 93.170: timer:timer_cancel: timer=0xffff888627d28f90",
                Event { at: 93.17, cpu: 1, timer: 0xffff_8886_27d2_8f90, kind: cancel },
            ),
        ] {
            assert_eq!(parse(line), Ok(Line::Event(expected)), "{line}");
        }
    }

    #[test]
    fn lost_events_are_counted_and_other_lines_are_others() {
        for (line, count) in [
            ("CPU:1 [LOST 234 EVENTS]", 234),
            ("CPU:0 [17 EVENTS DROPPED]", 17),
            ("CPU:3 [EVENTS DROPPED]", 1),
        ] {
            assert_eq!(parse(line), Ok(Line::Lost(count)), "{line}");
        }
        for line in [
            "",
            "# tracer: nop",
            "bash-1 [000] d..1. 1.5: timer_init: timer=ffff",
            "cpus=4",
            "version = 7",
            "CPU 3 is empty",
            " => run_timer_softirq",
        ] {
            assert_eq!(parse(line), Ok(Line::Other), "{line}");
        }
        // Events of high-resolution timers.
        for event in [
            "hrtimer_start: hrtimer=ffff88813c9d4e78 function=tick_sched_timer expires=20449608 \
             softexpires=20449608 mode=ABS",
            "hrtimer_cancel: hrtimer=ffff88813c9d4e78",
            "hrtimer_expire_entry: hrtimer=ffff88813c9d4e78 function=hrtimer_wakeup now=20449608",
            "timer:hrtimer_start: hrtimer=0xffff88813c9d4e78 function=f expires=1 softexpires=1",
            "timer_expire_exit: timer=ffff88813c9d4e78",
        ] {
            let line = format!(" <idle>-0 [001] d.h2. 2044.960865: {event}");
            assert_eq!(parse(&line), Ok(Line::Other), "{line}");
        }
    }

    #[test]
    fn a_missing_field_is_named() {
        for (without, complaint) in [
            ("[001]", "CPU"),
            ("2044.960865: ", "time"),
            ("timer=", "timer="),
            ("expires=", "expires="),
            ("[timeout=10]", "timeout="),
            ("2044", "time"),
        ] {
            let line = START.replacen(without, if without == "2044" { "x" } else { "" }, 1);
            let error = parse(&line).expect_err(without);
            assert!(error.contains(complaint), "without {without}: {error}");
        }
        assert!(parse("hello").is_err());
    }

    proptest! {
        #[test]
        fn no_line_panics(line in "\\PC*", cut in 0..START.len(), at in 0..START.len()) {
            let _ = parse(&line);
            let _ = parse(&START[..cut]);
            let _ = parse(&format!("{}{line}{}", &START[..at], &START[at..]));
        }
    }
}
