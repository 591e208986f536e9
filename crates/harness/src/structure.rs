//! The structures to compare, and the floor, behind one trait.
//!
//! A play calls [`Timer`] with static dispatch, as a program would. Only the call that plays a
//! whole stream is dynamic.

use crate::floor::{EMPTY_SCRIPT, Floor};
use crate::latency::{LongestSteps, OperationTimes, single_operations};
use crate::memory;
use crate::model::{ExternalStructure, FLOOR, Footprint, Memory};
use crate::stream::{ExpectedAnswers, Stream};
use anyhow::{Result, ensure};
use std::marker::PhantomData;
use wheelhouse_core::Timer;
use wheelhouse_core::backend::{Backend, Info};
use wheelhouse_core::meter::{CountingMeter, NoMeter};
use wheelhouse_machine::clock::WorkTime;
use wheelhouse_present::unknown;
use wheelhouse_registry::Visitor;
use wheelhouse_workload::{Checksum, Op, Player};

/// A backend, or the floor.
pub trait Structure {
    /// The name in tables and on the command line.
    fn name(&self) -> &'static str;

    /// Its description; `None` for the floor, and for a structure from another project.
    fn info(&self) -> Option<Info> {
        None
    }

    /// Version and limits of a structure from another project; `None` for one of this workspace.
    fn external(&self) -> Option<ExternalStructure> {
        None
    }

    /// Returns `true` if it can play a phase of this stream that measures something.
    fn can_play(&self, stream: &Stream, expected: &ExpectedAnswers) -> bool;

    /// Plays a stream on a new structure and times each phase. A structure that cannot play the
    /// stream answers wrongly.
    fn play(&self, stream: &Stream, expected: &ExpectedAnswers) -> StreamPlay;

    /// Plays a stream on a new structure and times each operation of the phases that measure
    /// something, as far as it can play them. A structure whose operations cannot be timed one by
    /// one records nothing, and returns the right checksum.
    fn time_operations(
        &self,
        _: &Stream,
        expected: &ExpectedAnswers,
        _: &mut OperationTimes,
    ) -> Checksum {
        expected.checksum()
    }

    /// Plays a stream on a new structure and counts the steps of each operation of the phases that
    /// measure something; `None` for a structure without a meter.
    fn count_steps(&self, _: &Stream) -> Option<LongestSteps> {
        None
    }

    /// Measures the memory of n timers. `None` for the floor, whose arrays say nothing about
    /// memory, and for structures that would take too long.
    fn memory(&self, _: u32, _: u64) -> Option<Memory> {
        None
    }

    /// Measures what a stream costs besides time; `None` if that cannot be measured.
    fn footprint(&self, _: &Stream, _: &ExpectedAnswers) -> Option<Footprint> {
        None
    }
}

/// The result of playing a stream.
#[derive(Debug)]
pub struct StreamPlay {
    /// The time of each phase; `None` for a phase that it cannot play.
    pub times: Vec<Option<WorkTime>>,
    /// The checksum after each phase. After a phase that it cannot play, this is the right one.
    pub checksums: Vec<Checksum>,
}

/// Plays a stream with `play`, which applies the operations of a phase. Its second argument is
/// `true` if a measure ends with the phase.
fn play_timed(stream: &Stream, mut play: impl FnMut(&[Op], bool) -> Checksum) -> StreamPlay {
    let mut played = StreamPlay { times: Vec::new(), checksums: Vec::new() };
    for (at, phase) in stream.phases.iter().enumerate() {
        let (taken, checksum) = WorkTime::measure(|| play(&phase.ops, stream.ends_measure(at)));
        played.times.push(Some(taken));
        played.checksums.push(checksum);
    }
    played
}

/// The name by which callgrind finds `play_phase`, the function that plays a phase.
pub const PLAY_PHASE: &str = "structure::play_phase";

/// Plays a phase. `ends` is `true` if a measure ends with it.
///
/// This is the machine code that is timed, and that callgrind counts. It is never inlined, so
/// callgrind can find it by its name. One call per phase costs nothing compared with the phase.
#[inline(never)]
pub(crate) fn play_phase<T: Timer<u64>>(player: &mut Player<T>, ops: &[Op], ends: bool) {
    player.play(ops);
    if ends {
        player.timer_mut().compact(); // deferred work counts for the measure that deferred it
    }
}

struct BackendStructure<B>(PhantomData<B>);

impl<B: Backend> Structure for BackendStructure<B> {
    fn name(&self) -> &'static str {
        B::INFO.name
    }

    fn info(&self) -> Option<Info> {
        Some(B::INFO)
    }

    fn can_play(&self, stream: &Stream, _: &ExpectedAnswers) -> bool {
        stream.n <= u64::from(B::INFO.max_timers)
    }

    fn play(&self, stream: &Stream, _: &ExpectedAnswers) -> StreamPlay {
        let mut player = Player::new(B::build::<u64, NoMeter>(), stream.labels);
        play_timed(stream, |ops, ends| {
            play_phase(&mut player, ops, ends);
            player.checksum()
        })
    }

    fn time_operations(
        &self,
        stream: &Stream,
        _: &ExpectedAnswers,
        into: &mut OperationTimes,
    ) -> Checksum {
        let mut player = Player::new(B::build::<u64, NoMeter>(), stream.labels);
        into.record(stream, |op| player.apply(op));
        player.checksum()
    }

    fn count_steps(&self, stream: &Stream) -> Option<LongestSteps> {
        let timer = B::build::<u64, CountingMeter>();
        B::meter(&timer)?;
        let (mut player, mut longest) =
            (Player::new(timer, stream.labels), LongestSteps::default());
        for phase in &stream.phases {
            single_operations(phase, |kind, op| {
                B::meter(player.timer()).into_iter().for_each(CountingMeter::reset);
                player.apply(op);
                let steps = B::meter(player.timer()).map(CountingMeter::total);
                if let Some((kind, steps)) = kind.zip(steps) {
                    longest.record(kind, steps);
                }
            });
        }
        Some(longest)
    }

    fn memory(&self, n: u32, seed: u64) -> Option<Memory> {
        (n <= B::INFO.max_timers).then(|| memory::measure::<B>(n, seed))
    }

    fn footprint(&self, stream: &Stream, expected: &ExpectedAnswers) -> Option<Footprint> {
        Some(memory::footprint::<B>(stream, expected.census.most_live))
    }
}

struct FloorStructure;

impl Structure for FloorStructure {
    fn name(&self) -> &'static str {
        FLOOR
    }

    fn can_play(&self, _: &Stream, expected: &ExpectedAnswers) -> bool {
        expected.script.is_some()
    }

    fn play(&self, stream: &Stream, expected: &ExpectedAnswers) -> StreamPlay {
        let script = expected.script.as_ref().unwrap_or(&EMPTY_SCRIPT);
        let mut floor = Floor::new(script, stream.labels);
        play_timed(stream, |ops, _| {
            floor.play(ops);
            floor.checksum()
        })
    }

    fn time_operations(
        &self,
        stream: &Stream,
        expected: &ExpectedAnswers,
        into: &mut OperationTimes,
    ) -> Checksum {
        let script = expected.script.as_ref().unwrap_or(&EMPTY_SCRIPT);
        let mut floor = Floor::new(script, stream.labels);
        into.record(stream, |op| floor.apply(op));
        floor.checksum()
    }
}

/// Structures, in the order of tables and plots.
pub type Structures = Vec<Box<dyn Structure>>;

/// A backend as a structure.
pub fn structure<B: Backend + 'static>() -> Box<dyn Structure> {
    Box::new(BackendStructure::<B>(PhantomData))
}

struct Collect(Vec<Box<dyn Structure>>);

impl Visitor for Collect {
    fn visit<B: Backend + 'static>(&mut self) {
        self.0.push(structure::<B>());
    }
}

/// All backends of the registry, then the floor.
pub fn all() -> Vec<Box<dyn Structure>> {
    let mut collect = Collect(Vec::new());
    wheelhouse_registry::visit(&mut collect);
    collect.0.push(Box::new(FloorStructure));
    collect.0
}

/// Returns `true` for a structure of the registry that is too slow with many timers.
pub fn is_not_recommended(name: &str) -> bool {
    !is_default(name) && wheelhouse_registry::all().iter().any(|info| info.name == name)
}

/// Returns `true` for a structure that takes part by default, and for the floor.
pub fn is_default(name: &str) -> bool {
    name == FLOOR || wheelhouse_registry::recommended().iter().any(|info| info.name == name)
}

/// The structures of the registry that are late by design. [`all`] leaves them out, since their
/// answers differ from those of the others.
pub fn approximate() -> Vec<Box<dyn Structure>> {
    let mut collect = Collect(Vec::new());
    wheelhouse_registry::visit_approximate(&mut collect);
    collect.0
}

/// The structures of [`all`] with these names; all of them if `names` is empty.
///
/// # Errors
///
/// As [`select_from`].
pub fn select(names: &[String]) -> Result<Vec<Box<dyn Structure>>> {
    select_from(all(), names)
}

/// The structures with these names, in their original order; all of them if `names` is empty.
///
/// # Errors
///
/// If a name is unknown; the message lists the known ones.
pub fn select_from(all: Structures, names: &[String]) -> Result<Structures> {
    check_compared(names, &all.iter().map(|it| it.name()).collect::<Vec<_>>())?;
    unknown::select("backend", all, |it| it.name(), names)
}

/// Fails if a name is of a structure that exists, but is not among the compared ones: it is late by
/// design, or has no row for this payload.
pub(crate) fn check_compared(names: &[String], compared: &[&str]) -> Result<()> {
    let late = approximate();
    for name in names.iter().filter(|name| !compared.contains(&name.as_str())) {
        let is_late = late.iter().any(|it| it.name() == name);
        let is_exact = wheelhouse_registry::all().iter().any(|info| info.name == name);
        let all = compared.join(", ");
        ensure!(
            !is_late,
            "{name} is late by design, so no comparison includes it; there are: {all}"
        );
        ensure!(!is_exact, "{name} takes no part here; these do: {all}");
    }
    Ok(())
}
