//! Keys that are sequences of other keys.

use std::cmp::{Ordering, Reverse};
use std::num::NonZero;
use std::sync::Arc;

#[cfg(feature = "half")]
use half::{bf16, f16};

use super::{Form, KeyBy, Order, TotalOrder, sealed};

/// A key whose slices are keys: any but `u8`, whose slices are strings.
pub trait Element: TotalOrder {}

macro_rules! elements {
    ($($(#[$when:meta])? $t:ty),*) => {$(
        $(#[$when])?
        impl Element for $t {}
    )*};
}
elements! {
    u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, #[cfg(feature = "half")] f16, #[cfg(feature = "half")] bf16, f32, f64, char, bool,
    NonZero<u16>, NonZero<u32>, NonZero<u64>, NonZero<i16>, NonZero<i32>, NonZero<i64>, NonZero<usize>, &str, String, &[u8], Vec<u8>
}
impl<const N: usize> Element for [u8; N] {}
impl<K: TotalOrder> Element for Option<K> {}
impl<K: TotalOrder> Element for Reverse<K> {}
impl<K: KeyBy> Element for K {}

macro_rules! tuples {
    ($($name:ident)+) => { impl<$($name: TotalOrder),+> Element for ($($name,)+) {} };
}
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);

/// Sequences by their first elements that differ. One that another begins with comes before it, or after it in descending order.
macro_rules! sequences {
    ($($t:ty),*) => {$(
        impl<T: Element> Element for $t {}
        impl<T: Element> sealed::Sealed for $t {}
        impl<T: Element> TotalOrder for $t {
            type Bits = u8;
            const FORM: Form = Form::Wide;
            const PREFIX_BITS: u32 = 64;
            const IS_PREFIX: bool = false;
            fn compare(&self, other: &Self, order: Order) -> Ordering {
                let pairs = self.iter().zip(other.iter());
                let differ = pairs.map(|(a, b)| a.compare(b, order)).find(|ordering| ordering.is_ne());
                differ.unwrap_or_else(|| order.direct(self.len().cmp(&other.len())))
            }
            fn prefix(&self, order: Order) -> u64 {
                first_elements(self, order)
            }
        }
    )*};
}
sequences!(&[T], Vec<T>, Box<[T]>, Arc<[T]>);

/// The first bits of a sequence: before each element a bit that is not that of the end, then the bits of its code.
fn first_elements<T: Element>(elements: &[T], order: Order) -> u64 {
    let more = u64::from(!order.descending) << 63;
    let (mut code, mut filled) = (0, 0);
    for element in elements {
        code |= more >> filled;
        filled += 1;
        if filled < u64::BITS {
            code |= element.prefix(order) >> filled;
        }
        filled += T::PREFIX_BITS;
        if !T::IS_PREFIX || filled >= u64::BITS {
            return code;
        }
    }
    code | (more ^ 1 << 63) >> filled
}
