//! Sorts strings in host memory on a GPU and the CPU, in one of two ways. Either all bytes go to the GPU, which sorts
//! completely. Or the CPU cuts the first symbols of each string to a word, the GPU sorts the words, and the CPU
//! finishes the ties.
//!
//! A sample decides: cutting costs more, the more strings tie; sending whole strings costs more, the longer they are.
//! If there is too little memory, the strings are sorted in ranges.
//! Source: Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014), section III,
//! the communication-reducing strategy.

mod ranges;

use crate::compose::tuning::{FINISH_A_TIE_NS, WHOLE_BYTES_A_NS};
use crate::cpu::Job;
use crate::cpu::strings::Cut;
use crate::gpu::{self, Allowed, Gpu};
use crate::request::Budget;
use crate::ways::CpuWay;
use crate::{Bound, Error, Index, Order, Report};

/// Writes the sorting indices of the strings. Stable.
pub(crate) fn argsort_strings<S: Sync, I: Index>(
    gpu: &Gpu,
    strings: &[S],
    string: impl Fn(&S) -> &[u8] + Sync,
    order: Order,
    indices: &mut [I],
    allowed: Allowed,
) -> Result<Report, Error> {
    match at_once(gpu, strings, &string, order, indices, allowed) {
        Err(refused @ Error::Memory { bound: Bound::Limit | Bound::Device, .. }) => {
            ranges::argsort(gpu, strings, &string, order, indices, allowed, refused)
        }
        decided => decided,
    }
}

/// The same, for strings that fit in memory.
fn at_once<S: Sync, I: Index>(
    gpu: &Gpu,
    strings: &[S],
    string: impl Fn(&S) -> &[u8] + Sync,
    order: Order,
    indices: &mut [I],
    allowed: Allowed,
) -> Result<Report, Error> {
    let mut report = Report::default();
    let (cut, whole) = report.phase("sample", 0, 0, || {
        let cut = Cut::of_sample(strings, &string);
        let to_finish = cut.tied_share() * FINISH_A_TIE_NS / allowed.threads as f64;
        let whole = to_finish > cut.sampled_length() / WHOLE_BYTES_A_NS;
        (cut, whole)
    });
    let sorted = if whole {
        match gpu::argsort_strings(gpu, strings, &string, order, indices, allowed) {
            // Words need less memory.
            Err(Error::Memory { .. }) => by_cut(gpu, cut, order, indices, allowed),
            decided => decided,
        }
    } else {
        by_cut(gpu, cut, order, indices, allowed)
    };
    report.absorb(sorted?);
    Ok(report)
}

/// Sorts by words of the first symbols, which are copied to the GPU.
pub(crate) fn by_cut<S: Sync, F: Fn(&S) -> &[u8] + Sync, I: Index>(
    gpu: &Gpu,
    cut: Cut<'_, S, F>,
    order: Order,
    indices: &mut [I],
    allowed: Allowed,
) -> Result<Report, Error> {
    let sort = |cut: &Cut<'_, S, F>| {
        let write = |first, words: &mut [_]| cut.write(first, words, allowed.threads);
        gpu::sort_words(gpu, indices.len(), cut.base(), write, order, allowed)
    };
    let (cut, mut sorted) = match sort(&cut)? {
        Some(sorted) => (cut, sorted),
        None => {
            let cut = cut.of_all_bytes();
            let sorted = sort(&cut)?.expect("every string has a word of all bytes");
            (cut, sorted)
        }
    };
    let (ties, mut report) = (std::mem::take(&mut sorted.ties), std::mem::take(&mut sorted.report));
    let Allowed { threads, memory_limit } = allowed;
    let budget = Budget { threads, memory: memory_limit, held: ties.bytes() as u64 };
    let job = Job { way: CpuWay::Distribute, stable: true, budget };
    let arrive = |indices: &mut [I], there: &mut dyn FnMut(&mut [I], usize)| {
        sorted.take_indices(indices, threads, there)
    };
    let finished = cut.finish(indices, ties.count(), |i| ties.get(i), arrive, order.descending, &job)?;
    report.absorb(finished);
    Ok(report)
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::gpu::on_bench::{ALLOWED, assert_limit_is_exact, on_bench};

    fn expected<S: AsRef<[u8]>>(strings: &[S], order: Order) -> Vec<u32> {
        let mut indices: Vec<u32> = (0..strings.len() as u32).collect();
        indices.sort_by(|&a, &b| {
            let ordering = strings[a as usize].as_ref().cmp(strings[b as usize].as_ref());
            if order.descending { ordering.reverse() } else { ordering }
        });
        indices
    }

    fn cut<S: AsRef<[u8]> + Sync>(gpu: &Gpu, strings: &[S], order: Order) -> (Vec<u32>, Report) {
        let mut indices = vec![0; strings.len()];
        let cut = Cut::of_sample(strings, S::as_ref);
        let report = by_cut(gpu, cut, order, &mut indices, ALLOWED).unwrap();
        (indices, report)
    }

    /// Strings without ties, with ties in pairs and in long runs, that end within their words, with and without common
    /// prefixes.
    #[test]
    fn cut_strings_are_sorted_as_by_std() {
        let digits = |i: u32| i.wrapping_mul(0x9E37_79B9).to_string().into_bytes();
        let sets: [(&str, Vec<Vec<u8>>); 6] = [
            ("few", vec![b"b".to_vec(), b"".to_vec(), b"a".to_vec()]),
            ("digits", (0..6000).map(digits).collect()),
            ("prefixed", (0..6000).map(|i| [b"https://".to_vec(), digits(i)].concat()).collect()),
            ("tied", (0..6000).map(|i| [vec![b'x'; (i % 40) as usize], digits(i % 100)].concat()).collect()),
            ("equal", vec![b"the same again and again and again".to_vec(); 3000]),
            ("zeros", (0..3000).map(|i| vec![0; (i * 7 % 90) as usize]).collect()),
        ];
        on_bench(|gpu| {
            for (name, strings) in &sets {
                for descending in [false, true] {
                    let order = Order { descending, ..Order::default() };
                    let (found, _) = cut(gpu, strings, order);
                    assert!(found == expected(strings, order), "{name}, descending: {descending}");
                }
            }
        });
    }

    /// More strings than are sampled. One of the others has a byte, or a prefix, that is not in the sample.
    #[test]
    fn what_the_sample_has_not_shown_is_sorted_too() {
        let many: Vec<String> = (0..40_000u32).map(|i| format!("id{:05}", i * 7919 % 40_000)).collect();
        on_bench(|gpu| {
            for odd in ["id0\u{7f}", "I", ""] {
                let mut strings = many.clone();
                strings[4321] = odd.into();
                let (found, _) = cut(gpu, &strings, Order::default());
                assert!(found == expected(&strings, Order::default()), "{odd:?}");
            }
        });
    }

    #[test]
    fn ties_too_many_for_a_thread_are_sorted_by_all() {
        let n = crate::parallel::ITEMS_A_TASK + 1000;
        let strings: Vec<String> =
            (0..n).map(|i| format!("{}{:06}", "same".repeat(10), i * 7919 % n)).collect();
        let strings: Vec<String> = std::iter::once(String::new()).chain(strings).collect();
        on_bench(|gpu| {
            let (found, report) = cut(gpu, &strings, Order::default());
            assert!(found == expected(&strings, Order::default()));
            assert!(report.phases.iter().any(|phase| phase.name == "distribute"), "{report}");
        });
    }

    #[test]
    fn a_sample_decides() {
        let phases = |report: Report| report.phases.iter().map(|phase| phase.name).collect::<Vec<_>>();
        let sort = |gpu: &Gpu, strings: &[String]| {
            let (mut found, order) = (vec![0; strings.len()], Order::default());
            let report =
                argsort_strings(gpu, strings, |string| string.as_bytes(), order, &mut found, ALLOWED)
                    .unwrap();
            assert!(found == expected(strings, Order::default()));
            phases(report)
        };
        on_bench(|gpu| {
            let apart: Vec<String> = (0..3000u32).map(|i| i.wrapping_mul(0x9E37_79B9).to_string()).collect();
            assert_eq!(sort(gpu, &apart), ["sample", "cut", "sort", "copy out", "finish"]);
            let alike: Vec<String> =
                (0..3000).map(|i| format!("{}{i}", ["a", "b"][i % 2].repeat(40))).collect();
            assert_eq!(sort(gpu, &alike), ["sample", "measure", "copy in", "sort", "copy out"]);
        });
    }

    #[test]
    fn a_limit_is_kept_and_exact() {
        on_bench(|gpu| {
            let words: Vec<String> = (0..3000u32).map(|i| i.wrapping_mul(0x9E37_79B9).to_string()).collect();
            assert_limit_is_exact(|allowed| {
                let indices = &mut vec![0u32; words.len()];
                at_once(gpu, &words, |word| word.as_bytes(), Order::default(), indices, allowed)
            });
        });
    }
}
