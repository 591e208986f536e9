//! Experiments and contenders.

use crate::bound::Target;
use crate::figure::Played;
use crate::run::Run;
use anyhow::{Result, bail};
use std::time::Duration;
use wheelhouse_present::table::Table;
use wheelhouse_present::unknown;

/// Something that a bench plays on each of its contenders.
pub trait Experiment: Copy + PartialEq + 'static {
    /// The sizes of the experiments.
    type Load: Clone;

    /// All of them, in the order of the report.
    const ALL: &'static [Self];

    /// The title of the report.
    const TITLE: &'static str;

    /// The page that explains how the figures are measured, if there is one.
    const METHOD: Option<&'static str> = None;

    /// The bounds, in the order of the report.
    const TARGETS: &'static [Target<Self>] = &[];

    /// The name on the command line.
    fn name(self) -> &'static str;

    /// The experiment at this load. Different loads have different titles.
    fn title(self, load: &Self::Load) -> String;

    /// Explanations of the columns.
    fn notes(self) -> &'static [&'static str] {
        &[]
    }

    /// About how long a play takes. By default all plays are expected to take equally long.
    fn expected(self, _load: &Self::Load) -> Duration {
        Duration::from_secs(2)
    }

    /// The options that raise a load to the one that the bounds are for. If there are any, no bound
    /// is judged, since a contender can keep its bounds at a smaller load.
    fn options_for_bounds(self, _load: &Self::Load) -> Vec<String> {
        Vec::new()
    }

    /// The run in one table; `None` if figures for it are missing.
    fn at_a_glance(_run: &Run<Self>) -> Option<Table> {
        None
    }
}

type Prepare<E> = dyn Fn(&<E as Experiment>::Load) -> Result<()> + Send + Sync;
type Play<E> = dyn Fn(E, &<E as Experiment>::Load) -> Result<Played> + Send + Sync;

/// A row of the tables.
pub struct Contender<E: Experiment> {
    name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) plays: Vec<E>,
    pub(crate) is_limited: bool,
    pub(crate) prepare: Box<Prepare<E>>,
    play: Box<Play<E>>,
}

impl<E: Experiment> Contender<E> {
    /// A row with a name, a description in one line, and a function that plays an experiment once.
    ///
    /// The function fails if the experiment cannot be started, or hangs. A wrong answer is not an
    /// error but a [`Played`] of `Err`.
    pub fn new(
        name: &'static str,
        about: &'static str,
        play: impl Fn(E, &E::Load) -> Result<Played> + Send + Sync + 'static,
    ) -> Self {
        let (plays, prepare) = (E::ALL.to_vec(), Box::new(|_: &E::Load| anyhow::Ok(())));
        Self { name, about, plays, is_limited: false, prepare, play: Box::new(play) }
    }

    /// Selects the experiments that it plays by default: those in which it differs from another
    /// row. A contender that is named on the command line plays all.
    pub fn only(self, is_played: impl Fn(E) -> bool) -> Self {
        Self { plays: E::ALL.iter().copied().filter(|it| is_played(*it)).collect(), ..self }
    }

    /// Refuses all experiments except those of [`only`](Self::only), even if the contender is
    /// named.
    pub fn limited(self) -> Self {
        Self { is_limited: true, ..self }
    }

    /// Sets a function that is called once, before the first round. If it fails, nothing is played.
    pub fn prepared(
        self,
        prepare: impl Fn(&E::Load) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { prepare: Box::new(prepare), ..self }
    }

    /// The name in the tables.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Plays an experiment once.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or hangs.
    pub fn play(&self, experiment: E, load: &E::Load) -> Result<Played> {
        (self.play)(experiment, load)
    }
}

/// The contenders with these names, in their original order; all of them if `names` is empty.
///
/// # Errors
///
/// If a name is unknown. The message lists the known names.
pub fn select_contenders<E: Experiment>(
    all: Vec<Contender<E>>,
    names: &[String],
) -> Result<Vec<Contender<E>>> {
    unknown::select("backend", all, Contender::name, names)
}

/// The experiments with these names, in the order of the report; all of them if `names` is empty.
/// The part of a name before its first dash selects every experiment that begins with it. Fails if
/// a name is unknown.
pub(crate) fn select_experiments<E: Experiment>(names: &[String]) -> Result<Vec<E>> {
    let is = |it: E, name: &str| it.name() == name || it.name().split('-').next() == Some(name);
    if let Some(name) = names.iter().find(|name| !E::ALL.iter().any(|it| is(*it, name))) {
        let known: Vec<_> = E::ALL.iter().map(|it| it.name()).collect();
        bail!(unknown::error("experiment", name, &known));
    }
    let is_named = |it: &E| names.is_empty() || names.iter().any(|name| is(*it, name));
    Ok(E::ALL.iter().copied().filter(is_named).collect())
}
