//! `sortie quantiles`, compared with what a sort gives.

use std::fs;

use crate::support::{Numbers, complaint, compress, folder, run, text};

/// What `sortie quantiles` prints with these arguments.
#[track_caller]
fn printed(folder: &std::path::Path, arguments: &str, stdin: &[u8]) -> (String, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sortie"));
    command.env("LC_ALL", "C").arg("quantiles").args(arguments.split_whitespace()).current_dir(folder);
    let output = run(&mut command, stdin);
    assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

fn refused(folder: &std::path::Path, arguments: &str, stdin: &[u8]) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sortie"));
    command.env("LC_ALL", "C").arg("quantiles").args(arguments.split_whitespace()).current_dir(folder);
    complaint(&run(&mut command, stdin), 2)
}

#[test]
fn quantiles_of_lines_are_those_of_the_sorted_numbers() {
    let mut numbers = Numbers::new(5);
    let values: Vec<f64> = (0..20_001).map(|_| numbers.below(1 << 40) as f64 / 1024.0 - 5e8).collect();
    let lines: String = values.iter().map(|value| format!("  {value:?}\r\n")).collect();
    let folder = folder("lines", lines.as_bytes());
    fs::write(folder.path().join("lines.gz"), compress(lines.as_bytes())).unwrap();
    let mut sorted = values;
    sorted.sort_by(f64::total_cmp);
    let expected = [0usize, 5_000, 10_000, 15_000, 20_000].map(|index| sorted[index]);
    let expected: String = ["0", "0.25", "0.5", "0.75", "1"]
        .iter()
        .zip(expected)
        .map(|(share, value)| format!("{share}\t{value}\n"))
        .collect();
    for arguments in ["lines", "lines.gz", "--parallel 1 lines", "--method lower lines"] {
        assert_eq!(printed(folder.path(), arguments, b"").0, expected, "{arguments}");
    }
    assert_eq!(printed(folder.path(), "", lines.as_bytes()).0, expected);
    // A line more of each, so that all are between two.
    let twice = printed(folder.path(), "-q .5,0.99 lines - lines", lines.as_bytes()).0;
    assert_eq!(twice, format!(".5\t{}\n0.99\t{}\n", sorted[10_000], sorted[19_800]));
}

#[test]
fn elements_of_arrays_are_printed_exactly() {
    let integers = [i64::MAX, i64::MIN, -1, i64::MAX - 1, 7].map(i64::to_le_bytes).concat();
    let folder = folder("i64", &integers);
    let arguments = "--type i64 --method lower -q 0,0.5,0.75,1 i64";
    let exact = format!("0\t{}\n0.5\t7\n0.75\t{}\n1\t{}\n", i64::MIN, i64::MAX - 1, i64::MAX);
    assert_eq!(printed(folder.path(), arguments, b"").0, exact);
    assert_eq!(
        printed(folder.path(), &arguments.replace("0,0.5,0.75,1 i64", "0.5"), &integers).0,
        "0.5\t7\n"
    );
    let floats = [0.1f32, 0.7, f32::INFINITY].map(f32::to_le_bytes).concat();
    fs::write(folder.path().join("f32"), &floats).unwrap();
    assert_eq!(printed(folder.path(), "--type f32 f32 -q 0,0.5,1", b"").0, "0\t0.1\n0.5\t0.7\n1\tinf\n");
    let small = [1e-300f64, 2e300, f64::NAN].map(f64::to_le_bytes).concat();
    fs::write(folder.path().join("f64"), &small).unwrap();
    assert_eq!(printed(folder.path(), "--type f64 f64 -q 0", b"").0, "0\tNaN\n");
    let only = printed(folder.path(), "--type f64 f64 -q 0,1 --skip-invalid", b"").0;
    assert_eq!(only, "0\t1e-300\n1\t2e300\n");
    let narrow = [0.1f32, 0.4].map(f32::to_le_bytes).concat();
    fs::write(folder.path().join("narrow"), narrow).unwrap();
    assert_eq!(printed(folder.path(), "--type f32 narrow -q 0,0.5,1", b"").0, "0\t0.1\n0.5\t0.25\n1\t0.4\n");
}

#[test]
fn arrays_of_numpy_are_recognised_wherever_they_are() {
    let header = b"{'descr': '>i2', 'fortran_order': False, 'shape': (2, 2), }";
    let mut array = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    array.extend(header);
    array.resize(127, b' ');
    array.push(b'\n');
    array.extend([300i16, -5, 7, 9].map(i16::to_be_bytes).concat());
    let folder = folder("x", &array);
    fs::write(folder.path().join("lines"), "1\n").unwrap();
    for (arguments, stdin) in [("x", &b""[..]), ("-", &array), ("", &array)] {
        let arguments = format!("-q 0,0.5,1 {arguments}");
        assert_eq!(printed(folder.path(), &arguments, stdin).0, "0\t-5\n0.5\t8\n1\t300\n", "{arguments}");
    }
    assert!(refused(folder.path(), "x lines", b"").contains("quantiles are those of one array"));
}

#[test]
fn lines_that_are_no_numbers_are_refused_or_left_out() {
    let folder = folder("x", b"price\n3\n\n1e1\nnan\n");
    let said = refused(folder.path(), "x", b"");
    assert!(said.ends_with("x:1: 'price' is no number; --skip-invalid leaves such lines out\n"), "{said}");
    let (values, said) = printed(folder.path(), "--skip-invalid x -q 0.5", b"");
    assert_eq!((&*values, &*said), ("0.5\t6.5\n", "sortie: 3 lines that are no numbers were left out\n"));
    assert_eq!(printed(folder.path(), "-q 0.5", b"1\nnan\n").0, "0.5\tNaN\n");
    for (arguments, stdin, expected) in [
        ("", &b""[..], "-: no numbers"),
        ("--type f32", b"", "-: no numbers"),
        ("--skip-invalid --type f32", &f32::NAN.to_le_bytes(), "-: no numbers"),
        ("-S 1M", b"1\n", "unexpected argument"),
        ("-q 2", b"1\n", "not a number from 0 to 1"),
        ("--method best", b"1\n", "choose one of inverted_cdf"),
        ("--type u8 x x", b"", "one array"),
        ("none", b"", "cannot read"),
    ] {
        let said = refused(folder.path(), arguments, stdin);
        assert!(said.contains(expected), "{arguments}: {said}");
    }
}
