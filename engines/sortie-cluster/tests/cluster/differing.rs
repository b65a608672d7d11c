//! Folders whose files differ: in the types of their columns, and in their names.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, DictionaryArray, Int32Array, Int64Array, LargeStringArray,
    RecordBatch, StringArray, TimestampMicrosecondArray, TimestampMillisecondArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int32Type, Int64Type};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::support::{Outcome, run};

fn write(file: &Path, columns: Vec<(&str, ArrayRef)>) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(file).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn sort(input: &Path, by: &str, output: &Path) -> Outcome {
    let (input, output) = (input.to_str().unwrap(), output.to_str().unwrap());
    run(&["sort", "--by", by, input, "-o", output, "--parts", "1"])
}

fn read(output: &Path) -> RecordBatch {
    let file = File::open(output.join("part-00000.parquet")).unwrap();
    ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().next().unwrap().unwrap()
}

#[test]
fn columns_are_widened() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    let money = |value, precision, scale| {
        Decimal128Array::from(vec![value]).with_precision_and_scale(precision, scale).unwrap()
    };
    let dictionary: DictionaryArray<Int32Type> = vec!["b"].into_iter().collect();
    write(
        &input.join("0.parquet"),
        vec![
            ("width", Arc::new(Int32Array::from(vec![-7]))),
            ("text", Arc::new(StringArray::from(vec!["c"]))),
            ("word", Arc::new(dictionary)),
            ("time", Arc::new(TimestampMillisecondArray::from(vec![2000]).with_timezone("Europe/Berlin"))),
            ("money", Arc::new(money(150, 9, 2))),
        ],
    );
    write(
        &input.join("1.parquet"),
        vec![
            ("width", Arc::new(Int64Array::from(vec![1 << 40]))),
            ("text", Arc::new(LargeStringArray::from(vec!["a"]))),
            ("word", Arc::new(StringArray::from(vec!["a"]))),
            ("time", Arc::new(TimestampMicrosecondArray::from(vec![1_000_000]).with_timezone("UTC"))),
            ("money", Arc::new(money(12_345, 12, 4))),
        ],
    );
    for by in ["width DESC", "text", "word", "time", "money"] {
        let outcome = sort(&input, by, &output);
        assert!(outcome.succeeded, "{outcome:?}");
        let rows = read(&output);
        let column =
            |name: &str, data_type: &DataType| cast(rows.column_by_name(name).unwrap(), data_type).unwrap();
        assert_eq!(column("width", &DataType::Int64).as_primitive::<Int64Type>().values(), &[1 << 40, -7]);
        let texts = |name| {
            let texts = column(name, &DataType::Utf8);
            texts.as_string::<i32>().iter().map(|text| text.unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            (texts("text"), texts("word"), texts("money")),
            (
                vec!["a".to_owned(), "c".to_owned()],
                vec!["a".to_owned(), "b".to_owned()],
                vec!["1.2345".to_owned(), "1.5000".to_owned()],
            )
        );
        let time = rows.column_by_name("time").unwrap();
        assert!(
            matches!(time.data_type(), DataType::Timestamp(_, Some(zone)) if zone.as_ref() == "UTC"),
            "{time:?}"
        );
        assert_eq!(
            column("time", &DataType::Int64).as_primitive::<Int64Type>().values(),
            &[1_000_000, 2_000_000]
        );
        std::fs::remove_dir_all(&output).unwrap();
    }
}

#[test]
fn columns_that_cannot_be_widened_are_named_with_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    write(&input.join("0.parquet"), vec![("x", Arc::new(Int64Array::from(vec![1])))]);
    write(&input.join("1.parquet"), vec![("x", Arc::new(StringArray::from(vec!["1"])))]);
    let outcome = sort(&input, "x", &output);
    assert!(!outcome.succeeded && !output.exists());
    for part in ["column `x` is Int64 in", "0.parquet", "but Utf8 in", "1.parquet"] {
        assert!(outcome.err.contains(part), "{outcome:?}");
    }
}

#[test]
fn files_end_in_any_of_three_ways() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.PARQUET", "a.parq", "a.Pq"] {
        let (input, output) = (folder.path().join(name), folder.path().join(format!("{name}.sorted")));
        write(&input.join(name), vec![("x", Arc::new(Int64Array::from(vec![2, 1])))]);
        std::fs::write(input.join("README.md"), "no table").unwrap();
        let outcome = sort(&input, "x", &output);
        assert!(outcome.succeeded, "{outcome:?}");
        assert_eq!(read(&output).column(0).as_primitive::<Int64Type>().values(), &[1, 2]);
    }
    let input = folder.path().join("a.parq");
    write(&input.join("b.parquet"), vec![("x", Arc::new(Int64Array::from(vec![3])))]);
    let outcome = sort(&input, "x", &folder.path().join("both"));
    assert!(
        !outcome.succeeded && outcome.err.contains("a.parq") && outcome.err.contains("b.parquet"),
        "{outcome:?}"
    );
    assert!(outcome.err.contains("end differently"), "{outcome:?}");
}
