//! GPU-ArraySort in device memory.

use sortie::{Error, Segments};
use sortie_papers::{Papers, array_sort};
use sortie_simt::{Options, Sanitizer};

use crate::support::{PATTERNS, keys, on_bench, on_each};

fn floats(pattern: &str, n: usize, seed: u64) -> Vec<f32> {
    keys(pattern, n, seed).into_iter().map(f32::from_bits).collect()
}

/// Sorts arrays on the device and on the CPU. Both must give the same bits.
fn compare(papers: &Papers, keys: &[f32], length: usize, what: &str) {
    let stream = papers.device().stream().unwrap();
    // Guard keys, which no array contains.
    let guard = [f32::NEG_INFINITY; 8];
    let mut sorted = [&guard, keys, &guard].concat();
    let buffer = papers.device().alloc::<f32>(sorted.len()).unwrap();
    stream.copy_in(buffer.view(), &sorted).unwrap();
    let view = buffer.range(8..8 + keys.len());
    // SAFETY: nothing else uses the buffer meanwhile.
    unsafe { array_sort(papers, &stream, view, length) }.unwrap().wait().unwrap();
    stream.copy_out(&mut sorted, buffer.view()).unwrap();

    let mut expected = keys.to_vec();
    sortie::sort_segments(&mut expected, Segments::Length(length));
    let bits = |keys: &[f32]| keys.iter().map(|key| key.to_bits()).collect::<Vec<_>>();
    assert!(bits(&sorted) == bits(&[&guard[..], &expected, &guard].concat()), "{what} of {length}");
}

#[test]
fn every_pattern_at_the_edges_of_buckets() {
    on_each(|papers| {
        for length in [1, 2, 19, 20, 39, 40, 41, 59, 60, 100, 139, 256] {
            for (seed, pattern) in PATTERNS.into_iter().enumerate() {
                compare(papers, &floats(pattern, length * 5, seed as u64), length, pattern);
            }
        }
    });
}

#[test]
fn long_arrays() {
    on_each(|papers| {
        for length in [640, 659, 1000, 2000, 3000, 4000] {
            compare(papers, &floats("random", length * 2, 3), length, "random");
        }
    });
}

#[test]
fn keys_that_equal_a_splitter_are_kept() {
    on_each(|papers| {
        // Twenty of each value, so every splitter equals some keys.
        let mut random = fastrand::Rng::with_seed(5);
        let keys: Vec<f32> = (0..3 * 600).map(|_| random.u32(0..30) as f32).collect();
        compare(papers, &keys, 600, "thirty values");
    });
}

#[test]
fn every_interleaving_gives_the_same() {
    for seed in 1..5 {
        on_bench(Options { seed, sanitizer: Sanitizer::Race, ..Options::default() }, |papers| {
            compare(papers, &floats("random", 1000 * 2, seed), 1000, "random");
        });
    }
}

#[test]
fn what_it_cannot_sort_is_told() {
    on_bench(Options { shared_per_block: sortie_simt::SHARED_48K, ..Options::default() }, |papers| {
        let stream = papers.device().stream().unwrap();
        let buffer = papers.device().alloc::<f32>(12_000).unwrap();
        // SAFETY: nothing else uses the buffer.
        let sort = |length| unsafe { array_sort(papers, &stream, buffer.view(), length) };
        let too_long = sort(12_000).unwrap_err();
        assert!(matches!(&too_long, Error::Unsupported(why) if why.contains("12000 keys")), "{too_long}");
        for length in [0, 7001] {
            assert!(matches!(sort(length), Err(Error::Segments(_))));
        }
        // SAFETY: as above.
        unsafe { array_sort(papers, &stream, buffer.range(0..0), 7) }.unwrap().wait().unwrap();
    });
}
