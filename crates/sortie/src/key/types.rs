//! The order of each key type.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::num::NonZero;
use std::sync::Arc;

#[cfg(feature = "half")]
use half::{bf16, f16};

use super::{Bits, Code, Form, Nulls, Order, TotalOrder, Transform, sealed};

/// A key of fixed width, as a cell of a [column](crate::columns): an integer, which may be [`NonZero`], a float, a `bool` or a `char`.
pub trait Number: TotalOrder + Copy {
    /// What the bits mean.
    #[doc(hidden)]
    const CODE: Code;
    #[doc(hidden)]
    fn to_bits(self) -> Self::Bits;
    /// The number with these bits; `None` if no number of the type has them.
    #[doc(hidden)]
    fn from_bits(bits: Self::Bits) -> Option<Self>;
}

macro_rules! fixed {
    ($($(#[$when:meta])? $t:ty as $bits:ty, $code:expr, $raw:expr, $back:expr;)*) => {$(
        $(#[$when])?
        impl sealed::Sealed for $t {}
        $(#[$when])?
        impl Number for $t {
            const CODE: Code = $code;
            #[inline]
            fn to_bits(self) -> $bits { $raw(self) }
            #[inline]
            fn from_bits(bits: $bits) -> Option<Self> { $back(bits) }
        }
        $(#[$when])?
        impl TotalOrder for $t {
            type Bits = $bits;
            const FORM: Form = {
                // `gpu/array/compared.rs` compares the halves of wider codes as integers.
                assert!(<$bits>::BITS <= 64 || !matches!($code, Code::Float { .. }), "a float of over 64 bits");
                Form::Bits($code)
            };
            const PREFIX_BITS: u32 = if <$bits>::BITS > 64 { 64 } else { <$bits>::BITS };
            const IS_PREFIX: bool = <$bits>::BITS <= 64;
            #[inline]
            fn compare(&self, other: &Self, order: Order) -> Ordering {
                let t = Transform::<$bits>::comparing($code, order);
                t.encode($raw(*self)).cmp(&t.encode($raw(*other)))
            }
            #[inline]
            fn prefix(&self, order: Order) -> u64 {
                Transform::<$bits>::comparing($code, order).encode($raw(*self)).left_aligned()
            }
            #[inline]
            fn is_recovered(order: Order) -> bool {
                Self::IS_PREFIX && !order.ties_nans($code)
            }
            #[inline]
            fn of_prefix(prefix: u64, order: Order) -> Option<Self> {
                $back(Transform::<$bits>::new($code, order).decode(<$bits>::of_left_aligned(prefix)))
            }
        }
    )*
        /// The tests of all these types.
        #[cfg(test)]
        pub(super) const FIXED_KEYS: &[fn()] = &[$(super::tests::is_a_fixed_key::<$t>),*];
    };
}

#[cfg(target_pointer_width = "64")]
type Word = u64;
#[cfg(target_pointer_width = "32")]
type Word = u32;

fixed! {
    u8 as u8, Code::Unsigned, std::convert::identity, Some;
    u16 as u16, Code::Unsigned, std::convert::identity, Some;
    u32 as u32, Code::Unsigned, std::convert::identity, Some;
    u64 as u64, Code::Unsigned, std::convert::identity, Some;
    u128 as u128, Code::Unsigned, std::convert::identity, Some;
    usize as Word, Code::Unsigned, |x: usize| x as Word, |b| Some(b as usize);
    i8 as u8, Code::Signed, |x: i8| x as u8, |b| Some(b as i8);
    i16 as u16, Code::Signed, |x: i16| x as u16, |b| Some(b as i16);
    i32 as u32, Code::Signed, |x: i32| x as u32, |b| Some(b as i32);
    i64 as u64, Code::Signed, |x: i64| x as u64, |b| Some(b as i64);
    i128 as u128, Code::Signed, |x: i128| x as u128, |b| Some(b as i128);
    isize as Word, Code::Signed, |x: isize| x as Word, |b| Some(b as isize);
    #[cfg(feature = "half")]
    f16 as u16, Code::F16, f16::to_bits, |b| Some(f16::from_bits(b));
    #[cfg(feature = "half")]
    bf16 as u16, Code::BF16, bf16::to_bits, |b| Some(bf16::from_bits(b));
    f32 as u32, Code::F32, f32::to_bits, |b| Some(f32::from_bits(b));
    f64 as u64, Code::F64, f64::to_bits, |b| Some(f64::from_bits(b));
    char as u32, Code::Unsigned, u32::from, char::from_u32;
    bool as u8, Code::Unsigned, u8::from, |b| [false, true].get(usize::from(b)).copied();
    NonZero<u8> as u8, Code::Unsigned, NonZero::get, NonZero::new;
    NonZero<u16> as u16, Code::Unsigned, NonZero::get, NonZero::new;
    NonZero<u32> as u32, Code::Unsigned, NonZero::get, NonZero::new;
    NonZero<u64> as u64, Code::Unsigned, NonZero::get, NonZero::new;
    NonZero<u128> as u128, Code::Unsigned, NonZero::get, NonZero::new;
    NonZero<usize> as Word, Code::Unsigned, |x: NonZero<usize>| x.get() as Word, |b| NonZero::new(b as usize);
    NonZero<i8> as u8, Code::Signed, |x: NonZero<i8>| x.get() as u8, |b| NonZero::new(b as i8);
    NonZero<i16> as u16, Code::Signed, |x: NonZero<i16>| x.get() as u16, |b| NonZero::new(b as i16);
    NonZero<i32> as u32, Code::Signed, |x: NonZero<i32>| x.get() as u32, |b| NonZero::new(b as i32);
    NonZero<i64> as u64, Code::Signed, |x: NonZero<i64>| x.get() as u64, |b| NonZero::new(b as i64);
    NonZero<i128> as u128, Code::Signed, |x: NonZero<i128>| x.get() as u128, |b| NonZero::new(b as i128);
    NonZero<isize> as Word, Code::Signed, |x: NonZero<isize>| x.get() as Word, |b| NonZero::new(b as isize);
}

/// The first eight bytes as a big-endian number. Shorter strings are padded with zeros.
#[inline(always)]
pub(crate) fn first_eight(bytes: &[u8]) -> u64 {
    match bytes.first_chunk::<8>() {
        Some(eight) => u64::from_be_bytes(*eight),
        None => bytes.iter().enumerate().fold(0, |code, (i, &b)| code | u64::from(b) << (56 - 8 * i)),
    }
}

impl<const N: usize> sealed::Sealed for [u8; N] {}
impl<const N: usize> TotalOrder for [u8; N] {
    type Bits = u8;
    const FORM: Form = Form::Wide;
    const PREFIX_BITS: u32 = if N < 8 { 8 * N as u32 } else { 64 };
    const IS_PREFIX: bool = N <= 8;
    #[inline]
    fn compare(&self, other: &Self, order: Order) -> Ordering {
        order.direct(self.cmp(other))
    }
    #[inline(always)]
    fn prefix(&self, order: Order) -> u64 {
        let used = if N < 8 { !(u64::MAX >> (8 * N)) } else { u64::MAX };
        first_eight(self) ^ if order.descending { used } else { 0 }
    }
    #[inline]
    fn is_recovered(_: Order) -> bool {
        Self::IS_PREFIX
    }
    #[inline(always)]
    fn of_prefix(prefix: u64, order: Order) -> Option<Self> {
        let bytes = (prefix ^ if order.descending { u64::MAX } else { 0 }).to_be_bytes();
        bytes.first_chunk().copied()
    }
}

macro_rules! strings {
    ($($t:ty: $bytes:expr;)*) => {$(
        impl sealed::Sealed for $t {}
        impl TotalOrder for $t {
            type Bits = u8;
            const FORM: Form = Form::Bytes;
            const PREFIX_BITS: u32 = 64;
            const IS_PREFIX: bool = false;
            fn compare(&self, other: &Self, order: Order) -> Ordering {
                order.direct(self.bytes().cmp(other.bytes()))
            }
            fn prefix(&self, order: Order) -> u64 {
                first_eight(self.bytes()) ^ if order.descending { u64::MAX } else { 0 }
            }
            fn bytes(&self) -> &[u8] {
                let bytes: fn(&Self) -> &[u8] = $bytes;
                bytes(self)
            }
        }
    )*};
}
strings! {
    &str: |s| s.as_bytes();
    String: |s| s.as_bytes();
    &[u8]: |s| s;
    Vec<u8>: |s| s;
    Box<str>: |s| s.as_bytes();
    Box<[u8]>: |s| s;
    Arc<str>: |s| s.as_bytes();
    Arc<[u8]>: |s| s;
    Cow<'_, str>: |s| s.as_bytes();
    Cow<'_, [u8]>: |s| s;
    &OsStr: |s| s.as_encoded_bytes();
    OsString: |s| s.as_encoded_bytes();
}

impl<K: TotalOrder> sealed::Sealed for Option<K> {}
impl<K: TotalOrder> TotalOrder for Option<K> {
    type Bits = u8;
    const FORM: Form = Form::Wide;
    const PREFIX_BITS: u32 = if K::PREFIX_BITS < 64 { K::PREFIX_BITS + 1 } else { 64 };
    const IS_PREFIX: bool = K::IS_PREFIX && K::PREFIX_BITS < 64;
    fn compare(&self, other: &Self, order: Order) -> Ordering {
        let none_first = order.nulls == Nulls::First;
        match (self, other) {
            (Some(a), Some(b)) => a.compare(b, order),
            (None, None) => Ordering::Equal,
            (None, Some(_)) if none_first => Ordering::Less,
            (Some(_), None) if !none_first => Ordering::Less,
            _ => Ordering::Greater,
        }
    }
    fn prefix(&self, order: Order) -> u64 {
        let last = |is: bool| u64::from(is) << 63;
        match self {
            Some(key) => last(order.nulls == Nulls::First) | key.prefix(order) >> 1,
            None => last(order.nulls == Nulls::Last),
        }
    }
    #[inline]
    fn is_recovered(order: Order) -> bool {
        Self::IS_PREFIX && K::is_recovered(order)
    }
    #[inline]
    fn of_prefix(prefix: u64, order: Order) -> Option<Self> {
        let is_last = prefix >> 63 == 1;
        if is_last == (order.nulls == Nulls::Last) {
            Some(None)
        } else {
            K::of_prefix(prefix << 1, order).map(Some)
        }
    }
}

macro_rules! tuples {
    ($($name:ident $field:tt),+) => {
        impl<$($name: TotalOrder),+> sealed::Sealed for ($($name,)+) {}
        impl<$($name: TotalOrder),+> TotalOrder for ($($name,)+) {
            type Bits = u8;
            const FORM: Form = Form::Wide;
            const PREFIX_BITS: u32 = {
                let bits = 0 $(+ $name::PREFIX_BITS)+;
                if bits < 64 { bits } else { 64 }
            };
            const IS_PREFIX: bool = (true $(&& $name::IS_PREFIX)+) && 0 $(+ $name::PREFIX_BITS)+ <= 64;
            #[inline]
            fn compare(&self, other: &Self, order: Order) -> Ordering {
                Ordering::Equal $(.then_with(|| self.$field.compare(&other.$field, order)))+
            }
            fn prefix(&self, order: Order) -> u64 {
                let (mut code, mut filled) = (0, 0);
                $(
                    if filled < 64 {
                        code |= self.$field.prefix(order) >> filled;
                        filled += $name::PREFIX_BITS;
                    }
                )+
                let _ = filled;
                code
            }
            #[inline]
            fn is_recovered(order: Order) -> bool {
                Self::IS_PREFIX $(&& $name::is_recovered(order))+
            }
            #[inline]
            fn of_prefix(prefix: u64, order: Order) -> Option<Self> {
                let mut filled = 0;
                let key = ($({
                    let field = $name::of_prefix(prefix.checked_shl(filled).unwrap_or(0), order)?;
                    filled += $name::PREFIX_BITS;
                    field
                },)+);
                let _ = filled;
                Some(key)
            }
        }
    };
}
tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);
