//! Messages for a lack of memory: how much is needed, what limits it, and what to do.

use std::io;

use crate::limits::{Limit, scarcest};

/// The message if the system refused memory that `doing` needs in addition to what the program already holds.
pub fn refused(doing: &str, needed: u64) -> String {
    format!("{doing} needs {} more memory, but {}", at_least(needed), limit())
}

/// The error of a read for which the system refused to allocate `needed` bytes.
pub fn while_reading(needed: u64) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, format!("it needs {} more memory", at_least(needed)))
}

/// Describes the limit that leaves the program the least memory.
pub fn limit() -> String {
    match scarcest() {
        Some(Limit { of, allowed, left }) => {
            format!("{of} {}, of which {} are left", at_most(allowed), at_most(left))
        }
        None => "the system refused it".into(),
    }
}

/// A required size for messages, rounded up.
pub fn at_least(bytes: u64) -> String {
    size(bytes, f64::ceil)
}

/// An available size for messages, rounded down.
pub fn at_most(bytes: u64) -> String {
    size(bytes, f64::floor)
}

/// The size in the largest suitable unit, with one decimal if it is not whole: `52 MiB`, `50.1 MiB`.
fn size(bytes: u64, round: impl Fn(f64) -> f64) -> String {
    const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = bytes.max(1).ilog2() / 10;
    let tenths = round(bytes as f64 / 1024f64.powi(power as i32) * 10.0);
    format!("{} {}", tenths / 10.0, UNITS[power as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short_and_never_on_the_wrong_side() {
        assert_eq!((at_least(50 << 20), at_most(50 << 20)), ("50 MiB".into(), "50 MiB".into()));
        assert_eq!(
            (at_least((50 << 20) + 1), at_most((50 << 20) - 1)),
            ("50.1 MiB".into(), "49.9 MiB".into())
        );
        assert_eq!((at_least(0), at_most(1023)), ("0 bytes".into(), "1023 bytes".into()));
        assert_eq!((at_least(u64::MAX), at_most(u64::MAX)), ("16 EiB".into(), "16 EiB".into()));
    }
}
