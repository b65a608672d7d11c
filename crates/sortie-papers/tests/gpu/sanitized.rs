//! The sorts of one array under AddressSanitizer and UndefinedBehaviorSanitizer. Both must be loaded when a process
//! starts, so the test runs itself again with them.

use std::env;

use sortie_simt::{Options, Sanitizer, or_skip};

use crate::one_array::{SORTS, compare, skewed};
use crate::support::on_bench;

const CHILD: &str = "SORTIE_TEST_SANITIZED";

#[test]
fn child() {
    if env::var_os(CHILD).is_none() {
        return;
    }
    on_bench(Options { sanitizer: Sanitizer::Address, ..Options::default() }, |papers| {
        for n in [4000, 13_001] {
            for (name, sort) in SORTS {
                compare(papers, sort, &skewed(n), name);
            }
        }
        println!("all sorted");
    });
}

#[test]
fn nothing_is_found() {
    let Some(mut command) = or_skip(sortie_simt::address_sanitizer()) else { return };
    let arguments = ["sanitized::child", "--exact", "--nocapture"];
    let output = command.args(arguments).env(CHILD, "1").output().unwrap();
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success() && text.contains("all sorted"), "{text}");
}
