//! `sortie uniq` prints what GNU sort piped to GNU uniq prints.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Numbers, complaint, compress, folder, gnu, run, text};

/// Options of GNU uniq.
const WHICH: &[&str] = &["", "-c", "-d", "-u", "-cd", "-cu", "-du"];

fn uniq(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
    command.env("LC_ALL", "C");
    command.arg("uniq").current_dir(folder);
    command
}

/// What the program prints with options that are separated by blanks.
#[track_caller]
fn print(command: &mut Command, options: &str, stdin: &[u8]) -> Vec<u8> {
    let done = run(command.args(options.split_whitespace()), stdin);
    assert!(done.status.success(), "{options}: {}", text(&done.stderr));
    done.stdout
}

/// Asserts that all ways print what `sort | uniq` prints, for all options of uniq. `order` has options of sort.
#[track_caller]
fn same(folder: &Path, order: &str, ways: &[&str], stdin: &[u8]) {
    let sorted = print(&mut gnu(folder), order, stdin);
    for which in WHICH {
        let zero = if order.contains('z') { "-z" } else { "" };
        let expected = print(
            Command::new("uniq").env("LC_ALL", "C").current_dir(folder),
            &format!("{which} {zero}"),
            &sorted,
        );
        for way in ways {
            let options = format!("{which} {order} {way}");
            let printed = print(&mut uniq(folder), &options, stdin);
            assert!(printed == expected, "{options}: {} bytes, not {}", printed.len(), expected.len());
        }
    }
}

#[test]
fn small_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let texts: &[&[u8]] = &[
        b"",
        b"\n",
        b"\n\n",
        b"a",
        b"a\nb\na",
        b"b\nb\n\nab\na\0\na\n",
        b"a\0b\0a",
        b"\xFF\n\xFF\xFF\n\xFF\n12345678\n123456789\n12345678\n",
    ];
    for text in texts {
        for order in ["", "-r", "-z", "-zr"] {
            same(folder.path(), order, &["", "--parallel=1", "-S 64K"], text);
        }
    }
}

#[test]
fn random_lines_in_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers::new(41);
    for count in [100, 3_000, 60_000] {
        let text = numbers.lines(count);
        for order in ["", "-r", "-z"] {
            same(folder.path(), order, &["", "--parallel=2", "--parallel=1", "-S 64K", "-S 1M"], &text);
        }
    }
}

#[test]
fn tables_that_outgrow_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers::new(42);
    let mut text = Vec::new();
    for _ in 0..150_000 {
        text.extend_from_slice(format!("line {}\n", numbers.below(60_000)).as_bytes());
    }
    // A line longer than a block, twice.
    for _ in 0..2 {
        text.extend_from_slice(&[b'x'; 300_000]);
        text.push(b'\n');
    }
    text.extend_from_slice(b"line 7\nlast");
    for order in ["", "-r"] {
        same(folder.path(), order, &["-S 64K", "-S 2M --parallel=2", "-S 8M --parallel=1"], &text);
    }
}

#[test]
fn files_and_an_output() {
    let folder = folder("one", b"b\na");
    fs::write(folder.path().join("two"), compress(b"b\nc\n")).unwrap();
    assert_eq!(print(&mut uniq(folder.path()), "-c one two -o one", b""), b"");
    assert_eq!(fs::read(folder.path().join("one")).unwrap(), b"      1 a\n      2 b\n      1 c\n");
}

#[test]
fn lines_with_equal_keys_are_one() {
    let folder = folder("seed", &[7; 64]);
    let mut numbers = Numbers::new(43);
    let orders = [
        "-f",
        "-n",
        "-nr",
        "-g",
        "-h",
        "-M",
        "-V",
        "-b -i",
        "-k2",
        "-k2n",
        "-k2,2nr -k1,1f",
        "-t: -k2",
        "-t, -k2,2d -z",
        "-R --random-source=seed",
    ];
    for order in orders {
        let lines = numbers.lines(2_000);
        let firsts = print(&mut gnu(folder.path()), &format!("{order} -u"), &lines);
        for way in ["", "-S 64K", "--parallel=2"] {
            let options = format!("{order} {way}");
            let plain = print(&mut uniq(folder.path()), &options, &lines);
            assert!(plain == firsts, "{options}");
            // The counts add up, and without them the lines are the same.
            let terminator = if order.contains("-z") { 0 } else { b'\n' };
            let counted = print(&mut uniq(folder.path()), &format!("-c {options}"), &lines);
            let (mut sum, mut bare) = (0, Vec::new());
            for line in counted.split_inclusive(|&byte| byte == terminator) {
                sum += text(&line[..7]).trim().parse::<usize>().unwrap();
                bare.extend_from_slice(&line[8..]);
            }
            assert!(bare == firsts, "{options}");
            let all = print(&mut gnu(folder.path()), order, &lines);
            assert_eq!(sum, all.iter().filter(|&&byte| byte == terminator).count(), "{options}");
        }
    }
}

#[test]
fn counts_of_equal_keys() {
    let folder = tempfile::tempdir().unwrap();
    let lines = b"b 2\nx 1\na 02\nc 3\nB 2\n";
    let print = |options| text(&print(&mut uniq(folder.path()), options, lines));
    assert_eq!(print("-c -k2,2n"), "      1 x 1\n      3 b 2\n      1 c 3\n");
    assert_eq!(print("-d -k2,2n"), "b 2\n");
    assert_eq!(print("-u -k2,2n"), "x 1\nc 3\n");
    assert_eq!(print("-cdf"), "      2 b 2\n");
    assert_eq!(
        print("--count --dictionary-order --unique -r"),
        "      1 x 1\n      1 c 3\n      1 b 2\n      1 a 02\n      1 B 2\n"
    );
}

#[test]
fn wrong_use_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, said) in [
        (&["-s"][..], "unexpected argument '-s'"),
        (&["x.npy"], "sortie uniq is for lines and tables"),
        (&["none"], "cannot read: none"),
    ] {
        let complaint = complaint(&run(uniq(folder.path()).args(arguments), b""), 2);
        assert!(complaint.contains(said), "{arguments:?}: {complaint}");
    }
}
