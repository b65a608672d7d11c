//! Types and metadata of a table that Arrow does not know, or that DataFusion drops.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, Decimal128Array, FixedSizeBinaryArray, Float64Array, Int32Array,
    Int64Array, ListArray, RecordBatch, StringArray, StructArray, TimestampMicrosecondArray, UInt32Array,
};
use datafusion::arrow::datatypes::{DataType, Field, Fields, Float64Type, Int32Type, Schema};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::parquet::arrow::arrow_writer::ArrowWriterOptions;
use datafusion::parquet::file::metadata::{KeyValue, ParquetMetaData, SortingColumn};
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::parquet::file::reader::{FileReader, SerializedFileReader};
use datafusion::parquet::schema::parser::parse_message_type;
use datafusion::parquet::schema::types::SchemaDescriptor;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};

use crate::support::{Outcome, run};
use crate::tables;

/// Types as other programs write them.
const TYPES: &str = "message theirs {
    OPTIONAL group pair { OPTIONAL INT32 a (INTEGER(8, true)); REQUIRED INT32 b; }
    REQUIRED INT64 id;
    OPTIONAL FIXED_LEN_BYTE_ARRAY (16) uuid (UUID);
    OPTIONAL BYTE_ARRAY json (JSON);
    OPTIONAL BYTE_ARRAY enumerated (ENUM);
    OPTIONAL BYTE_ARRAY bson (BSON);
    OPTIONAL BYTE_ARRAY bytes;
    OPTIONAL FIXED_LEN_BYTE_ARRAY (16) long_decimal (DECIMAL(20, 5));
    OPTIONAL FIXED_LEN_BYTE_ARRAY (4) short_decimal (DECIMAL(9, 2));
    OPTIONAL INT64 number_decimal (DECIMAL(5, 2));
    OPTIONAL INT64 micros (TIMESTAMP(MICROS, true));
    OPTIONAL INT32 unsigned (INTEGER(32, false));
    OPTIONAL group list (LIST) { REPEATED group bag { OPTIONAL INT32 array_element; } }
    OPTIONAL group old_list (LIST) { REPEATED INT32 array; }
    OPTIONAL BYTE_ARRAY category (STRING);
}";

const ROWS: usize = 2000;

fn rows() -> Vec<(&'static str, ArrayRef)> {
    let numbers = || (0..ROWS).map(|i| (i % 7 != 0).then_some((i * 7919 % ROWS) as i64));
    let texts = || numbers().map(|n| n.map(|n| format!("{{\"number\": {n}}}")));
    let wide = |bytes: usize| {
        let values = numbers().map(|n| n.map(|n| i128::from(n - 900).to_be_bytes()[16 - bytes..].to_vec()));
        FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, bytes as i32).unwrap()
    };
    let lists = |is_nullable| {
        let lists = numbers().map(|n| n.map(|n| (0..n % 3).map(move |i| Some(i as i32))));
        let (_, offsets, items, nulls) =
            ListArray::from_iter_primitive::<Int32Type, _, _>(lists).into_parts();
        ListArray::new(Arc::new(Field::new("item", DataType::Int32, is_nullable)), offsets, items, nulls)
    };
    let pair =
        Fields::from(vec![Field::new("a", DataType::Int32, true), Field::new("b", DataType::Int32, false)]);
    let a = Int32Array::from_iter(numbers().map(|n| n.map(|n| n as i32 % 100)));
    let b = Int32Array::from_iter_values(0..ROWS as i32);
    vec![
        ("pair", Arc::new(StructArray::new(pair, vec![Arc::new(a), Arc::new(b)], None))),
        ("id", Arc::new(Int64Array::from_iter_values((0..ROWS).map(|i| (i * 31 % ROWS) as i64)))),
        ("uuid", Arc::new(wide(16))),
        ("json", Arc::new(StringArray::from_iter(texts()))),
        ("enumerated", Arc::new(StringArray::from_iter(texts()))),
        ("bson", Arc::new(BinaryArray::from_iter(texts().map(|text| text.map(String::into_bytes))))),
        ("bytes", Arc::new(BinaryArray::from_iter(texts().map(|text| text.map(String::into_bytes))))),
        ("long_decimal", Arc::new(wide(16))),
        ("short_decimal", Arc::new(wide(4))),
        ("number_decimal", Arc::new(Decimal128Array::from_iter(numbers().map(|n| n.map(i128::from))))),
        ("micros", Arc::new(TimestampMicrosecondArray::from_iter(numbers()))),
        ("unsigned", Arc::new(UInt32Array::from_iter(numbers().map(|n| n.map(|n| u32::MAX - n as u32))))),
        ("list", Arc::new(lists(true))),
        ("old_list", Arc::new(lists(false))),
        ("category", Arc::new(StringArray::from_iter(texts()))),
    ]
}

/// Writes a file of these types with some metadata, and with Arrow's description of the columns `described`.
fn write(file: &Path, metadata: &[(&str, &str)], described: Option<Schema>) {
    let mut entries: Vec<_> =
        metadata.iter().map(|&(key, value)| KeyValue::new(key.to_owned(), value.to_owned())).collect();
    if let Some(described) = &described {
        let value = datafusion::parquet::arrow::encode_arrow_schema(described);
        entries.push(KeyValue::new("ARROW:schema".to_owned(), value));
    }
    write_as(file, TYPES, rows(), entries);
}

fn write_as(file: &Path, types: &str, columns: Vec<(&str, ArrayRef)>, entries: Vec<KeyValue>) {
    let types = SchemaDescriptor::new(Arc::new(parse_message_type(types).unwrap()));
    let fields = columns.iter().zip(types.root_schema().get_fields());
    let fields = fields
        .map(|((name, column), theirs)| Field::new(*name, column.data_type().clone(), theirs.is_optional()));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let columns = columns.into_iter().map(|column| column.1).collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    let properties = WriterProperties::builder().set_key_value_metadata(Some(entries)).build();
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_parquet_schema(types)
        .with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(File::create(file).unwrap(), schema, options).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn metadata(file: &Path) -> ParquetMetaData {
    SerializedFileReader::new(File::open(file).unwrap()).unwrap().metadata().clone()
}

fn key_values(file: &ParquetMetaData) -> BTreeMap<String, Option<String>> {
    let entries = file.file_metadata().key_value_metadata().into_iter().flatten();
    entries.map(|entry| (entry.key.clone(), entry.value.clone())).collect()
}

fn sort(input: &Path, by: &str, output: &Path, parts: usize) -> Outcome {
    let (input, output) = (input.to_str().unwrap(), output.to_str().unwrap());
    run(&["sort", "--by", by, input, "-o", output, "--parts", &parts.to_string()])
}

fn part(output: &Path, number: usize) -> ParquetMetaData {
    metadata(&output.join(format!("part-{number:05}.parquet")))
}

/// A UUID became bytes, JSON a string, and decimals and lists got other types.
#[test]
fn columns_keep_their_types_and_files_their_metadata() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    std::fs::create_dir(&input).unwrap();
    let entries = [("geo", "{\"columns\": {}}"), ("pandas", "{\"index_columns\": [\"id\"]}"), ("theirs", "")];
    write(&input.join("0.parquet"), &entries, None);
    let by = "short_decimal DESC, uuid, id";
    let outcome = sort(&input, by, &output, 3);
    assert!(outcome.succeeded, "{outcome:?}");
    tables::check(&input, &output, by);
    let theirs = metadata(&input.join("0.parquet"));
    for number in 0..3 {
        let ours = part(&output, number);
        assert_eq!(ours.file_metadata().schema(), theirs.file_metadata().schema());
        assert_eq!(key_values(&ours), key_values(&theirs));
    }
}

/// Extension types, and polars' Enum with the order of its values, are in Arrow's description of the columns.
#[test]
fn the_description_for_arrow_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    std::fs::create_dir(&input).unwrap();
    let batch = RecordBatch::try_from_iter(rows()).unwrap();
    let described = |categories: Option<&str>| {
        let field = |field: &Arc<Field>| match field.name().as_str() {
            "category" => {
                let strings = DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8));
                let entries = |list: &str| [("_PL_ENUM_VALUES2".to_owned(), list.to_owned())];
                match categories {
                    Some(list) => Field::new("category", strings, true).with_metadata(entries(list).into()),
                    None => Field::clone(field),
                }
            }
            "json" => {
                let entries = [("ARROW:extension:name".to_owned(), "theirs.json".to_owned())];
                Field::clone(field).with_metadata(entries.into())
            }
            _ => Field::clone(field),
        };
        Schema::new(batch.schema().fields().iter().map(field).collect::<Vec<_>>())
    };
    write(&input.join("0.parquet"), &[], Some(described(Some("small, large"))));
    let outcome = sort(&input, "category, id", &output, 2);
    assert!(outcome.succeeded, "{outcome:?}");
    assert_eq!(key_values(&part(&output, 0)), key_values(&metadata(&input.join("0.parquet"))));
    // Strings are not in the order of polars' Enum, and polars would believe it.
    assert!(part(&output, 0).row_groups().iter().all(|group| group.sorting_columns().is_none()));

    // Categories of one file are not those of another, which may also have strings. All else is described as before.
    for (number, categories) in [Some("little, much"), None].into_iter().enumerate() {
        write(&input.join("1.parquet"), &[], Some(described(categories)));
        let output = folder.path().join(format!("both {number}"));
        let outcome = sort(&input, "id", &output, 2);
        assert!(outcome.succeeded, "{outcome:?}");
        let part = part(&output, 0);
        assert_eq!(
            part.file_metadata().schema(),
            metadata(&input.join("0.parquet")).file_metadata().schema()
        );
        let fields = datafusion::parquet::arrow::parquet_to_arrow_schema(
            part.file_metadata().schema_descr(),
            part.file_metadata().key_value_metadata(),
        )
        .unwrap();
        let entries = |name| fields.field_with_name(name).unwrap().metadata().clone();
        assert!(entries("category").is_empty(), "{:?}", entries("category"));
        assert_eq!(entries("json")["ARROW:extension:name"], "theirs.json");
    }
}

/// A UUID became bytes where one file had no nulls and another had some, or lacked the column.
#[test]
fn columns_keep_their_types_although_only_some_files_have_nulls() {
    let folder = tempfile::tempdir().unwrap();
    let ids = || -> ArrayRef { Arc::new(Int64Array::from_iter_values((0..10).rev())) };
    let uuids = || -> ArrayRef {
        let uuids = (0..10).map(|i: u128| i.to_be_bytes());
        Arc::new(FixedSizeBinaryArray::try_from_iter(uuids).unwrap())
    };
    let uuid = "FIXED_LEN_BYTE_ARRAY (16) uuid (UUID);";
    let required = format!("message theirs {{ REQUIRED INT64 id; REQUIRED {uuid} }}");
    let optional = format!("message theirs {{ REQUIRED INT64 id; OPTIONAL {uuid} }}");
    let absent = "message theirs { REQUIRED INT64 id; }";
    let with_uuids = || vec![("id", ids()), ("uuid", uuids())];
    for (number, (other, columns)) in
        [(optional.as_str(), with_uuids()), (absent, vec![("id", ids())])].into_iter().enumerate()
    {
        let (input, output) =
            (folder.path().join(number.to_string()), folder.path().join(format!("{number}-sorted")));
        std::fs::create_dir(&input).unwrap();
        write_as(&input.join("0.parquet"), &required, with_uuids(), vec![]);
        write_as(&input.join("1.parquet"), other, columns, vec![]);
        let outcome = sort(&input, "id", &output, 1);
        assert!(outcome.succeeded, "{outcome:?}");
        let part = part(&output, 0);
        let theirs = parse_message_type(&optional).unwrap();
        assert_eq!(part.file_metadata().schema(), &theirs);
        assert_eq!(part.file_metadata().num_rows(), 20);
    }
}

/// Bounds of one file are not those of all, and readers skip what is outside.
#[test]
fn bounds_of_several_geoparquet_files_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    std::fs::create_dir(&input).unwrap();
    let geo = |crs: &str, bound| {
        format!(
            r#"{{"version":"1.1.0","columns":{{"bytes":{{"encoding":"WKB","crs":"{crs}","geometry_types":["Point"],"bbox":[0,0,{bound},{bound}]}}}}}}"#
        )
    };
    write(&input.join("0.parquet"), &[("geo", &geo("x", 1))], None);
    write(&input.join("1.parquet"), &[("geo", &geo("x", 2))], None);
    let outcome = sort(&input, "id", &output, 2);
    assert!(outcome.succeeded, "{outcome:?}");
    let found = key_values(&part(&output, 1))["geo"].clone().unwrap();
    assert!(found.contains("WKB") && found.contains("\"crs\":\"x\"") && !found.contains("bbox"), "{found}");

    write(&input.join("1.parquet"), &[("geo", &geo("y", 2))], None);
    let outcome = sort(&input, "id", &folder.path().join("other"), 2);
    assert!(
        !outcome.succeeded && outcome.err.contains("1.parquet differ in the metadata `geo`"),
        "{outcome:?}"
    );
}

/// Parts say that they are sorted, so that DataFusion does not sort them again.
#[test]
fn parts_say_what_they_are_sorted_by() {
    let folder = tempfile::tempdir().unwrap();
    let (input, few) = (folder.path().join("input"), folder.path().join("few"));
    std::fs::create_dir(&input).unwrap();
    write(&input.join("0.parquet"), &[], None);
    tables::write(&few, 1, 5);
    // The columns are leaves: `pair` has two of them. In how many partitions DataFusion reads is the last number.
    type Keys = Vec<(i32, bool, bool)>;
    let cases: [(&Path, &str, Keys, usize, usize); 7] = [
        (&input, "micros DESC NULLS LAST, id", vec![(11, true, false), (2, false, false)], 4, 4),
        (&input, "micros DESC NULLS LAST, id", vec![(11, true, false), (2, false, false)], 4, 2),
        (&input, "id", vec![(2, false, false)], 4, 1),
        (&input, "number_decimal DESC", vec![(10, true, true)], 9, 9),
        (&input, "id, pair, json", vec![(2, false, false)], 1, 1),
        (&input, "pair", vec![], 1, 1),
        // Some parts have no rows.
        (&few, "s", vec![(3, false, false)], 9, 9),
    ];
    for (number, (input, by, keys, parts, partitions)) in cases.into_iter().enumerate() {
        let output = folder.path().join(number.to_string());
        let outcome = sort(input, by, &output, parts);
        assert!(outcome.succeeded, "{outcome:?}");
        let keys: Vec<_> = keys
            .into_iter()
            .map(|(column_idx, descending, nulls_first)| SortingColumn {
                column_idx,
                descending,
                nulls_first,
            })
            .collect();
        for number in 0..parts {
            let part = part(&output, number);
            assert!(part.num_row_groups() > 0);
            for group in part.row_groups() {
                assert_eq!(group.sorting_columns().cloned().unwrap_or_default(), keys, "{by}");
            }
        }
        if keys.len() == by.split(',').count() {
            assert_not_sorted_again(&output, by, partitions);
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn assert_not_sorted_again(folder: &Path, by: &str, partitions: usize) {
    let config = SessionConfig::new().with_target_partitions(partitions);
    let session = SessionContext::new_with_config(config);
    session.register_parquet("t", folder.to_str().unwrap(), ParquetReadOptions::default()).await.unwrap();
    let query = session.sql(&format!("SELECT * FROM t ORDER BY {by}")).await.unwrap();
    let plan = query.create_physical_plan().await.unwrap();
    let plan = datafusion::physical_plan::displayable(plan.as_ref()).indent(false).to_string();
    assert!(!plan.contains("SortExec"), "{by} in {partitions} partitions: {plan}");
}

/// DataFusion takes 1.5 for the value of all rows, because bounds leave NaN out.
#[test]
fn nan_beside_one_other_value_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("input.parquet"), folder.path().join("output"));
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values((0..10).rev()));
    let floats: ArrayRef =
        Arc::new(Float64Array::from_iter_values((0..10).map(|i| if i == 3 { 1.5 } else { f64::NAN })));
    let batch = RecordBatch::try_from_iter([("id", ids), ("f", floats)]).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(&input).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let outcome = sort(&input, "id", &output, 1);
    assert!(outcome.succeeded, "{outcome:?}");
    let part = File::open(output.join("part-00000.parquet")).unwrap();
    let sorted =
        ParquetRecordBatchReaderBuilder::try_new(part).unwrap().build().unwrap().next().unwrap().unwrap();
    let floats: Vec<f64> = sorted.column(1).as_primitive::<Float64Type>().values().to_vec();
    assert!(
        (0..10).all(|row| if row == 6 { floats[row] == 1.5 } else { floats[row].is_nan() }),
        "{floats:?}"
    );

    let outcome = run(&["sql", &format!("SELECT f FROM '{}'", input.to_str().unwrap())]);
    assert_eq!(outcome.out.matches("NaN").count(), 9, "{outcome:?}");
}
