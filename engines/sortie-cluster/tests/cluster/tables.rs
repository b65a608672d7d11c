//! Tables in Parquet files, and what they are when they are sorted.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch,
    StringArray,
};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use serde_json::Value;

/// Writes random rows to `files` files. The columns have the types of keys, with nulls and NaN. Some have few values.
pub fn write(folder: &Path, files: usize, rows: usize) {
    std::fs::create_dir_all(folder).unwrap();
    for file in 0..files {
        let batch = rows_of(&mut fastrand::Rng::with_seed(file as u64), rows / files);
        let writer = File::create(folder.join(format!("{file}.parquet"))).unwrap();
        let mut writer = ArrowWriter::try_new(writer, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }
}

/// Writes a file with two columns of one name.
pub fn write_twice(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let field = Field::new("x", DataType::Int64, false);
    let schema = Arc::new(Schema::new(vec![field.clone(), field]));
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(&column), column]).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(folder.join("0.parquet")).unwrap(), schema, None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn rows_of(random: &mut fastrand::Rng, rows: usize) -> RecordBatch {
    let text =
        |random: &mut fastrand::Rng| format!("{}{}", "prefix-".repeat(random.usize(0..4)), random.u16(..));
    let float = |random: &mut fastrand::Rng| [f64::NAN, -0.0, 0.0, random.f64()][random.usize(0..4)];
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "i",
            Arc::new(Int64Array::from_iter((0..rows).map(|_| (random.u8(..) > 20).then(|| random.i64(..))))),
        ),
        ("few", Arc::new(Int64Array::from_iter((0..rows).map(|_| Some(random.i64(0..5)))))),
        ("f", Arc::new(Float64Array::from_iter((0..rows).map(|_| Some(float(random)))))),
        ("s", Arc::new(StringArray::from_iter((0..rows).map(|_| (random.u8(..) > 9).then(|| text(random)))))),
        ("b", Arc::new(BinaryArray::from_iter((0..rows).map(|_| Some([random.u8(..), 0, random.u8(..3)]))))),
        ("t", Arc::new(BooleanArray::from_iter((0..rows).map(|_| Some(random.bool()))))),
        ("d", Arc::new(Date32Array::from_iter((0..rows).map(|_| Some(random.i32(-900..900)))))),
        ("n", Arc::new(Decimal128Array::from_iter((0..rows).map(|_| Some(random.i128(-99..99)))))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .unwrap()
}

/// The manifest of a result, beside its folder.
pub fn manifest(output: &Path) -> PathBuf {
    output.with_added_extension("manifest.json")
}

/// The parts of a result in order, and that they are what the manifest says.
fn parts(output: &Path) -> Vec<String> {
    let manifest: Value = serde_json::from_slice(&std::fs::read(manifest(output)).unwrap()).unwrap();
    let parts = manifest["parts"].as_array().unwrap();
    let mut names: Vec<_> = std::fs::read_dir(output)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = (0..parts.len()).map(|i| format!("part-{i:05}.parquet"));
    assert_eq!(names, expected.collect::<Vec<_>>());
    let mut rows = 0;
    for part in parts {
        let path = output.join(part["file"].as_str().unwrap());
        assert_eq!(part["bytes"], path.metadata().unwrap().len());
        rows += part["rows"].as_u64().unwrap();
    }
    assert_eq!(manifest["rows"], rows);
    names.iter().map(|name| output.join(name).to_str().unwrap().to_owned()).collect()
}

async fn read(files: &[String], order: Option<&str>) -> RecordBatch {
    let config = SessionConfig::new().with_target_partitions(1);
    // Views would count the bytes of other rows too.
    let config = config.set_bool("datafusion.execution.parquet.schema_force_view_types", false);
    let session = SessionContext::new_with_config(config);
    let mut batches = vec![];
    let mut schema = None;
    for file in files {
        let rows = session.read_parquet(file, ParquetReadOptions::default()).await.unwrap();
        schema = Some(Arc::clone(rows.schema().inner()));
        batches.extend(rows.collect().await.unwrap());
    }
    let rows = concat_batches(&schema.expect("a file"), &batches).unwrap();
    let Some(order) = order else { return rows };
    session.register_batch("t", rows).unwrap();
    let sorted = session.sql(&format!("SELECT * FROM t ORDER BY {order}")).await.unwrap();
    let schema = Arc::clone(sorted.schema().inner());
    concat_batches(&schema, &sorted.collect().await.unwrap()).unwrap()
}

/// Checks that a result has the rows of the input, in the order of the keys. Returns the bytes that each part's rows take.
pub fn check(input: &Path, output: &Path, by: &str) -> Vec<usize> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let files: Vec<_> = std::fs::read_dir(input).unwrap().map(|file| file.unwrap().path()).collect();
        let files: Vec<_> = files.iter().map(|file| file.to_str().unwrap().to_owned()).collect();
        let parts = parts(output);
        let all: Vec<_> =
            read(&parts[..1], None).await.schema().fields().iter().map(|f| f.name().clone()).collect();
        let all = all.join(", ");

        let result = read(&parts, None).await;
        let keys: Vec<_> = by.split(',').map(|key| key.split_whitespace().next().unwrap()).collect();
        let keys: Vec<_> = keys.iter().map(|key| result.schema().index_of(key).unwrap()).collect();
        let expected = read(&files, Some(by)).await;
        assert!(result.project(&keys).unwrap() == expected.project(&keys).unwrap(), "the order of {by}");
        assert!(read(&parts, Some(&all)).await == read(&files, Some(&all)).await, "the rows");

        let mut bytes = vec![];
        for part in &parts {
            let rows = read(std::slice::from_ref(part), None).await;
            bytes.push(
                rows.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap()).sum(),
            );
        }
        bytes
    })
}
