//! Many spectra at once: parsed, and laid out as segments of one array for the sort.

use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use sortie_formats::spectra::mzml::{self, Header, Index};
use sortie_formats::spectra::{Format, Part, SpectrumError, mgf};

use super::stretch::Stretch;
use crate::cli::{PeakKey, SpectraArgs};
use crate::failure::Failure;

/// Bytes of text that one task parses.
const PART: usize = 1 << 18;

/// The spectra of one stretch.
pub struct Batch {
    pub text: Vec<u8>,
    /// The spectra, and where in the text they are.
    pub parts: Vec<(Range<usize>, Part)>,
    /// Where the index of the file begins, which follows the spectra; the end of the text but at the end of a file.
    pub index: usize,
    /// Whether the file has an index.
    pub indexed: bool,
    /// The keys of all peaks that are kept, and their places in their spectra.
    pub keys: Vec<f64>,
    pub places: Vec<u32>,
    /// Where each spectrum's keys begin and end.
    pub offsets: Vec<usize>,
    pub reading: Duration,
    pub parsing: Duration,
}

/// Parses stretch after stretch of a file.
pub struct Parser {
    name: PathBuf,
    by: PeakKey,
    top: Option<NonZeroUsize>,
    /// Of mzML, once its first stretch was read.
    header: Option<Header>,
    /// How many spectra came before.
    spectra: usize,
}

impl Parser {
    pub fn new(args: &SpectraArgs, name: PathBuf) -> Parser {
        Parser { name, by: args.by, top: args.top, header: None, spectra: 0 }
    }

    pub fn parse(&mut self, stretch: Stretch) -> Result<Batch, Failure> {
        let start = Instant::now();
        let text = &stretch.text[..];
        if stretch.format == Format::MzMl && self.header.is_none() {
            self.header = Some(Header::parse(text).map_err(|problem| self.failure(&problem))?);
        }
        let indexed = self.header.as_ref().is_some_and(|header| header.indexed);
        let index = if indexed && stretch.is_last { Index::start(text) } else { text.len() };
        let parsed: Vec<_> = cut(stretch.format, &text[..index])
            .into_par_iter()
            .map(|range| (self.parse_part(&text[range.clone()]), range))
            .collect();
        let mut parts = Vec::with_capacity(parsed.len());
        for (part, range) in parsed {
            let part = part.map_err(|error| self.spectrum_failure(error, &stretch))?;
            self.spectra += part.spectra();
            parts.push((range, part));
        }
        self.check_end(&stretch)?;
        let (mut keys, mut places, mut offsets) = (Vec::new(), Vec::new(), vec![0]);
        for (_, part) in &parts {
            self.lay_out(part, &mut keys, &mut places, &mut offsets);
        }
        let parsing = start.elapsed();
        let Stretch { text, reading, .. } = stretch;
        Ok(Batch { text, parts, index, indexed, keys, places, offsets, reading, parsing })
    }

    fn parse_part(&self, text: &[u8]) -> Result<Part, SpectrumError> {
        match &self.header {
            Some(header) => mzml::parse(header, text).map(Part::MzMl),
            None => mgf::parse(text).map(Part::Mgf),
        }
    }

    /// Whether the file may end here, where it does.
    fn check_end(&self, stretch: &Stretch) -> Result<(), Failure> {
        if let Some(reason) = &stretch.broken {
            return Err(self.failure(&format!("broken off after spectrum {}: {reason}", self.spectra)));
        }
        let text = &stretch.text[..];
        match &self.header {
            _ if !stretch.is_last => Ok(()),
            Some(header) if memchr::memmem::rfind(text, header.closing_tag().as_bytes()).is_none() => {
                let (tag, spectra) = (header.closing_tag(), self.spectra);
                Err(self.failure(&format!("cut short after spectrum {spectra}: it ends before its {tag}")))
            }
            None if self.spectra == 0 && !text.trim_ascii().is_empty() => {
                Err(self.failure("has no spectra; it is neither MGF, with its BEGIN IONS, nor mzML"))
            }
            _ => Ok(()),
        }
    }

    /// Adds the peaks of a part that are kept.
    fn lay_out(&self, part: &Part, keys: &mut Vec<f64>, places: &mut Vec<u32>, offsets: &mut Vec<usize>) {
        let peaks = part.peaks();
        let all = match self.by {
            PeakKey::Mz => &peaks.mz,
            PeakKey::Intensity => &peaks.intensity,
        };
        for bounds in peaks.offsets.windows(2) {
            let range = bounds[0]..bounds[1];
            match self.top {
                Some(top) if range.len() > top.get() => {
                    let kept = strongest(&peaks.intensity[range.clone()], top.get());
                    keys.extend(kept.iter().map(|&place| all[range.start + place as usize]));
                    places.extend(kept);
                }
                _ => {
                    places.extend(0..u32::try_from(range.len()).expect("fewer peaks than memory holds"));
                    keys.extend_from_slice(&all[range]);
                }
            }
            offsets.push(keys.len());
        }
    }

    fn spectrum_failure(&self, error: SpectrumError, stretch: &Stretch) -> Failure {
        let number = self.spectra + error.before + 1;
        let title = error.title.map(|title| format!(", '{title}'")).unwrap_or_default();
        let broken = stretch.broken.as_ref().map(|reason| format!("; {reason}")).unwrap_or_default();
        self.failure(&format!("spectrum {number}{title}: {}{broken}", error.problem))
    }

    fn failure(&self, problem: &str) -> Failure {
        Failure::new(format!("{}: {problem}", self.name.display()))
    }
}

/// Ranges of whole spectra, each work for one task.
fn cut(format: Format, text: &[u8]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let end = format.next_cut(text, text.len().min(start + PART)).unwrap_or(text.len());
        ranges.push(start..end);
        start = end;
    }
    ranges
}

/// The places of the `top` largest; of equal ones the first.
fn strongest(intensities: &[f64], top: usize) -> Vec<u32> {
    let mut places: Vec<u32> = (0..intensities.len() as u32).collect();
    let order = |a: &u32, b: &u32| {
        let (x, y) = (intensities[*a as usize], intensities[*b as usize]);
        Reverse(x).partial_cmp(&Reverse(y)).expect("none is a NaN").then(a.cmp(b))
    };
    places.select_nth_unstable_by(top - 1, order);
    places.truncate(top);
    places.sort_unstable();
    places
}
