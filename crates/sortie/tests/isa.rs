//! The environment variable `SORTIE_ISA`. A process reads it once, so the test runs itself again.

use std::env;
use std::process::Command;

use sortie::{Error, Sorter};

const CHILD: &str = "SORTIE_TEST_ISA";

/// Says whether a sorter can be built. Free functions sort in any case.
#[test]
fn child() {
    if env::var_os(CHILD).is_none() {
        return;
    }
    let mut keys: Vec<u32> = (0..5000).rev().collect();
    keys.swap(7, 70);
    sortie::sort(&mut keys);
    assert!(keys.iter().copied().eq(0..5000));
    match Sorter::builder().build() {
        Ok(_) => println!("built"),
        Err(Error::Unsupported(why)) => println!("refused: {why}"),
        Err(other) => panic!("{other}"),
    }
}

fn said_with(isa: &str) -> String {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["child", "--exact", "--nocapture"]).env(CHILD, "1").env("SORTIE_ISA", isa);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{isa}: {text}");
    text
}

#[test]
fn an_unknown_isa_is_refused_with_the_valid_names() {
    for isa in ["portable", "avx2", "avx512", ""] {
        assert!(said_with(isa).contains("built"), "{isa}");
    }
    for isa in ["bogus", "AVX2", "avx-2"] {
        let said = said_with(isa);
        let expected =
            format!("refused: SORTIE_ISA={isa:?} is unknown; use portable, avx2 or avx512, or unset it");
        assert!(said.contains(&expected), "{said}");
    }
}
