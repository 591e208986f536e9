//! A small random number generator, so that a seed gives the same run on every machine and with
//! every version of every dependency.

/// SplitMix64 (Steele, Lea and Flood, 2014): 64 bits of state, with the full period. For tests.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `end`, which must not be zero. The bias of the remainder does not matter for
    /// tests.
    pub fn below(&mut self, end: u64) -> u64 {
        self.word() % end
    }

    /// An index below `len`.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// A number with up to `bits` bits. All lengths in bits have the same probability.
    pub fn of_any_scale(&mut self, bits: u32) -> u64 {
        let length = self.below(u64::from(bits) + 1) as u32;
        if length == 0 { 0 } else { self.word() >> (64 - length) }
    }

    /// Returns `true` with a probability of 1 / `n`.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}
