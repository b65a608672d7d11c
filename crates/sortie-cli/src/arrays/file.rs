//! Array files: detects their format and type, reads them and writes them.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use sortie_files::compression::Source;
use sortie_files::{Error, Output, compression, peek, quote, shortage};
use sortie_formats::npy::{self, Header};
use sortie_formats::raw::{self, Input, Note};
use sortie_formats::{Dtype, Endian, Kind, Stretches};

/// Advice for when memory is short.
pub const IN_PARTS: &str = "allow more, or sort the array in parts";
/// The number of bytes to write between updates of the progress bar.
const PIECE: usize = 8 << 20;

/// An array file that is open but not yet read.
pub struct ArrayFile {
    input: Input,
    pub format: Format,
    path: PathBuf,
}

/// How an array is stored.
pub enum Format {
    /// Little-endian elements of this kind.
    Raw(Kind),
    Npy(Header),
}

impl ArrayFile {
    /// Opens `path`, or standard input for `-`. Reads the header if the content is `.npy`, whatever the file's
    /// name.
    pub fn open(path: &Path, element: Option<Kind>) -> Result<ArrayFile, Error> {
        let (source, first) = open_source(path, element.is_some())?;
        if element.is_some() && (is_npy(path) || npy::begins(&first)) {
            return Err(Error::invalid(format!(
                "{}: a .npy file states its own type; remove --type",
                quote::name(shown(path))
            )));
        }
        ArrayFile::with(source, &first, path, element)
    }

    /// Opens `path`, whose elements are of kind `element` unless it is a `.npy` file.
    fn open_or(path: &Path, element: Kind) -> Result<ArrayFile, Error> {
        let (source, first) = open_source(path, true)?;
        let is_npy = is_npy(path) || npy::begins(&first);
        ArrayFile::with(source, &first, path, (!is_npy).then_some(element))
    }

    /// The array in `source`, which begins with the bytes `first`. The header of a `.npy` file gives the type
    /// of the elements, else `element` does.
    fn with(source: Source, first: &[u8], path: &Path, element: Option<Kind>) -> Result<ArrayFile, Error> {
        let name = shown(path);
        if element.is_none() && !npy::begins(first) {
            compression::refuse(first, name)?;
            if !is_npy(path) {
                return Err(Error::invalid(format!(
                    "{}: --type is missing; only a .npy file states its own type",
                    quote::name(name)
                )));
            }
        }
        let mut input = match source {
            Source::File(file) => Input::new(file).map_err(Error::file("read", name))?,
            stream => Input::stream(stream.into_reader()),
        };
        let format = match element {
            Some(element) => Format::Raw(element),
            None => Format::Npy(npy::read_header(&mut input).map_err(|e| failure(name, e))?),
        };
        Ok(ArrayFile { input, format, path: name.to_owned() })
    }

    /// The bytes of all elements, if known before they are read.
    pub fn size(&self) -> Option<u64> {
        self.input.remaining()
    }

    /// A reader of the elements in stretches, and their format.
    pub fn stretches(self) -> Result<(ArrayStretches, Format), Error> {
        let stretches = match &self.format {
            Format::Raw(kind) => Stretches::raw(self.input, *kind),
            Format::Npy(header) => Stretches::npy(self.input, header),
        };
        let stretches = stretches.map_err(|e| failure(&self.path, e))?;
        Ok((ArrayStretches { stretches, path: self.path }, self.format))
    }

    /// Reads all elements. `T` must be as wide as the elements of the format's kind.
    pub fn read<T: Pod>(&mut self, note: Note<'_>) -> Result<Vec<T>, Error> {
        let elements = match &self.format {
            Format::Raw(kind) => raw::read(&mut self.input, *kind, note),
            Format::Npy(header) => npy::read_data(&mut self.input, header, note),
        };
        elements.map_err(|e| failure(&self.path, e))
    }
}

/// Reads an array in stretches.
pub struct ArrayStretches {
    stretches: Stretches,
    path: PathBuf,
}

impl ArrayStretches {
    /// The bytes of all elements, if known.
    pub fn bytes(&self) -> Option<u64> {
        self.stretches.bytes()
    }

    /// Fills `elements` with the next ones, and returns their number. It is smaller than `elements.len()` only
    /// at the end.
    pub fn next<T: Pod>(&mut self, elements: &mut [T], note: Note<'_>) -> Result<usize, Error> {
        self.stretches.next(elements, note).map_err(|e| failure(&self.path, e))
    }
}

impl Format {
    pub fn kind(&self) -> Kind {
        match self {
            Format::Raw(kind) => *kind,
            Format::Npy(header) => header.dtype.kind,
        }
    }

    /// The bytes that precede the elements in the file.
    pub fn header(&self) -> Vec<u8> {
        match self {
            Format::Raw(_) => Vec::new(),
            Format::Npy(header) => header.to_bytes(),
        }
    }

    /// The byte order of the file.
    pub fn endian(&self) -> Endian {
        match self {
            Format::Raw(_) => Endian::Little,
            Format::Npy(header) => header.dtype.endian,
        }
    }

    /// The format for an array of indices into this one: `u64`, or `int64` for NumPy.
    pub fn of_places(&self) -> Format {
        match self {
            Format::Raw(_) => Format::Raw(Kind::U64),
            Format::Npy(header) => {
                let dtype = Dtype { kind: Kind::I64, endian: Endian::Little };
                Format::Npy(Header { dtype, unit: String::new(), shape: header.shape.clone(), ..*header })
            }
        }
    }

    /// Writes the elements. They are left in the byte order of the file.
    pub fn write<T: Pod>(
        &self,
        elements: &mut [T],
        output: &mut Output,
        note: Note<'_>,
    ) -> Result<(), Error> {
        raw::reorder(elements, self.endian());
        output.write(&self.header())?;
        bytemuck::cast_slice(elements).chunks(PIECE).try_for_each(|piece| {
            output.write(piece)?;
            note(piece.len() as u64);
            Ok(())
        })
    }
}

/// Reads offsets: raw `u64`, or integers of any type in a `.npy` file. An offset may not be smaller than the one
/// before.
pub fn offsets(path: &Path) -> Result<Vec<usize>, Error> {
    let mut file = ArrayFile::open_or(path, Kind::U64)?;
    let offsets = match file.format.kind() {
        Kind::U8 => places::<u8>(&mut file),
        Kind::U16 => places::<u16>(&mut file),
        Kind::U32 => places::<u32>(&mut file),
        Kind::U64 => places::<u64>(&mut file),
        Kind::I8 => places::<i8>(&mut file),
        Kind::I16 => places::<i16>(&mut file),
        Kind::I32 => places::<i32>(&mut file),
        Kind::I64 => places::<i64>(&mut file),
        Kind::Bool | Kind::F16 | Kind::F32 | Kind::F64 | Kind::DateTime | Kind::TimeDelta => {
            Err(Error::invalid(format!(
                "{}: offsets must be whole numbers, but these are {}",
                quote::name(path),
                file.format.kind()
            )))
        }
    }?;
    match offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        Some(i) => Err(Error::invalid(format!(
            "{}: offsets decrease: {} at {i}, then {}",
            quote::name(path),
            offsets[i],
            offsets[i + 1]
        ))),
        None => Ok(offsets),
    }
}

fn places<T: Pod + TryInto<usize> + std::fmt::Display>(file: &mut ArrayFile) -> Result<Vec<usize>, Error> {
    let numbers: Vec<T> = file.read(&|_| {})?;
    let place = |(i, &number): (usize, &T)| {
        number.try_into().map_err(|_| {
            Error::invalid(format!(
                "{}: offset {i} is {number}, which is not a position in an array",
                quote::name(&file.path)
            ))
        })
    };
    numbers.iter().enumerate().map(place).collect()
}

/// Whether `path`, or standard input for `-`, holds a `.npy` file, compressed or not, whatever its name. A named pipe
/// is not opened, because opening it tells its writer to begin, and compressed data in a pipe is not examined. A file
/// that cannot be opened counts as no; the error appears when it is read.
pub fn holds_npy(path: &Path) -> bool {
    (path.as_os_str() == "-" || path.is_file())
        && open(path).is_ok_and(|file| {
            peek::head(&file, npy::SIGNATURE, npy::may_begin).is_ok_and(|head| npy::begins(&head))
                || compression::head(&file, npy::SIGNATURE).is_ok_and(|(head, _)| npy::begins(&head))
        })
}

/// Opens `path`, and returns enough of its first bytes to recognise a `.npy` file. `may_be_raw` says whether it may be
/// an array without a header.
fn open_source(path: &Path, may_be_raw: bool) -> Result<(Source, Vec<u8>), Error> {
    let (name, file) = (shown(path), open(path)?);
    let mut source = if may_be_raw { Source::open_raw(file, name)? } else { Source::open(file, name)? };
    let first = source.first(npy::SIGNATURE).map_err(Error::file("read", name))?;
    Ok((source, first))
}

fn open(path: &Path) -> Result<File, Error> {
    match path.as_os_str() == "-" {
        true => std::io::stdin().as_fd().try_clone_to_owned().map(File::from),
        false => File::open(path),
    }
    .map_err(Error::file("read", shown(path)))
}

/// The name for messages.
fn shown(path: &Path) -> &Path {
    if path.as_os_str() == "-" { Path::new("standard input") } else { path }
}

fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "npy")
}

fn failure(path: &Path, error: sortie_formats::Error) -> Error {
    match error {
        sortie_formats::Error::Io(error) => Error::file("read", path)(error),
        sortie_formats::Error::Memory { bytes } => {
            let doing = format!("reading {}", quote::name(path));
            Error::invalid(format!("{}; {IN_PARTS}", shortage::refused(&doing, bytes)))
        }
        other => Error::invalid(format!("{}: {other}", quote::name(path))),
    }
}
