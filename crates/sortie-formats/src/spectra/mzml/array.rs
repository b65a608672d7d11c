//! An array of numbers in base64: little-endian, uncompressed or compressed with zlib.

use std::io::{Read, Write};
use std::ops::Range;

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use quick_xml::events::BytesStart;

use crate::spectra::{Memory, NoRoom, Problem, Room};

/// zlib expands one byte to at most this many.
const MOST_OF_ZLIB: u64 = 1032;

/// A property of an array, given by one parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Number(Number),
    /// Strings, each ended by a NUL.
    Text,
    Uncompressed,
    Zlib,
    Mz,
    Intensity,
}

/// The type of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    I32,
    F32,
    I64,
    F64,
}

impl Kind {
    /// The property that a parameter gives, by its accession in the vocabulary of the Proteomics Standards
    /// Initiative. `None` if the accession is unknown or does not matter here.
    pub fn of(parameter: &BytesStart) -> Option<Kind> {
        Some(match super::value(parameter, "accession")? {
            b"MS:1000519" => Kind::Number(Number::I32),
            b"MS:1000521" => Kind::Number(Number::F32),
            b"MS:1000522" => Kind::Number(Number::I64),
            b"MS:1000523" => Kind::Number(Number::F64),
            b"MS:1001479" => Kind::Text,
            b"MS:1000576" => Kind::Uncompressed,
            b"MS:1000574" => Kind::Zlib,
            b"MS:1000514" => Kind::Mz,
            b"MS:1000515" => Kind::Intensity,
            _ => return None,
        })
    }
}

impl Number {
    fn width(self) -> usize {
        match self {
            Number::I32 | Number::F32 => 4,
            Number::I64 | Number::F64 => 8,
        }
    }

    fn read(self, bytes: &[u8]) -> f64 {
        let four = |bytes: &[u8]| bytes.try_into().expect("four bytes");
        let eight = |bytes: &[u8]| bytes.try_into().expect("eight bytes");
        match self {
            Number::I32 => f64::from(i32::from_le_bytes(four(bytes))),
            Number::F32 => f64::from(f32::from_le_bytes(four(bytes))),
            Number::I64 => i64::from_le_bytes(eight(bytes)) as f64,
            Number::F64 => f64::from_le_bytes(eight(bytes)),
        }
    }
}

/// An array of a spectrum. Ranges are positions in the text.
#[derive(Debug, Default)]
pub struct Array {
    kinds: Vec<Kind>,
    /// The value of `encodedLength`.
    encoded_length: Option<Range<usize>>,
    /// The value of `arrayLength`.
    pub length: Option<Range<usize>>,
    /// The content of `<binary>`.
    pub binary: Range<usize>,
    /// The decoded numbers.
    bytes: Vec<u8>,
}

impl Array {
    pub fn new(encoded_length: Option<Range<usize>>, length: Option<Range<usize>>) -> Array {
        Array { encoded_length, length, ..Array::default() }
    }

    pub fn note(&mut self, kind: Kind) {
        self.kinds.push(kind);
    }

    pub fn is(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// The name for messages.
    pub fn name(&self) -> &'static str {
        match (self.is(Kind::Mz), self.is(Kind::Intensity)) {
            (true, _) => "the array of m/z",
            (_, true) => "the array of intensities",
            _ => "an additional array",
        }
    }

    fn number(&self) -> Option<Number> {
        self.kinds.iter().find_map(|kind| match kind {
            Kind::Number(number) => Some(*number),
            _ => None,
        })
    }

    /// Whether it has the m/z or the intensities of the peaks.
    pub fn is_of_peaks(&self) -> bool {
        self.is(Kind::Mz) || self.is(Kind::Intensity)
    }

    /// Whether it is an additional array of text.
    pub fn is_text(&self) -> bool {
        self.is(Kind::Text) && !self.is_of_peaks()
    }

    /// Whether its values can be read: numbers or text, uncompressed or compressed with zlib.
    pub fn is_readable(&self) -> bool {
        (self.is(Kind::Zlib) || self.is(Kind::Uncompressed))
            && (self.is(Kind::Text) || self.number().is_some())
    }

    /// The length that the array itself declares, if it does. `Some(None)` is not a number.
    pub fn own_length(&self, text: &[u8]) -> Option<Option<usize>> {
        self.length.as_ref().map(|length| super::number(text, length))
    }

    /// Decodes the array. Returns whether it has exactly `count` numbers. If it does not, its numbers are not kept.
    pub fn decode(&mut self, text: &[u8], count: usize, room: &Room) -> Result<bool, Problem> {
        let name = self.name();
        let Some(number) = self.number() else {
            let known = "has an unsupported type; 32- and 64-bit integers and floats are supported";
            return Err(format!("{name} {known}").into());
        };
        let mut stored = self.stored(text, room)?;
        let held = stored.capacity() as u64;
        let Some(need) = count.checked_mul(number.width()) else {
            room.give_back(held);
            return Ok(false);
        };
        if !self.is(Kind::Zlib) || stored.is_empty() {
            self.bytes = std::mem::take(&mut stored);
        } else {
            // Memory is not allocated for more numbers than the data can have.
            if need as u64 > stored.len() as u64 * MOST_OF_ZLIB {
                room.give_back(held);
                return Ok(false);
            }
            self.bytes = inflate(&stored, need, room)?
                .map_err(|error| format!("{name} cannot be decompressed: {error}"))?;
            drop(stored);
            room.give_back(held);
        }
        let fits = self.bytes.len() == need;
        if !fits {
            room.give_back(self.bytes.capacity() as u64);
            self.bytes = Vec::new();
        }
        Ok(fits)
    }

    /// The number of strings in an array of text.
    pub fn strings(&self, text: &[u8], room: &Room) -> Result<usize, Problem> {
        let stored = self.stored(text, room)?;
        let (mut strings, mut last, mut piece) = (0, 0, [0; 4 << 10]);
        let mut content: Box<dyn Read> = match self.is(Kind::Zlib) && !stored.is_empty() {
            true => Box::new(ZlibDecoder::new(&stored[..])),
            false => Box::new(&stored[..]),
        };
        loop {
            let read = content.read(&mut piece);
            let read = read.map_err(|error| format!("{} cannot be decompressed: {error}", self.name()))?;
            let Some(&end) = piece[..read].last() else { break };
            strings += memchr::memchr_iter(0, &piece[..read]).count();
            last = end;
        }
        drop(content);
        room.give_back(stored.capacity() as u64);
        // The last string may lack its NUL.
        Ok(strings + usize::from(last != 0))
    }

    /// The bytes that are stored in base64. Their capacity is counted.
    fn stored(&self, text: &[u8], room: &Room) -> Result<Vec<u8>, Problem> {
        let name = self.name();
        if !self.is(Kind::Zlib) && !self.is(Kind::Uncompressed) {
            return Err(format!(
                "{name} is compressed with an unsupported method; convert the file to zlib or no compression"
            )
            .into());
        }
        let binary = &text[self.binary.clone()];
        let mut stored = Vec::new();
        room.reserve(&mut stored, binary.len())?;
        stored.extend(binary.iter().copied().filter(|byte| !byte.is_ascii_whitespace()));
        self.check_encoded_length(text, stored.len())?;
        let length = base64_simd::STANDARD
            .decode_inplace(&mut stored)
            .map_err(|_| format!("{name} is not base64, or is cut short"))?
            .len();
        stored.truncate(length);
        Ok(stored)
    }

    /// Checks that the number of characters is what `encodedLength` says.
    fn check_encoded_length(&self, text: &[u8], found: usize) -> Result<(), Problem> {
        match self.encoded_length.as_ref().map(|length| super::number(text, length)) {
            None => Ok(()),
            Some(Some(length)) if length == found => Ok(()),
            Some(Some(length)) => Err(format!(
                "the encodedLength of {} is {length}, but it has {found} characters",
                self.name()
            )
            .into()),
            Some(None) => Err(format!("the encodedLength of {} is not a number", self.name()).into()),
        }
    }

    /// The numbers as `f64`. Integers beyond 2^53 are rounded, so close ones may count as equal; instruments do not
    /// count that far.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        let number = self.number().unwrap_or(Number::F64);
        self.bytes.chunks_exact(number.width()).map(move |bytes| number.read(bytes))
    }

    /// The maximum memory in bytes that [`Array::edit`] needs.
    pub fn to_edit(&self) -> u64 {
        to_edit(self.bytes.len() as u64)
    }

    /// The memory in bytes for `count` numbers, decoded and written. 0 if the data cannot have that many.
    pub fn needs(&self, count: usize) -> u64 {
        let grows_by = if self.is(Kind::Zlib) { MOST_OF_ZLIB } else { 1 };
        let bytes = (count as u64).saturating_mul(self.number().map_or(0, Number::width) as u64);
        let stored = self.binary.len() as u64;
        if bytes > stored * grows_by { 0 } else { 2 * stored + bytes + to_edit(bytes) }
    }

    /// Adds an edit that leaves only the numbers at the indices `order`, in this order.
    pub fn edit(&self, order: &[u32], edits: &mut Vec<(Range<usize>, Vec<u8>)>) -> Result<(), NoRoom> {
        let width = self.number().map_or(1, Number::width);
        let mut moved = with_room(order.len() * width)?;
        for &place in order {
            moved.extend_from_slice(&self.bytes[place as usize * width..][..width]);
        }
        let stored = if self.is(Kind::Zlib) { deflate(&moved)? } else { moved };
        let length = base64_simd::STANDARD.encoded_length(stored.len());
        let mut encoded = with_room(length)?;
        base64_simd::STANDARD.encode_append(&stored, &mut encoded);
        let mut number = |place: &Option<Range<usize>>, number: usize| {
            edits.extend(place.clone().map(|place| (place, number.to_string().into_bytes())));
        };
        number(&self.encoded_length, encoded.len());
        number(&self.length, order.len());
        edits.push((self.binary.clone(), encoded));
        Ok(())
    }
}

/// The bytes of memory for the reordered numbers, their worst-case zlib form, its base64 form, and a copy of that.
fn to_edit(bytes: u64) -> u64 {
    6 * bytes + 1024
}

/// Decompresses zlib data. Stops after `need` bytes and one more, which shows that there are too many.
fn inflate(stored: &[u8], need: usize, room: &Room) -> Result<std::io::Result<Vec<u8>>, NoRoom> {
    let mut bytes = Vec::new();
    room.reserve(&mut bytes, need + 1)?;
    let read = ZlibDecoder::new(stored).take(need as u64 + 1).read_to_end(&mut bytes);
    Ok(read.map(|_| bytes))
}

fn deflate(bytes: &[u8]) -> Result<Vec<u8>, NoRoom> {
    let mut encoder = ZlibEncoder::new(Memory::default(), Compression::default());
    let done = encoder.write_all(bytes).and_then(|()| encoder.finish());
    // Compression in memory can fail only for lack of memory.
    done.map(|Memory(stored)| stored).map_err(|_| NoRoom::System { needed: bytes.len() as u64 })
}

fn with_room(bytes: usize) -> Result<Vec<u8>, NoRoom> {
    let mut empty = Vec::new();
    empty.try_reserve_exact(bytes).map_err(|_| NoRoom::System { needed: bytes as u64 })?;
    Ok(empty)
}
