//! mzML: XML in which the numbers of a spectrum are base64 arrays.
//!
//! Only these arrays are rewritten. All other text stays as it is, byte for byte. So does
//!
//! - a spectrum whose peaks are already in order;
//! - a spectrum without m/z or without intensities, such as one of ultraviolet light;
//! - an additional array that has another length than the peaks, or that has text;
//! - a spectrum with an additional array of one string for each peak, or of values whose type or compression is not supported.
//!
//! In an indexed file, the index at the end is updated to the new positions.

mod array;
mod index;

use std::collections::HashMap;
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::room::append;
use super::{Ends, Kept, NoRoom, Peaks, Problem, Room, SpectrumError};
use crate::Quoted;
use array::{Array, Kind};
pub use index::Index;

/// The memory of a peak besides its arrays: an m/z and an intensity, a key and its index, and a copy of these during
/// the sort.
const A_PEAK: u64 = 16 + 12 + 16;

/// The spectra in a stretch of text.
#[derive(Debug)]
pub struct Part {
    pub(super) peaks: Peaks,
    spectra: Vec<Spectrum>,
    pub(super) kept: Kept,
}

/// The positions of a spectrum's parts in the text.
#[derive(Debug)]
struct Spectrum {
    /// The value of `defaultArrayLength`. Empty for a spectrum that stays as it is, which has no peaks here.
    length: Range<usize>,
    /// The arrays with a number for each peak.
    arrays: Vec<Array>,
    end: usize,
}

/// The information before the spectra that is needed to read them.
#[derive(Debug, Default)]
pub struct Header {
    /// Whether the file ends with an index of its spectra.
    pub indexed: bool,
    /// The properties of arrays that the named groups of parameters give.
    groups: HashMap<Vec<u8>, Vec<Kind>>,
}

/// The end of the last complete spectrum or chromatogram.
pub(super) fn last_cut(text: &[u8]) -> Option<usize> {
    let ends = [&b"</spectrum>"[..], b"</chromatogram>"];
    ends.iter().filter_map(|end| memchr::memmem::rfind(text, end).map(|at| at + end.len())).max()
}

/// The end of the first spectrum that ends after `from`.
pub(super) fn next_cut(text: &[u8], from: usize) -> Option<usize> {
    let end = b"</spectrum>";
    memchr::memmem::find(&text[from..], end).map(|at| from + at + end.len())
}

impl Header {
    /// Parses the header from the beginning of a file, which must reach to the first spectrum.
    ///
    /// # Errors
    /// A description of the problem if this is not mzML.
    pub fn parse(text: &[u8]) -> Result<Header, String> {
        let mut header = Header::default();
        let mut reader = reader(text);
        let mut root = true;
        let mut group: Option<&mut Vec<Kind>> = None;
        loop {
            match reader.read_event().map_err(|error| format!("not well-formed XML: {error}"))? {
                Event::Start(tag) if root => {
                    header.indexed = match tag.name().as_ref() {
                        b"indexedmzML" => true,
                        b"mzML" => false,
                        other => {
                            let other = Quoted::new(other);
                            return Err(format!("the XML begins with {other}, so it is not mzML"));
                        }
                    };
                    root = false;
                }
                Event::Start(tag) if tag.name().as_ref() == b"referenceableParamGroup" => {
                    let id = value(&tag, "id").unwrap_or_default();
                    group = Some(header.groups.entry(id.to_vec()).or_default());
                }
                Event::Start(tag) | Event::Empty(tag) if tag.name().as_ref() == b"cvParam" => {
                    if is_imaging(&tag) {
                        return Err(IMZML.into());
                    }
                    if let (Some(group), Some(kind)) = (&mut group, Kind::of(&tag)) {
                        group.push(kind);
                    }
                }
                Event::Start(tag) if tag.name().as_ref() == b"run" => return Ok(header),
                Event::End(tag) if tag.name().as_ref() == b"referenceableParamGroup" => group = None,
                Event::Eof if root => return Err("the file ends before its mzML element".into()),
                Event::Eof => return Ok(header),
                _ => {}
            }
        }
    }

    /// The closing tag of a complete file.
    #[must_use]
    pub fn closing_tag(&self) -> &'static str {
        if self.indexed { "</indexedmzML>" } else { "</mzML>" }
    }
}

/// Reads the spectra in `text`. Its start must be between two spectra or the start of the file, and its end
/// between two spectra or the end of the file.
///
/// # Errors
/// For the first spectrum that is not well-formed XML or has no end, whose arrays cannot be decoded, whose m/z or
/// intensities have another length than declared, or that has a NaN in either. Also for the first whose numbers need more memory
/// than `room` has.
pub fn parse(header: &Header, text: &[u8], room: &Room) -> Result<Part, SpectrumError> {
    let mut part = Part { peaks: Peaks::none(), spectra: Vec::new(), kept: Kept::default() };
    let mut reader = reader(text);
    let mut open: Option<Open> = None;
    loop {
        let start = reader.buffer_position() as usize;
        let event = reader.read_event();
        let end = reader.buffer_position() as usize;
        let problem: Option<Problem> = match event {
            Err(error) => Some(format!("not well-formed XML, or cut short: {error}").into()),
            Ok(Event::Eof) if open.is_none() => return Ok(part),
            Ok(Event::Eof) => Some("the file ends before its </spectrum>".into()),
            Ok(Event::Start(tag)) if tag.name().as_ref() == b"spectrum" && open.is_none() => {
                open = Some(Open::new(text, &tag));
                None
            }
            Ok(Event::End(tag)) if tag.name().as_ref() == b"spectrum" => match open.take() {
                None => Some("</spectrum> comes without a <spectrum>".into()),
                Some(spectrum) => match spectrum.close(text, end, &mut part, room) {
                    Ok(()) => None,
                    Err((title, problem)) => {
                        return Err(SpectrumError { before: part.spectra.len(), title, problem });
                    }
                },
            },
            Ok(event) => match &mut open {
                None => None,
                Some(spectrum) => spectrum.note(header, text, &event, start, end).err().map(Problem::from),
            },
        };
        if let Some(problem) = problem {
            let title = open.and_then(|spectrum| spectrum.title);
            return Err(SpectrumError { before: part.spectra.len(), title, problem });
        }
    }
}

/// A spectrum whose end has not been read yet.
struct Open {
    title: Option<Quoted>,
    /// The value of `defaultArrayLength`.
    length: Option<Range<usize>>,
    arrays: Vec<Array>,
    /// Whether the last array is still open.
    within_array: bool,
}

impl Open {
    fn new(text: &[u8], tag: &BytesStart) -> Open {
        let title = value(tag, "id").map(Quoted::new);
        let length = place(text, value(tag, "defaultArrayLength"));
        Open { title, length, arrays: Vec::new(), within_array: false }
    }

    /// Processes an event within the spectrum, at `start..end` in the text.
    fn note(
        &mut self,
        header: &Header,
        text: &[u8],
        event: &Event,
        start: usize,
        end: usize,
    ) -> Result<(), String> {
        match event {
            Event::Start(tag) if tag.name().as_ref() == b"spectrum" => {
                return Err("another <spectrum> comes before its </spectrum>".into());
            }
            Event::Start(tag) if tag.name().as_ref() == b"binaryDataArray" => {
                self.within_array = true;
                self.arrays.push(Array::new(
                    place(text, value(tag, "encodedLength")),
                    place(text, value(tag, "arrayLength")),
                ));
            }
            Event::End(tag) if tag.name().as_ref() == b"binaryDataArray" => self.within_array = false,
            _ => {}
        }
        let Some(array) = self.arrays.last_mut().filter(|_| self.within_array) else { return Ok(()) };
        match event {
            Event::Start(tag) | Event::Empty(tag) => match tag.name().as_ref() {
                b"cvParam" if is_imaging(tag) => return Err(IMZML.into()),
                b"cvParam" => Kind::of(tag).into_iter().for_each(|kind| array.note(kind)),
                b"referenceableParamGroupRef" => {
                    let kinds = value(tag, "ref").and_then(|name| header.groups.get(name));
                    kinds.into_iter().flatten().for_each(|&kind| array.note(kind));
                }
                b"binary" if matches!(event, Event::Start(_)) => array.binary = end..end,
                _ => {}
            },
            Event::End(tag) if tag.name().as_ref() == b"binary" => array.binary.end = start,
            _ => {}
        }
        Ok(())
    }

    /// Decodes the arrays and adds the spectrum to the part. An error has the title of the spectrum and the
    /// problem.
    fn close(
        mut self,
        text: &[u8],
        end: usize,
        part: &mut Part,
        room: &Room,
    ) -> Result<(), (Option<Quoted>, Problem)> {
        let title = self.title.take();
        self.decode(text, end, part, room).map_err(|problem| (title, problem))
    }

    fn decode(mut self, text: &[u8], end: usize, part: &mut Part, room: &Room) -> Result<(), Problem> {
        let count = self.length.as_ref().map(|length| number(text, length));
        if !self.has(Kind::Mz) || !self.has(Kind::Intensity) {
            part.kept.spectra += usize::from(count != Some(Some(0)));
            return part.keep(end, room);
        }
        let (Some(length), Some(count)) = (self.length.take(), count) else {
            return Err("it has no defaultArrayLength".into());
        };
        let Some(count) = count else { return Err("its defaultArrayLength is not a number".into()) };
        let all = self.arrays.len();
        self.keep_arrays_of_other_lengths(text, count)?;
        if self.has_values_that_cannot_move(text, count, room)? {
            part.kept.spectra += 1;
            return part.keep(end, room);
        }
        self.arrays.retain(|array| array.is_of_peaks() || array.is_readable() && !array.is_text());
        // Checks the memory before allocating any, so that the error gives the total that is needed.
        let arrays: u64 = self.arrays.iter().map(|array| array.needs(count)).fold(0, u64::saturating_add);
        room.check(if arrays == 0 {
            0
        } else {
            arrays.saturating_add((count as u64).saturating_mul(A_PEAK))
        })?;
        let mut fitting = Vec::new();
        for mut array in self.arrays {
            if array.decode(text, count, room)? {
                fitting.push(array);
            } else if array.is_of_peaks() {
                let name = array.name();
                let problem =
                    format!("{name} does not have {count} numbers, one for each peak of the spectrum");
                return Err(problem.into());
            }
        }
        part.kept.arrays += all - fitting.len();
        let find = |kind| fitting.iter().find(|array| array.is(kind));
        let (mz, intensity) = find(Kind::Mz).zip(find(Kind::Intensity)).expect("the spectrum has both");
        let peaks = &mut part.peaks;
        room.reserve(&mut peaks.mz, count)?;
        room.reserve(&mut peaks.intensity, count)?;
        room.reserve(&mut peaks.offsets, 1)?;
        for (i, (mz, intensity)) in mz.numbers().zip(intensity.numbers()).enumerate() {
            if mz.is_nan() || intensity.is_nan() {
                return Err(format!(
                    "peak {}, of m/z {mz} and intensity {intensity}, has a NaN, which cannot be ordered",
                    i + 1
                )
                .into());
            }
            peaks.mz.push(mz);
            peaks.intensity.push(intensity);
        }
        peaks.offsets.push(peaks.mz.len());
        part.spectra.push(Spectrum { length, arrays: fitting, end });
        Ok(())
    }

    fn has(&self, kind: Kind) -> bool {
        self.arrays.iter().any(|array| array.is(kind))
    }

    /// Removes the arrays that declare another length than the spectrum, so that they stay as they are.
    fn keep_arrays_of_other_lengths(&mut self, text: &[u8], count: usize) -> Result<(), Problem> {
        for array in &self.arrays {
            match array.own_length(text) {
                Some(own) if own != Some(count) && (own.is_none() || array.is_of_peaks()) => {
                    let own = own.map_or("no number".into(), |own| own.to_string());
                    let name = array.name();
                    return Err(format!("the length of {name} is {own}, but the spectrum has {count}").into());
                }
                _ => {}
            }
        }
        self.arrays.retain(|array| array.own_length(text).flatten().is_none_or(|own| own == count));
        Ok(())
    }

    /// Whether an additional array has a string for each peak, or may have another value that cannot be moved with its peak.
    fn has_values_that_cannot_move(&self, text: &[u8], count: usize, room: &Room) -> Result<bool, Problem> {
        for array in self.arrays.iter().filter(|array| count > 0 && !array.is_of_peaks()) {
            if !array.is_readable() || array.is_text() && array.strings(text, room)? == count {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Part {
    /// Adds a spectrum that stays as it is.
    fn keep(&mut self, end: usize, room: &Room) -> Result<(), Problem> {
        room.reserve(&mut self.peaks.offsets, 1)?;
        self.peaks.offsets.push(self.peaks.mz.len());
        self.spectra.push(Spectrum { length: 0..0, arrays: Vec::new(), end });
        Ok(())
    }

    /// The peaks of all spectra.
    #[must_use]
    pub fn peaks(&self) -> &Peaks {
        &self.peaks
    }

    /// See [`Part::to_write`](super::Part::to_write).
    pub(super) fn to_write(&self, text: &[u8]) -> u64 {
        let arrays = self.spectra.iter().flat_map(|spectrum| &spectrum.arrays);
        text.len() as u64 + arrays.map(Array::to_edit).sum::<u64>()
    }

    /// See [`Part::write`](super::Part::write).
    ///
    /// # Errors
    /// If the system cannot allocate the memory.
    pub fn write<'a>(
        &self,
        text: &[u8],
        order: impl Iterator<Item = &'a [u32]>,
        out: &mut Vec<u8>,
    ) -> Result<Vec<Ends>, NoRoom> {
        let mut ends = Vec::new();
        let mut written = 0;
        for ((spectrum, bounds), order) in self.spectra.iter().zip(self.peaks.offsets.windows(2)).zip(order) {
            if order.len() == bounds[1] - bounds[0] && order.iter().copied().eq(0..order.len() as u32) {
                continue;
            }
            let mut edits = vec![(spectrum.length.clone(), order.len().to_string().into_bytes())];
            for array in &spectrum.arrays {
                array.edit(order, &mut edits)?;
            }
            edits.sort_by_key(|(place, _)| place.start);
            for (place, new) in edits {
                append(out, &text[written..place.start])?;
                append(out, &new)?;
                written = place.end;
            }
            append(out, &text[written..spectrum.end])?;
            written = spectrum.end;
            ends.push(Ends { old: written as u64, new: out.len() as u64 });
        }
        append(out, &text[written..])?;
        Ok(ends)
    }
}

const IMZML: &str = "it is imzML, whose numbers are in another file (.ibd); only mzML, which contains its numbers, can be sorted";

/// Whether a parameter belongs to the vocabulary of imaging mass spectrometry.
fn is_imaging(parameter: &BytesStart) -> bool {
    value(parameter, "accession").is_some_and(|accession| accession.starts_with(b"IMS:"))
}

/// The number at a position in the text.
fn number(text: &[u8], place: &Range<usize>) -> Option<usize> {
    std::str::from_utf8(&text[place.clone()]).ok()?.parse().ok()
}

/// An XML reader of a stretch, in which elements may end that began before it.
fn reader(text: &[u8]) -> Reader<&[u8]> {
    let mut reader = Reader::from_reader(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    reader
}

/// The value of an attribute, with escapes left as they are.
fn value<'a>(tag: &'a BytesStart, name: &str) -> Option<&'a [u8]> {
    let attribute =
        tag.attributes().with_checks(false).flatten().find(|a| a.key.as_ref() == name.as_bytes())?;
    match attribute.value {
        std::borrow::Cow::Borrowed(value) => Some(value),
        std::borrow::Cow::Owned(_) => None,
    }
}

/// The range of `part` within `text`.
fn place(text: &[u8], part: Option<&[u8]>) -> Option<Range<usize>> {
    let part = part?;
    let start = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let range = start..start + part.len();
    (range.end <= text.len()).then_some(range)
}
