//! [`Source`]: a file with columns, and its rows as batches.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, FileReaderBuilder, read_footer_length};
use arrow_ipc::{CompressionType, root_as_footer, root_as_message};
use arrow_schema::DataType::{self, Int8, Int16, Int32, UInt8, UInt16};
use arrow_schema::{ArrowError, Field, FieldRef, Schema, SchemaRef};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{ConvertedType, Encoding, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};
use rayon::prelude::*;

use super::Kind;
use super::rows::size;
use super::types::{ensure_known, ensure_known_in_text};
use crate::{Error, Input, quote};

/// The name under which Parquet files have Arrow's own types.
const ARROW_SCHEMA: &str = parquet::arrow::ARROW_SCHEMA_META_KEY;
/// The length of the last bytes of an Arrow file, and the bytes before the length of a message.
const TRAILER: u64 = 10;
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The rows that are read to see how long texts are, and the bytes of an offset.
const SAMPLED_ROWS: usize = 256;
const OFFSET_BYTES: f64 = 4.0;

/// An open file with columns.
pub struct Source {
    pub name: PathBuf,
    pub schema: SchemaRef,
    pub rows: u64,
    pub bytes: u64,
    pub stored: Stored,
    /// Whether dictionaries have wider indices than the file says.
    pub has_wider_indices: bool,
    file: Positioned,
}

/// What a file says of how it is stored.
pub enum Stored {
    Parquet(ArrowReaderMetadata),
    Arrow {
        compression: Option<CompressionType>,
        /// The rows of each batch.
        batches: Vec<usize>,
        metadata: HashMap<String, String>,
    },
}

impl Source {
    pub fn open(input: &Input) -> Result<Source, Error> {
        let name = input.name().to_owned();
        let file = input.open()?;
        let about = file.metadata().map_err(Error::file("read", &name))?;
        if !about.is_file() {
            return Err(Error::invalid(format!(
                "{} is not a regular file; Parquet and Arrow files are read from their end, so save it as a file first",
                quote::name(&name)
            )));
        }
        let file = Positioned { file: Arc::new(file), bytes: about.len() };
        let wrong = |error: &dyn Display| told(&name, error);
        let mut has_wider_indices = false;
        let (schema, rows, stored) = match Kind::of(input) {
            Some(Kind::Arrow) => file.arrow().map_err(|error| wrong(&error))?,
            None => return Err(wrong(&"this is neither a Parquet nor an Arrow IPC file")),
            Some(Kind::Parquet) => {
                let metadata =
                    parquet_metadata(&file, &mut has_wider_indices).map_err(|error| wrong(&error))?;
                ensure_whole(metadata.metadata()).map_err(|error| wrong(&error))?;
                let rows = metadata.metadata().file_metadata().num_rows().max(0) as u64;
                (Arc::clone(metadata.schema()), rows, Stored::Parquet(metadata))
            }
        };
        Ok(Source { name, schema, rows, bytes: about.len(), stored, has_wider_indices, file })
    }

    /// What a Parquet file says of itself.
    pub fn parquet(&self) -> Option<&ParquetMetaData> {
        match &self.stored {
            Stored::Parquet(file) => Some(file.metadata()),
            Stored::Arrow { .. } => None,
        }
    }

    pub fn kind(&self) -> Kind {
        match self.stored {
            Stored::Parquet(_) => Kind::Parquet,
            Stored::Arrow { .. } => Kind::Arrow,
        }
    }

    /// An error of this file.
    pub fn wrong(&self, error: &dyn Display) -> Error {
        told(&self.name, error)
    }

    /// Reads some columns in batches, of up to this many rows for Parquet.
    pub fn batches(&self, columns: &[usize], batch_rows: usize) -> Result<Batches, Error> {
        let schema = self.schema.project(columns).map_err(|error| self.wrong(&error))?;
        let readers = match &self.stored {
            Stored::Arrow { .. } => {
                let reader =
                    FileReaderBuilder::new().with_projection(columns.to_vec()).build(self.file.reader(0));
                Readers::Arrow(Box::new(reader.map_err(|error| self.wrong(&error))?))
            }
            Stored::Parquet(metadata) => {
                let roots = columns.iter().map(|&column| self.reader(metadata, column, None, batch_rows));
                Readers::Parquet(roots.collect::<Result<_, _>>()?)
            }
        };
        Ok(Batches { name: self.name.clone(), schema: Arc::new(schema), readers })
    }

    /// Reads some columns of one row group of a Parquet file.
    pub fn row_group(&self, group: usize, columns: &[usize], batch_rows: usize) -> Result<Batches, Error> {
        let Stored::Parquet(metadata) = &self.stored else {
            unreachable!("only Parquet files have row groups")
        };
        let schema = self.schema.project(columns).map_err(|error| self.wrong(&error))?;
        let readers = columns.iter().map(|&column| self.reader(metadata, column, Some(group), batch_rows));
        let readers = Readers::Parquet(readers.collect::<Result<_, _>>()?);
        Ok(Batches { name: self.name.clone(), schema: Arc::new(schema), readers })
    }

    fn reader(
        &self,
        metadata: &ArrowReaderMetadata,
        column: usize,
        group: Option<usize>,
        batch_rows: usize,
    ) -> Result<ParquetRecordBatchReader, Error> {
        let mut reader =
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.clone(), metadata.clone())
                .with_projection(ProjectionMask::roots(metadata.parquet_schema(), [column]))
                .with_batch_size(batch_rows);
        if let Some(group) = group {
            reader = reader.with_row_groups(vec![group]);
        }
        reader.build().map_err(|error| self.wrong(&error))
    }

    /// The bytes of an average row in memory, about.
    pub fn row_bytes(&self) -> Result<usize, Error> {
        let bytes = match &self.stored {
            Stored::Parquet(metadata) => {
                let columns = 0..self.schema.fields().len();
                let of_columns = columns.map(|column| self.decoded_bytes(metadata, column));
                of_columns.sum::<Result<f64, Error>>()?
            }
            Stored::Arrow { .. } => self.bytes as f64,
        };
        Ok((bytes / self.rows.max(1) as f64) as usize + 1)
    }

    /// The bytes that the values of a column take when they are decoded, about.
    fn decoded_bytes(&self, metadata: &ArrowReaderMetadata, column: usize) -> Result<f64, Error> {
        let file = metadata.metadata();
        let leaves = |leaf: &usize| metadata.parquet_schema().get_column_root_idx(*leaf) == column;
        let leaves: Vec<usize> = (0..metadata.parquet_schema().num_columns()).filter(leaves).collect();
        let chunks = file.row_groups().iter().flat_map(|group| leaves.iter().map(|&leaf| group.column(leaf)));
        let stated: Option<Vec<f64>> = chunks.map(stated_bytes).collect();
        if let Some(stated) = stated {
            return Ok(stated.iter().sum());
        }
        // Texts of a dictionary may take much more than in the file, which does not say how much. So some are read.
        let Some(group) = file.row_groups().iter().position(|group| group.num_rows() > 0) else {
            return Ok(0.0);
        };
        let first = self.reader(metadata, column, Some(group), SAMPLED_ROWS)?.next().transpose();
        let bytes_a_row = match first.map_err(|error| self.wrong(&error))? {
            Some(batch) => {
                size(&batch).map_err(|error| self.wrong(&error))? as f64 / batch.num_rows().max(1) as f64
            }
            None => 0.0,
        };
        Ok(bytes_a_row * self.rows as f64)
    }
}

/// The bytes of the decoded values of a chunk, if the file says how many.
fn stated_bytes(chunk: &ColumnChunkMetaData) -> Option<f64> {
    let width = match chunk.column_type() {
        Physical::BYTE_ARRAY => {
            let is_dictionary =
                |encoding| matches!(encoding, Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY);
            let bytes = chunk.unencoded_byte_array_data_bytes();
            let bytes =
                bytes.or((!chunk.encodings().any(is_dictionary)).then(|| chunk.uncompressed_size()))?;
            return Some(bytes.max(0) as f64 + OFFSET_BYTES * chunk.num_values().max(0) as f64);
        }
        Physical::FIXED_LEN_BYTE_ARRAY => f64::from(chunk.column_descr().type_length()),
        Physical::BOOLEAN => 1.0,
        Physical::INT32 | Physical::FLOAT => 4.0,
        Physical::INT64 | Physical::DOUBLE => 8.0,
        Physical::INT96 => 12.0,
    };
    Some(width * chunk.num_values().max(0) as f64)
}

fn told(name: &std::path::Path, error: &dyn Display) -> Error {
    let text = error.to_string();
    Error::invalid(format!(
        "{}: {}",
        quote::name(name),
        quote::harmless(text.lines().next().unwrap_or_default())
    ))
}

/// What a Parquet file says, with types that can be sorted. `has_wider_indices` becomes whether dictionaries are among those that changed.
fn parquet_metadata(
    file: &Positioned,
    has_wider_indices: &mut bool,
) -> Result<ArrowReaderMetadata, ParquetError> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(file)?;
    let entries = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    for types in entries.filter(|entry| entry.key == ARROW_SCHEMA).filter_map(|entry| entry.value.as_ref()) {
        ensure_known_in_text(types).map_err(ParquetError::General)?;
    }
    let metadata = ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new())?;
    *has_wider_indices = metadata.schema().fields().iter().any(|field| with_wide_indices(field) != *field);
    let plain = |field: &FieldRef| match field.data_type() {
        // Views of text share buffers with rows that are elsewhere after a sort.
        DataType::Utf8View => retyped(field, DataType::Utf8),
        DataType::BinaryView => retyped(field, DataType::Binary),
        _ => with_wide_indices(field),
    };
    let fields: Vec<FieldRef> = metadata.schema().fields().iter().map(plain).collect();
    let schema = Schema::new_with_metadata(fields, metadata.schema().metadata().clone());
    if schema == **metadata.schema() {
        return Ok(metadata);
    }
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)
}

/// The field with dictionaries that have indices of 32 bits. Each row group has a dictionary of its own, and all of them together may have
/// more values than a file's narrower indices can number.
fn with_wide_indices(field: &FieldRef) -> FieldRef {
    let dtype = match field.data_type() {
        DataType::Dictionary(index, values) if matches!(**index, Int8 | Int16 | UInt8 | UInt16) => {
            DataType::Dictionary(Box::new(Int32), values.clone())
        }
        DataType::List(inner) => DataType::List(with_wide_indices(inner)),
        DataType::LargeList(inner) => DataType::LargeList(with_wide_indices(inner)),
        DataType::FixedSizeList(inner, size) => DataType::FixedSizeList(with_wide_indices(inner), *size),
        DataType::Map(inner, is_sorted) => DataType::Map(with_wide_indices(inner), *is_sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(with_wide_indices).collect()),
        other => other.clone(),
    };
    retyped(field, dtype)
}

fn retyped(field: &Field, dtype: DataType) -> FieldRef {
    Arc::new(field.clone().with_data_type(dtype))
}

/// Refuses values that Arrow would not have whole.
fn ensure_whole(file: &ParquetMetaData) -> Result<(), String> {
    let about = file.file_metadata();
    let has_own_types = about
        .key_value_metadata()
        .is_some_and(|entries| entries.iter().any(|entry| entry.key == ARROW_SCHEMA));
    for column in about.schema_descr().columns() {
        let name = quote::harmless(&column.path().string());
        if column.physical_type() == Physical::INT96 {
            return Err(format!(
                "column '{name}' has timestamps of 96 bits, which reach farther than nanoseconds in 64 bits; store them as INT64"
            ));
        }
        if column.converted_type() == ConvertedType::INTERVAL && !has_own_types {
            return Err(format!(
                "column '{name}' is an INTERVAL, of which the months would be lost; store it as a number or a text"
            ));
        }
    }
    Ok(())
}

/// Batches of rows.
pub struct Batches {
    name: PathBuf,
    schema: SchemaRef,
    readers: Readers,
}

enum Readers {
    Arrow(Box<FileReader<BufReader<PositionedReader>>>),
    /// One for each column, so that threads share the work.
    Parquet(Vec<ParquetRecordBatchReader>),
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match &mut self.readers {
            Readers::Arrow(reader) => reader.next()?,
            Readers::Parquet(readers) => {
                let columns: Vec<_> = readers.par_iter_mut().map(Iterator::next).collect();
                if columns.iter().all(Option::is_none) {
                    return None;
                }
                let column = |batch: Option<Result<RecordBatch, ArrowError>>| match batch {
                    Some(batch) => batch.map(|batch| Arc::clone(batch.column(0))),
                    None => Err(ArrowError::ParquetError("a column has fewer values than another".into())),
                };
                let columns = columns.into_iter().map(column).collect::<Result<Vec<_>, _>>();
                columns.and_then(|columns| RecordBatch::try_new(Arc::clone(&self.schema), columns))
            }
        };
        Some(batch.map_err(|error| told(&self.name, &error)))
    }
}

/// A file that several threads read at positions of their own.
#[derive(Clone)]
struct Positioned {
    file: Arc<File>,
    bytes: u64,
}

struct PositionedReader {
    file: Positioned,
    at: u64,
}

impl Positioned {
    fn reader(&self, at: u64) -> BufReader<PositionedReader> {
        BufReader::with_capacity(1 << 16, PositionedReader { file: self.clone(), at })
    }

    fn bytes_at(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        // The file says the length, and may be damaged.
        if at.checked_add(length as u64).is_none_or(|end| end > self.bytes) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, at)?;
        Ok(bytes)
    }

    /// The columns of an Arrow file, the number of its rows, and how it is stored.
    fn arrow(&self) -> Result<(SchemaRef, u64, Stored), ArrowError> {
        let damaged =
            || ArrowError::ParseError("the file is damaged: its footer is not that of an Arrow file".into());
        let trailer = self.bytes_at(self.bytes.saturating_sub(TRAILER), TRAILER as usize)?;
        let length = read_footer_length(trailer.try_into().map_err(|_| damaged())?)?;
        let footer = self.bytes_at(self.bytes.saturating_sub(TRAILER + length as u64), length)?;
        let footer = root_as_footer(&footer).map_err(|_| damaged())?;
        ensure_known(footer.schema().ok_or_else(damaged)?).map_err(ArrowError::SchemaError)?;
        let reader = FileReader::try_new(self.reader(0), None)?;
        let (schema, metadata) = (reader.schema(), reader.custom_metadata().clone());
        let (mut compression, mut batches) = (None, Vec::new());
        for block in footer.recordBatches().into_iter().flatten() {
            let message = self.bytes_at(block.offset() as u64, block.metaDataLength() as usize)?;
            let start = if message.starts_with(&CONTINUATION) { 8 } else { 4 };
            let message = root_as_message(message.get(start..).unwrap_or_default()).map_err(|_| damaged())?;
            let batch = message.header_as_record_batch().ok_or_else(damaged)?;
            compression = compression.or(batch.compression().map(|compression| compression.codec()));
            batches.push(usize::try_from(batch.length()).map_err(|_| damaged())?);
        }
        let rows = batches.iter().fold(0, |rows: u64, &batch| rows.saturating_add(batch as u64));
        Ok((schema, rows, Stored::Arrow { compression, batches, metadata }))
    }
}

impl Read for PositionedReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.file.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for PositionedReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.file.bytes.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

impl Length for Positioned {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for Positioned {
    type T = BufReader<PositionedReader>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(self.reader(start))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        Ok(self.bytes_at(start, length)?.into())
    }
}
