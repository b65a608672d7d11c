//! Data in host memory: how it is copied to a device, sorted there, and copied back.

mod array;
mod chunks;
mod memory;
mod segments;
mod share;
mod strings;
mod transport;
mod words;

pub(crate) use array::{HostArray, forecast, most_at_once, sort as sort_host_array};
pub(crate) use chunks::{ArrayChunk, Carriers, Work};
pub(crate) use segments::{Allowed, HostPayload, sort_segments};
pub(crate) use share::{HostShare, Room};
pub(crate) use strings::argsort_strings;
pub(crate) use words::sort_words;
