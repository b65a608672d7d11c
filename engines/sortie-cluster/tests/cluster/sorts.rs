//! Sorts that succeed.

use std::path::Path;

use crate::support::{Cluster, run};
use crate::tables;

const ROWS: usize = 60_000;

fn sort_embedded(input: &Path, by: &str, output: &Path, parts: &str) {
    let (input, output) = (input.to_str().unwrap(), output.to_str().unwrap());
    let outcome = run(&["sort", "--by", by, input, "-o", output, "--parts", parts]);
    assert!(outcome.succeeded, "{outcome:?}");
    assert!(outcome.err.is_empty(), "{outcome:?}");
}

/// Checks that no part is more than a tenth larger than another.
fn assert_even(bytes: &[usize]) {
    let (least, most) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
    assert!(most * 10 <= least * 11, "{bytes:?}");
}

#[test]
fn a_cluster_sorts_as_datafusion_does() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    tables::write(&input, 3, ROWS);
    let cluster = Cluster::start(2);
    for (number, by) in
        ["i", "s DESC, i", "f, b DESC NULLS LAST, t", "few, t DESC", "n DESC, d, s NULLS FIRST"]
            .iter()
            .enumerate()
    {
        let output = folder.path().join(number.to_string());
        let outcome = cluster.sort(&input, by, &output, 7).outcome();
        assert!(outcome.succeeded, "{outcome:?}");
        assert!(outcome.out.contains("60000 rows in 7 parts"), "{outcome:?}");
        assert_even(&tables::check(&input, &output, by));
    }
}

#[test]
fn one_process_sorts_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("input"), folder.path().join("deep/output"));
    tables::write(&input, 2, ROWS);
    sort_embedded(&input, "few DESC", &output, "20");
    assert_even(&tables::check(&input, &output, "few DESC"));
}

#[test]
fn few_rows_or_none() {
    for (rows, parts) in [(5, 9), (0, 2)] {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("input"), folder.path().join("output"));
        tables::write(&input, 1, rows);
        sort_embedded(&input, "s", &output, &parts.to_string());
        assert_eq!(tables::check(&input, &output, "s").len(), parts);
    }
}

#[test]
fn files_and_folders_of_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a [b] 100%#ü?");
    tables::write(&input, 2, 300);
    let output = folder.path().join("c d%20#?");
    sort_embedded(&input, "i", &output, "2");
    // DataFusion takes some of these characters for a pattern.
    let (plain, sorted) = (folder.path().join("plain"), folder.path().join("sorted"));
    std::fs::rename(&input, &plain).unwrap();
    std::fs::rename(&output, &sorted).unwrap();
    std::fs::rename(tables::manifest(&output), tables::manifest(&sorted)).unwrap();
    tables::check(&plain, &sorted, "i");

    let file = folder.path().join("no ending");
    std::fs::rename(plain.join("0.parquet"), &file).unwrap();
    let output = folder.path().join("e");
    sort_embedded(&file, "i", &output, "1");
    assert!(output.join("part-00000.parquet").exists());
}
