//! What to say about a name that nobody knows: which one was probably meant, and which there are.

use anyhow::{Error, anyhow};
use std::fmt::Display;

/// Names less alike than this are not mistaken for each other.
const ALIKE: f64 = 0.75;

/// The error about a name of a `what` (a backend, a trace) that is none of those known.
///
/// ```
/// let error = wheelhouse_harness::unknown::error("backend", "lst-wheel", &["round-wheel", "list-wheel"]);
/// let said = "no backend is called 'lst-wheel'; did you mean 'list-wheel'? There are: round-wheel, list-wheel";
/// assert_eq!(error.to_string(), said);
/// ```
pub fn error(what: impl Display, name: &str, known: &[&str]) -> Error {
    let all = known.join(", ");
    match nearest(name, known) {
        Some(meant) => {
            anyhow!("no {what} is called '{name}'; did you mean '{meant}'? There are: {all}")
        }
        None => anyhow!("no {what} is called '{name}'; there are: {all}"),
    }
}

/// The known name that is most like a name, if any is.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let alike = known.iter().map(|known| (strsim::jaro_winkler(name, known), *known));
    let (likeness, nearest) = alike.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (likeness >= ALIKE).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_like_none_is_not_guessed_at() {
        let known = ["hierarchical-wheel", "skip-list"];
        assert_eq!(nearest("hierachical-wheel", &known), Some("hierarchical-wheel"));
        assert_eq!(nearest("skiplist", &known), Some("skip-list"));
        assert_eq!(nearest("xyz", &known), None);
        assert_eq!(nearest("", &[]), None);
    }
}
