//! Code that tests of sorts of host data share.

use sortie_simt::{Options, or_skip};

use super::{Allowed, Gpu};
use crate::key::{Code, Form};
use crate::{Bound, Error, Report, TotalOrder};

pub(crate) const ALLOWED: Allowed = Allowed { threads: 2, memory_limit: u64::MAX };

/// Runs a test on the test bench.
pub(crate) fn on_bench(test: impl FnOnce(&Gpu)) {
    on_bench_of(Options::default(), test);
}

/// The same with other options.
pub(crate) fn on_bench_of(options: Options, test: impl FnOnce(&Gpu)) {
    if let Some(device) = or_skip(sortie_simt::device(options)) {
        test(&Gpu::new(device));
    }
}

/// The code of keys of a fixed width.
pub(crate) fn code<K: TotalOrder>() -> Code {
    match K::FORM {
        Form::Bits(code) => code,
        _ => unreachable!("keys of a fixed width"),
    }
}

/// The memory that a sort says it needed is enough, and a limit that is one byte lower is refused with that number.
pub(crate) fn assert_limit_is_exact(sort: impl Fn(Allowed) -> Result<Report, Error>) {
    let needed = sort(ALLOWED).unwrap().scratch_peak;
    assert!(sort(Allowed { memory_limit: needed, ..ALLOWED }).is_ok());
    let refused = sort(Allowed { memory_limit: needed - 1, ..ALLOWED }).unwrap_err();
    assert!(matches!(refused, Error::Memory { bound: Bound::Limit, needed: told, .. } if told == needed));
}
