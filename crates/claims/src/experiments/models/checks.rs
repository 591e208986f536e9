//! What is printed beside what comes out.

use crate::{Evidence, Finding, Part, Table};

/// Statements of one claim with the value that is printed, or promised, and the value that came out: a [`Part`] each, and a row of the table.
pub(crate) struct Checks {
    parts: Vec<Part>,
    table: Table,
}

impl Checks {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self { parts: Vec::new(), table: Table::new(title, ["what", "stated", "found"]) }
    }

    /// A value that is stated, and the one found: the statement holds if they are the same.
    pub(crate) fn is<T: PartialEq + Shown>(
        &mut self,
        what: impl Into<String>,
        stated: T,
        found: T,
    ) {
        self.value(what.into(), stated == found, shown(&stated), shown(&found));
    }

    /// A statement, whether it holds, and the figure found that says so.
    pub(crate) fn holds(
        &mut self,
        statement: impl Into<String>,
        holds: bool,
        found: impl Into<String>,
    ) {
        let (statement, found) = (statement.into(), found.into());
        self.parts.push(Part::new(format!("{statement} (found: {found})"), holds));
        self.table.row([statement, "yes".to_owned(), found]);
    }

    /// A value that every structure must give: the statement holds if all do, and there is one.
    pub(crate) fn everywhere<T: PartialEq + Shown>(
        &mut self,
        what: impl Into<String>,
        stated: T,
        outcomes: &[(&'static str, T)],
    ) {
        let what = format!("{}, on {} structures", what.into(), outcomes.len());
        let holds = !outcomes.is_empty() && outcomes.iter().all(|(_, found)| *found == stated);
        self.value(what, holds, shown(&stated), on_each(outcomes));
    }

    /// A row of the table that is no statement of the claim.
    pub(crate) fn beside(&mut self, what: impl Into<String>, found: impl Into<String>) {
        self.table.row([what.into(), "-".to_owned(), found.into()]);
    }

    /// The finding, and the table, which is marked as being of this claim.
    pub(crate) fn into_parts(
        self,
        claim: &'static str,
        figure: impl Into<String>,
    ) -> (Finding, Table) {
        (Finding::new(claim, figure, self.parts), self.table.on(claim))
    }

    /// The finding as the only one of an experiment.
    pub(crate) fn evidence(self, claim: &'static str, figure: impl Into<String>) -> Evidence {
        let (finding, table) = self.into_parts(claim, figure);
        Evidence { findings: vec![finding], tables: vec![table], charts: Vec::new() }
    }

    /// A statement that does not hold says what was found instead: on its own it would be read as what is so.
    fn value(&mut self, what: String, holds: bool, stated: String, found: String) {
        let statement = if holds {
            format!("{what}: {stated}")
        } else {
            format!("{what}: stated {stated}, found {found}")
        };
        self.parts.push(Part::new(statement, holds));
        self.table.row([what, stated, found]);
    }
}

/// Each value that was found, and on which structures.
fn on_each<T: PartialEq + Shown>(outcomes: &[(&'static str, T)]) -> String {
    let mut values: Vec<(&T, Vec<&str>)> = Vec::new();
    for (name, found) in outcomes {
        match values.iter_mut().find(|(value, _)| *value == found) {
            Some((_, names)) => names.push(name),
            None => values.push((found, vec![name])),
        }
    }
    match values.as_slice() {
        [] => "no structure".to_owned(),
        [(value, _)] => format!("{} on all", shown(*value)),
        several => {
            let on = |(value, names): &(&T, Vec<&str>)| {
                format!("{} on {}", shown(*value), names.join(", "))
            };
            several.iter().map(on).collect::<Vec<_>>().join("; ")
        }
    }
}

/// A value as it stands in a sentence.
pub(crate) fn shown<T: Shown + ?Sized>(value: &T) -> String {
    value.shown(false)
}

/// What can stand in a sentence: numbers, words, and several of them with commas between.
pub(crate) trait Shown {
    /// `inner` if it is one of several, so that what belongs together must be seen.
    fn shown(&self, inner: bool) -> String;
}

macro_rules! as_displayed {
    ($($one:ty),*) => {$(
        impl Shown for $one {
            fn shown(&self, _: bool) -> String {
                self.to_string()
            }
        }
    )*};
}

as_displayed!(u32, u64, usize, i32, i64, &str, String);

impl Shown for bool {
    fn shown(&self, _: bool) -> String {
        if *self { "yes" } else { "no" }.to_owned()
    }
}

fn several(members: &[String], inner: bool) -> String {
    match (members, inner) {
        ([], _) => "none".to_owned(),
        ([one], _) => one.clone(),
        (_, true) => format!("({})", members.join(", ")),
        (_, false) => members.join(", "),
    }
}

impl<T: Shown> Shown for [T] {
    fn shown(&self, inner: bool) -> String {
        several(&self.iter().map(|member| member.shown(true)).collect::<Vec<_>>(), inner)
    }
}

impl<T: Shown> Shown for Vec<T> {
    fn shown(&self, inner: bool) -> String {
        self.as_slice().shown(inner)
    }
}

impl<T: Shown, const N: usize> Shown for [T; N] {
    fn shown(&self, inner: bool) -> String {
        self.as_slice().shown(inner)
    }
}

impl<A: Shown, B: Shown> Shown for (A, B) {
    fn shown(&self, inner: bool) -> String {
        several(&[self.0.shown(true), self.1.shown(true)], inner)
    }
}

impl<A: Shown, B: Shown, C: Shown> Shown for (A, B, C) {
    fn shown(&self, inner: bool) -> String {
        several(&[self.0.shown(true), self.1.shown(true), self.2.shown(true)], inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn a_statement_holds_if_what_is_found_is_what_is_stated() {
        let verdict = |found, outcomes: &[(&'static str, u64)]| {
            let mut checks = Checks::new("");
            checks.is("a slot", 8_u64, found);
            checks.everywhere("a tick", 5, outcomes);
            checks.evidence("E1", "").findings[0].verdict()
        };
        assert_eq!(verdict(8, &[("a", 5), ("b", 5)]), Verdict::Confirmed);
        assert_eq!(verdict(8, &[("a", 5), ("b", 6)]), Verdict::Nuanced);
        assert_eq!(verdict(7, &[]), Verdict::Refuted);
    }

    #[test]
    fn a_statement_that_does_not_hold_says_what_was_found() {
        let mut checks = Checks::new("");
        checks.is("a slot", 8_u64, 7);
        checks.everywhere("a tick", 5_u64, &[("a", 5), ("b", 6), ("c", 6)]);
        checks.is("another", 3_u64, 3);
        checks.holds("it is late", true, "by 4");
        let (finding, table) = checks.into_parts("E1", "");
        let parts: Vec<_> = finding.parts.iter().map(|part| part.statement.as_str()).collect();
        let expected = [
            "a slot: stated 8, found 7",
            "a tick, on 3 structures: stated 5, found 5 on a; 6 on b, c",
            "another: 3",
            "it is late (found: by 4)",
        ];
        assert_eq!((parts.as_slice(), table.on), (expected.as_slice(), Some("E1")));
    }

    #[test]
    fn values_are_shown_as_they_are_read() {
        assert_eq!(shown(&vec![6_u64, 18, 30]), "6, 18, 30");
        assert_eq!(shown(&[(3_600_u64, 11_usize), (60, 15)]), "(3600, 11), (60, 15)");
        assert_eq!(shown(&(vec![true, false], vec![3_u64])), "(yes, no), 3");
        assert_eq!(shown(&Vec::<u64>::new()), "none");
    }
}
