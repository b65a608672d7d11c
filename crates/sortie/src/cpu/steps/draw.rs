//! Random indices, for samples that no input can be built against.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Draws indices. What is drawn differs from run to run, so it must not change a result.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new() -> Self {
        Draw(RandomState::new().build_hasher().finish())
    }

    /// An index below `n`.
    ///
    /// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(x ^ x >> 31) * n as u128) >> u64::BITS) as usize
    }
}
