//! Inputs, each from a seed, so that two people mean the same by a name.

mod keys;
mod lengths;
mod strings;

pub use keys::Distribution;
pub use lengths::power_law;
pub use strings::{StringSet, Strings};

/// The source of all randomness: fast, and the same on every machine.
pub type Rng = rand::rngs::Xoshiro256PlusPlus;
