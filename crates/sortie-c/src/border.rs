//! What happens at the border to C: pointers become slices, and errors and panics become a status and a message.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::ptr::NonNull;
use std::slice;

use sortie::Error;

use crate::types::sortie_status;

/// Why a call did not do what was asked for.
#[derive(Debug)]
pub struct Failure {
    pub status: sortie_status,
    pub message: String,
}

impl Failure {
    pub fn invalid(message: String) -> Failure {
        Failure { status: sortie_status::Invalid, message }
    }

    fn panicked(panic: &(dyn Any + Send)) -> Failure {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let message = format!("Sortie has a bug, please report it: {text}");
        Failure { status: sortie_status::Panic, message }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let status = match error {
            Error::LengthMismatch { .. } | Error::Segments(_) | Error::Unsupported(_) => {
                sortie_status::Invalid
            }
            Error::Memory { .. } => sortie_status::Memory,
            Error::Threads { .. } => sortie_status::Threads,
            // `Error::Device`, which only a build with GPUs has.
            _ => sortie_status::Device,
        };
        Failure { status, message: error.to_string() }
    }
}

thread_local! {
    /// The message of the last call of this thread that failed.
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Runs what a function of the header does. Its failure is kept for [`last_error`].
pub fn call(work: impl FnOnce() -> Result<(), Failure>) -> sortie_status {
    // After a panic only the caller's data may be half changed, and the header promises nothing about it in that case.
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    match done.unwrap_or_else(|panic| Err(Failure::panicked(&*panic))) {
        Ok(()) => sortie_status::Ok,
        Err(failure) => {
            let message = CString::new(failure.message.replace('\0', " ")).expect("no zero is left");
            // It fails only while the thread ends.
            let _ = LAST_ERROR.try_with(|last| last.replace(message));
            failure.status
        }
    }
}

/// The message of the last call of this thread that failed, valid until the next one that fails.
pub fn last_error() -> *const c_char {
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// An array of the caller. Its address was checked.
#[derive(Debug)]
pub struct Array<T> {
    name: &'static str,
    start: NonNull<T>,
    len: usize,
}

impl<T> Array<T> {
    /// `len` elements.
    pub fn new(name: &'static str, start: *const T, len: usize) -> Result<Array<T>, Failure> {
        Array::of_rows(name, start, len, 1)
    }

    /// `rows` rows of `each` elements.
    pub fn of_rows(
        name: &'static str,
        start: *const T,
        rows: usize,
        each: usize,
    ) -> Result<Array<T>, Failure> {
        let size = each.saturating_mul(size_of::<T>());
        let fits =
            |bytes: &usize| *bytes <= isize::MAX as usize && start.addr().checked_add(*bytes).is_some();
        if rows.checked_mul(size).filter(fits).is_none() {
            return Err(Failure::invalid(format!(
                "{name}: {rows} elements of {size} bytes each do not fit in the address space; \
                 give the number of elements, not of bytes"
            )));
        }
        let len = rows * each;
        if len == 0 {
            // Aligned for every type, because keys come as bytes.
            return Ok(Array { name, start: NonNull::<u128>::dangling().cast(), len });
        }
        let Some(start) = NonNull::new(start.cast_mut()) else {
            return Err(Failure::invalid(format!(
                "{name} is NULL, but should have {rows} elements; give their address, or 0 elements"
            )));
        };
        if !start.is_aligned() {
            return Err(Failure::invalid(format!(
                "{name} at address {start:p} is not aligned to {} bytes; copy it to memory that is",
                align_of::<T>()
            )));
        }
        Ok(Array { name, start, len })
    }

    fn addresses(&self) -> Range<usize> {
        let start = self.start.addr().get();
        start..start + self.len * size_of::<T>()
    }

    /// Refuses an array that overlaps another.
    pub fn apart_from<U>(&self, other: &Array<U>) -> Result<(), Failure> {
        let (a, b) = (self.addresses(), other.addresses());
        if a.is_empty() || b.is_empty() || a.end <= b.start || b.end <= a.start {
            return Ok(());
        }
        Err(Failure::invalid(format!(
            "{} at address {:#x} overlaps {} at address {:#x}; give each array its own memory",
            self.name, a.start, other.name, b.start
        )))
    }

    /// # Safety
    /// The caller of the C function guarantees that the memory is valid and that nothing else writes it.
    pub unsafe fn get(&self) -> &[T] {
        // SAFETY: aligned and not null, see `of_rows`; the caller guarantees the rest. Memory that C has not written counts as
        // initialised, because Rust cannot know what C has done to it.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// # Safety
    /// The caller of the C function guarantees that the memory is valid and that nothing else uses it. The function takes it as
    /// `*mut`.
    pub unsafe fn get_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `get`.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    fn message() -> String {
        // SAFETY: the message of this thread, which makes no call meanwhile.
        unsafe { CStr::from_ptr(last_error()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_panic_becomes_a_status_and_a_message() {
        assert_eq!(message(), "");
        let number = 3;
        assert_eq!(call(|| panic!("formatted {number}")), sortie_status::Panic);
        assert_eq!(message(), "Sortie has a bug, please report it: formatted 3");
        assert_eq!(call(|| panic!("plain")), sortie_status::Panic);
        assert_eq!(message(), "Sortie has a bug, please report it: plain");
        assert_eq!(call(|| panic::panic_any(5)), sortie_status::Panic);
        assert_eq!(message(), "Sortie has a bug, please report it: no message");
    }

    #[test]
    fn the_message_of_a_failure_stays_until_the_next_and_belongs_to_one_thread() {
        assert_eq!(call(|| Err(Failure::invalid("one\0 two".into()))), sortie_status::Invalid);
        assert_eq!(call(|| Ok(())), sortie_status::Ok);
        assert_eq!(message(), "one  two");
        std::thread::spawn(|| assert_eq!(message(), "")).join().unwrap();
    }
}
