//! The published sorts of one array, in device memory.

use sortie::Error;
use sortie_device::{Stream, View};
use sortie_papers::{self as published, Histograms, Papers, Pending};
use sortie_simt::{Options, Sanitizer};

use crate::support::{PATTERNS, cuda, keys, on_bench, on_each};

pub type Sort = for<'a> unsafe fn(&'a Papers, &Stream, View<'_, u32>) -> Result<Pending<'a>, Error>;

pub const SORTS: [(&str, Sort); 5] = [
    ("quicksort", published::quicksort),
    ("fine sample sort", fine),
    ("fine sample sort, a single histogram", single),
    ("sample sort", published::sample_sort),
    ("radix sort", published::radix_sort),
];

/// # Safety
/// As for [`published::fine_sample_sort`].
unsafe fn fine<'a>(papers: &'a Papers, stream: &Stream, keys: View<'_, u32>) -> Result<Pending<'a>, Error> {
    // SAFETY: the caller guarantees it.
    unsafe { published::fine_sample_sort(papers, stream, keys, Histograms::OfAllBlocks) }
}

/// # Safety
/// As for [`published::fine_sample_sort`].
unsafe fn single<'a>(papers: &'a Papers, stream: &Stream, keys: View<'_, u32>) -> Result<Pending<'a>, Error> {
    // SAFETY: the caller guarantees it.
    unsafe { published::fine_sample_sort(papers, stream, keys, Histograms::Single) }
}

/// Sorts on the device. The bits must equal those of the standard library's sort.
pub fn compare(papers: &Papers, sort: Sort, keys: &[u32], what: &str) {
    let stream = papers.device().stream().unwrap();
    let guard = [0; 8];
    let mut sorted = [&guard, keys, &guard].concat();
    let buffer = papers.device().alloc::<u32>(sorted.len()).unwrap();
    stream.copy_in(buffer.view(), &sorted).unwrap();
    // SAFETY: nothing else uses the buffer meanwhile.
    unsafe { sort(papers, &stream, buffer.range(8..8 + keys.len())) }.unwrap().wait().unwrap();
    stream.copy_out(&mut sorted, buffer.view()).unwrap();
    let mut expected = keys.to_vec();
    expected.sort_unstable();
    assert!(sorted == [&guard[..], &expected, &guard].concat(), "{} keys, {what}", keys.len());
}

/// Keys that are mostly one of a few values, so sequences and buckets differ much in size.
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
    on_each(|papers| {
        for &n in sizes {
            compare(papers, sort, &keys("random", n, n as u64), "random");
        }
        for pattern in PATTERNS {
            compare(papers, sort, &keys(pattern, n, n as u64), pattern);
        }
        compare(papers, sort, &skewed(n), "skewed");
    });
}

fn every_interleaving(sort: Sort, n: usize) {
    for seed in 1..5 {
        on_bench(Options { seed, sanitizer: Sanitizer::Race, ..Options::default() }, |papers| {
            compare(papers, sort, &keys("random", n, n as u64), "random");
            compare(papers, sort, &skewed(n), "skewed");
        });
    }
}

#[test]
fn quicksort() {
    any_number_and_pattern(published::quicksort, &[0, 1, 2, 255, 1024, 1025, 5000, 40_000], 20_000);
}

#[test]
fn quicksort_interleaved() {
    every_interleaving(published::quicksort, 9000);
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
    any_number_and_pattern(published::sample_sort, &[12_289, 40_000], 30_000);
}

#[test]
fn buckets_are_distributed_again() {
    // Half of the keys are close to one value, which few splitters separate.
    let mut random = fastrand::Rng::with_seed(1);
    for value in [0, 77, u32::MAX] {
        let keys: Vec<u32> = (0..60_000)
            .map(|i| match i % 4 {
                0 => random.u32(..),
                1 => value.wrapping_add(random.u32(0..3)),
                _ => value,
            })
            .collect();
        on_each(|papers| {
            for sort in [fine as Sort, single, published::sample_sort] {
                compare(papers, sort, &keys, "half of them near one value");
            }
        });
    }
}

/// Without equal keys, only inputs too large for the test bench need several levels.
#[test]
fn many_keys() {
    let Some(device) = cuda() else { return };
    let papers = Papers::new(device);
    for (name, sort) in SORTS {
        for pattern in ["random", "descending", "equal"] {
            compare(&papers, sort, &keys(pattern, 20_000_003, 1), &format!("{pattern}, {name}"));
        }
        compare(&papers, sort, &skewed(20_000_003), &format!("skewed, {name}"));
    }
}

#[test]
fn sample_sorts_interleaved() {
    for sort in [fine as Sort, single, published::sample_sort] {
        every_interleaving(sort, 15_000);
    }
}

#[test]
fn radix_sort() {
    any_number_and_pattern(published::radix_sort, &[0, 1, 2, 3, 1023, 1024, 1025, 5000, 40_000], 5000);
}

#[test]
fn radix_sort_interleaved() {
    every_interleaving(published::radix_sort, 5000);
}
