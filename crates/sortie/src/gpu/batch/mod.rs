//! Many segments in device memory, also such that do not fit a block.

mod sort;
mod split;
