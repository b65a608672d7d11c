//! Other programs that read the folder of a result, where they find its rows and nothing else, and that write its input.

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

    let counts = python(READERS, output);
    assert_eq!(counts, "pyarrow 1000 1000\nduckdb 1000 1000\npolars 1000 1000\n");
}

/// What the script prints in an interpreter that has the three packages.
fn python(script: &str, argument: &str) -> String {
    let python = std::env::var("SORTIE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let run = Command::new(python).args(["-c", script, argument]).output().expect("Python starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

/// Writes two files whose pages have checksums, and then another value into a page of the second.
const DAMAGED: &str = r#"
import os, sys, pyarrow as pa, pyarrow.parquet as pq
folder = sys.argv[1]
os.mkdir(folder)
for i in range(2):
    path = f"{folder}/{i}.parquet"
    table = pa.table({"k": pa.array(range(1000)), "v": [f"value {v:04}" for v in range(1000)]})
    pq.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
data = bytearray(open(path, "rb").read())
data[data.index(b"value 0500")] ^= 1
open(path, "wb").write(data)
"#;

#[test]
fn a_page_that_differs_from_its_checksum_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    python(DAMAGED, input.to_str().unwrap());
    let (input, output) = (input.to_str().unwrap(), output.to_str().unwrap());
    for parts in ["1", "2"] {
        let outcome = run(&["sort", "--by", "v, k", input, "-o", output, "--parts", parts]);
        assert!(!outcome.succeeded && outcome.err.contains("input/1.parquet: "), "{outcome:?}");
        assert!(outcome.err.contains("checksum mismatch"), "{outcome:?}");
        assert!(!std::path::Path::new(output).exists());
    }
}
