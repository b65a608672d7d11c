//! Parses many spectra at once, and lays them out as segments of one array for the sort.

use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use sortie_files::memory::leaving;
use sortie_files::quote;
use sortie_formats::spectra::mzml::{self, Header, Index};
use sortie_formats::spectra::{Format, NoRoom, Part, Problem, Room, SpectrumError, mgf};

use super::stretch::{Broken, Stretch};
use crate::cli::{PeakKey, SpectraArgs};
use crate::failure::Failure;

/// The number of bytes of text that one task parses.
const PART: usize = 1 << 18;
/// The MiB that sorting any spectrum takes in addition to what the spectrum itself needs.
const BESIDE: u64 = 2;

/// The spectra of one stretch.
pub struct Batch {
    pub text: Vec<u8>,
    /// The spectra, and their positions in the text.
    pub parts: Vec<(Range<usize>, Part)>,
    /// The start of the file's index, which follows the spectra. The end of the text if the stretch has no index.
    pub index: usize,
    /// Whether the file has an index.
    pub indexed: bool,
    /// The keys of all peaks that are kept, and the index of each peak in its spectrum.
    pub keys: Vec<f64>,
    pub places: Vec<u32>,
    /// The start of each spectrum's keys, followed by the end of the last one's.
    pub offsets: Vec<usize>,
    pub reading: Duration,
    pub parsing: Duration,
}

/// The keys, indices and offsets of a batch.
type LaidOut = (Vec<f64>, Vec<u32>, Vec<usize>);

/// Parses the stretches of a file one after the other.
pub struct Parser {
    name: PathBuf,
    by: PeakKey,
    top: Option<NonZeroUsize>,
    /// Whether the output is compressed.
    compress: bool,
    /// The header of an mzML file. `None` before its first stretch was read, and for MGF.
    header: Option<Header>,
    /// The number of spectra in the stretches before.
    spectra: usize,
}

impl Parser {
    pub fn new(args: &SpectraArgs, name: PathBuf, compress: bool) -> Parser {
        Parser { name, by: args.by, top: args.top, compress, header: None, spectra: 0 }
    }

    /// Parses a stretch, and passes it to `hand_on`. If there is not enough memory for it as a whole, it is passed as
    /// several batches, one by one. `hand_on` returns whether to continue, and so does this method.
    pub fn parse(
        &mut self,
        stretch: Stretch,
        mut hand_on: impl FnMut(Batch) -> bool,
    ) -> Result<bool, Failure> {
        let mut stretches = vec![stretch];
        while let Some(mut stretch) = stretches.pop() {
            let start = Instant::now();
            self.check_start(&stretch)?;
            match self.batch(&mut stretch) {
                Ok(batch) => {
                    self.spectra += batch.offsets.len() - 1;
                    self.check_end(&stretch, &batch.text)?;
                    if !hand_on(Batch { parsing: start.elapsed(), ..batch }) {
                        return Ok(false);
                    }
                }
                Err(error) => {
                    let Problem::NoRoom(_) = error.problem else {
                        return Err(self.spectrum_failure(error, &stretch));
                    };
                    match stretch.split() {
                        Ok(Some(second)) => stretches.extend([second, stretch]),
                        Ok(None) => return Err(self.spectrum_failure(error, &stretch)),
                        Err(no_room) => return Err(self.no_room("", no_room)),
                    }
                }
            }
        }
        Ok(true)
    }

    /// Checks that the stretch can be the beginning or the continuation of a file of its format.
    fn check_start(&mut self, stretch: &Stretch) -> Result<(), Failure> {
        if let Some(Broken::NoRoom(no_room)) = stretch.broken {
            return Err(match self.spectra {
                0 if stretch.format == Format::Mgf && !mgf::begins(&stretch.text) => self.no_spectra(),
                before => self.no_room(&format!("spectrum {}: ", before + 1), no_room),
            });
        }
        if stretch.format == Format::MzMl && self.header.is_none() {
            self.header = Some(Header::parse(&stretch.text).map_err(|problem| self.failure(&problem))?);
        }
        Ok(())
    }

    /// The spectra of a stretch. On success, takes the text out of the stretch.
    fn batch(&self, stretch: &mut Stretch) -> Result<Batch, SpectrumError> {
        let text = &stretch.text[..];
        let indexed = self.header.as_ref().is_some_and(|header| header.indexed);
        let index = if indexed && stretch.is_last { Index::start(text) } else { text.len() };
        let room = &stretch.room;
        let parsed: Vec<_> = cut(stretch.format, &text[..index])
            .into_par_iter()
            .map(|range| (self.parse_part(&text[range.clone()], room), range))
            .collect();
        let mut parts = Vec::with_capacity(parsed.len());
        let mut before = 0;
        for (part, range) in parsed {
            let part = part.map_err(|error| SpectrumError { before: before + error.before, ..error })?;
            before += part.spectra();
            parts.push((range, part));
        }
        let (keys, places, offsets) = self
            .lay_out(&parts, room)
            .and_then(|laid_out| self.reserve(&parts, text, &laid_out.2, room).map(|()| laid_out))
            .map_err(|error| SpectrumError { before: 0, title: None, problem: error.into() })?;
        let text = std::mem::take(&mut stretch.text);
        let (reading, parsing) = (stretch.reading, Duration::ZERO);
        Ok(Batch { text, parts, index, indexed, keys, places, offsets, reading, parsing })
    }

    fn parse_part(&self, text: &[u8], room: &Room) -> Result<Part, SpectrumError> {
        match &self.header {
            Some(header) => mzml::parse(header, text, room).map(Part::MzMl),
            None => mgf::parse(text, room).map(Part::Mgf),
        }
    }

    /// If this is the last stretch, checks that the file may end here.
    fn check_end(&self, stretch: &Stretch, text: &[u8]) -> Result<(), Failure> {
        if let Some(Broken::Io(reason)) = &stretch.broken {
            return Err(self.failure(&format!("reading stopped after spectrum {}: {reason}", self.spectra)));
        }
        match &self.header {
            _ if !stretch.is_last => Ok(()),
            Some(header) if memchr::memmem::rfind(text, header.closing_tag().as_bytes()).is_none() => {
                let (tag, spectra) = (header.closing_tag(), self.spectra);
                Err(self.failure(&format!("cut short after spectrum {spectra}: it ends before its {tag}")))
            }
            None if self.spectra == 0 && !text.trim_ascii().is_empty() => Err(self.no_spectra()),
            _ => Ok(()),
        }
    }

    /// The keys of the peaks that are kept, their indices in their spectra, and the offsets of each spectrum's keys.
    fn lay_out(&self, parts: &[(Range<usize>, Part)], room: &Room) -> Result<LaidOut, NoRoom> {
        let (mut keys, mut places, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
        let kept = |len: usize| self.top.map_or(len, |top| len.min(top.get()));
        let lengths = || parts.iter().flat_map(|(_, part)| part.peaks().offsets.windows(2));
        let all = lengths().map(|bounds| kept(bounds[1] - bounds[0])).sum();
        room.reserve(&mut keys, all)?;
        room.reserve(&mut places, all)?;
        room.reserve(&mut offsets, lengths().count() + 1)?;
        offsets.push(0);
        for (_, part) in parts {
            let peaks = part.peaks();
            let values = match self.by {
                PeakKey::Mz => &peaks.mz,
                PeakKey::Intensity => &peaks.intensity,
            };
            for bounds in peaks.offsets.windows(2) {
                let range = bounds[0]..bounds[1];
                if kept(range.len()) < range.len() {
                    let strongest = strongest(&peaks.intensity[range.clone()], kept(range.len()), room)?;
                    keys.extend(strongest.iter().map(|&place| values[range.start + place as usize]));
                    places.extend(strongest);
                } else {
                    places.extend(0..u32::try_from(range.len()).expect("fewer peaks than memory holds"));
                    keys.extend_from_slice(&values[range]);
                }
                offsets.push(keys.len());
            }
        }
        Ok((keys, places, offsets))
    }

    /// Counts the memory that sorting and writing will need.
    fn reserve(
        &self,
        parts: &[(Range<usize>, Part)],
        text: &[u8],
        offsets: &[usize],
        room: &Room,
    ) -> Result<(), NoRoom> {
        let written: u64 = parts.iter().map(|(range, part)| part.to_write(&text[range.clone()])).sum();
        room.take(written * self.copies() + scratch(offsets, rayon::current_num_threads()))
    }

    /// The value of `-S` in MiB that suffices for a spectrum that needs `needed` bytes.
    fn enough(&self, needed: u64) -> u64 {
        // A sixteenth of a share is for text that was read.
        let share = needed.saturating_mul(self.copies()) / 15 * 16;
        leaving(share.saturating_mul(super::STRETCHES)).div_ceil(1 << 20) + BESIDE
    }

    /// The number of copies of the output in memory.
    fn copies(&self) -> u64 {
        if self.compress { 2 } else { 1 }
    }

    fn spectrum_failure(&self, error: SpectrumError, stretch: &Stretch) -> Failure {
        let number = self.spectra + error.before + 1;
        let title = error.title.map(|title| format!(", {title}")).unwrap_or_default();
        let spectrum = format!("spectrum {number}{title}: ");
        match (error.problem, &stretch.broken) {
            (Problem::NoRoom(no_room), _) => self.no_room(&spectrum, no_room),
            (Problem::Malformed(problem), Some(Broken::Io(reason))) => {
                self.failure(&format!("{spectrum}{problem}; {reason}"))
            }
            (Problem::Malformed(problem), _) => self.failure(&format!("{spectrum}{problem}")),
        }
    }

    /// The failure if there is not enough memory for `what`.
    fn no_room(&self, what: &str, no_room: NoRoom) -> Failure {
        self.failure(&match no_room {
            NoRoom::Limit { needed, limit } => format!(
                "{what}one spectrum needs at least {} of memory, but {} are allowed; give -S {}M, or raise ulimit -v",
                shown(needed),
                shown(limit),
                self.enough(needed)
            ),
            NoRoom::System { needed } => format!(
                "{what}the system has no memory for {} more; raise ulimit -v, or lower -S or --parallel",
                shown(needed)
            ),
        })
    }

    fn no_spectra(&self) -> Failure {
        self.failure("has no spectra; it is neither mzML nor MGF, which has BEGIN IONS")
    }

    fn failure(&self, problem: &str) -> Failure {
        Failure::new(format!("{}: {problem}", quote::name(&self.name)))
    }
}

/// Formats a number of bytes for a message.
fn shown(bytes: u64) -> String {
    match bytes {
        0..10_000_000 => format!("{} KB", bytes.div_ceil(1000)),
        _ => format!("{} MB", bytes.div_ceil(1_000_000)),
    }
}

/// The scratch memory in bytes that the library needs to sort the keys of spectra. Each thread needs 40 bytes for each
/// key, up to 8192 keys, and a copy of the keys of a longer spectrum. A spectrum with enough work for all threads is
/// sorted alone.
fn scratch(offsets: &[usize], threads: usize) -> u64 {
    let lengths = || offsets.windows(2).map(|bounds| bounds[1] - bounds[0]);
    let one = |length: usize| 40 * length.min(1 << 13) as u64 + 16 * length as u64;
    let large = offsets.last().map_or(0, |keys| keys / threads) + 1;
    let longest = lengths().max().unwrap_or(0);
    let longest_beside = lengths().filter(|&length| length < large).max().unwrap_or(0);
    one(longest).max(threads as u64 * one(longest_beside))
}

/// Ranges of whole spectra, one for each task.
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

/// The indices of the `top` largest intensities, in ascending order. Of equal intensities, the first ones count.
fn strongest(intensities: &[f64], top: usize, room: &Room) -> Result<Vec<u32>, NoRoom> {
    let mut places: Vec<u32> = Vec::new();
    room.reserve(&mut places, intensities.len())?;
    let taken = size_of::<u32>() * places.capacity();
    places.extend(0..intensities.len() as u32);
    let order = |a: &u32, b: &u32| {
        let (x, y) = (intensities[*a as usize], intensities[*b as usize]);
        Reverse(x).partial_cmp(&Reverse(y)).expect("none is a NaN").then(a.cmp(b))
    };
    places.select_nth_unstable_by(top - 1, order);
    places.truncate(top);
    places.sort_unstable();
    // This vector is freed before the next one is allocated.
    room.give_back(taken as u64);
    Ok(places)
}
