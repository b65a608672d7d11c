//! Arrays in files: which format, what type, and how they are read and written.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use sortie_formats::npy::{self, Header};
use sortie_formats::raw::{self, Input, Note};
use sortie_formats::{Dtype, Endian, Error, Kind, Stretches};

use crate::failure::Failure;
use crate::output::Output;
use crate::{compression, peek, quote, shortage};

/// What is written at a time, so that progress can be told.
const PIECE: usize = 8 << 20;

/// An array that is about to be read.
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
    /// Opens `path`, standard input for `-`, and reads the header of a `.npy` file, whatever its name.
    pub fn open(path: &Path, element: Option<Kind>) -> Result<ArrayFile, Failure> {
        let file = open(path)?;
        if element.is_some() && (is_npy(path) || peek::begins_with(&file, npy::MAGIC)) {
            return Err(Failure::new(format!(
                "{}: a .npy file says itself what it holds; leave --type out",
                quote::name(shown(path))
            )));
        }
        ArrayFile::with(file, path, element)
    }

    /// Opens `path`, whose elements are of this kind unless it is a `.npy` file.
    fn open_or(path: &Path, element: Kind) -> Result<ArrayFile, Failure> {
        let file = open(path)?;
        let is_npy = is_npy(path) || peek::begins_with(&file, npy::MAGIC);
        ArrayFile::with(file, path, (!is_npy).then_some(element))
    }

    /// The array in `file`: of `element`, or of what its header says.
    fn with(file: File, path: &Path, element: Option<Kind>) -> Result<ArrayFile, Failure> {
        let name = shown(path);
        if element.is_none() && !peek::begins_with(&file, npy::MAGIC) {
            compression::refuse(&file, name)?;
            if !is_npy(path) {
                return Err(Failure::new(format!(
                    "{}: --type is missing; only a .npy file says itself what it holds",
                    quote::name(name)
                )));
            }
        }
        let mut input = Input::new(file).map_err(Failure::file("read", name))?;
        let format = match element {
            Some(element) => Format::Raw(element),
            None => Format::Npy(npy::read_header(&mut input).map_err(|e| failure(name, e))?),
        };
        Ok(ArrayFile { input, format, path: name.to_owned() })
    }

    /// The bytes of all elements, where that is known before they are read.
    pub fn size(&self) -> Option<u64> {
        self.input.remaining()
    }

    /// The elements a stretch at a time, and how they are stored.
    pub fn stretches(self) -> Result<(ArrayStretches, Format), Failure> {
        let stretches = match &self.format {
            Format::Raw(kind) => Stretches::raw(self.input, *kind),
            Format::Npy(header) => Stretches::npy(self.input, header),
        };
        let stretches = stretches.map_err(|e| failure(&self.path, e))?;
        Ok((ArrayStretches { stretches, path: self.path }, self.format))
    }

    /// All elements. `T` is a type as wide as the format's kind.
    pub fn read<T: Pod>(&self, note: Note<'_>) -> Result<Vec<T>, Failure> {
        let elements = match &self.format {
            Format::Raw(kind) => raw::read(&self.input, *kind, note),
            Format::Npy(header) => npy::read_data(&self.input, header, note),
        };
        elements.map_err(|e| failure(&self.path, e))
    }
}

/// An array that is read a stretch at a time.
pub struct ArrayStretches {
    stretches: Stretches,
    path: PathBuf,
}

impl ArrayStretches {
    /// The bytes of all elements, where that is known.
    pub fn bytes(&self) -> Option<u64> {
        self.stretches.bytes()
    }

    /// Fills `elements` with the next ones, and returns how many there were: fewer at the end alone.
    pub fn next<T: Pod>(&mut self, elements: &mut [T], note: Note<'_>) -> Result<usize, Failure> {
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

    /// What stands before the elements.
    pub fn header(&self) -> Vec<u8> {
        match self {
            Format::Raw(_) => Vec::new(),
            Format::Npy(header) => header.to_bytes(),
        }
    }

    /// The order of bytes that is stored.
    pub fn endian(&self) -> Endian {
        match self {
            Format::Raw(_) => Endian::Little,
            Format::Npy(header) => header.dtype.endian,
        }
    }

    /// The format of an array of places in this one: `u64`, or for NumPy `int64`.
    pub fn of_places(&self) -> Format {
        match self {
            Format::Raw(_) => Format::Raw(Kind::U64),
            Format::Npy(header) => {
                let dtype = Dtype { kind: Kind::I64, endian: Endian::Little };
                Format::Npy(Header { dtype, shape: header.shape.clone(), ..*header })
            }
        }
    }

    /// Writes the elements, which are left in the order of bytes that is stored.
    pub fn write<T: Pod>(
        &self,
        elements: &mut [T],
        output: &mut Output,
        note: Note<'_>,
    ) -> Result<(), Failure> {
        raw::reorder(elements, self.endian());
        output.write(&self.header())?;
        bytemuck::cast_slice(elements).chunks(PIECE).try_for_each(|piece| {
            output.write(piece)?;
            note(piece.len() as u64);
            Ok(())
        })
    }
}

/// Reads offsets: raw `u64`, or whole numbers of any type in a `.npy` file; none may be less than the one before.
pub fn offsets(path: &Path) -> Result<Vec<usize>, Failure> {
    let file = ArrayFile::open_or(path, Kind::U64)?;
    let offsets = match file.format.kind() {
        Kind::U8 => places::<u8>(&file),
        Kind::U16 => places::<u16>(&file),
        Kind::U32 => places::<u32>(&file),
        Kind::U64 => places::<u64>(&file),
        Kind::I8 => places::<i8>(&file),
        Kind::I16 => places::<i16>(&file),
        Kind::I32 => places::<i32>(&file),
        Kind::I64 => places::<i64>(&file),
        Kind::Bool | Kind::F16 | Kind::F32 | Kind::F64 => Err(Failure::new(format!(
            "{}: offsets are whole numbers, and these are {}",
            quote::name(path),
            file.format.kind()
        ))),
    }?;
    match offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        Some(i) => Err(Failure::new(format!(
            "{}: offsets go backwards: {} at {i}, then {}",
            quote::name(path),
            offsets[i],
            offsets[i + 1]
        ))),
        None => Ok(offsets),
    }
}

fn places<T: Pod + TryInto<usize> + std::fmt::Display>(file: &ArrayFile) -> Result<Vec<usize>, Failure> {
    let numbers: Vec<T> = file.read(&|_| {})?;
    let place = |(i, &number): (usize, &T)| {
        number.try_into().map_err(|_| {
            Failure::new(format!(
                "{}: offset {i} is {number}, which is no place in an array",
                quote::name(&file.path)
            ))
        })
    };
    numbers.iter().enumerate().map(place).collect()
}

/// Whether `path`, standard input for `-`, holds a `.npy` file, whatever its name. A pipe that has a name is left alone,
/// since opening it tells its writer to begin. What cannot be opened is told where it is read.
pub fn holds_npy(path: &Path) -> bool {
    (path.as_os_str() == "-" || path.is_file())
        && open(path).is_ok_and(|file| peek::begins_with(&file, npy::MAGIC))
}

fn open(path: &Path) -> Result<File, Failure> {
    match path.as_os_str() == "-" {
        true => std::io::stdin().as_fd().try_clone_to_owned().map(File::from),
        false => File::open(path),
    }
    .map_err(Failure::file("read", shown(path)))
}

/// What messages call it.
fn shown(path: &Path) -> &Path {
    if path.as_os_str() == "-" { Path::new("standard input") } else { path }
}

fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "npy")
}

fn failure(path: &Path, error: Error) -> Failure {
    match error {
        Error::Io(error) => Failure::file("read", path)(error),
        Error::Memory { bytes } => {
            let doing = format!("reading {}", quote::name(path));
            Failure::new(shortage::refused(&doing, bytes, "allow more, or sort the array in parts"))
        }
        other => Failure::new(format!("{}: {other}", quote::name(path))),
    }
}
