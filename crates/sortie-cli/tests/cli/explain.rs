//! `--explain`: every command that sorts prints its plan, and does nothing else.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{run, text};
use tempfile::TempDir;

/// Runs the program with `--explain` in a folder, and returns what it prints.
#[track_caller]
fn explained(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
    let result = run(command.args(args).arg("--explain").current_dir(folder), b"");
    assert!(result.status.success(), "{args:?}: {}", text(&result.stderr));
    assert!(!folder.join("out").exists(), "{args:?} has written its output");
    let plan = text(&result.stdout);
    for part in ["input: ", "\nroute: ", "\nwhy: ", "\nphases: ", "\nscratch: ", "\npredicted: "] {
        assert!(plan.contains(part), "{args:?}: no {part:?} in {plan}");
    }
    plan
}

fn inputs() -> TempDir {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("lines", &b"pear\napple\n".repeat(1000));
    write("raw", &[7; 8000]);
    write("reads.fastq", b"@a\nACGT\n+\nIIII\n@b\nAACC\n+\nIIII\n");
    write("line", b"\n");
    write("one.raw", &[7; 8]);
    write("one.fasta", b">a\nACGT\n");
    write("run.mgf", b"BEGIN IONS\nPEPMASS=1\n3.5 1\n1.5 2\nEND IONS\n");
    folder
}

#[test]
fn every_command_that_sorts_explains() {
    let folder = inputs();
    for (args, input) in [
        (&["sort", "lines", "-o", "out"][..], "11000 bytes, about 2000 lines"),
        (&["sort", "-n", "lines", "-o", "out"], "about 2000 lines"),
        (&["sort", "--type", "u64", "raw", "-o", "out"], "1000 elements of u64"),
        (&["sort", "--type", "u32", "--argsort", "raw", "-o", "out"], "2000 elements of u32"),
        (&["sort", "--record-size", "10", "--key", "0..4", "raw", "-o", "out"], "800 records"),
        (&["sort", "--format", "fastq", "reads.fastq", "-o", "out"], "2 records"),
        (&["sort", "line", "-o", "out"], "1 byte, about 1 line\n"),
        (&["sort", "--type", "u64", "one.raw", "-o", "out"], "1 element of u64"),
        (&["sort", "--record-size", "8", "one.raw", "-o", "out"], "1 record at a time"),
        (&["sort", "--format", "fasta", "one.fasta", "-o", "out"], "1 record\n"),
        (&["segments", "--type", "f32", "--len", "10", "raw", "-o", "out"], "in segments"),
        (&["spectra", "run.mgf", "--by", "mz", "-o", "out"], "2 peaks of 1 spectrum at a time"),
    ] {
        let plan = explained(folder.path(), args);
        assert!(plan.contains(input), "{args:?}: {plan}");
        assert!(plan.contains("route:     cpu"), "{args:?}: {plan}");
    }
}

#[test]
fn what_cannot_be_explained_says_why() {
    let folder = inputs();
    let explain = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
        let result = run(command.args(args).arg("--explain").current_dir(folder.path()), b"b\na\n");
        assert!(!result.status.success(), "{args:?}");
        text(&result.stderr)
    };
    assert!(explain(&["sort"]).contains("give a file"));
    let refused =
        explain(&["segments", "--type", "u8", "--len", "10", "--engine", "cuda:0,1", "raw", "-o", "out"]);
    let why = if cfg!(feature = "gpu") { "several GPUs" } else { "this build has no GPUs" };
    assert!(refused.contains(why), "{refused}");
}

/// Once, it said 275 MB of scratch memory under `-S 16M`, and nothing of runs.
#[test]
fn lines_larger_than_memory_stay_below_the_limit_in_runs_that_are_named() {
    let folder = inputs();
    let lines: Vec<u8> = (0..1_000_000u64)
        .flat_map(|i| format!("{:016x}\n", i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).into_bytes())
        .collect();
    fs::write(folder.path().join("lines"), lines).unwrap();
    let number = |plan: &str, before: &str| {
        let (_, rest) = plan.split_once(before).unwrap_or_else(|| panic!("no {before:?} in {plan}"));
        rest.split_whitespace().next().unwrap().parse::<f64>().unwrap()
    };
    for (options, limit) in [("-S16M", 16), ("-S 4M -r", 4), ("-S16M -n --batch-size=2", 16)] {
        let options: Vec<_> = ["sort", "lines"].into_iter().chain(options.split(' ')).collect();
        let plan = explained(folder.path(), &options);
        assert!(number(&plan, "scratch:   at most ") <= f64::from(limit << 20), "{plan}");
        assert!(number(&plan, "in about ") >= 2.0 && plan.contains("merged "), "{plan}");
        assert_eq!(plan.contains("2 at a time"), options.contains(&"--batch-size=2"), "{plan}");
    }
    let plan = explained(folder.path(), &["sort", "lines", "-S1G"]);
    assert!(!plan.contains("runs") && number(&plan, "scratch:   at most ") >= 17e6, "{plan}");
    fs::write(folder.path().join("lines"), "").unwrap();
    explained(folder.path(), &["sort", "lines"]);
}

/// Once, a merge of small files and a check printed a table without rows.
#[test]
fn merges_and_checks_have_rows_in_the_report() {
    let folder = inputs();
    for (options, row) in [
        ("-m line line", "merge"),
        ("-c line", "check"),
        ("-m line - --debug", "merge"),
        ("-C line", "check"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
        command.arg("sort").args(options.split(' ')).arg("--stats").current_dir(folder.path());
        let result = run(&mut command, b"b\n");
        assert!(result.status.success(), "{options}");
        let table = text(&result.stderr);
        assert!(table.lines().any(|line| line.trim_start().starts_with(row)), "{options}: {table}");
    }
}
