//! Opens inputs, and decompresses those that are compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use sortie_formats::compressed::Members;

use super::{HEAD, Way, is_stdin, refuse};
use crate::error::Error;
use crate::peek::{self, Peeked};

/// The size of the buffer for decompressed bytes.
const BUFFER: usize = 64 << 10;

/// An open input, positioned at its first byte.
pub enum Source {
    /// A regular file that is not compressed.
    File(File),
    /// A pipe, or decompressed data. `way` says how the input is compressed, if it is.
    Stream { content: Box<dyn Read + Send>, way: Option<Way> },
}

impl Source {
    /// Opens `file` at its current position. `name` is the name for messages.
    pub fn open(mut file: File, name: &Path) -> Result<Source, Error> {
        let failed = || Error::file("read", name);
        if file.metadata().map_err(failed())?.is_file() {
            let head = peek::first(&file, HEAD).map_err(failed())?;
            return match Way::of(&head) {
                Some(way) => Source::decompressed(way, &head, file).map_err(failed()),
                None => Ok(Source::File(file)),
            };
        }
        let head = take_head(&mut file).map_err(failed())?;
        match Way::of(&head) {
            Some(way) => {
                Source::decompressed(way, &head.clone(), Cursor::new(head).chain(file)).map_err(failed())
            }
            None => Ok(Source::Stream { content: followed_by(head, HEAD, file), way: None }),
        }
    }

    /// Opens raw data, which may begin with any bytes. So a regular file is decompressed only if its name says that it
    /// is compressed.
    pub fn open_raw(file: File, name: &Path) -> Result<Source, Error> {
        let is_plain = !is_stdin(name) && Way::of_name(name).is_none();
        let is_file = file.metadata().map_err(Error::file("read", name))?.is_file();
        if is_plain && is_file { Ok(Source::File(file)) } else { Source::open(file, name) }
    }

    /// `head` is the beginning of `source`.
    fn decompressed(way: Way, head: &[u8], source: impl Read + Send + 'static) -> io::Result<Source> {
        let content = Box::new(Members::new(way, source)?);
        Ok(Source::Stream { content, way: Some(way.or_bgzf(head)) })
    }

    /// How the input is compressed, if it is.
    pub fn way(&self) -> Option<Way> {
        match self {
            Source::File(_) => None,
            Source::Stream { way, .. } => *way,
        }
    }

    /// The first `count` bytes, or fewer if the input is shorter. They are not consumed.
    pub fn first(&mut self, count: usize) -> io::Result<Vec<u8>> {
        match self {
            Source::File(file) => peek::first(file, count),
            Source::Stream { content, .. } => {
                let mut head = Vec::new();
                Read::by_ref(content).take(count as u64).read_to_end(&mut head)?;
                let rest = std::mem::replace(content, Box::new(io::empty()));
                *content = followed_by(head.clone(), count, rest);
                Ok(head)
            }
        }
    }

    /// A reader of the whole input.
    pub fn into_reader(self) -> Box<dyn Read + Send> {
        match self {
            Source::File(file) => Box::new(file),
            Source::Stream { content, .. } => content,
        }
    }
}

/// Whether the regular file `file` is compressed.
pub fn is_compressed(file: &File) -> io::Result<bool> {
    peek::first(file, HEAD).map(|head| Way::of(&head).is_some())
}

/// The first bytes of `file`, decompressed if it is compressed, and how it is compressed. There may be fewer than `count` if it
/// is damaged. The position of the file does not change. Fails if it has none, as a pipe.
pub fn head(file: &File, count: usize) -> io::Result<(Vec<u8>, Option<Way>)> {
    let stored = peek::first(file, count.max(HEAD))?;
    let Some(way) = Way::of(&stored) else { return Ok((stored, None)) };
    let mut head = Vec::new();
    if let Ok(members) = Members::new(way, Peeked::at_position_of(file.try_clone()?)?) {
        // Bytes that were read before an error are used.
        let _ = members.take(count as u64).read_to_end(&mut head);
    }
    Ok((head, Some(way.or_bgzf(&stored))))
}

/// A reader of the content of `file`, decompressed if it is compressed. `advance` receives the number of bytes that are read
/// from the file itself.
///
/// # Errors
/// If the file has a format that is not supported.
pub fn reader(
    mut file: File,
    name: &Path,
    advance: impl Fn(u64) + Send + 'static,
) -> Result<Box<dyn BufRead + Send>, Error> {
    let head = take_head(&mut file).map_err(Error::file("read", name))?;
    refuse(&head, name)?;
    let way = Way::of(&head);
    let file = Watched { source: followed_by(head, HEAD, file), advance };
    Ok(match way {
        Some(way) => {
            let members = Members::new(way, file).map_err(Error::file("read", name))?;
            Box::new(BufReader::with_capacity(BUFFER, members))
        }
        None => Box::new(BufReader::with_capacity(BUFFER, file)),
    })
}

/// Reads the bytes that are needed to recognise a compressed file.
fn take_head(file: &mut File) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    file.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Joins bytes that were already read with the rest of the input. If there are fewer than `wanted`, the input has
/// ended, and `rest` is not read again: a terminal would wait for more input.
fn followed_by(head: Vec<u8>, wanted: usize, rest: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    match head.len() < wanted {
        true => Box::new(Cursor::new(head)),
        false => Box::new(Cursor::new(head).chain(rest)),
    }
}

/// A source whose bytes are counted.
struct Watched<R, F> {
    source: R,
    advance: F,
}

impl<R: Read, F: Fn(u64)> Read for Watched<R, F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        (self.advance)(read as u64);
        Ok(read)
    }
}
