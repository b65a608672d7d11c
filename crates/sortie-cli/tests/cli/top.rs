//! `sortie top` and `sortie sort --top` print what GNU sort piped to `head` prints.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Numbers, complaint, compress, folder, gnu, run, sortie, text};

/// Orders of lines, as options of GNU sort.
const ORDERS: &[&str] = &[
    "",
    "-r",
    "-f",
    "-di",
    "-b",
    "-n",
    "-g",
    "-h",
    "-M",
    "-V",
    "-fr",
    "-nr",
    "-R --random-source=seed",
    "-k2",
    "-k2n",
    "-k2,2nr",
    "-k1.2,1.3",
    "-k2b,2",
    "-k3,3 -k1,1r",
    "-k2,2n -k1f",
    "-t: -k2",
    "-t, -k2,2 -k1,1",
    "-k1,1M -k2h",
    "-k2,2g -r",
];

const TIES: &[&str] = &["", "-s", "-u", "-z", "-zu", "-zs"];

fn top(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
    command.env("LC_ALL", "C");
    command.arg("top").current_dir(folder);
    command
}

/// The options of `sortie top` for those of `sort`: there, -n is the number of lines.
fn of_top(options: &[&str]) -> Vec<String> {
    options
        .iter()
        .flat_map(|option| match *option {
            "-n" => vec!["--numeric-sort".to_owned()],
            "-nr" => vec!["--numeric-sort".to_owned(), "-r".to_owned()],
            other => vec![other.to_owned()],
        })
        .collect()
}

/// Asserts that both commands print the first `count` lines that GNU sort prints.
#[track_caller]
fn same<'a>(folder: &Path, count: usize, parts: &[&'a str], ways: &[&str], stdin: &[u8]) {
    let split =
        |parts: &[&'a str]| parts.iter().flat_map(|part| part.split_whitespace()).collect::<Vec<&'a str>>();
    let options = split(parts);
    let theirs = run(gnu(folder).args(&options), stdin);
    assert!(theirs.status.success(), "{options:?}: {}", text(&theirs.stderr));
    let terminator = if options.iter().any(|option| option.starts_with("-z")) { 0 } else { b'\n' };
    let expected =
        theirs.stdout.split_inclusive(|&byte| byte == terminator).take(count).collect::<Vec<_>>().concat();
    let count = count.to_string();
    let ways: Vec<&str> = ways.iter().flat_map(|way| way.split_whitespace()).collect();
    let commands = [
        top(folder).args(["-n", &count]).args(of_top(&options)).args(&ways).output_of(stdin),
        sortie(folder).args(["--top", &count]).args(&options).args(&ways).output_of(stdin),
    ];
    for (status, printed, said) in commands {
        assert_eq!(status, Some(0), "{count} {options:?} {ways:?}: {said}");
        assert!(
            printed == expected,
            "{count} {options:?} {ways:?}: {} bytes, not {}",
            printed.len(),
            expected.len()
        );
    }
}

trait OutputOf {
    fn output_of(&mut self, stdin: &[u8]) -> (Option<i32>, Vec<u8>, String);
}

impl OutputOf for Command {
    fn output_of(&mut self, stdin: &[u8]) -> (Option<i32>, Vec<u8>, String) {
        let done = run(self, stdin);
        (done.status.code(), done.stdout, text(&done.stderr))
    }
}

#[test]
fn every_order_with_every_tie() {
    let folder = folder("seed", &[7; 64]);
    let mut numbers = Numbers::new(21);
    for order in ORDERS {
        for tie in TIES {
            let text = numbers.lines(300);
            for count in [0, 1, 3, 40, 1000] {
                same(folder.path(), count, &[order, tie], &[], &text);
            }
        }
    }
}

#[test]
fn many_lines_in_blocks() {
    let folder = folder("seed", &[7; 64]);
    let mut numbers = Numbers::new(22);
    let text = numbers.lines(30_000);
    fs::write(folder.path().join("file"), &text).unwrap();
    fs::write(folder.path().join("packed"), compress(&text[..text.len() / 2])).unwrap();
    let plain = &text[..text.len() / 2];
    fs::write(folder.path().join("plain"), plain).unwrap();
    for order in ["", "-r", "-n", "-k2,2n -k1fr", "-t: -k2,2"] {
        for tie in TIES {
            for (count, way) in [
                (1, ""),
                (10, "--parallel=2"),
                (500, "-S 1M"),
                (5_000, "-S 64K --parallel=1"),
                (25_000, "-S 1M"),
            ] {
                same(
                    folder.path(),
                    count,
                    &[order, tie, "file", "-", "plain"],
                    &[way],
                    b"more\nlines, no end",
                );
            }
        }
        same_files(folder.path(), order);
    }
}

/// A compressed file counts as its content.
#[track_caller]
fn same_files(folder: &Path, order: &str) {
    let printed = |files: [&str; 3]| {
        let options: Vec<&str> = order.split_whitespace().chain(files).collect();
        top(folder).args(["-n", "700"]).args(of_top(&options)).output_of(b"").1
    };
    assert!(printed(["packed", "file", "packed"]) == printed(["plain", "file", "plain"]), "{order}");
}

/// Every line comes before all lines so far, or after them, or is the same.
#[test]
fn lines_that_are_in_order_already() {
    let folder = folder("file", b"");
    let ascending: String = (100_000..150_000).map(|i| format!("{i}\n")).collect();
    let descending: String = (100_000..150_000).rev().map(|i| format!("{i}\n")).collect();
    let equal = "same\n".repeat(50_000);
    for text in [ascending, descending, equal] {
        fs::write(folder.path().join("file"), text).unwrap();
        for options in ["", "-r", "-u", "-n", "-k1,1", "-s -k2,2", "-k2,2 -u"] {
            for (count, way) in [(5, ""), (2_000, "-S 64K"), (60_000, "-S 64K")] {
                same(folder.path(), count, &[options, "file"], &[way], b"");
            }
        }
    }
}

/// The first bytes of a line may end with its terminator, or be those of the next lines.
#[test]
fn short_lines_of_bytes_around_the_terminator() {
    let folder = folder("file", b"");
    let mut numbers = Numbers::new(23);
    for _ in 0..40 {
        let text: Vec<u8> = (0..4_000).map(|_| b"\0\t\n\n\x0B\xFFa"[numbers.below(7)]).collect();
        fs::write(folder.path().join("file"), &text).unwrap();
        for options in ["", "-r", "-z", "-zr", "-u", "-ur", "-zu"] {
            for count in [1, 5, 100] {
                same(folder.path(), count, &[options, "file"], &[], b"");
            }
        }
    }
}

#[test]
fn lines_longer_than_a_block() {
    let folder = folder("file", b"");
    let long = |byte: char, length: usize| byte.to_string().repeat(length);
    let lines = [
        long('b', 3_000_000),
        "b".into(),
        long('a', 700_000),
        "c".into(),
        long('a', 700_001),
        "a".into(),
        long('d', 9_000),
    ];
    let text = lines.join("\n");
    for options in ["", "-r", "-u", "-k1,1f", "-s"] {
        for (count, way) in [(1, ""), (3, "-S 1M"), (6, "-S 64K"), (2, "-S 64K --parallel=1")] {
            fs::write(folder.path().join("file"), &text).unwrap();
            same(folder.path(), count, &[options, "file"], &[way], b"");
            same(folder.path(), count, &[options], &[way], text.as_bytes());
        }
    }
}

#[test]
fn the_output_may_be_a_file() {
    let folder = folder("file", b"c\nb\na\nd");
    let done = run(top(folder.path()).args(["--lines=2", "-r", "file", "-o", "file"]), b"");
    assert_eq!(text(&done.stderr), "");
    assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"d\nc\n");
    let done = run(top(folder.path()).args(["-n0", "file", "-o", "file"]), b"");
    assert!(done.status.success());
    assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"");
}

#[test]
fn wrong_use_is_told() {
    let folder = folder("x.npy", b"\x93NUMPY\x01\x00");
    let told = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
        command.env("LC_ALL", "C");
        complaint(
            &run(command.current_dir(folder.path()).args(arguments.iter().map(OsStr::new)), b"b\na\n"),
            2,
        )
    };
    for (arguments, said) in [
        (&["top"][..], "not provided: --lines <K>"),
        (
            &["top", "-n", "r"],
            "invalid value 'r' for '--lines <K>': it is a number of lines; to compare numbers, give --numeric-sort",
        ),
        (&["top", "-nr", "-n2"], "to compare numbers"),
        (&["top", "-n", "2", "-c"], "unexpected argument '-c'"),
        (&["top", "-n", "2", "x.npy"], "--lines is for lines and tables; it cannot be used with an array"),
        (&["top", "-n", "2", "none"], "cannot read: none"),
        (
            &["sort", "--top", "2", "-c"],
            "--top works only with sorts on the CPU; remove -c, -C, -m, --explain and --engine",
        ),
        (&["sort", "--top", "2", "-m"], "--top works only with sorts"),
        (&["sort", "--top", "2", "--explain"], "--top works only with sorts"),
        (&["sort", "--top", "2", "--type", "u8"], "--top is for lines"),
    ] {
        let complaint = told(arguments);
        assert!(complaint.contains(said), "{arguments:?}: {complaint}");
    }
}
