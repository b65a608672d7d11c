//! What tests of the order of lines compare with.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Once;
use std::thread;

/// The output of `LC_ALL=C sort`, with these options between blanks, for `input`.
///
/// # Panics
///
/// If the machine has another sort than GNU's, or if that fails.
pub fn gnu_sort(options: &str, input: &[u8]) -> Vec<u8> {
    static IS_GNU: Once = Once::new();
    IS_GNU.call_once(|| {
        let version = Command::new("sort").arg("--version").output().expect("there is a sort").stdout;
        assert!(String::from_utf8_lossy(&version).contains("GNU coreutils"), "these tests need GNU sort");
    });
    let mut sort = Command::new("sort");
    sort.env("LC_ALL", "C").args(options.split_whitespace());
    let piped = sort.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = piped.spawn().expect("there is a sort");
    let mut stdin = child.stdin.take().expect("it is piped");
    let output = thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input).expect("sort reads all"));
        child.wait_with_output().expect("sort ends")
    });
    assert!(output.status.success(), "sort {options}");
    output.stdout
}
