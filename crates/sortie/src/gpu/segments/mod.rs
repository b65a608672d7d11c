//! Many segments in device memory, each sorted by itself.

mod sort;
mod worker;

pub use sort::DeviceSegments;
pub(super) use sort::{Moved, Rest, copies_words, listed_words, of_one_length_words};
pub(crate) use sort::{check_payload, code};
pub(super) use worker::{Content, Payload, Worker};
