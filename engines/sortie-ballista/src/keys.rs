//! [`Key`] and [`KeyBytes`]: what rows are sorted by.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::Schema;
use datafusion::arrow::row::{RowConverter, Rows, SortField};
use datafusion::common::{Result, internal_datafusion_err};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};

/// A column to sort by.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Key {
    #[prost(uint32, tag = "1")]
    pub column: u32,
    #[prost(bool, tag = "2")]
    pub descending: bool,
    #[prost(bool, tag = "3")]
    pub nulls_first: bool,
}

impl Key {
    fn options(&self) -> SortOptions {
        SortOptions { descending: self.descending, nulls_first: self.nulls_first }
    }
}

/// The order of the keys, for DataFusion.
pub(crate) fn ordering(keys: &[Key], schema: &Schema) -> Result<LexOrdering> {
    let expressions = keys.iter().map(|key| {
        let column = Column::new(schema.field(key.column as usize).name(), key.column as usize);
        PhysicalSortExpr::new(std::sync::Arc::new(column), key.options())
    });
    LexOrdering::new(expressions).ok_or_else(|| internal_datafusion_err!("a sort without keys"))
}

/// Turns the keys of a row into bytes that compare as they do.
pub(crate) struct KeyBytes {
    columns: Vec<usize>,
    converter: RowConverter,
}

impl KeyBytes {
    pub(crate) fn new(keys: &[Key], schema: &Schema) -> Result<KeyBytes> {
        let field = |key: &Key| {
            let data_type = schema.field(key.column as usize).data_type().clone();
            SortField::new_with_options(data_type, key.options())
        };
        Ok(KeyBytes {
            columns: keys.iter().map(|key| key.column as usize).collect(),
            converter: RowConverter::new(keys.iter().map(field).collect())?,
        })
    }

    /// The keys of each row of a batch.
    pub(crate) fn of(&self, batch: &RecordBatch) -> Result<Rows> {
        let columns: Vec<_> = self.columns.iter().map(|&i| batch.column(i).clone()).collect();
        Ok(self.converter.convert_columns(&columns)?)
    }
}
