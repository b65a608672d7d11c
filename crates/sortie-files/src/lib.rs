//! Sorts what is in files, whether it fits in memory or not.

pub mod compression;
mod error;
pub mod limits;
pub mod memory;
pub mod peek;
pub mod publish;
pub mod quote;
pub mod shortage;
pub mod threads;

pub use error::{Damaged, Error};
pub use publish::Output;
