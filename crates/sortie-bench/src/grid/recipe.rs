//! Random shapes for `--search`. A recipe says how to make keys, step by step. `kernels/grid.cu` and `draw.rs` follow
//! it.

use std::fmt;

use rand::Rng as _;
use sortie_device::Argument;

use crate::distributions::Rng;

/// `Recipe` in `kernels/grid.cu`. The steps are applied in this order. 0 leaves a step out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(C)]
pub struct Recipe {
    /// Makes this number of sorted runs, instead of random words.
    pub(super) runs: u64,
    /// Limits the number of distinct words, or the number of steps in a sorted run.
    pub(super) distinct: u64,
    /// ANDs each word with this number of further random words.
    pub(super) ands: u64,
    /// Keeps the lowest `i % bits` bits, where `i` is the position.
    pub(super) expo: u64,
    pub(super) right: u64,
    pub(super) left: u64,
    pub(super) mask: u64,
    /// Makes this number of clusters of `cluster_bits` bits each.
    pub(super) clusters: u64,
    pub(super) cluster_bits: u64,
}

// SAFETY: laid out as the kernel's struct, nine words of 64 bits.
unsafe impl Argument for Recipe {}

impl Recipe {
    /// Random words with this many distinct values.
    #[cfg(test)]
    pub fn of_values(distinct: u64) -> Recipe {
        Recipe { distinct, mask: u64::MAX, ..Recipe::default() }
    }

    /// One or a few steps, for keys of this width in bits.
    pub fn draw(bits: u64, rng: &mut Rng) -> Recipe {
        let below = |rng: &mut Rng, end: u64| rng.next_u64() % end;
        let magnitude = |rng: &mut Rng, bits| {
            let end = 1u64 << (rng.next_u64() % bits);
            1 + rng.next_u64() % end
        };
        let mut recipe = Recipe { mask: u64::MAX, ..Recipe::default() };
        for _ in 0..1 + below(rng, 3) {
            match below(rng, 8) {
                0 => recipe.runs = magnitude(rng, 20),
                1 => recipe.distinct = magnitude(rng, 24),
                2 => recipe.ands = 1 + below(rng, 8),
                3 => recipe.expo = 1,
                4 => recipe.right = below(rng, bits),
                5 => recipe.left = below(rng, bits),
                6 => recipe.mask = rng.next_u64() & rng.next_u64(),
                _ => {
                    recipe.clusters = magnitude(rng, 12);
                    recipe.cluster_bits = 1 + below(rng, bits - 1);
                }
            }
        }
        recipe
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.runs {
            0 => write!(f, "random words")?,
            runs => write!(f, "{runs} sorted stretches")?,
        }
        if self.distinct > 0 {
            write!(f, " of {} values", self.distinct)?;
        }
        if self.ands > 0 {
            write!(f, ", AND-{}", self.ands)?;
        }
        if self.expo > 0 {
            write!(f, ", expo")?;
        }
        if self.right > 0 {
            write!(f, ", >> {}", self.right)?;
        }
        if self.left > 0 {
            write!(f, ", << {}", self.left)?;
        }
        if self.mask != u64::MAX {
            write!(f, ", & {:#x}", self.mask)?;
        }
        if self.clusters > 0 {
            write!(f, ", in {} clusters of 2^{}", self.clusters, self.cluster_bits)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn recipes_repeat_by_their_seed_and_keep_within_the_key() {
        let draw = |seed| Recipe::draw(32, &mut Rng::seed_from_u64(seed));
        for seed in 0..1000 {
            let recipe = draw(seed);
            assert_eq!(recipe, draw(seed));
            assert!(recipe.right < 32 && recipe.left < 32 && recipe.cluster_bits < 32, "{recipe}");
        }
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn a_recipe_says_its_steps() {
        let recipe = Recipe { distinct: 7, ands: 2, mask: 0xFF00, ..Recipe::default() };
        assert_eq!(recipe.to_string(), "random words of 7 values, AND-2, & 0xff00");
        let recipe =
            Recipe { runs: 3, left: 4, clusters: 9, cluster_bits: 8, mask: u64::MAX, ..Recipe::default() };
        assert_eq!(recipe.to_string(), "3 sorted stretches, << 4, in 9 clusters of 2^8");
    }
}
