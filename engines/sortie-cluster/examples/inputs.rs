//! Makes the tables that the measurements sort: `inputs FOLDER [SCALE]`.
//!
//! - `lineitem`: that of TPC-H, at the scale factor, 1 by default. Ten files.
//! - `skewed`: 10^7 rows for each unit of the scale. Strings of a Zipf-like distribution, and a number. A tenth of the rows have the
//!   most frequent string; strings are 4 to 60 bytes long.
//! - `sixteen`: 10^7 rows for each unit of the scale, which have 16 values.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::error::ArrowError;
use datafusion::error::Result;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;
use tpchgen::generators::LineItemGenerator;
use tpchgen_arrow::LineItemArrow;

const FILES: usize = 10;
const BATCH: usize = 8192;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = Path::new(arguments.get(1).expect("a folder"));
    let scale: f64 = arguments.get(2).map_or(1.0, |scale| scale.parse().expect("a scale factor"));
    let rows = (1e7 * scale) as usize / FILES;
    for file in 0..FILES {
        let generator = LineItemGenerator::new(scale, file as i32 + 1, FILES as i32);
        let batches = LineItemArrow::new(generator).with_batch_size(BATCH);
        write(folder, "lineitem", file, batches)?;
        write(folder, "skewed", file, batches_of(rows, file, skewed))?;
        write(folder, "sixteen", file, batches_of(rows, file, sixteen))?;
    }
    Ok(())
}

fn batches_of(
    rows: usize,
    seed: usize,
    batch: fn(&mut fastrand::Rng, usize) -> Vec<(&'static str, ArrayRef)>,
) -> impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>> {
    let mut random = fastrand::Rng::with_seed(seed as u64);
    (0..rows)
        .step_by(BATCH)
        .map(move |start| RecordBatch::try_from_iter(batch(&mut random, BATCH.min(rows - start))))
}

fn skewed(random: &mut fastrand::Rng, rows: usize) -> Vec<(&'static str, ArrayRef)> {
    let strings = (0..rows).map(|_| {
        // Ranks whose logarithms are uniform: each power of ten is as frequent as the next.
        let rank = 10f64.powf(random.f64() * 10.0) as u64;
        let mut of_rank = fastrand::Rng::with_seed(rank);
        (0..of_rank.usize(4..=60)).map(|_| of_rank.lowercase()).collect::<String>()
    });
    let strings: StringArray = strings.map(Some).collect();
    let numbers = Int64Array::from_iter_values((0..rows).map(|_| random.i64(..)));
    vec![("s", Arc::new(strings)), ("n", Arc::new(numbers))]
}

fn sixteen(random: &mut fastrand::Rng, rows: usize) -> Vec<(&'static str, ArrayRef)> {
    let values = Int32Array::from_iter_values((0..rows).map(|_| random.i32(0..16)));
    let numbers = Int64Array::from_iter_values((0..rows).map(|_| random.i64(..)));
    vec![("v", Arc::new(values)), ("n", Arc::new(numbers))]
}

fn write<E: std::fmt::Debug>(
    folder: &Path,
    table: &str,
    file: usize,
    batches: impl Iterator<Item = std::result::Result<RecordBatch, E>>,
) -> Result<()> {
    let folder = folder.join(table);
    fs::create_dir_all(&folder)?;
    let mut batches = batches.map(|batch| batch.expect("batches can be made")).peekable();
    let Some(first) = batches.peek() else { return Ok(()) };
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let file = File::create(folder.join(format!("{file}.parquet")))?;
    let mut writer = ArrowWriter::try_new(file, first.schema(), Some(properties))?;
    for batch in batches {
        writer.write(&batch)?;
    }
    writer.close()?;
    Ok(())
}
