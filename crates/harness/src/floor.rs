//! The floor: the memory traffic that timer facilities can hardly avoid, as
//! `benches/METHODOLOGY.md` describes. Its answers are the right ones, and are checked like those
//! of every structure.

use std::hint::black_box;
use wheelhouse_core::Tick;
use wheelhouse_workload::{Checksum, Op};

/// The timers that fire: the oracle's answer, in the form in which a wheel would find it.
#[derive(Debug, Default)]
pub struct FiringScript {
    /// The labels, in order of firing.
    pub fired: Vec<u32>,
    /// How many of them fire each time the clock moves, in order. Each single tick is a movement.
    pub counts: Vec<u32>,
}

/// The script of a stream that the floor cannot play.
pub static EMPTY_SCRIPT: FiringScript = FiringScript { fired: Vec::new(), counts: Vec::new() };

/// Sequential writes for a timer that fires.
const WRITES_PER_EXPIRY: u64 = 2;

/// The 16 bytes that a wheel writes for a timer.
type LogEntry = (Tick, u64);

#[derive(Clone, Copy)]
struct Entry {
    deadline: Tick,
    /// The value plus one; zero if the entry has no timer.
    value: u64,
}

/// Plays a stream at the cost of its memory traffic.
pub struct Floor<'a> {
    script: &'a FiringScript,
    entries: Vec<Entry>,
    log: Vec<LogEntry>,
    cursor: usize,
    inserted: u64,
    fired: usize,
    moved: usize,
    checksum: Checksum,
}

impl<'a> Floor<'a> {
    /// A floor for streams whose labels are below `labels`.
    pub fn new(script: &'a FiringScript, labels: usize) -> Self {
        Self {
            script,
            entries: vec![Entry { deadline: 0, value: 0 }; labels],
            log: vec![(0, 0); labels.next_power_of_two()],
            cursor: 0,
            inserted: 0,
            fired: 0,
            moved: 0,
            checksum: Checksum::default(),
        }
    }

    /// The checksum over all answers so far.
    pub fn checksum(&self) -> Checksum {
        // Nothing reads the log: without this, the compiler could remove the writes to it.
        black_box(&self.log);
        self.checksum
    }

    /// Plays a part of a stream.
    pub fn play(&mut self, ops: &[Op]) {
        ops.iter().for_each(|op| self.apply(*op));
    }

    /// Plays one operation.
    #[inline]
    pub fn apply(&mut self, op: Op) {
        match op {
            Op::Insert { label, deadline } => {
                self.inserted += 1;
                self.entries[label as usize] = Entry { deadline, value: self.inserted };
                self.write(deadline, u64::from(label));
            }
            Op::Cancel { label } => {
                let value = std::mem::take(&mut self.entries[label as usize].value);
                self.checksum.add(value);
            }
            Op::Reschedule { label, deadline } => {
                let entry = &mut self.entries[label as usize];
                let live = entry.value != 0;
                entry.deadline = deadline;
                self.checksum.add(u64::from(live));
                self.write(deadline, u64::from(label));
            }
            Op::Advance { .. } | Op::Wake | Op::Pop { .. } => self.advance(),
            Op::Ticks { count, .. } => (0..count).for_each(|_| self.advance()),
        }
    }

    #[inline]
    fn advance(&mut self) {
        let count = self.script.counts.get(self.moved).map_or(0, |count| *count as usize);
        self.moved += 1;
        for &label in &self.script.fired[self.fired..self.fired + count] {
            self.fire(label);
        }
        self.fired += count;
    }

    #[inline]
    fn fire(&mut self, label: u32) {
        let Entry { deadline, value } =
            std::mem::replace(&mut self.entries[label as usize], Entry { deadline: 0, value: 0 });
        for level in 0..WRITES_PER_EXPIRY {
            self.write(deadline, level);
        }
        self.checksum.add(deadline);
        self.checksum.add(value - 1);
    }

    #[inline]
    fn write(&mut self, deadline: Tick, label: u64) {
        // The length of the log is a power of two, so the mask wraps.
        let at = self.cursor & (self.log.len() - 1);
        self.log[at] = (deadline, label);
        self.cursor += 1;
    }
}
