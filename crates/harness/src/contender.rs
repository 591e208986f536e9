//! Those who are compared, behind one face.
//!
//! [`Timer`] is used with static dispatch, as a program would use it; what is dynamic here is only
//! "play this whole stream".

use crate::floor::{Floor, NOTHING};
use crate::latency::{Longest, Times, single_operations};
use crate::memory;
use crate::model::{FLOOR, Footprint, Guest, Memory};
use crate::stream::{Solution, Stream};
use anyhow::Result;
use std::marker::PhantomData;
use wheelhouse_core::Timer;
use wheelhouse_core::backend::{Backend, Info};
use wheelhouse_core::meter::{CountingMeter, NoMeter};
use wheelhouse_machine::clock::Taken;
use wheelhouse_present::unknown;
use wheelhouse_registry::Visitor;
use wheelhouse_workload::{Checksum, Op, Player};

/// A backend, or the floor.
pub trait Contender {
    /// The name in tables and on the command line.
    fn name(&self) -> &'static str;

    /// What is known of it; `None` for the floor.
    fn info(&self) -> Option<Info>;

    /// What is to be said of one that is not a backend of this workspace.
    fn guest(&self) -> Option<Guest> {
        None
    }

    /// Whether it can play this stream, or the phases of it that something is measured in.
    fn can_play(&self, stream: &Stream, solution: &Solution) -> bool;

    /// Plays a stream on a new structure and times each phase. What cannot play it answers wrong.
    fn play(&self, stream: &Stream, solution: &Solution) -> Played;

    /// Plays a stream on a new structure and times each operation of the phases that measure
    /// something, as far as it can play them.
    fn time_each(&self, stream: &Stream, solution: &Solution, into: &mut Times) -> Checksum;

    /// Plays a stream on a new structure and counts the steps of each operation of the phases that
    /// measure something; `None` if it has no meter.
    fn count_each(&self, _: &Stream) -> Option<Longest> {
        None
    }

    /// Measures the memory of n timers; `None` for the floor, whose arrays say nothing, and for
    /// whom that would take too long.
    fn memory(&self, n: u32, seed: u64) -> Option<Memory>;

    /// Measures what a stream costs besides time; `None` if that is not known of it.
    fn footprint(&self, _: &Stream, _: &Solution) -> Option<Footprint> {
        None
    }
}

/// What came of playing a stream.
#[derive(Debug)]
pub struct Played {
    /// The time of each phase; `None` if it cannot play that one.
    pub times: Vec<Option<Taken>>,
    /// The checksum after each phase; the right one after a phase that it cannot play.
    pub checksums: Vec<Checksum>,
}

/// Plays on something that applies operations, and is told when what is measured comes to its end.
fn play_timed(stream: &Stream, mut play: impl FnMut(&[Op], bool) -> Checksum) -> Played {
    let mut played = Played { times: Vec::new(), checksums: Vec::new() };
    for (at, phase) in stream.phases.iter().enumerate() {
        let (taken, checksum) = Taken::by(|| play(&phase.ops, stream.ends_measure(at)));
        played.times.push(Some(taken));
        played.checksums.push(checksum);
    }
    played
}

/// The name by which callgrind finds `play_phase`, the function that plays a phase.
pub const PLAY_PHASE: &str = "contender::play_phase";

/// Plays a phase; `ends` says that what it measures ends with it.
///
/// What is timed and what callgrind counts is this one piece of machine code. It is never inlined,
/// so that it has a name to be found by. A call for each phase is nothing beside the phase.
#[inline(never)]
pub(crate) fn play_phase<T: Timer<u64>>(player: &mut Player<T>, ops: &[Op], ends: bool) {
    player.play(ops);
    if ends {
        player.timer_mut().compact(); // what was put off is charged to those who put it off
    }
}

struct Structure<B>(PhantomData<B>);

impl<B: Backend> Contender for Structure<B> {
    fn name(&self) -> &'static str {
        B::INFO.name
    }

    fn info(&self) -> Option<Info> {
        Some(B::INFO)
    }

    fn can_play(&self, stream: &Stream, _: &Solution) -> bool {
        stream.n <= u64::from(B::INFO.max_timers)
    }

    fn play(&self, stream: &Stream, _: &Solution) -> Played {
        let mut player = Player::new(B::build::<u64, NoMeter>(), stream.labels);
        play_timed(stream, |ops, ends| {
            play_phase(&mut player, ops, ends);
            player.checksum()
        })
    }

    fn time_each(&self, stream: &Stream, _: &Solution, into: &mut Times) -> Checksum {
        let mut player = Player::new(B::build::<u64, NoMeter>(), stream.labels);
        into.record(stream, |op| player.apply(op));
        player.checksum()
    }

    fn count_each(&self, stream: &Stream) -> Option<Longest> {
        let timer = B::build::<u64, CountingMeter>();
        B::meter(&timer)?;
        let (mut player, mut longest) = (Player::new(timer, stream.labels), Longest::default());
        for phase in &stream.phases {
            single_operations(phase, |kind, op| {
                B::meter(player.timer()).into_iter().for_each(CountingMeter::reset);
                player.apply(op);
                let steps = B::meter(player.timer()).map(CountingMeter::total);
                if let Some((kind, steps)) = kind.zip(steps) {
                    longest.note(kind, steps);
                }
            });
        }
        Some(longest)
    }

    fn memory(&self, n: u32, seed: u64) -> Option<Memory> {
        (n <= B::INFO.max_timers).then(|| memory::measure::<B>(n, seed))
    }

    fn footprint(&self, stream: &Stream, solution: &Solution) -> Option<Footprint> {
        Some(memory::footprint::<B>(stream, solution.census.most_live))
    }
}

struct FloorRow;

impl Contender for FloorRow {
    fn name(&self) -> &'static str {
        FLOOR
    }

    fn info(&self) -> Option<Info> {
        None
    }

    fn can_play(&self, _: &Stream, solution: &Solution) -> bool {
        solution.script.is_some()
    }

    fn play(&self, stream: &Stream, solution: &Solution) -> Played {
        let script = solution.script.as_ref().unwrap_or(&NOTHING);
        let mut floor = Floor::new(script, stream.labels);
        play_timed(stream, |ops, _| {
            floor.play(ops);
            floor.checksum()
        })
    }

    fn time_each(&self, stream: &Stream, solution: &Solution, into: &mut Times) -> Checksum {
        let script = solution.script.as_ref().unwrap_or(&NOTHING);
        let mut floor = Floor::new(script, stream.labels);
        into.record(stream, |op| floor.apply(op));
        floor.checksum()
    }

    fn memory(&self, _: u32, _: u64) -> Option<Memory> {
        None
    }
}

/// Contenders, in the order of tables and plots.
pub type Contenders = Vec<Box<dyn Contender>>;

/// A backend as a contender.
pub fn contender<B: Backend + 'static>() -> Box<dyn Contender> {
    Box::new(Structure::<B>(PhantomData))
}

struct Collect(Vec<Box<dyn Contender>>);

impl Visitor for Collect {
    fn visit<B: Backend + 'static>(&mut self) {
        self.0.push(contender::<B>());
    }
}

/// All backends of the registry, then the floor.
pub fn all() -> Vec<Box<dyn Contender>> {
    let mut collect = Collect(Vec::new());
    wheelhouse_registry::visit(&mut collect);
    collect.0.push(Box::new(FloorRow));
    collect.0
}

/// Returns `true` for a structure of the registry that is too slow with many timers.
pub fn is_unusual(name: &str) -> bool {
    !is_usual(name) && wheelhouse_registry::all().iter().any(|info| info.name == name)
}

/// Whether it is one of the structures that one would take, or the floor.
pub fn is_usual(name: &str) -> bool {
    name == FLOOR || wheelhouse_registry::usual().iter().any(|info| info.name == name)
}

/// The structures of the registry that are late by design. They are not among [`all`]: their
/// answers are not those of the others.
pub fn approximate() -> Vec<Box<dyn Contender>> {
    let mut collect = Collect(Vec::new());
    wheelhouse_registry::visit_approximate(&mut collect);
    collect.0
}

/// Those of [`all`] with these names; all if none is named.
///
/// # Errors
///
/// As [`select_from`].
pub fn select(names: &[String]) -> Result<Vec<Box<dyn Contender>>> {
    select_from(all(), names)
}

/// Those with these names, in the order in which they came; all if none is named.
///
/// # Errors
///
/// If a name is unknown; the message lists the known ones.
pub fn select_from(all: Contenders, names: &[String]) -> Result<Contenders> {
    let known: Vec<_> = all.iter().map(|contender| contender.name()).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(unknown::error("backend", name, &known));
    }
    let is_chosen = |name: &str| names.is_empty() || names.iter().any(|it| it == name);
    Ok(all.into_iter().filter(|it| is_chosen(it.name())).collect())
}
