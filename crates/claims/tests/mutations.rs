//! Faults that are injected into structures, and the claims that must notice each.
//!
//! A claim decides nothing if its outcome does not depend on the structure that it is about. Each
//! fault names claims; in each of them at least one statement must differ from the record.

use std::collections::BTreeSet;
use wheelhouse_claims::fault::AffectedOperation::{Cancel, Fire, Insert};
use wheelhouse_claims::fault::{Fault, FaultKind};
use wheelhouse_claims::{Scale, Setup, judge, select};
use wheelhouse_core::meter::Work;

/// A smaller range than that of the other tests: with a list instead of a wheel, each doubling of
/// n takes four times as long. One test checks that nothing differs on this range without a fault.
const SMALL: Scale = Scale { from: 8, to: 12, ..Scale::REDUCED };

/// The statement about the holes of the round wheel, which cost too little on the smaller range for
/// the outcome on record.
const NEEDS_MORE: &str = "C50.8";

/// Those of these claims that differ from the record.
fn differing(faults: Vec<Fault>, claims: &[&str]) -> anyhow::Result<BTreeSet<String>> {
    let setup = Setup { faults, ..Setup::new(&SMALL) };
    let ids: Vec<String> = claims.iter().map(|id| (*id).to_owned()).collect();
    let judgement = judge(select(&ids)?, &setup, |_| ())?;
    let noticed = judgement.unexpected().filter(|it| it.id != NEEDS_MORE);
    Ok(noticed.filter_map(|it| it.id.split('.').next()).map(str::to_owned).collect())
}

/// Each of the claims of a row notices its fault.
fn all_notice(faults: &[(&'static str, FaultKind, &[&str])]) -> anyhow::Result<()> {
    for (name, kind, claims) in faults {
        let fault = Fault { name, kind: *kind };
        let noticed = differing(vec![fault], claims)?;
        let missed: Vec<_> = claims.iter().filter(|id| !noticed.contains(**id)).collect();
        assert!(missed.is_empty(), "{fault:?} goes unnoticed by {missed:?}");
    }
    Ok(())
}

const LISTS: &str = "list-wheel";
const OURS: &str = "hierarchical-wheel";

#[test]
fn without_a_fault_no_claim_differs() -> anyhow::Result<()> {
    let claims = [
        "B1", "C42", "C09", "C16", "C17", "C18", "C19", "C25", "C26", "C28", "C29", "C30", "C32",
        "C43", "C46", "C50", "V10",
    ];
    assert_eq!(differing(Vec::new(), &claims)?, BTreeSet::new(), "too small to tell");
    Ok(())
}

#[test]
fn other_structures_instead_of_the_wheels_change_outcomes() -> anyhow::Result<()> {
    all_notice(&[
        (LISTS, FaultKind::Replaced("skip-list"), &["C32", "C50"]),
        (LISTS, FaultKind::Replaced("binary-heap"), &["C32", "C43"]),
        // A slice is as slow as a list in steps, but not in time.
        (LISTS, FaultKind::Replaced("sorted-slice"), &["C32", "C50"]),
        (OURS, FaultKind::Replaced("skip-list"), &["C50"]),
        // No claim is about the cost of a calendar queue. A claim about all structures notices one
        // that does not fire at the tick.
        ("calendar-queue", FaultKind::Replaced("linux-wheel"), &["C42"]),
    ])
}

#[test]
fn other_structures_instead_of_maps_and_trees_change_outcomes() -> anyhow::Result<()> {
    all_notice(&[
        ("hash-map", FaultKind::Replaced("btree-map"), &["C26"]),
        ("sorted-slice", FaultKind::Replaced("unordered-list"), &["C25"]),
        ("red-black-tree", FaultKind::Replaced("sorted-slice"), &["C30"]),
    ])
}

#[test]
fn costlier_operations_change_outcomes() -> anyhow::Result<()> {
    let lg = |n: u64| u64::from(n.max(1).ilog2());
    all_notice(&[
        (LISTS, FaultKind::Costlier(Cancel, |n| n), &["C32", "C50"]),
        (OURS, FaultKind::Costlier(Cancel, |n| n), &["C50"]),
        (LISTS, FaultKind::Costlier(Cancel, lg), &["C32", "C50"]),
        (LISTS, FaultKind::Costlier(Insert, |n| n), &["C32", "C50"]),
        ("skip-list", FaultKind::Costlier(Insert, |n| n), &["C30"]),
        ("binary-heap", FaultKind::Costlier(Insert, |n| n), &["C28", "C46"]),
        (LISTS, FaultKind::Costlier(Fire, |n| n), &["C43"]),
        // A tree that never rebalances is a list if deadlines are inserted in order.
        ("red-black-tree", FaultKind::Costlier(Insert, |n| n), &["C29", "C30"]),
    ])
}

#[test]
fn a_late_wheel_and_uncounted_work_change_outcomes() -> anyhow::Result<()> {
    all_notice(&[
        (LISTS, FaultKind::Late, &["C18", "B1", "C42"]),
        (OURS, FaultKind::Late, &["C42"]),
        (LISTS, FaultKind::Miscounted(Work::CascadeMove, 0), &["C17"]),
        ("red-black-tree", FaultKind::Miscounted(Work::Link, 0), &["C30"]),
        ("round-wheel", FaultKind::Miscounted(Work::EntryScan, 0), &["C16"]),
        ("hash-map", FaultKind::Miscounted(Work::EntryScan, 0), &["C26"]),
    ])
}

/// Structures of the same class have different figures, which are on record for the reduced range.
#[test]
fn another_structure_of_the_same_class_has_other_figures() -> anyhow::Result<()> {
    for (name, by, claim) in [
        ("kafka-wheel", LISTS, "C50"),
        ("binary-heap", "heap-4", "C46"),
        ("heap-4", "binary-heap", "C28"),
        ("red-black-tree", "skip-list", "C29"),
        ("lazy-heap", "binary-heap", "C32"),
    ] {
        let faults = vec![Fault { name, kind: FaultKind::Replaced(by) }];
        let setup = Setup { faults, ..Setup::new(&Scale::REDUCED) };
        let judgement = judge(select(&[claim.to_owned()])?, &setup, |_| ())?;
        assert!(judgement.unexpected().count() > 0, "{by} for {name} goes unnoticed by {claim}");
    }
    Ok(())
}

/// A structure is free to count one of its steps several times: no order depends on it.
#[test]
fn counting_a_step_twice_changes_no_order() -> anyhow::Result<()> {
    for name in ["round-wheel", LISTS] {
        let fault = Fault { name, kind: FaultKind::Miscounted(Work::SlotVisit, 2) };
        let noticed = differing(vec![fault], &["C09", "C19", "C32", "C43", "V10"])?;
        assert!(noticed.is_empty(), "{name}: {noticed:?}");
    }
    Ok(())
}
