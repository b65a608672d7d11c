//! The steps of which the sorts consist.

pub(crate) mod batch;
pub(crate) mod by_code;
pub(crate) mod by_std;
pub(crate) mod coded;
pub(crate) mod compiled;
pub(crate) mod counting;
pub(crate) mod digits;
pub(crate) mod distribute;
pub(crate) mod found;
pub(crate) mod gather;
pub(crate) mod insert;
pub(crate) mod lines;
pub(crate) mod long_runs;
pub(crate) mod order;
pub(crate) mod pace;
pub(crate) mod packed;
pub(crate) mod parallel_partition;
pub(crate) mod prefetch;
pub(crate) mod profile;
pub(crate) mod ranks;
pub(crate) mod room;
pub(crate) mod runs;
pub(crate) mod sampled;
pub(crate) mod scatter;
pub(crate) mod stripes;
pub(crate) mod widen;
