//! The published sorts of one array, in device memory.

use sortie::gpu::{Gpu, Pending};
use sortie::{Error, papers};
use sortie_device::{Stream, View};
use sortie_simt::{Options, Sanitizer};

use crate::support::{PATTERNS, keys, on_bench, on_each};

type Sort = for<'gpu> unsafe fn(&'gpu Gpu, &Stream, View<'_, u32>) -> Result<Pending<'gpu>, Error>;

/// Sorts on the device; no bits may differ from std's sort.
fn compare(gpu: &Gpu, sort: Sort, keys: &[u32], what: &str) {
    let stream = gpu.device().stream().unwrap();
    let guard = [0; 8];
    let mut sorted = [&guard, keys, &guard].concat();
    let buffer = gpu.device().alloc::<u32>(sorted.len()).unwrap();
    stream.copy_in(buffer.view(), &sorted).unwrap();
    // SAFETY: nothing else uses the buffer meanwhile.
    unsafe { sort(gpu, &stream, buffer.range(8..8 + keys.len())) }.unwrap().wait().unwrap();
    stream.copy_out(&mut sorted, buffer.view()).unwrap();
    let mut expected = keys.to_vec();
    expected.sort_unstable();
    assert!(sorted == [&guard[..], &expected, &guard].concat(), "{} keys, {what}", keys.len());
}

fn cut(pattern: &str, n: usize) -> Vec<u32> {
    keys(pattern, n, n as u64).into_iter().map(|key| (key >> 16) as u32).collect()
}

/// Most keys are one of a few, the others any: sequences and buckets of very different size.
fn skewed(n: usize) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(n as u64);
    (0..n)
        .map(|_| match random.u32(0..10) {
            0..2 => random.u32(..),
            2..5 => 0,
            5..7 => u32::MAX,
            _ => 1 << 20,
        })
        .collect()
}

fn any_number_and_pattern(sort: Sort, sizes: &[usize], n: usize) {
    on_each(|gpu| {
        for &n in sizes {
            compare(gpu, sort, &cut("random", n), "random");
        }
        for pattern in PATTERNS {
            compare(gpu, sort, &cut(pattern, n), pattern);
        }
        compare(gpu, sort, &skewed(n), "skewed");
    });
}

fn every_interleaving(sort: Sort, n: usize) {
    for seed in 1..5 {
        on_bench(Options { seed, sanitizer: Sanitizer::Race, ..Options::default() }, |gpu| {
            compare(gpu, sort, &cut("random", n), "random");
            compare(gpu, sort, &skewed(n), "skewed");
        });
    }
}

#[test]
fn quicksort() {
    any_number_and_pattern(papers::quicksort, &[0, 1, 2, 255, 1024, 1025, 5000, 40_000], 20_000);
}

#[test]
fn quicksort_interleaved() {
    every_interleaving(papers::quicksort, 9000);
}
