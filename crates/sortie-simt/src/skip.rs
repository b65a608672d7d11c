//! When a test on the test bench may be skipped.

use std::env;
use std::io::{self, Write};
use std::sync::Once;

use sortie_device::Error;

use crate::compiler;

/// The environment variable that says what a machine must have. Its only value is [`BENCH`].
const REQUIRE: &str = "SORTIE_REQUIRE";
const BENCH: &str = "bench";

/// What a test made on the test bench, such as a device. `None` if there is no g++: the test is to return, and standard
/// error says once that the tests of the process are skipped.
///
/// # Panics
///
/// If it could not be made for any other reason: a compiler that `CXX` names does not work, GCC is too old, or the cache
/// cannot be written. With `SORTIE_REQUIRE=bench` in the environment, also if there is no g++.
#[track_caller]
pub fn or_skip<T>(made: Result<T, Error>) -> Option<T> {
    let why = match made {
        Ok(made) => return Some(made),
        Err(why) => why,
    };
    let required = env::var_os(REQUIRE);
    if let Some(unknown) = required.as_ref().filter(|&required| required != BENCH) {
        panic!("{REQUIRE}={} is not known; the only value is {BENCH}", unknown.display());
    }
    assert!(compiler::is_missing(), "the test bench does not work: {why}");
    assert!(required.is_none(), "{REQUIRE}={BENCH}, but the test bench is not available: {why}");
    static SAID: Once = Once::new();
    // Past the test harness, which hides what a test that passes prints.
    SAID.call_once(|| _ = writeln!(io::stderr(), "skipped: all tests on the test bench: {why}"));
    None
}
