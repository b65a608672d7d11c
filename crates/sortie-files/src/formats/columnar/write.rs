//! [`Sink`]: a file with columns that is being written.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ArrayRef;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, encode_arrow_schema};
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::SchemaDescriptor;
use rayon::prelude::*;

use super::Kind;
use super::decimals::Decimals;
use super::keys::Key;
use super::layout::{columns, sorting_columns};
use super::read::{Source, Stored};
use super::rows::Rows;
use super::types::{as_type, in_milliseconds};
use crate::{Error, Output};

/// The rows of a row group and of a batch, where no input says more or less.
const GROUP_ROWS: usize = 1 << 20;
const BATCH_ROWS: usize = 1 << 16;
/// The share of memory that a row group takes, unless it has few rows.
const GROUP_SHARE: usize = 4;
const FEW_ROWS: usize = 1 << 10;

/// A file that is being written.
pub struct Sink {
    file: File,
    /// Why the output could not be written.
    failure: Failure,
}

type Failure = Arc<Mutex<Option<Error>>>;

enum File {
    Parquet(Box<Parquet>),
    Arrow { file: Box<FileWriter<Destination>>, batch_rows: usize },
}

impl Sink {
    /// A file of this kind for the rows of all inputs, which have the same columns. `schema` has the metadata that they share, and
    /// `budget` is the memory that the sort may take.
    pub fn new(
        output: Output,
        kind: Kind,
        inputs: &[Source],
        schema: &SchemaRef,
        keys: &[Key],
        budget: u64,
    ) -> Result<Sink, Error> {
        let failure = Failure::default();
        let destination = Destination { output, failure: Arc::clone(&failure) };
        let file = match kind {
            Kind::Parquet => Parquet::new(destination, inputs, schema, keys, budget as usize / GROUP_SHARE)
                .map(|file| File::Parquet(Box::new(file)))
                .map_err(|error| explained(&failure, &error)),
            Kind::Arrow => arrow(destination, inputs, schema).map_err(|error| explained(&failure, &error)),
        }?;
        Ok(Sink { file, failure })
    }

    pub fn write(&mut self, rows: &Rows) -> Result<(), Error> {
        match &mut self.file {
            File::Parquet(file) => file.write(rows).map_err(|error| explained(&self.failure, &error)),
            File::Arrow { file, batch_rows } => steps(0..rows.len(), *batch_rows)
                .try_for_each(|step| file.write(&rows.batch(step)?))
                .map_err(|error: ArrowError| explained(&self.failure, &error)),
        }
    }

    /// Writes what is left, and returns the output, which is not published yet.
    pub fn finish(self) -> Result<Output, Error> {
        let destination = match self.file {
            File::Parquet(file) => file.finish().map_err(|error| explained(&self.failure, &error)),
            File::Arrow { mut file, .. } => file
                .finish()
                .and_then(|()| file.into_inner())
                .map_err(|error| explained(&self.failure, &error)),
        };
        Ok(destination?.output)
    }
}

/// The error of the output, if it is the cause.
fn explained(failure: &Failure, error: &dyn std::fmt::Display) -> Error {
    let of_output = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    of_output.unwrap_or_else(|| Error::invalid(format!("the result cannot be written: {error}")))
}

/// The ranges of up to `most` rows that make up `rows`.
fn steps(rows: Range<usize>, most: usize) -> impl Iterator<Item = Range<usize>> {
    let end = rows.end;
    rows.step_by(most.max(1)).map(move |start| start..end.min(start + most.max(1)))
}

/// An output that keeps the reason why it failed.
struct Destination {
    output: Output,
    failure: Failure,
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.output.write(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(error) => {
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Err(io::Error::other("the output failed"))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn arrow(destination: Destination, inputs: &[Source], schema: &SchemaRef) -> Result<File, ArrowError> {
    let codec = inputs.iter().find_map(|input| match &input.stored {
        Stored::Arrow { compression, .. } => *compression,
        Stored::Parquet(_) => None,
    });
    let options = IpcWriteOptions::default().try_with_compression(codec)?;
    let mut file = FileWriter::try_new_with_options(destination, schema, options)?;
    if let Stored::Arrow { .. } = inputs[0].stored {
        let metadata = shared_metadata(inputs, Kind::Arrow, schema);
        metadata
            .into_iter()
            .for_each(|entry| file.write_metadata(entry.key, entry.value.unwrap_or_default()));
    }
    let batches = inputs.iter().map(|input| match &input.stored {
        Stored::Arrow { batches, .. } => batches.clone(),
        Stored::Parquet(_) => Vec::new(),
    });
    Ok(File::Arrow { file: Box::new(file), batch_rows: rows_of_a_part(batches, BATCH_ROWS) })
}

/// The rows of a row group or a batch of a result: as many as the largest of the inputs has. An input that is one part does not say how
/// many it may have, so then they are at least `usual`.
fn rows_of_a_part(inputs: impl Iterator<Item = Vec<usize>>, usual: usize) -> usize {
    let (mut most, mut says) = (1, false);
    for parts in inputs {
        most = parts.iter().copied().fold(most, usize::max);
        says |= parts.iter().filter(|&&rows| rows > 0).count() > 1;
    }
    if says { most } else { most.max(usual) }
}

/// A Parquet file that is being written, with all columns of a row group at the same time.
struct Parquet {
    file: SerializedFileWriter<Destination>,
    factory: ArrowRowGroupWriterFactory,
    /// The columns before decimals are bytes.
    held: SchemaRef,
    decimals: Decimals,
    /// The writers of the leaves of each column.
    columns: Vec<Vec<ArrowColumnWriter>>,
    /// The rows in the row group, and the most that it may have.
    rows: usize,
    group_rows: usize,
    /// What the rows of a row group may take, and what its writers take before there are any: Bloom filters.
    memory: usize,
    memory_before: usize,
}

impl Parquet {
    fn new(
        destination: Destination,
        inputs: &[Source],
        schema: &SchemaRef,
        keys: &[Key],
        memory: usize,
    ) -> Result<Parquet, ParquetError> {
        let files: Vec<&ParquetMetaData> = inputs.iter().filter_map(Source::parquet).collect();
        let groups = files.iter().map(|file| {
            file.row_groups().iter().map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).collect()
        });
        let group_rows = rows_of_a_part(groups, GROUP_ROWS);
        let of_file = files.first().map(|file| file.file_metadata().schema_descr());
        // Parquet's own columns hold what they held before.
        let schema = &match of_file {
            Some(_) => Arc::clone(schema),
            None => Arc::new(in_milliseconds(schema)),
        };
        let columns = columns(of_file, schema)?;
        let declared = sorting_columns(&columns, schema, keys);
        let metadata = shared_metadata(inputs, Kind::Parquet, schema);
        let all_rows = inputs.iter().map(|input| input.rows).fold(0, u64::saturating_add);
        let properties = as_in(&files, &columns, all_rows.min(group_rows as u64))
            .set_coerce_types(true)
            .set_sorting_columns(Some(declared).filter(|keys| !keys.is_empty()))
            .set_key_value_metadata(Some(metadata).filter(|metadata| !metadata.is_empty()));
        let decimals = Decimals::new(&columns, schema);
        let file =
            SerializedFileWriter::new(destination, columns.root_schema_ptr(), Arc::new(properties.build()))?;
        let factory = ArrowRowGroupWriterFactory::new(&file, Arc::clone(&decimals.schema));
        Ok(Parquet {
            file,
            factory,
            held: Arc::clone(schema),
            decimals,
            columns: Vec::new(),
            rows: 0,
            group_rows,
            memory,
            memory_before: 0,
        })
    }

    fn write(&mut self, rows: &Rows) -> Result<(), ParquetError> {
        let mut start = 0;
        while start < rows.len() {
            let end = rows.len().min(start + self.group_rows - self.rows);
            self.add(rows, start..end)?;
            self.rows += end - start;
            start = end;
            if self.rows == self.group_rows || self.is_full() {
                self.close_group()?;
            }
        }
        Ok(())
    }

    /// Whether the row group takes its share of memory: with few rows all of it, as each row group has statistics and buffers of its own.
    fn is_full(&self) -> bool {
        let taken = self.memory_size().saturating_sub(self.memory_before);
        taken > self.memory && (self.rows >= FEW_ROWS || taken / GROUP_SHARE > self.memory)
    }

    fn memory_size(&self) -> usize {
        self.columns.iter().flatten().map(ArrowColumnWriter::memory_size).sum()
    }

    fn add(&mut self, rows: &Rows, range: Range<usize>) -> Result<(), ParquetError> {
        if self.columns.is_empty() {
            let mut writers =
                self.factory.create_column_writers(self.file.flushed_row_groups().len())?.into_iter();
            let schema = self.file.schema_descr();
            let roots = (0..schema.root_schema().get_fields().len()).map(|root| {
                (0..schema.num_columns()).filter(|&leaf| schema.get_column_root_idx(leaf) == root).count()
            });
            self.columns = roots.map(|leaves| writers.by_ref().take(leaves).collect()).collect();
            self.memory_before = self.memory_size();
        }
        let (schema, decimals, held) = (&self.decimals.schema, &self.decimals, &self.held);
        self.columns.par_iter_mut().enumerate().try_for_each(|(column, writers)| {
            for step in steps(range.clone(), rows.step()) {
                let values = as_type(rows.gather(column, step)?, held.field(column).data_type())?;
                let values: ArrayRef = decimals.stored(column, values)?;
                for (leaf, writer) in
                    compute_leaves(schema.field(column), &values)?.iter().zip(writers.iter_mut())
                {
                    writer.write(leaf)?;
                }
            }
            Ok(())
        })
    }

    fn close_group(&mut self) -> Result<(), ParquetError> {
        let writers: Vec<ArrowColumnWriter> =
            std::mem::take(&mut self.columns).into_iter().flatten().collect();
        let chunks: Vec<_> =
            writers.into_par_iter().map(ArrowColumnWriter::close).collect::<Result<_, _>>()?;
        let mut group = self.file.next_row_group()?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut group)?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<Destination, ParquetError> {
        if self.rows > 0 {
            self.close_group()?;
        }
        self.file.into_inner()
    }
}

/// Codecs, dictionaries and Bloom filters as in the first row group of these files. Without one, values are compressed with Snappy.
/// Leaves are told by their positions, because elements of lists have many names. A Bloom filter gets room for all
/// rows of a group, and shrinks when it is written.
fn as_in(files: &[&ParquetMetaData], result: &SchemaDescriptor, group_rows: u64) -> WriterPropertiesBuilder {
    let mut properties = WriterProperties::builder();
    let Some(group) = files.iter().find_map(|file| file.row_groups().first()) else {
        return properties.set_compression(Compression::SNAPPY);
    };
    for (column, written) in group.columns().iter().zip(result.columns()) {
        let path = written.path().clone();
        properties = properties.set_column_compression(path.clone(), codec(column.compression()));
        let is_dictionary =
            |encoding| matches!(encoding, Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY);
        if !column.encodings().any(is_dictionary) {
            properties = properties.set_column_dictionary_enabled(path.clone(), false);
        }
        if column.bloom_filter_offset().is_some() {
            properties = properties.set_column_bloom_filter_max_ndv(path, group_rows.max(1));
        }
    }
    properties
}

/// A codec that can be written. LZO is no longer, and the old LZ4 is not well defined.
fn codec(read: Compression) -> Compression {
    match read {
        Compression::LZO | Compression::LZ4 => Compression::LZ4_RAW,
        other => other,
    }
}

/// The schema of the first input, with the metadata that all have alike.
pub fn shared_schema(inputs: &[Source]) -> SchemaRef {
    let mut schema = Schema::clone(&inputs[0].schema);
    schema
        .metadata
        .retain(|key, value| inputs[1..].iter().all(|other| other.schema.metadata().get(key) == Some(value)));
    Arc::new(schema)
}

/// What a file of this kind says beside its columns, if all inputs say it. `schema` is what they share.
fn shared_metadata(inputs: &[Source], kind: Kind, schema: &SchemaRef) -> Vec<KeyValue> {
    let of = |input: &Source| -> Vec<KeyValue> {
        match &input.stored {
            Stored::Parquet(file) => {
                file.metadata().file_metadata().key_value_metadata().cloned().unwrap_or_default()
            }
            Stored::Arrow { metadata, .. } if kind == Kind::Arrow => entries(metadata),
            Stored::Arrow { .. } => {
                let mut entries = entries(input.schema.metadata());
                entries.push(with_types(schema));
                entries
            }
        }
    };
    let first = of(&inputs[0]);
    let others: Vec<Vec<KeyValue>> = inputs[1..].iter().map(of).collect();
    let is_shared = |entry: &KeyValue| others.iter().all(|other| other.contains(entry));
    let in_common = first.into_iter().filter_map(|entry| match entry.key == ARROW_SCHEMA_META_KEY {
        // The columns are alike, whatever is said of them.
        true if !is_shared(&entry) || inputs.iter().any(|input| input.has_wider_indices) => {
            Some(with_types(schema))
        }
        true => Some(entry),
        false => is_shared(&entry).then_some(entry),
    });
    in_common.collect()
}

fn entries(metadata: &HashMap<String, String>) -> Vec<KeyValue> {
    let mut entries: Vec<_> =
        metadata.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    entries
}

/// The types and the metadata of Arrow, as Parquet files have them.
fn with_types(schema: &SchemaRef) -> KeyValue {
    KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), encode_arrow_schema(schema))
}
