//! Mapped blocks keep their bytes. Miri plays this too.
#![cfg(target_os = "linux")]

use wheelhouse_machine::allocator;

/// The largest block. Smaller under Miri, which interprets each write.
const MOST: usize = if cfg!(miri) { 140_000 } else { 70_000_000 };

#[test]
fn blocks_keep_their_bytes_while_they_grow_and_shrink_across_the_limit() {
    allocator::map_large_blocks();
    let mut block = vec![1_u8; 100];
    for size in [131_071, 131_072, 131_073, MOST, 131_072, 100, MOST] {
        let kept = block.len().min(size);
        block[kept - 1] = 3;
        block.truncate(size);
        block.shrink_to_fit();
        block.resize(size, 2);
        assert_eq!([block[0], block[98], block[kept - 1]], [1, 1, 3], "{size}");
        assert!(size == kept || [block[kept], block[size - 1]] == [2, 2], "{size}");
    }
    let zeroed = vec![0_u64; 1 << 15];
    assert!(zeroed.iter().all(|word| *word == 0));
}
