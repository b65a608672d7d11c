//! Input larger than memory while the machine fails: at each read and each write of a file, at each large allocation,
//! and at each thread.
#![cfg(target_env = "gnu")] // The library that refuses calls is loaded before glibc.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::locales::locales;
use crate::support::{self, Numbers, complaint, names, run, sortie, text};
use tempfile::TempDir;

/// Options for every kind of data that can be larger than memory.
const KINDS: [&str; 7] = [
    "",
    "-k2,2n",
    "-u -k1,1",
    // Few keys, so that lines that tie are many.
    "--locale=en_US.UTF-8 -k2.1,2.2",
    "--type u64",
    "--type u32 --argsort",
    "--record-size 100 --key 0..10",
];

/// A folder with a file to sort and a folder for temporary files. One call of the program can be refused.
struct Machine {
    folder: TempDir,
    refuser: PathBuf,
    unsorted: Vec<u8>,
}

impl Machine {
    /// `None` if there is no C compiler to build the library that refuses calls.
    fn new(unsorted: Vec<u8>) -> Option<Machine> {
        let folder = tempfile::tempdir().unwrap();
        let refuser = folder.path().join("refuse.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/faults/refuse.c");
        let compiled =
            Command::new("cc").args(["-shared", "-fPIC", "-O1", source, "-o"]).arg(&refuser).status();
        if !compiled.is_ok_and(|status| status.success()) {
            println!("skipped: there is no C compiler");
            return None;
        }
        fs::write(folder.path().join("x"), &unsorted).unwrap();
        fs::create_dir(folder.path().join("runs")).unwrap();
        Some(Machine { folder, refuser, unsorted })
    }

    /// Sorts while one call is refused.
    fn refuse(&self, call: &str, at: usize, options: &str) -> Output {
        let mut command = sortie(self.folder.path());
        command.args(options.split_whitespace()).args(["-T", "runs", "x", "-o", "out"]);
        self.refuse_to(command, call, at)
    }

    fn refuse_to(&self, mut command: Command, call: &str, at: usize) -> Output {
        command.env("LD_PRELOAD", &self.refuser).env("REFUSE_IN", self.folder.path());
        command.env("LOCPATH", locales());
        command.env("REFUSE_CALL", call).env("REFUSE_AT", at.to_string()).env("RUST_BACKTRACE", "0");
        run(&mut command, b"")
    }

    /// Refuses one call per run, every `step`th, until a run ends before that call. Each failing run must print one
    /// line and leave all files unchanged. Returns these lines.
    fn refuse_in_turn(&self, call: &str, step: usize, options: &str) -> Vec<String> {
        let folder = self.folder.path();
        let mut command = sortie(folder);
        command.args(options.split_whitespace()).arg("x").env("LOCPATH", locales());
        let sorted = run(&mut command, b"").stdout;
        let mut said = Vec::new();
        for at in (0..).step_by(step) {
            let done = self.refuse(call, at, options);
            assert!(fs::read(folder.join("x")).unwrap() == self.unsorted, "{options}: {call} {at}");
            assert!(names(&folder.join("runs")).is_empty(), "{options}: {call} {at}");
            if done.status.success() {
                assert_eq!(text(&done.stderr), "");
                assert!(fs::read(folder.join("out")).unwrap() == sorted, "{options}: {call} {at}");
                fs::remove_file(folder.join("out")).unwrap();
                break;
            }
            said.push(complaint(&done, 2));
            assert_eq!(names(folder), ["refuse.so", "runs", "x"], "{options}: {call} {at}");
        }
        println!("{options}: {} times", said.len());
        said
    }
}

/// This number of records, which are also valid as lines and as numbers.
fn records(count: usize) -> Vec<u8> {
    let mut numbers = Numbers::new(1);
    let mut record = || {
        let mut record = [b' '; 100];
        record[..20].fill_with(|| b'a' + numbers.below(26) as u8);
        record[21..25].fill_with(|| b'0' + numbers.below(10) as u8);
        record[99] = b'\n';
        record
    };
    (0..count).flat_map(|_| record()).collect()
}

/// Asserts that each reason was reported, and nothing else.
#[track_caller]
fn assert_said(said: &[String], reasons: &[&str], options: &str) {
    for reason in reasons {
        assert!(said.iter().any(|line| line == reason), "{options}: not told: {reason}");
    }
    let other = said.iter().find(|line| !reasons.contains(&line.as_str()));
    assert_eq!(other, None, "{options}");
}

const READS: [&str; 2] = [
    "sortie: cannot read: x: Input/output error\n",
    "sortie: cannot read a temporary file in: runs: Input/output error\n",
];
const WRITES: [&str; 2] = [
    "sortie: cannot write: out: No space left on device\n",
    "sortie: cannot write a temporary file in: runs: No space left on device\n",
];

/// Tests a sort with little memory, and one in memory, which writes no temporary files.
fn assert_disk_is_told(call: &str, reasons: &[&str; 2]) {
    let Some(machine) = Machine::new(records(4_000)) else { return };
    for kind in KINDS {
        for (options, reasons) in [(format!("{kind} -S 64K"), &reasons[..]), (kind.into(), &reasons[..1])] {
            assert_said(&machine.refuse_in_turn(call, 1, &options), reasons, &options);
        }
    }
}

#[test]
fn a_block_that_cannot_be_read_is_told_wherever_it_is() {
    assert_disk_is_told("read", &READS);
}

#[test]
fn a_disk_that_is_full_is_told_whenever_it_is() {
    assert_disk_is_told("write", &WRITES);
}

/// The file has two names, so it is overwritten instead of replaced.
#[test]
fn a_disk_that_is_full_while_a_file_is_overwritten_loses_nothing() {
    let Some(machine) = Machine::new(records(4_000)) else { return };
    let folder = machine.folder.path();
    let sorted = run(sortie(folder).arg("x"), b"").stdout;
    let mut kept = 0;
    for at in 0.. {
        fs::write(folder.join("out"), "old").unwrap();
        fs::hard_link(folder.join("out"), folder.join("other")).unwrap();
        let done = machine.refuse("write", at, "");
        if done.status.success() {
            break;
        }
        let said = complaint(&done, 2);
        if let Some((_, complete)) =
            said.trim_end().split_once("; part of it is overwritten, and the complete result is in ")
        {
            assert!(said.starts_with("sortie: cannot write: out: No space left on device; "), "{said}");
            assert!(fs::read(complete).unwrap() == sorted);
            fs::remove_file(complete).unwrap();
            kept += 1;
        } else {
            assert!(said.starts_with("sortie: cannot write a temporary file in: "), "{said}");
            assert_eq!(fs::read_to_string(folder.join("other")).unwrap(), "old");
        }
        fs::remove_file(folder.join("out")).unwrap();
        fs::remove_file(folder.join("other")).unwrap();
        assert_eq!(names(folder), ["refuse.so", "runs", "x"], "{at}");
    }
    assert!(kept > 0);
    assert!(fs::read(folder.join("other")).unwrap() == sorted);
}

/// As above, while one stretch is read, one sorted and one written at the same time. How many calls that takes depends on how
/// the threads meet, so one kind alone may be refused none of its temporary files.
#[test]
fn a_failing_disk_ends_all_that_goes_on_at_the_same_time() {
    let Some(machine) = Machine::new(records(200_000)) else { return };
    for (call, step, reasons) in [("read", 199, READS), ("write", 37, WRITES)] {
        let said =
            KINDS.map(|kind| machine.refuse_in_turn(call, step, &format!("{kind} -S 16M --parallel 2")));
        assert_said(&said.concat(), &reasons, call);
    }
}

/// FASTA in runs, with one runner and with several. If a read of the input fails after some records, the message names the
/// last of them.
#[test]
fn a_failing_disk_is_told_for_records_of_fasta() {
    let record = |number: usize| format!(">{:06}\n{}\n", number * 7919 % 100_000, "ACGT".repeat(20));
    let fasta = |count: usize| (0..count).map(record).collect::<String>().into_bytes();
    for (count, limit, step) in [(4_000, "-S 64K", 1), (100_000, "-S 16M --parallel 2", 7)] {
        let Some(machine) = Machine::new(fasta(count)) else { return };
        let options = format!("--format fasta --by name {limit}");
        for (call, reasons) in [("read", READS), ("write", WRITES)] {
            let mut said = machine.refuse_in_turn(call, step, &options);
            said.retain(|line| !line.starts_with("sortie: x: reading stopped after record "));
            assert_said(&said, &reasons, &options);
        }
    }
}

/// Tests allocations of at least 512 KB. Failed smaller ones, which std and the library make for a table or a bucket,
/// abort the program. So does a bucket of that size, which occurs with many nearly equal keys.
fn assert_memory_is_told(machine: &Machine, options: &str) {
    let said = machine.refuse_in_turn("allocate", 1, options);
    assert!(!said.is_empty(), "{options}");
    for line in said {
        // The needed memory, the limit and its origin, and what to do.
        let parts = [" needs ", " memory, but ", ", of which ", " are left; allow more, or "];
        assert!(parts.iter().all(|part| line.contains(part)), "{options}: {line}");
    }
}

#[test]
fn memory_that_cannot_be_had_is_told() {
    let Some(machine) = Machine::new(records(60_000)) else { return };
    for kind in KINDS {
        assert_memory_is_told(&machine, &format!("{kind} -S 4M"));
    }
}

#[test]
fn a_long_line_that_there_is_no_room_for_is_told() {
    let lines =
        (0..9usize).map(|line| [vec![b'a' + (line * 4 % 9) as u8; 700_000 + line], vec![b'\n']].concat());
    let Some(machine) = Machine::new(lines.flatten().collect()) else { return };
    for kind in &KINDS[..4] {
        for limit in ["-S 64K", "-S 2M", ""] {
            assert_memory_is_told(&machine, &format!("{kind} {limit}"));
        }
    }
}

#[test]
fn a_thread_that_cannot_be_started_is_told_and_nothing_is_lost() {
    let Some(machine) = Machine::new(records(200_000)) else { return };
    let folder = machine.folder.path();
    let spectrum = "BEGIN IONS\nPEPMASS=1\n3.5 1\n1.5 2\nEND IONS\n";
    fs::write(folder.join("x.mgf"), spectrum.repeat(1000)).unwrap();
    fs::write(folder.join("x.jsonl"), "{\"id\":1,\"text\":\"one two\"}\n".repeat(1000)).unwrap();
    let fasta = |number: usize| format!(">{:06}\n{}\n", number * 7919 % 200_000, "ACGT".repeat(20));
    fs::write(folder.join("x.fa"), (0..200_000).map(fasta).collect::<String>()).unwrap();
    let inputs = ["x", "x.fa", "x.mgf", "x.jsonl"].map(|name| folder.join(name));
    let before = inputs.each_ref().map(|path| fs::read(path).unwrap());
    for arguments in [
        "sort --parallel 3 x -o x",
        "sort -S 16M -T runs --parallel 3 x -o x",
        "sort -m --parallel 3 x -o x",
        "sort --type u64 --parallel 3 x -o x",
        "sort --type u64 -S 16M -T runs --parallel 3 x -o x",
        "sort --record-size 100 --key 0..10 --parallel 3 x -o x",
        "sort --format fasta --by name --parallel 3 x.fa -o x.fa",
        "sort --format fasta --by name -S 18M -T runs --parallel 3 x.fa -o x.fa",
        "spectra --parallel 3 x.mgf -o x.mgf --by mz",
        "index build --parallel 3 x.jsonl -o x.index",
    ] {
        if !support::HAS_INDEX && arguments.starts_with("index ") {
            continue;
        }
        let mut told = 0;
        for at in 0..8 {
            let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
            command.current_dir(folder).args(arguments.split_whitespace());
            let done = machine.refuse_to(command, "thread", at);
            assert!(names(&folder.join("runs")).is_empty(), "{arguments}: {at}");
            if done.status.success() {
                // The program did without that thread, or started no more threads.
                let said = text(&done.stderr);
                assert!(said.is_empty() || said.starts_with("sortie: indexed "), "{arguments}: {at}: {said}");
                for (path, before) in inputs.iter().zip(&before) {
                    assert_eq!(fs::read(path).unwrap().len(), before.len(), "{arguments}: {at}");
                    fs::write(path, before).unwrap();
                }
                let _ = fs::remove_dir_all(folder.join("x.index"));
            } else {
                assert!(complaint(&done, 2).starts_with("sortie: cannot start "), "{arguments}: {at}");
                for (path, before) in inputs.iter().zip(&before) {
                    assert!(fs::read(path).unwrap() == *before, "{arguments}: {at}");
                }
                told += 1;
            }
            assert_eq!(
                names(folder),
                ["refuse.so", "runs", "x", "x.fa", "x.jsonl", "x.mgf"],
                "{arguments}: {at}"
            );
        }
        assert!(told > 0, "{arguments}");
    }
}

/// Once, rayon's pool was started to count the lines of several files, however small they were.
#[test]
fn several_small_files_are_sorted_without_threads() {
    let Some(machine) = Machine::new(b"b\na\n".to_vec()) else { return };
    for arguments in ["sort x x x", "sort -n x x", "sort -m x x", "sort -u -r x x"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
        command.current_dir(machine.folder.path()).args(arguments.split_whitespace());
        let done = machine.refuse_to(command, "thread", 0);
        assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()), "{arguments}");
    }
}

/// Refuses to open each file and folder, and to read each block.
#[cfg(feature = "index")]
#[test]
fn a_failing_disk_ends_an_index_and_the_old_one_stays() {
    let Some(machine) = Machine::new(Vec::new()) else { return };
    let folder = machine.folder.path();
    fs::create_dir_all(folder.join("docs/sub")).unwrap();
    let gzip = support::compress(b"packed text");
    let long = format!("{{\"id\":1,\"text\":\"{}\"}}\n", "long ".repeat(200_000));
    for (name, content) in [
        ("a.html", &b"<p>text"[..]),
        ("b.jsonl", long.as_bytes()),
        ("c.md", b"*text*"),
        ("sub/d.txt.gz", &gzip),
        ("sub/e", b"text"),
    ] {
        fs::write(folder.join("docs").join(name), content).unwrap();
    }
    let index = |inputs: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
        command.current_dir(folder).args([
            "index",
            "build",
            "--pipeline",
            "cpu",
            "--all-text",
            "-o",
            "x.index",
        ]);
        command.arg(inputs);
        command
    };
    let files = || {
        names(&folder.join("x.index"))
            .iter()
            .map(|name| fs::read(folder.join("x.index").join(name)).unwrap())
            .collect::<Vec<_>>()
    };
    for (call, least) in [("read", 6), ("open", 7)] {
        assert!(run(&mut index("docs/c.md"), b"").status.success());
        let before = files();
        let mut told = 0;
        for at in 0.. {
            let done = machine.refuse_to(index("docs"), call, at);
            if done.status.success() {
                assert!(files() != before);
                break;
            }
            assert!(complaint(&done, 2).starts_with("sortie: cannot "), "{call} {at}");
            assert!(files() == before, "{call} {at}");
            assert_eq!(names(folder), ["docs", "refuse.so", "runs", "x", "x.index"], "{call} {at}");
            told += 1;
        }
        assert!(told >= least, "{call}: {told}");
    }
}
