//! An array of numbers in base64: little-endian, as they are or compressed with zlib.

use std::io::{Read, Write};
use std::ops::Range;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use quick_xml::events::BytesStart;

/// What one parameter says of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Number(Number),
    Uncompressed,
    Zlib,
    Mz,
    Intensity,
}

/// A type of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    I32,
    F32,
    I64,
    F64,
}

impl Kind {
    /// By the accession of a parameter in the vocabulary of the Proteomics Standards Initiative; none for a parameter
    /// that changes nothing here, or is not known.
    pub fn of(parameter: &BytesStart) -> Option<Kind> {
        Some(match super::value(parameter, "accession")? {
            b"MS:1000519" => Kind::Number(Number::I32),
            b"MS:1000521" => Kind::Number(Number::F32),
            b"MS:1000522" => Kind::Number(Number::I64),
            b"MS:1000523" => Kind::Number(Number::F64),
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

/// An array of a spectrum; ranges are places in the text.
#[derive(Debug, Default)]
pub struct Array {
    kinds: Vec<Kind>,
    /// The value of `encodedLength`.
    encoded_length: Option<Range<usize>>,
    /// The value of `arrayLength`.
    pub length: Option<Range<usize>>,
    /// What stands within `<binary>`.
    pub binary: Range<usize>,
    /// The numbers, decoded.
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

    /// For people.
    pub fn name(&self) -> &'static str {
        match (self.is(Kind::Mz), self.is(Kind::Intensity)) {
            (true, _) => "the array of m/z",
            (_, true) => "the array of intensities",
            _ => "one more array",
        }
    }

    fn number(&self) -> Option<Number> {
        self.kinds.iter().find_map(|kind| match kind {
            Kind::Number(number) => Some(*number),
            _ => None,
        })
    }

    /// Decodes what must be `count` numbers.
    pub fn decode(&mut self, text: &[u8], count: usize) -> Result<(), String> {
        let name = self.name();
        let Some(number) = self.number() else {
            return Err(format!(
                "{name} is of no type known here, which are 32 or 64-bit integers and floats"
            ));
        };
        if !self.is(Kind::Zlib) && !self.is(Kind::Uncompressed) {
            return Err(format!(
                "{name} is compressed in a way that is not known here; convert the file to zlib, or to none"
            ));
        }
        let encoded: Vec<u8> =
            text[self.binary.clone()].iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let decoded = base64_simd::STANDARD
            .decode_to_vec(&encoded)
            .map_err(|_| format!("{name} is no base64, or cut short"))?;
        self.bytes = if self.is(Kind::Zlib) && !decoded.is_empty() {
            // One byte more than there should be shows that there are more.
            let most = count.saturating_mul(number.width()).saturating_add(1);
            let mut bytes = Vec::new();
            ZlibDecoder::new(&decoded[..])
                .take(most as u64)
                .read_to_end(&mut bytes)
                .map_err(|error| format!("{name} cannot be decompressed: {error}"))?;
            bytes
        } else {
            decoded
        };
        if Some(self.bytes.len()) != count.checked_mul(number.width()) {
            return Err(format!("{name} does not hold as many numbers as the spectrum has peaks, {count}"));
        }
        Ok(())
    }

    /// The numbers. Integers beyond 2^53 are rounded, so close ones of that size count as equal; no instrument counts so
    /// far.
    pub fn numbers(&self) -> Vec<f64> {
        let Some(number) = self.number() else { return Vec::new() };
        self.bytes.chunks_exact(number.width()).map(|bytes| number.read(bytes)).collect()
    }

    /// Adds what has to be written for the numbers at these places alone, in this order.
    pub fn edit(&self, order: &[u32], edits: &mut Vec<(Range<usize>, Vec<u8>)>) {
        let width = self.number().map_or(1, Number::width);
        let moved: Vec<u8> =
            order.iter().flat_map(|&place| &self.bytes[place as usize * width..][..width]).copied().collect();
        let stored = if self.is(Kind::Zlib) {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            encoder
                .write_all(&moved)
                .and_then(|()| encoder.finish())
                .expect("memory takes all that is written")
        } else {
            moved
        };
        let encoded = base64_simd::STANDARD.encode_type::<Vec<u8>>(&stored);
        let mut number = |place: &Option<Range<usize>>, number: usize| {
            edits.extend(place.clone().map(|place| (place, number.to_string().into_bytes())));
        };
        number(&self.encoded_length, encoded.len());
        number(&self.length, order.len());
        edits.push((self.binary.clone(), encoded));
    }
}
