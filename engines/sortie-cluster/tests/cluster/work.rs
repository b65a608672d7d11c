//! What processes leave in the folder for temporary files: nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use crate::support::{Client, Outcome, program};
use crate::tables;

const ROWS: usize = 300_000;

/// A table to sort, and an empty folder for temporary files.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(place.temporary()).unwrap();
        tables::write(&place.input(), 4, ROWS);
        place
    }

    fn input(&self) -> PathBuf {
        self.folder.path().join("input")
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("output")
    }

    fn temporary(&self) -> PathBuf {
        self.folder.path().join("temporary")
    }

    fn program(&self) -> Command {
        let mut command = program();
        command.env("TMPDIR", self.temporary());
        command
    }

    fn sort(&self, by: &str) -> Client {
        let mut command = self.program();
        command.args(["sort", "--by", by, "--parts", "4", "--memory", "128"]).arg(self.input());
        Client::start(command.arg("-o").arg(self.output()))
    }

    fn sql(&self, statement: &str) -> Client {
        let table = format!("'{}/'", self.input().display());
        let statement = statement.replace("INPUT", &table);
        Client::start(self.program().args(["sql", &statement, "--memory", "128", "--tasks", "2"]))
    }

    fn left(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.temporary()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    fn assert_nothing_is_left(&self, outcome: &Outcome) {
        assert!(self.left().is_empty(), "{:?} after {outcome:?}", self.left());
    }
}

/// Whether a process has written rows.
fn has_rows(temporary: &Path) -> bool {
    let folders = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    folders(temporary.to_owned()).any(|work| folders(work.path().join("rows")).next().is_some())
}

#[test]
fn a_sort_that_succeeds_leaves_nothing() {
    let place = Place::new();
    let outcome = place.sort("s").outcome();
    assert!(outcome.succeeded, "{outcome:?}");
    place.assert_nothing_is_left(&outcome);
}

#[test]
fn a_sort_that_fails_leaves_nothing() {
    let place = Place::new();
    let outcome = place.sort("nothing").outcome();
    assert!(!outcome.succeeded, "{outcome:?}");
    place.assert_nothing_is_left(&outcome);
}

#[test]
fn a_query_that_succeeds_or_fails_leaves_nothing() {
    let place = Place::new();
    for (statement, succeeds) in
        [("SELECT max(s) FROM INPUT", true), ("SELECT 1 / (few - few) FROM INPUT ORDER BY s", false)]
    {
        let outcome = place.sql(statement).outcome();
        assert_eq!(outcome.succeeded, succeeds, "{outcome:?}");
        assert!(succeeds || outcome.err.contains("Divide by zero"), "{outcome:?}");
        place.assert_nothing_is_left(&outcome);
    }
}

#[test]
fn signals_leave_nothing() {
    let place = Place::new();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut client = place.sort("s, f");
        client.until(|| has_rows(&place.temporary()));
        client.signal(signal);
        let outcome = client.outcome();
        assert!(!outcome.succeeded && outcome.err.contains("interrupted"), "{signal:?}: {outcome:?}");
        assert!(!place.output().exists());
        place.assert_nothing_is_left(&outcome);

        // 9 x 10^10 rows, of which groups are spilled.
        let mut client =
            place.sql("SELECT count(*) FROM (SELECT a.s, b.i FROM INPUT a, INPUT b GROUP BY ALL)");
        client.until(|| has_rows(&place.temporary()));
        client.signal(signal);
        let outcome = client.outcome();
        assert!(!outcome.succeeded && outcome.err.contains("interrupted"), "{signal:?}: {outcome:?}");
        place.assert_nothing_is_left(&outcome);
    }
}

#[test]
fn a_hangup_that_is_ignored_stays_so() {
    let place = Place::new();
    let mut shell = Command::new("bash");
    shell.args(["-c", "trap '' HUP; exec \"$@\"", "bash", env!("CARGO_BIN_EXE_sortie-cluster")]);
    shell.args(["sort", "--by", "s"]).arg(place.input()).arg("-o").arg(place.output());
    let mut client = Client::start(shell.env("TMPDIR", place.temporary()));
    client.until(|| has_rows(&place.temporary()));
    client.signal(Signal::HUP);
    let outcome = client.outcome();
    assert!(outcome.succeeded && place.output().exists(), "{outcome:?}");
    place.assert_nothing_is_left(&outcome);
}

#[test]
fn the_next_run_deletes_what_a_killed_one_left() {
    let place = Place::new();
    let mut client = place.sort("s, f");
    client.until(|| has_rows(&place.temporary()));
    client.signal(Signal::KILL);
    client.outcome();
    assert_eq!(place.left().len(), 1);
    std::fs::remove_dir_all(place.output()).unwrap();
    let outcome = place.sort("s").outcome();
    assert!(outcome.succeeded, "{outcome:?}");
    place.assert_nothing_is_left(&outcome);
}
