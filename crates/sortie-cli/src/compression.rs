//! How files are compressed: with gzip, which is read and written, or otherwise, which is refused by name.
//!
//! The first bytes of an input tell how it is compressed; the name of an output tells how to compress it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use sortie_formats::spectra::Memory;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::{peek, quote};

const BUFFER: usize = 1 << 16;

/// A way to compress.
struct Way {
    name: &'static str,
    /// What a file begins with.
    magic: &'static [u8],
    /// What its name ends in.
    extension: &'static str,
    /// The program that writes to standard output what was compressed.
    decompress: &'static str,
}

const GZIP: Way = Way { name: "gzip", magic: b"\x1F\x8B", extension: "gz", decompress: "gzip -dc" };
/// Those that are known, but neither read nor written. None begins as text of a format that is read here does.
const OTHERS: [Way; 6] = [
    Way { name: "zstd", magic: b"\x28\xB5\x2F\xFD", extension: "zst", decompress: "zstd -dc" },
    Way { name: "xz", magic: b"\xFD7zXZ\0", extension: "xz", decompress: "xz -dc" },
    Way { name: "bzip2", magic: b"BZh", extension: "bz2", decompress: "bzip2 -dc" },
    Way { name: "lz4", magic: b"\x04\x22\x4D\x18", extension: "lz4", decompress: "lz4 -dc" },
    Way { name: "compress", magic: b"\x1F\x9D", extension: "Z", decompress: "gzip -dc" },
    Way { name: "zip", magic: b"PK\x03\x04", extension: "zip", decompress: "unzip -p" },
];

/// The most bytes of a magic.
const MAGIC: usize = 6;

/// What `file` holds, decompressed where it is compressed; what is read of the file itself shows as progress.
///
/// Fails where it is compressed with anything but gzip.
pub fn reader<'a>(
    mut file: File,
    name: &Path,
    progress: &'a Progress,
) -> Result<Box<dyn BufRead + Send + 'a>, Failure> {
    let mut beginning = Vec::new();
    let read = Read::by_ref(&mut file).take(MAGIC as u64).read_to_end(&mut beginning);
    read.map_err(Failure::file("read", name))?;
    if let Some(other) = OTHERS.iter().find(|other| beginning.starts_with(other.magic)) {
        return Err(other.refusal(name));
    }
    let is_gzip = beginning.starts_with(GZIP.magic);
    let file = Watched { source: Cursor::new(beginning).chain(file), progress };
    let file = BufReader::with_capacity(BUFFER, file);
    Ok(if is_gzip {
        Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(file)))
    } else {
        Box::new(file)
    })
}

/// Fails where `file` is compressed, in whichever way; it is known here by `name`.
pub fn refuse(file: &File, name: &Path) -> Result<(), Failure> {
    let mut known = OTHERS.iter().chain([&GZIP]);
    known.find(|way| peek::begins_with(file, way.magic)).map_or(Ok(()), |way| Err(way.refusal(name)))
}

impl Way {
    fn refusal(&self, name: &Path) -> Failure {
        let Way { name: way, decompress, .. } = self;
        Failure::new(match name == Path::new("-") || name == Path::new("standard input") {
            true => format!(
                "standard input is compressed with {way}, which is not supported here; decompress it first: {decompress} | \
                 sortie ..."
            ),
            false => {
                let file = quote::name(name);
                format!(
                    "{file} is compressed with {way}, which is not supported here; decompress it first: {decompress} {file} | \
                     sortie ..."
                )
            }
        })
    }
}

/// Whether an output of this name is to be compressed, with gzip. Fails where it would have to be in another way.
pub fn of_output(name: &Path) -> Result<bool, Failure> {
    let Some(extension) = name.extension() else { return Ok(false) };
    match OTHERS.iter().find(|other| extension.eq_ignore_ascii_case(other.extension)) {
        Some(other) => Err(Failure::new(format!(
            "{}: an output cannot be compressed with {}; end its name in .gz, or in nothing of that kind",
            quote::name(name),
            other.name
        ))),
        None => Ok(extension.eq_ignore_ascii_case(GZIP.extension)),
    }
}

/// A piece, compressed by itself with gzip. Pieces put together are again a file of gzip's.
pub fn gzip(piece: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut encoder = GzEncoder::new(Memory::default(), Compression::default());
    let done = encoder.write_all(piece).and_then(|()| encoder.finish());
    // Nothing else can go wrong there.
    done.map(|Memory(compressed)| compressed).map_err(|_| Failure::Memory(piece.len() as u64))
}

/// A source whose bytes are progress.
struct Watched<'a, R> {
    source: R,
    progress: &'a Progress,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}
