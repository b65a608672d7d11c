//! Code that tests of sorts of host data share.

use sortie_simt::{Options, or_skip};

use super::{Allowed, Gpu, HostArray, device_ways, sort_host_array};
use crate::key::{Bits, Code, Form};
use crate::{Algorithm, Bound, Error, Order, Report, TotalOrder};

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

/// Sorts an array in the first way of an algorithm for which there is memory.
pub(crate) fn sort_array<B: Bits>(
    gpu: &Gpu,
    mut array: HostArray<'_, B>,
    code: Code,
    algorithm: Algorithm,
    allowed: Allowed,
) -> Result<Report, Error> {
    let (device, n) = (gpu.device().properties(), array.keys().len());
    let mut refused = None;
    for way in device_ways(size_of::<B>(), array.beside(), n, algorithm, device)? {
        match sort_host_array(gpu, array.reborrow(), code, Order::default(), way, allowed) {
            Err(error @ Error::Memory { .. }) => refused = Some(error),
            decided => return decided,
        }
    }
    Err(refused.expect("there is a way"))
}

/// The memory that a sort says it needed is enough, and a limit that is one byte lower is refused with that number.
pub(crate) fn assert_limit_is_exact(sort: impl Fn(Allowed) -> Result<Report, Error>) {
    let needed = sort(ALLOWED).unwrap().scratch_peak;
    assert!(sort(Allowed { memory_limit: needed, ..ALLOWED }).is_ok());
    let refused = sort(Allowed { memory_limit: needed - 1, ..ALLOWED }).unwrap_err();
    assert!(matches!(refused, Error::Memory { bound: Bound::Limit, needed: told, .. } if told == needed));
}
