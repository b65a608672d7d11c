//! [`Layout`]: what all parts have in common: the types of their columns, their metadata, and what they are sorted by.
//!
//! Arrow knows fewer types than Parquet, and DataFusion drops the metadata that other programs keep theirs in. So parts get the
//! Parquet schema and the metadata of the input's files, not those that follow from the rows in memory. Programs trust
//! what a file says about its order, so it only has keys for which all of them have the same order.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::common::{Result, exec_err};
use datafusion::parquet::arrow::{
    ARROW_SCHEMA_META_KEY, ArrowSchemaConverter, encode_arrow_schema, parquet_to_arrow_schema,
};
use datafusion::parquet::basic::{ConvertedType, Repetition, Type as Physical};
use datafusion::parquet::file::metadata::{KeyValue, ParquetMetaData, ParquetMetaDataReader, SortingColumn};
use datafusion::parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use datafusion::parquet::file::writer::SerializedFileWriter;
use datafusion::parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type, TypePtr};
use object_store::path::Path;
use prost::bytes::Bytes;

use crate::geo::without_extent;
use crate::keys::Key;

/// What the parts of a sort have in common.
pub(crate) struct Layout {
    pub schema: SchemaDescriptor,
    metadata: Vec<KeyValue>,
    /// As many of the keys, from the first on, as all programs order alike.
    sorted_by: Vec<SortingColumn>,
}

/// What a file of the input says of its columns and of itself.
pub(crate) struct FileLayout {
    pub path: Path,
    schema: TypePtr,
    metadata: Vec<KeyValue>,
}

impl FileLayout {
    pub(crate) fn of(path: Path, file: &ParquetMetaData) -> FileLayout {
        let file = file.file_metadata();
        FileLayout {
            path,
            schema: file.schema_descr().root_schema_ptr(),
            metadata: file.key_value_metadata().cloned().unwrap_or_default(),
        }
    }

    pub(crate) fn is_like(&self, other: &FileLayout) -> bool {
        self.schema == other.schema && self.metadata == other.metadata
    }

    /// Refuses two columns of one name, of which DataFusion would read one.
    pub(crate) fn ensure_distinct_columns(&self) -> Result<()> {
        let mut names: Vec<_> = self.schema.get_fields().iter().map(|column| column.name()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => exec_err!("{} has two columns named `{}`; rename one", self.path, pair[0]),
            None => Ok(()),
        }
    }

    fn column(&self, name: &str) -> Option<&TypePtr> {
        self.schema.get_fields().iter().find(|column| column.name() == name)
    }

    fn value(&self, key: &str) -> Option<&String> {
        self.metadata.iter().find(|entry| entry.key == key)?.value.as_ref()
    }

    /// The columns as Arrow has them, with the metadata of fields.
    pub(crate) fn columns(&self) -> Result<Schema> {
        let schema = SchemaDescriptor::new(Arc::clone(&self.schema));
        Ok(parquet_to_arrow_schema(&schema, Some(&self.metadata))?)
    }
}

impl Layout {
    /// The layout of a table whose files have these layouts, at least one, and whose columns are these in memory.
    pub(crate) fn of(files: &[FileLayout], table: &Schema, keys: &[Key]) -> Result<Layout> {
        files.iter().try_for_each(ensure_whole_intervals)?;
        let columns = table.fields().iter().map(|field| column(files, field)).collect::<Result<_>>()?;
        let root = Type::group_type_builder(files[0].schema.name()).with_fields(columns).build()?;
        let schema = SchemaDescriptor::new(Arc::new(root));
        let fields = fields(files, table)?;
        let sorted_by = sorting_columns(&schema, &fields, keys);
        Ok(Layout { metadata: metadata(files, &fields)?, schema, sorted_by })
    }

    /// The layout of a file that [`Layout::empty_part`] has written.
    pub(crate) fn of_part(part: Bytes) -> Result<Layout> {
        let file = ParquetMetaDataReader::new().parse_and_finish(&part)?;
        let sorted_by = file.row_groups().first().and_then(|group| group.sorting_columns());
        Ok(Layout {
            schema: file.file_metadata().schema_descr().clone(),
            metadata: file.file_metadata().key_value_metadata().cloned().unwrap_or_default(),
            sorted_by: sorted_by.cloned().unwrap_or_default(),
        })
    }

    /// The bytes of a part without rows. It has a group of rows, because only groups say what they are sorted by.
    pub(crate) fn empty_part(&self) -> Result<Bytes> {
        let properties = Arc::new(self.properties(WriterProperties::builder()));
        let mut file = SerializedFileWriter::new(Vec::new(), self.schema.root_schema_ptr(), properties)?;
        let mut group = file.next_row_group()?;
        while let Some(column) = group.next_column()? {
            column.close()?;
        }
        group.close()?;
        Ok(file.into_inner()?.into())
    }

    pub(crate) fn properties(&self, others: WriterPropertiesBuilder) -> WriterProperties {
        others
            .set_key_value_metadata(Some(self.metadata.clone()).filter(|metadata| !metadata.is_empty()))
            .set_sorting_columns(Some(self.sorted_by.clone()).filter(|keys| !keys.is_empty()))
            .build()
    }
}

/// Refuses intervals whose months Arrow would leave out. Where a file has Arrow's own types, one of them has no months.
fn ensure_whole_intervals(file: &FileLayout) -> Result<()> {
    let schema = SchemaDescriptor::new(Arc::clone(&file.schema));
    let interval = schema.columns().iter().find(|column| column.converted_type() == ConvertedType::INTERVAL);
    match interval {
        Some(interval) if file.value(ARROW_SCHEMA_META_KEY).is_none() => exec_err!(
            "{}: column `{}` is an INTERVAL, of which the months would be lost; store it as a number or a string",
            file.path,
            interval.path().string()
        ),
        _ => Ok(()),
    }
}

/// A column as the files have it. If they disagree, or if it cannot be written so, as follows from its type in memory.
fn column(files: &[FileLayout], field: &FieldRef) -> Result<TypePtr> {
    let table = Schema::new(vec![Arc::clone(field)]);
    let of_memory = ArrowSchemaConverter::new().with_coerce_types(true).convert(&table)?;
    let of_files = files.iter().filter_map(|file| file.column(field.name()));
    let mut of_files = of_files.map(|column| nullable(column, field));
    if let Some(Some(first)) = of_files.next()
        && of_files.all(|other| other.as_ref() == Some(&first))
        && holds(&single(&first)?, &of_memory, field)?
    {
        return Ok(first);
    }
    Ok(Arc::clone(&of_memory.root_schema().get_fields()[0]))
}

/// The column of a file, which may have nulls if that of the table may. None for one that the file describes in a way that cannot be
/// written.
fn nullable(column: &TypePtr, field: &Field) -> Option<TypePtr> {
    let info = column.get_basic_info();
    if !field.is_nullable() || info.repetition() != Repetition::REQUIRED {
        return Some(Arc::clone(column));
    }
    let id = info.has_id().then(|| info.id());
    let nullable = match column.as_ref() {
        Type::GroupType { fields, .. } => Type::group_type_builder(column.name())
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(info.converted_type())
            .with_logical_type(info.logical_type_ref().cloned())
            .with_fields(fields.clone())
            .with_id(id)
            .build(),
        Type::PrimitiveType { physical_type, type_length, scale, precision, .. } => {
            Type::primitive_type_builder(column.name(), *physical_type)
                .with_repetition(Repetition::OPTIONAL)
                .with_converted_type(info.converted_type())
                .with_logical_type(info.logical_type_ref().cloned())
                .with_length(*type_length)
                .with_scale(*scale)
                .with_precision(*precision)
                .with_id(id)
                .build()
        }
    };
    nullable.ok().map(Arc::new)
}

fn single(column: &TypePtr) -> Result<SchemaDescriptor> {
    let root = Type::group_type_builder("schema").with_fields(vec![Arc::clone(column)]).build()?;
    Ok(SchemaDescriptor::new(Arc::new(root)))
}

/// Whether the values of a column in memory, which `of_memory` is made for, can be written as the column of a file.
fn holds(of_file: &SchemaDescriptor, of_memory: &SchemaDescriptor, field: &Field) -> Result<bool> {
    let (a, b) = (of_file.columns(), of_memory.columns());
    let natural = parquet_to_arrow_schema(of_file, None)?;
    let (read, held) = (leaves(natural.field(0).data_type()), leaves(field.data_type()));
    let is_flat = a.len() == 1 && a[0].max_rep_level() == 0 && a[0].path().parts().len() == 1;
    let levels = |column: &ColumnDescPtr| (column.max_def_level(), column.max_rep_level());
    let storage = |column: &ColumnDescPtr| (column.physical_type(), column.type_length());
    let is_decimal = |held: &DataType| held.is_decimal();
    Ok(a.len() == b.len()
        && a.len() == held.len()
        && a.len() == read.len()
        && (0..a.len()).all(|leaf| {
            levels(&a[leaf]) == levels(&b[leaf])
                && is_of_one_unit(read[leaf], held[leaf])
                && match a[leaf].physical_type() {
                    Physical::INT32 | Physical::INT64 if is_decimal(held[leaf]) => true,
                    Physical::FIXED_LEN_BYTE_ARRAY if is_decimal(held[leaf]) && is_flat => true,
                    _ => storage(&a[leaf]) == storage(&b[leaf]),
                }
        }))
}

/// The types of a column's leaves, in the order of Parquet.
fn leaves(data_type: &DataType) -> Vec<&DataType> {
    match data_type {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => leaves(field.data_type()),
        DataType::Struct(fields) => fields.iter().flat_map(|field| leaves(field.data_type())).collect(),
        DataType::Dictionary(_, values) => leaves(values),
        DataType::RunEndEncoded(_, values) => leaves(values.data_type()),
        leaf => vec![leaf],
    }
}

/// Whether numbers of one type mean the same in the other.
fn is_of_one_unit(a: &DataType, b: &DataType) -> bool {
    let unit = |of: &DataType| match of {
        DataType::Timestamp(unit, _) | DataType::Time32(unit) | DataType::Time64(unit) => Some(*unit),
        _ => None,
    };
    let scale = |of: &DataType| match of {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => Some((*precision, *scale)),
        _ => None,
    };
    // A number without a unit is one of Arrow's types that Parquet does not have. It is stored as it is in memory.
    (unit(a).is_none() || unit(a) == unit(b)) && scale(a) == scale(b)
}

/// The columns as the files describe them to Arrow: with the metadata of fields, if the files agree.
fn fields(files: &[FileLayout], table: &Schema) -> Result<Schema> {
    let schemas = files.iter().map(FileLayout::columns).collect::<Result<Vec<_>>>()?;
    let field = |in_table: &FieldRef| {
        let mut of_files = schemas.iter().filter_map(|schema| schema.field_with_name(in_table.name()).ok());
        match of_files.next() {
            Some(first) if of_files.all(|other| other == first) => Arc::new(first.clone()),
            _ => Arc::clone(in_table),
        }
    };
    let fields: Vec<FieldRef> = table.fields().iter().map(field).collect();
    Ok(Schema::new_with_metadata(fields, schemas[0].metadata().clone()))
}

/// The metadata of all files. Where they have different values for a key, the first file's.
fn metadata(files: &[FileLayout], fields: &Schema) -> Result<Vec<KeyValue>> {
    let mut entries: Vec<KeyValue> = Vec::new();
    for entry in files.iter().flat_map(|file| &file.metadata) {
        if entries.iter().any(|before| before.key == entry.key) {
            continue;
        }
        let differs = files.iter().find(|file| file.value(&entry.key) != entry.value.as_ref());
        let value = match (differs, entry.key.as_str()) {
            (Some(_), ARROW_SCHEMA_META_KEY) => Some(encode_arrow_schema(fields)),
            (Some(_), "geo") => {
                let of_files = files.iter().filter_map(|file| Some((&file.path, file.value("geo")?)));
                Some(without_extent(of_files)?)
            }
            _ => entry.value.clone(),
        };
        entries.push(KeyValue { key: entry.key.clone(), value });
    }
    Ok(entries)
}

/// The keys as a file can state them, up to the first that it cannot.
fn sorting_columns(schema: &SchemaDescriptor, fields: &Schema, keys: &[Key]) -> Vec<SortingColumn> {
    let sorting_column = |key: &Key| {
        let root = key.column as usize;
        let mut leaves = (0..schema.num_columns()).filter(|&leaf| schema.get_column_root_idx(leaf) == root);
        let leaf = leaves.next()?;
        let is_plain = schema.root_schema().get_fields()[root].is_primitive()
            && schema.column(leaf).max_rep_level() == 0
            && schema.column(leaf).converted_type() != ConvertedType::INTERVAL;
        (is_plain && !has_own_order(fields.field(root))).then_some(SortingColumn {
            column_idx: leaf as i32,
            descending: key.descending,
            nulls_first: key.nulls_first,
        })
    };
    keys.iter().map_while(sorting_column).collect()
}

/// Whether a program that knows the field's metadata orders its values otherwise: categories by their list, not as strings.
fn has_own_order(field: &Field) -> bool {
    let is_polars = field.metadata().keys().any(|key| key.starts_with("_PL_"));
    is_polars || field.dict_is_ordered().unwrap_or(false)
}
