//! Sorts that are refused, and their error messages.

use std::fs;

use crate::support::run;
use crate::tables;

#[test]
fn wrong_sorts_are_refused_and_leave_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    tables::write(&input, 1, 100);
    let (nested, hidden, twice) =
        (folder.path().join("nested"), folder.path().join("hidden"), folder.path().join("twice"));
    tables::write(&nested, 1, 100);
    tables::write(&nested.join("a=1"), 1, 100);
    tables::write(&hidden, 2, 100);
    fs::rename(hidden.join("1.parquet"), hidden.join("_1.parquet")).unwrap();
    tables::write_twice(&twice);
    let (input, output) = (input.to_str().unwrap(), folder.path().join("output"));
    let cases = [
        (vec!["--by", "zz", input], "No field named zz"),
        (vec!["--by", "i LIMIT 3", input], "more than the keys of an ORDER BY"),
        (vec!["--by", "i + 1", input], "is no column"),
        (vec!["--by", "i", "/nonexistent"], "no file whose name ends in .parquet"),
        (vec!["--by", "i", "gs://bucket/table/"], "there is no store for `gs`"),
        (vec!["--by", "i", input, "--scheduler", "localhost:1"], "there is no scheduler at localhost:1"),
        (vec!["--by", "i", input, "--scheduler", "localhost"], "is not an address"),
        (vec!["--by", "i", input, "--tasks", "0"], "0 is not in 1..=65535"),
        (vec!["--by", "i", nested.to_str().unwrap()], "is in a subfolder"),
        (vec!["--by", "i", hidden.to_str().unwrap()], "the name of an unfinished file"),
        (vec!["--by", "x", twice.to_str().unwrap()], "two columns named `x`"),
        (vec!["--by", "i", input, "--parts", "0"], "0 is not in 1..=100000"),
    ];
    for (arguments, message) in cases {
        let arguments = [vec!["sort", "-o", output.to_str().unwrap()], arguments].concat();
        let outcome = run(&arguments);
        assert!(!outcome.succeeded && outcome.err.contains(message), "{arguments:?}: {outcome:?}");
        assert!(!output.exists(), "{arguments:?}");
    }
}

#[test]
fn a_folder_that_is_not_empty_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    tables::write(&input, 1, 100);
    fs::create_dir(&output).unwrap();
    let message = |name: &str| match name {
        "_unfinished" => "is unfinished: a sort writes to it, or was killed",
        "../output.manifest.json" => "output.manifest.json is no manifest of a sort",
        _ => "is not empty",
    };
    for name in ["theirs.txt", "part-00000.parquet", "_unfinished", "../output.manifest.json"] {
        fs::write(output.join(name), "theirs").unwrap();
        let outcome = run(&["sort", "--by", "i", input.to_str().unwrap(), "-o", output.to_str().unwrap()]);
        assert!(!outcome.succeeded && outcome.err.contains(message(name)), "{outcome:?}");
        assert_eq!(fs::read_to_string(output.join(name)).unwrap(), "theirs");
        fs::remove_file(output.join(name)).unwrap();
    }
}
