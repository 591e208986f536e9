//! The error about an unknown name: which name was probably meant, and which there are.

use anyhow::{Error, Result, anyhow};
use std::fmt::Display;

/// Names that are less similar than this are not suggested.
const MIN_SIMILARITY: f64 = 0.75;

/// The error about a `what` (a colour, a month) whose name is not among the known ones.
///
/// ```
/// let error = wheelhouse_present::unknown::error("colour", "gren", &["red", "green"]);
/// let said = "no colour is called 'gren'; did you mean 'green'? There are: red, green";
/// assert_eq!(error.to_string(), said);
/// ```
pub fn error(what: impl Display, name: &str, known: &[&str]) -> Error {
    let all = known.join(", ");
    match nearest(name, known) {
        Some(suggestion) => {
            anyhow!("no {what} is called '{name}'; did you mean '{suggestion}'? There are: {all}")
        }
        None => anyhow!("no {what} is called '{name}'; there are: {all}"),
    }
}

/// Checks that names are among the known ones.
///
/// # Errors
///
/// [`error`], about the first that is not.
pub fn check(what: impl Display, names: &[String], known: &[&str]) -> Result<()> {
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(error(what, name, known)),
        None => Ok(()),
    }
}

/// The items with these names, in their original order; all of them if `names` is empty.
///
/// # Errors
///
/// [`error`], about the first name that no item has.
pub fn select<T>(
    what: impl Display,
    all: Vec<T>,
    name: impl Fn(&T) -> &'static str,
    names: &[String],
) -> Result<Vec<T>> {
    check(what, names, &all.iter().map(&name).collect::<Vec<_>>())?;
    let is_named = |it: &T| names.is_empty() || names.iter().any(|named| named == name(it));
    Ok(all.into_iter().filter(is_named).collect())
}

/// The known name that is most similar to a name, if one is similar enough.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let similarities = known.iter().map(|known| (strsim::jaro_winkler(name, known), *known));
    let (similarity, nearest) = similarities.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (similarity >= MIN_SIMILARITY).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_unlike_all_others_gets_no_suggestion() {
        let known = ["bluish-green", "sky-blue"];
        assert_eq!(nearest("blueish-green", &known), Some("bluish-green"));
        assert_eq!(nearest("skyblue", &known), Some("sky-blue"));
        assert_eq!(nearest("xyz", &known), None);
        assert_eq!(nearest("", &[]), None);
    }
}
