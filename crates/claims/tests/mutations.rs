//! Faults that are injected into structures, and the claims that must notice each.
//!
//! A claim decides nothing if its outcome does not depend on the structure that it is about. Each
//! fault names claims; in each of them at least one statement must differ from the record.

use std::collections::BTreeSet;
use wheelhouse_claims::fault::{Fault, Operation};
use wheelhouse_claims::{Lab, Scale, judge, select};
use wheelhouse_core::meter::Work;

/// A smaller range than that of the other tests: with a list instead of a wheel, each doubling of
/// n takes four times as long. One test checks that nothing differs on this range without a fault.
const SMALL: Scale = Scale { from: 8, to: 12, ..Scale::REDUCED };

/// Those of these claims that notice a fault.
fn noticed(fault: Fault, claims: &[&str]) -> anyhow::Result<BTreeSet<String>> {
    otherwise(vec![fault], claims)
}

/// Those of these claims that differ from the record.
fn otherwise(faults: Vec<Fault>, claims: &[&str]) -> anyhow::Result<BTreeSet<String>> {
    let lab = Lab { faults, ..Lab::new(&SMALL) };
    let ids: Vec<String> = claims.iter().map(|id| (*id).to_owned()).collect();
    let judgement = judge(select(&ids)?, &lab, |_| ())?;
    let noticed = judgement.judged.iter().filter(|judged| !judged.as_recorded());
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

fn dearer(of: &'static str, on: Operation, by: fn(u64) -> u64) -> Fault {
    Fault::Dearer { of, on, by }
}

#[test]
fn without_a_fault_nobody_notices_one() -> anyhow::Result<()> {
    let claims = [
        "B1", "B5", "C09", "C16", "C18", "C19", "C25", "C26", "C28", "C29", "C30", "C32", "C43",
        "C46", "C50", "C62", "V10",
    ];
    assert_eq!(otherwise(Vec::new(), &claims)?, BTreeSet::new(), "too small to tell");
    Ok(())
}

#[test]
fn a_skip_list_in_the_place_of_the_wheel() -> anyhow::Result<()> {
    all_notice(Fault::Instead { of: LISTS, comes: "skip-list" }, &["C32", "C43", "C50"])
}

#[test]
fn a_sorted_list_in_the_place_of_the_wheel() -> anyhow::Result<()> {
    all_notice(Fault::Instead { of: LISTS, comes: "sorted-list" }, &["C32", "C43", "C50"])
}

#[test]
fn a_skip_list_in_the_place_of_our_wheel() -> anyhow::Result<()> {
    all_notice(Fault::Instead { of: OURS, comes: "skip-list" }, &["C32", "C43", "C50"])
}

#[test]
fn a_heap_in_the_place_of_the_wheel() -> anyhow::Result<()> {
    all_notice(Fault::Instead { of: LISTS, comes: "binary-heap" }, &["C32", "C43", "C50"])
}

#[test]
fn a_cancel_that_passes_all_timers_in_either_wheel() -> anyhow::Result<()> {
    for of in [LISTS, OURS] {
        all_notice(dearer(of, Operation::Cancel, |n| n), &["C32", "C50"])?;
    }
    Ok(())
}

#[test]
fn a_cancel_that_takes_a_step_more_for_each_doubling() -> anyhow::Result<()> {
    let lg = |n: u64| u64::from(n.max(1).ilog2());
    all_notice(dearer(LISTS, Operation::Cancel, lg), &["C32", "C50"])
}

#[test]
fn an_insertion_that_passes_all_timers() -> anyhow::Result<()> {
    all_notice(dearer(LISTS, Operation::Insert, |n| n), &["C32", "C50"])?;
    all_notice(dearer("skip-list", Operation::Insert, |n| n), &["C30"])?;
    all_notice(dearer("binary-heap", Operation::Insert, |n| n), &["C28", "C46"])
}

#[test]
fn a_tick_that_passes_all_timers() -> anyhow::Result<()> {
    all_notice(dearer(LISTS, Operation::Fire, |n| n), &["C43"])
}

#[test]
fn a_wheel_that_is_a_tick_late() -> anyhow::Result<()> {
    all_notice(Fault::Late { of: LISTS }, &["C18", "C62", "B1", "B5"])
}

#[test]
fn links_that_are_not_counted() -> anyhow::Result<()> {
    all_notice(Fault::Silent { of: "red-black-tree", work: Work::Link }, &["C30"])
}

#[test]
fn entries_that_are_not_counted() -> anyhow::Result<()> {
    all_notice(Fault::Silent { of: "round-wheel", work: Work::EntryScan }, &["C16"])?;
    all_notice(Fault::Silent { of: "hash-map", work: Work::EntryScan }, &["C26"])
}

#[test]
fn other_structures_in_the_place_of_maps_and_slots() -> anyhow::Result<()> {
    all_notice(Fault::Instead { of: "hash-map", comes: "btree-map" }, &["C26"])?;
    all_notice(Fault::Instead { of: "sorted-slice", comes: "unordered-list" }, &["C25"])?;
    all_notice(Fault::Instead { of: "red-black-tree", comes: "unordered-list" }, &["C30"])
}

/// Structures of the same class have different figures, which are on record for the reduced range.
#[test]
fn another_structure_of_the_same_class_has_other_figures() -> anyhow::Result<()> {
    for (of, comes, claim) in [
        ("kafka-wheel", LISTS, "C50"),
        ("binary-heap", "heap-4", "C46"),
        ("red-black-tree", "skip-list", "C29"),
    ] {
        let faults = vec![Fault::Instead { of, comes }];
        let lab = Lab { faults, ..Lab::new(&Scale::REDUCED) };
        let judgement = judge(select(&[claim.to_owned()])?, &lab, |_| ())?;
        assert!(judgement.unexpected().count() > 0, "{comes} for {of} goes unnoticed by {claim}");
    }
    Ok(())
}

/// A tree that never rebalances is a list if deadlines are inserted in order.
#[test]
fn a_tree_that_does_not_rebalance() -> anyhow::Result<()> {
    all_notice(dearer("red-black-tree", Operation::Insert, |n| n), &["C29", "C30"])
}

/// A structure is free to count one of its steps several times: no order depends on it.
#[test]
fn a_step_that_is_counted_twice_changes_no_order() -> anyhow::Result<()> {
    for of in ["round-wheel", LISTS] {
        let fault = Fault::Counted { of, work: Work::SlotVisit, times: 2 };
        let noticed = noticed(fault, &["C09", "C19", "C32", "C43", "V10"])?;
        assert!(noticed.is_empty(), "{of}: {noticed:?}");
    }
    Ok(())
}
