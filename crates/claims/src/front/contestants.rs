//! The structures of the table, and the claims about each of their operations.

use super::runs::{Play, play};
use super::{ClaimedCost, Operation};
use crate::growth::Growth;
use wheelhouse_baselines::{
    HashedMapDefinition, RedBlackTreeDefinition, SortedListDefinition, SortedSliceDefinition,
};
use wheelhouse_core::backend::Backend;

/// A structure of the table.
#[derive(Clone, Copy, Debug)]
pub struct Contestant {
    /// Its name in the registry, or a description of a model.
    pub name: &'static str,
    /// `true` if some operation visits all timers, so that the sweep ends at a smaller n.
    pub linear: bool,
    /// Plays the operations without a meter. `None` for a model, whose column "fire" shows the cost
    /// of a tick, not of a timer.
    pub(super) play: Option<Play>,
}

impl Contestant {
    const fn of<B: Backend>(linear: bool) -> Self {
        Self { name: B::INFO.name, linear, play: Some(play::<B>) }
    }
}

/// The structures that the articles name. The textbook wheel comes first, since the articles mean
/// it by "a wheel", then ours in its default geometry. The articles' wheel with rounds is a model.
pub const CONTESTANTS: [Contestant; 10] = [
    Contestant::of::<wheelhouse_hierarchical_wheel::list::Definition>(false),
    Contestant::of::<wheelhouse_hierarchical_wheel::Definition>(false),
    Contestant { name: "wheel with rounds", linear: true, play: None },
    Contestant::of::<wheelhouse_kafka_wheel::Definition>(false),
    Contestant::of::<wheelhouse_binary_heap::Definition>(false),
    Contestant::of::<RedBlackTreeDefinition>(false),
    Contestant::of::<wheelhouse_skip_list::Definition>(false),
    Contestant::of::<SortedListDefinition>(true),
    Contestant::of::<SortedSliceDefinition>(true),
    Contestant::of::<HashedMapDefinition>(true),
];

/// The claims about an operation of a structure: those of the articles, then those of Varghese and
/// Lauck (V&L). The first one decides the colour. Empty if there is no claim.
pub(super) fn claims_about(structure: &str, operation: Operation) -> &'static [ClaimedCost] {
    use ClaimedCost as By;
    use Growth::{Constant as O1, Linear as On, Logarithmic as Olog};
    use Operation::{Cancel, EmptyTick, Fire, InsertEarliest, InsertRandom};
    match (structure, operation) {
        ("list-wheel" | "hierarchical-wheel", Fire | EmptyTick) => &[By(O1, "V&L", "V10")],
        ("list-wheel" | "hierarchical-wheel", _) => &[By(O1, "S3 S4", "C50")],
        ("wheel with rounds", Fire | EmptyTick) => &[By(On, "S1", "C16")],
        ("wheel with rounds", _) => &[By(O1, "S4", "C50")],
        ("kafka-wheel", Fire) => &[By(O1, "S3", "C36")],
        ("kafka-wheel", EmptyTick) => &[By(O1, "S4", "C44")],
        ("kafka-wheel", _) => &[By(O1, "S3", "C50")],
        ("binary-heap", Fire) => &[By(Olog, "S4", "C46")],
        ("binary-heap", EmptyTick) => &[By(O1, "S2", "C28")],
        ("binary-heap", _) => &[By(Olog, "S3 S4", "C32")],
        ("red-black-tree", Fire | EmptyTick) => &[By(O1, "S2", "C29")],
        ("red-black-tree", _) => &[By(Olog, "V&L", "C29")],
        ("skip-list", InsertRandom | InsertEarliest | Cancel) => &[By(Olog, "S2", "C30")],
        ("sorted-list", Fire | EmptyTick) => &[By(O1, "V&L", "C25")],
        ("sorted-list", Cancel) => &[By(On, "S2", "C25"), By(O1, "V&L", "C25")],
        ("sorted-list", _) => &[By(On, "S2", "C25"), By(On, "V&L", "C25")],
        ("sorted-slice", InsertRandom | InsertEarliest | Cancel) => &[By(On, "S2", "C25")],
        ("hash-map", Fire | EmptyTick) => &[By(On, "S2", "C26")],
        ("hash-map", _) => &[By(O1, "V&L", "C26")],
        _ => &[],
    }
}
