//! The arguments and their meaning; refused arguments and the exit status.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::gnu::options as words;
use crate::support::{complaint, gnu, names, run, same, sortie, text};

/// GNU sort's long options, with a value if they take one.
const LONG: [&str; 30] = [
    "batch-size=2",
    "buffer-size=1M",
    "check",
    "compress-program=gzip",
    "debug",
    "dictionary-order",
    "field-separator=,",
    "files0-from=list",
    "general-numeric-sort",
    "help",
    "human-numeric-sort",
    "ignore-case",
    "ignore-leading-blanks",
    "ignore-nonprinting",
    "key=2",
    "merge",
    "month-sort",
    "numeric-sort",
    "output=out",
    "parallel=2",
    "random-sort",
    "random-source=seed",
    "reverse",
    "sort=month",
    "stable",
    "temporary-directory=.",
    "unique",
    "version",
    "version-sort",
    "zero-terminated",
];

/// Lines whose order differs under nearly every ordering option.
const TEXT: &[u8] =
    b"b,2 x\n B,10\0b\n-a,1e1\nfeb,9\nb,2 x\nJan,1K\n\x01a,0x11\nv10,2\nv9,3\nab,1\n2,7\n1e1,7\n9,7\n1K,7\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("list", &b"file\0file"[..]), ("file", TEXT), ("seed", &[7; 64])] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// The output and status are the same with these environment variables.
#[track_caller]
fn same_under(variables: &[(&str, &str)], folder: &Path, options: &[&str], stdin: &[u8]) {
    let done = |mut command: Command| run(command.args(options).envs(variables.iter().copied()), stdin);
    let (ours, theirs) = (done(sortie(folder)), done(gnu(folder)));
    let shown = |done: &Output| (done.status.code(), text(&done.stdout), text(&done.stderr));
    let (ours, theirs) = (shown(&ours), shown(&theirs));
    assert!((ours.0, &ours.1) == (theirs.0, &theirs.1), "{variables:?} {options:?}: {ours:?} not {theirs:?}");
}

#[test]
fn every_abbreviation_that_gnu_takes_means_the_same() {
    let folder = folder();
    for option in LONG {
        let (name, value) = option.split_once('=').map_or((option, None), |(n, v)| (n, Some(v)));
        for length in 1..=name.len() {
            let short = format!("--{}", &name[..length]);
            // An option of Sortie. GNU sort takes it for --compress-program.
            if short == "--compress" {
                continue;
            }
            let mut forms = vec![vec![short.clone()]];
            if let Some(value) = value {
                forms = vec![vec![format!("{short}={value}")], vec![short, value.into()]];
            }
            for mut form in forms {
                if name == "random-sort" {
                    form.push("--random-source=seed".into());
                } else if name == "random-source" {
                    form.push("-R".into());
                }
                // Only the text of these differs between the programs.
                let is_text = name == "help" || form[0] == "--version";
                let done = |mut command: Command| {
                    fs::write(folder.path().join("out"), "").unwrap();
                    let done = run(command.args(&form), TEXT);
                    let stdout = if is_text { String::new() } else { text(&done.stdout) };
                    (done.status.code(), stdout, fs::read(folder.path().join("out")).unwrap())
                };
                assert!(done(sortie(folder.path())) == done(gnu(folder.path())), "{form:?}");
            }
        }
    }
}

#[test]
fn every_abbreviated_word_means_the_same() {
    let folder = folder();
    let sorts = ["general-numeric", "human-numeric", "month", "numeric", "random", "version", "x", "N"];
    let checks = ["quiet", "silent", "diagnose-first", "x", "Quiet"];
    let every = [("--sort", &sorts[..]), ("--check", &checks[..])];
    for (option, words) in every {
        for word in words {
            for length in 0..=word.len() {
                let given = format!("{option}={}", &word[..length]);
                same(folder.path(), &[&given, "--random-source=seed"], TEXT);
            }
        }
    }
    let refused = run(sortie(folder.path()).arg("--sort=x"), b"");
    assert!(complaint(&refused, 1).contains("'x' for '--sort <WORD>'"));
}

#[test]
fn an_ambiguous_abbreviation_is_answered_with_all_that_it_may_be() {
    let folder = folder();
    let said = |option: &str| complaint(&run(sortie(folder.path()).arg(option), b""), 2);
    let line = "sortie: '--ran' is ambiguous; it may be --random-sort, --random-source; see --help\n";
    assert_eq!(said("--ran"), line);
    for (option, names) in [
        ("--s", &["--sort", "--stable", "--stats"][..]),
        ("--d=x", &["--debug", "--dictionary-order", "--dedup", "--delimiter"]),
    ] {
        let line = said(option);
        assert!(names.iter().all(|name| line.contains(name)), "{line}");
    }
    // Options for tables make no abbreviation of GNU sort ambiguous, and `--unique` still takes no value.
    for option in [
        "--v",
        "--ve",
        "--ver",
        "--verb=1",
        "--unique=x",
        "--uniq=",
        "-v",
        "-uv",
        "--header=1",
        "--str",
        "--no",
    ] {
        let status = |mut command: Command| run(command.arg(option), TEXT).status.code();
        assert_eq!(
            (status(sortie(folder.path())), status(gnu(folder.path()))),
            (Some(2), Some(2)),
            "{option}"
        );
    }
    // Options that only Sortie has can also be abbreviated, if no option of GNU sort has that abbreviation.
    let done = run(sortie(folder.path()).args(["--ax=0", "--ty=u8", "--des"]), b"abc");
    assert!(complaint(&done, 2).contains("--axis"));
    let done = run(sortie(folder.path()).args(["--ty=u8", "--des"]), b"abc");
    assert_eq!(text(&done.stdout), "cba");
}

#[test]
fn obsolete_keys() {
    let folder = folder();
    let versions = ["", "199209", "200112", "200809", " 200112"];
    for key in [
        "+1",
        "+1 -2",
        "+1.2n -3.4",
        "+0.1 -0.2",
        "+1 -1",
        "+1 -0",
        "+1 -2.0",
        "+1 -1.0b",
        "+1b -2.1b",
        "+1nr",
        "-n +1",
        "+1 -n -2",
        "-1",
        "+1 -2 -3",
        "+1 -2x",
        "+1 -2.",
        "+1 -2.x",
        "+1x",
        "+",
        "+.1",
        "+1.",
        "+x",
        "+1,2",
        "++1",
        "+0",
        "+0f",
        "+1 +0 -1",
        "+1 -2 +0",
        "-k1,1 +1",
        "+1 -2 -k1r",
        "-r +1 -u",
        "-- +1",
        "+1 --",
        "file +1",
        "file +1 -2",
        "-t, +1 -2",
        "+1n -2 -s",
    ] {
        for version in versions {
            for more in [&[][..], &[("POSIXLY_CORRECT", "1")]] {
                let variables = [&[("_POSIX2_VERSION", version)], more].concat();
                same_under(&variables, folder.path(), &words(&[key]), TEXT);
                same_under(&variables, folder.path(), &words(&[key, "file -r"]), TEXT);
            }
        }
    }
}

#[test]
fn obsolete_sizes_are_ignored() {
    let folder = folder();
    for options in ["-y", "-y0", "-yn", "-y 5", "-y file", "-ny3", "-yr -n", "-y 5n", "-y --", "-y -n"] {
        same(folder.path(), &words(&[options]), TEXT);
    }
    same(folder.path(), &["-y", ""], TEXT);
}

#[test]
fn files_end_the_options_where_posix_says_so() {
    let folder = folder();
    let posix = [("POSIXLY_CORRECT", "")];
    for options in [
        "file -r",
        "-r file",
        "-- file -r",
        "-r -- file -- file",
        "file -o out",
        "file -oout -r",
        "file -o",
        "-c file -o out",
        "file -n -o out",
        "- -r",
        "file -o out -o out",
        "file --reverse",
        "file -o out file",
        "+1 file -r",
        "+1 +x -r",
    ] {
        for version in ["200809", "200112"] {
            let variables = [&posix[..], &[("_POSIX2_VERSION", version)]].concat();
            for set in [&variables[..], &variables[1..]] {
                let _ = fs::remove_file(folder.path().join("out"));
                same_under(set, folder.path(), &words(&[options]), TEXT);
            }
        }
    }
}

#[test]
fn statuses() {
    let folder = folder();
    fs::create_dir(folder.path().join("dir")).unwrap();
    fs::write(folder.path().join("sorted"), "a\nb\n").unwrap();
    for options in [
        "--frob",
        "--frob=x",
        "-Z",
        "-n1",
        "-n-",
        "-n=x",
        "---",
        "--=x",
        "-k",
        "-nk",
        "-t",
        "--key",
        "--sort",
        "--sort=x --frob",
        "--frob --sort=x",
        "--reverse=x",
        "--help=x",
        "--version=1",
        "-k0",
        "-kx",
        "-kx --help",
        "-k1,0",
        "-k1.0",
        "-k1,1.0",
        "-k1n,2z",
        "-t ab",
        "--parallel=0",
        "--parallel=x",
        "-S5x",
        "-Sx",
        "--batch-size=1",
        "-nM",
        "-k1nM",
        "-n --sort=month",
        "-nn --sort=num",
        "-dn",
        "-fn",
        "-in",
        "-Rn",
        "-gh",
        "-c -C",
        "--check --check=quiet",
        "--check --check",
        "--check=quiet -C",
        "-C --check=silent",
        "-cC",
        "--check=x",
        "-c file",
        "-C file",
        "-c sorted",
        "-c file file",
        "-C sorted file",
        "-c - file",
        "-cu sorted",
        "-co out",
        "-C -o out",
        "-c --debug",
        "-C --debug",
        "--debug -o out",
        "none",
        "none file",
        "-c none",
        "-m none file",
        "dir",
        "-m dir",
        "-c dir",
        "file -o dir",
        "file -o dir/",
        "file -o none/out",
        "file -T none",
        "file -o out -k1",
        "-m",
        "-m -",
        "-m sorted -",
        "-mc sorted",
        "-mC file",
        "-mu sorted sorted",
        "--random-source=none",
        "-R --random-source=none",
        "-R --random-source=list",
        "--compress-program=none",
        "--files0-from=none",
        "--files0-from=dir",
        "--files0-from=list file",
        "--files0-from=list -",
        "--files0-from=list --files0-from=none",
        "-c --files0-from=list",
        "--files0-from=list -o out",
    ] {
        same(folder.path(), &words(&[options]), TEXT);
    }
    for options in [["-t", ""], ["-k", ""], ["-o", ""], ["-S", ""], ["", "file"]] {
        same(folder.path(), &options, TEXT);
    }
}

#[test]
fn a_batch_is_of_as_many_inputs_as_may_be_open() {
    let folder = folder();
    let limited = |limit: usize, program: &str, size: &str| {
        let script = format!("ulimit -n {limit} && exec {program} --batch-size={size} file");
        run(Command::new("sh").args(["-c", &script]).current_dir(folder.path()).env("LC_ALL", "C"), b"")
    };
    let ours = format!("{} sort", env!("CARGO_BIN_EXE_sortie"));
    for size in ["16", "17", "20", "99999999999999999999999", "18446744073709551615", "1", "0", "x"] {
        let (ours, theirs) = (limited(19, &ours, size), limited(19, "sort", size));
        assert_eq!(ours.status.code(), theirs.status.code(), "{size}: {}", text(&ours.stderr));
    }
    let line = complaint(&limited(19, &ours, "20"), 2);
    assert!(line.contains("at most 16 inputs can be open, of 19 files in all"), "{line}");
}

#[test]
fn numbers_in_options() {
    let folder = tempfile::tempdir().unwrap();
    for key in [
        "+1",
        " 1",
        "1,+1",
        "1, 1",
        "1.+1",
        "1. 1",
        " +2",
        "+ 2",
        "2 ",
        "2 ,2",
        "++1",
        "\t\n\x0B\x0C\r+2",
        "+0",
        "1,",
    ] {
        same(folder.path(), &["-k", key], b"a b\nb a\n");
    }
    for size in [
        "+1M",
        " 1M",
        "K",
        "E",
        "1 M",
        "+ 1M",
        "+K",
        " K",
        "",
        "b",
        "%",
        "+5%",
        "-1M",
        "1E",
        "16E",
        "10%",
        "1000%",
        "1b",
        "18446744073709551615b",
        "1B",
        "1KB",
        "1KiB",
        "1g",
        "1t",
        "1p",
        "1Y",
        "0x10",
        "1.5M",
        "0",
    ] {
        same(folder.path(), &["-S", size], b"b\na\n");
    }
    for count in ["+2", " 2", "2 ", "", "0", "-1", "1K", "++2", " +2"] {
        same(folder.path(), &[format!("--parallel={count}")], b"b\na\n");
        same(folder.path(), &[format!("--batch-size={count}")], b"b\na\n");
    }
    same(folder.path(), &["--batch-size=1"], b"b\na\n");
}

#[test]
fn options_that_contradict_themselves() {
    let folder = tempfile::tempdir().unwrap();
    for text in [
        "-t a -t b",
        "-ta -ta",
        "-t a -t \\0",
        "-o one -o two",
        "-o one -o one",
        "--compress-program=a --compress-program=b",
        "--compress-program=a --compress-program=a",
        "--random-source=a --random-source=b",
        "--random-source=a --random-source=a",
        "-S 1M -S 2M",
        "--parallel=1 --parallel=2",
        "--batch-size=2 --batch-size=3",
    ] {
        same(folder.path(), &words(&[text]), b"b\na\n");
    }
    assert_eq!(names(folder.path()), ["one"]);
    let refused = run(sortie(folder.path()).args(["-o", "one", "-o", "two"]), b"");
    let line = "sortie: multiple output files specified; give the option once\n";
    assert_eq!(complaint(&refused, 2), line);
}
