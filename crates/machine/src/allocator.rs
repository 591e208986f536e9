//! What the program has allocated.
//!
//! The allocator of the whole program counts: two additions for each allocation, everything else is
//! the system's.

use cap::Cap;
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// The bytes that the program has allocated and not freed.
pub fn allocated() -> usize {
    ALLOCATOR.allocated()
}
