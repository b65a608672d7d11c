//! What batches of the result hold on to.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, RecordBatch};
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::physical_plan::collect;
use fastrand::Rng;

use crate::generate::Table;
use crate::support::{Limits, NO_LIMITS, config, plan, register, with_sortie};

fn ipc_bytes(batches: &[RecordBatch]) -> usize {
    let mut stream = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| stream.write(batch).unwrap());
    stream.into_inner().unwrap().len()
}

/// The same rows in new arrays.
fn rebuilt(batch: &RecordBatch) -> RecordBatch {
    let rebuilt = |column: &ArrayRef| {
        let converter = RowConverter::new(vec![SortField::new(column.data_type().clone())]).unwrap();
        let rows = converter.convert_columns(&[Arc::clone(column)]).unwrap();
        converter.convert_rows(&rows).unwrap().remove(0)
    };
    RecordBatch::try_new(batch.schema(), batch.columns().iter().map(rebuilt).collect()).unwrap()
}

/// Each batch held on to the strings of all rows, which made 39 times the bytes in Arrow's IPC format.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_hold_no_strings_of_other_rows() {
    let table = Table::of_kinds(&mut Rng::with_seed(2), 150_000, 2, &[12, 10, 3, 12]);
    for limits in [NO_LIMITS, Limits { memory: Some(8 << 20), ..NO_LIMITS }] {
        let session = with_sortie(config(2, 8192), limits);
        register(&session, &table);
        let plan = plan(&session, "SELECT * FROM t ORDER BY c3").await.unwrap();
        let sorted = collect(plan, session.task_ctx()).await.unwrap();
        let (bytes, least) = (ipc_bytes(&sorted), ipc_bytes(&sorted.iter().map(rebuilt).collect::<Vec<_>>()));
        assert!(bytes * 10 <= least * 12, "{bytes} bytes, where {least} are enough");
    }
}
