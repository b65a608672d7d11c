//! One array in device memory: sorted alone, with a payload, or as indices.

mod argsort;
mod bitonic;
mod compared;
mod count;
mod digits;
mod distribute;
mod finish;
mod items;
mod left;
mod onesweep;
mod ranges;
mod redistribute;
mod sample_sort;
mod shape;
mod sort;
mod stable;
mod way;

pub use compared::Compared;
pub(super) use finish::{Finish, Finishing};
pub(crate) use items::MOST_KEYS;
pub(super) use items::{Items, Low};
pub(super) use left::Left;
pub(crate) use ranges::{Divided, Place};
pub(super) use sample_sort::{Keys, sample_sort_words};
pub(super) use shape::Block;
pub(crate) use way::device_ways;
pub(super) use way::{ArrayWay, Wanted};
