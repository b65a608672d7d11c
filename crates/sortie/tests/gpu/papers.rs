//! The published sorts of one array, in device memory.

use sortie::Error;
use sortie::gpu::{Gpu, Pending};
use sortie::papers::{self, Histograms};
use sortie_device::{Stream, View};
use sortie_simt::{Options, Sanitizer};

use crate::support::{PATTERNS, cuda, keys, on_bench, on_each};

pub type Sort = for<'gpu> unsafe fn(&'gpu Gpu, &Stream, View<'_, u32>) -> Result<Pending<'gpu>, Error>;

pub const SORTS: [(&str, Sort); 5] = [
    ("quicksort", papers::quicksort),
    ("fine sample sort", fine),
    ("fine sample sort, a single histogram", single),
    ("sample sort", papers::sample_sort),
    ("radix sort", papers::radix_sort),
];

/// # Safety
/// As [`papers::fine_sample_sort`].
unsafe fn fine<'gpu>(gpu: &'gpu Gpu, stream: &Stream, keys: View<'_, u32>) -> Result<Pending<'gpu>, Error> {
    // SAFETY: as the caller states.
    unsafe { papers::fine_sample_sort(gpu, stream, keys, Histograms::OfAllBlocks) }
}

/// # Safety
/// As [`papers::fine_sample_sort`].
unsafe fn single<'gpu>(gpu: &'gpu Gpu, stream: &Stream, keys: View<'_, u32>) -> Result<Pending<'gpu>, Error> {
    // SAFETY: as the caller states.
    unsafe { papers::fine_sample_sort(gpu, stream, keys, Histograms::Single) }
}

/// Sorts on the device; no bits may differ from std's sort.
pub fn compare(gpu: &Gpu, sort: Sort, keys: &[u32], what: &str) {
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
pub fn skewed(n: usize) -> Vec<u32> {
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

#[test]
fn fine_sample_sort() {
    any_number_and_pattern(fine, &[0, 1, 2, 2049, 12_288, 12_289, 14_336, 60_000], 30_000);
}

#[test]
fn fine_sample_sort_with_a_single_histogram() {
    any_number_and_pattern(single, &[12_289, 40_000], 30_000);
}

#[test]
fn sample_sort() {
    any_number_and_pattern(papers::sample_sort, &[12_289, 40_000], 30_000);
}

#[test]
fn buckets_are_distributed_again() {
    // Half of the keys in a range that one splitter after the other misses, or hits.
    let mut random = fastrand::Rng::with_seed(1);
    for value in [0, 77, u32::MAX] {
        let keys: Vec<u32> = (0..60_000)
            .map(|i| match i % 4 {
                0 => random.u32(..),
                1 => value.wrapping_add(random.u32(0..3)),
                _ => value,
            })
            .collect();
        on_each(|gpu| {
            for sort in [fine as Sort, single, papers::sample_sort] {
                compare(gpu, sort, &keys, "half of them near one value");
            }
        });
    }
}

/// What takes several levels without equal keys takes a GPU.
#[test]
fn many_keys() {
    let Some(device) = cuda() else { return };
    let gpu = Gpu::new(device);
    for (name, sort) in SORTS {
        for pattern in ["random", "descending", "equal"] {
            compare(&gpu, sort, &cut(pattern, 20_000_003), &format!("{pattern}, {name}"));
        }
        compare(&gpu, sort, &skewed(20_000_003), &format!("skewed, {name}"));
    }
}

#[test]
fn sample_sorts_interleaved() {
    for sort in [fine as Sort, single, papers::sample_sort] {
        every_interleaving(sort, 15_000);
    }
}

#[test]
fn radix_sort() {
    any_number_and_pattern(papers::radix_sort, &[0, 1, 2, 3, 1023, 1024, 1025, 5000, 40_000], 5000);
}

#[test]
fn radix_sort_interleaved() {
    every_interleaving(papers::radix_sort, 5000);
}
