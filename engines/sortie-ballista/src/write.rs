//! The second job's last step: writes the sorted rows of a range to its part.

use std::sync::Arc;

use datafusion::arrow::array::{AsArray, RecordBatch, UInt32Array, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type};
use datafusion::common::config::TableParquetOptions;
use datafusion::common::{DataFusionError, Result, exec_datafusion_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::parquet::arrow::AsyncArrowWriter;
use datafusion::parquet::arrow::arrow_writer::ArrowWriterOptions;
use datafusion::parquet::file::properties::WriterPropertiesBuilder;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, future, stream};
use object_store::buffered::BufWriter;
use prost::bytes::Bytes;

use crate::decimals::Decimals;
use crate::layout::Layout;
use crate::output::{Output, part_name};
use crate::range;

/// Writes each partition, which holds one range, to its part in Parquet. The result has a row for each part that was written.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Write {
    /// The folder, as a URL.
    #[prost(string, tag = "1")]
    pub folder: String,
    #[prost(uint32, tag = "2")]
    pub ranges: u32,
    /// The name of the sort, which the folder's mark has while the sort runs.
    #[prost(string, tag = "3")]
    pub sort: String,
    /// A part without rows, which has the types and the metadata that all parts are to have.
    #[prost(bytes = "bytes", tag = "4")]
    pub empty_part: Bytes,
}

/// A row group is finished when it takes this much memory, even if it has fewer rows than DataFusion's settings say, or this share of
/// a task's memory.
const ROW_GROUP_BYTES: usize = 64 << 20;
const ROW_GROUP_SHARE: usize = 8;

impl Write {
    pub(crate) fn schema() -> SchemaRef {
        let part = Field::new("part", DataType::UInt32, false);
        Arc::new(Schema::new(vec![part, Field::new("rows", DataType::UInt64, false)]))
    }

    pub(crate) fn run(
        self,
        input: SendableRecordBatchStream,
        context: Arc<TaskContext>,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        let written = stream::once(self.write(input, context));
        Ok(written.try_filter_map(|part| future::ready(Ok(part))).boxed())
    }

    async fn write(
        self,
        mut input: SendableRecordBatchStream,
        context: Arc<TaskContext>,
    ) -> Result<Option<RecordBatch>> {
        let Some(first) = next_rows(&mut input).await? else { return Ok(None) };
        let label = labels(&first).value(0);
        let range = range::ranges_of(vec![label], self.ranges as usize)?[0];
        let output = Output::open(&self.folder, &context.runtime_env())?;
        let layout = Layout::of_part(self.empty_part)?;
        let mut part = PartWriter::new(&output, range, &layout, without_label(&first)?.schema(), &context)?;
        let written = part.write_all(first, label, input).await;
        let written = match written {
            // A part that nobody waits for any more would be taken for a result.
            Ok(()) => output.ensure_unfinished(&self.sort).await,
            failed => failed,
        };
        if let Err(error) = written {
            return Err(part.abandon(error).await);
        }
        let sort = self.sort;
        // In a task of its own: one that is cancelled while the file gets its name would leave it to nobody.
        let finished = tokio::spawn(async move {
            let rows = part.finish().await?;
            output.delete_if_given_up(&part_name(range), &sort).await?;
            Ok::<_, DataFusionError>(rows)
        });
        let rows = finished.await.map_err(|error| DataFusionError::External(error.into()))??;
        let columns = vec![
            Arc::new(UInt32Array::from(vec![range as u32])) as _,
            Arc::new(UInt64Array::from(vec![rows])) as _,
        ];
        Ok(Some(RecordBatch::try_new(Write::schema(), columns)?))
    }
}

async fn next_rows(input: &mut SendableRecordBatchStream) -> Result<Option<RecordBatch>> {
    while let Some(batch) = input.try_next().await? {
        if batch.num_rows() > 0 {
            return Ok(Some(batch));
        }
    }
    Ok(None)
}

fn labels(batch: &RecordBatch) -> &UInt32Array {
    batch.column(batch.num_columns() - 1).as_primitive::<UInt32Type>()
}

fn without_label(batch: &RecordBatch) -> Result<RecordBatch> {
    Ok(batch.project(&(0..batch.num_columns() - 1).collect::<Vec<_>>())?)
}

/// A part that is being written. It is not in the folder before it is finished.
struct PartWriter {
    parquet: AsyncArrowWriter<BufWriter>,
    decimals: Decimals,
    memory: MemoryReservation,
    /// How much memory a row group may take.
    row_group_bytes: usize,
    rows: u64,
}

impl PartWriter {
    fn new(
        output: &Output,
        range: usize,
        layout: &Layout,
        held: SchemaRef,
        context: &TaskContext,
    ) -> Result<PartWriter> {
        let file = BufWriter::new(output.store(), output.path(&part_name(range)));
        let decimals = Decimals::new(&layout.schema, &held);
        let options = ArrowWriterOptions::new()
            .with_properties(layout.properties(properties(context, &held)?))
            .with_parquet_schema(layout.schema.clone())
            // The metadata has the input's description of the columns for Arrow, if there is one.
            .with_skip_arrow_metadata(true);
        let schema = Arc::clone(&decimals.schema);
        Ok(PartWriter {
            parquet: AsyncArrowWriter::try_new_with_options(file, schema, options)?,
            decimals,
            memory: MemoryConsumer::new("PartWriter").register(context.memory_pool()),
            row_group_bytes: match context.memory_pool().memory_limit() {
                MemoryLimit::Finite(bytes) => ROW_GROUP_BYTES.min(bytes / ROW_GROUP_SHARE),
                _ => ROW_GROUP_BYTES,
            },
            rows: 0,
        })
    }

    async fn write_all(
        &mut self,
        first: RecordBatch,
        label: u32,
        mut input: SendableRecordBatchStream,
    ) -> Result<()> {
        let mut next = Some(first);
        while let Some(batch) = next {
            if labels(&batch).values().iter().any(|&other| other != label) {
                return Err(exec_datafusion_err!(
                    "rows of two ranges came to one part: the executors hash numbers differently; let all run the same version \
                     of sortie-cluster"
                ));
            }
            self.parquet.write(&self.decimals.stored(&without_label(&batch)?)?).await?;
            self.rows += batch.num_rows() as u64;
            if self.parquet.memory_size() > self.row_group_bytes {
                self.parquet.flush().await?;
            }
            // The memory is taken already, and little of it, so that a full pool is no reason to fail.
            self.memory.resize(self.parquet.memory_size());
            next = next_rows(&mut input).await?;
        }
        // Finishing the file then only writes the footer.
        self.parquet.flush().await?;
        Ok(())
    }

    /// Puts the part into the folder, in the place of what an earlier attempt may have written. Returns its number of rows.
    async fn finish(self) -> Result<u64> {
        self.parquet.close().await?;
        Ok(self.rows)
    }

    /// Gives up what has been uploaded. Returns the reason.
    async fn abandon(self, reason: DataFusionError) -> DataFusionError {
        // Stores drop an upload that is not completed, if not now, then by their own rules.
        let _ = self.parquet.into_inner().abort().await;
        reason
    }
}

/// How parts are written: as DataFusion's settings say for `COPY ... TO`.
fn properties(context: &TaskContext, schema: &SchemaRef) -> Result<WriterPropertiesBuilder> {
    let mut options = TableParquetOptions::default();
    options.global = context.session_config().options().execution.parquet.clone();
    options.arrow_schema(schema);
    WriterPropertiesBuilder::try_from(&options)
}
