//! Strings in device memory: how they are stored, their order, and how they are moved into that order.

mod argsort;
mod gather;
mod stored;
mod ties;

pub(super) use argsort::{check_count, scratch_of_strings, scratch_of_words, sort_words};
pub use stored::{Offsets, StoredStrings, StringViews, Strings};
pub use ties::Ties;
