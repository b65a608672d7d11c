//! Sorts that need several engines: shared between the CPU and GPUs, or divided into parts.

pub(crate) mod array;
mod chunks;
pub mod devices;
pub(crate) mod hybrid;
mod ranges;
pub(crate) mod segments;
pub(crate) mod sorts;
pub(crate) mod strings;
pub(crate) mod tuning;
