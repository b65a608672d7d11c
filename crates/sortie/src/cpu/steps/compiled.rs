//! The engine's sorts of numbers, as methods of the integers that hold their bits.
//!
//! The methods are compiled in this crate, once for each width (`sorts/mod.rs`). Generic functions are compiled in each crate that
//! calls them, and these call a large part of the engine.

use crate::cpu::Job;
use crate::cpu::found::{Found, Ordered, Words};
use crate::cpu::room::Room;
use crate::cpu::runs::Runs;
use crate::cpu::scatter::Moved;
use crate::key::{Bits, Indices, Transform};
use crate::{Error, Report, Segments, Side};

/// Sorts of numbers of one width. `job` says how, and what may be used.
pub trait CpuSorts: Bits {
    /// Sorts up to [`FEW`](crate::cpu::tuning::FEW) keys.
    fn sort_few(keys: &mut [Self], transform: Transform<Self>);

    /// The stable order of up to [`FEW`](crate::cpu::tuning::FEW) keys.
    fn order_few<'r>(keys: &[Self], transform: Transform<Self>, order: &'r mut Room<u32>) -> Ordered<'r>;

    /// Sorts up to [`FEW`](crate::cpu::tuning::FEW) keys, and returns the order in which their values follow. Stable.
    fn sort_few_of_pairs<'r>(
        keys: &mut [Self],
        transform: Transform<Self>,
        order: &'r mut Room<u32>,
    ) -> Ordered<'r>;

    /// The stable order of codes.
    fn find_order<'w>(codes: &[Self], words: &'w mut Words) -> Found<'w>;

    /// Whether keys are one run.
    fn runs(keys: &[Self], transform: Transform<Self>, stable: bool, threads: usize) -> Runs;

    fn sort(keys: &mut [Self], transform: Transform<Self>, job: &Job) -> Result<Report, Error>;

    fn sort_pairs(
        keys: &mut [Self],
        payload: Payload<'_>,
        transform: Transform<Self>,
        job: &Job,
    ) -> Result<Report, Error>;

    fn argsort(
        keys: &[Self],
        indices: Indices<'_>,
        transform: Transform<Self>,
        job: &Job,
    ) -> Result<Report, Error>;

    fn sort_segments(
        keys: &mut [Self],
        segments: Segments<'_>,
        transform: Transform<Self>,
        job: &Job,
    ) -> Result<Report, Error>;

    fn sort_pairs_segments(
        keys: &mut [Self],
        payload: Payload<'_>,
        segments: Segments<'_>,
        transform: Transform<Self>,
        job: &Job,
    ) -> Result<Report, Error>;

    fn argsort_segments(
        keys: &[Self],
        indices: Indices<'_>,
        segments: Segments<'_>,
        transform: Transform<Self>,
        job: &Job,
    ) -> Result<Report, Error>;

    /// The first keys, sorted or in any order. There are as many as fit in `top`. Not for keys of 128 bits.
    fn top_k(
        keys: &[Self],
        top: &mut [Self],
        transform: Transform<Self>,
        sorted: bool,
        job: &Job,
    ) -> Result<Report, Error>;

    /// The indices of the first `k` keys, sorted or in any order.
    fn arg_top_k(
        keys: &[Self],
        transform: Transform<Self>,
        k: usize,
        sorted: bool,
        job: &Job,
    ) -> Result<(Vec<usize>, Report), Error>;

    /// The keys at these indices of the order, which ascend.
    fn nth(
        keys: &[Self],
        transform: Transform<Self>,
        indices: &[usize],
        job: &Job,
    ) -> Result<(Vec<Self>, Report), Error>;

    /// The indices of the keys at these indices of the stable order, which ascend.
    fn arg_nth(
        keys: &[Self],
        transform: Transform<Self>,
        indices: &[usize],
        job: &Job,
    ) -> Result<(Vec<usize>, Report), Error>;

    /// Writes how many sorted keys come before each query, and on the right side also how many equal it.
    fn search(
        keys: &[Self],
        queries: &[Self],
        transform: Transform<Self>,
        side: Side,
        positions: Indices<'_>,
        job: &Job,
    ) -> Report;

    /// Adds to each count the number of keys between two neighbours of the edges, which are in order.
    fn histogram(
        keys: &[Self],
        edges: &[Self],
        transform: Transform<Self>,
        counts: &mut [usize],
        job: &Job,
    ) -> Report;

    /// Puts the keys at these indices of the order there, lesser ones before them and greater ones after them.
    fn partition(keys: &mut [Self], transform: Transform<Self>, indices: &[usize]) -> Result<Report, Error>;
}

/// Payloads of a size that the sorts are compiled for, as bytes.
#[derive(Debug)]
pub enum Payload<'a> {
    Of4(&'a mut [Moved<4>]),
    Of8(&'a mut [Moved<8>]),
    Of16(&'a mut [Moved<16>]),
}

impl<'a> Payload<'a> {
    /// Whether the sorts are compiled for such payloads.
    pub(crate) const fn is_compiled<V>() -> bool {
        matches!(size_of::<V>(), 4 | 8 | 16)
    }

    /// # Safety
    /// The caller leaves a permutation of the payloads in the slice.
    pub(crate) unsafe fn of<V>(payload: &'a mut [V]) -> Self {
        let (at, n) = (payload.as_mut_ptr(), payload.len());
        // SAFETY: the sizes are equal, and bytes have no alignment. The caller leaves valid payloads.
        unsafe {
            match size_of::<V>() {
                4 => Payload::Of4(std::slice::from_raw_parts_mut(at.cast(), n)),
                8 => Payload::Of8(std::slice::from_raw_parts_mut(at.cast(), n)),
                16 => Payload::Of16(std::slice::from_raw_parts_mut(at.cast(), n)),
                other => unreachable!("no sort is compiled for payloads of {other} bytes"),
            }
        }
    }
}
