//! A file of spectra, decompressed, in stretches that end between two of them.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sortie_formats::spectra::{Format, NoRoom, Room};

use crate::compression;
use crate::failure::Failure;
use crate::progress::Progress;

/// Bytes that a stretch has, where the file has them: some 100,000 peaks, so that a sort of them is work for many
/// threads, and few enough that several stretches hardly show in memory.
const STRETCH: u64 = 8 << 20;
/// Text usually takes less than this times its bytes, with its numbers and as it is written.
const GROWS_BY: u64 = 16;
const LEAST: u64 = 4 << 10;

/// A stretch of the file.
pub struct Stretch {
    pub text: Vec<u8>,
    pub format: Format,
    pub is_last: bool,
    /// Why it is the last, though the file should go on.
    pub broken: Option<Broken>,
    /// How long it took to read.
    pub reading: Duration,
    /// The memory for all that is made of it; that of the text is taken.
    pub room: Room,
}

/// Why no more of a file could be read.
pub enum Broken {
    Io(io::Error),
    /// The text has no end of a spectrum, as far as there is room for it.
    NoRoom(NoRoom),
}

impl Stretch {
    /// Leaves about the first half of its spectra here, and returns the others, each with room anew; none where there are no
    /// two spectra.
    pub fn split(&mut self) -> Result<Option<Stretch>, NoRoom> {
        let middle = self.text.len() / 2;
        let before = self.format.last_cut(&self.text[..middle]);
        let cut = before.or_else(|| self.format.next_cut(&self.text, middle));
        let Some(cut) = cut.filter(|&cut| self.format.next_cut(&self.text, cut).is_some()) else {
            return Ok(None);
        };
        // The text is held as a whole until both are done.
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
    /// The most memory that is for one stretch, and all that is made of it.
    share: u64,
    /// Known once something was read.
    format: Option<Format>,
    /// What was read beyond the end of the last stretch.
    rest: Vec<u8>,
    ended: bool,
}

impl Stretches {
    /// Opens `path`, standard input for `-`; what is read of it shows as progress. Each stretch may take `share` bytes.
    pub fn open(path: &Path, share: u64, progress: &Progress) -> Result<Stretches, Failure> {
        let is_stdin = path.as_os_str() == "-";
        let name = if is_stdin { Path::new("standard input") } else { path };
        let open = || {
            let file = match is_stdin {
                true => io::stdin().as_fd().try_clone_to_owned().map(File::from),
                false => File::open(path),
            }?;
            let about = file.metadata()?;
            progress.stage("sorting", if about.is_file() { about.len() } else { 0 });
            Ok(file)
        };
        let file = open().map_err(Failure::file("read", name))?;
        let source = compression::reader(file, name, progress)?;
        Ok(Stretches { source, name: name.to_owned(), share, format: None, rest: Vec::new(), ended: false })
    }

    /// What the file is called in a message.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Reads on until a spectrum ends after so many bytes, or the file. Whether it is the file.
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
            // One spectrum is longer than all that.
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

/// What follows `at` in `text`, which is cut off there.
fn split_off(text: &mut Vec<u8>, at: usize, room: &Room) -> Result<Vec<u8>, NoRoom> {
    let mut rest = Vec::new();
    room.reserve(&mut rest, text.len() - at)?;
    rest.extend_from_slice(&text[at..]);
    text.truncate(at);
    Ok(rest)
}
