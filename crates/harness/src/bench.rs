//! The comparison: verifies every structure, measures it in interleaved rounds, and saves the
//! results after each stream. `benches/METHODOLOGY.md` says why, and how many rounds there are.

mod details;
mod samples;

use crate::latency::PASSES;
use crate::model::Run;
use crate::source::StreamSource;
use crate::stream::{ExpectedAnswers, Stream};
use crate::structure::{StreamPlay, Structure};
use crate::{capacity, store, verify};
use anyhow::Result;
use details::{expected_memory, has_single_operations, measure_memory, time_single_operations};
use samples::Samples;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wheelhouse_frame::folder;
use wheelhouse_frame::run::order;
use wheelhouse_machine::{allocator, interrupt, processor, provenance};
use wheelhouse_present::console::say;
use wheelhouse_present::files;
use wheelhouse_present::progress::Progress;
use wheelhouse_present::units::count;

/// A stream with few timers is played repeatedly for one sample, until about this many timers were
/// started, or its share of the time is over.
const TIMERS_PER_SAMPLE: u64 = 100_000;

/// The most plays per sample. Each builds a new structure, which takes longer than a few timers do.
const MAX_PLAYS: u64 = 1_000;

const ROUNDS: std::ops::RangeInclusive<usize> = 3..=15;

/// The settings of a run.
pub struct Settings {
    /// Numbers of timers, for sources that can be made for any number.
    pub sizes: Vec<u32>,
    /// The structures to compare, and the floor.
    pub structures: Vec<Box<dyn Structure>>,
    /// The workloads and traces to play.
    pub sources: Vec<StreamSource>,
    /// The seed of the workloads.
    pub seed: u64,
    /// How many seeds, counting up from `seed`, share the rounds. At least one.
    pub seeds: usize,
    /// The bytes of a value in the structures.
    pub payload: u16,
    /// Time budget of all timed rounds together. The minimum of three rounds may exceed it.
    pub time: Duration,
    /// Time limit of the whole run, including oracle and preparation. Streams that would begin
    /// later are skipped, and a message names them. Memory is skipped only if it takes longer than
    /// a few seconds.
    pub limit: Option<Duration>,
    /// `true` to play each stream more than once, to time single operations, and to measure
    /// memory.
    pub details: bool,
}

/// The streams that are compared by default: the ones behind the columns of the table, and the
/// recorded traces.
pub fn default_sources() -> Vec<StreamSource> {
    const NAMES: [&str; 6] =
        ["uniform", "steady", "hold-exponential", "tcp", "often-moved", "mostly-answered"];
    let is_default =
        |source: &StreamSource| !source.is_scalable() || NAMES.contains(&source.name().as_str());
    StreamSource::all().into_iter().filter(is_default).collect()
}

/// A stream to make and measure.
struct StreamTask<'a> {
    source: &'a StreamSource,
    n: u32,
    /// Time budget of its rounds.
    time: Duration,
}

impl StreamTask<'_> {
    fn name(&self) -> String {
        match self.source.is_scalable() {
            true => format!("{} of {} timers", self.source.name(), count(self.n.into())),
            false => self.source.name(),
        }
    }
}

/// Runs the comparison and saves the results in `dir`, which [`folder()`] has made.
///
/// Results are saved after each stream. A failed save does not end the run, since the figures took
/// minutes and a later save may succeed. Returns all results and the outcome of the last save.
///
/// # Errors
///
/// If the first save fails, or a trace cannot be read. Wrong answers are not errors: they are
/// failures in the result.
pub fn run(settings: &Settings, dir: &Path) -> Result<(Run, Result<()>)> {
    interrupt::watch();
    let mut provenance = provenance::gather(settings.seed);
    provenance.pinned_to = pin(); // after `gather`: a pinned thread sees only one processor
    let run = Run {
        external: settings.structures.iter().filter_map(|it| it.external()).collect(),
        payload: settings.payload,
        seeds: settings.seeds,
        interrupted: true, // until the end: a run that is killed must not look complete
        ..Run::new(provenance)
    };
    store::save(dir, &run)?;
    let tasks = stream_tasks(settings);
    let memory = expected_memory(settings);
    let all: Duration = tasks.iter().map(|task| expected_time(settings, task)).sum();
    let end = settings.limit.map(|limit| Instant::now() + limit);
    let progress = Progress::new(all + memory);
    let mut bench = Bench { settings, end, progress, run, skipped: Vec::new() };
    bench.measure_all(&tasks, dir)?;
    if settings.details && bench.is_over() && memory > MOST_AFTER_LIMIT {
        bench.skipped.push("memory".to_owned());
    } else if settings.details {
        measure_memory(settings, &mut bench.run, &bench.progress);
    }
    if !bench.skipped.is_empty() {
        say(format_args!("no time left for {}: run without --quick", bench.skipped.join(", ")));
    }
    bench.run.interrupted = interrupt::requested();
    let saved = store::save(dir, &bench.run);
    Ok((bench.run, saved))
}

/// Makes the folder for the results of [`run`]: `out` if given, otherwise a folder in `results`
/// that is named after date, machine and commit. Checks first that the run fits into memory, so a
/// run that is refused leaves no folder behind.
///
/// # Errors
///
/// If the largest size does not fit into memory, the folder cannot be made, or `out` is not empty.
pub fn folder(settings: &Settings, out: Option<&Path>, results: &Path) -> Result<PathBuf> {
    let timed = usize::from(settings.details) * settings.structures.len();
    capacity::check(&settings.sources, &settings.sizes, timed)?;
    match out {
        Some(out) => files::create_or_use_empty(out),
        None => folder::create(results, &provenance::gather(settings.seed)),
    }
}

/// Pins this thread to the processor that other programs use least.
fn pin() -> Option<usize> {
    let allowed: Vec<usize> = core_affinity::get_core_ids()?.iter().map(|core| core.id).collect();
    let id = processor::quietest(&allowed)?;
    core_affinity::set_for_current(core_affinity::CoreId { id }).then_some(id)
}

/// The jobs, each with its share of the time. Small sizes come first. In a run with a time limit,
/// large ones do: the last jobs may be skipped, and the answer is about the largest size.
fn stream_tasks(settings: &Settings) -> Vec<StreamTask<'_>> {
    let (scalable, traces): (Vec<_>, Vec<_>) =
        settings.sources.iter().partition(|source| source.is_scalable());
    let mut sizes = settings.sizes.clone();
    if settings.limit.is_some() {
        sizes.reverse();
    }
    // Below 50,000 timers, more time does not improve the figures.
    let weight = |n: u32| f64::from(n.max(50_000)) / 1e6;
    let of_size = |n| scalable.iter().map(move |source| (*source, n, weight(n)));
    let mut weighed: Vec<_> = sizes.into_iter().flat_map(of_size).collect();
    weighed.extend(traces.into_iter().map(|source| (source, 0, 0.3)));
    let total: f64 = weighed.iter().map(|(_, _, weight)| weight).sum();
    let share = |weight: f64| settings.time.mul_f64(weight / total);
    let task = |(source, n, weight)| StreamTask { source, n, time: share(weight) };
    weighed.into_iter().map(task).collect()
}

/// Memory is measured after the time limit if that takes at most this long. It decides some of the
/// picks, which must not depend on how busy the machine is.
const MOST_AFTER_LIMIT: Duration = Duration::from_secs(5);

/// Estimated time of a play, for each timer and structure. [`Progress`] corrects it.
const PLAY_TIME: Duration = Duration::from_nanos(1_500);

/// Estimated time of the oracle, for each timer. [`Progress`] corrects it.
const ORACLE_TIME: Duration = Duration::from_nanos(6_000);

/// Expected time of a job, including the oracle, the verification, and the passes over single
/// operations, of which one counts steps.
fn expected_time(settings: &Settings, task: &StreamTask<'_>) -> Duration {
    let timers = if task.source.is_scalable() { task.n } else { TIMERS_PER_SAMPLE as u32 };
    let play = PLAY_TIME * timers * settings.structures.len() as u32;
    let single = if settings.details { play * (PASSES as u32 + 1) } else { Duration::ZERO };
    ORACLE_TIME * timers + single + task.time.max(play * *ROUNDS.start() as u32)
}

/// A run in progress.
struct Bench<'a> {
    settings: &'a Settings,
    /// The time after which it begins nothing new, if it has a limit.
    end: Option<Instant>,
    progress: Progress,
    run: Run,
    /// Names of all that was not begun, since the time was over.
    skipped: Vec<String>,
}

impl Bench<'_> {
    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    fn say(&self, task: &StreamTask<'_>, stage: &str) {
        self.progress.say(format!("{}: {stage}", task.name()));
    }

    /// Measures all streams, or until the time is over.
    fn measure_all(&mut self, tasks: &[StreamTask<'_>], dir: &Path) -> Result<()> {
        for task in tasks {
            if interrupt::requested() {
                break;
            }
            if self.is_over() {
                self.skipped.push(task.name());
                continue;
            }
            self.measure(task)?;
            self.run.drop_figures_of_wrong_answers();
            self.progress.finish_part(expected_time(self.settings, task));
            // Only the last save decides: the disk may have room again by then.
            let _ = store::save(dir, &self.run);
        }
        Ok(())
    }

    fn measure(&mut self, task: &StreamTask<'_>) -> Result<()> {
        let settings = self.settings;
        self.say(task, "oracle");
        let mut solved = solve(task, settings.seed)?;
        self.say(task, "verify");
        self.run.census.push(solved.1.census.clone());
        let verified = self.verify_all(settings, task, &solved);
        if verified.is_empty() {
            return Ok(());
        }
        let (verified, first): (Vec<_>, Vec<_>) = verified.into_iter().unzip();
        if !self.play_rounds(task, &mut solved, &verified, &first)? || !settings.details {
            return Ok(());
        }
        let (mut stream, mut expected) = solved;
        if matches!(task.source, StreamSource::File(_)) {
            self.say(task, "memory and wake-ups");
            let footprints = verified.iter().filter_map(|it| it.footprint(&stream, &expected));
            self.run.footprints.extend(footprints);
        }
        if has_single_operations(&stream) && !self.is_over() {
            self.say(task, "single operations");
            self.progress.within_part(expected_time(settings, task), 0.75);
            // Four million operations of a kind are enough.
            stream.shorten_last_measure(&mut expected);
            time_single_operations(&verified, &stream, &expected, &mut self.run);
        }
        Ok(())
    }

    /// Plays the stream once on every structure. Returns those whose answers were right, with their
    /// plays. If the time is over before all have played, it returns none, since a use is decided
    /// among all structures. Only a run without any row continues with those that have played.
    fn verify_all<'a>(
        &mut self,
        settings: &'a Settings,
        task: &StreamTask<'_>,
        (stream, expected): &(Stream, ExpectedAnswers),
    ) -> Vec<(&'a dyn Structure, StreamPlay)> {
        let mut verified = Vec::new();
        for structure in settings.structures.iter().filter(|it| it.can_play(stream, expected)) {
            if self.is_over() && !self.run.throughput.is_empty() {
                self.skipped.push(task.name());
                return Vec::new();
            }
            if self.is_over() && !verified.is_empty() {
                self.skipped.push(format!("{} with {}", structure.name(), task.name()));
                continue;
            }
            let played = play_cold(structure.as_ref(), stream, expected);
            if interrupt::requested() {
                return Vec::new();
            }
            match verify::check(structure.as_ref(), stream, expected, &played) {
                Ok(()) => verified.push((structure.as_ref(), played)),
                Err(failure) => self.run.add_failure(failure),
            }
        }
        verified
    }

    /// Plays the rounds of a stream and adds their rows. `first` has the plays that verified the
    /// answers. Returns `false` if the rounds were interrupted: then there are no rows.
    fn play_rounds(
        &mut self,
        task: &StreamTask<'_>,
        solved: &mut (Stream, ExpectedAnswers),
        verified: &[&dyn Structure],
        first: &[StreamPlay],
    ) -> Result<bool> {
        let settings = self.settings;
        let plays = plays_per_sample(settings, &solved.0);
        let seeds = if task.source.is_scalable() { settings.seeds } else { 1 };
        let rounds = rounds(settings, task.time, seeds, plays, first);
        let longest = task.time / (*ROUNDS.start() * verified.len()) as u32;
        let is_short = plays == 1 && rounds == *ROUNDS.start();
        // A round with many timers may take a minute, and the verified play is a sample.
        let least = if plays == 1 { 1 } else { 2 };
        let (mut seed, mut samples) = (0, Samples::new(verified, &solved.0));
        if plays == 1 {
            // The verified play is the first sample.
            first.chunks(1).enumerate().for_each(|(at, it)| samples.add(at, 0, &solved.0, it));
        }
        for round in usize::from(plays == 1)..rounds {
            // Otherwise the oracle would solve the streams of all seeds that are left.
            if round >= least && self.is_over() {
                break;
            }
            self.say(task, &format!("round {} of {rounds}", round + 1));
            let share = 0.25 + 0.5 * round as f64 / rounds as f64;
            self.progress.within_part(expected_time(settings, task), share);
            if round * seeds / rounds > seed {
                // Seeds follow one another, so only one stream is in memory.
                seed = round * seeds / rounds;
                *solved = solve(task, settings.seed.wrapping_add(seed as u64))?;
            }
            // A fixed order would always give the same structure warm caches.
            for at in order(verified.len(), round) {
                if interrupt::requested() {
                    return Ok(false);
                }
                let is_enough = is_short && samples.is_far_behind(at);
                if is_enough || (round >= least && self.is_over()) {
                    continue;
                }
                let played = self.sample(verified[at], solved, plays, longest);
                samples.add(at, round, &solved.0, &played);
            }
        }
        samples.add_rows(&mut self.run);
        Ok(true)
    }

    /// The plays of one sample, whose answers are checked: one, and more until they take `longest`.
    fn sample(
        &mut self,
        structure: &dyn Structure,
        (stream, expected): &(Stream, ExpectedAnswers),
        plays: u32,
        longest: Duration,
    ) -> Vec<StreamPlay> {
        let start = Instant::now();
        let is_next =
            |done: &u32| *done == 0 || (start.elapsed() < longest && !interrupt::requested());
        let plays = (0..plays).take_while(is_next);
        let played: Vec<_> = plays.map(|_| play_cold(structure, stream, expected)).collect();
        for played in &played {
            let wrong = verify::check(structure, stream, expected, played).err();
            // A program that is interrupted gives no answers.
            if let Some(wrong) = wrong.filter(|_| !interrupt::requested()) {
                self.run.add_failure(wrong);
            }
        }
        played
    }
}

/// Plays the stream on a structure that finds no warm memory.
fn play_cold(structure: &dyn Structure, stream: &Stream, expected: &ExpectedAnswers) -> StreamPlay {
    allocator::return_freed_memory();
    structure.play(stream, expected)
}

fn plays_per_sample(settings: &Settings, stream: &Stream) -> u32 {
    let plays = TIMERS_PER_SAMPLE / (stream.insertions() as u64).max(1);
    if settings.details { plays.clamp(1, MAX_PLAYS) as u32 } else { 1 }
}

/// How many rounds there is time for, at least one for each seed.
fn rounds(
    settings: &Settings,
    time: Duration,
    seeds: usize,
    plays: u32,
    first: &[StreamPlay],
) -> usize {
    let once = first.iter().flat_map(|it| it.times.iter().flatten()).map(|it| it.elapsed);
    let all: Duration = once.sum::<Duration>() * plays;
    // A play may take less time than the clock resolves.
    let affordable = (time.as_secs_f64() / all.as_secs_f64().max(1e-9)) as usize;
    let least = if settings.details { *ROUNDS.start() } else { 1 }.max(seeds);
    affordable.clamp(least, *ROUNDS.end())
}

/// Makes the stream of a job and plays it on the oracle.
fn solve(task: &StreamTask<'_>, seed: u64) -> Result<(Stream, ExpectedAnswers)> {
    let mut stream = task.source.load(task.n, seed)?;
    let mut expected = stream.expected_answers();
    if !task.source.is_scalable() {
        // A trace may give every timer a new label; a structure holds only the live ones.
        stream.n = expected.census.most_live;
        expected.census.n = stream.n;
    }
    Ok((stream, expected))
}
