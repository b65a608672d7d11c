//! Quantiles: between which keys of the order they are, and how they are computed from these.
//!
//! Source: Hyndman and Fan, "Sample quantiles in statistical packages" (1996), for nine of the methods.

use crate::Error;
use crate::key::{Bits, Code};

/// How a quantile is computed from the keys next to it, with the names and the results of NumPy's `quantile`.
///
/// For `n` keys with indices from 0 in their order, a quantile `q` is at an index that need not be whole. The first group takes one of
/// the keys, the second interpolates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum QuantileMethod {
    /// The first key that at least a share `q` of the keys do not exceed.
    InvertedCdf,
    /// The key whose index from 1 is nearest to `n q`; of two, the one with the even index from 1.
    ClosestObservation,
    /// The key before index `(n - 1) q`.
    Lower,
    /// The key after index `(n - 1) q`.
    Higher,
    /// The key nearest to index `(n - 1) q`; of two, the one with the even index.
    Nearest,
    /// As [`QuantileMethod::InvertedCdf`], but the mean of two keys if `n q` is whole.
    AveragedInvertedCdf,
    /// At index `n q - 1`.
    InterpolatedInvertedCdf,
    /// At index `n q - 1/2`.
    Hazen,
    /// At index `(n + 1) q - 1`.
    Weibull,
    /// At index `(n - 1) q`.
    #[default]
    Linear,
    /// At index `(n + 1/3) q - 2/3`.
    MedianUnbiased,
    /// At index `(n + 1/4) q - 5/8`.
    NormalUnbiased,
    /// The mean of the keys before and after index `(n - 1) q`.
    Midpoint,
}

/// Between which keys of the order a quantile is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct QuantilePosition {
    /// The index of the key before it.
    pub low: usize,
    /// The index of the key after it, which may be the same.
    pub high: usize,
    /// The share of the way from one to the other, from 0 to 1.
    pub share: f64,
}

impl QuantileMethod {
    /// All methods.
    pub const ALL: [QuantileMethod; 13] = [
        QuantileMethod::InvertedCdf,
        QuantileMethod::AveragedInvertedCdf,
        QuantileMethod::ClosestObservation,
        QuantileMethod::InterpolatedInvertedCdf,
        QuantileMethod::Hazen,
        QuantileMethod::Weibull,
        QuantileMethod::Linear,
        QuantileMethod::MedianUnbiased,
        QuantileMethod::NormalUnbiased,
        QuantileMethod::Lower,
        QuantileMethod::Higher,
        QuantileMethod::Midpoint,
        QuantileMethod::Nearest,
    ];

    /// NumPy's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            QuantileMethod::InvertedCdf => "inverted_cdf",
            QuantileMethod::AveragedInvertedCdf => "averaged_inverted_cdf",
            QuantileMethod::ClosestObservation => "closest_observation",
            QuantileMethod::InterpolatedInvertedCdf => "interpolated_inverted_cdf",
            QuantileMethod::Hazen => "hazen",
            QuantileMethod::Weibull => "weibull",
            QuantileMethod::Linear => "linear",
            QuantileMethod::MedianUnbiased => "median_unbiased",
            QuantileMethod::NormalUnbiased => "normal_unbiased",
            QuantileMethod::Lower => "lower",
            QuantileMethod::Higher => "higher",
            QuantileMethod::Midpoint => "midpoint",
            QuantileMethod::Nearest => "nearest",
        }
    }

    /// Whether a quantile is one of the keys.
    #[must_use]
    pub fn is_discrete(self) -> bool {
        use QuantileMethod::{ClosestObservation, Higher, InvertedCdf, Lower, Nearest};
        matches!(self, InvertedCdf | ClosestObservation | Lower | Higher | Nearest)
    }

    /// Where the quantile `q`, from 0 to 1, of `n` keys is.
    ///
    /// # Panics
    /// If there are no keys.
    ///
    /// ```
    /// let at = sortie::QuantileMethod::Linear.position(0.5, 4);
    /// assert_eq!((at.low, at.high, at.share), (1, 2, 0.5));
    /// ```
    #[must_use]
    pub fn position(self, q: f64, n: usize) -> QuantilePosition {
        assert!(n > 0, "there are no keys");
        let count = n as f64;
        let spread = (count - 1.0) * q;
        let plotted = |a: f64, b: f64| count * q + (a + q * (1.0 - a - b)) - 1.0;
        match self {
            QuantileMethod::Lower => at(spread.floor(), n),
            QuantileMethod::Higher => at(spread.ceil(), n),
            QuantileMethod::Nearest => at(spread.round_ties_even(), n),
            QuantileMethod::InvertedCdf => at((count * q - 1.0).ceil(), n),
            QuantileMethod::ClosestObservation => {
                let index = count * q - 1.0 - 0.5;
                let is_before = index == index.floor() && index.floor().rem_euclid(2.0) == 1.0;
                at(if is_before { index } else { index.floor() + 1.0 }, n)
            }
            QuantileMethod::AveragedInvertedCdf => {
                let index = count * q - 1.0;
                let share = if index == index.floor() { 0.5 } else { 1.0 };
                QuantilePosition { share, ..between(index, n) }
            }
            QuantileMethod::Midpoint => {
                let index = 0.5 * (spread.floor() + spread.ceil());
                let share = if index == index.floor() { 0.0 } else { 0.5 };
                QuantilePosition { share, ..between(index, n) }
            }
            QuantileMethod::InterpolatedInvertedCdf => between(plotted(0.0, 1.0), n),
            QuantileMethod::Hazen => between(plotted(0.5, 0.5), n),
            QuantileMethod::Weibull => between(plotted(0.0, 0.0), n),
            QuantileMethod::Linear => between(spread, n),
            QuantileMethod::MedianUnbiased => between(plotted(1.0 / 3.0, 1.0 / 3.0), n),
            QuantileMethod::NormalUnbiased => between(plotted(3.0 / 8.0, 3.0 / 8.0), n),
        }
    }
}

impl std::str::FromStr for QuantileMethod {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let all = QuantileMethod::ALL;
        all.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            let names = all.map(QuantileMethod::name).join(", ");
            Error::Unsupported(format!("there is no method {name:?} for quantiles; choose one of {names}"))
        })
    }
}

impl QuantilePosition {
    /// The quantile, where `low` and `high` are the keys at both indices.
    #[must_use]
    pub fn between(&self, low: f64, high: f64) -> f64 {
        let share = self.share;
        // Exact at both ends, also of infinite numbers.
        if low == high || share == 0.0 {
            return low;
        }
        if share == 1.0 {
            return high;
        }
        // The difference of finite numbers may be beyond the greatest number, that of their halves is not.
        let is_beyond = low.is_finite() && high.is_finite() && (high - low).is_infinite();
        let scale = if is_beyond { 2.0 } else { 1.0 };
        let (low, high) = (low / scale, high / scale);
        let step = high - low;
        scale * if share < 0.5 { low + step * share } else { high - step * (1.0 - share) }
    }
}

/// A whole index, moved to those that exist.
fn at(index: f64, n: usize) -> QuantilePosition {
    let index = (index.max(0.0) as usize).min(n - 1);
    QuantilePosition { low: index, high: index, share: 0.0 }
}

/// An index between two, moved to those that exist.
fn between(index: f64, n: usize) -> QuantilePosition {
    if index < 0.0 || index >= (n - 1) as f64 {
        return at(index, n);
    }
    let low = index.floor();
    QuantilePosition { low: low as usize, high: low as usize + 1, share: index - low }
}

/// The number with these bits. Of more than 53 significant bits, it is rounded.
pub(crate) fn to_f64<B: Bits>(bits: B, code: Code) -> f64 {
    match code {
        Code::Unsigned => magnitude(bits),
        Code::Signed if bits < B::SIGN => magnitude(bits),
        Code::Signed => -magnitude(B::ZERO.wrapping_sub(bits)),
        Code::Float { mantissa } => float_to_f64(bits, mantissa),
    }
}

fn magnitude<B: Bits>(bits: B) -> f64 {
    if B::WIDTH <= u64::BITS {
        return bits.low() as f64;
    }
    // Rounded once, by the conversion of the integer.
    (u128::from(bits.left_aligned()) << 64 | u128::from(bits.low())) as f64
}

fn float_to_f64<B: Bits>(bits: B, mantissa: u32) -> f64 {
    let bits = bits.low();
    match (B::WIDTH, mantissa) {
        (64, _) => f64::from_bits(bits),
        (32, _) => f64::from(f32::from_bits(bits as u32)),
        // The first half of an `f32`.
        (_, 7) => f64::from(f32::from_bits((bits as u32) << 16)),
        _ => {
            let (exponent, fraction) = ((bits >> mantissa) as i32 & 31, bits & 1023);
            let magnitude = match (exponent, fraction) {
                (31, 0) => f64::INFINITY,
                (31, _) => f64::NAN,
                (0, _) => fraction as f64 * 2f64.powi(-24),
                _ => (1024 + fraction) as f64 * 2f64.powi(exponent - 25),
            };
            if bits >> 15 == 1 { -magnitude } else { magnitude }
        }
    }
}

/// The number of NaNs.
pub(crate) fn count_nans<B: Bits>(keys: &[B], code: Code) -> usize {
    let Code::Float { mantissa } = code else { return 0 };
    let all = B::MAX.shr(1);
    let infinity = all.xor(B::MAX.shr(B::WIDTH - mantissa));
    keys.iter().filter(|bits| bits.and(all) > infinity).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All numbers of 16 bits, against the conversions of another crate and of std.
    #[test]
    fn numbers_keep_their_value() {
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        for bits in 0..=u16::MAX {
            #[cfg(feature = "half")]
            {
                assert!(same(to_f64(bits, Code::F16), half::f16::from_bits(bits).to_f64()), "{bits:x}");
                assert!(same(to_f64(bits, Code::BF16), half::bf16::from_bits(bits).to_f64()), "{bits:x}");
            }
            assert!(same(to_f64(bits, Code::Signed), f64::from(bits as i16)));
            let wide = u128::from(bits) << 100 | u128::from(bits);
            assert!(same(to_f64(wide, Code::Unsigned), wide as f64));
            assert!(same(to_f64(!wide, Code::Signed), !wide as i128 as f64));
        }
    }

    #[test]
    fn what_is_between_the_greatest_numbers_is_a_number() {
        let at = |share| QuantilePosition { low: 0, high: 1, share }.between(-f64::MAX, f64::MAX);
        let found = [0.0, 0.25, 0.5, 0.75, 1.0].map(at);
        assert_eq!(found, [-f64::MAX, -f64::MAX / 2.0, 0.0, f64::MAX / 2.0, f64::MAX]);
    }

    #[test]
    fn nans_are_counted() {
        let floats = [0.0, f32::INFINITY, -f32::INFINITY, f32::NAN, -f32::NAN, f32::from_bits(0x7F80_0001)];
        assert_eq!(count_nans(&floats.map(f32::to_bits), Code::F32), 3);
        assert_eq!(count_nans(&[u64::MAX], Code::F64), 1);
        assert_eq!(count_nans(&[0x7C01u16, 0x7C00, 0xFC01], Code::F16), 2);
        assert_eq!(count_nans(&[u32::MAX], Code::Unsigned), 0);
    }
}
