//! Sorts keys alone if memory does not allow a copy. The CPU splits them in place into ranges, and a device sorts one
//! range after the other.

use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::thread;

use crate::cpu::keys::for_chunks;
use crate::cpu::parallel_partition::split_in_two;
use crate::cpu::vector::{self, Isa};
use crate::key::{Bits, Transform};
use crate::{Error, Report};

/// Sorts the keys in place. `sort_codes` takes at most `most` keys at a time. If it fails, the keys are as it leaves them.
pub(crate) fn sort<B: Bits>(
    keys: &mut [B],
    most: usize,
    transform: Transform<B>,
    threads: usize,
    mut sort_codes: impl FnMut(&mut [B]) -> Result<Report, Error>,
) -> Result<Report, Error> {
    let (isa, bytes, mut report) = (Isa::detect(), size_of_val(keys), Report::default());
    let encode = |keys: &mut [B]| vector::compiled_for!(isa, || transform.encode_slice(keys));
    let decode = |keys: &mut [B]| vector::compiled_for!(isa, || transform.decode_slice(keys));
    if !transform.is_identity() {
        report.phase("encode", bytes, bytes, || for_chunks(keys, threads, encode));
    }
    let mut ranges: Vec<Range<usize>> = std::iter::once(0..keys.len()).collect();
    let mut ended: thread::Result<Result<(), Error>> = Ok(Ok(()));
    // All keys before the last range of the list are sorted and are keys again.
    while let Some(range) = ranges.pop() {
        let own = &mut keys[range.clone()];
        let bytes = size_of_val(own);
        let goes_on = matches!(ended, Ok(Ok(())));
        if goes_on && own.len() > most {
            let left = report.phase("split", bytes, bytes, || split_in_two(own, threads, isa));
            // Otherwise all keys of the range are equal.
            if 0 < left && left < range.len() {
                ranges.extend([range.start + left..range.end, range.start..range.start + left]);
                continue;
            }
        } else if goes_on {
            // Codes must become keys again even after a panic.
            ended =
                panic::catch_unwind(AssertUnwindSafe(|| sort_codes(own).map(|sorted| report.absorb(sorted))));
        }
        if !transform.is_identity() {
            report.phase("decode", bytes, bytes, || for_chunks(own, threads, decode));
        }
    }
    ended.unwrap_or_else(|panicked| panic::resume_unwind(panicked)).map(|()| report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Order;
    use crate::key::Code;

    /// Every range has codes while it is sorted, is no larger than allowed, and has keys afterwards.
    #[test]
    fn ranges_are_those_of_the_order() {
        let transform = Transform::<u32>::new(Code::Signed, Order { descending: true, ..Order::default() });
        let mut random = fastrand::Rng::with_seed(1);
        for (what, most_key) in [("few", 3), ("many", u32::MAX)] {
            let before: Vec<u32> = (0..10_000).map(|_| random.u32(0..most_key)).collect();
            let (mut keys, mut sorted) = (before.clone(), 0);
            sort(&mut keys, 900, transform, 2, |codes| {
                assert!(codes.len() <= 900, "{what}: {}", codes.len());
                sorted += codes.len();
                codes.sort_unstable();
                Ok(Report::default())
            })
            .unwrap();
            let mut expected = before;
            expected.sort_by_key(|&key| std::cmp::Reverse(key as i32));
            assert!(keys == expected, "{what}");
            assert_eq!(sorted == keys.len(), what == "many", "equal keys are not sent anywhere");
        }
    }

    #[test]
    fn what_was_not_sorted_is_keys_again() {
        let transform = Transform::<u32>::new(Code::Signed, Order::default());
        let before: Vec<u32> = (0..10_000u32).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
        for (failing, panics) in [(0, false), (1, false), (7, false), (3, true)] {
            let (mut keys, mut call) = (before.clone(), 0);
            let result = panic::catch_unwind(AssertUnwindSafe(|| {
                sort(&mut keys, 900, transform, 1, |codes| {
                    call += 1;
                    if call > failing {
                        assert!(!panics, "no more");
                        return Err(Error::Unsupported("no more".into()));
                    }
                    codes.sort_unstable();
                    Ok(Report::default())
                })
            }));
            assert!(if panics { result.is_err() } else { result.unwrap().is_err() });
            keys.sort_unstable();
            let mut expected = before.clone();
            expected.sort_unstable();
            assert!(keys == expected, "{failing}");
        }
    }
}
