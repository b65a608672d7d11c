//! The error message if there is no compiler, and whether tests are then skipped. A process chooses its compiler only
//! once, so each test runs this program again in another environment.

use std::env;
use std::fs;
use std::process::{Command, Output};

use sortie_device::Error;
use sortie_simt::{Options, or_skip};

const CHILD: &str = "SORTIE_SIMT_NO_COMPILER";

#[test]
fn child() {
    if env::var_os(CHILD).is_none() {
        return;
    }
    let error = sortie_simt::device(Options::default()).unwrap_err();
    assert!(matches!(error, Error::NoCompiler { .. }), "{error:?}");
    println!("said: {error}");
}

#[test]
fn without_gcc_the_error_says_what_to_install() {
    let output = Command::new(env::current_exe().unwrap())
        .args(["child", "--exact", "--nocapture"])
        .env(CHILD, "1")
        .env("CXX", "/nowhere/g++")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("said: ") && text.contains("/nowhere/g++") && text.contains("install"), "{text}");
}

const SKIPS: &str = "SORTIE_SIMT_SKIPS";

/// A test on the test bench.
#[test]
fn child_that_may_be_skipped() {
    if env::var_os(SKIPS).is_some() {
        let Some(_device) = or_skip(sortie_simt::device(Options::default())) else { return };
        panic!("it ran");
    }
}

/// Whether the test passes in this environment, and all that is printed without `--nocapture`. On this path there is no
/// compiler.
fn test_in(environment: &[(&str, &str)]) -> (bool, String) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["child_that_may_be_skipped", "--exact"]).env(SKIPS, "1").env("PATH", "/nowhere");
    command.env_remove("CXX").env_remove("SORTIE_REQUIRE").envs(environment.iter().copied());
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.success(), [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat())
}

#[test]
fn without_gcc_tests_are_skipped_and_say_so() {
    for environment in [&[][..], &[("CXX", "/nowhere/clang++")]] {
        let (passed, text) = test_in(environment);
        assert!(passed && text.contains("skipped: ") && text.contains("install"), "{text}");
    }
}

#[test]
fn what_is_required_is_never_skipped() {
    for (value, words) in [("bench", "SORTIE_REQUIRE=bench, but"), ("bnech", "the only value is bench")] {
        let (passed, text) = test_in(&[("SORTIE_REQUIRE", value)]);
        assert!(!passed && text.contains(words), "{text}");
    }
}

/// Every failure of the test bench was a hidden "skipped".
#[test]
fn a_test_bench_that_does_not_work_fails_the_test() {
    let path = env::var("PATH").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    for (environment, words) in [
        (&[("CXX", "/nowhere/g++")][..], "/nowhere/g++"),
        (&[("PATH", &path), ("CXX", "/bin/false-g++")], "/bin/false-g++"),
        // Nothing can be written below a file.
        (&[("PATH", &path), ("SORTIE_CACHE", file), ("TMPDIR", file)], "cannot be written"),
    ] {
        let (passed, text) = test_in(environment);
        assert!(!passed && text.contains("does not work") && text.contains(words), "{text}");
    }
    let (passed, text) = test_in(&[("PATH", &path)]);
    assert!(!passed && text.contains("it ran"), "{text}");
}
