//! The error message if there is no compiler. A process chooses its compiler only once, so the test runs itself again
//! with another environment.

use std::env;
use std::process::Command;

use sortie_device::Error;
use sortie_simt::Options;

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
