//! `--debug`: marks the part of a line that is compared, and warns about questionable options.

use crate::gnu::options as words;
use crate::support::{Numbers, gnu, run, same, sortie, text};

/// Phrases in GNU sort's warnings, and the corresponding phrases in ours.
const SAME: [(&str, &str); 13] = [
    ("simple byte comparison", "compared by their bytes"),
    ("obsolescent key", "is an obsolete form"),
    ("has zero width", "ends before it starts"),
    ("leading blanks are significant", "blanks before its field"),
    ("is numeric and spans", "is a number, and does not end"),
    ("treated as a decimal point", "is also the decimal point of a number"),
    ("treated as a minus sign", "is also a minus sign of a number"),
    ("treated as a plus sign", "is also a plus sign of a number"),
    ("as a decimal point in this locale", "the decimal point of numbers is '.'"),
    ("option '-r' only applies", "-r reverses only"),
    ("are ignored", "has no effect"),
    ("is ignored", "has no effect"),
    ("only applies to last-resort", "reverses only lines whose keys are equal"),
];

#[test]
fn annotations() {
    let folder = tempfile::tempdir().unwrap();
    let text = Numbers::new(4).lines(100);
    for order in [
        "",
        "-n",
        "-g",
        "-h",
        "-M",
        "-V",
        "-f",
        "-k2,2n -k1",
        "-t: -k2",
        "-bk2",
        "-su -k1,1",
        "-z",
        "-S 1b",
        "+1 -2",
    ] {
        same(folder.path(), &words(&["--debug", order]), &text);
    }
    // Lines in temporary files are marked once, when they are merged.
    same(folder.path(), &words(&["--debug", "-n", "-S 64K"]), &Numbers::new(5).lines(20_000));
}

#[test]
fn warnings() {
    let keys = [
        "-k1",
        "-k1,1",
        "-k2",
        "-k2,1",
        "-k2b",
        "-k2b,2",
        "-k2b,2b",
        "-k1.2",
        "-k1.2,1.3",
        "-k2,2.3",
        "-k2b,2.3",
        "-k2.2n,2",
        "-k1n",
        "-k1,1n",
        "-k2,3g",
        "-k1g,1",
        "-k1h,2",
        "-k1M",
        "-k2M,2.1",
        "-k1,1V",
        "-k1R",
        "-k2d",
        "-k1i",
        "-k1di",
        "-k1f",
        "-k1r",
        "-k1b",
        "+1",
        "+1 -2",
        "+0.3",
        "+1.2n -3.4",
        "+1 -0.2",
        "+2b -1",
    ];
    let global =
        ["", "-r", "-b", "-n", "-g", "-h", "-M", "-V", "-R", "-d", "-i", "-f", "-bdf", "-rb", "-nr", "-fV"];
    let others = ["", "-s", "-u", "-t,", "-t.", "-t-", "-t+", "-t. -s"];
    let mut numbers = Numbers::new(6);
    for _ in 0..300 {
        let mut pick = |of: &[&'static str]| of[numbers.below(of.len())];
        let mut line = words(&["--debug --random-source=/bin/sh", pick(&global), pick(&others)]);
        for _ in 0..3 {
            line.extend(words(&[pick(&[&keys[..], &[""; 20]].concat())]));
        }
        warned_alike(&line);
    }
}

/// Both programs give the same warnings in the same order, about the same keys and options.
#[track_caller]
fn warned_alike(options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let done = |mut command: std::process::Command| run(command.args(options), b"a 1\n");
    let (ours, theirs) = (done(sortie(folder.path())), done(gnu(folder.path())));
    let (said, expected) = (text(&ours.stderr), text(&theirs.stderr));
    assert_eq!(ours.status.code(), theirs.status.code(), "{options:?}: {said}");
    if !theirs.status.success() {
        return;
    }
    assert_eq!(said.lines().count(), expected.lines().count(), "{options:?}: {said}{expected}");
    for (said, expected) in said.lines().zip(expected.lines()) {
        let known = SAME.iter().find(|(theirs, _)| expected.contains(theirs));
        let (_, words) = known.unwrap_or_else(|| panic!("GNU sort says what is not known here: {expected}"));
        assert!(said.starts_with("sortie: ") && said.contains(words), "{options:?}: {said}: {expected}");
        // Finds `key 2` or `-bdf`.
        let number =
            |line: &str| line.split_once("key ").and_then(|(_, rest)| rest.chars().next()?.to_digit(10));
        let letters = expected.split_once("'-").and_then(|(_, rest)| rest.split_once('\''));
        match letters {
            Some((letters, end)) if end.contains("ignored") => {
                assert!(said.contains(&format!("-{letters} has")), "{options:?}: {said}: {expected}");
            }
            _ if number(expected).is_some() => assert_eq!(number(said), number(expected), "{options:?}"),
            _ => {}
        }
    }
}

#[test]
fn an_obsolete_key_is_shown_as_it_is_written_now() {
    let folder = tempfile::tempdir().unwrap();
    let done = run(sortie(folder.path()).args(["--debug", "-k1,1n", "+1.2r", "-3.4b"]), b"a 1\n");
    let line = "sortie: key 2: '+1.2r -3.4b' is an obsolete form; write -k 2.3r,4.4b\n";
    assert!(text(&done.stderr).contains(line), "{}", text(&done.stderr));
}
