//! The competitors, one file for each library. They are used as their documentation recommends.

/// Defines how a heap with lazy deletion starts, stops and moves timers. The heap has a field
/// `timers: Arena<(Tick, u64)>` with deadlines and values, the number of its entries `len`, and a
/// method `drop_dead` that keeps those of live timers. The arguments are the earliest deadline that
/// it accepts, and the expression that pushes an entry for a deadline and a handle.
macro_rules! lazy_deletion {
    ($this:ident, $earliest:expr, $deadline:ident, $id:ident => $push:expr) => {
        #[inline]
        fn insert(&mut $this, $deadline: Tick, value: u64) -> TimerId {
            let $deadline = $deadline.max($earliest);
            let $id = $this.timers.insert(($deadline, value));
            $push;
            $id
        }

        #[inline]
        fn cancel(&mut self, kept: &mut Option<TimerId>) -> Option<u64> {
            let ((), (_, value)) = self.timers.remove((*kept)?)?;
            if self.len() > 2 * self.timers.len() + 64 {
                self.drop_dead();
            }
            Some(value)
        }

        #[inline]
        fn reschedule(&mut $this, kept: &mut Option<TimerId>, $deadline: Tick) -> bool {
            let Some($id) = *kept else { return false };
            let $deadline = $deadline.max($earliest);
            let Some((_, timer)) = $this.timers.get_mut($id) else { return false };
            if timer.0 != $deadline {
                timer.0 = $deadline;
                $push;
                if $this.len() > 2 * $this.timers.len() + 64 {
                    $this.drop_dead();
                }
            }
            true
        }

        fn clean_up(&mut self) {
            if self.len() > self.timers.len() {
                self.drop_dead();
            }
        }
    };
}

mod cleaning_heap;
mod grommet;
mod hash_wheel;
mod kestrel;
mod lazy_heap;
mod maps;
mod nexus;
mod ora;
pub(crate) mod ours;
mod priority_queue;
#[cfg(target_feature = "avx2")]
mod quick_heap;
mod radix_heap;
mod tokio_timers;

use crate::competitor::Competitor;
use crossbeam_skiplist::SkipMap;
use dary_heap::DaryHeap;
use lazy_heap::{Item, Lazy};
use maps::Keyed;
use std::collections::{BTreeMap, BinaryHeap};
use wheelhouse_core::Tick;
use wheelhouse_harness::model::FLOOR;
use wheelhouse_harness::structure::{self, Structure};

/// Our structures that a program would choose, the other crates, and the floor. `cargo bench`
/// compares the rest of the registry.
pub(crate) fn all() -> Vec<Box<dyn Structure>> {
    let mut all: Vec<Box<dyn Structure>> = vec![
        Competitor::<ours::Ours<wheelhouse_hierarchical_wheel::Definition>>::boxed(),
        Competitor::<ours::Ours<wheelhouse_hierarchical_wheel::Definition, true>>::boxed(),
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
        Competitor::<tokio_timers::Queue>::boxed(),
        Competitor::<tokio_timers::Driver>::boxed(),
        Competitor::<hash_wheel::HashWheel>::boxed(),
        Competitor::<kestrel::Kestrel>::boxed(),
        Competitor::<ora::Ora>::boxed(),
        Competitor::<Lazy<BinaryHeap<Item>>>::boxed(),
        Competitor::<Lazy<DaryHeap<Item, 4>>>::boxed(),
        Competitor::<priority_queue::Queue>::boxed(),
        Competitor::<Keyed<BTreeMap<_, _>>>::boxed(),
        Competitor::<Keyed<SkipMap<_, _>>>::boxed(),
        Competitor::<radix_heap::Queue>::boxed(),
        Competitor::<cleaning_heap::Heap>::boxed(),
    ];
    #[cfg(target_feature = "avx2")]
    all.push(Competitor::<quick_heap::Queue>::boxed());
    all.extend(structure::all().into_iter().filter(|structure| structure.name() == FLOOR));
    all
}

/// The deadline, or the next tick if the deadline is past. For crates that would fire an overdue
/// timer at once, without a movement of the clock.
#[inline]
fn after(deadline: Tick, now: Tick) -> Tick {
    deadline.max(now + 1)
}
