//! Ten statements that readers of the articles ask for first.

use super::lines;
use crate::Judgement;
use wheelhouse_present::document::Line;

/// By their names, as [`lines::of`] gives them.
const HEADLINES: [&str; 10] =
    ["C50.1", "C32.1", "C28.1", "C27.1", "C25.1", "C16.1", "C17.1", "C29.1", "C42.1", "C36.1"];

/// Those that were judged.
pub(super) fn lines(judgement: &Judgement) -> Vec<Line> {
    let all: Vec<_> =
        judgement.judged.iter().flat_map(|judged| lines::of(judged, judgement)).collect();
    let find = |name: &&str| all.iter().find(|line| line.name == **name).cloned();
    HEADLINES.iter().filter_map(find).collect()
}
