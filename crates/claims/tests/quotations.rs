//! The quotations are in the articles, word for word, in the lines that the claims name.
//!
//! The articles are not part of this project. Name the folder with their texts in
//! `WHEELHOUSE_ARTICLES`; otherwise the test prints that it was skipped.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use wheelhouse_claims::{Article, claims};

/// A word that occurs in one article only.
const KNOWN_BY: [(Article, &str); 5] = [
    (Article::S0, "*XTimeWheel"),
    (Article::S1, "while-true-sleep"),
    (Article::S2, "alex023"),
    (Article::S3, "*TimingWheel"),
    (Article::S4, "HashedWheelTimer"),
];

fn text(article: Article, folder: &Path) -> Result<String> {
    let (_, word) = KNOWN_BY.iter().find(|(of, _)| *of == article).context("no article")?;
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let text = fs::read_to_string(entry?.path())?;
        if text.contains(word) {
            return Ok(text);
        }
    }
    anyhow::bail!("no text in {} has the word {word}", folder.display())
}

#[test]
fn quotations_are_in_the_texts() -> Result<()> {
    let Some(folder) = std::env::var_os("WHEELHOUSE_ARTICLES") else {
        eprintln!("skipped: WHEELHOUSE_ARTICLES names no folder with the texts of the articles");
        return Ok(());
    };
    for claim in claims()? {
        let (Some(line), Some(original)) = (claim.line, &claim.original) else { continue };
        let text = text(claim.article, Path::new(&folder))?;
        let found = text.lines().nth(line as usize - 1).unwrap_or_default();
        ensure!(found.contains(original), "{}: line {line} is not '{original}'", claim.id);
    }
    Ok(())
}
