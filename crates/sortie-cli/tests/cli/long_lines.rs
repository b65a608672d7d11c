//! Lines that are longer than the memory of a sort, a merge or a check: results are those of GNU sort, and of the longest lines hardly
//! more than one is in memory.

use std::fs;
use std::iter;
use std::path::Path;

use crate::support::{Numbers, folder, gnu, peak, run, same, sortie, text};

/// The memory that the pages of a release build of the program take.
const PROGRAM: u64 = 10 << 20;

/// Lines around the size of what a merge holds of a line (8 KiB), and of a block of a check (256 KiB). They begin alike, and many are
/// equal, or begin as another one.
fn alike(numbers: &mut Numbers, count: usize) -> Vec<Vec<u8>> {
    const LENGTHS: [usize; 10] = [0, 1, 100, 8191, 8192, 8193, 16_384, 50_000, 262_144, 700_000];
    let line = |_| {
        let mut line = vec![b'm'; LENGTHS[numbers.below(LENGTHS.len())]];
        let most = line.len();
        for _ in 0..numbers.below(3) {
            let at = [most.saturating_sub(1), 8191, 8192, 20_000, 262_143][numbers.below(5)];
            if let Some(byte) = line.get_mut(at) {
                *byte = [b'a', 0, 0xFF, b'n'][numbers.below(4)];
            }
        }
        line
    };
    (0..count).map(line).collect()
}

fn joined(lines: &[Vec<u8>], terminator: u8, ended: bool) -> Vec<u8> {
    let mut text = lines.join(&terminator);
    if ended {
        text.push(terminator);
    }
    text
}

#[test]
fn long_lines_are_sorted_as_by_gnu_sort() {
    let mut numbers = Numbers::new(1);
    for round in 0..4 {
        let lines = alike(&mut numbers, 40);
        let folder = folder("x", &joined(&lines, b'\n', round % 2 == 0));
        fs::write(folder.path().join("zero"), joined(&lines, 0, round % 2 == 1)).unwrap();
        for options in ["", "-r", "-u", "-r -u", "-s -k1.3,1.9", "-k1.8192", "-f", "-n -u", "--debug"] {
            for limit in ["-S 64K", "-S 8M", "-S 64K --batch-size 3 --parallel 1"] {
                let options = format!("{options} {limit} x");
                let options: Vec<_> = options.split_whitespace().collect();
                let shown: Vec<_> = options.iter().filter(|&&option| option != "--debug").collect();
                let ours = run(sortie(folder.path()).args(&options), b"");
                let theirs = run(gnu(folder.path()).args(&options), b"");
                assert_eq!(ours.status.code(), Some(0), "{shown:?}: {}", text(&ours.stderr));
                assert!(ours.stdout == theirs.stdout, "{options:?}");
            }
        }
        same(folder.path(), &["-z", "-S", "64K", "zero"], b"");
        same(folder.path(), &["-z", "-r", "-S", "64K", "zero", "x"], b"");
    }
}

#[test]
fn long_lines_are_merged_as_by_gnu_sort() {
    let mut numbers = Numbers::new(2);
    let folder = folder("empty", b"");
    for round in 0..4 {
        for options in ["", "-r", "-u", "-s -k1.3,1.9", "-f"] {
            let mut arguments = vec!["-m".to_owned(), "-S64K".to_owned(), "empty".to_owned()];
            arguments.extend(options.split_whitespace().map(str::to_owned));
            for file in 0..2 + 5 * round {
                let name = file.to_string();
                let text = joined(&alike(&mut numbers, 12), b'\n', file % 2 == 0);
                let sorted = run(gnu(folder.path()).args(options.split_whitespace()), &text).stdout;
                // Also a last line without an end.
                let length = sorted.len() - usize::from(file % 3 == 0);
                fs::write(folder.path().join(&name), &sorted[..length]).unwrap();
                arguments.push(name);
            }
            for more in ["--batch-size=2", "--batch-size=500"] {
                same(folder.path(), &[&arguments[..], &[more.to_owned()]].concat(), b"");
            }
            // Standard input can only be read once.
            same(folder.path(), &[&arguments[..], &["-".to_owned()]].concat(), b"mmm\nmmmmm\n");
        }
    }
    same(folder.path(), &["-m", "empty", "empty", "--batch-size=2"], b"");
    // Files that are not sorted.
    let unsorted = joined(&alike(&mut numbers, 12), b'\n', true);
    fs::write(folder.path().join("unsorted"), unsorted).unwrap();
    same(folder.path(), &["-m", "-S64K", "--batch-size=3", "unsorted", "0", "1"], b"");
}

#[test]
fn long_lines_are_checked_as_by_gnu_sort() {
    let mut numbers = Numbers::new(3);
    let folder = folder("x", b"");
    for round in 0..60 {
        let mut lines = alike(&mut numbers, 12);
        lines.sort();
        if round % 3 > 0 {
            let (a, b) = (numbers.below(12), numbers.below(12));
            lines.swap(a, b);
        }
        if round % 5 == 0 {
            lines.dedup();
        }
        for options in ["-c", "-c -u", "-C", "-c -r", "-c -r -u", "-c -k1.3"] {
            if options.contains("-r") {
                lines.reverse();
            }
            fs::write(folder.path().join("x"), joined(&lines, b'\n', round % 2 == 0)).unwrap();
            let options = [options, " x"].concat();
            let ours = run(sortie(folder.path()).args(options.split_whitespace()), b"");
            let theirs = run(gnu(folder.path()).args(options.split_whitespace()), b"");
            assert_eq!(ours.status.code(), theirs.status.code(), "{options}");
            let said =
                |bytes: &[u8]| bytes.iter().position(|&byte| byte == b':').map(|at| bytes[at..].to_vec());
            assert!(said(&ours.stderr) == said(&theirs.stderr), "{options}");
        }
    }
}

/// The peak memory of a sort, a merge or a check.
fn held(folder: &Path, arguments: &[String]) -> u64 {
    let mut command = sortie(folder);
    command.arg("-T.").args(arguments);
    peak(&mut command, iter::empty()).unwrap() + PROGRAM
}

/// Once, twenty lines of 5 MB took 218 MB, and one of 100 MB took 223 MB.
#[test]
fn long_lines_take_little_more_memory_than_one_of_them() {
    let folder = folder("x", b"");
    let path = folder.path();
    for (megabytes, count) in [(100, 1), (50, 2), (25, 10), (5, 10), (5, 20)] {
        let length = megabytes * 1_000_000;
        // The program as it is built for tests is a little larger.
        let most = u64::max(45_000_000, 13 * length as u64 / 10) + 1_000_000;
        let line = |number: usize, begin: u8| {
            let mut line = vec![begin; length];
            line.extend(format!("{:04}", number * 7 % 11).bytes());
            line
        };
        let mut few: Vec<Vec<u8>> = (0..count).map(|number| line(number, b'z')).collect();
        let mut short = Vec::new();
        (0..1000).for_each(|number| short.extend(format!("{number}\n").bytes()));
        let mut all = short.clone();
        few.iter().for_each(|line| all.extend([&line[..], b"\n", &short].concat()));
        fs::write(path.join("x"), &all).unwrap();
        few.sort();
        fs::write(path.join("sorted"), joined(&few, b'\n', true)).unwrap();
        drop(all);
        let mut merge = vec!["-m".to_owned()];
        for (number, line) in few.iter().enumerate() {
            let name = format!("part{number}");
            fs::write(path.join(&name), [&short[..2], line].concat()).unwrap();
            merge.push(name);
        }
        drop(few);
        let option = |options: &str| options.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for arguments in [option("x"), option("-r x"), option("-u x"), merge, option("-c sorted")] {
            let held = held(path, &[option("-S16M --parallel=2"), arguments.clone()].concat());
            println!("{count} lines of {megabytes} MB, {arguments:?}: {} MB", held / 1_000_000);
            assert!(held <= most, "{count} lines of {megabytes} MB, {arguments:?}: {held} bytes");
        }
    }
}

/// Once, the other runners kept the memory of their stretches beside a long line, and the key of a long line was taken for that of each
/// short one after it.
#[test]
fn long_lines_with_keys_leave_no_memory_with_other_runners() {
    let folder = folder("x", b"");
    let long: Vec<Vec<u8>> =
        (0..8).map(|number| [&vec![b'z'; 9 << 20][..], &[b'0' + number * 5 % 8]].concat()).collect();
    let long = joined(&long, b'\n', true);
    let short: Vec<u8> = (0..1_000_000).rev().flat_map(|number| format!("{number}\n").into_bytes()).collect();
    for (what, input) in
        [("long lines", long.clone()), ("short lines, then long ones", [short, long].concat())]
    {
        fs::write(folder.path().join("x"), &input).unwrap();
        for limit in [32, 64] {
            let most = u64::max(limit << 20, 45_000_000) + (16 << 20);
            for threads in [1, 8] {
                let options = format!("-f -S {limit}M --parallel {threads} x");
                let held = held(folder.path(), &options.split(' ').map(str::to_owned).collect::<Vec<_>>());
                println!("{options} of {what}: {} MB", held / 1_000_000);
                assert!(held <= most, "{options} of {what}: {held} bytes");
            }
        }
    }
}
