//! Inputs that fail, and disks that are full.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::exec_datafusion_err;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::prelude::SessionContext;
use fastrand::Rng;
use futures::{StreamExt, stream};

use crate::generate::Table;
use crate::support::{Limits, NO_LIMITS, assert_nothing_is_left, config, register, run, with_sortie};

/// What comes after the last batch of an input.
#[derive(Debug, Clone, Copy)]
pub enum Ending {
    Error,
    Panic,
    /// No end.
    Never,
}

#[derive(Debug)]
struct Input {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    ending: Ending,
}

impl PartitionStream for Input {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let ending = self.ending;
        let end = stream::once(async move {
            match ending {
                Ending::Error => Err(exec_datafusion_err!("the input has failed")),
                Ending::Panic => panic!("the input has panicked"),
                Ending::Never => std::future::pending().await,
            }
        });
        let batches = stream::iter(self.batches.clone()).map(Ok).chain(end);
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), batches))
    }
}

/// Registers a table whose last partition has this ending.
pub fn register_stream(session: &SessionContext, table: &Table, ending: Ending) {
    let input = |batches: &Vec<RecordBatch>| {
        let input = Input { schema: table.schema(), batches: batches.clone(), ending };
        Arc::new(input) as Arc<dyn PartitionStream>
    };
    let inputs = table.partitions.iter().map(input).collect();
    session.register_table("t", Arc::new(StreamingTable::try_new(table.schema(), inputs).unwrap())).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_input_fails() {
    for partitions in [1, 3] {
        let table = Table::of_kinds(&mut Rng::with_seed(1), 20_000, partitions, &[12, 3]);
        for memory in [None, Some(1_000_000)] {
            let session = with_sortie(config(2, 1000), Limits { memory, ..NO_LIMITS });
            register_stream(&session, &table, Ending::Error);
            let error = run(&session, "SELECT * FROM t ORDER BY c1").await.unwrap_err().to_string();
            assert!(error.contains("the input has failed"), "{error}");
            assert_nothing_is_left(&session).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_input_panics() {
    let table = Table::of_kinds(&mut Rng::with_seed(2), 20_000, 2, &[12]);
    let session = with_sortie(config(2, 1000), Limits { memory: Some(1_000_000), ..NO_LIMITS });
    register_stream(&session, &table, Ending::Panic);
    let query = tokio::spawn({
        let session = session.clone();
        async move { run(&session, "SELECT * FROM t ORDER BY c1").await.map(|_| ()) }
    });
    assert!(query.await.unwrap_err().is_panic());
    assert_nothing_is_left(&session).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_disk_is_full() {
    let table = Table::of_kinds(&mut Rng::with_seed(3), 20_000, 2, &[12, 10]);
    for disk in [0, 10_000, 300_000] {
        let session = with_sortie(config(2, 1000), Limits { memory: Some(600_000), fair: false, disk });
        register(&session, &table);
        let error = run(&session, "SELECT * FROM t ORDER BY c1").await.unwrap_err().to_string();
        assert!(error.contains("datafusion.runtime.max_temp_directory_size"), "{error}");
        assert_nothing_is_left(&session).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expression_fails() {
    let table = Table::of_kinds(&mut Rng::with_seed(4), 20_000, 2, &[2]);
    let session = with_sortie(config(2, 1000), NO_LIMITS);
    register(&session, &table);
    let error = run(&session, "SELECT * FROM t ORDER BY 1 / (id - 9000)").await.unwrap_err().to_string();
    assert!(error.contains("Divide by zero"), "{error}");
    assert_nothing_is_left(&session).await;
}
