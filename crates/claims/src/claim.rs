//! The claims, read from `claims.toml`.

use crate::printed;
use crate::statement::Outcome;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use wheelhouse_present::unknown;

const FILE: &str = include_str!("../claims.toml");

/// A claim of an article, or of the literature behind it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// `C01` to `C99` for claims, `B1` for faults of printed code, `V1` for Varghese and Lauck,
    /// `P1` for other sources.
    pub id: String,
    /// The article that says it: the name of its table in the file.
    #[serde(skip)]
    pub article: Article,
    /// The line of the article's text.
    pub line: Option<u32>,
    /// A phrase of that line, letter for letter; for a fault of printed code, the code.
    pub original: Option<String>,
    /// A translation of the phrase and its context; for a fault, its effect.
    pub says: String,
    /// The experiment that decides its statements, if any.
    pub experiment: Option<String>,
    /// The reason for the outcome. For a fault of a running service it names the tests of our
    /// service.
    pub because: String,
    /// The conclusion, in a line.
    pub so: String,
    /// Other sources that were read.
    pub source: Option<String>,
    /// The numbers of its statements that are more precise than the article. No other statement may
    /// be named here.
    #[serde(default)]
    pub sharpened: Vec<u32>,
    /// The numbers of its statements about our structures, or found by us.
    #[serde(default)]
    pub ours: Vec<u32>,
    /// Its statements that sources decide.
    #[serde(default)]
    pub by_sources: Vec<SourcedStatement>,
    /// Its statements that the article's code decided when it was run.
    #[serde(default)]
    pub by_printed_code: Vec<PrintedCodeStatement>,
}

impl Claim {
    /// The ids of the statements that are decided in the file itself, without an experiment.
    pub(crate) fn own_statements(&self) -> impl Iterator<Item = &str> {
        let ran = self.by_printed_code.iter().map(|it| it.id.as_str());
        self.by_sources.iter().map(|it| it.id.as_str()).chain(ran)
    }

    /// Returns the origin of a statement, by its number. Faults of printed code are ours: we found
    /// them.
    pub fn origin(&self, number: u32) -> Origin {
        if self.ours.contains(&number) || self.id.starts_with('B') {
            Origin::Ours
        } else if self.article == Article::Literature {
            Origin::Literature
        } else if self.sharpened.contains(&number) {
            Origin::Sharpened
        } else {
            Origin::Article
        }
    }
}

words! {
    /// The origin of a statement.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Origin {
        /// The article says it.
        Article = "article",
        /// Our more precise form of what the article says.
        Sharpened = "sharpened",
        /// It is about our structures, or a fault that we found.
        Ours = "ours",
        /// The literature says it.
        Literature = "literature",
    }
}

/// A statement that sources decide: id, sentence, outcome, and what the sources say. In the file it
/// is an array.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SourcedStatement {
    /// The claim and a number, as `C01.1`.
    pub id: String,
    /// The sentence.
    pub sentence: String,
    /// Its outcome.
    pub outcome: Outcome,
    /// A summary of what the sources say.
    pub says: String,
}

/// A statement about an article's own code, decided by running that code. In the file it is an
/// array.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PrintedCodeStatement {
    /// The claim and a number, as `B4.1`.
    pub id: String,
    /// The sentence.
    pub sentence: String,
    /// The answers that the code gives if the sentence holds, by the key of the
    /// [question](crate::printed).
    pub prints: BTreeMap<String, String>,
}

words! {
    /// The text that makes a claim.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize,
    )]
    pub enum Article {
        /// `xtimingwheel`, a wheel with rounds in Go.
        #[default]
        S0 = "S0",
        /// A tutorial on rounds and layers, with wheels of days, weeks and months.
        S1 = "S1",
        /// `alex023/clock`, a red-black tree in Go.
        S2 = "S2",
        /// A port of Kafka's hierarchical wheel to Go.
        S3 = "S3",
        /// Netty's and Kafka's wheels, and the timers of the JDK.
        S4 = "S4",
        /// The sources of the articles: Varghese and Lauck, and the source code of the systems
        /// named.
        #[serde(rename = "literature")]
        Literature = "literature",
    }
}

impl Article {
    /// The subject of the article.
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

    /// The author, and how to find it.
    pub const fn source(self) -> &'static str {
        match self {
            Self::S0 => "In Chinese, with the code of the package; without author and address.",
            Self::S1 => "In Chinese; without author and address.",
            Self::S2 => "In Chinese, by the author of github.com/alex023/clock; without address.",
            Self::S3 => {
                "By luozhiyun, www.luozhiyun.com/archives/444, in Chinese, with code after \
                 github.com/RussellLuo/timingwheel."
            }
            Self::S4 => "In Chinese, also on java.util.concurrent; without author and address.",
            Self::Literature => "Papers, and the documentation and source of the systems named.",
        }
    }
}

/// All claims, by article, in the order of the file.
///
/// # Errors
///
/// If the file is invalid. The message names the line or the claim.
pub fn claims() -> Result<Vec<Claim>> {
    parse(FILE)
}

/// The claims with these ids, in the order of the file; all claims if `ids` is empty. The id of a
/// statement, such as `C28.2`, selects its claim.
///
/// # Errors
///
/// If an id is unknown: the message lists the known ones. Also as [`claims`].
pub fn select(ids: &[String]) -> Result<Vec<Claim>> {
    let all = claims()?;
    let is = |claim: &Claim, id: &String| {
        let of = id.split_once('.').map_or(id.as_str(), |(of, _)| of);
        claim.id.eq_ignore_ascii_case(of)
    };
    if let Some(id) = ids.iter().find(|id| !all.iter().any(|claim| is(claim, id))) {
        let of_article = |claim: &&Claim| claim.article.name().eq_ignore_ascii_case(id);
        let its: Vec<_> = all.iter().filter(of_article).map(|claim| claim.id.as_str()).collect();
        ensure!(its.is_empty(), "{id} is an article, not a claim; its claims: {}", its.join(", "));
        let known: Vec<_> = all.iter().map(|claim| claim.id.as_str()).collect();
        return Err(unknown::error("claim", id, &known));
    }
    let is_chosen = |claim: &Claim| ids.is_empty() || ids.iter().any(|id| is(claim, id));
    Ok(all.into_iter().filter(is_chosen).collect())
}

fn parse(text: &str) -> Result<Vec<Claim>> {
    let by_article: BTreeMap<Article, Vec<Claim>> = toml::from_str(text).context("claims.toml")?;
    let all = by_article.into_iter();
    let of = |(article, of): (_, Vec<Claim>)| {
        of.into_iter().map(move |claim| Claim { article, ..claim })
    };
    let claims: Vec<Claim> = all.flat_map(of).collect();
    let mut ids = BTreeSet::new();
    for claim in &claims {
        ensure!(ids.insert(claim.id.as_str()), "claims.toml has {} twice", claim.id);
        ensure!(
            claim.experiment.is_some() || claim.own_statements().next().is_some(),
            "claims.toml: nothing decides {}; name an experiment, or statements by_sources or \
             by_printed_code",
            claim.id
        );
        ensure!(
            claim.article == Article::Literature
                || (claim.line.is_some() && claim.original.is_some()),
            "claims.toml: {} has no line, or no phrase of the article: add line and original",
            claim.id
        );
        ensure!(
            claim.by_sources.is_empty() || claim.source.is_some(),
            "claims.toml: {} has statements by sources, and names no source",
            claim.id
        );
        for number in &claim.sharpened {
            ensure!(
                claim.origin(*number) == Origin::Sharpened,
                "claims.toml: {}.{number} is not an article's statement: remove {number} from \
                 sharpened; if the statement is yours, ours has its number",
                claim.id
            );
        }
        for id in claim.own_statements() {
            let of = id.split_once('.').map(|(of, _)| of);
            ensure!(ids.insert(id), "claims.toml has {id} twice");
            ensure!(of == Some(&claim.id), "claims.toml: {id} is not of {}", claim.id);
        }
        for key in claim.by_printed_code.iter().flat_map(|it| it.prints.keys()) {
            ensure!(printed::is_asked(key), "claims.toml: no printed code is asked {key}");
        }
    }
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_article_is_not_a_claim() {
        for (id, part) in [
            ("S3", "S3 is an article, not a claim; its claims: C"),
            ("s0", "s0 is an article, not a claim; its claims: C"),
            ("literature", "literature is an article, not a claim; its claims: V"),
            ("S9", "no claim is called 'S9'"),
        ] {
            let why = select(&[id.to_owned()]).unwrap_err().to_string();
            assert!(why.contains(part), "{why}");
        }
    }

    #[test]
    fn a_claim_must_name_what_decides_it() {
        let entry = "[[literature]]\nid = 'C1'\nsays = 'a'\nbecause = 'c'\nso = 's'\n";
        let error = |rest: &str| {
            let text = format!("{entry}{rest}");
            parse(&text).err().map_or(String::new(), |error| error.to_string())
        };
        let of = |id| format!("by_sources = [['{id}', 'q', 'refuted', 's']]");
        assert!(error("").contains("nothing decides C1"));
        assert!(error(&of("C1.1")).contains("names no source"));
        assert!(error(&format!("source = 's'\n{}", of("C2.1"))).contains("not of C1"));
        assert_eq!(error(&format!("source = 's'\n{}", of("C1.1"))), "");
        let ran = "by_printed_code = [['C1.1', 'q', { 'B0.x' = '1' }]]";
        assert!(error(ran).contains("no printed code is asked B0.x"));
        assert_eq!(error("experiment = 'x'"), "");
        let of_no_article = error("experiment = 'x'\nsharpened = [1]");
        assert!(of_no_article.contains("remove 1 from sharpened"), "{of_no_article}");
        let article = entry.replace("literature", "S0") + "experiment = 'x'";
        assert!(parse(&article).is_err_and(|error| error.to_string().contains("add line")));
    }
}
