//! Executors that end or are slow, disks that are full, schedulers and clients that end.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::{Client, Cluster};
use crate::tables;

const ROWS: usize = 300_000;
const BY: &str = "s, f DESC";
const PARTS: u32 = 6;

/// Sorts on two executors while something happens. Returns what the client said and whether the result is right, if there is one.
fn sort_while(happens: impl FnOnce(&mut Cluster, &mut Client, &Path)) -> (crate::support::Outcome, bool) {
    sort_on(Cluster::start(2), happens)
}

fn sort_on(
    mut cluster: Cluster,
    happens: impl FnOnce(&mut Cluster, &mut Client, &Path),
) -> (crate::support::Outcome, bool) {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    tables::write(&input, 8, ROWS);
    let mut client = cluster.sort(&input, BY, &output, PARTS);
    happens(&mut cluster, &mut client, &output);
    let outcome = client.outcome();
    let exists = if outcome.succeeded { output.exists() } else { !is_gone_soon(&output) };
    if exists {
        tables::check(&input, &output, BY);
    }
    (outcome, exists)
}

/// Whether a folder is not there, or soon is no more. A task that was finishing its part when the sort was given up deletes it
/// after the client has ended.
fn is_gone_soon(folder: &Path) -> bool {
    let deadline = Instant::now() + Duration::from_secs(20);
    while folder.exists() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
    }
    !folder.exists()
}

fn has_part(output: &Path) -> bool {
    parts(output) > 0
}

fn parts(output: &Path) -> usize {
    let files = std::fs::read_dir(output).into_iter().flatten().flatten();
    files.filter(|file| file.file_name().to_string_lossy().starts_with("part-")).count()
}

/// Kills one of two executors once something is so.
fn sort_though_one_is_killed(once: impl Fn(&Cluster, &Path) -> bool) {
    let (outcome, exists) = sort_while(|cluster, client, output| {
        client.until(|| once(cluster, output));
        cluster.executors[0].signal(Signal::KILL);
    });
    assert!(outcome.succeeded && exists, "{outcome:?}");
}

#[test]
fn an_executor_that_is_killed_while_the_sample_is_drawn() {
    sort_though_one_is_killed(|cluster, _| cluster.jobs(0).len() == 1);
}

#[test]
fn an_executor_that_is_killed_while_rows_are_distributed() {
    sort_though_one_is_killed(|cluster, _| cluster.jobs(0).len() == 2);
}

#[test]
fn an_executor_that_is_killed_while_parts_are_written() {
    sort_though_one_is_killed(|_, output| has_part(output));
}

/// What its tasks returned was lost with it, and the sort failed although all parts were written.
#[test]
fn an_executor_that_is_killed_before_its_results_are_fetched() {
    let (outcome, exists) = sort_while(|cluster, client, output| {
        client.until(|| has_part(output));
        client.signal(Signal::STOP);
        let deadline = Instant::now() + Duration::from_secs(60);
        while parts(output) < PARTS as usize && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(20));
        }
        // The scheduler hears that the last task is done.
        thread::sleep(Duration::from_secs(2));
        cluster.executors[0].signal(Signal::KILL);
        client.signal(Signal::CONT);
    });
    assert!(outcome.succeeded && exists, "{outcome:?}");
}

#[test]
fn an_executor_that_is_given_up_and_goes_on_later() {
    let (outcome, exists) = sort_while(|cluster, client, output| {
        client.until(|| has_part(output));
        cluster.executors[0].signal(Signal::STOP);
        thread::sleep(Duration::from_secs(15));
        cluster.executors[0].signal(Signal::CONT);
    });
    assert!(outcome.succeeded && exists, "{outcome:?}");
}

#[test]
fn disks_that_are_full() {
    let limited = || {
        let mut shell = Command::new("bash");
        // A file of more than 64 KiB fails then, as it does on a full disk.
        let script = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
        shell.args(["-c", script, "bash", env!("CARGO_BIN_EXE_sortie-cluster")]);
        shell
    };
    let (outcome, exists) = sort_on(Cluster::start_with(2, limited), |_, _, _| ());
    assert!(!outcome.succeeded && !exists, "{outcome:?}");
    assert!(outcome.err.contains("File too large"), "{outcome:?}");
}

#[test]
fn a_scheduler_that_is_killed() {
    let (outcome, exists) = sort_while(|cluster, client, output| {
        client.until(|| has_part(output));
        cluster.scheduler.signal(Signal::KILL);
    });
    assert!(!outcome.succeeded && !exists, "{outcome:?}");
    assert!(outcome.err.contains("the scheduler at http://127.0.0.1"), "{outcome:?}");
}

#[test]
fn a_client_that_is_interrupted() {
    let (outcome, exists) = sort_while(|_, client, output| {
        client.until(|| has_part(output));
        client.signal(Signal::INT);
    });
    assert!(!outcome.succeeded && !exists, "{outcome:?}");
    assert!(outcome.err.contains("interrupted"), "{outcome:?}");
}

#[test]
fn a_failed_sort_deletes_nothing_that_is_not_its_own() {
    let (outcome, exists) = sort_while_kept(|output| {
        std::fs::write(output.join("report.csv"), "theirs").unwrap();
        std::fs::create_dir_all(output.join("inner/deep")).unwrap();
        std::fs::write(output.join("inner/part-00000.parquet"), "theirs").unwrap();
    });
    assert!(!outcome.succeeded && outcome.err.contains("interrupted"), "{outcome:?}");
    assert_eq!(exists, ["inner", "report.csv"]);
}

/// Adds files to a folder that a sort writes to, and interrupts the sort. Returns what is in the folder then.
fn sort_while_kept(add: impl FnOnce(&Path)) -> (crate::support::Outcome, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    tables::write(&input, 8, ROWS);
    let cluster = Cluster::start(1);
    let mut client = cluster.sort(&input, BY, &output, PARTS);
    client.until(|| has_part(&output));
    add(&output);
    client.signal(Signal::INT);
    let outcome = client.outcome();
    assert_eq!(std::fs::read_to_string(output.join("inner/part-00000.parquet")).unwrap(), "theirs");
    let files =
        std::fs::read_dir(&output).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<_> = files.collect();
    files.sort();
    (outcome, files)
}

#[test]
fn an_executor_in_the_same_process_that_cannot_start() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    tables::write(&input, 1, 100);
    let file = input.join("0.parquet");
    let output = folder.path().join("output");
    let mut command = crate::support::program();
    command.args(["sort", "--by", "i"]).arg(&input).arg("-o").arg(&output).arg("--work-dir").arg(&file);
    let outcome = Client::start(&mut command).outcome();
    assert!(!outcome.succeeded && outcome.err.contains("0.parquet"), "{outcome:?}");
    assert!(!output.exists());
}
