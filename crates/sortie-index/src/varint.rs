//! Variable-length numbers: 7 bits a byte, least significant first. The high bit says that more bytes follow.

/// The maximum number of bytes of an encoded number.
pub const LONGEST: usize = 10;

pub fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the front. `None` if it is cut short or has more than 64 bits.
#[inline]
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        *bytes = rest;
        return Some(first.into());
    }
    take_long(bytes)
}

fn take_long(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for (place, &byte) in bytes.iter().enumerate().take(LONGEST) {
        let bits = u64::from(byte & 0x7F);
        if place == LONGEST - 1 && bits > 1 {
            return None;
        }
        number |= bits << (7 * place);
        if byte < 0x80 {
            *bytes = &bytes[place + 1..];
            return Some(number);
        }
    }
    None
}

/// The number of bytes that a number takes.
pub fn length(number: u64) -> usize {
    (64 - (number | 1).leading_zeros() as usize).div_ceil(7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_put_is_taken(number in any::<u64>(), bits in 0u32..64, after in any::<u8>()) {
            let number = number >> bits;
            let mut bytes = Vec::new();
            put(number, &mut bytes);
            prop_assert_eq!(bytes.len(), length(number));
            let (mut cut, whole) = (&bytes[..bytes.len() - 1], bytes.clone());
            prop_assert_eq!(take(&mut cut), None);
            bytes.push(after);
            let mut rest = &bytes[..];
            prop_assert_eq!(take(&mut rest), Some(number));
            prop_assert_eq!(rest, &bytes[whole.len()..]);
        }

        #[test]
        fn any_bytes_are_a_number_or_none(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
            let mut rest = &bytes[..];
            if take(&mut rest).is_none() {
                prop_assert_eq!(rest, &bytes[..]);
            }
        }
    }
}
