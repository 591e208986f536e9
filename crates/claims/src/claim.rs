//! The claims, as they stand in `claims.toml`.

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use wheelhouse_present::unknown;

/// All claims, in this crate's own file.
const FILE: &str = include_str!("../claims.toml");

/// What an article, or the literature behind it, says; and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// `C01` to `C99` for claims, `B1` for bugs in printed code, `E1` for worked examples.
    /// `V1` for Varghese and Lauck, `P1` for other publications and sources behind the articles.
    pub id: String,
    /// Who says it.
    pub article: Article,
    /// The line of the article's text.
    pub line: Option<u32>,
    /// What is said, in our words.
    pub says: String,
    /// What would confirm it, and what refute it.
    pub test: String,
    /// The experiment that decides; none where nothing that runs could.
    pub experiment: Option<String>,
    /// The verdict on record.
    pub expected: Verdict,
    /// Why it is that.
    pub because: String,
    /// The figure that is given with the claim.
    pub figure: Option<String>,
    /// What else was read about it.
    pub source: Option<String>,
    /// Whether it is about a running service: then `because` names the tests of the service that show how ours does.
    #[serde(default)]
    pub service: bool,
}

/// Where a claim stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub enum Article {
    /// `xtimingwheel`, a wheel with rounds in Go.
    S0,
    /// A tutorial on rounds and layers, with wheels of days, weeks and months.
    S1,
    /// `alex023/clock`, a red-black tree in Go.
    S2,
    /// A port of Kafka's hierarchical wheel to Go.
    S3,
    /// Netty's and Kafka's wheels, and the timers of the JDK.
    S4,
    /// What the articles stand on: Varghese and Lauck, and the sources of the systems named.
    #[serde(rename = "literature")]
    Literature,
}

impl Article {
    /// All, in the order of the report.
    pub const ALL: [Self; 6] = [Self::S0, Self::S1, Self::S2, Self::S3, Self::S4, Self::Literature];

    /// What it is about.
    pub const fn title(self) -> &'static str {
        match self {
            Self::S0 => "xtimingwheel: one wheel with rounds, in Go",
            Self::S1 => "A tutorial: rounds, layers, and wheels of days, weeks and months",
            Self::S2 => "alex023/clock: a red-black tree, in Go",
            Self::S3 => "Kafka's hierarchical wheel, ported to Go",
            Self::S4 => "Netty, Kafka, and the timers of the JDK",
            Self::Literature => "The literature behind them",
        }
    }

    /// Whose it is, and how to find it.
    pub const fn source(self) -> &'static str {
        match self {
            Self::S0 => {
                "An article in Chinese on the package xtimingwheel, with its code; the text we have names neither author nor address. Lines are those of the text."
            }
            Self::S1 => {
                "A tutorial in Chinese on wheels with rounds, in layers, and of months, weeks and days; the text we have names neither author nor address. Lines are those of the text."
            }
            Self::S2 => {
                "An article in Chinese by the author of the Go package github.com/alex023/clock; the text we have names no address. Lines are those of the text."
            }
            Self::S3 => {
                "luozhiyun, www.luozhiyun.com/archives/444, in Chinese, with code after github.com/RussellLuo/timingwheel. Lines are those of the text."
            }
            Self::S4 => {
                "An article in Chinese on timing wheels in Netty and Kafka and on java.util.concurrent; the text we have names neither author nor address. Lines are those of the text."
            }
            Self::Literature => {
                "What the articles stand on: papers, and the documentation and source of the systems they name."
            }
        }
    }

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::S0 => "S0",
            Self::S1 => "S1",
            Self::S2 => "S2",
            Self::S3 => "S3",
            Self::S4 => "S4",
            Self::Literature => "literature",
        }
    }
}

/// What comes of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// All that it says holds.
    Confirmed,
    /// None of what it says holds.
    Refuted,
    /// Some of it holds, or it holds under a condition that it does not name.
    Nuanced,
    /// What was counted does not decide.
    Undecided,
    /// History, attribution, or a statement on a program that nothing here can run: what the sources say stands with it.
    Documentation,
}

impl Verdict {
    /// The word in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::Nuanced => "nuanced",
            Self::Undecided => "undecided",
            Self::Documentation => "documentation",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Claims {
    claim: Vec<Claim>,
    #[serde(default)]
    summary: Vec<Line>,
}

/// A line of the summary.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// What it says.
    pub says: String,
    /// The claims whose verdicts it rests on.
    pub claims: Vec<String>,
}

/// All claims, in the order of the file.
///
/// # Errors
///
/// If the file is not what it should be: the message names the line, or the claim.
pub fn claims() -> Result<Vec<Claim>> {
    Ok(parse(FILE)?.claim)
}

/// The claims with these identifiers, in the order of the file; all if none is named.
///
/// # Errors
///
/// If an identifier is unknown: the message lists the known ones. Otherwise as [`claims`].
pub fn select(ids: &[String]) -> Result<Vec<Claim>> {
    let all = claims()?;
    let is = |claim: &Claim, id: &String| claim.id.eq_ignore_ascii_case(id);
    if let Some(id) = ids.iter().find(|id| !all.iter().any(|claim| is(claim, id))) {
        let known: Vec<_> = all.iter().map(|claim| claim.id.as_str()).collect();
        return Err(unknown::error("claim", id, &known));
    }
    let is_chosen = |claim: &Claim| ids.is_empty() || ids.iter().any(|id| is(claim, id));
    Ok(all.into_iter().filter(is_chosen).collect())
}

/// What came of it all, in a few lines.
///
/// # Errors
///
/// As [`claims`].
pub fn summary() -> Result<Vec<Line>> {
    Ok(parse(FILE)?.summary)
}

fn parse(text: &str) -> Result<Claims> {
    let parsed: Claims = toml::from_str(text).context("claims.toml")?;
    let Claims { claim: claims, summary } = &parsed;
    let mut ids = BTreeSet::new();
    for claim in claims {
        ensure!(ids.insert(&claim.id), "claims.toml has {} twice", claim.id);
        let documented = claim.expected == Verdict::Documentation;
        ensure!(
            documented == claim.experiment.is_none(),
            "claims.toml: {} is either decided by an experiment or documentation",
            claim.id
        );
        ensure!(
            !documented || claim.source.is_some(),
            "claims.toml: {} is documentation, and names no source",
            claim.id
        );
    }
    for id in summary.iter().flat_map(|line| &line.claims) {
        ensure!(ids.contains(id), "claims.toml: the summary names {id}, which is not there");
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_the_inventory_is_there() -> Result<()> {
        let claims = claims()?;
        let ids: BTreeSet<_> = claims.iter().map(|claim| claim.id.as_str()).collect();
        for id in (1..=49).map(|n| format!("C{n:02}")) {
            assert!(ids.contains(id.as_str()), "{id}");
        }
        for id in (1..=15).map(|n| format!("B{n}")).chain((1..=16).map(|n| format!("E{n}"))) {
            assert!(ids.contains(id.as_str()), "{id}");
        }
        Ok(())
    }

    #[test]
    fn a_claim_that_nothing_decides_must_name_its_source() {
        let entry = "[[claim]]\nid = 'C1'\narticle = 'S0'\nsays = 'a'\ntest = 'b'\nbecause = 'c'\n";
        let error =
            |rest: &str| parse(&format!("{entry}{rest}")).err().map(|error| error.to_string());
        assert!(
            error("expected = 'documentation'").is_some_and(|it| it.contains("names no source"))
        );
        assert!(error("expected = 'confirmed'").is_some_and(|it| it.contains("either decided")));
        assert!(error("expected = 'confirmed'\nexperiment = 'x'").is_none());
    }
}
