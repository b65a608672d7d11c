//! Other programs that read the folder of a result: they find its rows and nothing else.

use std::process::Command;

use datafusion::prelude::{ParquetReadOptions, SessionContext};

use crate::support::run;
use crate::tables;

/// Reads a folder with pyarrow, DuckDB and polars, and prints what each counts.
const READERS: &str = r#"
import sys, duckdb, polars as pl, pyarrow.dataset as ds, pyarrow.parquet as pq
folder = sys.argv[1]
def duck(table):
    return duckdb.connect().execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]
print("pyarrow", pq.read_table(folder).num_rows, ds.dataset(folder, format="parquet").count_rows())
print("duckdb", duck(f"'{folder}/*.parquet'"), duck(f"read_parquet('{folder}/**')"))
print("polars", pl.read_parquet(folder).height, pl.scan_parquet(folder + "/").collect().height)
"#;

#[test]
fn folders_are_read_by_pyarrow_duckdb_polars_and_datafusion() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    tables::write(&input, 2, 1000);
    let (input, output) = (input.to_str().unwrap(), output.to_str().unwrap());
    let outcome = run(&["sort", "--by", "s", input, "-o", output, "--parts", "3"]);
    assert!(outcome.succeeded, "{outcome:?}");

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let rows = runtime.block_on(async {
        let session = SessionContext::new();
        session.read_parquet(output, ParquetReadOptions::default()).await.unwrap().count().await.unwrap()
    });
    assert_eq!(rows, 1000);

    // An interpreter that has the three packages.
    let python = std::env::var("SORTIE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let read = Command::new(python).args(["-c", READERS, output]).output().expect("Python starts");
    let (out, err) = (String::from_utf8_lossy(&read.stdout), String::from_utf8_lossy(&read.stderr));
    assert_eq!(out, "pyarrow 1000 1000\nduckdb 1000 1000\npolars 1000 1000\n", "{err}");
}
