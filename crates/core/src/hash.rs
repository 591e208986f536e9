//! A hash of numbers for the hash maps of `no_std` structures. It needs no random key, because no
//! other party chooses the numbers.

use core::hash::{BuildHasherDefault, Hasher};

/// 2^64 divided by the golden ratio, and odd.
const FACTOR: u128 = 0x9E37_79B9_7F4A_7C15;

/// The state of the hash of a map whose keys consist of numbers.
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
        unreachable!("the keys consist of numbers");
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
