//! Many segments in device memory, whether they fit a block or not.

mod sort;
mod split;
