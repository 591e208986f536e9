//! What is played, and on whom.

use crate::bound::Target;
use crate::figure::Played;
use crate::run::Run;
use anyhow::{Result, bail};
use std::time::Duration;
use wheelhouse_present::table::Table;
use wheelhouse_present::unknown;

/// Something that a bench plays on each of its contenders.
pub trait Experiment: Copy + PartialEq + 'static {
    /// How much of everything.
    type Load: Clone;

    /// All of them, in the order of the report.
    const ALL: &'static [Self];

    /// The title of the report.
    const TITLE: &'static str;

    /// The page that says how the figures come about, if there is one.
    const METHOD: Option<&'static str> = None;

    /// What is asked of some rows, in the order of the report.
    const TARGETS: &'static [Target<Self>] = &[];

    /// The name on the command line.
    fn name(self) -> &'static str;

    /// What is played at this load. Whoever compares two reports reads here what differs.
    fn title(self, load: &Self::Load) -> String;

    /// What the columns say.
    fn notes(self) -> &'static [&'static str] {
        &[]
    }

    /// About how long a play takes.
    fn expected(self, load: &Self::Load) -> Duration;

    /// The options that make a load as large as the one that something is asked of. Where there are
    /// any, nothing is judged: a contender may keep its bounds with less.
    fn lacks(self, _load: &Self::Load) -> Vec<String> {
        Vec::new()
    }

    /// The run in one table, if enough was played to fill it.
    fn at_a_glance(_run: &Run<Self>) -> Option<Table> {
        None
    }
}

/// Who takes part.
pub trait Contender<E: Experiment>: Send + Sync {
    /// The name in the tables.
    fn name(&self) -> &'static str;

    /// What it is, in a line.
    fn about(&self) -> &'static str;

    /// What it plays unless it is asked for by its name: that in which it differs from another.
    fn plays(&self) -> &'static [E] {
        E::ALL
    }

    /// What is done once, before the first round.
    ///
    /// # Errors
    ///
    /// If that fails, nothing is played.
    fn prepare(&self, _load: &E::Load) -> Result<()> {
        Ok(())
    }

    /// Plays an experiment once.
    ///
    /// # Errors
    ///
    /// If it cannot be started or hangs. Wrong answers are no error here, but what was [`Played`].
    fn play(&self, experiment: E, load: &E::Load) -> Result<Played>;
}

/// The contenders of these names, in their own order; all if none is named.
///
/// # Errors
///
/// If a name is unknown; the message has those that are known.
pub fn named<E: Experiment>(
    all: Vec<Box<dyn Contender<E>>>,
    names: &[String],
) -> Result<Vec<Box<dyn Contender<E>>>> {
    let known: Vec<_> = all.iter().map(|it| it.name()).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!(unknown::error("backend", name, &known));
    }
    let is_named = |name: &str| names.is_empty() || names.iter().any(|named| named == name);
    Ok(all.into_iter().filter(|it| is_named(it.name())).collect())
}

/// The experiments of these names, in the order of the report; all if none is named. The part of a
/// name before its first dash names all that begin so.
///
/// # Errors
///
/// If a name is unknown; the message has those that are known.
pub(crate) fn experiments<E: Experiment>(names: &[String]) -> Result<Vec<E>> {
    let is = |it: E, name: &str| it.name() == name || it.name().split('-').next() == Some(name);
    if let Some(name) = names.iter().find(|name| !E::ALL.iter().any(|it| is(*it, name))) {
        let known: Vec<_> = E::ALL.iter().map(|it| it.name()).collect();
        bail!(unknown::error("experiment", name, &known));
    }
    let is_named = |it: &E| names.is_empty() || names.iter().any(|name| is(*it, name));
    Ok(E::ALL.iter().copied().filter(is_named).collect())
}
