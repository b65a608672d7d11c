//! What the tests share.

use std::ffi::CStr;

use sortie_c::{sortie_last_error, sortie_status};

/// The message of this thread's last failure.
pub fn message() -> String {
    // SAFETY: valid until the next call that fails.
    unsafe { CStr::from_ptr(sortie_last_error()) }.to_str().unwrap().to_owned()
}

/// Checks that a call was refused, and that its message has these words.
#[track_caller]
pub fn refused(status: sortie_status, words: &str) {
    assert_eq!(status, sortie_status::Invalid);
    assert!(message().contains(words), "{:?} does not say {words:?}", message());
}
