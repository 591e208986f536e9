//! One file for each competitor: how it is used, as its documentation says it is best used.

mod btree_map;
mod delay_queue;
mod grommet;
mod hash_wheel;
mod kestrel;
mod lazy_heap;
mod nexus;
mod ora;
pub(crate) mod ours;
mod priority_queue;
mod skipmap;
mod textbook;
mod tokio_clock;
mod tokio_sleep;

use crate::competitor::Competitor;
use dary_heap::DaryHeap;
use lazy_heap::{Item, Lazy};
use std::collections::BinaryHeap;
use wheelhouse_core::Tick;
use wheelhouse_core::backend::Backend;
use wheelhouse_harness::contender::{self, Contender};
use wheelhouse_harness::model::FLOOR;
use wheelhouse_registry::Visitor;

/// Ours, the others, and the floor.
pub(crate) fn all() -> Vec<Box<dyn Contender>> {
    struct OursFirst(Vec<Box<dyn Contender>>);
    impl Visitor for OursFirst {
        fn visit<B: Backend + 'static>(&mut self) {
            self.0.push(Competitor::<ours::Ours<B>>::boxed());
        }
    }
    let mut all = OursFirst(Vec::new());
    wheelhouse_registry::visit(&mut all);
    all.0.extend([
        Competitor::<ours::Ours<wheelhouse_binary_heap::Definition<4>>>::boxed(),
        Competitor::<ours::Ours<wheelhouse_binary_heap::Definition<8>>>::boxed(),
        Competitor::<ours::Ours<wheelhouse_binary_heap::LazyDefinition>>::boxed(),
        Competitor::<ours::Ours<textbook::Definition>>::boxed(),
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
    ]);
    all.0.extend(contender::all().into_iter().filter(|contender| contender.name() == FLOOR));
    all.0
}

/// The deadline, or the next tick if that is past: for those who would fire a timer that is due already at once, without a movement of the clock.
#[inline]
fn after(deadline: Tick, now: Tick) -> Tick {
    deadline.max(now + 1)
}
