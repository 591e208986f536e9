//! The generator of heights: the number of levels of a timer.

/// The most levels. 4^16 timers are more than a list can hold.
pub(crate) const MAX_HEIGHT: usize = 16;

/// A generator of heights: 1 with probability 3/4, 2 with 3/16, and so on. It is G. Marsaglia's
/// xorshift (2003) with the triple 12, 25, 27, followed by a multiplication, because the lowest
/// bits of a plain xorshift are weak. It needs eight bytes of state and no crate.
#[derive(Clone, Debug)]
pub(crate) struct Heights {
    state: u64,
}

impl Heights {
    pub(crate) const DEFAULT: Self = Self::new(1);

    pub(crate) const fn new(seed: u64) -> Self {
        // Zero is the only state that xorshift never leaves.
        Self { state: if seed == 0 { 0x9e37_79b9_7f4a_7c15 } else { seed } }
    }

    #[inline]
    pub(crate) fn draw(&mut self) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let random = self.state.wrapping_mul(0x2545_f491_4f6c_dd1d);
        // Two leading zeros have a probability of a quarter.
        (1 + random.leading_zeros() as usize / 2).min(MAX_HEIGHT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_each_level_reaches_the_next() {
        for seed in [0, 1, 42] {
            let mut heights = Heights::new(seed);
            let mut counts = [0_u32; MAX_HEIGHT + 1];
            (0..1 << 20).for_each(|_| counts[heights.draw()] += 1);
            let mut left = 1 << 20;
            for (height, count) in counts.iter().enumerate().skip(1).take(6) {
                let expected = left / 4 * 3;
                assert!(
                    count.abs_diff(expected) < expected / 10,
                    "height {height}: {count}, not about {expected}"
                );
                left /= 4;
            }
        }
    }
}
