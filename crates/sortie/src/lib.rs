//! Sortie sorts numbers, pairs, records and strings, as one large array or as millions of small ones.
//!
//! The free functions return no errors and run on the CPU. From 262,144 elements on, they use the current rayon pool, or
//! rayon's global pool, which they start. [`sort_strings`], [`sort_by`] and [`sort_by_cached_key`] do so from 65,536 on. If the
//! system refuses to start threads, they sort on the caller's thread alone. [`Sorter`] offers everything that can be chosen;
//! its calls return a [`Report`] or an [`Error`]. In a program that calls [`enable_gpu`] (feature `gpu`), both may use a GPU if
//! that is predicted to be faster.
//!
//! ```
//! let mut v = [3.5, -1.0, f64::NAN, -0.0, 0.0];
//! sortie::sort(&mut v);
//! assert_eq!(v[..4], [-1.0, -0.0, 0.0, 3.5]);
//! assert!(v[4].is_nan());
//! ```
//!
//! # Order
//!
//! One total order, see [`Key`]: integers by value, floats ascending with -0.0 before +0.0 and every NaN last,
//! strings by bytes, tuples left to right. [`Reverse`](std::cmp::Reverse) turns one part of a key around, and [`KeyBy`] makes a type of
//! yours a key.
//!
//! # Features
//!
//! Both are off by default.
//!
//! - `gpu`: the engines for NVIDIA GPUs. Without it, [`Engine::Auto`] is the CPU, and engines that name a GPU return
//!   [`Error::Unsupported`]. Neither building nor starting a program requires CUDA.
//! - `half`: keys of type `half::f16` and `half::bf16`. `gpu` includes it.
//!
//! # Stability
//!
//! Keys alone need none: equal keys cannot be told apart. Everything that moves something with its key (pairs, [`argsort`],
//! [`sort_by_key`], [`sort_by`]) is stable, unless a [`Sorter`] was built with `.unstable()`. NaNs with different bits are
//! different keys, unless [`Nans`] says that they are equal.
//!
//! # Memory, panics and GPUs
//!
//! `n` keys have `K` bytes each, and each payload has `V` bytes. Scratch is the most that a call allocates beyond its
//! arguments and its result, on the CPU, in bytes. The last column says whether the call may use a GPU after [`enable_gpu`] (feature `gpu`).
//!
//! | call | scratch | panics | GPU |
//! |---|---|---|---|
//! | [`sort`], numbers | 262 KiB a thread and `nK` / 1024 from 8 MiB of keys on (1 MiB for 128 bits); 4 KiB for 8 bits, 256 KiB for 16; `nK / 2` for two runs | no | yes |
//! | [`sort`], tuples, options and byte arrays | none; for runs see below | no | no |
//! | [`sort_strings`], [`sort`] of strings | `n(K + 16)`, `K` being the size of a reference | memory | yes |
//! | [`sort_string_array`] | the bytes, and `56n` | memory, offsets | yes |
//! | [`sort_pairs`], numbers | `n(K + V)`, at least `2n`, and `n(K + 8)` up to 131,072 keys | memory, lengths | yes |
//! | [`sort_pairs`], other keys | at most `28n`, or `32n` up to 131,072 keys | memory, lengths | no |
//! | [`argsort`], numbers | `n(K + 4)`, or `n(K + 8)` up to 131,072 keys; for 32 bits by one or two threads also that of [`sort`] for `8n` bytes of keys | memory | yes |
//! | [`argsort`], strings | `24n` | memory | yes |
//! | [`argsort`], other keys | `20n`, or `24n` up to 131,072 keys | memory | no |
//! | [`sort_by_key`], numbers, `K + V` up to 40, or two runs | `nK`, and that of [`sort_pairs`] | memory, the caller's code | as [`argsort`] |
//! | [`sort_by_key`], others | `n(K + 8)`, and the larger of [`argsort`]'s and `nV` | memory, the caller's code | as [`argsort`] |
//! | [`sort_by_cached_key`] | `n(K + 8)`, and the larger of `8n` and `nV` | the caller's code | no |
//! | [`sort_by`] | a copy of the slice; by one thread half of one, but of up to 8 MB a whole one | the caller's code | no |
//! | [`sort_segments`], numbers | as [`sort`] | segments | yes |
//! | [`sort_segments`], other keys | none | segments | no |
//! | [`argsort_segments`] | as [`Sorter::argsort_segments`] | memory, segments | numbers |
//! | [`top_k`], [`arg_top_k`] | as [`Sorter::top_k`] and [`Sorter::arg_top_k`] | memory | no |
//! | [`nth`], [`arg_nth`], [`quantiles`], [`median`] | as [`Sorter::nth`] | memory, index, quantiles | no |
//! | [`select_nth`] | none | index | no |
//! | [`unique`], [`unique_counts`] | as [`Sorter::unique`] | memory | as [`sort`] |
//! | [`rank`] | as [`Sorter::unique_groups`] | memory | as [`sort_pairs`] |
//! | [`search_sorted`] | none | no | no |
//!
//! - Two runs are merged if a sort has one or two threads and the limit of a [`Sorter`] has room for the scratch. Keys alone are
//!   merged only if that is predicted to be faster. Keys of 128 bits, tuples, options and byte arrays take at most `nK` if they
//!   have long runs, and half of that for two runs.
//! - Tuples, options and byte arrays of 1 or 2 bytes may take the counters of numbers of that size.
//! - Up to 1024 elements whose keys are not strings take at most 40 KiB, usually none, which no limit counts. [`sort_by_key`] also
//!   holds the keys if they are not numbers.
//! - From 2^32 keys on, indices take 8 bytes and not the 4 of this table.
//! - Pairs and indices are distributed through buffers of up to 64 KiB per thread, or 640 KiB from 33.5 million keys on. No limit
//!   counts these buffers, nor the words of the bucket that a thread is sorting.
//! - *Memory*: the call panics if the system refuses the scratch. The arguments are as they were. As everywhere in Rust, the
//!   process aborts if the system refuses a small allocation, the scratch of std's stable sort, or the result of [`argsort`].
//! - *Lengths*, *offsets*, *segments*, *index*, *quantiles*: the call panics if the arguments do not fit each other.
//! - A [`Sorter`] takes the same scratch with [`Algorithm::Auto`], and returns an [`Error`] instead of these panics. Only two
//!   panics are left: those of the caller's code, and that of [`Sorter::sort_pairs_segments`] if the system refuses scratch.
//! - On a GPU, a call takes more: pinned memory, device memory, and for an array of numbers a copy of the keys on the host, so
//!   that the CPU can sort if the GPU fails. [`Sorter::explain`] tells how much. A memory limit counts all of it.
//! - Every sort takes at most O(n log n) comparisons of keys or codes; [`Algorithm::Bitonic`] takes O(n log^2 n). The time for
//!   strings grows with the number of bytes that tell them apart.

// Much of the documentation links to items that need the feature.
#![cfg_attr(not(feature = "gpu"), allow(rustdoc::broken_intra_doc_links))]

mod cache_line;
mod capability;
pub mod columns;
#[cfg(feature = "gpu")]
mod compose;
mod cpu;
pub mod dynamic;
mod error;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(feature = "gpu")]
#[doc(hidden)]
pub mod internals;
mod key;
pub mod merge;
mod parallel;
pub mod plan;
mod quantile;
pub mod rates;
mod report;
pub mod request;
mod scratch;
mod segments;
mod sorter;
mod sorts;
mod threads;
mod ways;

#[cfg(feature = "gpu")]
pub use compose::devices as gpus;
pub use error::{Bound, Error};
pub use key::{Index, KeyBy, Nans, Nulls, Order, TotalOrder};
pub use quantile::{QuantileMethod, QuantilePosition};
pub use report::{Phase, Ran, Report};
pub use request::{Algorithm, Devices, Engine, Request, Side};
pub use segments::Segments;
#[cfg(feature = "gpu")]
pub use sorter::auto::{Enabled, enable as enable_gpu};
pub use sorter::{Groups, Joined, RankMethod, Sorter, SorterBuilder};
pub use sorts::Key;

use std::cmp::Ordering;

use cpu::sorts::CpuSorts;
use cpu::tuning::FEW;

/// Sorts keys in ascending order.
///
/// Integers and floats are sorted by distribution and a vectorised finish, in place. Tuples, options and byte arrays are sorted as
/// integers, in place, if an integer of their size holds their order: `(u32, u32)`, `Option<f32>`, `[u8; 8]`. Others are sorted by
/// the first 64 bits of their order, then by comparison, in place. Strings are sorted as in [`sort_strings`]. Scratch: see
/// the [table](crate#memory-panics-and-gpus). May use a GPU after [`enable_gpu`].
///
/// # Panics
/// For strings, if the system refuses the scratch.
///
/// ```
/// let mut v = vec![5, 1, 4];
/// sortie::sort(&mut v);
/// assert_eq!(v, [1, 4, 5]);
/// ```
pub fn sort<K: Key>(keys: &mut [K]) {
    if const { K::FORM.is_number() } && keys.len() <= FEW {
        // SAFETY: the engine leaves a permutation.
        let bits = unsafe { key::as_bits_mut(keys) };
        let transform = key::Transform::new(K::FORM.code(), Order::default());
        return if bits.len() < cpu::few::inserted_keys::<K::Bits>() {
            cpu::few::insert(bits, transform)
        } else {
            K::Bits::sort_few(bits, transform)
        };
    }
    if const { K::FORM.is_wide() } && keys.len() <= FEW {
        return cpu::few::sort_wide(keys, Order::default());
    }
    infallible(Sorter::shared().sort(keys));
}

/// Sorts keys in ascending order and moves each payload with its key. Stable.
///
/// Scratch: a copy of the keys and payloads. Keys that are not numbers take at most 28 bytes each, or 32 up to 131,072 keys. May use a GPU after
/// [`enable_gpu`], for keys that are numbers.
///
/// # Panics
/// If the slices differ in length, or the system refuses the scratch.
///
/// ```
/// let (mut k, mut v) = ([2, 1, 2], ["b", "a", "c"]);
/// sortie::sort_pairs(&mut k, &mut v);
/// assert_eq!((k, v), ([1, 2, 2], ["a", "b", "c"]));
/// ```
pub fn sort_pairs<K: Key, V: Send>(keys: &mut [K], payload: &mut [V]) {
    if const { K::FORM.is_number() } && keys.len() <= FEW && keys.len() == payload.len() {
        let transform = key::Transform::comparing(K::FORM.code(), Order::default());
        // SAFETY: the engine leaves a permutation.
        return cpu::few::sort_pairs(unsafe { key::as_bits_mut(keys) }, payload, transform);
    }
    infallible(Sorter::shared().sort_pairs(keys, payload));
}

/// The indices of the keys in ascending order: `keys[result[0]]` is the least. Stable.
///
/// Scratch: see the [table](crate#memory-panics-and-gpus). May use a GPU after [`enable_gpu`], for numbers and strings.
///
/// # Panics
/// If the system refuses the scratch.
///
/// ```
/// assert_eq!(sortie::argsort(&[30, 10, 20]), [1, 2, 0]);
/// ```
#[must_use]
pub fn argsort<K: Key>(keys: &[K]) -> Vec<usize> {
    let mut indices = vec![0; keys.len()];
    if const { K::FORM.is_number() } && keys.len() <= FEW {
        let transform = key::Transform::comparing(K::FORM.code(), Order::default());
        cpu::few::argsort(key::as_bits(keys), &mut indices, transform);
    } else {
        infallible(Sorter::shared().argsort(keys, &mut indices));
    }
    indices
}

/// The first `k` keys in this order, or all if there are fewer: those with which the sorted keys would begin. Of equal keys,
/// those with smaller indices come first.
///
/// Takes O(n + k log k) time and reads the keys once. Scratch: see [`Sorter::top_k`]. Runs on the CPU.
///
/// # Panics
/// If the system refuses the scratch.
///
/// ```
/// use sortie::Order;
/// assert_eq!(sortie::top_k(&[5, 1, 4, 2], 2, Order::DESCENDING), [5, 4]);
/// assert_eq!(sortie::top_k(&["pear", "fig", "apple"], 2, Order::ASCENDING), ["apple", "fig"]);
/// ```
#[must_use]
pub fn top_k<K: Key + Clone>(keys: &[K], k: usize, order: Order) -> Vec<K> {
    let mut top = keys[..k.min(keys.len())].to_vec();
    infallible(Sorter::shared().with_order(order).top_k(keys, &mut top));
    top
}

/// The indices of the first `k` keys in this order, or of all if there are fewer. Of equal keys, those with smaller indices
/// come first. Otherwise as [`top_k`].
///
/// # Panics
/// If the system refuses the scratch.
///
/// ```
/// use sortie::Order;
/// assert_eq!(sortie::arg_top_k(&[30, 10, 20, 10], 3, Order::ASCENDING), [1, 3, 2]);
/// ```
#[must_use]
pub fn arg_top_k<K: Key>(keys: &[K], k: usize, order: Order) -> Vec<usize> {
    let mut indices = vec![0; k.min(keys.len())];
    infallible(Sorter::shared().with_order(order).arg_top_k(keys, &mut indices));
    indices
}

/// The key at index `n` of this order: that which a sort would put at that index. Keys stay as they are.
///
/// Takes O(n) time, and reads numbers once. Scratch: see [`Sorter::nth`]. Runs on the CPU.
///
/// # Panics
/// If there are not more than `n` keys, or the system refuses the scratch.
///
/// ```
/// use sortie::Order;
/// assert_eq!(sortie::nth(&[50, 10, 40, 20, 30], 1, Order::ASCENDING), 20);
/// assert_eq!(sortie::nth(&["pear", "fig", "apple"], 0, Order::DESCENDING), "pear");
/// ```
#[must_use]
pub fn nth<K: Key + Clone>(keys: &[K], n: usize, order: Order) -> K {
    let mut nth = [keys[n].clone()];
    infallible(Sorter::shared().with_order(order).nth(keys, &[n], &mut nth));
    let [nth] = nth;
    nth
}

/// The index of the key at index `n` of this order, which is stable: what [`argsort`] would give at that index. Otherwise as
/// [`nth`].
///
/// # Panics
/// As [`nth`].
///
/// ```
/// use sortie::Order;
/// assert_eq!(sortie::arg_nth(&[30, 10, 20, 10], 1, Order::ASCENDING), 3);
/// ```
#[must_use]
pub fn arg_nth<K: Key>(keys: &[K], n: usize, order: Order) -> usize {
    let mut found = [0];
    infallible(Sorter::shared().with_order(order).arg_nth(keys, &[n], &mut found));
    found[0]
}

/// Moves keys so that the one at index `n` is where an ascending sort would put it, with no greater key before it and no lesser one
/// after it: std's `select_nth_unstable`. Takes O(n) time and no scratch. Runs on the calling thread.
///
/// # Panics
/// If there are not more than `n` keys.
///
/// ```
/// let mut v = [50, 10, 40, 20, 30];
/// sortie::select_nth(&mut v, 2);
/// assert_eq!(v[2], 30);
/// ```
pub fn select_nth<K: Key>(keys: &mut [K], n: usize) {
    infallible(Sorter::shared().partition(keys, &[n]));
}

/// Quantiles of numbers, such as 0.5 for the median. If a key is NaN, so are they. Scratch: see [`Sorter::quantiles`]. Runs on the CPU.
///
/// # Panics
/// If there are no keys, a number of `q` is not from 0 to 1, or the system refuses the scratch.
///
/// ```
/// use sortie::QuantileMethod;
/// assert_eq!(sortie::quantiles(&[7, 1, 3, 9], &[0.0, 0.25], QuantileMethod::Linear), [1.0, 2.5]);
/// ```
#[must_use]
pub fn quantiles<K: Key + columns::Number>(keys: &[K], q: &[f64], method: QuantileMethod) -> Vec<f64> {
    let mut values = vec![0.0; q.len()];
    infallible(Sorter::shared().quantiles(keys, q, method, &mut values));
    values
}

/// The median: the key in the middle of the order, or the mean of the two. Otherwise as [`quantiles`].
///
/// # Panics
/// As [`quantiles`].
///
/// ```
/// assert_eq!(sortie::median(&[7, 1, 3, 9]), 5.0);
/// ```
#[must_use]
pub fn median<K: Key + columns::Number>(keys: &[K]) -> f64 {
    quantiles(keys, &[0.5], QuantileMethod::Linear)[0]
}

/// The distinct keys in this order. Keys stay as they are.
///
/// Takes the time of a sort. Scratch: see [`Sorter::unique`]. May use a GPU where [`sort`] and [`argsort`] may.
///
/// # Panics
/// If the system refuses the scratch.
///
/// ```
/// use sortie::Order;
/// assert_eq!(sortie::unique(&[3, 1, 3, 2], Order::DESCENDING), [3, 2, 1]);
/// ```
#[must_use]
pub fn unique<K: Key + Clone>(keys: &[K], order: Order) -> Vec<K> {
    let mut unique = Vec::new();
    infallible(Sorter::shared().with_order(order).unique(keys, &mut unique));
    unique
}

/// The distinct keys in this order, and how often each occurs. Otherwise as [`unique`].
///
/// # Panics
/// As [`unique`].
///
/// ```
/// use sortie::Order;
/// assert_eq!(sortie::unique_counts(&["b", "a", "b"], Order::ASCENDING), (vec!["a", "b"], vec![1, 2]));
/// ```
#[must_use]
pub fn unique_counts<K: Key + Clone>(keys: &[K], order: Order) -> (Vec<K>, Vec<usize>) {
    let (mut unique, mut counts) = (Vec::new(), Vec::new());
    infallible(Sorter::shared().with_order(order).unique_counts(keys, &mut unique, &mut counts));
    (unique, counts)
}

/// The key that occurs most often, and how often; of several, the first in this order. Otherwise as [`unique`].
///
/// # Panics
/// As [`unique`].
///
/// ```
/// use sortie::Order;
/// assert_eq!(sortie::mode(&["b", "a", "b"], Order::ASCENDING), Some(("b", 2)));
/// ```
#[must_use]
pub fn mode<K: Key + Clone>(keys: &[K], order: Order) -> Option<(K, usize)> {
    infallible(Sorter::shared().with_order(order).mode(keys)).0
}

/// Where each group of equal keys begins among keys in this order, and the end of the last.
///
/// # Panics
/// If the system refuses the memory for the result.
///
/// ```
/// use sortie::Order;
/// assert_eq!(sortie::group_bounds(&[3, 3, 7, 8, 8], Order::ASCENDING), [0, 2, 3, 5]);
/// ```
#[must_use]
pub fn group_bounds<K: Key>(sorted: &[K], order: Order) -> Vec<usize> {
    infallible(Sorter::shared().with_order(order).group_bounds(sorted))
}

/// The rank of each key in this order, counted from 1. Equal keys get the rank that `method` says. Scratch: see [`Sorter::rank`]. May use a
/// GPU where [`sort_pairs`] may.
///
/// # Panics
/// If the system refuses the scratch.
///
/// ```
/// use sortie::{Order, RankMethod};
/// assert_eq!(sortie::rank(&[30, 10, 30], RankMethod::Min, Order::DESCENDING), [1.0, 3.0, 1.0]);
/// ```
#[must_use]
pub fn rank<K: Key + Clone>(keys: &[K], method: RankMethod, order: Order) -> Vec<f64> {
    let mut ranks = vec![0.0; keys.len()];
    infallible(Sorter::shared().with_order(order).rank(keys, method, &mut ranks));
    ranks
}

/// For each query, the index at which it belongs in `keys`, which are in this order: before equal keys, or after them. If the keys are not in
/// order, the results are unspecified. Takes O(log n) for each query, less if the queries are in order. Runs on the CPU.
///
/// ```
/// use sortie::{Order, Side};
/// assert_eq!(sortie::search_sorted(&[10, 20, 20, 30], &[20, 25], Side::Left, Order::ASCENDING), [1, 3]);
/// ```
#[must_use]
pub fn search_sorted<K: Key>(keys: &[K], queries: &[K], side: Side, order: Order) -> Vec<usize> {
    let mut positions = vec![0; queries.len()];
    infallible(Sorter::shared().with_order(order).search_sorted(keys, queries, side, &mut positions));
    positions
}

/// How many keys there are from each edge on and before the next one. The last bin has also the keys equal to the last edge. Keys
/// outside are not counted. See [`Sorter::histogram`] for time and scratch. Runs on the CPU.
///
/// # Panics
/// If the edges are not in this order.
///
/// ```
/// use sortie::Order;
/// assert_eq!(sortie::histogram(&[1, 5, 9, 10, 10, 40], &[0, 5, 10, 20], Order::ASCENDING), [1, 2, 2]);
/// ```
#[must_use]
pub fn histogram<K: Key>(keys: &[K], edges: &[K], order: Order) -> Vec<usize> {
    let mut counts = vec![0; edges.len().saturating_sub(1)];
    infallible(Sorter::shared().with_order(order).histogram(keys, edges, &mut counts));
    counts
}

/// Whether keys are in this order.
///
/// ```
/// use sortie::Order;
/// assert!(sortie::is_sorted(&[1.0, 2.0, f64::NAN], Order::ASCENDING));
/// ```
#[must_use]
pub fn is_sorted<K: Key>(keys: &[K], order: Order) -> bool {
    Sorter::shared().with_order(order).is_sorted(keys)
}

/// The keys of slices that are in this order, in one order. Of equal keys, those of earlier slices come first. See [`Sorter::merge`].
///
/// # Panics
/// If the system refuses the result, or the scratch of a sort of them.
///
/// ```
/// use sortie::Order;
/// assert_eq!(sortie::merge(&[&[1, 4], &[2, 3, 9]], Order::ASCENDING), [1, 2, 3, 4, 9]);
/// ```
#[must_use]
pub fn merge<K: Key + Clone>(slices: &[&[K]], order: Order) -> Vec<K> {
    let mut merged = Vec::new();
    infallible(Sorter::shared().with_order(order).merge(slices, &mut merged));
    merged
}

/// The pairs of equal keys of two slices that are in this order, by their indices: see [`Sorter::merge_join`].
///
/// # Panics
/// If a slice is not in order, or the system refuses the scratch or the result.
///
/// ```
/// use sortie::Order;
/// let joined = sortie::merge_join(&["a", "b", "d"], &["b", "b", "c", "d"], Order::ASCENDING);
/// assert_eq!((joined.left, joined.right), (vec![1, 1, 2], vec![0, 1, 3]));
/// ```
#[must_use]
pub fn merge_join<K: Key>(left: &[K], right: &[K], order: Order) -> Joined<usize> {
    infallible(Sorter::shared().with_order(order).merge_join(left, right)).0
}

/// `values[indices[i]]` for each i: brings values into an order that [`argsort`] or [`arg_top_k`] has found.
///
/// # Panics
/// If an index is not less than the number of values, a clone panics, or the system refuses the result.
///
/// ```
/// let (names, ages) = (["Ada", "Bo", "Cy"], [40, 20, 30]);
/// assert_eq!(sortie::gather(&names, &sortie::argsort(&ages)), ["Bo", "Cy", "Ada"]);
/// ```
#[must_use]
pub fn gather<T: Clone + Send + Sync, I: Index>(values: &[T], indices: &[I]) -> Vec<T> {
    let mut gathered = Vec::new();
    infallible(Sorter::shared().gather(values, indices, &mut gathered));
    gathered
}

/// Sorts each segment of `keys` on its own, in place. May use a GPU after [`enable_gpu`], if that is predicted to be faster; if
/// the GPU fails, the CPU sorts. Scratch: at most that of [`sort`].
///
/// # Panics
/// If the segments do not fit the keys, see [`Segments`].
///
/// ```
/// use sortie::Segments;
/// let mut v = [3, 1, 2, 9, 8, 7];
/// sortie::sort_segments(&mut v, Segments::Length(3));
/// assert_eq!(v, [1, 2, 3, 7, 8, 9]);
/// sortie::sort_segments(&mut v, Segments::Offsets(&[0, 1, 1, 6]));
/// assert_eq!(v, [1, 2, 3, 7, 8, 9]);
/// ```
pub fn sort_segments<K: Key>(keys: &mut [K], segments: Segments<'_>) {
    infallible(Sorter::shared().sort_segments(keys, segments));
}

/// The indices of the keys of every segment in order, counted from the start of the segment; 0 for keys that belong to no
/// segment. Stable. May use a GPU like [`sort_segments`]. Scratch: that of [`Sorter::argsort_segments`].
///
/// # Panics
/// If the segments do not fit the keys, or the system refuses the scratch.
///
/// ```
/// use sortie::Segments;
/// assert_eq!(sortie::argsort_segments(&["b", "a", "z", "x", "y"], Segments::Offsets(&[0, 2, 5])), [1, 0, 1, 2, 0]);
/// ```
#[must_use]
pub fn argsort_segments<K: Key>(keys: &[K], segments: Segments<'_>) -> Vec<usize> {
    let mut indices = vec![0; keys.len()];
    infallible(Sorter::shared().argsort_segments(keys, &mut indices, segments));
    indices
}

/// Sorts by a key that `key` computes from each element. Stable. `key` is called once for each element, and some more times for
/// elements that are in order: see [`Sorter::sort_by_key`].
///
/// Scratch: see the [table](crate#memory-panics-and-gpus). May use a GPU where [`argsort`] may.
///
/// # Panics
/// If `key` panics, or the system refuses the scratch. The slice is a permutation of what it was.
///
/// ```
/// let mut v = ["ccc", "a", "bb", "d"];
/// sortie::sort_by_key(&mut v, |s| s.len());
/// assert_eq!(v, ["a", "d", "bb", "ccc"]);
/// ```
pub fn sort_by_key<T: Send + Sync, K: Key>(v: &mut [T], key: impl Fn(&T) -> K + Sync) {
    if const { K::FORM.is_number() } && v.len() <= FEW {
        let order = Order::default();
        return cpu::few::sort_by_key(v, key, key::Transform::comparing(K::FORM.code(), order), order);
    }
    infallible(Sorter::shared().sort_by_key(v, key));
}

/// [`sort_by_key`] for keys of any ordered type, also your own. Stable.
///
/// Scratch: the keys, 8 bytes per element, and the larger of 8 bytes per element and a copy of the elements. Runs on the CPU.
///
/// # Panics
/// If `key` or the comparison panics. Like std's sort, it may panic if the [`Ord`] of the keys is not a total order. Either
/// way, the slice is as it was.
///
/// ```
/// let mut v = [-3i32, 2, -1];
/// sortie::sort_by_cached_key(&mut v, |x| x.to_string());
/// assert_eq!(v, [-1, -3, 2]);
/// ```
pub fn sort_by_cached_key<T: Send + Sync, K: Ord + Send + Sync>(v: &mut [T], key: impl Fn(&T) -> K + Sync) {
    infallible(Sorter::shared().sort_by_cached_key(v, key));
}

/// Sorts by a comparison, with rayon's or std's sort, because a comparison of the caller's cannot be vectorised. Stable.
///
/// Scratch: a copy of the slice. With one thread, half a copy, or a whole one of up to 8 MB. Runs on the CPU.
///
/// # Panics
/// If `compare` panics. Like std's sort, it may panic if `compare` is not a total order. Either way, the slice is a permutation
/// of what it was.
///
/// ```
/// let mut v = [1, 3, 2];
/// sortie::sort_by(&mut v, |a, b| b.cmp(a));
/// assert_eq!(v, [3, 2, 1]);
/// ```
pub fn sort_by<T: Send>(v: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    infallible(Sorter::shared().sort_by(v, compare));
}

/// Sorts strings, or anything that refers to bytes, by their bytes. Stable. Moves references, never the bytes.
///
/// Time grows with the bytes that tell strings apart. Scratch: a copy of the references and 16 bytes for each. May use a GPU
/// after [`enable_gpu`].
///
/// `as_ref` is called more than once per string and must return the same bytes each time.
///
/// # Panics
/// If the system refuses the scratch; the slice is then as it was. If `as_ref` panics, and possibly if it returns other bytes
/// than before; the slice is then a permutation of what it was.
///
/// ```
/// let mut v = ["b", "", "ab", "a"];
/// sortie::sort_strings(&mut v);
/// assert_eq!(v, ["", "a", "ab", "b"]);
/// ```
pub fn sort_strings<S: AsRef<[u8]> + Send + Sync>(strings: &mut [S]) {
    infallible(Sorter::shared().sort_strings(strings));
}

/// Sorts strings stored as offsets into one run of bytes, the layout of Arrow's string arrays: string `i` is
/// `bytes[offsets[i]..offsets[i + 1]]`. Afterwards the same offsets and bytes hold them in order, with
/// `offsets[0]` as it was.
///
/// Scratch: one copy of the bytes, and 56 bytes per string. May use a GPU after [`enable_gpu`].
///
/// # Panics
/// If there are no offsets, they decrease, or one exceeds the number of bytes; if the system refuses the scratch memory.
///
/// ```
/// let (mut offsets, mut bytes) = ([0u32, 1, 3, 3], *b"bab");
/// sortie::sort_string_array(&mut offsets, &mut bytes);
/// assert_eq!((offsets, &bytes), ([0, 0, 2, 3], b"abb"));
/// ```
pub fn sort_string_array<O: Index>(offsets: &mut [O], bytes: &mut [u8]) {
    infallible(Sorter::shared().sort_string_array(offsets, bytes));
}

/// The result of a sort that fails only if its arguments do not fit each other, or if there is no memory.
fn infallible<R>(result: Result<R, Error>) -> R {
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// The README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Runs the examples of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/select.md")]
struct SelectGuide;
