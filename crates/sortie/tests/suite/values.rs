//! Keys made from the numbers of a pattern, and their order, defined as plainly as possible.

use std::cmp::Ordering;
use std::fmt::Debug;

use half::{bf16, f16};
use sortie::{Key, Nans, Nulls, Order};

pub trait Value: Key + Clone + Debug {
    /// Different numbers with this many bits make different keys, except for floats, which round.
    const BITS: u32;

    /// The key of a number; larger numbers make larger keys.
    fn from_number(x: u64) -> Self;

    /// How it compares with another key; equal keys cannot be told apart.
    fn plain(&self, other: &Self, order: Order) -> Ordering;
}

fn direct(ordering: Ordering, order: Order) -> Ordering {
    if order.descending { ordering.reverse() } else { ordering }
}

macro_rules! ordered {
    ($($t:ty, $bits:expr, $from:expr;)*) => {$(
        impl Value for $t {
            const BITS: u32 = $bits;
            fn from_number(x: u64) -> Self { $from(x) }
            fn plain(&self, other: &Self, order: Order) -> Ordering { direct(self.cmp(other), order) }
        }
    )*};
}
ordered! {
    u8, 8, |x| x as u8;
    u16, 16, |x| x as u16;
    u32, 32, |x| x as u32;
    u64, 64, |x| x;
    // The low half of the number goes to the low half of the key, so that either half may decide.
    u128, 64, |x: u64| u128::from(x >> 32) << 96 | u128::from(x as u32) << 3;
    usize, 32, |x| x as usize;
    i8, 8, |x| (x ^ 1 << 7) as i8;
    i16, 16, |x| (x ^ 1 << 15) as i16;
    i32, 32, |x| (x ^ 1 << 31) as i32;
    i64, 64, |x| (x ^ 1 << 63) as i64;
    i128, 64, |x: u64| (u128::from((x ^ 1 << 63) >> 32) << 96 | u128::from(x as u32) << 3) as i128;
    isize, 32, |x: u64| x as isize - (1 << 31);
    bool, 1, |x| x == 1;
    char, 15, |x| char::from_u32(x as u32).unwrap();
    [u8; 8], 64, |x: u64| x.to_be_bytes();
    [u8; 0], 1, |_| [];
    [u8; 3], 24, |x: u64| *x.to_be_bytes().last_chunk().unwrap();
    [u8; 16], 64, |x: u64| (u128::from(x >> 32) << 96 | u128::from(x as u32)).to_be_bytes();
    String, 64, |x| format!("{x:020}");
}

macro_rules! floats {
    ($($t:ty: $bits:expr;)*) => {$(
        impl Value for $t {
            const BITS: u32 = $bits;
            fn from_number(x: u64) -> Self {
                let number = x as f64 - (1u64 << ($bits - 1)) as f64;
                Floating::from_f64(number * 1.5)
            }
            fn plain(&self, other: &Self, order: Order) -> Ordering {
                let nans_first = order.nans == Nans::First;
                match (self.is_nan(), other.is_nan()) {
                    (false, false) => direct(self.total_cmp(other), order),
                    // Positive NaNs come before negative ones, each ordered by their bits.
                    (true, true) => {
                        self.is_sign_negative().cmp(&other.is_sign_negative()).then(self.total_cmp(other))
                    }
                    (nan, _) => if nan == nans_first { Ordering::Less } else { Ordering::Greater },
                }
            }
        }
    )*};
}
floats! {
    f16: 16;
    bf16: 16;
    f32: 32;
    f64: 64;
}

trait Floating {
    fn from_f64(x: f64) -> Self;
}
impl Floating for f16 {
    fn from_f64(x: f64) -> Self {
        f16::from_f64(x)
    }
}
impl Floating for bf16 {
    fn from_f64(x: f64) -> Self {
        bf16::from_f64(x)
    }
}
impl Floating for f32 {
    fn from_f64(x: f64) -> Self {
        x as f32
    }
}
impl Floating for f64 {
    fn from_f64(x: f64) -> Self {
        x
    }
}

impl<K: Value> Value for Option<K> {
    const BITS: u32 = K::BITS;
    /// About one number in sixteen becomes `None`.
    fn from_number(x: u64) -> Self {
        (!x.is_multiple_of(17)).then(|| K::from_number(x))
    }
    fn plain(&self, other: &Self, order: Order) -> Ordering {
        let nulls_first = order.nulls == Nulls::First;
        match (self, other) {
            (Some(a), Some(b)) => a.plain(b, order),
            (None, None) => Ordering::Equal,
            (a, _) => {
                if a.is_none() == nulls_first {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
        }
    }
}

impl<A: Value, B: Value> Value for (A, B) {
    const BITS: u32 = 16;
    /// The high byte becomes the left field, so that both fields matter.
    fn from_number(x: u64) -> Self {
        (
            A::from_number((x >> 8).min(u64::MAX >> (64 - A::BITS))),
            B::from_number(x & 0xff >> 8u32.saturating_sub(B::BITS)),
        )
    }
    fn plain(&self, other: &Self, order: Order) -> Ordering {
        self.0.plain(&other.0, order).then_with(|| self.1.plain(&other.1, order))
    }
}

/// The keys of a pattern.
pub fn keys<K: Value>(numbers: &[u64]) -> Vec<K> {
    numbers.iter().map(|&x| K::from_number(x)).collect()
}

/// The indices of `0..n` in order by std's stable sort. Not generic: the sort is compiled once for all keys.
pub fn indices_by(n: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..n).collect();
    indices.sort_by(|&i, &j| compare(i, j));
    indices
}

/// The indices of the keys in order.
pub fn indices<K: Value>(keys: &[K], order: Order) -> Vec<usize> {
    indices_by(keys.len(), &|i, j| keys[i].plain(&keys[j], order))
}

/// Calls a generic function once for each type of key: those of fixed width, all others, or a few of both.
macro_rules! for_each_key {
    (fixed $call:ident $arguments:tt) => {
        $crate::values::for_each_key!(@ $call $arguments u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128,
            isize, half::f16, half::bf16, f32, f64, bool, char)
    };
    (wide $call:ident $arguments:tt) => {
        $crate::values::for_each_key!(@ $call $arguments [u8; 3], [u8; 8], [u8; 16], String, Option<f32>, (u32, u32),
            (Option<u8>, (f32, bool)))
    };
    (few $call:ident $arguments:tt) => {
        $crate::values::for_each_key!(@ $call $arguments u8, i64, f32, u128, Option<f32>, (u32, u32))
    };
    (@ $call:ident $arguments:tt $($t:ty),*) => {
        $($call::<$t> $arguments;)*
    };
}
pub(crate) use for_each_key;
