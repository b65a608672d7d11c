//! `sortie index`: its commands and refusals, its memory, and that it can be killed at any time.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::iter;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{self, Numbers, complaint, ends_in_std, folder, names, run, text};
use rustix::process::{Pid, Signal, kill_process};

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

/// Builds an index without skipping anything, and returns the line that reports it.
#[track_caller]
fn build(folder: &Path, args: &str) -> String {
    built(folder, args, 0)
}

/// Builds an index with this exit status, and returns the messages.
#[track_caller]
fn built(folder: &Path, args: &str, status: i32) -> String {
    let output = run(&mut sortie(folder, &format!("build {args}")), b"");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "sortie index build {args}: {said}");
    assert!(said.lines().last().is_some_and(|line| line.starts_with("sortie: indexed ")), "{said}");
    said
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
    build(folder.path(), "x.jsonl -o x.index");
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
    let told = built(folder.path(), "x.jsonl -o x.index", 1);
    assert!(
        told.starts_with("sortie: x.jsonl:4: ")
            && told.ends_with("sortie: indexed 3 documents of 31 bytes; skipped 1 defective\n"),
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
fn an_input_that_holds_nothing_is_told() {
    let folder = folder("picture.png", b"");
    let told = built(folder.path(), ". -o x.index", 1);
    assert_eq!(
        told,
        "sortie: .: no documents were found in it\nsortie: indexed 0 documents of 0 bytes; \
         skipped 1 without documents; passed over 1 of other kinds (see --ext and --all-text)\n"
    );
    succeed(folder.path(), "check x.index");
    fs::write(folder.path().join("x.txt"), "some text").unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    let told = built(folder.path(), "x.txt empty -o x.index", 1);
    assert!(told.ends_with("sortie: indexed 1 document of 9 bytes; skipped 1 without documents\n"), "{told}");
}

/// The bytes of all files of an index.
fn bytes(index: &Path) -> Vec<Vec<u8>> {
    names(index).iter().map(|name| fs::read(index.join(name)).unwrap()).collect()
}

#[test]
fn an_empty_result_never_replaces_an_index() {
    let folder = folder("x.jsonl", DOCUMENTS);
    build(folder.path(), "x.jsonl -o x.index");
    fs::create_dir(folder.path().join("docs")).unwrap();
    fs::write(folder.path().join("docs/bad.txt"), b"\xFF").unwrap();
    fs::write(folder.path().join("none"), b"").unwrap();
    let before = bytes(&folder.path().join("x.index"));
    for input in ["docs", "--files-from none"] {
        let done = run(&mut sortie(folder.path(), &format!("build {input} -o x.index")), b"");
        assert_eq!(done.status.code(), Some(2));
        let kept = "sortie: no documents were found; the existing index is kept: x.index\n";
        assert!(text(&done.stderr).ends_with(kept), "{}", text(&done.stderr));
        assert_eq!(bytes(&folder.path().join("x.index")), before);
    }
}

/// The command without superuser rights. `None` if they cannot be dropped.
fn as_nobody(command: Command) -> Option<Command> {
    let mut nobody = Command::new("setpriv");
    nobody.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    if !nobody.arg("true").status().is_ok_and(|status| status.success()) {
        return Some(command).filter(|_| fs::read_dir("/root").is_err());
    }
    let mut nobody = Command::new("setpriv");
    nobody.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    nobody.arg(command.get_program()).args(command.get_args());
    nobody.current_dir(command.get_current_dir()?);
    Some(nobody)
}

#[test]
fn what_may_not_be_read_ends_the_build() {
    let folder = folder("x.jsonl", DOCUMENTS);
    let open = |name: &str, mode| {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    open("", 0o777);
    build(folder.path(), "x.jsonl -o x.index");
    fs::create_dir_all(folder.path().join("docs/closed")).unwrap();
    fs::write(folder.path().join("docs/a.txt"), "open").unwrap();
    fs::write(folder.path().join("docs/closed/b.md"), "closed").unwrap();
    let before = bytes(&folder.path().join("x.index"));
    for (name, told) in [("docs/closed", "docs/closed"), ("docs/a.txt", "docs/a.txt")] {
        open(name, 0o000);
        let Some(mut command) = as_nobody(sortie(folder.path(), "build docs -o x.index")) else {
            return println!("skipped: there is no setpriv to be somebody else");
        };
        let done = run(&mut command, b"");
        open(name, 0o755);
        if text(&done.stderr).contains("failed to execute") {
            return println!("skipped: nobody may not run the program");
        }
        assert_eq!(complaint(&done, 2), format!("sortie: cannot read: {told}: Permission denied\n"));
        assert_eq!(bytes(&folder.path().join("x.index")), before);
    }
}

#[test]
fn what_the_system_cannot_read_ends_the_build() {
    let folder = folder("x.jsonl", DOCUMENTS);
    build(folder.path(), "x.jsonl -o x.index");
    let before = bytes(&folder.path().join("x.index"));
    // At its start, nothing can be read.
    let told = refuse(folder.path(), "build x.jsonl /proc/self/mem -o x.index");
    assert_eq!(told, "sortie: cannot read: /proc/self/mem: Input/output error\n");
    assert_eq!(bytes(&folder.path().join("x.index")), before);
}

#[test]
fn with_few_descriptors_an_index_is_whole_or_not_built() {
    let folder = folder("x.jsonl", DOCUMENTS);
    let mut deep = folder.path().join("docs");
    for _ in 0..12 {
        deep.push("d");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("a.txt"), "deep").unwrap();
    }
    let (mut whole, mut told) = (0, 0);
    for descriptors in 4..40 {
        build(folder.path(), "x.jsonl -o x.index");
        let before = bytes(&folder.path().join("x.index"));
        let mut command = Command::new("sh");
        command
            .current_dir(folder.path())
            .args(["-c", "ulimit -n $0; exec \"$@\""])
            .arg(descriptors.to_string());
        command.arg(env!("CARGO_BIN_EXE_sortie")).args("index build --parallel 2 docs -o x.index".split(' '));
        let done = run(&mut command, b"");
        if done.status.code() == Some(0) {
            assert!(succeed(folder.path(), "stats x.index").starts_with("documents: 12\n"));
            whole += 1;
        } else {
            assert_eq!(
                bytes(&folder.path().join("x.index")),
                before,
                "{descriptors}: {}",
                text(&done.stderr)
            );
            told += u64::from(text(&done.stderr).contains("Too many open files"));
        }
    }
    assert!(whole > 0 && told > 0, "{whole} {told}");
}

#[test]
fn other_text_is_indexed_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("docs/a.md", "in *Markdown*"),
        ("docs/b.rst", "uses os.path"),
        ("docs/Makefile", "all: text"),
        ("docs/data", "text\0"),
        ("docs/.hidden/c.md", "hidden"),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let line = build(folder.path(), "docs -o x.index");
    let other = "of other kinds (see --ext and --all-text)";
    assert_eq!(line, format!("sortie: indexed 1 document of 13 bytes; passed over 3 {other}, 1 hidden\n"));
    for ext in ["rst", ".RST", "adoc,rst", "adoc --ext rst"] {
        let line = build(folder.path(), &format!("docs -o x.index --ext {ext}"));
        assert_eq!(
            line,
            format!("sortie: indexed 2 documents of 25 bytes; passed over 2 {other}, 1 hidden\n")
        );
    }
    let found = succeed(folder.path(), "search x.index path");
    assert!(found.ends_with("\tdocs/b.rst\n"), "{found}");
    assert_eq!(
        succeed(folder.path(), "search x.index OS.Path"),
        succeed(folder.path(), "search x.index os path")
    );
    let line = build(folder.path(), "docs -o x.index --all-text");
    assert_eq!(line, format!("sortie: indexed 3 documents of 34 bytes; passed over 1 {other}, 1 hidden\n"));
}

/// Once, a name without a known extension hid another name of the file that has one.
#[test]
fn a_file_is_indexed_by_the_name_that_tells_its_kind() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    fs::create_dir(&docs).unwrap();
    fs::write(docs.join("z.txt.gz"), support::compress(b"hello")).unwrap();
    fs::hard_link(docs.join("z.txt.gz"), docs.join("a")).unwrap();
    let line = build(folder.path(), "docs --all-text -o x.index");
    assert!(line.starts_with("sortie: indexed 1 document of "), "{line}");
    // With --all-text, the content of named inputs is also examined.
    let line = build(folder.path(), "docs/a docs/z.txt.gz --all-text -o x.index");
    assert!(line.starts_with("sortie: indexed 1 document of "), "{line}");
}

#[test]
fn inputs_may_be_listed() {
    let folder = folder("list", b"one.txt\ndocs\n\n");
    fs::create_dir(folder.path().join("docs")).unwrap();
    for name in ["one.txt", "docs/two.md", "docs/three.rst"] {
        fs::write(folder.path().join(name), name).unwrap();
    }
    assert!(build(folder.path(), "--files-from list -o x.index").contains("indexed 2 documents "));
    // A file that is named twice is indexed once.
    let line = build(folder.path(), "docs --files-from list -o x.index");
    assert!(line.contains("indexed 2 documents ") && line.contains(", 1 already indexed"), "{line}");
    let listed = b"docs/three.rst\0one.txt\0";
    let done = run(&mut sortie(folder.path(), "build --files-from - -o x.index"), listed);
    assert!(text(&done.stderr).contains("indexed 2 documents "), "{}", text(&done.stderr));
    let done = run(&mut sortie(folder.path(), "build --files-from - -o x.index"), b"one.txt\ngone.txt\n");
    assert_eq!(complaint(&done, 2), "sortie: cannot read: gone.txt: No such file or directory\n");
    assert!(succeed(folder.path(), "search x.index three").ends_with("docs/three.rst\n"));
}

#[test]
fn long_words_and_repeated_ids_are_counted() {
    let line = |id: usize| format!("{{\"id\":{id},\"text\":\"{} a\"}}\n", "x".repeat(256));
    let folder = folder("x.jsonl", (0..3000).map(|id| line(id % 1000)).collect::<String>().as_bytes());
    for memory in ["64K", "1G"] {
        let said = build(folder.path(), &format!("x.jsonl -o x.index -S {memory}"));
        assert!(said.ends_with("; left out 3000 words over 255 bytes; 2000 repeated ids\n"), "{said}");
    }
}

#[test]
fn refusals_are_one_line() {
    let folder = folder("x.jsonl", DOCUMENTS);
    build(folder.path(), "x.jsonl -o x.index");
    let gone = refuse(folder.path(), "build gone -o y.index");
    assert_eq!(gone, "sortie: cannot read: gone: No such file or directory\n");
    assert_eq!(
        refuse(folder.path(), "search gone word"),
        "sortie: cannot read: gone: No such file or directory\n"
    );
    let file = refuse(folder.path(), "build x.jsonl -o x.jsonl");
    assert_eq!(file, "sortie: x.jsonl: a file, but an index is a folder; choose another name\n");
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

/// Writes documents of words from a vocabulary that grows with their size.
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

#[test]
fn memory_stays_under_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    write_documents(&folder.path().join("x.jsonl"), 60 << 20);
    let words = "some words to be read ".repeat(1 << 19);
    for (name, text) in [
        ("long.txt", words.repeat(2)),
        ("long.html", words.repeat(5)),
        ("long.md", words.replace("read", "*read*\n\n")),
        ("long.jsonl", format!("{{\"text\":\"{words}\",\"id\":1}}\n")),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    for (input, limit) in [
        ("x.jsonl", 16),
        ("x.jsonl", 64),
        ("long.txt", 16),
        ("long.html", 1),
        ("long.md", 1),
        ("long.jsonl", 1),
    ] {
        let args = format!("build {input} -o x.index -S {limit}M --parallel 2 --pipeline cpu");
        let peak = support::peak(&mut sortie(folder.path(), &args), iter::empty()).unwrap();
        println!("{input} within {limit} MiB: {} MiB", peak >> 20);
        assert!(peak < (limit + 64) << 20, "{} MiB for {input} within {limit}", peak >> 20);
        succeed(folder.path(), "check x.index");
        let within_little = bytes(&folder.path().join("x.index"));
        if limit == 1 {
            build(folder.path(), &format!("{input} -o x.index -S 1G --pipeline cpu"));
            assert!(within_little == bytes(&folder.path().join("x.index")), "{input}");
        }
    }
}

#[test]
fn without_memory_an_index_is_whole_or_not_built() {
    let folder = tempfile::tempdir().unwrap();
    let words: String = (0..100_000).map(|number| format!("word{number} ")).collect();
    fs::write(folder.path().join("x.html"), words.repeat(4)).unwrap();
    fs::write(folder.path().join("x.txt"), &words).unwrap();
    fs::write(folder.path().join("x.jsonl"), format!("{{\"text\":\"{words}\",\"id\":1}}\n")).unwrap();
    build(folder.path(), "x.html x.txt x.jsonl -o whole");
    let whole = bytes(&folder.path().join("whole"));
    let program = fs::metadata(env!("CARGO_BIN_EXE_sortie")).unwrap().len() >> 10;
    let mut built = 0;
    for more in (8..80).step_by(6) {
        let mut command = Command::new("sh");
        command.current_dir(folder.path()).args(["-c", "ulimit -v $0; exec \"$@\""]);
        command.arg((program + more * 1024).to_string()).arg(env!("CARGO_BIN_EXE_sortie"));
        command.args("index build --parallel 2 --pipeline cpu x.html x.txt x.jsonl -o x.index".split(' '));
        let done = run(command.env("RUST_BACKTRACE", "0"), b"");
        let said = text(&done.stderr);
        if done.status.code() == Some(0) {
            assert!(bytes(&folder.path().join("x.index")) == whole, "{more}");
            fs::remove_dir_all(folder.path().join("x.index")).unwrap();
            built += 1;
        } else if done.status.code() == Some(2) {
            assert!(said.starts_with("sortie: ") && said.lines().count() == 1, "{more}: {said}");
        } else {
            // There is too little memory for the program to start, or for std.
            assert!(
                said.is_empty() || ends_in_std(&said) || said.contains("error while loading"),
                "{more}: {said}"
            );
        }
        assert!(!folder.path().join("x.index").exists());
    }
    assert!(built > 0);
}

#[test]
fn killed_at_any_time_the_old_index_stays() {
    let folder = folder("old.jsonl", DOCUMENTS);
    write_documents(&folder.path().join("new.jsonl"), 4 << 20);
    build(folder.path(), "old.jsonl -o x.index");
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
            build(folder.path(), "old.jsonl -o x.index");
        }
    }
    println!("replaced {replaced} times of 50");
    // Building the next index removes anything that was left behind.
    build(folder.path(), "old.jsonl -o x.index");
    assert_eq!(names(folder.path()), ["new.jsonl", "old.jsonl", "x.index"]);
}

/// Simulates a program that was killed after naming the files and before renaming their folder.
#[test]
fn what_a_killed_build_left_is_removed_by_the_next_and_nothing_else() {
    let folder = folder("x.jsonl", DOCUMENTS);
    let left = folder.path().join(".sortie-unfinished-index");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("postings"), "left").unwrap();
    build(folder.path(), "x.jsonl -o x.index");
    assert_eq!(names(folder.path()), ["x.index", "x.jsonl"]);
    // A folder with files that do not belong to an index is kept.
    fs::create_dir(&left).unwrap();
    fs::write(left.join("notes"), "kept").unwrap();
    build(folder.path(), "x.jsonl -o x.index");
    assert_eq!(fs::read(left.join("notes")).unwrap(), b"kept");
    fs::remove_file(left.join("notes")).unwrap();
    // While another build holds the lock, its folder is kept.
    let locked = File::open(folder.path()).unwrap();
    locked.lock().unwrap();
    build(folder.path(), "x.jsonl -o x.index");
    assert!(left.is_dir());
    drop(locked);
    build(folder.path(), "x.jsonl -o x.index");
    assert_eq!(names(folder.path()), ["x.index", "x.jsonl"]);
    assert!(
        refuse(folder.path(), "build x.jsonl -o .sortie-unfinished-index").contains("the name of a folder")
    );
}

/// A build that cannot open its files leaves nothing, and a later one removes whatever was left under any temporary name.
#[test]
fn a_build_with_too_few_open_files_leaves_nothing() {
    let folder = folder("x.jsonl", DOCUMENTS);
    let mut failed = 0;
    for exists in [false, true] {
        for files in 4..40 {
            let script = format!(
                "ulimit -n {files}; exec {} index build x.jsonl -o x.index",
                env!("CARGO_BIN_EXE_sortie")
            );
            let output =
                Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
            let expected = match exists || output.status.success() {
                true => vec!["x.index", "x.jsonl"],
                false => vec!["x.jsonl"],
            };
            failed += usize::from(!output.status.success());
            assert_eq!(names(folder.path()), expected, "{files} files: {}", text(&output.stderr));
            if !exists && output.status.success() {
                fs::remove_dir_all(folder.path().join("x.index")).unwrap();
            }
        }
        build(folder.path(), "x.jsonl -o x.index");
    }
    assert!(failed > 4, "{failed}");
    for name in [".sortie-unfinished-index", ".sortie-unfinished-indexAbCdEf"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("postings"), "left").unwrap();
    }
    build(folder.path(), "x.jsonl -o x.index");
    assert_eq!(names(folder.path()), ["x.index", "x.jsonl"]);
    // A folder that a running build holds is kept.
    let held = folder.path().join(".sortie-unfinished-indexAbCdEf");
    fs::create_dir(&held).unwrap();
    let locked = File::open(&held).unwrap();
    locked.lock().unwrap();
    build(folder.path(), "x.jsonl -o x.index");
    assert!(held.is_dir());
}

#[test]
fn ended_on_request_at_any_time_a_build_leaves_nothing() {
    let folder = folder("x.jsonl", DOCUMENTS);
    build(folder.path(), "x.jsonl -o x.index");
    let start = Instant::now();
    build(folder.path(), "x.jsonl -o x.index");
    let takes = start.elapsed();
    let signals = [Signal::TERM, Signal::INT, Signal::HUP];
    for (at, signal) in (0..90).zip(signals.iter().cycle()) {
        let mut child =
            sortie(folder.path(), "build x.jsonl -o x.index").stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(takes * (at + 10) / 90);
        kill_process(Pid::from_child(&child), *signal).unwrap();
        child.wait().unwrap();
        assert_eq!(names(folder.path()), ["x.index", "x.jsonl"], "{signal:?} after {at} of 90");
        succeed(folder.path(), "check x.index");
    }
}

/// The paragraphs of the help are wrapped once, at the width of the terminal.
#[test]
fn the_help_is_wrapped_once() {
    for columns in [60, 80, 100] {
        let folder = tempfile::tempdir().unwrap();
        let output = run(sortie(folder.path(), "build --help").env("COLUMNS", columns.to_string()), b"");
        let help = text(&output.stdout);
        let paragraphs = &help[help.find("The ending of a file's name says its format.").unwrap()
            ..help.find("Exit status:").unwrap()];
        for paragraph in paragraphs.split("\n\n") {
            let lines: Vec<_> = paragraph.trim().lines().collect();
            for pair in lines.windows(2) {
                let next = pair[1].split(' ').next().unwrap();
                assert!(pair[0].len() + 1 + next.len() > columns - 1, "{columns}: {pair:?}");
            }
        }
    }
}

#[test]
fn words_are_found_however_their_accents_are_written() {
    let folder = folder(
        "x.jsonl",
        "{\"id\":\"nfc\",\"text\":\"Caf\u{e9}\"}\n{\"id\":\"nfd\",\"text\":\"cafe\u{301}\"}\n".as_bytes(),
    );
    build(folder.path(), "x.jsonl -o x.index");
    for query in ["caf\u{e9}", "CAFE\u{301}", "ｃａｆé"] {
        let found = succeed(folder.path(), &format!("search x.index {query}"));
        assert_eq!(found.lines().count(), 2, "{query}: {found}");
        assert_eq!(succeed(folder.path(), &format!("terms x.index {query}")), "caf\u{e9}\t2\t2\n");
    }
}

#[test]
fn input_is_compressed_in_any_format() {
    let folder = folder("x.jsonl", DOCUMENTS);
    let path = folder.path();
    fs::write(path.join("lines"), DOCUMENTS).unwrap();
    build(path, "x.jsonl -o x.index");
    let expected = succeed(path, "terms x.index");
    for extension in ["gz", "bgz", "zst", "xz", "bz2", "lz4"] {
        let name = format!("y.jsonl.{extension}");
        let written = run(support::sortie(path).args(["lines", "-o", &name]), b"");
        assert!(written.status.success(), "{}", text(&written.stderr));
        build(path, &format!("{name} -o y.index"));
        assert_eq!(succeed(path, "terms y.index"), expected, "{name}");
        // Damage is told, and so is a name that says what the content is not.
        let bytes = fs::read(path.join(&name)).unwrap();
        fs::write(path.join(&name), &bytes[..bytes.len() - 5]).unwrap();
        let said = built(path, &format!("lines {name} -o y.index"), 1);
        assert!(said.contains("is cut short after"), "{name}: {said}");
        fs::write(path.join(format!("y.md.{extension}")), "plain").unwrap();
        let said = built(path, &format!("lines y.md.{extension} -o y.index"), 1);
        assert!(said.contains("it is not compressed, although its name means"), "{name}: {said}");
    }
}

#[test]
fn a_line_that_is_an_array_is_told_with_its_number() {
    let folder = folder("x.jsonl", b"{\"id\":1,\"text\":\"a\"}\n[\"a\",\"b\"]\n");
    let said = built(folder.path(), "x.jsonl -o x.index", 1);
    assert!(said.contains("x.jsonl:2: an array, not an object with `id` and `text`, at byte 1"), "{said}");
}
