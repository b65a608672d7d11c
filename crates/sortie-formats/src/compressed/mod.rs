//! Compressed files. Their first bytes tell the format.
//!
//! A compressed file is a sequence of *members*, each complete in itself: a gzip member, a BGZF block, a zstd or lz4
//! frame, an xz or bzip2 stream. [`Members`] makes sure that a file ends at the end of a member.

mod blocks;
mod members;
mod tap;

use std::path::Path;

pub use members::Members;

/// A compression format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Gzip,
    /// gzip in blocks of 64 KiB, which sequencing tools can access randomly.
    Bgzf,
    Zstd,
    Xz,
    Bzip2,
    Lz4,
}

/// The formats with their names and file extensions. The first extension is the usual one.
const WAYS: [(Way, &str, &[&str]); 6] = [
    (Way::Gzip, "gzip", &["gz", "gzip"]),
    (Way::Bgzf, "bgzf", &["bgz", "bgzf"]),
    (Way::Zstd, "zstd", &["zst", "zstd"]),
    (Way::Xz, "xz", &["xz"]),
    (Way::Bzip2, "bzip2", &["bz2", "bzip2"]),
    (Way::Lz4, "lz4", &["lz4"]),
];

/// The number of bytes that [`Way::of`] and [`Way::or_bgzf`] need.
pub const HEAD: usize = 16;

impl Way {
    /// The name of the format, which is also that of its program.
    #[must_use]
    pub fn name(self) -> &'static str {
        WAYS.iter().find(|(way, ..)| *way == self).map_or("", |(_, name, _)| name)
    }

    /// The format that the extension of a file name means, if any.
    #[must_use]
    pub fn of_name(name: &Path) -> Option<Way> {
        let extension = name.extension()?;
        let has = |extensions: &[&str]| extensions.iter().any(|own| extension.eq_ignore_ascii_case(own));
        WAYS.iter().find(|(.., extensions)| has(extensions)).map(|(way, ..)| *way)
    }

    /// The format of a file that begins with `head`, if it is compressed. BGZF counts as gzip here.
    ///
    /// The check includes more bytes than the magic number of a format, because a text or an array could begin
    /// with the magic number too.
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Way> {
        match *head {
            // The method is deflate, and flags, level and system have no reserved values.
            [0x1F, 0x8B, 8, flags, _, _, _, _, level, system, ..] => {
                let is_gzip =
                    flags & 0xE0 == 0 && matches!(level, 0 | 2 | 4) && matches!(system, 0..=13 | 255);
                is_gzip.then_some(Way::Gzip)
            }
            [0x1F, 0x8B, 8, ..] => Some(Way::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Way::Zstd),
            // A frame without data; `pzstd` begins files with one.
            [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Way::Zstd),
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(Way::Xz),
            // The level, then the first digits of pi in front of a block, or of its square root if there is no
            // block.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => Some(Way::Bzip2),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => Some(Way::Bzip2),
            [0x04, 0x22, 0x4D, 0x18] => Some(Way::Lz4),
            [0x04, 0x22, 0x4D, 0x18, flags, ..] if flags >> 6 == 1 => Some(Way::Lz4),
            _ => None,
        }
    }

    /// BGZF if this is gzip and the file begins with `head`, else the format itself. A block of BGZF has an extra field.
    #[must_use]
    pub fn or_bgzf(self, head: &[u8]) -> Way {
        match head.first_chunk::<HEAD>() {
            Some([_, _, _, 4, .., b'B', b'C', 2, 0]) if self == Way::Gzip => Way::Bgzf,
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that are shorter than a magic number, or that only begin like one, are text.
    #[test]
    fn text_is_not_compressed() {
        for head in ["", "B", "BZh", "BZh91AY&S", "BZhang\nChen", "PK\x03\x04"] {
            assert_eq!(Way::of(head.as_bytes()), None, "{head:?}");
        }
        assert_eq!(Way::of(b"\x1F\x8B\x08\xFF\0\0\0\0\0\0"), None);
        assert_eq!(Way::of(b"\x1F\x8B\x08\0\x07\0\0\0\x06\0"), None);
    }
}
