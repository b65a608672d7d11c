//! `-k`: any text is a key or refused in one line.
#![no_main]
#![allow(dead_code, reason = "the program uses more of the module than its parser")]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/sortie-files/src/formats/text/key.rs"]
mod key;

fuzz_target!(|text: &str| {
    match text.parse::<key::KeySpec>() {
        Ok(spec) => assert!(spec.start_field >= 1 && spec.start_char >= 1 && spec.end_field != Some(0)),
        Err(refusal) => assert!(!refusal.to_string().is_empty()),
    }
});
