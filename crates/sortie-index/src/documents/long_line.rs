//! A line of JSON that is longer than an item: its text goes to a file without a name, piece by piece, for the name that is
//! needed first may come last.

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
    /// From its start.
    pub text: File,
}

/// Why there is none.
#[derive(Debug)]
pub enum Failure {
    /// The line is to blame, or the file that it is in.
    Line(Trouble),
    /// The temporary file is.
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
    /// Of a text that is read piece by piece.
    fn from(error: io::Error) -> Failure {
        match error.downcast::<JsonSyntaxError>() {
            Ok(error) => ReaderError::SyntaxError(error).into(),
            Err(error) => Failure::Line(error.into()),
        }
    }
}

/// `InvalidEscapeSequence` in words.
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

/// Reads the document of a line. Its text goes to a file without a name in `folder`.
///
/// O(1) memory: the names and numbers of a line may have [`ITEM_BYTES`], its texts any length.
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
    // The parser tells of it in its own words.
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
    Failure::Line(Trouble::Content("`id` is neither a text nor a whole number".into()))
}

/// The next value, which has to be a text, in a file.
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

/// A line without its end.
pub struct Line<'a, R> {
    /// What of it was read.
    begun: &'a [u8],
    /// Where its rest is.
    rest: &'a mut R,
    ended: bool,
}

impl<'a, R: BufRead> Line<'a, R> {
    pub fn new(begun: &'a [u8], rest: &'a mut R) -> Self {
        Line { begun, rest, ended: false }
    }

    /// Goes to the start of the next line.
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
        // Of a line that was read, its end was too.
        self.ended = held.is_empty() || end == Some(count);
        self.rest.consume(count + usize::from(end == Some(count)));
        Ok(count)
    }
}

/// How much the parser may read for what it holds as a whole: a name, a number.
const ROOM: u64 = ITEM_BYTES as u64;

/// The bytes of a line, all of them text.
struct Checked<'a, R> {
    pieces: text::Pieces<R>,
    piece: String,
    at: usize,
    /// How much may be read until it is set again.
    room: &'a Cell<u64>,
    /// Why no more was read.
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
