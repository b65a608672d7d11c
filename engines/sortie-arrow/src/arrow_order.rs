//! The order of Arrow's numbers, as codes that Sortie sorts. No other module knows it.
//!
//! - Integers are their own codes.
//! - A float's code is its bits as a signed integer. For negative floats, all bits but the sign are complemented. This gives the
//!   totalOrder of IEEE 754.
//! - Intervals and 256-bit decimals have several parts. The code joins them, the most significant first.

use std::borrow::Cow;

use arrow_buffer::{ArrowNativeType, IntervalDayTime, IntervalMonthDayNano, i256};
use half::f16;

/// A number in an Arrow array.
pub(crate) trait Native: ArrowNativeType {
    type Code: Code;

    /// What the number is sorted by.
    fn code(self) -> Self::Code;

    /// The number with this code.
    fn from_code(code: Self::Code) -> Self;

    /// The codes of numbers; the numbers themselves if they are integers.
    fn codes(numbers: &[Self]) -> Cow<'_, [Self::Code]> {
        Cow::Owned(numbers.iter().map(|number| number.code()).collect())
    }

    /// The numbers with these codes.
    fn from_codes(codes: Vec<Self::Code>) -> Vec<Self> {
        codes.into_iter().map(Self::from_code).collect()
    }
}

/// What Sortie sorts in place of a number.
pub(crate) trait Code: sortie::Key + Copy + Ord + 'static {
    /// Whether different codes have different [numbers](Code::number).
    const IS_NUMBER: bool = true;

    /// An unsigned number with the same order: for a code of more than 128 bits, that of its high 128 bits.
    fn number(self) -> u128;
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Native for $t {
            type Code = $t;
            #[inline(always)]
            fn code(self) -> $t { self }
            #[inline(always)]
            fn from_code(code: $t) -> $t { code }
            fn codes(numbers: &[$t]) -> Cow<'_, [$t]> { Cow::Borrowed(numbers) }
            fn from_codes(codes: Vec<$t>) -> Vec<$t> { codes }
        }
    )*};
}
integers!(u8, u16, u32, u64, i8, i16, i32, i64, i128);

macro_rules! codes {
    ($($t:ty as $unsigned:ty, $flip:expr;)*) => {$(
        impl Code for $t {
            #[inline(always)]
            fn number(self) -> u128 { (self as $unsigned ^ $flip) as u128 }
        }
    )*};
}
codes! {
    u8 as u8, 0;
    u16 as u16, 0;
    u32 as u32, 0;
    u64 as u64, 0;
    u128 as u128, 0;
    i8 as u8, 1 << 7;
    i16 as u16, 1 << 15;
    i32 as u32, 1 << 31;
    i64 as u64, 1 << 63;
    i128 as u128, 1 << 127;
}

macro_rules! floats {
    ($($float:ty as $code:ty, $bits:ty;)*) => {$(
        impl Native for $float {
            type Code = $code;
            #[inline(always)]
            fn code(self) -> $code {
                let bits = self.to_bits() as $code;
                bits ^ ((bits >> (<$code>::BITS - 1)) as $bits >> 1) as $code
            }
            #[inline(always)]
            fn from_code(code: $code) -> $float {
                let bits = code ^ ((code >> (<$code>::BITS - 1)) as $bits >> 1) as $code;
                <$float>::from_bits(bits as $bits)
            }
        }
    )*};
}
floats! {
    f16 as i16, u16;
    f32 as i32, u32;
    f64 as i64, u64;
}

/// Turns the order of signed integers into that of unsigned ones, and back.
const SIGN: u32 = 1 << 31;
const SIGN_64: u64 = 1 << 63;

impl Native for IntervalDayTime {
    type Code = i64;

    #[inline]
    fn code(self) -> i64 {
        i64::from(self.days) << 32 | i64::from(self.milliseconds as u32 ^ SIGN)
    }

    #[inline]
    fn from_code(code: i64) -> Self {
        IntervalDayTime::new((code >> 32) as i32, (code as u32 ^ SIGN) as i32)
    }
}

impl Native for IntervalMonthDayNano {
    type Code = i128;

    #[inline]
    fn code(self) -> i128 {
        let days = i128::from(self.days as u32 ^ SIGN);
        i128::from(self.months) << 96 | days << 64 | i128::from(self.nanoseconds as u64 ^ SIGN_64)
    }

    #[inline]
    fn from_code(code: i128) -> Self {
        let days = ((code >> 64) as u32 ^ SIGN) as i32;
        IntervalMonthDayNano::new((code >> 96) as i32, days, (code as u64 ^ SIGN_64) as i64)
    }
}

impl Native for i256 {
    type Code = (i128, u128);

    #[inline]
    fn code(self) -> (i128, u128) {
        let (low, high) = self.to_parts();
        (high, low)
    }

    #[inline]
    fn from_code((high, low): (i128, u128)) -> Self {
        i256::from_parts(low, high)
    }
}

impl Code for (i128, u128) {
    const IS_NUMBER: bool = false;

    #[inline]
    fn number(self) -> u128 {
        self.0.number()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The codes of numbers in ascending order ascend, as numbers do, and lead back to the bits.
    fn ascend<N: Native>(numbers: &[N], bits: impl Fn(N) -> i256) {
        let codes = N::codes(numbers);
        assert!(codes.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(codes.windows(2).all(|pair| pair[0].number() <= pair[1].number()));
        assert!(!N::Code::IS_NUMBER || codes.windows(2).all(|pair| pair[0].number() < pair[1].number()));
        let back = N::from_codes(codes.to_vec());
        assert!(numbers.iter().zip(back).all(|(&number, back)| bits(number) == bits(back)));
    }

    #[test]
    fn floats_have_total_order() {
        let doubles =
            [-f64::NAN, f64::NEG_INFINITY, -1.5, -5e-324, -0.0, 0.0, 5e-324, 1.5, f64::INFINITY, f64::NAN];
        assert!(doubles.is_sorted_by(|a, b| a.total_cmp(b).is_lt()));
        ascend(&doubles, |x| i256::from_i128(x.to_bits().into()));
        let singles =
            [-f32::NAN, f32::NEG_INFINITY, -1.5, -1e-45, -0.0, 0.0, 1e-45, 1.5, f32::INFINITY, f32::NAN];
        ascend(&singles, |x| i256::from_i128(x.to_bits().into()));
        let halves =
            [-f16::NAN, f16::NEG_INFINITY, f16::NEG_ONE, f16::NEG_ZERO, f16::ZERO, f16::ONE, f16::NAN];
        ascend(&halves, |x| i256::from_i128(x.to_bits().into()));
    }

    #[test]
    fn numbers_of_several_parts_are_ordered_by_the_first() {
        let times = [(i32::MIN, 5), (-1, i32::MAX), (0, i32::MIN), (0, -1), (0, 0), (0, 1), (i32::MAX, 0)];
        ascend(&times.map(|(days, ms)| IntervalDayTime::new(days, ms)), |t| {
            i256::from_parts(t.milliseconds as u32 as u128, t.days.into())
        });
        let spans = [
            (-1, 9, 9),
            (0, i32::MIN, 9),
            (0, -1, i64::MAX),
            (0, 0, i64::MIN),
            (0, 0, -1),
            (0, 0, 0),
            (i32::MAX, 0, 0),
        ];
        ascend(&spans.map(|(months, days, nanos)| IntervalMonthDayNano::new(months, days, nanos)), |t| {
            i256::from_parts(
                t.nanoseconds as u64 as u128,
                i128::from(t.months) << 32 | i128::from(t.days as u32),
            )
        });
        ascend(
            &[i256::MIN, i256::MINUS_ONE, i256::ZERO, i256::ONE, i256::from_parts(0, 1), i256::MAX],
            |x| x,
        );
    }

    #[test]
    fn integers_keep_their_order_as_numbers() {
        ascend(&[i8::MIN, -1, 0, 1, i8::MAX], |x| i256::from_i128(x.into()));
        ascend(&[i128::MIN, -1, 0, 1, i128::MAX], i256::from_i128);
        ascend(&[0, 1, u64::MAX], |x| i256::from_i128(x.into()));
    }
}
