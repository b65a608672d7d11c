//! A store that speaks S3, on this machine.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;

use crate::support::{Client, Outcome, program};
use crate::tables;

/// Serves the folder: each folder in it is a bucket. Returns the address.
fn serve(folder: &Path) -> String {
    let mut service = S3ServiceBuilder::new(FileSystem::new(folder).unwrap());
    service.set_auth(SimpleAuth::from_single("user", "secret"));
    let service = service.build();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let server = Builder::new(TokioExecutor::new());
            while let Ok((socket, _)) = listener.accept().await {
                let connection = server.serve_connection(TokioIo::new(socket), service.clone()).into_owned();
                tokio::spawn(connection);
            }
        })
    });
    format!("http://{address}")
}

fn with_store(store: &str, secret: &str) -> Command {
    let mut command = program();
    command.envs([
        ("AWS_ENDPOINT_URL", store),
        ("AWS_ACCESS_KEY_ID", "user"),
        ("AWS_SECRET_ACCESS_KEY", secret),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ALLOW_HTTP", "true"),
    ]);
    command
}

#[test]
fn a_table_in_a_store_is_sorted_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let bucket = folder.path().join("bucket");
    tables::write(&bucket.join("table"), 3, 30_000);
    let store = serve(folder.path());
    let sort = |secret: &str| -> Outcome {
        let arguments =
            ["sort", "--by", "s, i", "s3://bucket/table/", "-o", "s3://bucket/sorted/", "--parts", "4"];
        Client::start(with_store(&store, secret).args(arguments)).outcome()
    };

    let refused = sort("wrong");
    assert!(!refused.succeeded && !bucket.join("sorted").exists(), "{refused:?}");

    let sorted = sort("secret");
    assert!(sorted.succeeded, "{sorted:?}");
    tables::check(&bucket.join("table"), &bucket.join("sorted"), "s, i");

    let again = sort("secret");
    assert!(!again.succeeded && again.err.contains("is not empty"), "{again:?}");
    tables::check(&bucket.join("table"), &bucket.join("sorted"), "s, i");

    // Without a slash, and by a pattern.
    for (input, output) in
        [("s3://bucket/table", "s3://bucket/again"), ("s3://bucket/table/[0-9].parq*", "s3://bucket/more")]
    {
        let sort = ["sort", "--by", "s, i", input, "-o", output, "--parts", "2"];
        let outcome = Client::start(with_store(&store, "secret").args(sort)).outcome();
        assert!(outcome.succeeded, "{outcome:?}");
        tables::check(&bucket.join("table"), &folder.path().join(&output[5..]), "s, i");
    }

    let keyless = Client::start(with_store(&store, "").args([
        "sort",
        "--by",
        "i",
        "s3://bucket/table/",
        "-o",
        "s3://bucket/x/",
    ]));
    let keyless = keyless.outcome();
    assert!(!keyless.succeeded && keyless.err.contains("AWS_SECRET_ACCESS_KEY is not set"), "{keyless:?}");

    let sql = "CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION 's3://bucket/sorted/'; SELECT count(*), max(s) FROM t";
    let counted = Client::start(with_store(&store, "secret").args(["sql", sql])).outcome();
    assert!(counted.succeeded && counted.out.contains("30000"), "{counted:?}");
}
