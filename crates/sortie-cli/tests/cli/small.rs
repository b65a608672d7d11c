//! Small inputs, checks and merges: the results are those of GNU sort, and few resources are used.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Numbers, complaint, folder, gnu, peak, run, same, sortie, text};

/// The number of times that a program writes to its standard output. Each write arrives as a datagram.
fn writes(command: &mut Command) -> usize {
    let (ours, theirs) = UnixDatagram::pair().unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::from(OwnedFd::from(theirs)));
    assert!(command.status().unwrap().success());
    ours.set_nonblocking(true).unwrap();
    let mut buffer = vec![0; 256 << 10];
    std::iter::from_fn(|| ours.recv(&mut buffer).ok()).filter(|&bytes| bytes > 0).count()
}

#[test]
fn small_output_is_one_write() {
    let folder = folder("x", b"c\na\nb\n");
    let lines: Vec<u8> = (0..5_000).rev().flat_map(|i| format!("{i:05}\n").into_bytes()).collect();
    fs::write(folder.path().join("more"), lines).unwrap();
    for options in ["x", "-u x", "-n x", "-r more", "-m x x", "-k1n more"] {
        let count = writes(sortie(folder.path()).args(options.split(' ')));
        assert_eq!(count, 1, "{options}");
    }
}

/// Once, such input was read whole, found to need too much memory, and read again from its end: the output was empty.
#[test]
fn standard_input_that_takes_much_memory_is_sorted_too() {
    let folder = folder("x", &b"\n".repeat(1 << 20));
    let mut command = sortie(folder.path());
    // The keys take more memory than is assumed for an input of this size.
    command.args((1..=30).flat_map(|field| ["-k".to_owned(), format!("{field},{field}g")]));
    command.stdin(fs::File::open(folder.path().join("x")).unwrap());
    let done = command.output().unwrap();
    assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()));
    assert_eq!(done.stdout.len(), 1 << 20);
}

/// The exit status and the message of `-c`, without the name of the program.
fn found(mut command: Command) -> (Option<i32>, String) {
    let done = run(&mut command, b"");
    let said = text(&done.stderr);
    (done.status.code(), said.split_once(": ").map_or(String::new(), |(_, said)| said.to_owned()))
}

#[track_caller]
fn checked_alike(folder: &Path, options: &str) {
    let options: Vec<_> = options.split_whitespace().collect();
    let (mut ours, mut theirs) = (sortie(folder), gnu(folder));
    ours.args(&options);
    theirs.args(&options);
    assert_eq!(found(ours), found(theirs), "{options:?}");
}

/// Tests disorder in any block, at block boundaries, and in lines longer than a block, with and without a final
/// newline.
#[test]
fn disorder_is_found_wherever_it_is() {
    let folder = folder("x", b"");
    let sorted: Vec<String> = (0..40_000).map(|i| format!("{i:06} line {}", i % 7)).collect();
    for wrong in [None, Some(1), Some(2), Some(13_000), Some(13_797), Some(39_998), Some(39_999)] {
        let mut lines = sorted.clone();
        if let Some(place) = wrong {
            lines[place] = "000000".into();
        }
        for end in ["\n", ""] {
            fs::write(folder.path().join("x"), lines.join("\n") + end).unwrap();
            for options in ["-c", "-c -n", "-c -k2,2 -s", "-c -k3,3n -k1,1", "-c -u", "-C"] {
                checked_alike(folder.path(), &format!("{options} x"));
            }
        }
        lines.reverse();
        fs::write(folder.path().join("x"), lines.join("\n")).unwrap();
        checked_alike(folder.path(), "-c -r x");
        checked_alike(folder.path(), "-c -r -u x");
    }
}

#[test]
fn long_lines_are_checked_across_blocks() {
    let folder = folder("x", b"");
    for lengths in [[300_000, 600_000, 700_000], [1 << 20, 5, 1 << 20], [262_143, 262_144, 262_145]] {
        for firsts in ["abc", "acb", "bac", "aab", "aaa"] {
            let line = |(first, length): (char, usize)| first.to_string() + &"x".repeat(length) + "\n";
            let lines: String = firsts.chars().zip(lengths).map(line).collect();
            fs::write(folder.path().join("x"), lines).unwrap();
            for options in ["-c x", "-c -u x", "-c -r x", "-c -k1.2 x"] {
                checked_alike(folder.path(), options);
            }
        }
    }
}

#[test]
fn what_ends_early_or_late_is_checked_alike() {
    let folder = folder("x", b"");
    for text in ["", "\n", "a", "a\n", "\n\n", "b\na", "a\n\n", "a\na", "b\n\nb", "a\nb\nc"] {
        fs::write(folder.path().join("x"), text).unwrap();
        for options in ["-c x", "-c -u x", "-c -r x", "-C x", "-c -z x", "-c -n x"] {
            checked_alike(folder.path(), options);
        }
    }
}

/// Many inputs, small enough to be merged from memory, and one that is not a file.
#[test]
fn any_number_of_inputs_is_merged() {
    let folder = folder("none", b"");
    let mut numbers = Numbers::new(1);
    for count in [1, 2, 16, 17, 300] {
        let mut names = vec!["-m".to_owned()];
        for number in 0..count {
            let mut lines: Vec<String> =
                (0..numbers.below(20)).map(|_| format!("{} {}", numbers.below(99), number % 3)).collect();
            lines.sort();
            let end = if number % 4 == 0 { "" } else { "\n" };
            fs::write(folder.path().join(number.to_string()), lines.join("\n") + end).unwrap();
            names.push(number.to_string());
        }
        for options in [&[][..], &["-u"], &["-s", "-k1,1"], &["-u", "-k1,1"]] {
            let mut all = names.clone();
            all.extend(options.iter().map(|&option| option.to_owned()));
            same(folder.path(), &all, b"");
            all.push("-".into());
            same(folder.path(), &all, b"5 0\n50 1\n7 0");
        }
    }
}

/// Once, each input had a buffer of 1 MiB, all of which was touched.
#[test]
fn a_small_input_is_merged_with_a_small_buffer() {
    let folder = folder("x", b"a\nb\n");
    let mut command = sortie(folder.path());
    // Standard input is a pipe, so the inputs are not merged from memory.
    command.args(["-m", "-"]).args(["x"; 30]);
    let held = peak(&mut command, [b"a\n".to_vec()].into_iter()).unwrap();
    assert!(held < 12 << 20, "{held} bytes");
}

/// It was ignored, and the program used all instructions of the machine.
#[test]
fn an_unknown_isa_is_refused_with_the_valid_names() {
    let folder = folder("x", b"b\na\n");
    for arguments in [&["x"][..], &["-c", "x"], &["--type", "u8", "x"]] {
        let refused = run(sortie(folder.path()).args(arguments).env("SORTIE_ISA", "bogus"), b"");
        let message = complaint(&refused, 2);
        assert!(message.contains("portable, avx2 or avx512"), "{message}");
    }
    let sorted = run(sortie(folder.path()).arg("x").env("SORTIE_ISA", "portable"), b"");
    assert_eq!((sorted.status.code(), text(&sorted.stdout)), (Some(0), "a\nb\n".to_owned()));
}
