//! Faults that are injected into structures, and the claims that must notice each.
//!
//! A claim decides nothing if its outcome does not depend on the structure that it is about. Each
//! fault names claims; in each of them at least one statement must differ from the record.

use std::collections::BTreeSet;
use wheelhouse_claims::fault::{AffectedOperation, Fault};
use wheelhouse_claims::{Scale, Setup, judge, select};
use wheelhouse_core::meter::Work;

/// A smaller range than that of the other tests: with a list instead of a wheel, each doubling of
/// n takes four times as long. One test checks that nothing differs on this range without a fault.
const SMALL: Scale = Scale { from: 8, to: 12, ..Scale::REDUCED };

/// Those of these claims that notice a fault.
fn noticed(fault: Fault, claims: &[&str]) -> anyhow::Result<BTreeSet<String>> {
    differing(vec![fault], claims)
}

/// Those of these claims that differ from the record.
fn differing(faults: Vec<Fault>, claims: &[&str]) -> anyhow::Result<BTreeSet<String>> {
    let setup = Setup { faults, ..Setup::new(&SMALL) };
    let ids: Vec<String> = claims.iter().map(|id| (*id).to_owned()).collect();
    let judgement = judge(select(&ids)?, &setup, |_| ())?;
    let noticed = judgement.claims.iter().filter(|judged| !judged.matches_record());
    Ok(noticed.map(|judged| judged.claim.id.clone()).collect())
}

fn all_notice(fault: Fault, claims: &[&str]) -> anyhow::Result<()> {
    let noticed = noticed(fault, claims)?;
    let missed: Vec<_> = claims.iter().filter(|id| !noticed.contains(**id)).collect();
    assert!(missed.is_empty(), "{fault:?} goes unnoticed by {missed:?}");
    Ok(())
}

const LISTS: &str = "list-wheel";
const OURS: &str = "hierarchical-wheel";

fn costlier(
    name: &'static str,
    operation: AffectedOperation,
    extra_steps: fn(u64) -> u64,
) -> Fault {
    Fault::Costlier { name, operation, extra_steps }
}

#[test]
fn without_a_fault_no_claim_differs() -> anyhow::Result<()> {
    let claims = [
        "B1", "B5", "C09", "C16", "C18", "C19", "C25", "C26", "C28", "C29", "C30", "C32", "C43",
        "C46", "C50", "C62", "V10",
    ];
    assert_eq!(differing(Vec::new(), &claims)?, BTreeSet::new(), "too small to tell");
    Ok(())
}

#[test]
fn a_skip_list_instead_of_the_wheel() -> anyhow::Result<()> {
    all_notice(Fault::Replaced { name: LISTS, by: "skip-list" }, &["C32", "C43", "C50"])
}

#[test]
fn a_sorted_list_instead_of_the_wheel() -> anyhow::Result<()> {
    all_notice(Fault::Replaced { name: LISTS, by: "sorted-list" }, &["C32", "C43", "C50"])
}

#[test]
fn a_skip_list_instead_of_our_wheel() -> anyhow::Result<()> {
    all_notice(Fault::Replaced { name: OURS, by: "skip-list" }, &["C32", "C43", "C50"])
}

#[test]
fn a_heap_instead_of_the_wheel() -> anyhow::Result<()> {
    all_notice(Fault::Replaced { name: LISTS, by: "binary-heap" }, &["C32", "C43", "C50"])
}

#[test]
fn a_linear_cancel_in_either_wheel() -> anyhow::Result<()> {
    for name in [LISTS, OURS] {
        all_notice(costlier(name, AffectedOperation::Cancel, |n| n), &["C32", "C50"])?;
    }
    Ok(())
}

#[test]
fn a_logarithmic_cancel() -> anyhow::Result<()> {
    let lg = |n: u64| u64::from(n.max(1).ilog2());
    all_notice(costlier(LISTS, AffectedOperation::Cancel, lg), &["C32", "C50"])
}

#[test]
fn a_linear_insertion() -> anyhow::Result<()> {
    all_notice(costlier(LISTS, AffectedOperation::Insert, |n| n), &["C32", "C50"])?;
    all_notice(costlier("skip-list", AffectedOperation::Insert, |n| n), &["C30"])?;
    all_notice(costlier("binary-heap", AffectedOperation::Insert, |n| n), &["C28", "C46"])
}

#[test]
fn a_linear_tick() -> anyhow::Result<()> {
    all_notice(costlier(LISTS, AffectedOperation::Fire, |n| n), &["C43"])
}

#[test]
fn a_wheel_that_is_a_tick_late() -> anyhow::Result<()> {
    all_notice(Fault::Late { name: LISTS }, &["C18", "C62", "B1", "B5"])
}

#[test]
fn links_that_are_not_counted() -> anyhow::Result<()> {
    all_notice(Fault::Uncounted { name: "red-black-tree", work: Work::Link }, &["C30"])
}

#[test]
fn entries_that_are_not_counted() -> anyhow::Result<()> {
    all_notice(Fault::Uncounted { name: "round-wheel", work: Work::EntryScan }, &["C16"])?;
    all_notice(Fault::Uncounted { name: "hash-map", work: Work::EntryScan }, &["C26"])
}

#[test]
fn other_structures_instead_of_maps_and_trees() -> anyhow::Result<()> {
    all_notice(Fault::Replaced { name: "hash-map", by: "btree-map" }, &["C26"])?;
    all_notice(Fault::Replaced { name: "sorted-slice", by: "unordered-list" }, &["C25"])?;
    all_notice(Fault::Replaced { name: "red-black-tree", by: "unordered-list" }, &["C30"])
}

/// Structures of the same class have different figures, which are on record for the reduced range.
#[test]
fn another_structure_of_the_same_class_has_other_figures() -> anyhow::Result<()> {
    for (name, by, claim) in [
        ("kafka-wheel", LISTS, "C50"),
        ("binary-heap", "heap-4", "C46"),
        ("red-black-tree", "skip-list", "C29"),
        ("lazy-heap", "binary-heap", "C32"),
    ] {
        let faults = vec![Fault::Replaced { name, by }];
        let setup = Setup { faults, ..Setup::new(&Scale::REDUCED) };
        let judgement = judge(select(&[claim.to_owned()])?, &setup, |_| ())?;
        assert!(judgement.unexpected().count() > 0, "{by} for {name} goes unnoticed by {claim}");
    }
    Ok(())
}

/// No claim is about the cost of a calendar queue. Claims about all structures notice one that does
/// not fire at the tick.
#[test]
fn a_wheel_that_rounds_instead_of_the_calendar_queue() -> anyhow::Result<()> {
    all_notice(Fault::Replaced { name: "calendar-queue", by: "linux-wheel" }, &["B5", "B9"])
}

/// A tree that never rebalances is a list if deadlines are inserted in order.
#[test]
fn a_tree_that_does_not_rebalance() -> anyhow::Result<()> {
    all_notice(costlier("red-black-tree", AffectedOperation::Insert, |n| n), &["C29", "C30"])
}

/// A structure is free to count one of its steps several times: no order depends on it.
#[test]
fn counting_a_step_twice_changes_no_order() -> anyhow::Result<()> {
    for name in ["round-wheel", LISTS] {
        let fault = Fault::Overcounted { name, work: Work::SlotVisit, times: 2 };
        let noticed = noticed(fault, &["C09", "C19", "C32", "C43", "V10"])?;
        assert!(noticed.is_empty(), "{name}: {noticed:?}");
    }
    Ok(())
}
