//! Data in host memory: how it is brought to a device, sorted there and brought back.

mod array;
mod chunks;
pub(super) mod memory;
pub(super) mod ring;
mod segments;
mod share;
pub(super) mod stage;
mod strings;
mod words;

pub(crate) use array::{HostArray, most_at_once, reserve, sort as sort_host_array};
pub(crate) use chunks::{Carriers, Chunk, Work};
pub(crate) use ring::{Clock, Origin, Ring, Span, busy};
pub(crate) use segments::{Allowed, Host, HostPayload, bytes_mut, copy, sort_segments};
pub(crate) use share::{HostShare, Room};
pub(crate) use strings::argsort_strings;
pub(crate) use words::sort_words;
