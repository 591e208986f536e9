//! The competitors, one file each. They are used as their documentation recommends.

mod btree_map;
mod cleaning_heap;
mod delay_queue;
mod grommet;
mod hash_wheel;
mod kestrel;
mod lazy_heap;
mod nexus;
mod ora;
pub(crate) mod ours;
mod priority_queue;
#[cfg(target_feature = "avx2")]
mod quick_heap;
mod radix_heap;
mod skipmap;
mod tokio_clock;
mod tokio_sleep;

use crate::competitor::Competitor;
use dary_heap::DaryHeap;
use lazy_heap::{Item, Lazy};
use std::collections::BinaryHeap;
use wheelhouse_core::Tick;
use wheelhouse_harness::contender::{self, Contender};
use wheelhouse_harness::model::FLOOR;

/// Our structures that a program would choose, the other crates, and the floor. `cargo bench`
/// compares the rest of the registry.
pub(crate) fn all() -> Vec<Box<dyn Contender>> {
    let mut all: Vec<Box<dyn Contender>> = vec![
        Competitor::<ours::Ours<wheelhouse_hierarchical_wheel::Definition>>::boxed(),
        Competitor::<ours::Ours<wheelhouse_hierarchical_wheel::list::Definition>>::boxed(),
        Competitor::<ours::Ours<wheelhouse_round_wheel::Definition>>::boxed(),
        Competitor::<ours::Ours<wheelhouse_binary_heap::Definition>>::boxed(),
        Competitor::<ours::Ours<wheelhouse_skip_list::Definition>>::boxed(),
        Competitor::<ours::Ours<wheelhouse_binary_heap::Definition<4>>>::boxed(),
        Competitor::<ours::Ours<wheelhouse_binary_heap::Definition<8>>>::boxed(),
        Competitor::<ours::Ours<wheelhouse_binary_heap::LazyDefinition>>::boxed(),
        Competitor::<ours::Ours<wheelhouse_queue_per_delay::Definition>>::boxed(),
        Competitor::<grommet::Grommet>::boxed(),
        Competitor::<nexus::Nexus<{ nexus::WHOLE }>>::boxed(),
        Competitor::<nexus::Nexus<{ nexus::CAPPED }>>::boxed(),
        Competitor::<delay_queue::Queue>::boxed(),
        Competitor::<tokio_sleep::Driver>::boxed(),
        Competitor::<hash_wheel::HashWheel>::boxed(),
        Competitor::<kestrel::Kestrel>::boxed(),
        Competitor::<ora::Ora>::boxed(),
        Competitor::<Lazy<BinaryHeap<Item>>>::boxed(),
        Competitor::<Lazy<DaryHeap<Item, 4>>>::boxed(),
        Competitor::<priority_queue::Queue>::boxed(),
        Competitor::<btree_map::Map>::boxed(),
        Competitor::<skipmap::Skip>::boxed(),
        Competitor::<radix_heap::Queue>::boxed(),
        Competitor::<cleaning_heap::Heap>::boxed(),
    ];
    #[cfg(target_feature = "avx2")]
    all.push(Competitor::<quick_heap::Queue>::boxed());
    all.extend(contender::all().into_iter().filter(|contender| contender.name() == FLOOR));
    all
}

/// The deadline, or the next tick if the deadline is past. For crates that would fire an overdue
/// timer at once, without a movement of the clock.
#[inline]
fn after(deadline: Tick, now: Tick) -> Tick {
    deadline.max(now + 1)
}
