//! Engines together: what the CPU and a GPU sort in common, and what is sorted in parts.

pub(crate) mod chunks;
pub(crate) mod devices;
pub(crate) mod hybrid;
pub(crate) mod strings;
