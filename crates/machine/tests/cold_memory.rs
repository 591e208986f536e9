//! Large blocks are cold, even if the system's allocator has freed memory of their size.
#![cfg(target_os = "linux")]

use std::fs;
use std::hint::black_box;
use wheelhouse_machine::allocator;

const BYTES: usize = 16 << 20;

/// The bytes of this process that are in memory.
fn resident_bytes() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    pages.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// The growth of the resident memory from writing a new block of [`BYTES`].
fn growth_from_a_large_block() -> usize {
    let before = resident_bytes();
    let block = black_box(vec![1_u8; BYTES]);
    let growth = resident_bytes().saturating_sub(before);
    drop(block);
    growth
}

/// The steps are in one test, since each changes the resident memory.
#[test]
fn large_blocks_are_cold_and_keep_their_bytes() {
    allocator::map_large_blocks();
    check_that_large_blocks_are_cold();
    check_that_blocks_keep_their_bytes();
}

fn check_that_large_blocks_are_cold() {
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

/// Bytes that differ from those of their neighbours.
fn pattern(bytes: usize) -> impl Iterator<Item = u8> {
    (0..bytes).map(|at| (at % 251) as u8)
}

/// Blocks grow and shrink across the size from which they are mapped.
fn check_that_blocks_keep_their_bytes() {
    let mut block: Vec<u8> = Vec::new();
    let sizes = [1000, 131_071, 131_072, 131_073, 5_000_000, 200_000, 131_072, 131_071, 70_000_000];
    for size in sizes {
        block.truncate(size);
        block.shrink_to_fit();
        block.extend(pattern(size).skip(block.len()));
        block.shrink_to_fit();
        assert!(block.iter().copied().eq(pattern(size)), "{size}");
    }
    let zeroed = vec![0_u64; 1 << 17];
    assert!(zeroed.iter().all(|word| *word == 0));
}
