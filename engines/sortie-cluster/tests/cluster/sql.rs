//! SQL on a cluster.

use std::time::Duration;

use ballista_core::serde::protobuf::GetJobStatusParams;
use ballista_core::serde::protobuf::job_status::Status;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use rustix::process::Signal;

use crate::support::{Client, Cluster, program, run};
use crate::tables;

#[test]
fn queries_of_parquet_files() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    tables::write(&input, 3, 3000);
    let cluster = Cluster::start(2);
    let table = input.to_str().unwrap();
    let sql = |statement: &str| {
        let outcome = run(&[
            "sql",
            &statement.replace("INPUT", &format!("'{table}/'")),
            "--scheduler",
            &cluster.address,
        ]);
        assert!(outcome.succeeded, "{outcome:?}");
        outcome.out
    };
    let rows = sql("SELECT i FROM INPUT WHERE i IS NOT NULL ORDER BY i DESC");
    let numbers = rows.lines().filter_map(|line| line.trim_matches(['|', ' ']).parse::<i64>().ok());
    let numbers: Vec<i64> = numbers.collect();
    assert!(numbers.len() > 2500 && numbers.is_sorted_by(|a, b| a >= b), "{rows}");

    let both = sql("CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION INPUT; SELECT count(*) FROM t");
    assert!(both.contains("3000"), "{both}");
}

#[test]
fn an_interrupted_query_cancels_its_job() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    tables::write(&input, 8, 4000);
    let cluster = Cluster::start(1);
    let table = format!("'{}/'", input.display());
    // 1.6 x 10^7 rows, in tasks that run one after another.
    let statement = format!("SELECT count(DISTINCT a.s || b.s) FROM {table} a CROSS JOIN {table} b");
    let mut client = Client::start(program().args(["sql", &statement, "--scheduler", &cluster.address]));
    client.until(|| cluster.jobs(0).len() == 1);
    let job = cluster.jobs(0).remove(0);
    client.signal(Signal::INT);
    let outcome = client.outcome();
    assert!(!outcome.succeeded && outcome.err.contains("interrupted"), "{outcome:?}");
    let state = state(&cluster.address, job);
    assert!(
        matches!(&state, Some(Status::Failed(failed)) if failed.error.contains("Cancelled")),
        "{state:?}"
    );
    // A task that runs goes on to its end. Then the executor is free for another job.
    let answer = run(&["sql", &format!("SELECT count(*) FROM {table}"), "--scheduler", &cluster.address]);
    assert!(answer.succeeded && answer.out.contains("4000"), "{answer:?}");
}

/// What the scheduler says of a job when it no longer says that the job runs.
#[tokio::main(flavor = "current_thread")]
async fn state(scheduler: &str, job_id: String) -> Option<Status> {
    let mut scheduler = SchedulerGrpcClient::connect(format!("http://{scheduler}")).await.unwrap();
    for _ in 0..100 {
        let job = scheduler.get_job_status(GetJobStatusParams { job_id: job_id.clone() }).await.unwrap();
        match job.into_inner().status.and_then(|job| job.status) {
            Some(Status::Queued(_) | Status::Running(_)) => {
                tokio::time::sleep(Duration::from_millis(50)).await
            }
            ended => return ended,
        }
    }
    panic!("the job runs");
}

#[test]
fn one_process_answers_alone() {
    let outcome = run(&["sql", "SELECT x FROM (VALUES (3), (1), (2)) AS t(x) ORDER BY x"]);
    assert!(outcome.succeeded, "{outcome:?}");
    let numbers: Vec<_> = outcome.out.lines().filter(|line| line.contains(['1', '2', '3'])).collect();
    assert_eq!(numbers, ["| 1 |", "| 2 |", "| 3 |"]);
}
