//! Makes a peer take part in the comparison. It plays the phases that it can play. Its answers must
//! be the oracle's, except for their order within a call.

use crate::adapters::ours::Ours;
use crate::memory;
use crate::peer::{Ability, Peer, can_play};
use crate::player::{Player, State};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::rc::Rc;
use wheelhouse_core::Tick;
use wheelhouse_harness::latency::OperationTimes;
use wheelhouse_harness::model::{ExternalStructure, Memory};
use wheelhouse_harness::stream::{ExpectedAnswers, Stream};
use wheelhouse_harness::structure::{StreamPlay, Structure};
use wheelhouse_machine::clock::WorkTime;
use wheelhouse_oracle::OracleDefinition;
use wheelhouse_present::console::say;
use wheelhouse_workload::{Checksum, Op, Phase};

/// A peer as a structure.
pub(crate) struct Competitor<P>(PhantomData<P>);

impl<P: Peer + 'static> Competitor<P> {
    pub(crate) fn boxed() -> Box<dyn Structure> {
        Box::new(Self(PhantomData))
    }
}

/// Plays the phases of a stream that a peer can play, each through `phase`, which returns its
/// measurement; the last argument of `phase` is `true` at the end of a measure. After a phase that
/// the peer cannot play, a new peer continues. It is brought into the right state, which is not
/// measured. More timers than labels are live if timers share a label; at most `most_live` are.
pub(crate) fn play<P: Peer, R>(
    stream: &Stream,
    most_live: u64,
    right: &[Checksum],
    mut phase: impl FnMut(&mut Player<P>, &Phase, bool) -> R,
) -> (Vec<Option<R>>, Vec<Checksum>) {
    let timers = stream.labels.max(most_live as usize);
    let mut player = Some(Player::<P>::new(stream.labels, timers));
    let mut state = State::new(if P::LACKS.is_empty() { 0 } else { stream.labels });
    let (mut measured, mut checksums) = (Vec::new(), Vec::new());
    let mut checksum = Checksum::default();
    for (at, of_stream) in stream.phases.iter().enumerate() {
        if can_play::<P>(of_stream) {
            let mut current = player.take().unwrap_or_else(|| Player::resume(&state, checksum));
            measured.push(Some(phase(&mut current, of_stream, stream.ends_measure(at))));
            checksum = current.checksum;
            player = Some(current);
        } else {
            player.take().into_iter().for_each(Player::end);
            measured.push(None);
            checksum = right[at];
        }
        checksums.push(checksum);
        if !P::LACKS.is_empty() {
            of_stream.ops.iter().for_each(|&op| state.follow(op));
        }
    }
    player.into_iter().for_each(Player::end);
    (measured, checksums)
}

/// The right answers to the last stream. Streams of two seeds have the same name and size, but
/// different answers.
struct Known {
    stream: (String, u64, Checksum),
    checksums: Rc<[Checksum]>,
}

thread_local! {
    static KNOWN: RefCell<Option<Known>> = const { RefCell::new(None) };
}

/// The answers of the oracle, in any order within a call. All competitors play a stream in turn, so
/// the answers to the last stream are kept.
fn right_answers(stream: &Stream, expected: &ExpectedAnswers) -> Rc<[Checksum]> {
    let asked = (stream.name.clone(), stream.n, expected.checksum());
    KNOWN.with_borrow_mut(|known| {
        if let Some(known) = known.as_ref().filter(|known| known.stream == asked) {
            return Rc::clone(&known.checksums);
        }
        let (_, checksums) = play::<Ours<OracleDefinition>, _>(stream, 0, &[], time);
        let checksums: Rc<[Checksum]> = checksums.into();
        *known = Some(Known { stream: asked, checksums: Rc::clone(&checksums) });
        checksums
    })
}

pub(crate) fn time<P: Peer>(player: &mut Player<P>, phase: &Phase, ends: bool) -> WorkTime {
    let play = || {
        phase.ops.iter().for_each(|&op| player.apply(op));
        if ends {
            player.peer.clean_up();
        }
    };
    WorkTime::measure(play).0
}

/// The tick that an operation names, or 0.
fn latest_tick(op: &Op) -> Tick {
    match *op {
        Op::Insert { deadline, .. } | Op::Reschedule { deadline, .. } => deadline,
        Op::Advance { to } | Op::Ticks { to, .. } | Op::Pop { to } => to,
        Op::Cancel { .. } | Op::Wake => 0,
    }
}

impl<P: Peer + 'static> Structure for Competitor<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn external(&self) -> Option<ExternalStructure> {
        let package = P::PACKAGE?;
        let cannot = P::LACKS.iter().map(|(_, why)| (*why).to_owned()).collect();
        Some(ExternalStructure { name: P::NAME.to_owned(), version: version(package), cannot })
    }

    fn can_play(&self, stream: &Stream, _: &ExpectedAnswers) -> bool {
        let mut ops = stream.phases.iter().flat_map(|phase| &phase.ops);
        if P::LATEST < Tick::MAX && ops.any(|op| latest_tick(op) > P::LATEST) {
            let (name, latest) = (P::NAME, P::LATEST);
            say(format_args!("skipped: {name} on {}: its last tick is {latest}", stream.name));
            return false;
        }
        stream.phases.iter().any(|phase| phase.measure.is_some() && can_play::<P>(phase))
    }

    fn play(&self, stream: &Stream, expected: &ExpectedAnswers) -> StreamPlay {
        let right = right_answers(stream, expected);
        let (times, checksums) = play::<P, _>(stream, expected.census.most_live, &right, time);
        // The harness compares with checksums of ordered answers. If a checksum without order is
        // right, the ordered one is returned in its place.
        let in_order = checksums.iter().zip(&*right).zip(&expected.checksums);
        let checksums =
            in_order.map(|((ours, right), in_order)| if ours == right { *in_order } else { *ours });
        StreamPlay { times, checksums: checksums.collect() }
    }

    fn time_operations(
        &self,
        stream: &Stream,
        expected: &ExpectedAnswers,
        into: &mut OperationTimes,
    ) -> Checksum {
        let right = right_answers(stream, expected);
        let record = |player: &mut Player<P>, phase: &Phase, _| {
            into.record_phase(phase, |op| player.apply(op))
        };
        let (_, checksums) = play::<P, _>(stream, expected.census.most_live, &right, record);
        into.end_pass();
        let last = checksums.last().copied().unwrap_or_default();
        // The stream may have been cut since it was solved.
        let is_right = right[..checksums.len()].last() == Some(&last);
        if is_right { expected.checksum() } else { last }
    }

    fn memory(&self, n: u32, seed: u64) -> Option<Memory> {
        let can = |ability| P::LACKS.iter().all(|(lack, _)| *lack != ability);
        (can(Ability::Cancel) && can(Ability::Exact)).then(|| memory::measure::<P>(n, seed))
    }
}

/// The version of a package that this program was built with.
fn version(package: &str) -> String {
    const LOCK: &str = include_str!("../../Cargo.lock");
    let entry =
        LOCK.split("[[package]]").find(|entry| entry.contains(&format!("name = \"{package}\"\n")));
    let version = entry.and_then(|entry| entry.split("version = \"").nth(1)?.split('"').next());
    version.map_or_else(|| package.to_owned(), |version| format!("{package} {version}"))
}
