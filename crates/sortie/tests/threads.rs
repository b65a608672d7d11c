//! Sorts if the system refuses every thread, in a process of its own.
#![cfg(target_os = "linux")]

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;

use rustix::process::{Resource, Rlimit, setrlimit};
use sortie::{Error, Segments, Sorter};

/// Enough for several threads.
const N: usize = 300_000;

/// An environment variable that tells a process that it is the one that is refused threads.
const WITHIN: &str = "SORTIE_TEST_REFUSED";

/// Makes the system refuse all threads from here on; returns whether it does. A process of root is never refused one.
fn refuse_threads() -> bool {
    let none = Rlimit { current: Some(1), maximum: Some(1) };
    setrlimit(Resource::Nproc, none).unwrap();
    thread::Builder::new().spawn(|| ()).is_err()
}

fn numbers() -> Vec<u64> {
    (0..N as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect()
}

/// They once panicked because rayon's global pool could not be started.
#[test]
fn free_functions_sort_without_threads() {
    if std::env::var_os(WITHIN).is_some() {
        return if refuse_threads() {
            sort_without_threads()
        } else {
            println!("skipped: threads are not refused")
        };
    }
    let mut within = Command::new(std::env::current_exe().unwrap());
    within.args(["--exact", "free_functions_sort_without_threads", "--nocapture"]).env(WITHIN, "1");
    if rustix::process::geteuid().is_root() {
        // A user that has no other process.
        within.uid(54_321);
    }
    match within.output() {
        Ok(output) => {
            print!("{}", String::from_utf8_lossy(&output.stdout));
            assert!(output.status.success(), "{output:?}");
        }
        Err(error) => println!("skipped: another user cannot run this: {error}"),
    }
}

fn sort_without_threads() {
    let numbers = numbers();
    let mut indices: Vec<usize> = (0..N).collect();
    indices.sort_by_key(|&index| numbers[index]);
    let sorted: Vec<u64> = indices.iter().map(|&index| numbers[index]).collect();
    let texts: Vec<String> = numbers.iter().map(|number| format!("{number:020}")).collect();
    let sorted_texts: Vec<String> = sorted.iter().map(|number| format!("{number:020}")).collect();

    let mut keys = numbers.clone();
    sortie::sort(&mut keys);
    assert!(keys == sorted);
    let (mut keys, mut payload) = (numbers.clone(), (0..N).collect::<Vec<_>>());
    sortie::sort_pairs(&mut keys, &mut payload);
    assert!(keys == sorted && payload == indices);
    assert!(sortie::argsort(&numbers) == indices);
    let mut keys = numbers.clone();
    sortie::sort_segments(&mut keys, Segments::Length(N / 10));
    assert!(keys.chunks(N / 10).all(|segment| segment.is_sorted()));
    let mut keys = numbers.clone();
    sortie::sort_by_key(&mut keys, |&number| number);
    assert!(keys == sorted);
    let mut keys = numbers.clone();
    sortie::sort_by_cached_key(&mut keys, |&number| number);
    assert!(keys == sorted);
    let mut keys = numbers.clone();
    sortie::sort_by(&mut keys, Ord::cmp);
    assert!(keys == sorted);
    let mut strings = texts.clone();
    sortie::sort_strings(&mut strings);
    assert!(strings == sorted_texts);
    let (mut offsets, mut bytes) =
        ((0..=N as u32).map(|i| 20 * i).collect::<Vec<_>>(), texts.concat().into_bytes());
    sortie::sort_string_array(&mut offsets, &mut bytes);
    assert!(bytes == sorted_texts.concat().into_bytes());

    let mut keys = numbers.clone();
    Sorter::builder().build().unwrap().sort(&mut keys).unwrap();
    assert!(keys == sorted);
    let refused = Sorter::builder().threads(2).build();
    assert!(matches!(refused, Err(Error::Threads { threads: 2, .. })), "{refused:?}");
    println!("sorted without threads");
}
