//! Mass spectra: files of many short arrays of peaks, each an m/z and an intensity.
//!
//! A file is read in stretches that end between two spectra, see [`Format::last_cut`], so that several can be parsed at
//! once. A [`Part`] is what was found in one: its peaks, and where they stand, so that they can be written in another
//! order with all else as it was.

pub mod mgf;
pub mod mzml;
mod room;

use std::fmt;

use crate::Quoted;
pub use room::{Memory, NoRoom, Room};

/// How a file of spectra is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Lines of text.
    Mgf,
    /// XML.
    MzMl,
}

/// The peaks of some spectra, one spectrum after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Peaks {
    pub mz: Vec<f64>,
    pub intensity: Vec<f64>,
    /// Spectrum `i` has the peaks `offsets[i]..offsets[i + 1]`. There is one more than there are spectra.
    pub offsets: Vec<usize>,
}

impl Peaks {
    /// Of no spectrum yet.
    fn none() -> Self {
        Peaks { offsets: vec![0], ..Peaks::default() }
    }
}

/// Why a spectrum cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpectrumError {
    /// How many spectra come before it in the text at hand.
    pub before: usize,
    /// Its title or identifier, where it has one.
    pub title: Option<Quoted>,
    pub problem: Problem,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The text is not as its format has it; in words.
    Malformed(String),
    /// The text may be sound, but memory does not suffice for it.
    NoRoom(NoRoom),
}

impl<S: Into<String>> From<S> for Problem {
    fn from(words: S) -> Problem {
        Problem::Malformed(words.into())
    }
}

impl From<NoRoom> for Problem {
    fn from(error: NoRoom) -> Problem {
        Problem::NoRoom(error)
    }
}

impl std::error::Error for Problem {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Malformed(words) => f.write_str(words),
            Problem::NoRoom(error) => error.fmt(f),
        }
    }
}

/// The spectra in a stretch of text.
#[derive(Debug)]
pub enum Part {
    Mgf(mgf::Part),
    MzMl(mzml::Part),
}

/// Where a spectrum ends, before and after its peaks were put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    pub old: u64,
    pub new: u64,
}

impl Format {
    /// The format of a file that begins like this.
    #[must_use]
    pub fn of(beginning: &[u8]) -> Format {
        let text = beginning.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(beginning);
        if text.trim_ascii_start().starts_with(b"<") { Format::MzMl } else { Format::Mgf }
    }

    /// The end of the last spectrum that is complete in `text`.
    #[must_use]
    pub fn last_cut(self, text: &[u8]) -> Option<usize> {
        match self {
            Format::Mgf => mgf::last_cut(text),
            Format::MzMl => mzml::last_cut(text),
        }
    }

    /// The end of the first spectrum that ends after `from`.
    #[must_use]
    pub fn next_cut(self, text: &[u8], from: usize) -> Option<usize> {
        match self {
            Format::Mgf => mgf::next_cut(text, from),
            Format::MzMl => mzml::next_cut(text, from),
        }
    }
}

impl Part {
    pub fn peaks(&self) -> &Peaks {
        match self {
            Part::Mgf(part) => &part.peaks,
            Part::MzMl(part) => &part.peaks,
        }
    }

    /// How many spectra there are.
    #[must_use]
    pub fn spectra(&self) -> usize {
        self.peaks().offsets.len() - 1
    }

    /// The most bytes that [`Part::write`] takes to write `text`, of which this was read.
    #[must_use]
    pub fn to_write(&self, text: &[u8]) -> u64 {
        match self {
            Part::Mgf(_) => text.len() as u64,
            Part::MzMl(part) => part.to_write(text),
        }
    }

    /// Appends `text`, of which this was read, with the peaks in another order, and returns where spectra ended and end
    /// now that are no longer as they were, as far as the format keeps an index of such places.
    ///
    /// `order` has an item for each spectrum: which of its peaks to write, counted in the spectrum.
    ///
    /// # Errors
    /// If the system has no room for that.
    pub fn write<'a>(
        &self,
        text: &[u8],
        order: impl Iterator<Item = &'a [u32]>,
        out: &mut Vec<u8>,
    ) -> Result<Vec<Ends>, NoRoom> {
        match self {
            Part::Mgf(part) => part.write(text, order, out).map(|()| Vec::new()),
            Part::MzMl(part) => part.write(text, order, out),
        }
    }
}
