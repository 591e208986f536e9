//! What the program has allocated.
//!
//! The allocator of the whole program counts: each thread has counters of its own, which are summed
//! when somebody asks. Everything else is the system's.

use accounting_allocator::AccountingAlloc;

#[global_allocator]
static ALLOCATOR: AccountingAlloc = AccountingAlloc::new();

/// The bytes that the program has allocated and not freed.
pub fn allocated() -> usize {
    let sums = ALLOCATOR.count().all_time;
    // What one thread frees for another is counted there: a sum that is read while they do may lack
    // the allocation.
    sums.alloc.saturating_sub(sums.dealloc)
}
