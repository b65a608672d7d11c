//! Many segments in device memory, each sorted on its own.

mod scratch;
mod sort;
mod worker;

pub(super) use scratch::{Lie, copies_words, listed_words, of_one_length_words, segments_words};
pub use sort::DeviceSegments;
pub(super) use sort::{Moved, Rest};
pub(crate) use sort::{check_indices, code};
pub(super) use worker::{Content, Payload, Worker};
