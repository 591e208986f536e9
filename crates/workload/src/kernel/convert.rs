//! Converts the lines of a recording into a stream.

use super::jiffies::{Jiffies, measure_hz};
use super::parse::{Event, Kind, Line, parse};
use crate::Op;
use crate::trace::{Header, Totals, TraceError, Writer};
use std::collections::HashMap;
use std::io::{BufRead, Read, Seek, Write};
use std::{fmt, io};
use wheelhouse_core::Tick;

/// The longest line, in bytes. The kernel's lines have some 200.
const MAX_LINE: u64 = 4096;
const NANOSECONDS: u64 = 1_000_000_000;

/// Options of a conversion.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Jiffies per second (`CONFIG_HZ`). By default measured from the time stamps.
    pub hz: Option<u32>,
    /// Ends the stream after this number of `timer_start` events. By default all events are
    /// converted.
    pub at_most_starts: Option<u64>,
}

/// The kernel's events, and how they were converted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Events of `timer_start`.
    pub starts: u64,
    /// Events of `timer_cancel`.
    pub cancels: u64,
    /// Events of `timer_expire_entry`.
    pub expiries: u64,
    /// Events that the kernel dropped. A stream with gaps is consistent, but differs from the real
    /// events.
    pub lost: u64,
    /// Cancels that are the first half of `mod_timer`.
    pub cancels_by_move: u64,
    /// Cancels that are the first half of an expiry.
    pub cancels_by_expiry: u64,
    /// Cancels that are left out because the timer was started before the recording.
    pub cancels_unknown: u64,
    /// Cancels that are left out because the timer has already fired in the stream, at its
    /// deadline.
    pub cancels_late: u64,
    /// Timers that expired in the kernel before their deadline in the stream, so an untraced move
    /// must have changed it. They are cancelled.
    pub expiries_early: u64,
}

/// A stream converted from a recording.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recording {
    /// The operations.
    pub ops: Vec<Op>,
    /// The number of labels that they use.
    pub labels: u32,
    /// Jiffies per second.
    pub hz: u32,
    /// The kernel's events.
    pub counts: Counts,
}

/// Why a recording could not be converted.
#[derive(Debug)]
#[non_exhaustive]
pub enum KernelError {
    /// The recording could not be read.
    Io(io::Error),
    /// A line is not a line of ftrace.
    Line {
        /// The number of the line, from 1.
        number: u64,
        /// The error in the line.
        what: &'static str,
    },
    /// The recording has no `timer_start` event.
    Empty,
    /// The length of a jiffy cannot be measured, since the recording is too short, or the options
    /// name an impossible one.
    Hz {
        /// The jiffies per second, as measured or as in the options.
        measured: f64,
    },
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the recording cannot be read: {error}"),
            Self::Line { number, what } => write!(
                f,
                "line {number} of the recording: {what}. Pass the text of ftrace's `trace`, of \
                 `trace-cmd report` or of `perf script`, with the events timer_start, timer_cancel \
                 and timer_expire_entry"
            ),
            Self::Empty => f.write_str(
                "the recording has no timer_start: check that the event was enabled while the \
                 command ran",
            ),
            Self::Hz { measured } => write!(
                f,
                "{measured:.0} jiffies per second is not a setting of the kernel: record for a \
                 second or more, or pass CONFIG_HZ with --hz"
            ),
        }
    }
}

impl std::error::Error for KernelError {}

impl From<io::Error> for KernelError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Converts the text of a recording into a stream. Keeps all events in memory, 48 bytes each, since
/// the meaning of a cancellation depends on later events.
///
/// ```
/// use wheelhouse_workload::{Op, kernel};
///
/// let text = "\
/// a-1 [000] d..1. 1.000: timer_start: timer=f0 function=f expires=1100 [timeout=100]
/// a-1 [000] d..1. 1.008: timer_cancel: timer=f0
/// a-1 [000] d..1. 1.008: timer_start: timer=f0 function=f expires=1102 [timeout=100]
/// ";
/// let recording = kernel::convert(text.as_bytes(), &kernel::Options::default())?;
/// assert_eq!(recording.hz, 250);
/// assert_eq!(recording.ops, [
///     Op::Insert { label: 0, deadline: 100 },
///     Op::Advance { to: 2 },
///     Op::Reschedule { label: 0, deadline: 102 },
/// ]);
/// # Ok::<(), kernel::KernelError>(())
/// ```
///
/// # Errors
///
/// If a line cannot be parsed, if there is no `timer_start`, or if neither the text nor `options`
/// determine the length of a jiffy.
pub fn convert(input: impl BufRead, options: &Options) -> Result<Recording, KernelError> {
    let mut counts = Counts::default();
    let events = read_events(input, options, &mut counts)?;
    let mut jiffies = Jiffies::new(&events).ok_or(KernelError::Empty)?;
    let hz = match options.hz {
        Some(hz) if (1..=NANOSECONDS).contains(&u64::from(hz)) => hz,
        Some(hz) => return Err(KernelError::Hz { measured: f64::from(hz) }),
        None => measure_hz(&events, jiffies)?,
    };
    let fates = fates(&events);
    let mut model = Model { counts, ..Model::default() };
    for (event, fate) in events.iter().zip(fates) {
        model.take(event, fate, jiffies.at(event));
    }
    Ok(Recording { ops: model.ops, labels: model.timers.len() as u32, hz, counts: model.counts })
}

impl Recording {
    /// Writes the stream as a trace. The counts are appended to the provenance.
    ///
    /// # Errors
    ///
    /// If writing fails, or `provenance` is too long for a header.
    pub fn write(
        &self,
        output: impl Write + Seek,
        name: &str,
        provenance: &str,
    ) -> Result<(), TraceError> {
        let mut totals = Totals::default();
        self.ops.iter().for_each(|&op| totals.add(op));
        let header = Header {
            name: name.to_owned(),
            provenance: format!("{provenance}; HZ={}; {}; {totals}", self.hz, self.counts),
            tick_ns: NANOSECONDS / u64::from(self.hz.max(1)),
            ..Header::default()
        };
        let mut writer = Writer::deflating(output, header)?;
        self.ops.iter().try_for_each(|&op| writer.write(op))?;
        writer.finish("").map(drop)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { starts, cancels, expiries, lost, cancels_by_move, cancels_by_expiry, .. } = self;
        let Self { cancels_unknown, cancels_late, expiries_early, .. } = self;
        write!(
            f,
            "kernel events: {starts} starts, {cancels} cancels (first half of a move \
             {cancels_by_move}, of an expiry {cancels_by_expiry}; left out, started before the \
             recording {cancels_unknown}, fired here at the deadline {cancels_late}), {expiries} \
             expiries ({expiries_early} before the deadline known), {lost} lost"
        )
    }
}

fn read_events(
    mut input: impl BufRead,
    options: &Options,
    counts: &mut Counts,
) -> Result<Vec<Event>, KernelError> {
    let (mut events, mut bytes) = (Vec::new(), Vec::new());
    for number in 1.. {
        bytes.clear();
        if input.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        if bytes.len() as u64 == MAX_LINE {
            return Err(KernelError::Line { number, what: "it is too long for a line of ftrace" });
        }
        // Names of processes may contain any bytes.
        match parse(&String::from_utf8_lossy(&bytes))
            .map_err(|what| KernelError::Line { number, what })?
        {
            Line::Other => {}
            Line::Lost(lost) => counts.lost = counts.lost.saturating_add(lost),
            Line::Event(event) => {
                if matches!(event.kind, Kind::Start { .. })
                    && Some(counts.starts) == options.at_most_starts
                {
                    break;
                }
                *match event.kind {
                    Kind::Start { .. } => &mut counts.starts,
                    Kind::Cancel => &mut counts.cancels,
                    Kind::Expire { .. } => &mut counts.expiries,
                } += 1;
                events.push(event);
            }
        }
    }
    Ok(events)
}

/// The meaning of a `timer_cancel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Cancelled,
    Moved,
    Expired,
}

/// The meaning of each `timer_cancel`, found in a backward pass from the events after it.
///
/// An expiry removes the timer from the wheel, which is traced as a cancellation, and then calls
/// its function. So the next event of that timer is `timer_expire_entry`, even if interrupts cause
/// other events in between. `mod_timer` removes the timer and adds it again with interrupts
/// disabled. So the next event of that CPU is `timer_start` of that timer.
fn fates(events: &[Event]) -> Vec<Fate> {
    let mut next_of_timer: HashMap<u64, Kind> = HashMap::new();
    let mut next_on_cpu: HashMap<u32, &Event> = HashMap::new();
    let mut fates = vec![Fate::Cancelled; events.len()];
    for (event, fate) in events.iter().zip(&mut fates).rev() {
        if event.kind == Kind::Cancel {
            if matches!(next_of_timer.get(&event.timer), Some(Kind::Expire { .. })) {
                *fate = Fate::Expired;
            } else if next_on_cpu.get(&event.cpu).is_some_and(|next| {
                next.timer == event.timer && matches!(next.kind, Kind::Start { .. })
            }) {
                *fate = Fate::Moved;
            }
        }
        next_of_timer.insert(event.timer, event.kind);
        next_on_cpu.insert(event.cpu, event);
    }
    fates
}

/// The stream so far, and its live timers.
#[derive(Debug, Default)]
struct Model {
    clock: Tick,
    /// The number of movements of the clock.
    moves: u64,
    timers: HashMap<u64, Known>,
    ops: Vec<Op>,
    counts: Counts,
}

/// A timer that was started during the recording.
#[derive(Clone, Copy, Debug)]
struct Known {
    label: u32,
    deadline: Tick,
    /// [`Model::moves`] when it was last started.
    started_at_move: u64,
    cancelled: bool,
}

impl Model {
    /// Converts an event. `now` is in jiffies since the first event, if the event has a time.
    fn take(&mut self, event: &Event, fate: Fate, now: Option<i64>) {
        // Times before the first event count as its time.
        let tick = |jiffies: i64| u64::try_from(jiffies).unwrap_or(0);
        let now = now.inspect(|now| self.advance(tick(*now))).unwrap_or(0);
        match event.kind {
            Kind::Start { timeout, .. } => {
                self.start(event.timer, tick(now.saturating_add(timeout)))
            }
            Kind::Cancel => match fate {
                Fate::Moved => self.counts.cancels_by_move += 1,
                Fate::Expired => self.counts.cancels_by_expiry += 1,
                Fate::Cancelled => self.cancel(event.timer),
            },
            Kind::Expire { .. } => self.expire(event.timer),
        }
    }

    /// Moves the clock. Jiffies of different CPUs may be out of order; the clock never goes back.
    fn advance(&mut self, to: Tick) {
        if to > self.clock {
            self.clock = to;
            self.moves += 1;
            self.ops.push(Op::Advance { to });
        }
    }

    fn start(&mut self, timer: u64, deadline: Tick) {
        let known = self.timers.get(&timer);
        let label = known.map_or(self.timers.len() as u32, |known| known.label);
        let is_live = known.is_some_and(|known| self.is_live(*known));
        self.ops.push(if is_live {
            Op::Reschedule { label, deadline }
        } else {
            Op::Insert { label, deadline }
        });
        let known = Known { label, deadline, started_at_move: self.moves, cancelled: false };
        self.timers.insert(timer, known);
    }

    fn cancel(&mut self, timer: u64) {
        match self.timers.get(&timer).copied() {
            None => self.counts.cancels_unknown += 1,
            Some(known) if self.is_live(known) => self.stop(timer, known),
            Some(_) => self.counts.cancels_late += 1,
        }
    }

    fn expire(&mut self, timer: u64) {
        let known = self.timers.get(&timer).copied();
        if let Some(known) =
            known.filter(|known| known.deadline > self.clock && self.is_live(*known))
        {
            self.counts.expiries_early += 1;
            self.stop(timer, known);
        }
    }

    fn stop(&mut self, timer: u64, known: Known) {
        self.ops.push(Op::Cancel { label: known.label });
        self.timers.insert(timer, Known { cancelled: true, ..known });
    }

    /// Returns `true` if the timer was neither cancelled nor has fired. It has fired if the clock
    /// has moved since its start, and is at its deadline or later.
    fn is_live(&self, known: Known) -> bool {
        let fired = known.deadline <= self.clock && known.started_at_move < self.moves;
        !known.cancelled && !fired
    }
}
