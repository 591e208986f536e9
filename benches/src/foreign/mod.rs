//! Timer libraries in other languages, as programs behind a pipe. `benches/FOREIGN.md` describes
//! the communication for authors of such a program.
//!
//! ```text
//! Stream ─ part_of ─> Part ─ file::write ─> file ──> program
//!                       │                             ▲   │ "NANOSECONDS CHECKSUM"
//!                       ▼                      "play" │   ▼
//!                    oracle ──> right checksums ══> Program
//! ```
//!
//! A program on real time cannot move its clock. [`part_of`] selects the part of a stream that it
//! can play.

pub mod file;
mod part;
mod program;

pub use part::{Clock, Part, part_of};
pub use program::{Answer, Program, quoted};

/// The term of a timer with this value in the sum over one movement of the clock. The sum wraps and
/// does not depend on the order, since few libraries promise an order within one call.
#[inline]
pub fn blend(value: u64) -> u64 {
    (value + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_depends_on_the_values_and_not_on_their_order() {
        let sum = |values: &[u64]| values.iter().fold(0_u64, |sum, v| sum.wrapping_add(blend(*v)));
        assert_eq!(sum(&[1, 2, 3]), sum(&[3, 1, 2]));
        assert_ne!(sum(&[1, 2, 3]), sum(&[1, 2, 4]));
        assert_ne!(sum(&[0]), sum(&[]), "the sum shows that a timer of value 0 fired");
    }
}
