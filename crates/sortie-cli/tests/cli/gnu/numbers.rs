//! Lines that are compared by the leading part of their keys: numbers written alike and otherwise, and keys that share it.

use std::fs;

use crate::support::{Numbers, gnu, run, same};

/// More lines than one thread orders.
const LINES: usize = 20_000;

/// A text of this many lines.
fn lines(numbers: &mut Numbers, count: usize, line: impl Fn(&mut Numbers) -> String) -> Vec<u8> {
    (0..count).flat_map(|_| (line(numbers) + "\n").into_bytes()).collect()
}

fn integer(numbers: &mut Numbers) -> String {
    let size = [3, 1_000, 1 << 40][numbers.below(3)];
    format!("{}{}", ["", "", "-"][numbers.below(3)], 1 + numbers.below(size))
}

#[test]
fn numbers_written_alike_are_written_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers::new(41);
    for decimals in 0..4 {
        let text = lines(&mut numbers, LINES, |numbers| match decimals {
            0 => integer(numbers),
            _ => format!("{}.{:0decimals$}", integer(numbers), numbers.below(10usize.pow(decimals as u32))),
        });
        for options in ["-n", "-nr", "-nu", "-ns", "-nru", "-k1n", "-nb", "-rn -k1"] {
            for way in ["", "--parallel=1", "-S 64K", "-S 20M --parallel=2"] {
                same(folder.path(), &words(options, way), &text);
            }
        }
        // The last line may end without a terminator, or be written otherwise.
        for last in [
            "7",
            "-0\n",
            "007\n",
            "7.\n",
            " 7\n",
            "7x\n",
            "\n",
            "7.50000\n",
            "123456789012345678901234567890\n",
        ] {
            let text = [&text[..], last.as_bytes()].concat();
            for options in ["-n", "-nu", "-nsr"] {
                same(folder.path(), &words(options, ""), &text);
            }
        }
    }
    same(folder.path(), &["-n", "-z"], b"3\x001\x002\x001");
    for text in ["", "5", "5\n", "5\n5\n", "2\n-1\n"] {
        same(folder.path(), &["-n"], text.as_bytes());
    }
}

fn words<'a>(options: &'a str, more: &'a str) -> Vec<&'a str> {
    options.split_whitespace().chain(more.split_whitespace()).collect()
}

/// Numbers of which many agree in more digits than a code has, and lines with equal numbers.
#[test]
fn numbers_with_equal_codes_keep_gnu_sorts_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers::new(42);
    let kinds: [fn(&mut Numbers) -> String; 5] = [
        |numbers| format!("123456789012345678{}", numbers.below(100_000)),
        |numbers| format!("{}.{:020}", numbers.below(2), numbers.below(1_000)),
        |numbers| format!("{}{} {}", [" ", "0", "-"][numbers.below(3)], numbers.below(3), numbers.below(9)),
        |numbers| {
            format!("a,{}{},{}", ["", "-", "0"][numbers.below(3)], numbers.below(50), numbers.below(900))
        },
        |numbers| format!("{}.{}", integer(numbers), numbers.below(100_000)),
    ];
    for kind in kinds {
        for count in [300, LINES] {
            let text = lines(&mut numbers, count, kind);
            for options in
                ["-n", "-nr", "-ns", "-nu", "-t, -k2,2n", "-t, -k2,2nr -s", "-t, -k2n -u", "-t, -k2,2n -k3,3"]
            {
                for way in ["", "--parallel=1", "-S 64K"] {
                    same(folder.path(), &words(options, way), &text);
                }
            }
        }
    }
}

/// `-c` and `-m` compare lines by codes, of which many are equal.
#[test]
fn lines_are_checked_and_merged_as_gnu_sort_does() {
    const KEYS: &[&str] = &["", "-n", "-g", "-h", "-M", "-V", "-f", "-d", "-i", "-df", "-b"];
    const PLACES: &[&str] = &["", "-k2,2", "-t, -k2,2 -k1,1", "-k1.3"];
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers::new(43);
    let field = |numbers: &mut Numbers| match numbers.below(9) {
        0 => format!("{}{}", integer(numbers), ["", "K", "M", ".5", ".50"][numbers.below(5)]),
        1 => ["jan", "FEB", "Mar", "x"][numbers.below(4)].into(),
        2 => format!("file-{}.{}.tar.gz", numbers.below(12), numbers.below(3)),
        3 => format!("a long text that is shared-{}", numbers.below(3)),
        4 => format!("A Long Text That IS shared{}", ["", "-", "'", "\x01"][numbers.below(4)]),
        5 => format!("1.0e{}", numbers.below(3)),
        6 => "x".repeat(numbers.below(40)),
        7 => format!("0x{:x}", numbers.below(30)),
        _ => String::new(),
    };
    for (key, place) in KEYS.iter().flat_map(|key| PLACES.iter().map(move |place| (key, place))) {
        for ties in ["", "-s", "-u", "-r"] {
            let options = format!("{key} {place} {ties}");
            let mut files = [Vec::new(), Vec::new(), Vec::new()];
            for file in &mut files {
                let text = lines(&mut numbers, 200, |numbers| {
                    format!("{}{}{}", field(numbers), [" ", ",", "\t"][numbers.below(3)], field(numbers))
                });
                *file = run(gnu(folder.path()).args(words(&options, "")), &text).stdout;
            }
            let names = ["a", "b", "c"];
            names
                .iter()
                .zip(&files)
                .for_each(|(name, file)| fs::write(folder.path().join(name), file).unwrap());
            same(folder.path(), &words(&options, "-m a b c"), b"");
            same(folder.path(), &words(&options, "-m --batch-size=2 a b c"), b"");
            for text in [&files[0][..], &files.concat()] {
                same(folder.path(), &words(&options, "-c"), text);
                // Each line in the same place as another: what `-u` refuses.
                let twice: Vec<u8> =
                    text.split_inclusive(|&b| b == b'\n').flat_map(|line| [line, line].concat()).collect();
                same(folder.path(), &words(&options, "-C"), &twice);
            }
        }
    }
}
