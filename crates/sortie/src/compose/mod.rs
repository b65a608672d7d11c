//! Engines together: what the CPU and a GPU sort in common, and what is sorted in parts.

pub(crate) mod array;
mod chunks;
pub mod devices;
pub(crate) mod hybrid;
mod ranges;
pub(crate) mod segments;
pub(crate) mod sorts;
pub(crate) mod strings;
pub(crate) mod tuning;
