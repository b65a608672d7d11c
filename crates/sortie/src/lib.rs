//! Sortie sorts: numbers, pairs, records and strings; one large array or millions of small ones.
//!
//! The free functions cannot fail and run on the CPU. From 65,536 elements on they use the rayon pool that the caller is in,
//! or rayon's global pool, which they start. Where the system refuses its threads, they sort by the caller's thread alone.
//! [`Sorter`] is for everything that can be chosen; its calls return a [`Report`] or an [`Error`]. A program that calls
//! [`enable_gpu`] lets both take a GPU where that is faster.
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
//! strings by bytes, tuples left to right.
//!
//! # Stability
//!
//! Keys alone need none: equal keys cannot be told apart. Everything that carries something beside its key
//! (pairs, [`argsort`], [`sort_by_key`], [`sort_by`]) is stable unless a [`Sorter`] was built with `.unstable()`. NaNs of
//! different bits are different keys there, unless [`Nans`] says that they are equal.

pub mod columns;
mod compose;
mod copy;
mod cpu;
pub mod dynamic;
mod error;
pub mod gpu;
#[doc(hidden)]
pub mod internals;
mod key;
pub mod merge;
pub mod plan;
mod profile;
pub mod rates;
mod report;
pub mod request;
mod scratch;
mod segments;
mod sorter;
mod threads;

pub use compose::devices as gpus;
pub use error::{Bound, Error};
pub use key::{Index, Key, Nans, Nulls, Order};
pub use plan::auto::{Enabled, enable as enable_gpu};
pub use report::{Phase, Ran, Report};
pub use request::Request;
pub use segments::Segments;
pub use sorter::{Algorithm, Devices, Engine, Sorter, SorterBuilder};

use std::cmp::Ordering;

/// Sorts keys in ascending order.
///
/// Integers and floats by distribution and a vectorised finish, O(n log n) at worst; in place, with scratch of at
/// most 5% of the data. Wider keys by comparison, in place. Strings as in [`sort_strings`].
///
/// ```
/// let mut v = vec![5, 1, 4];
/// sortie::sort(&mut v);
/// assert_eq!(v, [1, 4, 5]);
/// ```
pub fn sort<K: Key>(keys: &mut [K]) {
    if let key::Form::Bits(code) = K::FORM
        && keys.len() <= plan::FEW
    {
        // SAFETY: the engine leaves a permutation.
        let bits = unsafe { key::as_bits_mut(keys) };
        return cpu::keys::sort_few(bits, key::Transform::new(code, Order::default()));
    }
    infallible(Sorter::shared().sort(keys));
}

/// Sorts keys in ascending order and moves each payload with its key. Stable.
///
/// Scratch: one copy of the keys and payloads.
///
/// # Panics
/// Where the slices differ in length.
///
/// ```
/// let (mut k, mut v) = ([2, 1, 2], ["b", "a", "c"]);
/// sortie::sort_pairs(&mut k, &mut v);
/// assert_eq!((k, v), ([1, 2, 2], ["a", "b", "c"]));
/// ```
pub fn sort_pairs<K: Key, V: Send>(keys: &mut [K], payload: &mut [V]) {
    infallible(Sorter::shared().sort_pairs(keys, payload));
}

/// The places of the keys in ascending order: `keys[result[0]]` is the least. Stable.
///
/// ```
/// assert_eq!(sortie::argsort(&[30, 10, 20]), [1, 2, 0]);
/// ```
#[must_use]
pub fn argsort<K: Key>(keys: &[K]) -> Vec<usize> {
    let mut places = vec![0; keys.len()];
    infallible(Sorter::shared().argsort(keys, &mut places));
    places
}

/// Sorts every segment of `keys` by itself. On the CPU; after [`enable_gpu`] on a GPU where that is predicted to be
/// faster, and on the CPU all the same where the GPU fails.
///
/// # Panics
/// Where the segments do not fit the keys, see [`Segments`].
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

/// Sorts by a key that `key` draws from each element, called once an element. Stable.
///
/// Where `key` panics, the slice is as it was. Scratch: the keys, an index and eight bytes an element.
///
/// ```
/// let mut v = ["ccc", "a", "bb", "d"];
/// sortie::sort_by_key(&mut v, |s| s.len());
/// assert_eq!(v, ["a", "d", "bb", "ccc"]);
/// ```
pub fn sort_by_key<T: Send + Sync, K: Key>(v: &mut [T], key: impl Fn(&T) -> K + Sync) {
    infallible(Sorter::shared().sort_by_key(v, key));
}

/// [`sort_by_key`] for keys of any ordered type, such as one of the caller's own. Stable.
///
/// # Panics
/// Where `key` or the comparison panics. It may where the keys' [`Ord`] is no total order, as std's sort does. Either way the
/// slice is as it was.
///
/// ```
/// let mut v = [-3i32, 2, -1];
/// sortie::sort_by_cached_key(&mut v, |x| x.to_string());
/// assert_eq!(v, [-1, -3, 2]);
/// ```
pub fn sort_by_cached_key<T: Send + Sync, K: Ord + Send + Sync>(v: &mut [T], key: impl Fn(&T) -> K + Sync) {
    infallible(Sorter::shared().sort_by_cached_key(v, key));
}

/// Sorts by a comparison. Stable. Rayon's or std's sort: a comparison of the caller's cannot be vectorised.
///
/// # Panics
/// Where `compare` panics. It may where `compare` is no total order, as std's sort does. Either way the slice is a
/// permutation of what it was.
///
/// ```
/// let mut v = [1, 3, 2];
/// sortie::sort_by(&mut v, |a, b| b.cmp(a));
/// assert_eq!(v, [3, 2, 1]);
/// ```
pub fn sort_by<T: Send>(v: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    infallible(Sorter::shared().sort_by(v, compare));
}

/// Sorts strings, or anything that refers to bytes, by their bytes. Stable; moves references, never bodies.
///
/// Time grows with the bytes that tell strings apart. Scratch: a copy of the references and 16 bytes for each. Where
/// `as_ref` panics, the slice is a permutation of what it was.
///
/// `as_ref` is called more than once a string and must give the same bytes each time.
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
/// Scratch: one copy of the bytes, and 56 bytes a string.
///
/// # Panics
/// Where the offsets are empty, go backwards or past the end.
///
/// ```
/// let (mut offsets, mut bytes) = ([0u32, 1, 3, 3], *b"bab");
/// sortie::sort_string_array(&mut offsets, &mut bytes);
/// assert_eq!((offsets, &bytes), ([0, 0, 2, 3], b"abb"));
/// ```
pub fn sort_string_array<O: Index>(offsets: &mut [O], bytes: &mut [u8]) {
    infallible(Sorter::shared().sort_string_array(offsets, bytes));
}

/// The result of a sort that fails only where its arguments do not fit each other, or where there is no memory.
fn infallible(result: Result<Report, Error>) {
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// The README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
