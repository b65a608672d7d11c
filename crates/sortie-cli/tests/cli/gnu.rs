//! `sortie sort` prints the same bytes as GNU sort in the C locale.

mod debug;
mod numbers;
mod options;
mod random;

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{self, Numbers, data, same};

/// Options that determine how lines are compared.
const ORDERS: &[&str] = &[
    "",
    "-r",
    "-f",
    "-d",
    "-i",
    "-b",
    "-n",
    "-g",
    "-h",
    "-M",
    "-V",
    "-fr",
    "-nr",
    "-k2",
    "-k2,2",
    "-k2n",
    "-k2,2nr",
    "-k1.2,1.3",
    "-k2b,2",
    "-k2.2b,3.1r",
    "-k3,3 -k1,1r",
    "-k2,2n -k1f",
    "-t: -k2",
    "-t, -k2,2 -k1,1",
    "-k1,1M -k2h",
    "-bfd -k2,2 -k3V",
    "-k2,2g -r",
    "-t: -k1.2,2.0",
];

/// Options that determine what happens to equal keys.
const TIES: &[&str] = &["", "-s", "-u"];

/// Options that do not change the result. The last ones force many runs and several merges.
const WAYS: &[&str] = &[
    "",
    "--parallel=1",
    "-S 64K",
    "-S 1b --batch-size=2 --parallel=1",
    "-S 150K --compress-program=gzip",
    "-S 20M --parallel=2",
];

/// The words in all parts.
fn options<'a>(parts: &[&'a str]) -> Vec<&'a str> {
    parts.iter().flat_map(|part| part.split_whitespace()).collect()
}

#[test]
fn every_order_with_every_tie() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers::new(1);
    for order in ORDERS {
        for tie in TIES {
            let text = numbers.lines(400);
            same(folder.path(), &options(&[order, tie]), &text);
            same(folder.path(), &options(&[order, tie, "-z"]), &text);
        }
    }
}

#[test]
fn every_way_of_going_about_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers::new(2);
    let text = numbers.lines(4_000);
    fs::write(folder.path().join("file"), &text).unwrap();
    for order in ["", "-k2,2n -k1fr", "-t: -k2,2"] {
        for tie in TIES {
            for way in WAYS {
                let options = options(&[order, tie, way]);
                if order.is_empty() {
                    same(folder.path(), &options, &text);
                }
                same(folder.path(), &[&options[..], &["file", "-"]].concat(), b"more\nlines, no end");
            }
        }
    }
}

#[test]
fn merging() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers::new(3);
    for order in ["", "-r", "-k2,2", "-n", "-k2,2nr -k1"] {
        for tie in TIES {
            let order = options(&[order, tie]);
            let names: Vec<String> = (0..23).map(|i| format!("part{i}")).collect();
            for name in &names {
                let text = numbers.lines(200);
                let sorted = support::run(support::gnu(folder.path()).args(&order), &text).stdout;
                fs::write(folder.path().join(name), sorted).unwrap();
            }
            for way in ["", "--batch-size=2", "--batch-size=5 -S 64K --compress-program=gzip"] {
                let mut all = options(&["-m", way]);
                all.extend(&order);
                all.extend(names.iter().map(String::as_str));
                same(folder.path(), &all, b"");
            }
        }
    }
    // Inputs that are not sorted are still merged.
    fs::write(folder.path().join("part0"), "b\na\nc").unwrap();
    fs::write(folder.path().join("part1"), "a\nz\nb\n").unwrap();
    same(folder.path(), &["-m", "part0", "part1", "-"], b"b\na");
}

/// Compares with GNU sort while only `limit` files may be open. GNU sort itself would fail below twenty with a compress
/// program.
#[track_caller]
fn same_with_files(limit: usize, folder: &Path, options: &str) {
    let sortie = env!("CARGO_BIN_EXE_sortie");
    let scripts = [format!("ulimit -n {limit} && {sortie} sort {options}"), format!("sort {options}")];
    let [ours, theirs] = scripts.map(|script| {
        Command::new("sh").args(["-c", &script]).current_dir(folder).env("LC_ALL", "C").output().unwrap()
    });
    assert_eq!(support::text(&ours.stderr), "", "{limit} files: {options}");
    assert!(ours.stdout == theirs.stdout, "{limit} files: {options}");
}

#[test]
fn few_files_may_be_open() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers::new(11);
    for i in 0..100 {
        let sorted =
            support::run(support::gnu(folder.path()).args(["-s", "-k1,1"]), &numbers.lines(30)).stdout;
        fs::write(folder.path().join(format!("part{i}")), sorted).unwrap();
    }
    fs::write(folder.path().join("file"), numbers.lines(20_000)).unwrap();
    for limit in [9, 10, 12, 20, 64] {
        for more in ["", "--batch-size=2", "--batch-size=6 -o out && cat out"] {
            same_with_files(limit, folder.path(), &format!("-m -s -k1,1 part* {more}"));
            same_with_files(limit, folder.path(), &format!("-S 64K -s -k1,1 file {more}"));
        }
    }
    same_with_files(18, folder.path(), "-m --compress-program=gzip -s -k1,1 part*");
    same_with_files(18, folder.path(), "-S 64K --compress-program=gzip -s -k1,1 file");
}

/// Runs the program with this many KB of address space, or slightly more if std aborts with this limit.
fn in_kilobytes(kilobytes: usize, folder: &Path, arguments: &str) -> Output {
    (kilobytes..)
        .step_by(100)
        .map(|kilobytes| {
            let script =
                format!("ulimit -v {kilobytes} && exec {} {arguments}", env!("CARGO_BIN_EXE_sortie"));
            support::run(Command::new("sh").current_dir(folder).args(["-c", &script]), b"")
        })
        .find(|done| !support::ends_in_std(&support::text(&done.stderr)))
        .expect("there is always more")
}

#[test]
fn little_memory_may_be_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), Numbers::new(12).lines(300_000)).unwrap();
    // The memory needed to load the program depends on what is linked into it.
    let loads = |&kilobytes: &usize| in_kilobytes(kilobytes, folder.path(), "--version").status.success();
    let loaded = (8_000..200_000).step_by(1_000).find(loads).expect("200 MB are enough to load the program");
    for options in ["file", "-k2,2n file", "-S 1G -k2 file", "- < file", "-S 1G -nu - < file"] {
        let sorted = support::run(
            Command::new("sh")
                .current_dir(folder.path())
                .env("LC_ALL", "C")
                .args(["-c", &format!("sort {options}")]),
            b"",
        );
        for more in [0, 4_000, 12_000, 26_000, 86_000] {
            let done = in_kilobytes(loaded + more, folder.path(), &format!("sort --parallel=2 {options}"));
            if done.status.success() {
                assert!(done.stdout == sorted.stdout, "{more} KB: {options}");
            } else {
                assert!(more < 26_000, "{more} KB: {options}: {}", support::text(&done.stderr));
                support::complaint(&done, 2);
            }
        }
    }
}

#[test]
fn odd_inputs() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["", "\n", "a", "a\n\n", "\n\nb", "b\0a\n", "no end\nat all", "\u{FF}\n\x7F\n\0"] {
        for option in ["-c", "-r", "-u", "-z", "-n", "-m", "-cu", "-zu", "-k2"] {
            same(folder.path(), &[option], text.as_bytes());
        }
    }
    let long = [vec![b'x'; 300_000], b"\nshort\n".to_vec(), vec![b'a'; 200_000]].concat();
    for way in WAYS {
        same(folder.path(), &options(&[way]), &long);
        same(folder.path(), &options(&[way, "-k1,1r"]), &long);
    }
    // Lines longer than an output window.
    let longer = [vec![b'x'; 9 << 20], b"\nshort\n".to_vec(), vec![b'x'; 9 << 20]].concat();
    same(folder.path(), &["-u"], &longer);
    same(folder.path(), &["-f"], &longer);
}

#[test]
fn lists_of_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("one"), "b\nd").unwrap();
    fs::write(folder.path().join("two"), "a\nc").unwrap();
    fs::write(folder.path().join("list"), "two\0one\0two").unwrap();
    same(folder.path(), &["--files0-from=list"], b"");
    same(folder.path(), &["--files0-from=-"], b"one\0two\0");
    same(folder.path(), &["--files0-from=-", "-m"], b"one\0two\0");
    for bad in [&b"one\0\0two\0"[..], b"", b"-\0", b"none\0"] {
        same(folder.path(), &["--files0-from=-"], bad);
    }
}

#[test]
fn checking() {
    let folder = tempfile::tempdir().unwrap();
    let cases = ["a\nb\nb\n", "b\na\n", "", "a", "1\n10\n2\n", "2\n10\n010\n", "b x\na y\n", "a\nB\nc\n"];
    for text in cases {
        for option in
            ["-c", "-C", "-cu", "-Cu", "-cr", "-cn", "-cnu", "-cns", "-ck2", "-cf", "-czr", "--check=silent"]
        {
            same(folder.path(), &[option], text.as_bytes());
        }
    }
}

#[test]
fn real_files() {
    let folder = tempfile::tempdir().unwrap();
    let paths = Command::new("find").args(["/usr/share", "/usr/include", "-xdev"]).output().unwrap().stdout;
    for order in ["", "-r", "-t/ -k4,4 -k3r", "-V", "-f -u", "-t/ -k5.2,5.4 -S 1M"] {
        same(folder.path(), &options(&[order]), &paths);
    }
    let Some(data) = data() else {
        eprintln!("skipped: no ../shared/data beside the repository, and SORTIE_DATA is not set");
        return;
    };
    let files = [
        ("text/rfcs.jsonl.gz", ["", "-t: -k3", "-u -S 1M"]),
        ("reads/nextera_100K.fastq.gz", ["", "-r", "-u -S 1M"]),
        ("proteins/prokka.faa.gz", ["", "-t| -k2 -s", "-f"]),
        ("spectra/massbank-open.mgf.gz", ["", "-k1,1n -k2,2gr", "-n -u"]),
    ];
    for (name, orders) in files {
        let mut text = Vec::new();
        let mut gzip = Command::new("gzip")
            .arg("-dc")
            .arg(data.join(name))
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // Enough for several runs, but not too slow in a debug build.
        gzip.stdout.take().unwrap().take(6 << 20).read_to_end(&mut text).unwrap();
        let _ = gzip.kill();
        gzip.wait().unwrap();
        for order in orders {
            same(folder.path(), &options(&[order]), &text);
        }
    }
}
