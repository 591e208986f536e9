//! A hash of numbers for the hash maps of `no_std` structures. It has no random key. Use it only
//! for numbers that no other party chooses: a party that chooses them can make them collide, and
//! each call to the map then takes O(n).

use core::hash::{BuildHasherDefault, Hasher};

/// 2^64 divided by the golden ratio, and odd.
const FACTOR: u128 = 0x9E37_79B9_7F4A_7C15;

/// The state of the hash of a map whose keys consist of numbers of 32 or 64 bits, such as `u64`,
/// `(u32, u64)` or [`TimerId`](crate::TimerId).
///
/// ```
/// use std::collections::HashMap;
/// use wheelhouse_core::hash::HashNumbers;
///
/// let mut names: HashMap<u64, &str, HashNumbers> = HashMap::default();
/// names.insert(30_000, "idle timeout");
/// assert_eq!(names.get(&30_000), Some(&"idle timeout"));
/// ```
///
/// # Panics
///
/// The map panics if a key hashes anything except numbers of 32 or 64 bits, such as a text, a
/// `usize` or the variant of an enum.
pub type HashNumbers = BuildHasherDefault<NumberHasher>;

/// Hashes each number by one multiplication. Both halves of the product are mixed, because the low
/// bits of round numbers, such as 4,096 or 30,000, are all zero.
#[derive(Clone, Debug, Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    #[inline]
    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number) * FACTOR;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("the keys consist of numbers of 32 or 64 bits");
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::HashNumbers;
    use alloc::collections::BTreeSet;
    use core::hash::BuildHasher;

    /// A table of 2^k buckets uses the low bits of a hash, and a tag of the highest seven.
    #[test]
    fn round_numbers_have_different_low_bits() {
        for unit in [1, 10, 1_000, 1 << 12, 60_000, 1 << 32] {
            let hash = |n: u64| HashNumbers::default().hash_one(n * unit);
            let buckets: BTreeSet<u64> = (0..512).map(|n| hash(n) % 1_024).collect();
            // Random hashes would occupy some 403 buckets.
            assert!(buckets.len() > 350, "multiples of {unit}: {} buckets", buckets.len());
        }
    }

    #[test]
    #[should_panic(expected = "numbers of 32 or 64 bits")]
    fn a_text_is_refused() {
        HashNumbers::default().hash_one("text");
    }
}
