//! Checks that a file holds the items of another one, in order. Reads each file once and needs little memory:
//! neighbours are compared to check the order, and a sum of hashes that does not depend on the order identifies the
//! items.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::path::Path;

/// The items of a file.
#[derive(Debug, Clone)]
pub enum Content {
    /// Lines, compared by their bytes.
    Lines,
    /// Records of `size` bytes, compared by the bytes `key`.
    Records { size: usize, key: Range<usize> },
    /// 64-bit numbers, little-endian.
    U64,
}

/// The number of items and the sum of their hashes. They are equal for two files with the same items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sum {
    items: u64,
    hashes: u128,
}

/// The sum of a file, and whether the file is in order.
pub fn look(path: &Path, content: &Content) -> std::io::Result<(Sum, bool)> {
    let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
    let (mut sum, mut in_order) = (Sum { items: 0, hashes: 0 }, true);
    let (mut item, mut last) = (Vec::new(), Vec::new());
    while next(&mut file, content, &mut item)? {
        sum = Sum { items: sum.items + 1, hashes: sum.hashes.wrapping_add(hash(&item)) };
        in_order &= sum.items == 1 || !comes_before(&item, &last, content);
        std::mem::swap(&mut item, &mut last);
    }
    Ok((sum, in_order))
}

fn next(file: &mut impl BufRead, content: &Content, item: &mut Vec<u8>) -> std::io::Result<bool> {
    item.clear();
    let size = match content {
        Content::Lines => return Ok(file.read_until(b'\n', item)? > 0),
        Content::Records { size, .. } => *size,
        Content::U64 => size_of::<u64>(),
    };
    match file.take(size as u64).read_to_end(item)? {
        0 => Ok(false),
        read if read == size => Ok(true),
        _ => Err(std::io::ErrorKind::UnexpectedEof.into()),
    }
}

fn comes_before(a: &[u8], b: &[u8], content: &Content) -> bool {
    match content {
        Content::Lines => a.strip_suffix(b"\n").unwrap_or(a) < b.strip_suffix(b"\n").unwrap_or(b),
        Content::Records { key, .. } => a[key.clone()] < b[key.clone()],
        Content::U64 => a.iter().rev().lt(b.iter().rev()),
    }
}

/// A hash of all bytes and their positions. For every 8 bytes, it multiplies once and mixes the halves of the product.
fn hash(item: &[u8]) -> u128 {
    let mut hash = item.len() as u128;
    for word in item.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..word.len()].copy_from_slice(word);
        let mixed = (hash as u64 ^ u64::from_le_bytes(bytes)) | 1 << 63;
        hash ^= u128::from(mixed).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835).rotate_left(64);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(bytes: &[u8], content: &Content) -> (Sum, bool) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        look(file.path(), content).unwrap()
    }

    #[test]
    fn order_is_told() {
        let records = Content::Records { size: 3, key: 0..2 };
        for (content, right, wrong) in [
            (Content::Lines, &b"a\na\nab\nb\n"[..], &b"a\nab\na\nb\n"[..]),
            (records, b"aaxabbbbx", b"abbaaxbbx"),
            (Content::U64, b"\x02\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0", b"\0\x01\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"),
        ] {
            assert!(looked(right, &content).1, "{content:?}");
            assert!(!looked(wrong, &content).1, "{content:?}");
            assert_eq!(looked(right, &content).0, looked(wrong, &content).0, "{content:?}");
        }
    }

    #[test]
    fn content_is_told() {
        let original = looked(b"abcdefghij\nb\nb\n", &Content::Lines).0;
        for other in [
            "abcdefghij\nb\n",
            "abcdefghij\nb\nc\n",
            "abcdefgihj\nb\nb\n",
            "abcdefghij\nabcdefghij\nb\n",
            "abcdefghijb\n\nb\n",
        ] {
            assert_ne!(looked(other.as_bytes(), &Content::Lines).0, original, "{other:?}");
        }
    }
}
