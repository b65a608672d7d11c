//! `sortie index`: its commands and refusals, its memory, and that it may be killed at any time.

mod support;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use support::{Numbers, complaint, folder, names, run, text};

fn sortie(folder: &Path, args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
    command.arg("index").current_dir(folder).args(args.split_whitespace());
    command
}

#[track_caller]
fn succeed(folder: &Path, args: &str) -> String {
    let output = run(&mut sortie(folder, args), b"");
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "sortie index {args}");
    text(&output.stdout)
}

#[track_caller]
fn refuse(folder: &Path, args: &str) -> String {
    complaint(&run(&mut sortie(folder, args), b""), 2)
}

const DOCUMENTS: &[u8] = b"{\"id\":\"one\",\"text\":\"To be, or not to be\"}
{\"id\":\"two\\nlines\",\"text\":\"to do\"}
{\"id\":\"three\",\"text\":\"Stra\xC3\x9Fe\"}
";

#[test]
fn what_is_indexed_is_found() {
    let folder = folder("x.jsonl", DOCUMENTS);
    succeed(folder.path(), "build x.jsonl -o x.index");
    assert_eq!(names(folder.path()), ["x.index", "x.jsonl"]);
    let found = succeed(folder.path(), "search x.index BE");
    assert_eq!(found.lines().map(|line| line.split_once('\t').unwrap().1).collect::<Vec<_>>(), ["one"]);
    let found = succeed(folder.path(), "search x.index to -n 1");
    assert_eq!(found.split_once('\t').unwrap().1, "two\\nlines\n");
    assert_eq!(succeed(folder.path(), "search x.index STRASSE nothing").lines().count(), 1);
    assert_eq!(succeed(folder.path(), "search x.index nothing"), "");
    assert_eq!(
        succeed(folder.path(), "terms x.index"),
        "be\t1\t2\ndo\t1\t1\nnot\t1\t1\nor\t1\t1\nstrasse\t1\t1\nto\t2\t3\n"
    );
    assert_eq!(succeed(folder.path(), "terms x.index Stra\u{df}"), "strasse\t1\t1\n");
    let stats = succeed(folder.path(), "stats x.index");
    assert!(stats.starts_with("documents: 3\nterms: 6\npostings: 7\nwords: 9\nbytes: "), "{stats}");
    assert_eq!(succeed(folder.path(), "check x.index"), "");
    succeed(folder.path(), "export x.index --ciff x.ciff");
    let exported = run(&mut sortie(folder.path(), "export x.index --ciff -"), b"");
    assert_eq!(exported.stdout, fs::read(folder.path().join("x.ciff")).unwrap());
}

#[test]
fn what_cannot_be_read_is_told_and_left_out() {
    let folder = folder("x.jsonl", &[DOCUMENTS, b"nonsense\n"].concat());
    let done = run(&mut sortie(folder.path(), "build x.jsonl -o x.index"), b"");
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(0));
    assert!(
        told.starts_with("sortie: x.jsonl:4: ") && told.ends_with("sortie: 1 document was left out\n"),
        "{told}"
    );
    assert!(succeed(folder.path(), "stats x.index").starts_with("documents: 3\n"));
    assert!(refuse(folder.path(), "build --strict x.jsonl -o y.index").starts_with("sortie: x.jsonl:4: "));
    assert_eq!(names(folder.path()), ["x.index", "x.jsonl"]);
}

#[test]
fn the_first_document_that_cannot_be_read_ends_a_strict_build() {
    let folder = folder("x.jsonl", &[DOCUMENTS, b"nonsense\nmore nonsense\n"].concat());
    assert!(refuse(folder.path(), "build --strict x.jsonl -o y.index").starts_with("sortie: x.jsonl:4: "));
}

#[test]
fn an_index_of_nothing_is_told() {
    let folder = folder("picture.png", b"");
    let done = run(&mut sortie(folder.path(), "build . -o x.index"), b"");
    assert_eq!(done.status.code(), Some(0));
    assert_eq!(text(&done.stderr), "sortie: no documents were found: the index is empty\n");
    succeed(folder.path(), "check x.index");
}

#[test]
fn refusals_are_one_line() {
    let folder = folder("x.jsonl", DOCUMENTS);
    succeed(folder.path(), "build x.jsonl -o x.index");
    let gone = refuse(folder.path(), "build gone -o y.index");
    assert_eq!(gone, "sortie: cannot read: gone: No such file or directory\n");
    assert_eq!(
        refuse(folder.path(), "search gone word"),
        "sortie: cannot read: gone: No such file or directory\n"
    );
    let file = refuse(folder.path(), "build x.jsonl -o x.jsonl");
    assert_eq!(file, "sortie: x.jsonl: a file, and an index is a folder; name another\n");
    refuse(folder.path(), "build x.jsonl");
    refuse(folder.path(), "search x.index");
    refuse(folder.path(), "build x.jsonl -o y.index --pipeline fast");
    let postings = folder.path().join("x.index/postings");
    let bytes = fs::read(&postings).unwrap();
    fs::write(&postings, &bytes[1..]).unwrap();
    for args in ["check x.index", "search x.index to", "export x.index --ciff y"] {
        let told = refuse(folder.path(), args);
        assert!(told.starts_with("sortie: x.index/postings: damaged: "), "{told}");
    }
    assert_eq!(names(folder.path()), ["x.index", "x.jsonl"]);
}

#[test]
fn stats_say_what_was_done() {
    let folder = folder("x.jsonl", DOCUMENTS);
    let stats = |format: &str| {
        let done = run(
            &mut sortie(folder.path(), &format!("build x.jsonl -o x.index --pipeline cpu {format}")),
            b"",
        );
        assert!(done.status.success());
        text(&done.stderr)
    };
    assert!(stats("--stats").contains("3 documents, 6 terms, 7 postings, 9 words; 1 runs of "));
    let report: serde_json::Value = serde_json::from_str(&stats("--stats=json")).unwrap();
    assert_eq!((&report["words"], &report["runs"], &report["on_gpu"]), (&9.into(), &1.into(), &false.into()));
    assert!(
        report["milliseconds"]["all"].as_f64().unwrap() >= report["milliseconds"]["parse"].as_f64().unwrap()
    );
}

/// Documents of words of a vocabulary that grows with them.
fn write_documents(path: &Path, bytes: usize) {
    let mut numbers = Numbers::new(3);
    let mut file = BufWriter::new(File::create(path).unwrap());
    let (mut written, mut line) = (0, Vec::new());
    while written < bytes {
        line.clear();
        write!(line, "{{\"id\":\"{written}\",\"text\":\"").unwrap();
        for _ in 0..200 {
            let words = 1 << numbers.below(22);
            write!(line, "w{:x} ", numbers.below(words)).unwrap();
        }
        line.extend_from_slice(b"\"}\n");
        file.write_all(&line).unwrap();
        written += line.len();
    }
    file.flush().unwrap();
}

/// The most memory that a command holds, in bytes, as `/proc` says until it ends.
fn peak(command: &mut Command) -> u64 {
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.map(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().unwrap());
        peak = peak.max(kilobytes.unwrap_or(0) << 10);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            return peak;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn memory_stays_under_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    write_documents(&folder.path().join("x.jsonl"), 60 << 20);
    fs::write(folder.path().join("long.txt"), "some words to be read ".repeat(1 << 20)).unwrap();
    for (input, limit) in [("x.jsonl", 16), ("x.jsonl", 64), ("long.txt", 16)] {
        let args = format!("build {input} -o x.index -S {limit}M --parallel 2 --pipeline cpu");
        let peak = peak(&mut sortie(folder.path(), &args));
        println!("{input} within {limit} MiB: {} MiB", peak >> 20);
        assert!(peak < (limit + 64) << 20, "{} MiB for {input} within {limit}", peak >> 20);
        succeed(folder.path(), "check x.index");
    }
}

#[test]
fn killed_at_any_time_the_old_index_stays() {
    let folder = folder("old.jsonl", DOCUMENTS);
    write_documents(&folder.path().join("new.jsonl"), 4 << 20);
    succeed(folder.path(), "build old.jsonl -o x.index");
    let mut replaced = 0;
    for milliseconds in (0..400).step_by(8) {
        let args = "build new.jsonl -o x.index -S 1M --parallel 2 --pipeline cpu";
        let mut child = sortie(folder.path(), args).spawn().unwrap();
        thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        succeed(folder.path(), "check x.index");
        let is_old = succeed(folder.path(), "stats x.index").starts_with("documents: 3\n");
        if !is_old {
            replaced += 1;
            succeed(folder.path(), "build old.jsonl -o x.index");
        }
    }
    println!("replaced {replaced} times of 50");
    // What is left behind, if anything: of the instant between naming the files and renaming their folder.
    let left: Vec<_> = names(folder.path()).into_iter().filter(|name| name.starts_with(".sortie-")).collect();
    assert!(left.len() <= 5, "{left:?}");
}
