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

    /// About how long a play takes.
    fn expected(self, load: &Self::Load) -> Duration;

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

/// A row of the tables.
pub trait Contender<E: Experiment>: Send + Sync {
    /// The name in the tables.
    fn name(&self) -> &'static str;

    /// A description in one line.
    fn about(&self) -> &'static str;

    /// The experiments that it plays by default: those in which it differs from another row. A
    /// contender that is named on the command line plays all.
    fn plays(&self) -> &[E] {
        E::ALL
    }

    /// Prepares the contender once, before the first round.
    ///
    /// # Errors
    ///
    /// If the preparation fails. Then nothing is played.
    fn prepare(&self, _load: &E::Load) -> Result<()> {
        Ok(())
    }

    /// Plays an experiment once.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or hangs. A wrong answer is not an error but a [`Played`] of `Err`.
    fn play(&self, experiment: E, load: &E::Load) -> Result<Played>;
}

/// The contenders with these names, in their original order; all of them if `names` is empty.
///
/// # Errors
///
/// If a name is unknown. The message lists the known names.
pub fn select_contenders<E: Experiment>(
    all: Vec<Box<dyn Contender<E>>>,
    names: &[String],
) -> Result<Vec<Box<dyn Contender<E>>>> {
    unknown::select("backend", all, |it| it.name(), names)
}

/// The experiments with these names, in the order of the report; all of them if `names` is empty.
/// The part of a name before its first dash selects every experiment that begins with it.
///
/// # Errors
///
/// If a name is unknown. The message lists the known names.
pub(crate) fn select_experiments<E: Experiment>(names: &[String]) -> Result<Vec<E>> {
    let is = |it: E, name: &str| it.name() == name || it.name().split('-').next() == Some(name);
    if let Some(name) = names.iter().find(|name| !E::ALL.iter().any(|it| is(*it, name))) {
        let known: Vec<_> = E::ALL.iter().map(|it| it.name()).collect();
        bail!(unknown::error("experiment", name, &known));
    }
    let is_named = |it: &E| names.is_empty() || names.iter().any(|name| is(*it, name));
    Ok(E::ALL.iter().copied().filter(is_named).collect())
}
