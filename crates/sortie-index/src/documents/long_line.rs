//! Reads a line of JSON that is longer than an item. Its text goes to an unnamed file piece by piece, because the
//! name, which is needed first, may come last.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, BufRead, Read, Seek};
use std::path::Path;

use struson::reader::{
    JsonReader, JsonStreamReader, JsonSyntaxError, ReaderError, ReaderSettings, ValueType,
};

use super::{ITEM_BYTES, text};
use crate::error::{Error, Trouble};

/// The document of a long line.
#[derive(Debug)]
pub struct Document {
    pub name: String,
    /// The text, positioned at its start.
    pub text: File,
}

/// Why a line has no document.
#[derive(Debug)]
pub enum Failure {
    /// The line is at fault, or the file that contains it.
    Line(Trouble),
    /// The temporary file is at fault.
    Spool(Error),
}

impl From<ReaderError> for Failure {
    fn from(error: ReaderError) -> Failure {
        let at = |position: &struson::reader::JsonReaderPosition| match position.data_pos {
            Some(byte) => format!(" at byte {}", byte + 1),
            None => String::new(),
        };
        Failure::Line(match error {
            ReaderError::IoError { error, .. } => Trouble::from(error),
            ReaderError::SyntaxError(JsonSyntaxError { kind, location }) => {
                Trouble::Content(format!("{}{}", spaced(&kind.to_string()), at(&location)))
            }
            ReaderError::UnexpectedValueType { actual, location, .. } => {
                Trouble::Content(format!("an unexpected {}{}", spaced(&actual.to_string()), at(&location)))
            }
            other => Trouble::Content(other.to_string()),
        })
    }
}

impl From<io::Error> for Failure {
    /// For an error while reading a text in pieces.
    fn from(error: io::Error) -> Failure {
        match error.downcast::<JsonSyntaxError>() {
            Ok(error) => ReaderError::SyntaxError(error).into(),
            Err(error) => Failure::Line(error.into()),
        }
    }
}

/// `InvalidEscapeSequence` as separate words.
fn spaced(name: &str) -> String {
    let mut words = String::new();
    for (at, c) in name.char_indices() {
        if at > 0 && c.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(c.to_ascii_lowercase());
    }
    words
}

/// Reads the document of a line. Its text goes to an unnamed file in `folder`.
///
/// O(1) memory: names and numbers in a line may have [`ITEM_BYTES`] bytes, texts any length.
pub fn read(line: &mut Line<'_, impl BufRead>, folder: &Path) -> Result<Document, Failure> {
    let (room, trouble) = (Cell::new(ROOM), RefCell::new(None));
    let checked = Checked {
        pieces: text::Pieces::new(line),
        piece: String::new(),
        at: 0,
        room: &room,
        trouble: &trouble,
    };
    let document = parse(checked, &room, folder);
    // The parser would wrap the error in its own message.
    document.map_err(|failure| trouble.take().map_or(failure, Failure::Line))
}

fn parse(line: impl Read, room: &Cell<u64>, folder: &Path) -> Result<Document, Failure> {
    let settings = ReaderSettings {
        track_path: false,
        max_nesting_depth: None,
        restrict_number_values: false,
        ..ReaderSettings::default()
    };
    let mut json = JsonStreamReader::new_custom(line, settings);
    let (mut id, mut text) = (None, None);
    let twice = |field: &str| Failure::Line(Trouble::Content(format!("duplicate field `{field}`")));
    json.begin_object()?;
    while json.has_next()? {
        room.set(ROOM);
        match json.next_name()? {
            "id" if id.is_some() => return Err(twice("id")),
            "text" if text.is_some() => return Err(twice("text")),
            "id" => id = Some(self::id(&mut json)?),
            "text" => {
                room.set(u64::MAX);
                text = Some(spool(&mut json, folder)?);
            }
            _ => {
                room.set(u64::MAX);
                json.skip_value()?;
            }
        }
    }
    json.end_object()?;
    json.consume_trailing_whitespace()?;
    let missing = |field: &str| Failure::Line(Trouble::Content(format!("missing field `{field}`")));
    Ok(Document { name: id.ok_or_else(|| missing("id"))?, text: text.ok_or_else(|| missing("text"))? })
}

fn id(json: &mut impl JsonReader) -> Result<String, Failure> {
    let is_whole = |number: &str| number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
    match json.peek()? {
        ValueType::String => Ok(json.next_string()?),
        ValueType::Number => {
            Some(json.next_number_as_string()?).filter(|number| is_whole(number)).ok_or_else(not_an_id)
        }
        _ => Err(not_an_id()),
    }
}

fn not_an_id() -> Failure {
    Failure::Line(Trouble::Content("`id` is neither a string nor a whole number".into()))
}

/// Writes the next value, which must be a text, to a file.
fn spool(json: &mut impl JsonReader, folder: &Path) -> Result<File, Failure> {
    let of_spool = |doing| move |error| Failure::Spool(Error::file(doing, folder)(error));
    let mut file = tempfile::tempfile_in(folder).map_err(of_spool("create a temporary file in"))?;
    let mut text = json.next_string_reader()?;
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = text.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        io::Write::write_all(&mut file, &buffer[..read]).map_err(of_spool("write a temporary file in"))?;
    }
    file.rewind().map_err(of_spool("read a temporary file in"))?;
    Ok(file)
}

/// A line without its line end.
pub struct Line<'a, R> {
    /// The part of the line that was already read.
    begun: &'a [u8],
    /// The source of the rest.
    rest: &'a mut R,
    ended: bool,
}

impl<'a, R: BufRead> Line<'a, R> {
    pub fn new(begun: &'a [u8], rest: &'a mut R) -> Self {
        Line { begun, rest, ended: false }
    }

    /// Skips to the start of the next line.
    pub fn skip_rest(&mut self) -> io::Result<()> {
        if !self.ended {
            self.rest.skip_until(b'\n')?;
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Line<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if !self.begun.is_empty() {
            return self.begun.read(into);
        }
        if self.ended {
            return Ok(0);
        }
        let held = self.rest.fill_buf()?;
        let end = memchr::memchr(b'\n', held);
        let count = end.unwrap_or(held.len()).min(into.len());
        into[..count].copy_from_slice(&held[..count]);
        // If the whole line was read, its end was too.
        self.ended = held.is_empty() || end == Some(count);
        self.rest.consume(count + usize::from(end == Some(count)));
        Ok(count)
    }
}

/// The number of bytes that the parser may read for a value that it holds whole: a name or a number.
const ROOM: u64 = ITEM_BYTES as u64;

/// The bytes of a line, checked to be UTF-8.
struct Checked<'a, R> {
    pieces: text::Pieces<R>,
    piece: String,
    at: usize,
    /// The number of bytes that may still be read before it is reset.
    room: &'a Cell<u64>,
    /// Why reading stopped.
    trouble: &'a RefCell<Option<Trouble>>,
}

impl<R> Checked<'_, R> {
    fn fail(&self, trouble: Trouble) -> io::Error {
        self.trouble.replace(Some(trouble));
        io::ErrorKind::Other.into()
    }
}

impl<R: Read> Read for Checked<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() {
            let Some(piece) = self.pieces.next() else { return Ok(0) };
            self.piece = piece.map_err(|trouble| self.fail(trouble))?;
            self.at = 0;
        }
        let count = self.piece.len().saturating_sub(self.at).min(into.len());
        into[..count].copy_from_slice(&self.piece.as_bytes()[self.at..self.at + count]);
        self.at += count;
        let Some(room) = self.room.get().checked_sub(count as u64) else {
            let why = format!("a name or number of more than {ROOM} bytes");
            return Err(self.fail(Trouble::Content(why)));
        };
        self.room.set(room);
        Ok(count)
    }
}
