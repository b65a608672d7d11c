//! Input of every kind that is larger than memory: results, memory, and what remains after a failure at any point.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::locales::locales;
use crate::support::{self, Numbers, complaint, ends_in_std, folder, names, peak, run, text};

/// `sortie sort` in `folder`, in the C locale, with other locales at hand.
fn sortie(folder: &Path) -> Command {
    let mut command = support::sortie(folder);
    command.env("LOCPATH", locales());
    command
}

/// Random bytes, with more zeros than by chance.
fn noise(count: usize, seed: u64) -> Vec<u8> {
    let mut numbers = Numbers::new(seed);
    (0..count).map(|_| numbers.below(300).saturating_sub(44) as u8).collect()
}

/// A `.npy` header of version 1.0.
fn npy(descr: &str, count: usize) -> Vec<u8> {
    let literal = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({count},), }}\n");
    [b"\x93NUMPY\x01\x00", &(literal.len() as u16).to_le_bytes()[..], literal.as_bytes()].concat()
}

#[track_caller]
fn succeed(folder: &Path, options: &str, stdin: &[u8]) -> Vec<u8> {
    let done = run(sortie(folder).args(options.split_whitespace()), stdin);
    assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()), "{options}");
    done.stdout
}

#[test]
fn raw_arrays_are_as_in_memory() {
    let bytes = noise(600_000, 1);
    let folder = folder("x", &bytes);
    for kind in ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64"] {
        for options in ["", "--descending", "--argsort", "--argsort --descending"] {
            let options = format!("--type {kind} {options}");
            let expected = succeed(folder.path(), &format!("{options} x"), b"");
            for limit in ["-S 64K", "-S 64K --batch-size 2 --parallel 3", "-S 300K"] {
                // From a file, or from a pipe.
                let (input, piped) = if limit == "-S 300K" { ("", &bytes[..]) } else { ("x", &b""[..]) };
                let found = succeed(folder.path(), &format!("{options} {limit} {input}"), piped);
                assert!(found == expected, "{options} {limit} {input}");
            }
        }
    }
}

#[test]
fn arrays_of_numpy_are_as_in_memory() {
    let folder = folder("x", b"");
    for descr in ["'|b1'", "'|u1'", "'<u2'", "'>u4'", "'<i8'", "'>i2'", "'<f2'", "'>f4'", "'<f8'", "'>f8'"] {
        let width = descr.as_bytes()[3] - b'0';
        let mut data = noise(400_000, 2);
        if descr == "'|b1'" {
            data.iter_mut().for_each(|byte| *byte &= 1);
        }
        let array = [npy(descr, data.len() / usize::from(width)), data].concat();
        fs::write(folder.path().join("x.npy"), array).unwrap();
        for options in ["", "--descending", "--argsort", "--argsort --descending", "--axis 0"] {
            let expected = succeed(folder.path(), &format!("{options} x.npy"), b"");
            let within = succeed(folder.path(), &format!("{options} -S 64K x.npy"), b"");
            assert!(within == expected, "{descr} {options}");
        }
    }
}

/// Compares with the standard library's sort, so that the program's in-memory sort is not involved.
#[test]
fn numbers_agree_with_std() {
    let bytes = noise(4 << 20, 3);
    let folder = folder("x", &bytes);
    let mut ints: Vec<u64> =
        bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect();
    ints.sort_unstable();
    let expected: Vec<u8> = ints.iter().flat_map(|x| x.to_le_bytes()).collect();
    assert!(succeed(folder.path(), "--type u64 -S 256K x", b"") == expected);
    let mut floats: Vec<f32> =
        bytes.chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect();
    floats.retain(|x| !x.is_nan());
    let input: Vec<u8> = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
    floats.sort_by(|a, b| b.total_cmp(a));
    let expected: Vec<u8> = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
    assert!(succeed(folder.path(), "--type f32 --descending -S 256K", &input) == expected);
    let mut places: Vec<u64> = (0..ints.len() as u64).collect();
    let keys: Vec<u8> = bytes.chunks_exact(8).map(|c| c[0]).collect();
    places.sort_by_key(|&place| keys[place as usize]);
    let expected: Vec<u8> = places.iter().flat_map(|x| x.to_le_bytes()).collect();
    assert!(succeed(folder.path(), "--type u8 --argsort -S 256K", &keys) == expected);
}

/// Runs whose windows are merged in several pieces. Their lines are interleaved among the runs, equal, already in
/// order, or longer than the part of a run that is read at a time.
#[test]
fn lines_are_as_in_memory() {
    let mixed = data(4, 8);
    let equal: Vec<u8> = mixed.chunks(100).flat_map(|line| [&line[20..24], &line[96..]].concat()).collect();
    let ordered = mixed.chunks(100).enumerate().flat_map(|(place, line)| {
        let start = format!("{place:08}");
        [start.as_bytes(), &line[8..]].concat()
    });
    let long = mixed.chunks(100).enumerate().flat_map(|(place, line)| {
        let more = if place % 8_000 == 7 { 500_000 } else { 0 };
        [&vec![b'a'; more][..], line].concat()
    });
    for (what, text) in
        [("mixed", &mixed), ("equal", &equal), ("ordered", &ordered.collect()), ("long", &long.collect())]
    {
        let folder = folder("x", text);
        for options in ["", "-r", "-u", "-k2,2n", "-s -k2,2n", "-u -k2,2", "-k1.2,1.3r -k2"] {
            let expected = succeed(folder.path(), &format!("{options} x"), b"");
            for limit in ["-S 1M", "-S 4M"] {
                assert!(
                    succeed(folder.path(), &format!("{options} {limit} x"), b"") == expected,
                    "{what}: {options} {limit}"
                );
            }
        }
    }
}

#[test]
fn arrays_that_do_not_end_as_they_should_are_told() {
    let folder = folder("out", b"old");
    let short = [npy("'<u4'", 100_000), vec![0; 399_999]].concat();
    let long = [npy("'<u4'", 100_000), vec![0; 400_001]].concat();
    fs::write(folder.path().join("short.npy"), &short).unwrap();
    fs::write(folder.path().join("long.npy"), &long).unwrap();
    for (options, stdin, said) in [
        (
            "--type u32 -",
            &noise(400_001, 4)[..],
            "'standard input': 400001 bytes are not a multiple of 4, the size of u32; the file is cut short or has \
             another type",
        ),
        ("short.npy", b"", "short.npy: the array is cut short: it has 399999 of 400000 bytes of data"),
        (
            "long.npy",
            b"",
            "long.npy: the header promises 400000 bytes of data, but the file has more; remove what follows the array",
        ),
    ] {
        for more in ["", "--argsort"] {
            let options = format!("{options} {more} -S 64K -o out");
            let done = run(sortie(folder.path()).args(options.split_whitespace()), stdin);
            assert_eq!(complaint(&done, 2), format!("sortie: {said}\n"));
        }
    }
    assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"old");
}

/// Options for every kind of data that can be larger than memory.
const KINDS: [&str; 11] = [
    "",
    "-k2,2n",
    "-f --locale=en_US.UTF-8",
    "--type u64",
    "--type u32 --argsort",
    "--record-size 100 --key 0..10",
    "--format fasta --by name",
    "--format fastq --by name -r",
    "--format prefixed",
    "--csv --no-header --by 2:number,1",
    "--jsonl --by .k",
];

/// Data of a kind. For formats of records, each line becomes a record.
fn of_kind(kind: &str, mut data: Vec<u8>) -> Vec<u8> {
    if kind.contains("fasta") {
        data.chunks_mut(100).for_each(|record| (record[0], record[25]) = (b'>', b'\n'));
    } else if kind.contains("fastq") {
        for record in data.chunks_mut(100) {
            (record[0], record[25]) = (b'@', b'\n');
            record[61..64].copy_from_slice(b"\n+\n");
        }
    } else if kind.contains("csv") {
        data.chunks_mut(100).for_each(|record| (record[20], record[26], record[98]) = (b',', b'"', b'"'));
        data.chunks_mut(100).for_each(|record| (record[25], record[50]) = (b',', b'\n'));
    } else if kind.contains("jsonl") {
        for record in data.chunks_mut(100) {
            record[..6].copy_from_slice(b"{\"k\":\"");
            record[97..].copy_from_slice(b"\"}\n");
        }
    } else if kind.contains("prefixed") {
        data.chunks_mut(100).for_each(|record| record[..4].copy_from_slice(&96u32.to_le_bytes()));
    }
    data
}

/// Data of this size, valid for all kinds.
fn data(megabytes: usize, seed: u64) -> Vec<u8> {
    let mut numbers = Numbers::new(seed);
    let record = |_| {
        let mut record = [b'a'; 100];
        record.iter_mut().take(20).for_each(|byte| *byte = b'a' + numbers.below(26) as u8);
        record[20] = b' ';
        record[21..25].iter_mut().for_each(|byte| *byte = b'0' + numbers.below(10) as u8);
        record[99] = b'\n';
        record
    };
    (0..megabytes * 10_000).flat_map(record).collect()
}

/// The memory that the pages of a release build of the program take.
const PROGRAM: u64 = 12 << 20;

#[test]
fn memory_with_the_program_stays_under_the_cap_and_10_mb() {
    let chunk = data(16, 5);
    let folder = folder("data", &[]);
    for (cap, times) in [(16, 2), (48, 4)] {
        let path = folder.path().join("data");
        for kind in KINDS {
            let chunk = of_kind(kind, chunk.clone());
            fs::write(&path, chunk.repeat(times)).unwrap();
            let options = format!("{kind} -S {cap}M --parallel 2");
            let mut from_file = sortie(folder.path());
            from_file.args(options.split_whitespace()).arg("data");
            let mut from_pipe = sortie(folder.path());
            from_pipe.args(options.split_whitespace());
            for (what, command, chunks) in [("a file", from_file, 0), ("a pipe", from_pipe, times)] {
                let mut command = command;
                let held = peak(&mut command, (0..chunks).map(|_| chunk.clone())).unwrap() + PROGRAM;
                println!("{} MB for {options} from {what}", held >> 20);
                assert!(held <= (cap + 10) << 20, "{} MB for {options} from {what}", held >> 20);
            }
        }
    }
}

/// Decompressed text goes through the same buffers. In addition, a gzip decoder takes some 100 KB, and compression
/// takes a piece for each thread.
#[test]
fn compressed_lines_stay_under_the_cap_and_12_mb() {
    let folder = folder("data", &[]);
    let member = support::compress(&Numbers::new(5).lines(100_000));
    for output in ["", " -o out.gz", " -o out.zst"] {
        let options = format!("-S 16M --parallel 2{output}");
        let mut command = sortie(folder.path());
        command.args(options.split_whitespace());
        let held = peak(&mut command, (0..60).map(|_| member.clone())).unwrap() + PROGRAM;
        println!("{} MB for {options}", held >> 20);
        assert!(held <= 28 << 20, "{} MB for {options}", held >> 20);
    }
}

/// In a merge, each run has a record in memory. So only as many runs are merged at a time as `-S` allows.
#[test]
fn long_records_stay_under_the_cap_and_10_mb() {
    let folder = folder("data", &[]);
    let sequence = "ACGT".repeat(250_000);
    let records: String = (0..64).rev().map(|number| format!(">{number:02}\n{sequence}\n")).collect();
    fs::write(folder.path().join("data"), records).unwrap();
    for output in ["", " -o out.gz"] {
        let options = format!("--format fasta --by name -S 16M --parallel 2 data{output}");
        let mut command = sortie(folder.path());
        command.args(options.split_whitespace());
        let held = peak(&mut command, std::iter::empty()).unwrap() + PROGRAM;
        println!("{} MB for {options}", held >> 20);
        assert!(held <= 26 << 20, "{} MB for {options}", held >> 20);
    }
}

/// Kills the program after longer and longer times, until it finishes first. The output must be unchanged or complete.
#[test]
fn a_killed_process_leaves_no_part() {
    for kind in KINDS {
        let folder = folder("x", &of_kind(kind, data(4, 6)));
        fs::create_dir(folder.path().join("runs")).unwrap();
        let options = format!("{kind} -S 512K -T runs");
        let sorted = succeed(folder.path(), &format!("{options} x"), b"");
        for target in ["new", "x"] {
            let before = fs::read(folder.path().join(target)).ok();
            let mut wait = Duration::from_millis(1);
            loop {
                let mut command = sortie(folder.path());
                command.args(options.split_whitespace()).args(["x", "-o", target]).stderr(Stdio::null());
                let mut child = command.spawn().unwrap();
                thread::sleep(wait);
                child.kill().unwrap();
                child.wait().unwrap();
                let found = fs::read(folder.path().join(target)).ok();
                assert!(
                    found.as_ref() == Some(&sorted) || found == before,
                    "{options}: {target} after {wait:?}"
                );
                assert!(names(&folder.path().join("runs")).is_empty(), "{options}");
                if found.as_ref() == Some(&sorted) {
                    break;
                }
                wait = wait * 5 / 4;
            }
            assert!(wait > Duration::from_millis(1), "{options}: never killed in time");
        }
        let left: Vec<_> =
            names(folder.path()).into_iter().filter(|name| !name.starts_with(".sortie-")).collect();
        assert_eq!(left, ["new", "runs", "x"], "{options}");
    }
}

/// Runs the program with lower limits of the shell until it succeeds. Until then it must print one line and leave the
/// output unchanged; the output must also be unchanged if std aborts for lack of memory. Returns the number of
/// failures.
fn under_limits(kind: &str, limit: &str, levels: impl Iterator<Item = u64>) -> usize {
    let folder = folder("x", &of_kind(kind, data(2, 7)));
    let options = format!("{kind} -S 256K -T . --parallel 2");
    let sorted = succeed(folder.path(), &format!("{options} x"), b"");
    fs::write(folder.path().join("out"), "old").unwrap();
    for (refused, level) in levels.enumerate() {
        // With SIGXFSZ ignored, writing past the limit returns an error.
        let program = env!("CARGO_BIN_EXE_sortie");
        let script = format!("trap '' XFSZ; ulimit {limit} {level}; exec {program} sort {options} x -o out");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(folder.path()).env("LOCPATH", locales());
        let done = command.output().unwrap();
        let found = fs::read(folder.path().join("out")).unwrap();
        if done.status.success() {
            assert!(found == sorted, "{options}, ulimit {limit} {level}");
            assert!(refused > 0, "{options}, ulimit {limit} {level} is no limit");
            return refused;
        }
        if limit != "-v" || !ends_in_std(&text(&done.stderr)) {
            complaint(&done, 2);
        }
        assert_eq!(found, b"old", "{options}, ulimit {limit} {level}");
        assert_eq!(names(folder.path()), ["out", "x"], "{options}, ulimit {limit} {level}");
    }
    panic!("{options}: no limit {limit} was enough");
}

#[test]
fn a_file_that_may_not_grow_is_an_error_at_every_write() {
    for kind in KINDS {
        // The limit is in blocks of 512 bytes. Runs have some 100 KB, and the output 2 MB.
        let refused = under_limits(kind, "-f", (0..).map(|step: u64| step * step * 22));
        assert!(refused > 10, "{kind}: refused {refused} times");
    }
}

#[test]
fn memory_that_cannot_be_had_is_an_error_at_every_limit() {
    let program = env!("CARGO_BIN_EXE_sortie");
    let loads = |kilobytes: &u64| {
        let script = format!("ulimit -v {kilobytes}; exec {program} --version");
        Command::new("sh").args(["-c", &script]).output().unwrap().status.success()
    };
    let loaded = (8_000..).step_by(250).find(loads).unwrap();
    for kind in KINDS {
        let refused = under_limits(kind, "-v", (loaded..).step_by(250));
        assert!(refused > 10, "{kind}: refused {refused} times");
    }
}
