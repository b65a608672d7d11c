//! Reads a file of spectra, decompressed, in stretches that end between two spectra.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sortie_files::{Ledger, compression};
use sortie_formats::spectra::{Format, NoRoom, Room};

use crate::failure::Failure;

/// The bytes of a stretch, unless the file is shorter: some 100,000 peaks. That is enough to sort with many threads,
/// and small enough that several stretches take little memory.
const STRETCH: u64 = 8 << 20;
/// With its numbers and its output, a text usually takes less than this many times its size.
const GROWS_BY: u64 = 16;
const LEAST: u64 = 4 << 10;

/// A stretch of the file.
pub struct Stretch {
    pub text: Vec<u8>,
    pub format: Format,
    pub is_last: bool,
    /// Why it is the last one although the file should continue.
    pub broken: Option<Broken>,
    /// The time it took to read.
    pub reading: Duration,
    /// The memory for everything that is made from the stretch. The text is already counted.
    pub room: Room,
}

/// Why the rest of a file could not be read.
pub enum Broken {
    Io(io::Error),
    /// A spectrum does not end within the text for which there is room.
    NoRoom(NoRoom),
}

impl Stretch {
    /// Keeps about the first half of its spectra, and returns the others. Each half gets the full room. `None` if there
    /// are fewer than two spectra.
    pub fn split(&mut self) -> Result<Option<Stretch>, NoRoom> {
        let middle = self.text.len() / 2;
        let before = self.format.last_cut(&self.text[..middle]);
        let cut = before.or_else(|| self.format.next_cut(&self.text, middle));
        let Some(cut) = cut.filter(|&cut| self.format.next_cut(&self.text, cut).is_some()) else {
            return Ok(None);
        };
        // The whole text stays in memory until both halves are done.
        let room = || {
            let room = Room::new(self.room.limit());
            room.take(self.text.capacity() as u64).map(|()| room)
        };
        let (first, second) = (room()?, room()?);
        self.room = first;
        Ok(Some(Stretch {
            text: split_off(&mut self.text, cut, &second)?,
            format: self.format,
            is_last: std::mem::take(&mut self.is_last),
            broken: self.broken.take(),
            reading: Duration::ZERO,
            room: second,
        }))
    }
}

/// Reads the stretches of a file.
pub struct Stretches {
    source: Box<dyn BufRead + Send>,
    name: PathBuf,
    /// The maximum memory for one stretch and everything that is made from it.
    share: u64,
    /// Known once some text was read.
    format: Option<Format>,
    /// The text that was read after the end of the last stretch.
    rest: Vec<u8>,
    ended: bool,
}

impl Stretches {
    /// Opens `path`, or standard input for `-`. Reading it advances the progress. Each stretch may take `share`
    /// bytes.
    pub fn open(path: &Path, share: u64, ledger: &Ledger) -> Result<Stretches, Failure> {
        let is_stdin = path.as_os_str() == "-";
        let name = if is_stdin { Path::new("standard input") } else { path };
        let open = || {
            let file = match is_stdin {
                true => io::stdin().as_fd().try_clone_to_owned().map(File::from),
                false => File::open(path),
            }?;
            let about = file.metadata()?;
            ledger.progress.stage("sorting", if about.is_file() { about.len() } else { 0 });
            Ok(file)
        };
        let file = open().map_err(Failure::file("read", name))?;
        let source = compression::reader(file, name, ledger.counter())?;
        Ok(Stretches { source, name: name.to_owned(), share, format: None, rest: Vec::new(), ended: false })
    }

    /// The name of the file for messages.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Reads until there is enough text and it has the end of a spectrum, or until the file ends. Returns whether the
    /// file has ended.
    fn read(&mut self, text: &mut Vec<u8>, room: &Room) -> Result<bool, Broken> {
        let mut wanted = (self.share / GROWS_BY).clamp(LEAST, STRETCH) as usize;
        loop {
            let missing = wanted.saturating_sub(text.len());
            room.reserve(text, missing).map_err(Broken::NoRoom)?;
            let read = Read::by_ref(&mut self.source).take(missing as u64).read_to_end(text);
            let format = *self.format.get_or_insert_with(|| Format::of(text));
            read.map_err(Broken::Io)?;
            if text.len() < wanted {
                return Ok(true);
            }
            if let Some(cut) = format.last_cut(text) {
                self.rest = split_off(text, cut, room).map_err(Broken::NoRoom)?;
                return Ok(false);
            }
            // One spectrum is longer than this text.
            wanted = 2 * text.len();
        }
    }
}

impl Iterator for Stretches {
    type Item = Stretch;

    fn next(&mut self) -> Option<Stretch> {
        if self.ended {
            return None;
        }
        let start = Instant::now();
        let mut text = std::mem::take(&mut self.rest);
        let room = Room::new(self.share);
        let taken = room.take(text.capacity() as u64).map_err(Broken::NoRoom);
        let (is_last, broken) = match taken.and_then(|()| self.read(&mut text, &room)) {
            Ok(is_last) => (is_last, None),
            Err(broken) => (true, Some(broken)),
        };
        self.ended = is_last;
        let format = self.format.unwrap_or(Format::Mgf);
        Some(Stretch { text, format, is_last, broken, reading: start.elapsed(), room })
    }
}

/// Cuts `text` off at `at`, and returns the rest.
fn split_off(text: &mut Vec<u8>, at: usize, room: &Room) -> Result<Vec<u8>, NoRoom> {
    let mut rest = Vec::new();
    room.reserve(&mut rest, text.len() - at)?;
    rest.extend_from_slice(&text[at..]);
    text.truncate(at);
    Ok(rest)
}
