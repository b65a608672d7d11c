//! `sortie sort --format prefixed`, compared with the standard library's stable sort.

use std::fs;

use crate::support::{Numbers, complaint, folder, names, run, sortie, text};

/// Records of few letters, so that many are equal or prefixes of others.
fn records(count: usize) -> Vec<Vec<u8>> {
    let mut numbers = Numbers::new(8);
    (0..count)
        .map(|_| {
            let length = numbers.below(12);
            (0..length).map(|_| numbers.below(3) as u8 * 100).collect()
        })
        .collect()
}

fn prefixed(records: &[Vec<u8>]) -> Vec<u8> {
    let each = |record: &Vec<u8>| [&(record.len() as u32).to_le_bytes()[..], record].concat();
    records.iter().flat_map(each).collect()
}

#[test]
fn prefixed_records_agree_with_a_plain_sort() {
    let unsorted = records(60_000);
    let all = prefixed(&unsorted);
    let folder = folder("in", &all);
    for options in ["", "-r", "-u", "-ru", "-s"] {
        let mut expected = unsorted.clone();
        expected.sort();
        if options.contains('r') {
            expected.reverse();
        }
        if options.contains('u') {
            expected.dedup();
        }
        let expected = prefixed(&expected);
        for limits in ["", "-S 64K", "-S 64K --batch-size 2 --parallel 3", "-S 17M"] {
            let options = format!("--format prefixed {options} {limits}");
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

#[test]
fn prefixed_records_are_checked() {
    let mut sorted = records(50_000);
    sorted.sort();
    sorted.dedup();
    let folder = folder("right", &prefixed(&sorted));
    let last = sorted.len();
    sorted.push(b"".to_vec());
    fs::write(folder.path().join("wrong"), prefixed(&sorted)).unwrap();
    sorted[last] = sorted[last - 1].clone();
    fs::write(folder.path().join("equal"), prefixed(&sorted)).unwrap();
    let check = |options: &str| {
        run(sortie(folder.path()).args(["--format=prefixed"]).args(options.split_whitespace()), b"")
    };
    for right in ["-c right", "-cu right", "-c equal", "-c --stats=json right"] {
        assert_eq!(check(right).status.code(), Some(0), "{right}");
    }
    let number = last + 1;
    let said = |name: &str| format!("sortie: {name}:{number}: disorder: record {number}\n");
    assert_eq!(complaint(&check("-c wrong"), 1), said("wrong"));
    assert_eq!(complaint(&check("-cu equal"), 1), said("equal"));
    assert_eq!(complaint(&check("-cr right"), 1), "sortie: right:2: disorder: record 2\n");
    assert_eq!((check("-C wrong").status.code(), check("-C wrong").stderr), (Some(1), Vec::new()));
}

#[test]
fn what_prefixed_records_do_not_have_is_refused() {
    let folder = folder("in", &[3, 0, 0, 0, b'a', b'b']);
    fs::write(folder.path().join("out"), "old").unwrap();
    for (options, said) in [
        ("", "in: the last item is cut short"),
        (
            "-k1",
            "--key is for lines, records of one length and tables; it cannot be used with --format prefixed",
        ),
        ("-n", "--numeric-sort is for lines and tables; it cannot be used with --format prefixed"),
        (
            "-m",
            "--merge is for lines, alignments, variants, features and tables; it cannot be used with --format prefixed",
        ),
        (
            "--by name",
            "--by is for FASTA or FASTQ records, alignments, variants, features and tables; it cannot be used with --format prefixed",
        ),
        (
            "--engine cpu",
            "--engine is for lines, arrays, FASTA or FASTQ records and records of one length; it cannot be used with \
             --format prefixed",
        ),
        ("-c", "options '-co' are incompatible"),
    ] {
        let options = format!("--format prefixed {options} in -o out");
        let done = run(sortie(folder.path()).args(options.split_whitespace()), b"");
        assert_eq!(complaint(&done, 2), format!("sortie: {said}\n"), "{options}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "old");
}
