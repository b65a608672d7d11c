//! A query whose stream is dropped stops, and leaves no memory in use and no files.

use std::time::Duration;

use datafusion::physical_plan::execute_stream;
use fastrand::Rng;
use futures::StreamExt;

use crate::faults::{Ending, register_stream};
use crate::generate::Table;
use crate::support::{Limits, NO_LIMITS, assert_nothing_is_left, config, plan, register, with_sortie};

const SPILLING: Limits = Limits { memory: Some(1_000_000), ..NO_LIMITS };

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_rows_are_returned() {
    let table = Table::of_kinds(&mut Rng::with_seed(1), 50_000, 2, &[12, 3]);
    for limits in [NO_LIMITS, SPILLING] {
        for batches in [0, 1, 3] {
            let session = with_sortie(config(2, 1000), limits);
            register(&session, &table);
            let plan = plan(&session, "SELECT * FROM t ORDER BY c1, c2").await.unwrap();
            let mut stream = execute_stream(plan, session.task_ctx()).unwrap();
            for _ in 0..batches {
                stream.next().await.unwrap().unwrap();
            }
            drop(stream);
            assert_nothing_is_left(&session).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_rows_are_read_or_sorted() {
    let table = Table::of_kinds(&mut Rng::with_seed(2), 50_000, 2, &[12, 3]);
    for limits in [NO_LIMITS, SPILLING] {
        for milliseconds in [1, 5, 20, 80] {
            let session = with_sortie(config(2, 1000), limits);
            // The input never ends.
            register_stream(&session, &table, Ending::Never);
            let plan = plan(&session, "SELECT * FROM t ORDER BY c1, c2").await.unwrap();
            let mut stream = execute_stream(plan, session.task_ctx()).unwrap();
            let first = tokio::time::timeout(Duration::from_millis(milliseconds), stream.next()).await;
            assert!(first.is_err(), "no row is the first before the input has ended");
            drop(stream);
            assert_nothing_is_left(&session).await;
        }
    }
}
