//! `sortie sort --record-size`, compared with the standard library's stable sort.

use std::cmp::Ordering;
use std::fs;

use crate::support::{Numbers, complaint, folder, names, run, sortie, text};

/// The start and the end of a key.
type Span = (usize, usize);

/// Records whose keys are often equal. The last bytes make them distinct.
fn records(count: usize, size: usize, seed: u64) -> Vec<u8> {
    let mut numbers = Numbers::new(seed);
    let mut all = vec![0; count * size];
    for (number, record) in all.chunks_exact_mut(size).enumerate() {
        record.iter_mut().for_each(|byte| *byte = numbers.below(3) as u8 * 100);
        if size > 8 {
            record[size - 4..].copy_from_slice(&(number as u32).to_be_bytes());
        }
    }
    all
}

fn compare(a: &[u8], b: &[u8], keys: &[Span]) -> Ordering {
    if keys.is_empty() {
        return a.cmp(b);
    }
    keys.iter()
        .map(|&(from, to)| a[from..to].cmp(&b[from..to]))
        .find(|o| o.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn sorted(all: &[u8], size: usize, keys: &[Span], options: &str) -> Vec<u8> {
    let mut records: Vec<&[u8]> = all.chunks_exact(size).collect();
    let given = |letter| {
        options
            .split(' ')
            .any(|word| !word.starts_with("--") && word.starts_with('-') && word.contains(letter))
    };
    match given('r') {
        true => records.sort_by(|a, b| compare(b, a, keys)),
        false => records.sort_by(|a, b| compare(a, b, keys)),
    }
    if given('u') {
        records.dedup_by(|later, first| compare(first, later, keys).is_eq());
    }
    records.concat()
}

#[test]
fn records_agree_with_a_plain_sort() {
    for (size, keys) in [
        (1, &[][..]),
        (3, &[]),
        (8, &[]),
        (9, &[(0, 2)]),
        (16, &[(4, 12)]),
        (16, &[]),
        (37, &[(1, 31)]),
        (100, &[(0, 10)]),
        (100, &[(90, 91), (3, 8)]),
        (100, &[(50, 60), (20, 35), (0, 1)]),
        (5000, &[(0, 4), (4900, 4990)]),
    ] {
        let all = records(150_000 / size, size, size as u64);
        let folder = folder("in", &all);
        let parts: Vec<String> = keys.iter().map(|(from, to)| format!("--key {from}..{to}")).collect();
        let record = format!("--record-size {size} {}", parts.join(" "));
        for options in ["", "-r", "-u", "-ru", "-s"] {
            let expected = sorted(&all, size, keys, options);
            for limits in ["", "-S 64K", "-S 64K --batch-size 2 --parallel 3", "-S 17M"] {
                let options = format!("{record} {options} {limits}");
                let done = run(sortie(folder.path()).args(options.split_whitespace()), &all);
                assert_eq!(text(&done.stderr), "", "{options}");
                assert!(done.stdout == expected, "{options}");
                let from_file = format!("{options} in -o out -T .");
                let done = run(sortie(folder.path()).args(from_file.split_whitespace()), b"");
                assert_eq!(text(&done.stderr), "", "{options}");
                assert!(fs::read(folder.path().join("out")).unwrap() == expected, "{options}");
                assert_eq!(names(folder.path()), ["in", "out"]);
            }
        }
    }
}

/// More data than a shared budget. Stretches are read, sorted and written at the same time, and so are windows.
#[test]
fn records_agree_where_steps_overlap() {
    for (keys, options) in
        [(vec![(0, 10)], ""), (vec![(0, 3)], "-u"), (vec![(20, 40), (0, 5)], "-r --compress-program gzip")]
    {
        let all = records(300_000, 100, 5);
        let folder = folder("in", &all);
        let parts: Vec<String> = keys.iter().map(|(from, to)| format!("--key {from}..{to}")).collect();
        let options = format!("--record-size 100 {} {options} -S 16M --parallel 2", parts.join(" "));
        let done = run(sortie(folder.path()).args(options.split_whitespace()).args(["in", "-o", "in"]), b"");
        assert_eq!(text(&done.stderr), "", "{options}");
        assert!(
            fs::read(folder.path().join("in")).unwrap() == sorted(&all, 100, &keys, &options),
            "{options}"
        );
    }
}

#[test]
fn several_files_are_sorted_together() {
    let all = records(1000, 12, 6);
    let folder = folder("one", &all[..1200]);
    fs::write(folder.path().join("two"), &all[1200..]).unwrap();
    fs::write(folder.path().join("list"), "one\0two\0").unwrap();
    for files in [&["one", "two"][..], &["--files0-from=list"]] {
        let done = run(sortie(folder.path()).args(["--record-size=12", "-k0..2"]).args(files), b"");
        assert!(done.stdout == sorted(&all, 12, &[(0, 2)], ""), "{files:?}");
    }
    let none = run(sortie(folder.path()).arg("--record-size=12"), b"");
    assert_eq!((none.status.code(), none.stdout, text(&none.stderr)), (Some(0), Vec::new(), String::new()));
}

#[test]
fn order_is_checked() {
    let all = records(100_000, 100, 7);
    let right = sorted(&all, 100, &[(0, 10)], "");
    let mut wrong = right.clone();
    wrong[99_999 * 100] = 0;
    let folder = folder("right", &right);
    fs::write(folder.path().join("wrong"), &wrong).unwrap();
    let check = |options: &str| {
        let command = &mut sortie(folder.path());
        run(command.args(["--record-size=100", "--key=0..10"]).args(options.split_whitespace()), b"")
    };
    assert_eq!(check("-c right").status.code(), Some(0));
    assert_eq!(complaint(&check("-c wrong"), 1), "sortie: wrong:100000: disorder: record 100000\n");
    assert_eq!((check("-C wrong").status.code(), check("-C wrong").stderr), (Some(1), Vec::new()));
    assert_eq!(check("-cu right").status.code(), Some(1));
    assert_eq!(check("-cr right").status.code(), Some(1));
}

#[test]
fn refusals_are_one_clear_line() {
    const KEY: &str = "a key of records is A..B, such as 0..10: from byte A, counted from 0, up to but not including byte B";
    let folder = folder("in", &[b'x'; 1050]);
    fs::write(folder.path().join("out"), "old").unwrap();
    for (options, said) in [
        (
            "--record-size 100",
            "in: 1050 bytes are not a multiple of 100, the size of a record; the file is cut short, or --record-size \
             is wrong",
        ),
        ("--record-size 100 --key 95..101", "--key 95..101 ends beyond the 100 bytes of a record"),
        ("--record-size 100 -k1,2", KEY),
        ("--record-size 64 --key 0-4", KEY),
        ("--record-size 64 --key 0", KEY),
        ("--record-size 10 --key 5..5", KEY),
        ("--record-size 10 --key -1..2", KEY),
        ("--record-size 10 --key 18446744073709551615..18446744073709551616", KEY),
        ("--key 0..10", "a key A..B is for records of one length; give --record-size too"),
        (
            "--record-size 10 -n",
            "--numeric-sort is for lines and tables; it cannot be used with --record-size",
        ),
        ("--record-size 10 -z", "--zero-terminated is for lines; it cannot be used with --record-size"),
        (
            "--record-size 10 -m",
            "--merge is for lines, alignments, variants, features and tables; it cannot be used with --record-size",
        ),
        ("--record-size 10 --type u8", "--type is for arrays; it cannot be used with --record-size"),
        ("--record-size 10 -c", "options '-co' are incompatible"),
        ("--record-size 10 absent", "cannot read: absent: No such file or directory"),
    ] {
        for limit in ["", "-S 64K"] {
            let options = format!("{options} {limit} in -o out");
            let done = run(sortie(folder.path()).args(options.split_whitespace()), b"");
            assert_eq!(complaint(&done, 2), format!("sortie: {said}\n"), "{options}");
        }
    }
    for options in ["--record-size 0", "--record-size 2G", "--record-size -1", "--key 0-4", "--key 4..0"] {
        complaint(
            &run(sortie(folder.path()).args(options.split_whitespace()).args(["in", "-o", "out"]), b""),
            2,
        );
    }
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "old");
}
