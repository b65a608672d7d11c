//! NumPy's `.npy` format: a header with type, order and shape, then the elements.
//!
//! NumPy's documentation of `numpy.lib.format` describes the format. This module reads versions 1.0, 2.0 and
//! 3.0, and writes 1.0. The header is a Python dictionary literal. The parser accepts only what NumPy writes.
//! It does not recurse, and [`MAX_HEADER`] bounds its work.

use bytemuck::Pod;

use crate::dtype::describe;
use crate::raw::{self, Input, Note};
use crate::{Dtype, Error};

/// The first bytes of every `.npy` file.
const MAGIC: &[u8] = b"\x93NUMPY";

/// How many bytes tell whether a file is an array.
pub const SIGNATURE: usize = PREAMBLE + 1;

/// Whether `head` is the beginning of an array: the magic number, with which text may begin too, a version, and the brace that begins
/// the header. Of fewer bytes than [`SIGNATURE`], whether they may be such a beginning.
#[must_use]
pub fn may_begin(head: &[u8]) -> bool {
    let magic = head.len().min(MAGIC.len());
    let version = &head[magic..];
    let brace = version.first().and_then(|&major| head.get(preamble_len(major)));
    head[..magic] == MAGIC[..magic]
        && matches!(version, [] | [1..=3] | [1..=3, 0, ..])
        && brace.is_none_or(|&byte| byte == b'{')
}

/// Whether `head`, the first [`SIGNATURE`] bytes of a file or more, shows that the file is an array.
#[must_use]
pub fn begins(head: &[u8]) -> bool {
    head.len() >= SIGNATURE && may_begin(head)
}

/// The alignment to which NumPy pads the header.
const ALIGN: usize = 64;
/// The longest header literal to read. Plain arrays have a few hundred bytes.
pub const MAX_HEADER: usize = 1 << 16;
/// The maximum number of dimensions in NumPy.
pub const MAX_DIMENSIONS: usize = 64;

/// The description of the elements in a `.npy` file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub dtype: Dtype,
    /// The unit of dates and times, as in `[25us]`. Empty if they have none, and for numbers.
    pub unit: String,
    /// Whether the first index varies fastest between neighbouring elements, instead of the last.
    pub fortran_order: bool,
    /// The length of each dimension. Empty for a single element.
    pub shape: Vec<usize>,
    /// The position of the first element in the file.
    pub data_start: usize,
}

impl Header {
    /// The number of elements.
    #[must_use]
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// The header of a file of version 1.0, up to the first element.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let shape = match self.shape.as_slice() {
            [one] => format!("({one},)"),
            many => format!("({})", many.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
        };
        let fortran_order = if self.fortran_order { "True" } else { "False" };
        let Header { dtype, unit, .. } = self;
        let literal =
            format!("{{'descr': '{dtype}{unit}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}");
        let preamble = MAGIC.len() + 4;
        let whole = (preamble + literal.len() + 1).next_multiple_of(ALIGN);
        let mut bytes = Vec::with_capacity(whole);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&[1, 0]);
        // 64 dimensions of 20 digits take less than 2 KB.
        bytes.extend_from_slice(&((whole - preamble) as u16).to_le_bytes());
        bytes.extend_from_slice(literal.as_bytes());
        bytes.resize(whole - 1, b' ');
        bytes.push(b'\n');
        bytes
    }
}

/// Reads the header at the beginning of `bytes`. Ignores what follows it.
///
/// # Errors
/// [`Error::HeaderTruncated`], [`Error::Header`], [`Error::Dtype`], [`Error::Structured`].
pub fn parse_header(bytes: &[u8]) -> Result<Header, Error> {
    let data_start = match header_len(bytes)? {
        Some(len) if len <= bytes.len() => len,
        Some(len) => return Err(Error::HeaderTruncated { have: bytes.len() as u64, need: len as u64 }),
        None => return Err(Error::HeaderTruncated { have: bytes.len() as u64, need: PREAMBLE as u64 }),
    };
    let mut literal = Literal { bytes: &bytes[preamble_len(bytes[6])..data_start], at: 0 };
    let (mut dtype, mut fortran_order, mut shape) = (None, None, None);
    literal.expect(b'{')?;
    while literal.peek() != Some(b'}') {
        let key = literal.string()?;
        literal.expect(b':')?;
        let seen = match key {
            "descr" => dtype.replace(literal.dtype()?).is_some(),
            "fortran_order" => fortran_order.replace(literal.boolean()?).is_some(),
            "shape" => shape.replace(literal.shape()?).is_some(),
            other => return malformed(format!("unknown key '{}' in the header", other.escape_debug())),
        };
        if seen {
            return malformed(format!("key '{key}' occurs twice in the header"));
        }
        if !literal.skip(b',') {
            break;
        }
    }
    literal.expect(b'}')?;
    literal.end()?;
    let missing = |key| Error::Header(format!("key '{key}' is missing from the header"));
    let (dtype, unit) = dtype.ok_or_else(|| missing("descr"))??;
    let fortran_order = fortran_order.ok_or_else(|| missing("fortran_order"))?;
    let shape = shape.ok_or_else(|| missing("shape"))?;
    check_size(&shape, dtype.kind.width())?;
    Ok(Header { dtype, unit, fortran_order, shape, data_start })
}

/// Reads the header of `input`, and leaves `input` at the first element.
///
/// # Errors
/// Those of [`parse_header`], and [`Error::Io`].
pub fn read_header(input: &mut Input) -> Result<Header, Error> {
    let mut head = Vec::new();
    input.read_head(&mut head, PREAMBLE)?;
    if let Some(len) = header_len(&head)? {
        input.read_head(&mut head, len)?;
    }
    parse_header(&head)
}

/// Reads the elements that `header` describes, in the byte order of this machine. `T` must be as wide as an
/// element.
///
/// # Errors
/// [`Error::Truncated`] or [`Error::Trailing`] if there are fewer or more elements, [`Error::Memory`],
/// [`Error::Io`].
pub fn read_data<T: Pod>(input: &mut Input, header: &Header, note: Note<'_>) -> Result<Vec<T>, Error> {
    let need = (header.count() * size_of::<T>()) as u64;
    let check = |have: u64| match have {
        _ if have < need => Err(Error::Truncated { have, need }),
        _ if have > need => Err(Error::Trailing { need }),
        _ => Ok(()),
    };
    let mut elements = match input.remaining() {
        Some(have) => {
            check(have)?;
            input.read_known(header.count(), note)?
        }
        None => {
            let (elements, have) = input.read_unknown(need + 1, note)?;
            check(have)?;
            elements
        }
    };
    raw::reorder(&mut elements, header.dtype.endian);
    Ok(elements)
}

/// The number of bytes that suffice in every version to get the length of the header.
const PREAMBLE: usize = MAGIC.len() + 6;

/// The number of bytes before the literal: magic number, version and length.
fn preamble_len(major: u8) -> usize {
    MAGIC.len() + if major == 1 { 4 } else { 6 }
}

/// The length of everything before the first element, or `None` if there are too few bytes to tell.
fn header_len(bytes: &[u8]) -> Result<Option<usize>, Error> {
    let magic = &bytes[..bytes.len().min(MAGIC.len())];
    if magic.is_empty() || !MAGIC.starts_with(magic) {
        return malformed("it does not begin with \\x93NUMPY".into());
    }
    let literal = match bytes[magic.len()..] {
        [1, 0, a, b, ..] => usize::from(u16::from_le_bytes([a, b])),
        [2 | 3, 0, a, b, c, d, ..] => u32::from_le_bytes([a, b, c, d]) as usize,
        [1..=3, 0, ..] | [] | [1..=3] => return Ok(None),
        [major] => return malformed(format!("version {major} is unknown; 1.0, 2.0 and 3.0 are supported")),
        [major, minor, ..] => {
            return malformed(format!("version {major}.{minor} is unknown; 1.0, 2.0 and 3.0 are supported"));
        }
    };
    if literal > MAX_HEADER {
        return malformed(format!("its header has {literal} bytes, but at most {MAX_HEADER} are allowed"));
    }
    Ok(Some(preamble_len(bytes[6]) + literal))
}

/// Checks that the size of the array fits in a `usize` and in 64 bits.
fn check_size(shape: &[usize], width: usize) -> Result<(), Error> {
    // As in NumPy, the other lengths must be valid even if one is zero.
    let nonzero = shape.iter().filter(|&&len| len != 0);
    match nonzero.copied().try_fold(width, usize::checked_mul) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => malformed("its shape has more elements than memory has addresses".into()),
    }
}

/// Whether this is a unit of dates and times: a number, which may be missing, and a word.
fn is_unit(text: &str) -> bool {
    const WORDS: [&str; 13] = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"];
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    // NumPy has numbers of 31 bits.
    let is_number = |digits: &str| digits.is_empty() || digits.parse::<i32>().is_ok_and(|number| number > 0);
    inner.is_some_and(|inner| {
        let word = inner.trim_start_matches(|c: char| c.is_ascii_digit());
        WORDS.contains(&word) && is_number(&inner[..inner.len() - word.len()])
    })
}

fn malformed<T>(what: String) -> Result<T, Error> {
    Err(Error::Header(what))
}

/// The unread part of the header literal.
struct Literal<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Literal<'a> {
    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    /// Skips `byte` if it is next.
    fn skip(&mut self, byte: u8) -> bool {
        let next = self.peek() == Some(byte);
        self.at += usize::from(next);
        next
    }

    fn expect(&mut self, byte: u8) -> Result<(), Error> {
        if self.skip(byte) { Ok(()) } else { self.unexpected(&format!("'{}'", char::from(byte))) }
    }

    fn end(&mut self) -> Result<(), Error> {
        if self.peek().is_none() { Ok(()) } else { self.unexpected("the end") }
    }

    fn unexpected<T>(&mut self, expected: &str) -> Result<T, Error> {
        let found = match self.peek() {
            Some(byte) => format!("'{}'", byte.escape_ascii()),
            None => "the end".into(),
        };
        malformed(format!("expected {expected} at byte {} of the header, but found {found}", self.at))
    }

    /// Takes bytes up to the first one that is not wanted.
    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let len = rest.iter().position(|&byte| !wanted(byte)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    /// Parses a string without escapes.
    fn string(&mut self) -> Result<&'a str, Error> {
        let quote = match self.peek() {
            Some(quote @ (b'\'' | b'"')) => quote,
            _ => return self.unexpected("a string"),
        };
        self.at += 1;
        let text = self
            .take_while(|byte| byte != quote && (byte == b' ' || byte.is_ascii_graphic()) && byte != b'\\');
        match std::str::from_utf8(text) {
            Ok(text) if self.bytes.get(self.at) == Some(&quote) => {
                self.at += 1;
                Ok(text)
            }
            _ => self.unexpected("the end of a plain string"),
        }
    }

    /// Parses a dtype, and the unit of dates and times. The inner result is an error if the literal is valid but the type is not
    /// supported.
    fn dtype(&mut self) -> Result<Result<(Dtype, String), Error>, Error> {
        match self.peek() {
            Some(b'[' | b'(') => {
                let text = self.nested()?;
                let (beginning, rest) = text.split_at(text.len().min(60));
                // Quotes belong to the text. They are replaced, because quoting the text again would obscure
                // it.
                let plain = |&byte: &u8| match byte {
                    b' '..=b'~' => char::from(byte),
                    _ => '?',
                };
                let shown = beginning.iter().map(plain);
                let more = if rest.is_empty() { "" } else { "..." };
                Ok(Err(Error::Structured(shown.chain(more.chars()).collect())))
            }
            _ => {
                let name = self.string()?;
                let (plain, unit) = name.split_at(name.find('[').unwrap_or(name.len()));
                let dtype = Dtype::parse(plain).map_err(|_| Error::Dtype(describe(name)));
                Ok(dtype.and_then(|dtype| match unit.is_empty() || dtype.kind.is_time() && is_unit(unit) {
                    true => Ok((dtype, unit.to_owned())),
                    false => Err(Error::Dtype(describe(name))),
                }))
            }
        }
    }

    /// The text of a list or tuple, including everything nested in it.
    fn nested(&mut self) -> Result<&'a [u8], Error> {
        let from = self.at;
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Some(quote @ (b'\'' | b'"')) => {
                    self.at += 1;
                    self.take_while(|byte| byte != quote);
                }
                Some(b'[' | b'(' | b'{') => depth += 1,
                Some(b']' | b')' | b'}') => depth -= 1,
                Some(_) => {}
                None => return self.unexpected("a closing bracket"),
            }
            // If a string does not end, there is no byte left to skip.
            self.at = self.bytes.len().min(self.at + 1);
            if depth == 0 {
                return Ok(&self.bytes[from..self.at]);
            }
        }
    }

    fn boolean(&mut self) -> Result<bool, Error> {
        self.peek();
        let from = self.at;
        match self.take_while(|byte| byte.is_ascii_alphanumeric()) {
            b"True" => Ok(true),
            b"False" => Ok(false),
            _ => {
                self.at = from;
                self.unexpected("True or False")
            }
        }
    }

    /// Parses a tuple of lengths. As in Python, a tuple of one length ends with a comma.
    fn shape(&mut self) -> Result<Vec<usize>, Error> {
        let mut shape = Vec::new();
        self.expect(b'(')?;
        while self.peek() != Some(b')') {
            if shape.len() == MAX_DIMENSIONS {
                return malformed(format!("its shape has more than {MAX_DIMENSIONS} dimensions"));
            }
            shape.push(self.length()?);
            if !self.skip(b',') {
                if shape.len() == 1 {
                    return self.unexpected("','");
                }
                break;
            }
        }
        self.expect(b')')?;
        Ok(shape)
    }

    fn length(&mut self) -> Result<usize, Error> {
        self.peek();
        let from = self.at;
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        // Python 2 wrote long integers with this suffix.
        if !digits.is_empty() && self.bytes.get(self.at) == Some(&b'L') {
            self.at += 1;
        }
        match digits {
            [] => self.unexpected("a length"),
            [b'0', _, ..] => {
                self.at = from;
                self.unexpected("a length without leading zeros")
            }
            _ => std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).map_or_else(
                || malformed(format!("the length at byte {from} of the header is larger than any array")),
                Ok,
            ),
        }
    }
}
