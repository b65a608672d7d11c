//! The suite that every sort of this project is put under, through the public API alone.
//!
//! A [`subject::Subject`] is a way to sort; what it returns is compared with std's stable sort under a plain
//! definition of the order, element by element and payload by payload. So that results depend on neither
//! threads nor run needs no test of its own: there is one right answer.

mod callers;
mod choices;
mod keys;
mod killers;
mod pairs;
mod patterns;
mod segments;
mod strings;
mod subject;
mod values;

/// Sizes where every size matters.
fn small_sizes() -> impl Iterator<Item = usize> {
    0..=200
}

/// The sizes round the powers of two of these exponents, where size classes end.
fn edge_sizes(exponents: std::ops::RangeInclusive<u32>) -> impl Iterator<Item = usize> {
    exponents.flat_map(|e| [(1 << e) - 1, 1 << e, (1 << e) + 1])
}
