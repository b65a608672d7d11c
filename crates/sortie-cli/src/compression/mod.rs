//! Compressed files. The first bytes of an input tell its format. `--compress` or else the name of an output decides
//! how it is compressed.
//!
//! A compressed file is a sequence of *members*, each complete in itself: a gzip member, a BGZF block, a zstd or lz4
//! frame, an xz or bzip2 stream. So pieces of an output can be compressed in parallel. `members.rs` makes sure that
//! an input ends at the end of a member.

mod encode;
mod members;
mod packer;
mod source;

use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use crate::failure::Failure;
use crate::quote;
pub use packer::Packer;
pub use source::{Source, head, is_compressed, reader};

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

/// The properties of a format.
struct About {
    way: Way,
    name: &'static str,
    /// The file extension, and another that is also in use.
    extensions: [&'static str; 2],
    levels: RangeInclusive<i32>,
    /// The default level of the format's own program.
    usual: i32,
    /// The number of bytes to compress as one piece. Larger pieces compress better, smaller ones take less
    /// memory.
    piece: usize,
}

static WAYS: [About; 6] = [
    About {
        way: Way::Gzip,
        name: "gzip",
        extensions: ["gz", "gzip"],
        levels: 1..=9,
        usual: 6,
        piece: 256 << 10,
    },
    About {
        way: Way::Bgzf,
        name: "bgzf",
        extensions: ["bgz", "bgzf"],
        levels: 1..=9,
        usual: 6,
        piece: 4 * encode::BGZF_BLOCK,
    },
    About {
        way: Way::Zstd,
        name: "zstd",
        extensions: ["zst", "zstd"],
        levels: 1..=22,
        usual: 3,
        piece: 1 << 20,
    },
    About { way: Way::Xz, name: "xz", extensions: ["xz", "xz"], levels: 0..=9, usual: 6, piece: 1 << 20 },
    // Slightly less than one bzip2 block, which holds at most 900 kB.
    About {
        way: Way::Bzip2,
        name: "bzip2",
        extensions: ["bz2", "bzip2"],
        levels: 1..=9,
        usual: 9,
        piece: 890_000,
    },
    About { way: Way::Lz4, name: "lz4", extensions: ["lz4", "lz4"], levels: 1..=1, usual: 1, piece: 1 << 20 },
];

impl Way {
    fn about(self) -> &'static About {
        WAYS.iter().find(|about| about.way == self).expect("the table has every way")
    }

    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// The format that the extension of a file name means, if any.
    pub fn of_name(name: &Path) -> Option<Way> {
        let extension = name.extension()?;
        let has = |about: &&About| about.extensions.iter().any(|own| extension.eq_ignore_ascii_case(own));
        WAYS.iter().find(has).map(|about| about.way)
    }

    /// The format of a file that begins with `head`, if it is compressed. BGZF counts as gzip here.
    ///
    /// The check includes more bytes than the magic number of a format, because a text or an array could begin
    /// with the magic number too.
    fn of(head: &[u8]) -> Option<Way> {
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
    fn or_bgzf(self, head: &[u8]) -> Way {
        match head.first_chunk::<HEAD>() {
            Some([_, _, _, 4, .., b'B', b'C', 2, 0]) if self == Way::Gzip => Way::Bgzf,
            _ => self,
        }
    }
}

/// The number of bytes that [`Way::of`] and [`Way::or_bgzf`] need.
const HEAD: usize = 16;

/// A format that is recognised but not supported.
struct Unread {
    name: &'static str,
    magic: &'static [u8],
    /// The command that decompresses such a file to standard output.
    decompress: &'static str,
}

const UNREAD: [Unread; 2] = [
    Unread { name: "compress", magic: b"\x1F\x9D", decompress: "gzip -dc" },
    Unread { name: "zip", magic: b"PK\x03\x04", decompress: "unzip -p" },
];

/// File extensions that mean a format which is not written, and the format: the single files and archives of other
/// compressors, and compressed archives of `tar`.
const UNWRITTEN: [(&str, &str); 15] = [
    ("Z", "compress"),
    ("zip", "zip"),
    ("7z", "7z"),
    ("rar", "rar"),
    ("br", "brotli"),
    ("lz", "lzip"),
    ("lzma", "lzma"),
    ("lzo", "lzop"),
    ("sz", "snappy"),
    ("tgz", "tar and gzip"),
    ("tbz", "tar and bzip2"),
    ("tbz2", "tar and bzip2"),
    ("txz", "tar and xz"),
    ("tzst", "tar and zstd"),
    ("tlz", "tar and lzma"),
];

/// Fails if a file that begins with `head` has a format that is not supported.
pub fn refuse(head: &[u8], name: &Path) -> Result<(), Failure> {
    let Some(Unread { name: way, decompress, .. }) = UNREAD.iter().find(|way| head.starts_with(way.magic))
    else {
        return Ok(());
    };
    let (file, from) = match is_stdin(name) {
        true => ("standard input".into(), String::new()),
        false => (quote::name(name), format!(" {}", quote::name(name))),
    };
    Err(Failure::new(format!(
        "{file} is compressed with {way}, which is not supported; decompress it first: {decompress}{from} | sortie ..."
    )))
}

/// Whether this name means standard input in messages.
fn is_stdin(name: &Path) -> bool {
    name == Path::new("-") || name == Path::new("standard input")
}

/// The format and level of a compressed output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression {
    pub way: Way,
    level: i32,
}

/// The value of `--compress`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// No compression, whatever the name of the output.
    Plain,
    Compressed(Compression),
}

impl FromStr for Asked {
    type Err = String;

    /// `FORMAT[:LEVEL]`.
    fn from_str(text: &str) -> Result<Asked, String> {
        if text == "none" {
            return Ok(Asked::Plain);
        }
        let (name, level) = text.split_once(':').map_or((text, None), |(name, level)| (name, Some(level)));
        let Some(about) = WAYS.iter().find(|about| about.name == name) else {
            let names: Vec<_> = WAYS.iter().map(|about| about.name).collect();
            return Err(format!("the format must be {} or none", names.join(", ")));
        };
        let level = match level {
            None => about.usual,
            Some(level) => {
                level.parse::<i32>().ok().filter(|level| about.levels.contains(level)).ok_or_else(|| {
                    let (least, most) = (about.levels.start(), about.levels.end());
                    if least == most {
                        format!("Sortie writes {name} at one level only; remove :{level}")
                    } else {
                        format!("{name} has the levels {least} to {most}")
                    }
                })?
            }
        };
        Ok(Asked::Compressed(Compression { way: about.way, level }))
    }
}

impl Compression {
    /// How to compress an output: as `asked` says, or else as its name ends. `bgzf` says whether `.gz` and gzip mean
    /// BGZF.
    pub fn of(
        asked: Option<Asked>,
        output: Option<&Path>,
        bgzf: bool,
    ) -> Result<Option<Compression>, Failure> {
        let compression = match (asked, output) {
            (Some(Asked::Plain), _) | (None, None) => None,
            (Some(Asked::Compressed(compression)), _) => Some(compression),
            (None, Some(output)) => Compression::of_name(output)?,
        };
        Ok(compression.map(|compression| match compression.way {
            Way::Gzip if bgzf => Compression { way: Way::Bgzf, ..compression },
            _ => compression,
        }))
    }

    fn of_name(output: &Path) -> Result<Option<Compression>, Failure> {
        let Some(extension) = output.extension() else { return Ok(None) };
        if let Some((_, name)) = UNWRITTEN.iter().find(|(own, _)| extension.eq_ignore_ascii_case(own)) {
            return Err(Failure::new(format!(
                "{}: an output cannot be compressed with {name}; end its name in .gz, .bgz, .zst, .xz, .bz2 or .lz4, or give \
                 --compress=none",
                quote::name(output)
            )));
        }
        Ok(Way::of_name(output).map(|way| Compression { way, level: way.about().usual }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_output_says_how_it_is_compressed() {
        let way = |name: &str, bgzf| {
            Compression::of(None, Some(Path::new(name)), bgzf).unwrap().map(|compression| compression.way)
        };
        for about in &WAYS {
            for extension in about.extensions {
                assert_eq!(way(&format!("x.{extension}"), false), Some(about.way));
                assert_eq!(way(&format!("x.{}", extension.to_uppercase()), false), Some(about.way));
            }
        }
        assert_eq!((way("x.fa.gz", true), way("x.fa.zst", true)), (Some(Way::Bgzf), Some(Way::Zstd)));
        assert_eq!((way("gz", false), way("x.txt", false), way(".gz", false)), (None, None, None));
        for (extension, _) in UNWRITTEN {
            assert!(Compression::of(None, Some(&Path::new("x").with_extension(extension)), false).is_err());
        }
    }

    #[test]
    fn what_is_asked_for_counts_more_than_the_name() {
        let of =
            |asked: &str, name| Compression::of(Some(asked.parse().unwrap()), Some(Path::new(name)), false);
        assert_eq!(of("none", "x.zip").unwrap(), None);
        assert_eq!(of("xz:2", "x.gz").unwrap(), Some(Compression { way: Way::Xz, level: 2 }));
        assert_eq!(of("zstd", "x").unwrap(), Some(Compression { way: Way::Zstd, level: 3 }));
    }

    #[test]
    fn a_wrong_format_or_level_is_answered_with_the_right_ones() {
        for (asked, why) in [
            ("rar", "the format must be gzip, bgzf, zstd, xz, bzip2, lz4 or none"),
            ("gzip:0", "gzip has the levels 1 to 9"),
            ("zstd:", "zstd has the levels 1 to 22"),
            ("lz4:9", "Sortie writes lz4 at one level only; remove :9"),
        ] {
            assert_eq!(asked.parse::<Asked>().unwrap_err(), why);
        }
    }

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
