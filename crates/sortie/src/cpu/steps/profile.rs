//! Finds out whether the input is already sorted.

use std::ops::Range;

pub(crate) use crate::cpu::runs::Runs;
use crate::cpu::runs::is_in_order;
use crate::cpu::vector::{Isa, compiled_for};
use crate::key::{Bits, Transform};
use crate::parallel;

/// The minimum number of keys that several threads check for one run. One thread reads this many in about a
/// millisecond.
const PROFILE_PARALLEL_FROM: usize = 1 << 21;

/// The number of keys that the profile compares before each check whether the run is broken.
const PROFILE_STRETCH: usize = 1 << 8;

/// Checks whether the keys are one run. Stops at the first stretch that breaks it. With `stable`, a descending run has
/// no equal keys, so reversing it is stable.
pub(crate) fn runs<B: Bits>(keys: &[B], transform: Transform<B>, stable: bool, threads: usize) -> Runs {
    // Choosing the transform once, here, avoids a choice for every key.
    if const { B::OF_INTEGERS } || transform.is_integer() {
        runs_of_codes(keys, |key| transform.encode_integer(key), stable, threads)
    } else if transform.is_plain_float() {
        runs_of_codes(keys, |key| transform.encode_plain_float(key), stable, threads)
    } else {
        runs_of_codes(keys, |key| transform.encode(key), stable, threads)
    }
}

fn runs_of_codes<B: Bits>(keys: &[B], code: impl Fn(B) -> B + Sync, stable: bool, threads: usize) -> Runs {
    let (found, one) = match keys {
        [] | [_] => return Runs::Ascending,
        [first, .., last] if code(*first) <= code(*last) => {
            (Runs::Ascending, one_run(keys, threads, |a, b| code(a) <= code(b)))
        }
        _ => (
            Runs::Descending,
            one_run(keys, threads, |a, b| (code(a) > code(b)) | (!stable & (code(a) == code(b)))),
        ),
    };
    if one { found } else { Runs::Mixed }
}

/// Whether all neighbours are in order.
fn one_run<B: Bits>(keys: &[B], threads: usize, in_order: impl Fn(B, B) -> bool + Sync) -> bool {
    let isa = Isa::detect();
    let all = |range: Range<usize>| {
        compiled_for!(isa, || {
            let Range { mut start, end } = range;
            while start < end
                && is_in_order(&keys[start..keys.len().min(start + PROFILE_STRETCH + 1)], &in_order)
            {
                start += PROFILE_STRETCH;
            }
            start >= end
        })
    };
    // Most inputs break the run at once. No thread is woken for those.
    if threads < 2 || keys.len() <= PROFILE_PARALLEL_FROM || !all(0..1) {
        return all(0..keys.len() - 1);
    }
    let share = (keys.len() / threads).next_multiple_of(PROFILE_STRETCH);
    let starts = (0..keys.len() - 1).step_by(share);
    parallel::all(threads, starts, |start| all(start..(keys.len() - 1).min(start + share)))
}
