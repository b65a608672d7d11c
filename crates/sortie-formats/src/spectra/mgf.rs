//! MGF, the Mascot generic format. Between `BEGIN IONS` and `END IONS` are lines of parameters, `NAME=value`, and of
//! peaks: an m/z, an intensity, and optionally a charge.

use std::ops::Range;

use super::room::append;
use super::{NoRoom, Peaks, Problem, Room, SpectrumError};
use crate::Quoted;

const BEGIN: &[u8] = b"BEGIN IONS";
const END: &[u8] = b"END IONS";
/// The byte order mark of UTF-8, which some editors put before the first line of a file.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The spectra in a stretch of text.
#[derive(Debug)]
pub struct Part {
    pub(super) peaks: Peaks,
    /// The line of each peak in the text, including its terminator.
    lines: Vec<Range<usize>>,
}

/// The end of the last complete line `END IONS`.
pub(super) fn last_cut(text: &[u8]) -> Option<usize> {
    memchr::memmem::rfind_iter(text, END).find_map(|at| end_of_end(text, at))
}

/// The end of the first line `END IONS` that begins at or after `from`.
pub(super) fn next_cut(text: &[u8], from: usize) -> Option<usize> {
    memchr::memmem::find_iter(&text[from..], END).find_map(|at| end_of_end(text, from + at))
}

/// The end of the line at `at`, if the line has only `END IONS`.
fn end_of_end(text: &[u8], at: usize) -> Option<usize> {
    let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
    let end = at + memchr::memchr(b'\n', &text[at..])? + 1;
    (text[start..end].trim_ascii() == END).then_some(end)
}

/// Whether a spectrum may begin in `text`.
#[must_use]
pub fn begins(text: &[u8]) -> bool {
    memchr::memmem::find(text, BEGIN).is_some()
}

/// Reads the spectra in `text`. It must begin between two spectra, and end between two spectra or with the
/// file.
///
/// # Errors
/// For the first spectrum that has an invalid line, a peak without an intensity or with a NaN, or no end. Also if the
/// lines would need more memory than `room` has; each line counts 36 bytes.
///
/// ```
/// use sortie_formats::spectra::{Room, mgf};
/// let text = b"BEGIN IONS\nTITLE=one\n61.5 3\n59 8 2+\nEND IONS\n";
/// let part = mgf::parse(text, &Room::unlimited()).unwrap();
/// assert_eq!(part.peaks().mz, [61.5, 59.0]);
/// ```
pub fn parse(text: &[u8], room: &Room) -> Result<Part, SpectrumError> {
    let mut part = Part { peaks: Peaks::none(), lines: Vec::new() };
    // The state of the current spectrum.
    let mut title: Option<&[u8]> = None;
    let mut inside = false;
    let failed = |part: &Part, title: Option<&[u8]>, problem: Problem| SpectrumError {
        before: part.peaks.offsets.len() - 1,
        title: title.map(Quoted::new),
        problem,
    };
    part.reserve(text, room).map_err(|error| failed(&part, None, error.into()))?;
    let mut next = 0;
    while next < text.len() {
        let start = next;
        next = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at + 1);
        let line = &text[start..next];
        let line = if inside { line } else { line.strip_prefix(BOM).unwrap_or(line) }.trim_ascii();
        match line {
            BEGIN if inside => {
                return Err(failed(&part, title, "another BEGIN IONS comes before its END IONS".into()));
            }
            BEGIN => inside = true,
            END if !inside => {
                return Err(failed(&part, None, "END IONS comes without a BEGIN IONS".into()));
            }
            END => {
                part.peaks.offsets.push(part.lines.len());
                (inside, title) = (false, None);
            }
            _ if !inside => {}
            [] | [b'#' | b';' | b'!' | b'/', ..] => {}
            [b'A'..=b'Z' | b'a'..=b'z' | b'_', ..] if line.contains(&b'=') => {
                if let Some(value) = line.strip_prefix(b"TITLE=") {
                    title = Some(value.trim_ascii());
                }
            }
            // If the file was cut short within its last line, that is the error to report, whatever is wrong
            // with the line.
            _ if next == text.len() && !text.ends_with(b"\n") => {}
            _ => {
                let (mz, intensity) = peak(line).map_err(|problem| failed(&part, title, problem.into()))?;
                part.peaks.mz.push(mz);
                part.peaks.intensity.push(intensity);
                part.lines.push(start..next);
            }
        }
    }
    match inside {
        true => Err(failed(&part, title, "the file ends before its END IONS".into())),
        false => Ok(part),
    }
}

/// The m/z and the intensity in a line of a peak.
fn peak(line: &[u8]) -> Result<(f64, f64), String> {
    let shown = || Quoted::new(line);
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let number = |field| std::str::from_utf8(field).ok().and_then(|field| field.parse::<f64>().ok());
    let Some(mz) = fields.next().and_then(number) else {
        return Err(format!("the line {} is neither a peak nor NAME=value", shown()));
    };
    let Some(intensity) = fields.next() else {
        return Err(format!("the peak {} has no intensity", shown()));
    };
    let Some(intensity) = number(intensity) else {
        return Err(format!("the intensity of the peak {} is not a number", shown()));
    };
    if mz.is_nan() || intensity.is_nan() {
        return Err(format!("the peak {} has a NaN, which cannot be ordered", shown()));
    }
    Ok((mz, intensity))
}

impl Part {
    /// The peaks of all spectra.
    #[must_use]
    pub fn peaks(&self) -> &Peaks {
        &self.peaks
    }

    /// Reserves memory for as many peaks and spectra as `text` has lines.
    fn reserve(&mut self, text: &[u8], room: &Room) -> Result<(), NoRoom> {
        let lines = memchr::memchr_iter(b'\n', text).count() + 1;
        room.reserve(&mut self.peaks.mz, lines)?;
        room.reserve(&mut self.peaks.intensity, lines)?;
        room.reserve(&mut self.lines, lines)?;
        room.reserve(&mut self.peaks.offsets, lines / 2 + 1)
    }

    /// Appends `text` with the lines of the peaks in another order, see [`Part::write`](super::Part::write). Other
    /// lines stay where they are.
    ///
    /// # Errors
    /// If the system cannot allocate the memory.
    pub fn write<'a>(
        &self,
        text: &[u8],
        order: impl Iterator<Item = &'a [u32]>,
        out: &mut Vec<u8>,
    ) -> Result<(), NoRoom> {
        let mut written = 0;
        for (bounds, order) in self.peaks.offsets.windows(2).zip(order) {
            let lines = &self.lines[bounds[0]..bounds[1]];
            let mut sorted = order.iter().map(|&place| &lines[place as usize]);
            for line in lines {
                append(out, &text[written..line.start])?;
                if let Some(line) = sorted.next() {
                    append(out, &text[line.clone()])?;
                }
                written = line.end;
            }
        }
        append(out, &text[written..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str, order: &[&[u32]]) -> String {
        let part = parse(text.as_bytes(), &Room::unlimited()).unwrap();
        let mut out = Vec::new();
        part.write(text.as_bytes(), order.iter().copied(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_the_lines_of_peaks_move() {
        let text = "# c\r\nCOM=x\r\n\r\nBEGIN IONS\r\nTITLE=t\r\n\t3 1 2+\n; 9 9\r\n2 5\r\n \r\n1e0\t7 1+ \r\nEND IONS \r\nx\n";
        let sorted = "# c\r\nCOM=x\r\n\r\nBEGIN IONS\r\nTITLE=t\r\n1e0\t7 1+ \r\n; 9 9\r\n2 5\r\n \r\n\t3 1 2+\nEND IONS \r\nx\n";
        assert_eq!(rewritten(text, &[&[2, 1, 0]]), sorted);
        assert_eq!(rewritten(text, &[&[0, 1, 2]]), text);
        let fewer = "# c\r\nCOM=x\r\n\r\nBEGIN IONS\r\nTITLE=t\r\n2 5\r\n; 9 9\r\n \r\nEND IONS \r\nx\n";
        assert_eq!(rewritten(text, &[&[1]]), fewer);
    }

    #[test]
    fn spectra_without_peaks_are_kept() {
        let text = "BEGIN IONS\nEND IONS\nBEGIN IONS\n1 2\nEND IONS";
        assert_eq!(parse(text.as_bytes(), &Room::unlimited()).unwrap().peaks().offsets, [0, 0, 1]);
        assert_eq!(rewritten(text, &[&[], &[0]]), text);
        assert_eq!(rewritten("", &[]), "");
    }

    #[test]
    fn a_mark_of_utf_8_stays_before_the_first_spectrum() {
        let text = "\u{feff}BEGIN IONS\n2 1\n1 2\nEND IONS\n";
        assert_eq!(rewritten(text, &[&[1, 0]]), "\u{feff}BEGIN IONS\n1 2\n2 1\nEND IONS\n");
        // Within a spectrum the mark is not part of a peak.
        let text = "BEGIN IONS\n\u{feff}1 2\nEND IONS\n";
        assert!(parse(text.as_bytes(), &Room::unlimited()).is_err());
    }

    #[test]
    fn lines_take_no_more_room_than_there_is() {
        let text = "BEGIN IONS\n1 2\n1 2\nEND IONS\n";
        let room = Room::new(200);
        parse(text.as_bytes(), &room).unwrap();
        assert!((5 * 32..=200).contains(&room.taken()), "{room:?}");
        let error = parse(text.as_bytes(), &Room::new(100)).unwrap_err();
        assert!(matches!(error.problem, Problem::NoRoom(NoRoom::Limit { limit: 100, .. })), "{error:?}");
    }

    #[test]
    fn cuts_are_between_spectra() {
        let text = b"BEGIN IONS\nTITLE=END IONS\n END IONS\r\nTITLE=END IONS\nBEGIN IONS\nEND IONS\nBEGIN IONS\nEND IONS";
        let cuts = [37, 72];
        assert_eq!(last_cut(text), Some(cuts[1]));
        assert_eq!(last_cut(&text[..cuts[1] - 1]), Some(cuts[0]));
        assert_eq!(last_cut(&text[..cuts[0] - 1]), None);
        assert_eq!(next_cut(text, 0), Some(cuts[0]));
        assert_eq!(next_cut(text, 1), Some(cuts[0]));
        assert_eq!(next_cut(text, cuts[0]), Some(cuts[1]));
        assert_eq!(next_cut(text, cuts[1]), None);
    }

    #[test]
    fn what_is_wrong_is_said_of_its_spectrum() {
        for (body, problem) in [
            ("1 2\nNaN 3\nEND IONS\n", "the peak 'NaN 3' has a NaN, which cannot be ordered"),
            ("1 nan\nEND IONS\n", "the peak '1 nan' has a NaN, which cannot be ordered"),
            ("1 \t\nEND IONS\n", "the peak '1' has no intensity"),
            ("1 x\nEND IONS\n", "the intensity of the peak '1 x' is not a number"),
            ("1,5 2\nEND IONS\n", "the line '1,5 2' is neither a peak nor NAME=value"),
            ("\u{e9} 2\nEND IONS\n", r"the line ''$'\303\251'' 2' is neither a peak nor NAME=value"),
            (
                "\u{1b}[31m\r2\nEND IONS\n",
                r"the line ''$'\033''[31m'$'\r''2' is neither a peak nor NAME=value",
            ),
            ("1 2\nBEGIN IONS\n", "another BEGIN IONS comes before its END IONS"),
            ("1 2\n", "the file ends before its END IONS"),
            ("1 2\n3", "the file ends before its END IONS"),
            ("1 2\nEND ION", "the file ends before its END IONS"),
        ] {
            let text = format!("BEGIN IONS\nTITLE=first\n1 1\nEND IONS\nBEGIN IONS\nTITLE= a b\r\n{body}");
            let error = parse(text.as_bytes(), &Room::unlimited()).unwrap_err();
            assert_eq!(
                error,
                SpectrumError { before: 1, title: Some(Quoted::new("a b")), problem: problem.into() }
            );
        }
        let error = parse(b"BEGIN IONS\nTITLE=x\nEND IONS\nEND IONS\n", &Room::unlimited()).unwrap_err();
        assert_eq!((error.before, error.title), (1, None));
    }
}
