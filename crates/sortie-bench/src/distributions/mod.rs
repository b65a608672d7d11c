//! Inputs. Each is drawn from a seed, so a name stands for the same input on every machine.

mod keys;
mod lengths;
mod strings;

pub use keys::Distribution;
pub use lengths::power_law;
pub use strings::{StringSet, Strings};

/// The random number generator: fast, and with the same results on every machine.
pub type Rng = rand::rngs::Xoshiro256PlusPlus;
