//! What is printed beside what comes out.

use crate::{Evidence, Finding, Part, Table};
use std::fmt::Debug;

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
    pub(crate) fn is<T: PartialEq + Debug>(&mut self, what: impl Into<String>, stated: T, found: T) {
        let what = what.into();
        self.parts.push(Part::new(format!("{what}: {stated:?}"), stated == found));
        self.table.row([what, format!("{stated:?}"), format!("{found:?}")]);
    }

    /// A statement, whether it holds, and the figure found that says so.
    pub(crate) fn holds(&mut self, statement: impl Into<String>, holds: bool, found: impl Into<String>) {
        let statement = statement.into();
        self.parts.push(Part::new(statement.clone(), holds));
        self.table.row([statement, "yes".to_owned(), found.into()]);
    }

    /// A value that every structure must give: the statement holds if all do, and there is one.
    pub(crate) fn everywhere<T: PartialEq + Debug>(
        &mut self,
        what: impl Into<String>,
        stated: T,
        outcomes: &[(&'static str, T)],
    ) {
        let what = format!("{}, on {} structures", what.into(), outcomes.len());
        let holds = !outcomes.is_empty() && outcomes.iter().all(|(_, found)| *found == stated);
        let found = match outcomes {
            [] => "no structure".to_owned(),
            [(_, first), others @ ..] if others.iter().all(|(_, other)| other == first) => format!("{first:?} on all"),
            _ => format!("{outcomes:?}"),
        };
        self.parts.push(Part::new(format!("{what}: {stated:?}"), holds));
        self.table.row([what, format!("{stated:?}"), found]);
    }

    /// A row of the table that is no statement of the claim.
    pub(crate) fn beside(&mut self, what: impl Into<String>, found: impl Into<String>) {
        self.table.row([what.into(), "-".to_owned(), found.into()]);
    }

    /// The finding, and the table.
    pub(crate) fn into_parts(self, claim: &'static str, figure: impl Into<String>) -> (Finding, Table) {
        (Finding::new(claim, figure, self.parts), self.table)
    }

    /// The finding as the only one of an experiment.
    pub(crate) fn evidence(self, claim: &'static str, figure: impl Into<String>) -> Evidence {
        let (finding, table) = self.into_parts(claim, figure);
        Evidence { findings: vec![finding], tables: vec![table], charts: Vec::new() }
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
            checks.is("a slot", 8, found);
            checks.everywhere("a tick", 5, outcomes);
            checks.evidence("E1", "").findings[0].verdict()
        };
        assert_eq!(verdict(8, &[("a", 5), ("b", 5)]), Verdict::Confirmed);
        assert_eq!(verdict(8, &[("a", 5), ("b", 6)]), Verdict::Nuanced);
        assert_eq!(verdict(7, &[]), Verdict::Refuted);
    }
}
