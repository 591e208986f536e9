//! A long run of the structures that are made for many timers, compared with the oracle.
//!
//! The conformance suite plays millions of operations on few timers. Here up to 200,000 timers are
//! live, so the hierarchical wheel is large: slots open ahead on several levels, and lists are read
//! ahead. `WHEELHOUSE_SOAK=1000000000` plays a billion operations instead of some millions.

use wheelhouse_conformance::differential_crowd;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;

fn soak<B: Backend>()
where
    B::Timer<u64, NoMeter>: Clone,
{
    let named = std::env::var("WHEELHOUSE_SOAK").ok();
    let default = if cfg!(debug_assertions) { 1_000_000 } else { 10_000_000 };
    let operations = named.map_or(default, |count| count.parse().expect("a number of operations"));
    let most = differential_crowd::<B>(operations);
    println!("{}: {operations} operations, at most {most} live", B::INFO.name);
    assert!(most > 1 << 17 || operations < 5_000_000, "at most {most} live");
}

#[test]
fn a_large_hierarchical_wheel_agrees_with_the_oracle() {
    soak::<wheelhouse_hierarchical_wheel::Definition>();
}

#[test]
fn a_large_list_wheel_agrees_with_the_oracle() {
    soak::<wheelhouse_hierarchical_wheel::list::Definition>();
}

#[test]
fn a_large_heap_agrees_with_the_oracle() {
    soak::<wheelhouse_binary_heap::Definition>();
}
