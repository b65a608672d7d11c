//! The order of every key type, as order-preserving bits. No other module knows it.
//!
//! One total order, the same on every engine: integers by value; floats ascending with -0.0 before +0.0 and
//! every NaN last in both directions (or first, on request); `false` before `true`; strings by bytes; tuples
//! left to right; `None` where [`Nulls`] puts it.
//!
//! Fixed-width keys have a bijection onto unsigned integers of their width, the [`Transform`], under which
//! the unsigned order is the order of the keys. All engines sort those codes.

use std::cmp::Ordering;
use std::fmt::Debug;

mod mapped;
mod sequences;
mod types;

pub use mapped::KeyBy;
pub use types::Number;

use crate::Error;

/// Where NaN keys go, whatever the direction, and whether they are told apart.
///
/// [`Last`](Nans::Last) and [`First`](Nans::First) are one total order: among NaNs, those without the sign bit come first,
/// ascending by their bits, then those with it, descending. So NaNs with different bits are different keys, and a stable sort
/// may change their order. With [`EqualLast`](Nans::EqualLast) and [`EqualFirst`](Nans::EqualFirst), all NaNs are equal, and a
/// stable sort keeps their order, as NumPy's stable sorts do:
///
/// ```
/// use sortie::{Nans, Sorter};
///
/// # fn main() -> Result<(), sortie::Error> {
/// let keys = [-f64::NAN, 1.0, f64::NAN];
/// let mut indices = [0u32; 3];
/// Sorter::builder().build()?.argsort(&keys, &mut indices)?;
/// assert_eq!(indices, [1, 2, 0]);
/// Sorter::builder().nans(Nans::EqualLast).build()?.argsort(&keys, &mut indices)?;
/// assert_eq!(indices, [1, 0, 2]);
/// # Ok(())
/// # }
/// ```
///
/// NaNs always keep their bits. Equal NaNs come out in any order if only keys are sorted or if the sort need not be stable. A
/// GPU cannot sort pairs or indices stably with equal NaNs: such a request returns [`Error::Unsupported`](crate::Error). In
/// rows of [`columns`](crate::columns), and in keys [compared](crate::gpu::Compared) on a GPU, NaNs are always told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Nans {
    /// After every number, in the order of their bits.
    #[default]
    Last,
    /// Before every number, in the order of their bits.
    First,
    /// After every number, equal to each other.
    EqualLast,
    /// Before every number, equal to each other.
    EqualFirst,
}

impl Nans {
    fn are_first(self) -> bool {
        matches!(self, Nans::First | Nans::EqualFirst)
    }

    fn are_equal(self) -> bool {
        matches!(self, Nans::EqualLast | Nans::EqualFirst)
    }

    /// The same position, with different NaNs for different bits.
    #[cfg(feature = "gpu")]
    pub(crate) fn told_apart(self) -> Nans {
        if self.are_first() { Nans::First } else { Nans::Last }
    }
}

/// Where `None` keys and null cells go, whatever the direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Nulls {
    /// After every value.
    #[default]
    Last,
    /// Before every value.
    First,
}

/// The direction of a sort, and where NaNs and nulls go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Order {
    /// Largest first.
    pub descending: bool,
    /// Where NaNs go.
    pub nans: Nans,
    /// Where `None` goes.
    pub nulls: Nulls,
}

impl Order {
    /// Smallest first, with NaNs and nulls last: the default.
    pub const ASCENDING: Order = Order { descending: false, nans: Nans::Last, nulls: Nulls::Last };

    /// Largest first, with NaNs and nulls last.
    pub const DESCENDING: Order = Order { descending: true, ..Order::ASCENDING };

    /// Whether keys of this code can be equal although their bits differ.
    #[inline]
    pub(crate) fn ties_nans(self, code: Code) -> bool {
        self.nans.are_equal() && code.is_float()
    }

    /// Returns an error if keys of this code may be NaNs that count as equal. A GPU cannot sort those stably.
    #[cfg(feature = "gpu")]
    pub(crate) fn carries_on_gpu(self, code: Code) -> Result<(), Error> {
        if code.is_float() { self.tells_nans_apart() } else { Ok(()) }
    }

    /// The same for keys that may be NaNs.
    pub(crate) fn tells_nans_apart(self) -> Result<(), Error> {
        if !self.nans.are_equal() {
            return Ok(());
        }
        Err(Error::Unsupported(
            "a GPU does not treat NaNs as equal; choose Nans::Last or Nans::First, allow unstable(), or use the CPU engine".into(),
        ))
    }

    /// Reverses a comparison if the order is descending.
    #[inline]
    pub(crate) fn direct(self, ordering: Ordering) -> Ordering {
        if self.descending { ordering.reverse() } else { ordering }
    }
}

/// A type whose order is the same on every engine. Every such type is a [`Key`](crate::Key).
#[diagnostic::on_unimplemented(
    message = "Sortie does not define an order for `{Self}`",
    note = "`KeyBy` makes a type of yours a key; `sort_by_key` sorts by a key computed from items, and `sort_by` by a comparison"
)]
pub trait TotalOrder: Send + Sync + sealed::Sealed {
    /// How `self` compares with `other` in the given order.
    fn compare(&self, other: &Self, order: Order) -> Ordering;

    /// The unsigned integer that holds the code of a fixed-width key; `u8`, unused, for the others.
    #[doc(hidden)]
    type Bits: Bits;

    /// How an engine obtains the order.
    #[doc(hidden)]
    const FORM: Form;

    /// How many leading bits of [`TotalOrder::prefix`] carry the order; 64 if the key may be longer.
    #[doc(hidden)]
    const PREFIX_BITS: u32;

    /// Whether keys with equal prefixes are equal.
    #[doc(hidden)]
    const IS_PREFIX: bool;

    /// The first bits of the key's code, left-aligned: `a.prefix() < b.prefix()` implies `a < b`.
    #[doc(hidden)]
    fn prefix(&self, order: Order) -> u64;

    /// Whether [`TotalOrder::of_prefix`] recovers keys from their prefixes.
    #[doc(hidden)]
    fn is_recovered(_: Order) -> bool {
        false
    }

    /// The key with this prefix, if keys are [recovered](TotalOrder::is_recovered). Bits after the prefix are ignored. `None` if no
    /// key has that prefix.
    #[doc(hidden)]
    fn of_prefix(_: u64, _: Order) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// The bytes of a key whose form is [`Form::Bytes`].
    #[doc(hidden)]
    fn bytes(&self) -> &[u8] {
        unreachable!("only keys of form Bytes are asked for their bytes")
    }
}

mod sealed {
    pub trait Sealed {}
}

/// How an engine obtains a key's order.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As an unsigned integer of the key's width, under the [`Transform`] of this code.
    Bits(Code),
    /// As a string of bytes.
    Bytes,
    /// By its prefix, then by [`TotalOrder::compare`].
    Wide,
}

/// Conditions for `if const { .. }`, which spares the compiler the code for other forms. A plain `match` would compile the sort
/// of strings for every type of number.
impl Form {
    pub(crate) const fn is_number(self) -> bool {
        matches!(self, Form::Bits(_))
    }

    pub(crate) const fn is_float(self) -> bool {
        matches!(self, Form::Bits(Code::Float { .. }))
    }

    pub(crate) const fn is_bytes(self) -> bool {
        matches!(self, Form::Bytes)
    }

    pub(crate) const fn is_wide(self) -> bool {
        matches!(self, Form::Wide)
    }

    /// What the bits of a number mean.
    #[inline]
    pub(crate) fn code(self) -> Code {
        let Form::Bits(code) = self else { unreachable!("only numbers have a code") };
        code
    }
}

/// What the bits of a fixed-width key mean.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    Unsigned,
    /// Two's complement.
    Signed,
    /// IEEE 754 layout with this many bits of mantissa.
    Float {
        mantissa: u32,
    },
}

impl Code {
    pub(crate) const F16: Code = Code::Float { mantissa: 10 };
    pub(crate) const BF16: Code = Code::Float { mantissa: 7 };
    pub(crate) const F32: Code = Code::Float { mantissa: 23 };
    pub(crate) const F64: Code = Code::Float { mantissa: 52 };

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Code::Float { .. })
    }

    /// The bits of positive infinity and of a quiet NaN, of floats of this width.
    #[cfg(feature = "gpu")]
    pub(crate) fn infinity_and_nan(self, width: u32) -> Option<(u64, u64)> {
        let Code::Float { mantissa } = self else { return None };
        // The largest exponent and no mantissa. NaNs have a mantissa; a quiet one has its highest bit.
        let infinity = ((1 << (width - 1 - mantissa)) - 1) << mantissa;
        Some((infinity, infinity | 1 << (mantissa - 1)))
    }
}

/// An unsigned integer that holds the code of a fixed-width key.
#[doc(hidden)]
pub trait Bits: bytemuck::Pod + Ord + Eq + Debug + Default + Send + Sync {
    const WIDTH: u32;
    const ZERO: Self;
    const MAX: Self;
    const SIGN: Self;
    /// Whether no float has this width. A condition of `if const { .. }`, which spares the compiler the code for floats.
    const OF_INTEGERS: bool = Self::WIDTH == u8::BITS || Self::WIDTH == u128::BITS;
    fn xor(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn wrapping_add(self, other: Self) -> Self;
    fn wrapping_sub(self, other: Self) -> Self;
    fn shr(self, bits: u32) -> Self;
    fn shl(self, bits: u32) -> Self;
    /// All ones if the sign bit is set, else zero.
    fn sign_mask(self) -> Self;
    fn leading_zeros(self) -> u32;
    /// The low 64 bits.
    fn low(self) -> u64;
    /// The value of the low bits of `x`.
    fn from_low(x: u64) -> Self;
    /// The code left-aligned in 64 bits. A wider code loses its low bits.
    fn left_aligned(self) -> u64;
    /// The code that [`Bits::left_aligned`] aligned. Bits after it are ignored.
    fn of_left_aligned(x: u64) -> Self;
    /// Appends the big-endian bytes.
    fn push_be(self, bytes: &mut Vec<u8>);
    /// The number whose big-endian bytes come first, if there are enough of them.
    fn read_be(bytes: &[u8]) -> Option<Self>;
}

macro_rules! bits {
    ($($t:ty: $signed:ty),*) => {$(
        impl Bits for $t {
            const WIDTH: u32 = <$t>::BITS;
            const ZERO: Self = 0;
            const MAX: Self = <$t>::MAX;
            const SIGN: Self = 1 << (<$t>::BITS - 1);
            #[inline(always)]
            fn xor(self, other: Self) -> Self { self ^ other }
            #[inline(always)]
            fn and(self, other: Self) -> Self { self & other }
            #[inline(always)]
            fn or(self, other: Self) -> Self { self | other }
            #[inline(always)]
            fn wrapping_add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn shr(self, bits: u32) -> Self { self >> bits }
            #[inline(always)]
            fn shl(self, bits: u32) -> Self { self << bits }
            #[inline(always)]
            fn sign_mask(self) -> Self { ((self as $signed) >> (<$t>::BITS - 1)) as $t }
            #[inline(always)]
            fn leading_zeros(self) -> u32 { self.leading_zeros() }
            #[inline(always)]
            fn low(self) -> u64 { self as u64 }
            #[inline(always)]
            fn from_low(x: u64) -> Self { x as $t }
            #[inline(always)]
            fn left_aligned(self) -> u64 {
                if <$t>::BITS > 64 { (self >> (<$t>::BITS.saturating_sub(64))) as u64 }
                else { (self as u64) << (64 - if <$t>::BITS > 64 { 64 } else { <$t>::BITS }) }
            }
            #[inline(always)]
            fn of_left_aligned(x: u64) -> Self {
                if <$t>::BITS > 64 { (x as $t) << (<$t>::BITS.saturating_sub(64)) }
                else { (x >> (64 - if <$t>::BITS > 64 { 64 } else { <$t>::BITS })) as $t }
            }
            #[inline]
            fn push_be(self, bytes: &mut Vec<u8>) { bytes.extend_from_slice(&self.to_be_bytes()) }
            #[inline]
            fn read_be(bytes: &[u8]) -> Option<Self> { bytes.first_chunk().map(|c| Self::from_be_bytes(*c)) }
        }
    )*};
}
bits!(u8: i8, u16: i16, u32: i32, u64: i64, u128: i128);

/// The bijection between a fixed-width key's own bits and its code, whose unsigned order is the key's order.
///
/// Integers: one exclusive-or. Floats: the usual order-preserving code (flip the sign bit of positives, all
/// bits of negatives) less the number of negative NaNs, wrapping, so that the negative NaNs join the positive
/// ones at the top; descending complements the range of the numbers alone.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Transform<B> {
    flip: B,
    float: bool,
    /// The largest mantissa, which is also the number of NaNs of each sign.
    nans: B,
    /// The code of the last number.
    top: B,
    descending: bool,
    /// Whether all NaNs share one code, so that their bits cannot be recovered from it.
    ties_nans: bool,
    /// Added last, so that NaNs wrap around to the bottom if they go first.
    rotate: B,
}

impl<B: Bits> Transform<B> {
    /// The transform of keys that already are codes: it changes nothing.
    pub(crate) const IDENTITY: Self = Transform {
        flip: B::ZERO,
        float: false,
        nans: B::ZERO,
        top: B::MAX,
        descending: false,
        ties_nans: false,
        rotate: B::ZERO,
    };

    #[inline]
    pub(crate) fn new(code: Code, order: Order) -> Self {
        let mut t = Transform { descending: order.descending, ..Self::IDENTITY };
        match code {
            Code::Unsigned | Code::Signed => {
                if code == Code::Signed {
                    t.flip = B::SIGN;
                }
                if order.descending {
                    t.flip = t.flip.xor(B::MAX);
                }
            }
            Code::Float { mantissa } => {
                t.float = true;
                t.nans = B::MAX.shr(B::WIDTH - mantissa);
                let both = t.nans.wrapping_add(t.nans);
                t.top = B::MAX.wrapping_sub(both);
                if order.nans.are_first() {
                    t.rotate = both;
                }
            }
        }
        t
    }

    /// The codes by which keys compare. If NaNs are equal, they share one code, and the transform is not a bijection.
    #[inline]
    pub(crate) fn comparing(code: Code, order: Order) -> Self {
        Transform { ties_nans: order.ties_nans(code), ..Transform::new(code, order) }
    }

    /// The same transform of the type that has this width.
    pub(crate) fn same<L: Bits>(&self) -> Transform<L> {
        let [flip, nans, top, rotate] = [self.flip, self.nans, self.top, self.rotate].map(bytemuck::cast);
        let Transform { float, descending, ties_nans, .. } = *self;
        Transform { flip, float, nans, top, descending, ties_nans, rotate }
    }

    /// Whether keys can be recovered from their codes.
    pub(crate) fn is_bijection(&self) -> bool {
        !self.ties_nans
    }

    /// The parameters of GPU kernels: `flip`, `nans`, `top` and `rotate`. Keys of 128 bits are integers and have no NaNs, so
    /// the upper half of `flip` takes the place of `nans`.
    #[cfg(feature = "gpu")]
    pub(crate) fn numbers(&self) -> [u64; 4] {
        let [flip, nans, top, rotate] = [self.flip, self.nans, self.top, self.rotate].map(Bits::low);
        let second = if B::WIDTH > u64::BITS { self.flip.left_aligned() } else { nans };
        [flip, second, top, rotate]
    }

    /// Whether keys are their own codes.
    pub(crate) fn is_identity(&self) -> bool {
        !self.float && self.flip == B::ZERO
    }

    /// Whether keys are signed integers in ascending order.
    pub(crate) fn is_signed(&self) -> bool {
        !self.float && self.flip == B::SIGN
    }

    /// Whether keys are integers.
    pub(crate) fn is_integer(&self) -> bool {
        !self.float
    }

    /// [`Transform::encode`] for integers.
    #[inline(always)]
    pub(crate) fn encode_integer(&self, bits: B) -> B {
        bits.xor(self.flip)
    }

    /// The code of a key's bits.
    #[inline(always)]
    pub(crate) fn encode(&self, bits: B) -> B {
        if self.is_integer() {
            return self.encode_integer(bits);
        }
        let mut code = self.complement(self.encode_plain_float(bits));
        if self.ties_nans {
            code = code.min(self.top.wrapping_add(B::from_low(1)));
        }
        code.wrapping_add(self.rotate)
    }

    /// Whether keys are floats in the order that needs the fewest steps.
    pub(crate) fn is_plain_float(&self) -> bool {
        self.float && !self.descending && !self.ties_nans && self.rotate == B::ZERO
    }

    /// [`Transform::encode`] for such floats.
    #[inline(always)]
    pub(crate) fn encode_plain_float(&self, bits: B) -> B {
        bits.xor(bits.sign_mask().or(B::SIGN)).wrapping_sub(self.nans)
    }

    /// The bits of the key with this code, if the transform is a bijection.
    #[inline(always)]
    pub(crate) fn decode(&self, code: B) -> B {
        if !self.float {
            return code.xor(self.flip);
        }
        let usual = self.complement(code.wrapping_sub(self.rotate)).wrapping_add(self.nans);
        usual.xor(usual.xor(B::MAX).sign_mask().or(B::SIGN))
    }

    /// The keys whose codes are at most this one.
    pub(crate) fn up_to(&self, code: B) -> UpTo<B> {
        if self.is_integer() {
            return UpTo { float: false, flip: self.flip, from: B::ZERO, more: code };
        }
        // Codes of ascending floats whose NaNs are last: numbers, and then NaNs.
        let nan = self.top.wrapping_add(B::from_low(1));
        let (from, more) = if self.rotate == B::ZERO {
            match (code > self.top, self.descending) {
                (true, _) if self.ties_nans => (B::ZERO, B::MAX),
                (false, true) => (self.top.wrapping_sub(code), code),
                _ => (B::ZERO, code),
            }
        } else if code < self.rotate {
            (nan, if self.ties_nans { self.rotate.wrapping_sub(B::from_low(1)) } else { code })
        } else if self.descending {
            (self.top.wrapping_sub(code.wrapping_sub(self.rotate)), code)
        } else {
            (nan, code)
        };
        UpTo { float: true, flip: B::ZERO, from: from.wrapping_add(self.nans), more }
    }

    #[inline(always)]
    fn complement(&self, code: B) -> B {
        if self.descending && code <= self.top { self.top.wrapping_sub(code) } else { code }
    }

    pub(crate) fn encode_slice(&self, keys: &mut [B]) {
        if !self.is_identity() {
            // These codes are decoded again, so NaNs must not be tied. With the constant, the compiler removes the code that
            // ties them.
            let exact = Transform { ties_nans: false, ..*self };
            keys.iter_mut().for_each(|k| *k = exact.encode(*k));
        }
    }

    pub(crate) fn decode_slice(&self, keys: &mut [B]) {
        if !self.is_identity() {
            keys.iter_mut().for_each(|k| *k = self.decode(*k));
        }
    }
}

/// Keys with which an order begins, for a filter of few steps: those whose bits are in an interval, which may wrap around, after
/// all bits but the sign of negative floats were flipped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UpTo<B> {
    pub float: bool,
    /// Bits of integers that are flipped.
    pub flip: B,
    /// The first of the interval.
    pub from: B,
    /// How many follow it.
    pub more: B,
}

impl<B: Bits> UpTo<B> {
    #[inline(always)]
    pub(crate) fn contains(&self, bits: B) -> bool {
        let flip = if self.float { bits.sign_mask().or(B::SIGN) } else { self.flip };
        bits.xor(flip).wrapping_sub(self.from) <= self.more
    }
}

/// The keys as the unsigned integers of their width. Only for keys of form [`Form::Bits`].
pub(crate) fn as_bits<K: TotalOrder>(keys: &[K]) -> &[K::Bits] {
    assert_bits::<K>();
    // SAFETY: size and alignment are equal, and every bit pattern is a valid `K::Bits`.
    unsafe { std::slice::from_raw_parts(keys.as_ptr().cast(), keys.len()) }
}

/// One key as the unsigned integer of its width.
pub(crate) fn to_bits<K: TotalOrder>(key: &K) -> K::Bits {
    as_bits(std::slice::from_ref(key))[0]
}

/// The keys as the unsigned integers of their width. Only for keys of form [`Form::Bits`].
///
/// # Safety
/// The caller must leave valid keys in the slice, such as a permutation of what was there.
pub(crate) unsafe fn as_bits_mut<K: TotalOrder>(keys: &mut [K]) -> &mut [K::Bits] {
    assert_bits::<K>();
    // SAFETY: size and alignment are equal; the caller leaves valid keys.
    unsafe { std::slice::from_raw_parts_mut(keys.as_mut_ptr().cast(), keys.len()) }
}

fn assert_bits<K: TotalOrder>() {
    const {
        assert!(!matches!(K::FORM, Form::Bits(_)) || size_of::<K>() == size_of::<K::Bits>());
        assert!(!matches!(K::FORM, Form::Bits(_)) || align_of::<K>() == align_of::<K::Bits>());
    }
    assert!(matches!(K::FORM, Form::Bits(_)), "key has no fixed-width code");
}

/// A type for indices: `u32`, `u64` or `usize`.
pub trait Index: Copy + Send + Sync + Default + Debug + sealed::Sealed + 'static {
    /// The largest index that it holds.
    const LARGEST: u64;
    /// `i`, which is at most [`Index::LARGEST`].
    fn from_usize(i: usize) -> Self;
    /// The same number.
    fn to_usize(self) -> usize;
    /// The indices as `u32` or `u64`, by their width.
    #[doc(hidden)]
    fn by_width(indices: &mut [Self]) -> Indices<'_>;
}

pub(crate) fn index_fits<I: Index>(n: usize) -> Result<(), Error> {
    if n as u64 <= I::LARGEST {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "the indices of {n} elements do not fit in {} bits; use wider indices",
        8 * size_of::<I>()
    )))
}

/// Indices of either width.
#[derive(Debug)]
pub enum Indices<'a> {
    Narrow(&'a mut [u32]),
    Wide(&'a mut [u64]),
}

macro_rules! indices {
    ($($t:ty),*) => {$(
        impl Index for $t {
            const LARGEST: u64 = <$t>::MAX as u64;
            #[inline(always)]
            fn from_usize(i: usize) -> Self { i as $t }
            #[inline(always)]
            fn to_usize(self) -> usize { self as usize }
            fn by_width(indices: &mut [Self]) -> Indices<'_> {
                match size_of::<$t>() {
                    4 => Indices::Narrow(bytemuck::cast_slice_mut(indices)),
                    _ => Indices::Wide(bytemuck::cast_slice_mut(indices)),
                }
            }
        }
    )*};
}
indices!(u32, u64, usize);

#[cfg(test)]
mod tests;
