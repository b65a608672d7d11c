//! Decimal numbers of any length, without rounding.

/// The largest exponent, so that sums of exponents and lengths do not overflow.
const LARGEST_EXPONENT: i64 = 1 << 50;

/// The class of a number, in order. Bytes that no class has are left for nulls.
const NEGATIVE_INFINITY: u8 = 2;
const NEGATIVE: u8 = 3;
const ZERO: u8 = 4;
const POSITIVE: u8 = 5;
const INFINITY: u8 = 6;

/// Exponents nearer to zero than this take one byte.
const SHORT: i64 = 100;
const MIDDLE: u8 = 128;

/// What a text says that may be a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number<'t> {
    /// `nan`.
    Missing,
    Infinite {
        negative: bool,
    },
    Finite(Decimal<'t>),
}

/// The number `0.DIGITS * 10^exponent`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decimal<'t> {
    pub negative: bool,
    /// The digits in two parts, without zeros before the first other digit or after the last. None for zero.
    digits: [&'t [u8]; 2],
    pub exponent: i64,
}

impl<'t> Number<'t> {
    /// Reads `12`, `-0.5`, `+.5e-3`, `inf` or `nan`. Blanks around it are left out.
    pub fn read(text: &'t [u8]) -> Option<Number<'t>> {
        let text = text.trim_ascii();
        let (negative, rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let is = |words: &[&str]| words.iter().any(|word| rest.eq_ignore_ascii_case(word.as_bytes()));
        match rest.first()? {
            b'0'..=b'9' | b'.' => Decimal::read(negative, rest).map(Number::Finite),
            _ if is(&["inf", "infinity"]) => Some(Number::Infinite { negative }),
            _ if is(&["nan"]) => Some(Number::Missing),
            _ => None,
        }
    }

    /// Appends bytes that compare as numbers do, whatever follows them. The first of them is neither 0 nor more than 251, also if
    /// all are complemented. Nothing if the number is missing.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Number::Missing => {}
            Number::Infinite { negative: true } => out.push(NEGATIVE_INFINITY),
            Number::Infinite { negative: false } => out.push(INFINITY),
            Number::Finite(decimal) => decimal.encode(out),
        }
    }
}

impl<'t> Decimal<'t> {
    fn read(negative: bool, text: &'t [u8]) -> Option<Decimal<'t>> {
        let (whole, rest) = split_digits(text);
        let (fraction, rest) = match rest {
            [b'.', rest @ ..] => split_digits(rest),
            rest => (&[][..], rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let exponent = match rest {
            [] => 0,
            [b'e' | b'E', rest @ ..] => exponent(rest)?,
            _ => return None,
        };
        Some(Decimal::of(negative, whole, fraction, exponent))
    }

    /// The number `WHOLE.FRACTION * 10^exponent`.
    fn of(negative: bool, whole: &'t [u8], fraction: &'t [u8], exponent: i64) -> Decimal<'t> {
        let whole = without_leading_zeros(whole);
        let mut digits = [whole, without_trailing_zeros(fraction)];
        let mut exponent = exponent + whole.len() as i64;
        if digits[0].is_empty() {
            let significant = without_leading_zeros(digits[1]);
            exponent -= (digits[1].len() - significant.len()) as i64;
            digits[1] = significant;
        }
        if digits[1].is_empty() {
            digits[0] = without_trailing_zeros(digits[0]);
        }
        if digits.iter().all(|part| part.is_empty()) {
            return Decimal { negative: false, digits, exponent: 0 };
        }
        Decimal { negative, digits, exponent }
    }

    pub fn is_zero(&self) -> bool {
        self.digits.iter().all(|part| part.is_empty())
    }

    /// The digits, as numbers.
    pub fn digits(&self) -> impl Iterator<Item = u8> + Clone + use<'t> {
        let [first, second] = self.digits;
        first.iter().chain(second).map(|digit| digit - b'0')
    }

    fn encode(&self, out: &mut Vec<u8>) {
        if self.is_zero() {
            return out.push(ZERO);
        }
        out.push(if self.negative { NEGATIVE } else { POSITIVE });
        let start = out.len();
        push_exponent(self.exponent, out);
        push_pairs(self.digits(), out);
        if self.negative {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }
}

fn push_exponent(exponent: i64, out: &mut Vec<u8>) {
    if exponent.abs() < SHORT {
        out.push((i64::from(MIDDLE) + exponent) as u8);
    } else {
        out.push(if exponent < 0 { 0 } else { u8::MAX });
        out.extend_from_slice(&((exponent as u64) ^ (1 << 63)).to_be_bytes());
    }
}

/// Appends digits in pairs that compare as a fraction does, and their end. Zeros at the end must have been left out.
pub fn push_pairs(mut digits: impl Iterator<Item = u8>, out: &mut Vec<u8>) {
    while let Some(high) = digits.next() {
        out.push(1 + 10 * high + digits.next().unwrap_or(0));
    }
    out.push(0);
}

/// The digits at the start of a text, and its rest.
pub fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

fn without_leading_zeros(digits: &[u8]) -> &[u8] {
    &digits[digits.iter().take_while(|&&digit| digit == b'0').count()..]
}

pub fn without_trailing_zeros(digits: &[u8]) -> &[u8] {
    &digits[..digits.len() - digits.iter().rev().take_while(|&&digit| digit == b'0').count()]
}

fn exponent(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    let (digits, rest) = split_digits(digits);
    if digits.is_empty() || !rest.is_empty() {
        return None;
    }
    let exponent: i64 = str::from_utf8(without_leading_zeros(digits))
        .ok()?
        .parse()
        .or_else(|_| {
            // No digits are left of zeros.
            if without_leading_zeros(digits).is_empty() { Ok(0) } else { Err(()) }
        })
        .ok()?;
    (exponent <= LARGEST_EXPONENT).then_some(sign * exponent)
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use num_bigint::BigInt;
    use proptest::prelude::*;

    use super::*;

    fn encoded(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        Number::read(text.as_bytes()).unwrap_or_else(|| panic!("{text}")).encode(&mut out);
        out
    }

    /// Both numbers as integers, after multiplying them by the same power of ten.
    fn compared(a: (&str, &str, i32), b: (&str, &str, i32)) -> Ordering {
        let scaled = |(whole, fraction, exponent): (&str, &str, i32)| {
            let digits: BigInt = format!("{whole}{fraction}").parse().unwrap();
            digits * BigInt::from(10).pow((100 + exponent - fraction.len() as i32) as u32)
        };
        scaled(a).cmp(&scaled(b))
    }

    proptest! {
        #[test]
        fn encodings_compare_as_big_integers_do(
            a in ("-?[0-9]{1,25}", "[0-9]{0,25}", -50i32..50),
            b in ("-?[0-9]{1,25}", "[0-9]{0,25}", -50i32..50),
            zeros in 0usize..4,
        ) {
            let text = |(whole, fraction, exponent): &(String, String, i32), zeros: usize| {
                let (sign, digits) = whole.strip_prefix('-').map_or(("", &whole[..]), |digits| ("-", digits));
                format!("{sign}{}{digits}.{fraction}{}e{exponent}", "0".repeat(zeros), "0".repeat(zeros))
            };
            let expected = compared((&a.0, &a.1, a.2), (&b.0, &b.1, b.2));
            prop_assert_eq!(encoded(&text(&a, zeros)).cmp(&encoded(&text(&b, 0))), expected);
            prop_assert_eq!(encoded(&text(&a, zeros)), encoded(&text(&a, 0)));
        }
    }

    #[test]
    fn numbers_are_in_order() {
        let ascending = [
            "-inf",
            "-1e1000000",
            "-1e3",
            "-999.5",
            "-1",
            "-1e-400",
            "0",
            "1e-400",
            ".5",
            "1",
            "1.00000000000000000001",
            "5",
            "501",
            "1E+3",
            "18446744073709551616",
            "18446744073709551617",
            "1e1000000",
            "+Infinity",
        ];
        let codes: Vec<_> = ascending.iter().map(|text| encoded(text)).collect();
        assert!(codes.is_sorted_by(|a, b| a < b));
        assert!(codes.iter().all(|code| code[0] > 1 && code[0] < 252));
        // No encoding is a prefix of another.
        for a in &codes {
            assert!(codes.iter().all(|b| a == b || !b.starts_with(a)));
        }
        for (a, b) in [
            ("00501", "501"),
            ("-0", "0"),
            ("0e9", "-0.00"),
            ("+5", "5."),
            (" 12\t", "1.2e1"),
            ("1e3", "1000"),
            ("1e00000000000000000000000003", "1000"),
            (".0500", "5e-2"),
        ] {
            assert_eq!(encoded(a), encoded(b), "{a}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "",
            "-",
            ".",
            "e5",
            "1e",
            "1e+",
            "1.2.3",
            "0x10",
            "1,000",
            "--1",
            "1 2",
            "infinit",
            "5%",
            "1e99999999999999999999",
        ] {
            assert_eq!(Number::read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Number::read(b"NaN"), Some(Number::Missing));
    }
}
