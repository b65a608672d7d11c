//! Keys of fixed width with a payload, or the places of such keys: a stable distribution into scratch, then each
//! bucket comes back in order.

use std::mem::MaybeUninit;
use std::ops::Range;

use rayon::prelude::*;

use super::distribute::Classifier;
use super::order::Orderer;
use super::scatter::{self, Pair, Places, Scattered};
use super::scratch::Scratch;
use super::vector::{self, Isa};
use super::{Job, compare, permute, unstable_only};
use crate::key::{Bits, Transform};
use crate::plan::{PAIR_BUCKETS, PAIRS_A_BUCKET};
use crate::profile::{self, Runs};
use crate::{Algorithm, Error, Index, Report};

/// Sorts keys and moves each payload with its key. Stable.
pub(crate) fn sort<B: Bits, V: Send>(
    keys: &mut [B],
    payload: &mut [V],
    transform: Transform<B>,
    job: &Job,
) -> Result<Report, Error> {
    let n = keys.len();
    let bytes = size_of_val(keys) + size_of_val(payload);
    if job.algorithm == Algorithm::Merge {
        let mut places: Vec<usize> = vec![0; n];
        let report = argsort(keys, &mut places, transform, job)?;
        permute(keys, &mut places.clone());
        permute(payload, &mut places);
        return Ok(report);
    }
    let mut report = check(n, bytes, job)?;
    let runs = report.phase("profile", size_of_val(keys), 0, || profile::runs(keys, transform, job.threads));
    match runs {
        Runs::Ascending => return Ok(report),
        Runs::Descending => {
            report.phase("finish", bytes, bytes, || {
                keys.reverse();
                payload.reverse();
            });
            return Ok(report);
        }
        Runs::Mixed => {}
    }
    let isa = Isa::detect();
    let scratch = Scratch::new(n)?;
    report.hold(bytes);
    let mut scattered = report.phase("distribute", bytes + size_of_val(keys), bytes, || {
        let source = Places::of(payload);
        // SAFETY: each payload is moved to scratch once, and below back into the slice, as a permutation; nothing
        // between panics.
        distribute(scratch, keys, transform, |place| unsafe { source.at(place).read() }, job, isa)
    });
    report.phase("finish", bytes, bytes, || {
        // SAFETY: all payloads have been moved out; every place is written again.
        let payload = unsafe {
            std::slice::from_raw_parts_mut(payload.as_mut_ptr().cast::<MaybeUninit<V>>(), payload.len())
        };
        let buckets = scattered.buckets();
        let targets = split(keys, buckets).into_iter().zip(split(payload, buckets)).collect();
        finish(&mut scattered, targets, job, |orderer: &mut Orderer, pairs, (to_keys, to_payload)| {
            orderer.order(
                pairs.len(),
                |place| pairs[place].code(),
                isa,
                |to, from| {
                    to_keys[to] = transform.decode(pairs[from].code());
                    // SAFETY: each place of the bucket is moved once.
                    to_payload[to].write(unsafe { pairs[from].payload() });
                },
            );
        });
    });
    Ok(report)
}

/// Writes the places of the keys in order. Stable.
pub(crate) fn argsort<B: Bits, I: Index>(
    keys: &[B],
    places: &mut [I],
    transform: Transform<B>,
    job: &Job,
) -> Result<Report, Error> {
    let n = keys.len();
    if job.algorithm == Algorithm::Merge {
        places.iter_mut().enumerate().for_each(|(i, place)| *place = I::from_place(i));
        let code = |i: &I| transform.encode(keys[i.place()]);
        return compare::sort(places, |a, b| code(a).cmp(&code(b)), job);
    }
    let narrow = n as u64 <= u64::from(u32::MAX);
    let scratch = size_of_val(keys) + n * if narrow { 4 } else { 8 };
    let mut report = check(n, scratch, job)?;
    let runs = report.phase("profile", size_of_val(keys), 0, || profile::runs(keys, transform, job.threads));
    match runs {
        Runs::Ascending => places.iter_mut().enumerate().for_each(|(i, place)| *place = I::from_place(i)),
        Runs::Descending => {
            places.iter_mut().rev().enumerate().for_each(|(i, place)| *place = I::from_place(i))
        }
        Runs::Mixed => {
            report.hold(scratch);
            if narrow {
                order_places::<B, u32, I>(keys, transform, places, job, &mut report)?;
            } else {
                order_places::<B, usize, I>(keys, transform, places, job, &mut report)?;
            }
        }
    }
    Ok(report)
}

/// Writes the places of keys in order; scratch holds them as `P`.
fn order_places<B: Bits, P: Index, I: Index>(
    keys: &[B],
    transform: Transform<B>,
    places: &mut [I],
    job: &Job,
    report: &mut Report,
) -> Result<(), Error> {
    let isa = Isa::detect();
    let scratch = Scratch::<Pair<B, P>>::new(keys.len())?;
    let moved = size_of_val(&*scratch);
    let mut scattered = report.phase("distribute", 2 * size_of_val(keys), moved, || {
        distribute(scratch, keys, transform, P::from_place, job, isa)
    });
    report.phase("finish", moved, size_of_val(places), || {
        let targets = split(places, scattered.buckets());
        finish(&mut scattered, targets, job, |orderer: &mut Orderer, pairs, to_places| {
            orderer.order(
                pairs.len(),
                |place| pairs[place].code(),
                isa,
                |to, from| {
                    // SAFETY: an index is moved as often as one likes.
                    to_places[to] = I::from_place(unsafe { pairs[from].payload() }.place());
                },
            );
        });
    });
    Ok(())
}

/// Whether the job allows the sort of `n` pairs with so much scratch.
fn check(n: usize, scratch: usize, job: &Job) -> Result<Report, Error> {
    if job.algorithm == Algorithm::Quicksort && job.stable {
        return Err(unstable_only("quicksort"));
    }
    if n > 1 {
        job.scratch(scratch, "a stable sort of pairs needs a copy of them; sort keys alone, or in parts")?;
    }
    Ok(Report::default())
}

/// Distributes keys with a payload each into scratch, to as many buckets as are worth it.
pub(crate) fn distribute<B: Bits, P: Send>(
    scratch: Scratch<Pair<B, P>>,
    keys: &[B],
    transform: Transform<B>,
    payload: impl Fn(usize) -> P + Sync,
    job: &Job,
    isa: Isa,
) -> Scattered<B, P> {
    let wanted = if job.algorithm == Algorithm::Quicksort { 1 } else { keys.len() / PAIRS_A_BUCKET };
    let buckets = wanted.next_power_of_two().min(PAIR_BUCKETS);
    let classifier = Classifier::sampled(keys.len(), |place| transform.encode(keys[place]), buckets, isa);
    scatter::scatter(scratch, keys, transform, payload, &classifier, job.threads, isa)
}

/// Runs `work` on every bucket and its target, with a state that each thread keeps.
pub(crate) fn finish<B: Bits, P: Send, T: Send, S: Default>(
    scattered: &mut Scattered<B, P>,
    targets: Vec<T>,
    job: &Job,
    work: impl Fn(&mut S, &[Pair<B, P>], T) + Sync,
) {
    let isa = Isa::detect();
    let buckets = scattered.buckets().to_vec();
    let buckets: Vec<_> = split(scattered.pairs(), &buckets).into_iter().zip(targets).collect();
    if job.threads > 1 {
        buckets.into_par_iter().for_each_init(S::default, |state, (pairs, target)| {
            vector::compiled_for(isa, || work(state, pairs, target));
        });
    } else {
        let mut state = S::default();
        buckets.into_iter().for_each(|(pairs, target)| vector::compiled_for(isa, || work(&mut state, pairs, target)));
    }
}

/// The slices at consecutive ranges that cover `items`.
pub(crate) fn split<'a, T>(mut items: &'a mut [T], ranges: &[Range<usize>]) -> Vec<&'a mut [T]> {
    ranges
        .iter()
        .map(|range| items.split_off_mut(..range.len()).expect("the ranges cover the items"))
        .collect()
}
