//! What an experiment gives: findings, and the tables and charts that they rest on.

use crate::Verdict;
use serde::Serialize;

/// All that came of an experiment.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Evidence {
    /// For each claim that it decides.
    pub findings: Vec<Finding>,
    /// What was counted.
    pub tables: Vec<Table>,
    /// The same as pictures, where one says more.
    pub charts: Vec<Chart>,
}

impl Evidence {
    /// The finding on a claim.
    pub fn finding(&self, claim: &str) -> Option<&Finding> {
        self.findings.iter().find(|found| found.claim == claim)
    }

    /// The tables on a claim: its own, and those that are of no claim in particular.
    pub fn tables_on(&self, claim: &str) -> impl Iterator<Item = &Table> {
        self.tables.iter().filter(move |table| table.on.is_none_or(|on| on == claim))
    }
}

/// What was found on a claim. The verdict is not stated: it follows from the [parts](Part).
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The claim.
    pub claim: &'static str,
    /// The figure that decides it, in a few words.
    pub figure: String,
    /// What the claim says, taken apart.
    pub parts: Vec<Part>,
}

/// A statement of a claim that holds or does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// The statement, worded so that it supports the claim if it holds.
    pub statement: String,
    /// Whether it holds; `None` where what was counted does not tell.
    pub holds: Option<bool>,
}

impl Part {
    /// A statement that was decided.
    pub fn new(statement: impl Into<String>, holds: bool) -> Self {
        Self { statement: statement.into(), holds: Some(holds) }
    }

    /// A statement that may be undecided.
    pub fn maybe(statement: impl Into<String>, holds: Option<bool>) -> Self {
        Self { statement: statement.into(), holds }
    }
}

impl Finding {
    /// A finding on a claim.
    pub fn new(
        claim: &'static str,
        figure: impl Into<String>,
        parts: impl Into<Vec<Part>>,
    ) -> Self {
        Self { claim, figure: figure.into(), parts: parts.into() }
    }

    /// Confirmed if all parts hold, refuted if none does, nuanced if some do. Undecided if one is, or if there is none.
    pub fn verdict(&self) -> Verdict {
        let Some(held) = self.parts.iter().map(|part| part.holds).collect::<Option<Vec<bool>>>()
        else {
            return Verdict::Undecided;
        };
        match (held.contains(&true), held.contains(&false)) {
            (true, false) => Verdict::Confirmed,
            (false, true) => Verdict::Refuted,
            (true, true) => Verdict::Nuanced,
            (false, false) => Verdict::Undecided,
        }
    }
}

/// Figures in rows.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// What is shown.
    pub title: String,
    /// The heads of the columns; the first column is set to the left, the others to the right.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// The claim that it is of, where others of the same experiment have no use for it.
    pub on: Option<&'static str>,
}

impl Table {
    /// A table without rows.
    pub fn new<S: Into<String>>(
        title: impl Into<String>,
        columns: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            title: title.into(),
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
            on: None,
        }
    }

    /// Marks it as being of one claim.
    #[must_use]
    pub fn on(self, claim: &'static str) -> Self {
        Self { on: Some(claim), ..self }
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

/// Lines on logarithmic axes.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// What is shown.
    pub title: String,
    /// What is meant by the figures, in a line.
    pub subtitle: String,
    /// What goes across.
    pub x: String,
    /// What goes up.
    pub y: String,
    /// The lines.
    pub series: Vec<Series>,
}

/// A line of a chart.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// The structure, or the rule.
    pub name: String,
    /// (x, y), both above 0; points at 0 are left out by the logarithmic axes.
    pub points: Vec<(f64, f64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_has_its_own_tables_and_the_common_ones() {
        let table = |title: &str| Table::new(title, ["a"]);
        let tables = vec![table("common"), table("first").on("C01"), table("second").on("C02")];
        let evidence = Evidence { tables, ..Evidence::default() };
        let titles: Vec<_> = evidence.tables_on("C02").map(|table| table.title.as_str()).collect();
        assert_eq!(titles, ["common", "second"]);
    }

    #[test]
    fn the_verdict_follows_from_the_parts() {
        let of = |parts: &[Option<bool>]| {
            let parts: Vec<_> = parts.iter().map(|holds| Part::maybe("it", *holds)).collect();
            Finding::new("C01", "", parts).verdict()
        };
        assert_eq!(of(&[Some(true), Some(true)]), Verdict::Confirmed);
        assert_eq!(of(&[Some(false)]), Verdict::Refuted);
        assert_eq!(of(&[Some(true), Some(false)]), Verdict::Nuanced);
        assert_eq!(of(&[Some(true), None]), Verdict::Undecided);
        assert_eq!(of(&[]), Verdict::Undecided);
    }
}
