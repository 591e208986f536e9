//! Tests the contract on this backend.

wheelhouse_conformance::suite!(wheelhouse_hierarchical_wheel::Definition);

#[test]
fn the_debug_text_does_not_list_the_timers() {
    struct NoDebug;
    let mut wheel = wheelhouse_hierarchical_wheel::HierarchicalWheel::new();
    wheelhouse_core::Timer::insert(&mut wheel, 7, NoDebug);
    assert_eq!(format!("{wheel:?}"), "HierarchicalWheel { now: 0, len: 1, .. }");
}
