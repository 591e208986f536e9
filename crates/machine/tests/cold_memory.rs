//! Large blocks are cold, even if the system's allocator has freed memory of their size.
#![cfg(target_os = "linux")]

use std::fs;
use std::hint::black_box;
use wheelhouse_machine::allocator;

const BYTES: usize = 16 << 20;

/// The bytes of this process that are in memory.
fn resident_bytes() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let (_, resident) = status.split_once("VmRSS:").unwrap();
    resident.split_whitespace().next().unwrap().parse::<usize>().unwrap() * 1024
}

/// The growth of the resident memory from writing a new block of [`BYTES`].
fn growth_from_a_large_block() -> usize {
    let before = resident_bytes();
    let block = black_box(vec![1_u8; BYTES]);
    let growth = resident_bytes().saturating_sub(before);
    drop(block);
    growth
}

#[test]
fn large_blocks_are_cold_after_many_small_ones() {
    allocator::map_large_blocks();
    let mut small: Vec<_> = (0..2 * BYTES / 100).map(|_| Box::new([1_u8; 100])).collect();
    // The last one keeps the others from being returned to the system.
    let last = small.pop();
    drop(small);
    for _ in 0..2 {
        assert!(growth_from_a_large_block() > BYTES / 10 * 9);
    }
    #[cfg(target_env = "gnu")]
    {
        let before = resident_bytes();
        allocator::return_freed_memory();
        assert!(resident_bytes() < before - BYTES, "small blocks are cold again");
    }
    drop(last);
}
