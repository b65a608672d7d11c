//! Mass spectra: files with many short arrays of peaks. A peak is an m/z and an intensity.
//!
//! A file is read in stretches that end between two spectra, see [`Format::last_cut`], so that several can be parsed
//! in parallel. A [`Part`] is the content of one stretch: its peaks and their positions in the text. With these it
//! can write the peaks in another order and leave everything else unchanged.

pub mod mgf;
pub mod mzml;
mod room;

use std::fmt;

use crate::Quoted;
pub use room::{Memory, NoRoom, Room};

/// The format of a file of spectra.
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
    /// Spectrum `i` has the peaks `offsets[i]..offsets[i + 1]`. There is one offset more than there are
    /// spectra.
    pub offsets: Vec<usize>,
}

impl Peaks {
    /// The peaks of no spectra.
    fn none() -> Self {
        Peaks { offsets: vec![0], ..Peaks::default() }
    }
}

/// Why a spectrum cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpectrumError {
    /// The number of spectra before it in the text that was parsed.
    pub before: usize,
    /// The title or identifier of the spectrum, if it has one.
    pub title: Option<Quoted>,
    pub problem: Problem,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The text does not conform to the format. Says why.
    Malformed(String),
    /// There is not enough memory for the text.
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

/// What stays as it is because it has no peaks, or does not belong to them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    /// The spectra without m/z or without intensities, and those with an array of one string for each peak.
    pub spectra: usize,
    /// The additional arrays of other spectra that have text, or another length than the peaks.
    pub arrays: usize,
}

/// The end of a spectrum in the text before and after its peaks were reordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    pub old: u64,
    pub new: u64,
}

impl Format {
    /// The format of a file with this beginning.
    #[must_use]
    pub fn of(beginning: &[u8]) -> Format {
        let text = beginning.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(beginning);
        if text.trim_ascii_start().starts_with(b"<") { Format::MzMl } else { Format::Mgf }
    }

    /// The end of the last complete spectrum in `text`.
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

    /// The number of spectra.
    #[must_use]
    pub fn spectra(&self) -> usize {
        self.peaks().offsets.len() - 1
    }

    /// What stays as it is.
    #[must_use]
    pub fn kept(&self) -> Kept {
        match self {
            Part::Mgf(_) => Kept::default(),
            Part::MzMl(part) => part.kept,
        }
    }

    /// The maximum memory in bytes that [`Part::write`] needs for `text`, from which this part was parsed.
    #[must_use]
    pub fn to_write(&self, text: &[u8]) -> u64 {
        match self {
            Part::Mgf(_) => text.len() as u64,
            Part::MzMl(part) => part.to_write(text),
        }
    }

    /// Appends `text`, from which this part was parsed, with the peaks in another order. If the format has an index
    /// of positions, returns the old and new ends of the spectra that have changed.
    ///
    /// `order` has an item for each spectrum: the peaks to write, as indices within the spectrum.
    ///
    /// # Errors
    /// If the system cannot allocate the memory.
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
