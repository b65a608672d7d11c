//! gzip: seen from the first bytes of what is read, asked for by the name of what is written.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::progress::Progress;

const MAGIC: [u8; 2] = [0x1f, 0x8b];
const BUFFER: usize = 1 << 16;

/// What `file` holds, decompressed where it is compressed; what is read of the file itself shows as progress.
pub fn reader(mut file: File, progress: &Progress) -> io::Result<Box<dyn BufRead + Send + '_>> {
    let mut beginning = Vec::new();
    Read::by_ref(&mut file).take(MAGIC.len() as u64).read_to_end(&mut beginning)?;
    let is_gzip = beginning == MAGIC;
    let file = Watched { source: Cursor::new(beginning).chain(file), progress };
    let file = BufReader::with_capacity(BUFFER, file);
    Ok(if is_gzip {
        Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(file)))
    } else {
        Box::new(file)
    })
}

/// Whether a file of this name is to be compressed.
pub fn is_named(name: &Path) -> bool {
    name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// A piece, compressed by itself. Pieces put together are again a file of gzip's.
pub fn compress(piece: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(piece.len() / 3), Compression::default());
    let done = encoder.write_all(piece).and_then(|()| encoder.finish());
    done.expect("memory takes all that is written")
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
