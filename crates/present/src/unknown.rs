//! The error about an unknown name: which name was probably meant, and which there are.

use anyhow::{Error, Result, anyhow};
use std::fmt::Display;

/// A name is suggested if at most one in this many of its characters is wrong. More typing errors
/// are rarely made, and another name is then as likely.
const CHARACTERS_PER_ERROR: usize = 4;

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

/// The known name that was probably meant: the only one that has the name as one of its parts, or
/// the one with the fewest typing errors, if they are few.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let has_part = |known: &&&str| known.split(['-', ':']).any(|part| part == name);
    let mut with_part = known.iter().filter(has_part);
    if let (Some(only), None) = (with_part.next(), with_part.next()) {
        return Some(only);
    }
    let errors = known.iter().map(|known| (strsim::osa_distance(name, known), *known));
    let (errors, nearest) = errors.min_by_key(|(errors, _)| *errors)?;
    let length = name.chars().count().max(nearest.chars().count());
    (errors * CHARACTERS_PER_ERROR <= length).then_some(nearest)
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

    #[test]
    fn a_name_that_only_begins_or_ends_as_another_is_not_taken_for_it() {
        let known = ["list-wheel", "lazy-heap", "binary-heap", "floor", "trace:redis", "C49"];
        for other in ["timing-wheel", "quad-heap", "d-ary-heap", "foo", "trace:foo", "C99"] {
            assert_eq!(nearest(other, &known), None, "{other}");
        }
        let meant = [("redis", "trace:redis"), ("list", "list-wheel"), ("binray-heap", known[2])];
        for (name, meant) in meant {
            assert_eq!(nearest(name, &known), Some(meant));
        }
        assert_eq!(nearest("heap", &known), None, "two names have this part");
    }
}
