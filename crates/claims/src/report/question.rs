//! Finds claims by words: "heap insert".

use crate::front::{CONTESTANTS, Contestant};
use crate::{Claim, claims};
use anyhow::{Result, ensure};
use std::cmp::Reverse;

/// Words with the same meaning, each given by its beginning.
const SYNONYMS: [&[&str]; 6] = [
    &["insert", "start", "add", "creat", "schedul"],
    &["cancel", "stop", "delet", "remov"],
    &["fire", "expir", "execut", "pop"],
    &["tree", "rbtree", "red-black"],
    &["round", "circle", "lap"],
    &["level", "hierarch", "layer", "cascad"],
];

/// Words that are ignored in a question.
const IGNORED: [&str; 17] = [
    "is", "are", "the", "an", "in", "of", "on", "to", "do", "does", "it", "for", "and", "or",
    "not", "with", "than",
];

/// Words that claims have, for a question without an answer.
const EXAMPLES: [&str; 12] = [
    "heap", "wheel", "tree", "list", "round", "level", "insert", "cancel", "fire", "tick", "netty",
    "kafka",
];

/// Finds the claims that contain a word of the question. Claims with more of the words come first,
/// and among those the ones with more of them in their own sentence.
///
/// # Errors
///
/// If the question has no words, or no claim has any of them.
pub fn find(question: &str) -> Result<Vec<Claim>> {
    let words = words(question);
    ensure!(!words.is_empty(), "a question needs words, such as --question \"heap insert\"");
    let ranked = claims()?.into_iter().map(|claim| (rank(&claim, &words), claim));
    let mut found: Vec<_> = ranked.filter(|((matched, _), _)| *matched > 0).collect();
    ensure!(
        !found.is_empty(),
        "no claim has any of these words: {question}; try {}; `wheelhouse claims --out DIR` writes \
         all claims",
        EXAMPLES.join(", ")
    );
    found.sort_by_key(|(rank, _)| Reverse(*rank));
    Ok(found.into_iter().map(|(_, claim)| claim).collect())
}

/// The structures that a question names.
pub fn contestants(question: &str) -> Vec<Contestant> {
    let words = words(question);
    let is_asked = |it: &Contestant| words.iter().any(|word| has_word(it.name, word));
    CONTESTANTS.into_iter().filter(is_asked).collect()
}

fn words(question: &str) -> Vec<String> {
    let split = question.split(|c: char| !c.is_alphanumeric() && c != '-');
    let words = split.map(str::to_lowercase);
    words.filter(|word| word.len() > 1 && !IGNORED.contains(&word.as_str())).collect()
}

/// How many of the words the claim contains, and how many of them its own sentence contains.
fn rank(claim: &Claim, words: &[String]) -> (usize, usize) {
    let all = format!("{} {} {} {}", claim.id, claim.says, claim.because, claim.so);
    let count = |text: &str| words.iter().filter(|word| has_word(text, word)).count();
    (count(&all), count(&claim.says))
}

/// Returns `true` if a word of the text begins with this word, or with another of the same meaning.
fn has_word(text: &str, word: &str) -> bool {
    let same = SYNONYMS.iter().find(|same| same.iter().any(|it| word.starts_with(it)));
    let beginnings = same.copied().unwrap_or_default();
    let text = text.to_lowercase();
    let mut parts = text.split(|c: char| !c.is_alphanumeric());
    parts.any(|part| part.starts_with(word) || beginnings.iter().any(|it| part.starts_with(it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(question: &str) -> Vec<String> {
        find(question).map(|all| all.into_iter().map(|it| it.id).collect()).unwrap_or_default()
    }

    #[test]
    fn claims_are_found_by_words_and_synonyms() {
        assert!(found("heap insert").iter().take(5).any(|id| id == "C28" || id == "C32"));
        assert_eq!(found("wheel cancel"), found("wheel delete"));
        // Any word matches, and claims with more words come first.
        assert_eq!(found("netty ticks in vain").first().map(String::as_str), Some("C42"));
        assert_eq!(found("DelayQueue cost").first().map(String::as_str), Some("C36"));
        assert_eq!(found("heap banana"), found("heap"));
        assert_eq!(found("C28").first().map(String::as_str), Some("C28"));
    }

    #[test]
    fn a_question_without_an_answer_is_told_words_that_have_one() {
        let why = find("foo").unwrap_err().to_string();
        for word in EXAMPLES {
            assert!(why.contains(word) && !found(word).is_empty(), "{word}: {why}");
        }
    }

    #[test]
    fn structures_are_found_by_a_part_of_their_name() {
        let names: Vec<_> = contestants("heap insert").iter().map(|it| it.name).collect();
        assert_eq!(names, ["binary-heap"]);
        assert_eq!(contestants("a wheel").len(), 4);
    }
}
