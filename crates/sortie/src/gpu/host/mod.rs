//! Data in host memory: how it is copied to a device, sorted there, and copied back.

mod allowed;
mod array;
mod chunks;
mod memory;
mod payload;
mod segments;
mod share;
mod strings;
mod transport;
mod words;

pub(crate) use allowed::Allowed;
pub(crate) use array::{HostArray, array_scratch, parts, sort as sort_host_array};
pub(crate) use chunks::{ArrayChunk, Carriers, Crew, Work};
pub(crate) use memory::segments_scratch;
pub(crate) use payload::HostPayload;
pub(crate) use segments::sort_segments;
pub(crate) use share::{HostShare, Room};
pub(crate) use strings::{argsort_strings, strings_scratch};
pub(crate) use words::{sort_words, words_scratch};
