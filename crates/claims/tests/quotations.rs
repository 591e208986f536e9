//! The quotations are in the articles, word for word, in the lines that the claims name, and the
//! figures of statements are in the results that they cite. Tests of the service show that it does
//! not have the faults of running services: the tests that the claims name exist.
//!
//! The articles are not part of this project. Name the folder with their texts in
//! `WHEELHOUSE_ARTICLES`; otherwise the test prints that it was skipped.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use wheelhouse_claims::{Article, Claim, SourcedStatement, claims};

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

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The results that a statement or the source of its claim cites, and the text with their figures.
fn cited<'a>(statement: &'a SourcedStatement, source: &'a str) -> Option<(&'a str, &'a str)> {
    let path_in = |text: &'a str| {
        let (_, path) = text.split_at(text.find("results/")?);
        Some(path.split_once([':', ';', ' ']).unwrap_or((path, "")))
    };
    let says = statement.says.as_str();
    path_in(says).or_else(|| path_in(source).map(|(path, _)| (path, says)))
}

/// The numbers among the words of a text; a power such as 10^6 is none.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace().map(|word| word.trim_matches([',', ';', '.', ':']));
    words.filter(|word| word.replace(',', "").parse::<f64>().is_ok())
}

#[test]
fn figures_are_in_the_results_that_they_cite() -> Result<()> {
    let mut ids = Vec::new();
    for claim in claims()? {
        for statement in &claim.by_sources {
            let source = claim.source.as_deref().unwrap_or_default();
            let Some((path, figures)) = cited(statement, source) else { continue };
            let file = root().join(path);
            let file = if file.is_dir() { file.join("report.md") } else { file };
            let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            let is_other = |c: char| !(c.is_ascii_digit() || c == '.' || c == ',');
            let known: BTreeSet<_> = text.split(is_other).collect();
            let mut figures = numbers(figures).peekable();
            ensure!(figures.peek().is_some(), "{} cites {path} without a figure", statement.id);
            if let Some(other) = figures.find(|figure| !known.contains(figure)) {
                anyhow::bail!("{}: {other} is not in {path}", statement.id);
            }
            ids.push(statement.id.clone());
        }
    }
    let expected =
        ["C03.1", "C32.11", "C32.15", "C32.16", "C43.6", "C43.7", "C43.8", "C46.11", "C46.12"];
    assert_eq!(ids, expected);
    Ok(())
}

/// The tests that a claim names, as (path, function).
fn named(claim: &Claim) -> Vec<(&str, &str)> {
    let words = claim.because.split_whitespace().filter_map(|word| word.split_once("::"));
    words.map(|(path, name)| (path, name.trim_end_matches(['.', ',', ';']))).collect()
}

/// Returns `true` if a source text has a test with this name; a plain function does not count.
fn has_test(source: &str, name: &str) -> bool {
    let function = format!("fn {name}()");
    let lines: Vec<_> = source.lines().map(str::trim).collect();
    lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1].starts_with(&function))
}

#[test]
fn the_tests_named_for_each_service_fault_exist() -> Result<()> {
    let claims = claims()?;
    let faults: Vec<_> = claims.iter().filter(|claim| !named(claim).is_empty()).collect();
    let ids: Vec<_> = faults.iter().map(|claim| claim.id.as_str()).collect();
    assert_eq!(ids, ["B4", "B6", "B7", "B8", "B11"]);
    for claim in faults {
        for (path, name) in named(claim) {
            let source = fs::read_to_string(root().join(path))
                .with_context(|| format!("{}: {path}", claim.id))?;
            ensure!(has_test(&source, name), "{}: {path} has no test {name}", claim.id);
        }
    }
    Ok(())
}

#[test]
fn a_function_without_test_attribute_does_not_count() {
    let source = "#[test]\nfn yes() {\n}\n/// fn no()\nfn no() {\n}\n";
    assert!(has_test(source, "yes"));
    assert!(!has_test(source, "no") && !has_test(source, "ye") && !has_test(source, "absent"));
}
