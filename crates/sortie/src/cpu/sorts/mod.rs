//! The sorts: profile, distribute and finish of one kind of sort each.

pub(crate) mod compare;
pub(crate) mod few;
pub(crate) mod histogram;
pub(crate) mod keys;
pub(crate) mod pairs;
pub(crate) mod search;
pub(crate) mod segment_pairs;
pub(crate) mod segments;
pub(crate) mod select;
pub(crate) mod strings;
pub(crate) mod top;
pub(crate) mod wide;

use crate::cpu::Job;
pub use crate::cpu::compiled::{CpuSorts, Payload};
use crate::cpu::found::{Found, Ordered, Words};
use crate::cpu::room::Room;
use crate::cpu::runs::Runs;
use crate::cpu::{order, profile};
use crate::key::{Indices, Transform};
use crate::{Error, Report, Segments, Side};

/// Sorts keys with payloads of any size. The calling crate compiles the sort for sizes that [`Payload`] does not have.
pub(crate) fn sort_pairs<B: CpuSorts, V: Send>(
    keys: &mut [B],
    payload: &mut [V],
    transform: Transform<B>,
    job: &Job,
) -> Result<Report, Error> {
    if const { Payload::is_compiled::<V>() } {
        // SAFETY: the sort leaves a permutation, and calls nothing that panics while payloads are elsewhere.
        B::sort_pairs(keys, unsafe { Payload::of(payload) }, transform, job)
    } else {
        pairs::sort(keys, payload, transform, job)
    }
}

/// [`sort_pairs`] for each segment.
pub(crate) fn sort_pairs_segments<B: CpuSorts, V: Send>(
    keys: &mut [B],
    payload: &mut [V],
    segments: Segments<'_>,
    transform: Transform<B>,
    job: &Job,
) -> Result<Report, Error> {
    if const { Payload::is_compiled::<V>() } {
        // SAFETY: as above.
        B::sort_pairs_segments(keys, unsafe { Payload::of(payload) }, segments, transform, job)
    } else {
        segment_pairs::sort(keys, payload, segments, transform, job)
    }
}

macro_rules! cpu_sorts {
    ($($bits:ty, selected by $code:ty, found by $whole:ty;)*) => {$(
        impl CpuSorts for $bits {
            fn sort_few(keys: &mut [Self], transform: Transform<Self>) {
                few::sort(keys, transform);
            }

            fn order_few<'r>(
                keys: &[Self],
                transform: Transform<Self>,
                order: &'r mut Room<u32>,
            ) -> Ordered<'r> {
                few::order_of(keys, transform, order)
            }

            fn sort_few_of_pairs<'r>(
                keys: &mut [Self],
                transform: Transform<Self>,
                order: &'r mut Room<u32>,
            ) -> Ordered<'r> {
                few::sort_keys_of_pairs(keys, transform, order)
            }

            fn find_order<'w>(codes: &[Self], words: &'w mut Words) -> Found<'w> {
                order::find(codes, words)
            }

            fn runs(keys: &[Self], transform: Transform<Self>, stable: bool, threads: usize) -> Runs {
                profile::runs(keys, transform, stable, threads)
            }

            fn sort(keys: &mut [Self], transform: Transform<Self>, job: &Job) -> Result<Report, Error> {
                keys::sort(keys, transform, job)
            }

            fn sort_pairs(
                keys: &mut [Self],
                payload: Payload<'_>,
                transform: Transform<Self>,
                job: &Job,
            ) -> Result<Report, Error> {
                match payload {
                    Payload::Of4(payload) => pairs::sort(keys, payload, transform, job),
                    Payload::Of8(payload) => pairs::sort(keys, payload, transform, job),
                    Payload::Of16(payload) => pairs::sort(keys, payload, transform, job),
                }
            }

            fn argsort(
                keys: &[Self],
                indices: Indices<'_>,
                transform: Transform<Self>,
                job: &Job,
            ) -> Result<Report, Error> {
                pairs::argsort(keys, indices, transform, job)
            }

            fn sort_segments(
                keys: &mut [Self],
                segments: Segments<'_>,
                transform: Transform<Self>,
                job: &Job,
            ) -> Result<Report, Error> {
                segments::sort(keys, segments, transform, job)
            }

            fn sort_pairs_segments(
                keys: &mut [Self],
                payload: Payload<'_>,
                segments: Segments<'_>,
                transform: Transform<Self>,
                job: &Job,
            ) -> Result<Report, Error> {
                match payload {
                    Payload::Of4(payload) => segment_pairs::sort(keys, payload, segments, transform, job),
                    Payload::Of8(payload) => segment_pairs::sort(keys, payload, segments, transform, job),
                    Payload::Of16(payload) => segment_pairs::sort(keys, payload, segments, transform, job),
                }
            }

            fn argsort_segments(
                keys: &[Self],
                indices: Indices<'_>,
                segments: Segments<'_>,
                transform: Transform<Self>,
                job: &Job,
            ) -> Result<Report, Error> {
                segment_pairs::argsort(keys, indices, segments, transform, job)
            }

            fn top_k(
                keys: &[Self],
                top: &mut [Self],
                transform: Transform<Self>,
                sorted: bool,
                job: &Job,
            ) -> Result<Report, Error> {
                top::numbers::<_, $code>(keys, top, transform, sorted, job)
            }

            fn arg_top_k(
                keys: &[Self],
                transform: Transform<Self>,
                k: usize,
                sorted: bool,
                job: &Job,
            ) -> Result<(Vec<usize>, Report), Error> {
                top::of_numbers::<_, $code>(keys, transform, k, sorted, job)
            }

            fn nth(
                keys: &[Self],
                transform: Transform<Self>,
                indices: &[usize],
                job: &Job,
            ) -> Result<(Vec<Self>, Report), Error> {
                select::numbers::<_, $whole>(keys, transform, indices, job)
            }

            fn arg_nth(
                keys: &[Self],
                transform: Transform<Self>,
                indices: &[usize],
                job: &Job,
            ) -> Result<(Vec<usize>, Report), Error> {
                select::of_numbers::<_, $whole>(keys, transform, indices, job)
            }

            fn search(
                keys: &[Self],
                queries: &[Self],
                transform: Transform<Self>,
                side: Side,
                positions: Indices<'_>,
                job: &Job,
            ) -> Report {
                match positions {
                    Indices::Narrow(positions) => {
                        search::numbers(keys, queries, transform, side, positions, job)
                    }
                    Indices::Wide(positions) => {
                        search::numbers(keys, queries, transform, side, positions, job)
                    }
                }
            }

            fn histogram(
                keys: &[Self],
                edges: &[Self],
                transform: Transform<Self>,
                counts: &mut [usize],
                job: &Job,
            ) -> Report {
                histogram::numbers(keys, edges, transform, counts, job)
            }

            fn partition(
                keys: &mut [Self],
                transform: Transform<Self>,
                indices: &[usize],
            ) -> Result<Report, Error> {
                select::partition(keys, transform, indices)
            }
        }
    )*};
}
cpu_sorts! {
    u8, selected by u16, found by u16;
    u16, selected by u16, found by u16;
    u32, selected by u32, found by u32;
    u64, selected by u64, found by u64;
    u128, selected by u64, found by u128;
}
