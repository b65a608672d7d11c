//! What one look at the input tells.

use rayon::prelude::*;

use crate::key::{Bits, Transform};
use crate::plan::{PARALLEL_FROM, PROFILE_STRETCH};

/// Whether the keys are one sorted run already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    /// Each key is at least the one before.
    Ascending,
    /// Each key is less than the one before.
    Descending,
    /// Neither.
    Mixed,
}

/// Looks for one run; stops at the first stretch that breaks it. Strictly descending, so that to reverse is stable.
pub(crate) fn runs<B: Bits>(keys: &[B], transform: Transform<B>, threads: usize) -> Runs {
    let code = |key| transform.encode(key);
    match keys {
        [] | [_] => Runs::Ascending,
        [first, second, ..] if code(*first) <= code(*second) => {
            let ascending = one_run(keys, threads, |a, b| code(a) <= code(b));
            if ascending { Runs::Ascending } else { Runs::Mixed }
        }
        _ => {
            let descending = one_run(keys, threads, |a, b| code(a) > code(b));
            if descending { Runs::Descending } else { Runs::Mixed }
        }
    }
}

/// Whether all neighbours are in order.
fn one_run<B: Bits>(keys: &[B], threads: usize, in_order: impl Fn(B, B) -> bool + Sync) -> bool {
    // Without a branch within a stretch: compiled to vector instructions.
    let stretch = |start: usize| {
        let end = keys.len().min(start + PROFILE_STRETCH + 1);
        let keys = &keys[start..end];
        keys.iter().zip(&keys[1..]).fold(true, |all, (&a, &b)| all & in_order(a, b))
    };
    let starts = 0..keys.len().div_ceil(PROFILE_STRETCH);
    // Most inputs break the run at once: no thread is woken for those.
    if threads > 1 && keys.len() > PARALLEL_FROM && stretch(0) {
        return starts.into_par_iter().all(|i| stretch(i * PROFILE_STRETCH));
    }
    starts.into_iter().all(|i| stretch(i * PROFILE_STRETCH))
}
