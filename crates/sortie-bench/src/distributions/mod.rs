//! Inputs, each drawn from a seed, so that a name means the same input to everyone.

mod keys;
mod lengths;
mod strings;

pub use keys::Distribution;
pub use lengths::power_law;
pub use strings::{StringSet, Strings};

/// The source of all randomness: fast, and the same on every machine.
pub type Rng = rand::rngs::Xoshiro256PlusPlus;
