//! Engines together: what the CPU and a GPU sort in common.

pub(crate) mod strings;
