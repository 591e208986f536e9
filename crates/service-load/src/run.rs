//! Plays experiments on facilities in interleaved rounds.
//!
//! What else a machine does comes and goes. So no facility is measured through before the next:
//! each repetition plays each experiment once on every facility, in rotating order, and what is
//! shown is the median over the repetitions.

use crate::contender::Contender;
use crate::experiments::Experiment;
use crate::figures::Played;
use crate::load::Load;
use anyhow::Result;
use std::io::IsTerminal;
use std::time::Duration;
use wheelhouse_machine::allocator;
use wheelhouse_machine::interrupt::{self, INTERRUPTED};
use wheelhouse_machine::provenance::{self, Provenance};
use wheelhouse_present::console::say;
use wheelhouse_present::progress::Progress;
use wheelhouse_present::unknown;

/// What to play.
pub struct Settings {
    /// On whom.
    pub contenders: Vec<Box<dyn Contender>>,
    /// What.
    pub experiments: Vec<Experiment>,
    /// Each of them on everybody, and not only where it shows something of its own.
    pub on_all: bool,
    /// How much.
    pub load: Load,
    /// How often.
    pub repetitions: usize,
}

/// One play.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was played.
    pub experiment: Experiment,
    /// On whom.
    pub facility: &'static str,
    /// The number of the repetition, from 1.
    pub repetition: usize,
    /// The figures, or what was wrong.
    pub played: Played,
}

/// All plays.
#[derive(Clone, Debug)]
pub struct Run {
    /// Where, when and of what.
    pub provenance: Provenance,
    /// How much of everything.
    pub load: Load,
    /// Names and what they are, in the order of the tables.
    pub facilities: Vec<(&'static str, &'static str)>,
    /// In the order in which they were played.
    pub rows: Vec<Row>,
    /// Whether it was ended before it was complete.
    pub interrupted: bool,
}

impl Run {
    /// What a program that made this run is to exit with: 0 if it is complete and all that ran was
    /// right.
    pub fn exit_code(&self) -> u8 {
        // A bound that our service missed is said, and is no error: a busy machine misses it too.
        if self.interrupted { INTERRUPTED } else { u8::from(self.wrong().next().is_some()) }
    }

    /// The plays that went wrong, and how.
    pub fn wrong(&self) -> impl Iterator<Item = (&Row, &str)> {
        self.rows.iter().filter_map(|row| Some((row, row.played.as_ref().err()?.as_str())))
    }
}

impl Settings {
    /// Who plays an experiment.
    fn who_plays(&self, experiment: Experiment) -> Vec<&dyn Contender> {
        let plays = |it: &&dyn Contender| self.on_all || it.plays().contains(&experiment);
        self.contenders.iter().map(|it| &**it).filter(plays).collect()
    }
}

/// Plays everything, or until Ctrl-C.
///
/// # Errors
///
/// If the load cannot be played, or a thread not be started.
pub fn play_all(settings: &Settings) -> Result<Run> {
    settings.load.check()?;
    interrupt::watch();
    let mut run = Run {
        provenance: provenance::gather(settings.load.seed),
        load: settings.load.clone(),
        facilities: settings.contenders.iter().map(|it| (it.name(), it.about())).collect(),
        rows: Vec::new(),
        interrupted: false,
    };
    let one = |experiment: Experiment| experiment.expected(&settings.load);
    let all = |it: &Experiment| one(*it) * settings.who_plays(*it).len() as u32;
    let round: Duration = settings.experiments.iter().map(all).sum();
    let mut progress = Progress::new(round * settings.repetitions as u32);
    for repetition in 1..=settings.repetitions {
        for &experiment in &settings.experiments {
            // Where the bar shows nothing: a log that stays empty for minutes looks like a program
            // that hangs.
            if !std::io::stderr().is_terminal() {
                say(under_way(settings, repetition, experiment));
            }
            for contender in rotated(&settings.who_plays(experiment), repetition - 1) {
                if interrupt::requested() {
                    run.interrupted = true;
                    return Ok(run);
                }
                progress.say(format!("{} on {}", experiment.name(), contender.name()));
                // What the one before has left is not what this one should wait for.
                allocator::clear_up();
                // One that hangs is a row that says so: the others go on.
                let played = contender.play(experiment, &settings.load);
                let played = played.unwrap_or_else(|error| Err(format!("{error:#}")));
                run.rows.push(Row { experiment, facility: contender.name(), repetition, played });
                progress.finish_part(one(experiment));
            }
        }
    }
    Ok(run)
}

/// What begins now, for a log.
fn under_way(settings: &Settings, repetition: usize, experiment: Experiment) -> String {
    let facilities = settings.who_plays(experiment).len();
    let repetitions = settings.repetitions;
    let about = experiment.expected(&settings.load).as_secs_f64() * facilities as f64;
    let plural = if facilities == 1 { "y" } else { "ies" };
    let name = experiment.name();
    format!(
        "repetition {repetition} of {repetitions}: {name} on {facilities} facilit{plural}, about \
         {about:.1} s"
    )
}

/// All of them, another one first each time.
fn rotated<T>(all: &[T], by: usize) -> impl Iterator<Item = &T> {
    all.iter().cycle().skip(by % all.len().max(1)).take(all.len())
}

/// Those of these names, in their own order; all if none is named.
///
/// # Errors
///
/// If a name is unknown; the message has those that are known.
pub fn select(all: Vec<Box<dyn Contender>>, names: &[String]) -> Result<Vec<Box<dyn Contender>>> {
    if let Some(name) = names.iter().find(|name| !all.iter().any(|it| it.name() == **name)) {
        let known: Vec<_> = all.iter().map(|it| it.name()).collect();
        return Err(unknown::error("facility", name, &known));
    }
    Ok(all
        .into_iter()
        .filter(|it| names.is_empty() || names.iter().any(|name| name == it.name()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_plays_once_in_each_order() {
        let order = |by| rotated(&[1, 2, 3], by).copied().collect::<Vec<_>>();
        assert_eq!([0, 1, 2, 3].map(order), [[1, 2, 3], [2, 3, 1], [3, 1, 2], [1, 2, 3]]);
        assert_eq!(rotated::<u8>(&[], 5).count(), 0);
    }

    #[test]
    fn a_log_is_told_what_begins_and_how_long_it_takes() {
        let contenders =
            select(crate::facilities::all(), &["wheelhouse".to_owned(), "tokio-sleep".to_owned()])
                .unwrap();
        let load = Load { pairs_time: Duration::from_secs(1), ..Load::whole() };
        let settings =
            Settings { contenders, experiments: Vec::new(), on_all: true, load, repetitions: 3 };
        let line = under_way(&settings, 2, Experiment::PairsAlone);
        assert_eq!(line, "repetition 2 of 3: pairs-alone on 2 facilities, about 2.0 s");
    }

    #[test]
    fn who_shows_nothing_new_plays_only_where_he_is_named() {
        let (contenders, experiments) = (crate::facilities::all(), Vec::new());
        let settings =
            Settings { contenders, experiments, on_all: false, load: Load::tiny(), repetitions: 1 };
        let who = |settings: &Settings, it| {
            settings.who_plays(it).iter().map(|it| it.name()).collect::<Vec<_>>()
        };
        let named = Settings { on_all: true, ..settings };
        assert_eq!(who(&named, Experiment::Idle).len(), named.contenders.len());
        let settings = Settings { on_all: false, ..named };
        assert!(who(&settings, Experiment::Fires).contains(&"a-sleeper"));
        for it in Experiment::ALL {
            assert!(who(&settings, it).contains(&"wheelhouse"), "{}", it.name());
            assert!(who(&settings, it).contains(&"heap-and-condvar"), "{}", it.name());
        }
        assert!(!who(&settings, Experiment::Audit).contains(&"wheelhouse-keys"));
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_that_are_known() {
        let message =
            select(crate::facilities::all(), &["netty".to_owned()]).err().unwrap().to_string();
        assert!(message.contains("netty") && message.contains("tokio-delay-queue"), "{message}");
        let chosen =
            select(crate::facilities::all(), &["tokio-sleep".to_owned(), "wheelhouse".to_owned()])
                .unwrap();
        assert_eq!(
            chosen.iter().map(|it| it.name()).collect::<Vec<_>>(),
            ["wheelhouse", "tokio-sleep"]
        );
    }
}
