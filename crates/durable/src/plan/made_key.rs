//! Keys of jobs without a key.

use crate::store::Key;
use std::hash::{BuildHasher, RandomState};
use std::time::Instant;

/// A unique key: 128 bits of the hasher that the standard library seeds at random.
pub(crate) fn made_key() -> Key {
    let (high, low) = (random(), random());
    Key::new(format!("{high:016x}{low:016x}")).expect("32 bytes")
}

fn random() -> u64 {
    #[cfg(feature = "sim")]
    if let Some(random) = crate::simulated::random() {
        return random;
    }
    RandomState::new().hash_one(Instant::now())
}
