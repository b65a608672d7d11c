//! A file of spectra, decompressed, in stretches that end between two of them.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sortie_formats::spectra::Format;

use crate::failure::Failure;
use crate::gzip;
use crate::progress::Progress;

/// Bytes that a stretch has at least, where the file has them: some 100,000 peaks, so that a sort of them is work for
/// many threads, and few enough that several stretches hardly show in memory.
const STRETCH: usize = 8 << 20;

/// A stretch of the file.
pub struct Stretch {
    pub text: Vec<u8>,
    pub format: Format,
    pub is_last: bool,
    /// Why it is the last, though the file should go on.
    pub broken: Option<io::Error>,
    /// How long it took to read.
    pub reading: Duration,
}

/// Reads the stretches of a file.
pub struct Stretches<'a> {
    source: Box<dyn BufRead + Send + 'a>,
    name: PathBuf,
    /// Known once something was read.
    format: Option<Format>,
    /// What was read beyond the end of the last stretch.
    rest: Vec<u8>,
    ended: bool,
}

impl<'a> Stretches<'a> {
    /// Opens `path`, standard input for `-`; what is read of it shows as progress.
    pub fn open(path: &Path, progress: &'a Progress) -> Result<Stretches<'a>, Failure> {
        let is_stdin = path.as_os_str() == "-";
        let name = if is_stdin { Path::new("standard input") } else { path };
        let file = match is_stdin {
            true => io::stdin().as_fd().try_clone_to_owned().map(File::from),
            false => File::open(path),
        };
        let open = || {
            let file = file?;
            let about = file.metadata()?;
            progress.stage("sorting", if about.is_file() { about.len() } else { 0 });
            gzip::reader(file, progress)
        };
        let source = open().map_err(Failure::file("read", name))?;
        Ok(Stretches { source, name: name.to_owned(), format: None, rest: Vec::new(), ended: false })
    }

    /// What the file is called in a message.
    pub fn name(&self) -> &Path {
        &self.name
    }
}

impl Iterator for Stretches<'_> {
    type Item = Stretch;

    fn next(&mut self) -> Option<Stretch> {
        if self.ended {
            return None;
        }
        let start = Instant::now();
        let mut text = std::mem::take(&mut self.rest);
        let mut wanted = STRETCH;
        loop {
            let missing = wanted.saturating_sub(text.len());
            let read = Read::by_ref(&mut self.source).take(missing as u64).read_to_end(&mut text);
            let format = *self.format.get_or_insert_with(|| Format::of(&text));
            let stretch =
                |text, is_last, broken| Stretch { text, format, is_last, broken, reading: start.elapsed() };
            if read.is_err() || text.len() < wanted {
                self.ended = true;
                return Some(stretch(text, true, read.err()));
            }
            if let Some(cut) = format.last_cut(&text) {
                self.rest = text.split_off(cut);
                return Some(stretch(text, false, None));
            }
            // One spectrum is longer than all that.
            wanted = 2 * text.len();
        }
    }
}
