//! Compressed files. `sortie_formats::compressed` recognises and decompresses an input. The caller or else the name of an output
//! decides how it is compressed.
//!
//! A compressed file is a sequence of members, each complete in itself. So pieces of an output can be compressed in parallel.

mod deflate;
mod encode;
#[cfg(test)]
mod members_tests;
mod packer;
mod source;

use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use sortie_formats::compressed::HEAD;
pub use sortie_formats::compressed::Way;

use crate::error::Error;
use crate::quote;
pub use encode::BGZF_END;
pub use packer::Packer;
pub use source::{Source, head, is_compressed, reader};

/// The properties of a format.
struct About {
    way: Way,
    levels: RangeInclusive<i32>,
    /// The default level of the format's own program.
    usual: i32,
    /// The number of bytes to compress as one piece. Larger pieces compress better, smaller ones take less
    /// memory.
    piece: usize,
}

static WAYS: [About; 6] = [
    About { way: Way::Gzip, levels: 1..=9, usual: 6, piece: 256 << 10 },
    About { way: Way::Bgzf, levels: 1..=9, usual: 6, piece: 4 * encode::BGZF_BLOCK },
    About { way: Way::Zstd, levels: 1..=22, usual: 3, piece: 1 << 20 },
    About { way: Way::Xz, levels: 0..=9, usual: 6, piece: 1 << 20 },
    // Slightly less than one bzip2 block, which holds at most 900 kB.
    About { way: Way::Bzip2, levels: 1..=9, usual: 9, piece: 890_000 },
    About { way: Way::Lz4, levels: 1..=1, usual: 1, piece: 1 << 20 },
];

impl About {
    fn of(way: Way) -> &'static About {
        WAYS.iter().find(|about| about.way == way).expect("the table has every way")
    }
}

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
const UNWRITTEN: [(&str, &str); 18] = [
    ("Z", "compress"),
    ("zip", "zip"),
    ("zipx", "zip"),
    ("7z", "7z"),
    ("rar", "rar"),
    ("br", "brotli"),
    ("lz", "lzip"),
    ("lzma", "lzma"),
    ("lzo", "lzop"),
    ("sz", "snappy"),
    ("taz", "tar and gzip"),
    ("tgz", "tar and gzip"),
    ("tb2", "tar and bzip2"),
    ("tbz", "tar and bzip2"),
    ("tbz2", "tar and bzip2"),
    ("txz", "tar and xz"),
    ("tzst", "tar and zstd"),
    ("tlz", "tar and lzma"),
];

/// Fails if a file that begins with `head` has a format that is not supported.
pub fn refuse(head: &[u8], name: &Path) -> Result<(), Error> {
    let Some(Unread { name: with, decompress, .. }) = UNREAD.iter().find(|way| head.starts_with(way.magic))
    else {
        return Ok(());
    };
    let (path, by) = match is_stdin(name) {
        true => ("standard input".into(), decompress.to_string()),
        false => (name.to_owned(), format!("{decompress} {}", quote::name(name))),
    };
    Err(Error::Compressed { path, with, by })
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

/// How an output is to be compressed, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// No compression, whatever the name of the output.
    Plain,
    Compressed(Compression),
}

impl Asked {
    /// Blocks of BGZF at their usual level.
    pub fn blocks() -> Asked {
        Asked::Compressed(Compression { way: Way::Bgzf, level: About::of(Way::Bgzf).usual })
    }
}

impl FromStr for Asked {
    type Err = String;

    /// `FORMAT[:LEVEL]`.
    fn from_str(text: &str) -> Result<Asked, String> {
        if text == "none" {
            return Ok(Asked::Plain);
        }
        let (name, level) = text.split_once(':').map_or((text, None), |(name, level)| (name, Some(level)));
        let Some(about) = WAYS.iter().find(|about| about.way.name() == name) else {
            let names: Vec<_> = WAYS.iter().map(|about| about.way.name()).collect();
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
    pub fn of(asked: Option<Asked>, output: Option<&Path>, bgzf: bool) -> Result<Option<Compression>, Error> {
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

    fn of_name(output: &Path) -> Result<Option<Compression>, Error> {
        let way = Way::of_name(output);
        match unwritten(output, way) {
            None => Ok(way.map(|way| Compression { way, level: About::of(way).usual })),
            Some(with) => Err(Error::Unwritten { path: output.to_owned(), with }),
        }
    }
}

/// The format that an output's name means, if it is not written. `way` is the compression that the name means.
fn unwritten(output: &Path, way: Option<Way>) -> Option<String> {
    let is = |name: &Path, own: &str| name.extension().is_some_and(|e| e.eq_ignore_ascii_case(own));
    match way {
        Some(way) => is(Path::new(output.file_stem()?), "tar").then(|| format!("tar and {}", way.name())),
        None => UNWRITTEN.iter().find(|(own, _)| is(output, own)).map(|(_, name)| (*name).into()),
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
            let name = about.way.name();
            let usual = [("gzip", "gz"), ("bgzf", "bgz"), ("zstd", "zst"), ("bzip2", "bz2")];
            let usual = usual.iter().find(|(of, _)| *of == name).map_or(name, |(_, extension)| extension);
            for extension in [name, usual, &usual.to_uppercase()] {
                assert_eq!(way(&format!("x.{extension}"), false), Some(about.way));
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
}
