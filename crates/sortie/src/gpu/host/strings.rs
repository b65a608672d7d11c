//! Strings in host memory: their bytes are copied to the device through pinned buffers, and their indices are copied
//! back.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::time::Instant;

use sortie_device::{Properties, View};

use super::allowed::Allowed;
use crate::gpu::Gpu;
use crate::gpu::alloc::alloc;
use crate::gpu::copy::{self, bytes};
use crate::gpu::ring::{Ring, Slots};
use crate::gpu::strings::{Offsets, Strings};
use crate::gpu::strings::{check_count, scratch_of_strings};
use crate::gpu::tuning::COPIED_BY_A_TASK_BYTES;
use crate::parallel;
use crate::scratch::reserve;
use crate::ways::Scratch;
use crate::{Bound, Error, Index, Order, Ran, Report};

const HINT: &str = "a GPU needs the bytes of the strings and about 110 bytes per string; sort in parts, or use the CPU \
                    engine";

/// Writes the indices of the strings in order. Stable.
pub(crate) fn argsort_strings<S: Sync, I: Index>(
    gpu: &Gpu,
    strings: &[S],
    string: impl Fn(&S) -> &[u8] + Sync,
    order: Order,
    indices: &mut [I],
    allowed: Allowed,
) -> Result<Report, Error> {
    let n = strings.len();
    let mut report = Report::default();
    let offsets = report.phase("measure", size_of_val(strings), n * size_of::<u64>(), || {
        offsets_of(strings, &string, allowed.threads)
    })?;
    let text_bytes = usize::try_from(offsets[n]).map_err(|_| too_long())?;
    let slots = Slots::of_all_threads(text_bytes.max(size_of_val(&*offsets)));

    let needed = strings_scratch(n, text_bytes, gpu.device().properties())?;
    needed.check(allowed.memory_limit, u64::MAX, HINT)?;
    let indices_bytes = n * size_of::<u32>();
    let device = gpu.device();
    let (text, offsets_there, indices_there) =
        (alloc::<u8>(device, text_bytes)?, alloc::<u64>(device, n + 1)?, alloc::<u32>(device, n)?);
    let mut ring = Ring::new(device, gpu.rings(), slots)?;

    report.scratch_peak = needed.bytes();
    let start = Instant::now();
    let joined = Joined { strings, string: &string, offsets: &offsets };
    // SAFETY: only bytes of strings and zeros are written.
    unsafe { ring.fill_in(text.view(), |range, to| joined.copy(range, to, allowed.threads))? };
    let of_offsets = |range: Range<usize>, to: &mut [MaybeUninit<u8>]| {
        copy::by_threads(to, &bytes(&offsets)[range], allowed.threads);
    };
    // SAFETY: only offsets are written.
    unsafe { ring.fill_in(offsets_there.view().cast(), of_offsets)? };
    let copied = text_bytes + size_of_val(&*offsets);
    report.push(Ran::Cuda, "copy in", start.elapsed(), copied, copied);
    let start = Instant::now();
    let there = Strings { bytes: text.view(), offsets: Offsets::Wide(offsets_there.view()) };
    // SAFETY: the strings and the indices are on the device for this sort alone; the offsets are sums of lengths.
    unsafe { gpu.argsort_strings(ring.stream(), there, indices_there.view(), order)? }.wait()?;
    report.push(Ran::Cuda, "sort", start.elapsed(), text_bytes, indices_bytes);
    let start = Instant::now();
    take_indices(&mut ring, indices, indices_there.view(), allowed.threads, |_, _| ())?;
    report.push(Ran::Cuda, "copy out", start.elapsed(), indices_bytes, size_of_val(indices));
    Ok(report)
}

/// What a sort of `n` strings of this many bytes in all takes.
pub(crate) fn strings_scratch(n: usize, text_bytes: usize, device: &Properties) -> Result<Scratch, Error> {
    check_count(n)?;
    let offsets = size_of::<u64>() * (n + 1);
    let most = size_of::<u32>() * (n + scratch_of_strings(device, n)?);
    let host = offsets + Slots::of_all_threads(text_bytes.max(offsets)).pinned();
    Ok(Scratch { host: host as u64, device: ((offsets + most) as u64).saturating_add(text_bytes as u64) })
}

/// The offsets of the strings in their concatenation, followed by its length.
fn offsets_of<S: Sync>(
    strings: &[S],
    string: impl Fn(&S) -> &[u8] + Sync,
    threads: usize,
) -> Result<Vec<u64>, Error> {
    let mut offsets: Vec<u64> = reserve(strings.len() + 1)?;
    let length = |item: &S| string(item).len() as u64;
    parallel::collect_into(&mut offsets, threads, strings, length);
    sum_up(&mut offsets)?;
    Ok(offsets)
}

/// Turns lengths into offsets.
fn sum_up(offsets: &mut Vec<u64>) -> Result<(), Error> {
    let mut end = 0u64;
    for offset in &mut *offsets {
        let length = std::mem::replace(offset, end);
        end = end.checked_add(length).ok_or_else(too_long)?;
    }
    offsets.push(end);
    Ok(())
}

/// The error if the strings have more bytes in total than there are addresses, because many references share the same
/// long strings.
fn too_long() -> Error {
    Error::Memory { bound: Bound::Device, needed: u64::MAX, available: 0, hint: HINT }
}

/// Copies indices to the host, as the caller's type of index. Whenever more have arrived, calls `there` with their
/// number so far, while the next ones are copied.
pub(super) fn take_indices<I: Index>(
    ring: &mut Ring,
    to: &mut [I],
    from: View<'_, u32>,
    threads: usize,
    mut there: impl FnMut(&mut [I], usize),
) -> Result<(), Error> {
    const INDEX: usize = size_of::<u32>();
    let take = |(to, from): (&mut [I], &[u8])| {
        for (to, index) in to.iter_mut().zip(from.chunks_exact(INDEX)) {
            *to = I::from_usize(u32::from_ne_bytes(index.try_into().expect("as many bytes")) as usize);
        }
    };
    ring.take_out(from.cast(), |range, pinned| {
        let end = range.end / INDEX;
        let part = &mut to[range.start / INDEX..end];
        let each = COPIED_BY_A_TASK_BYTES / INDEX;
        parallel::for_each(threads, part.chunks_mut(each).zip(pinned.chunks(each * INDEX)), take);
        there(to, end);
    })
}

/// All strings, one after the other.
struct Joined<'a, S, F> {
    strings: &'a [S],
    string: F,
    offsets: &'a [u64],
}

impl<S: Sync, F: Fn(&S) -> &[u8] + Sync> Joined<'_, S, F> {
    /// Copies a range of their bytes.
    fn copy(&self, range: Range<usize>, to: &mut [MaybeUninit<u8>], threads: usize) {
        let parts = to.chunks_mut(COPIED_BY_A_TASK_BYTES).zip(range.step_by(COPIED_BY_A_TASK_BYTES));
        parallel::for_each(threads, parts, |(part, start)| self.copy_from(start, part));
    }

    fn copy_from(&self, start: usize, mut to: &mut [MaybeUninit<u8>]) {
        let mut at = start as u64;
        let mut i = self.offsets.partition_point(|&offset| offset <= at) - 1;
        while !to.is_empty() {
            let within = (at - self.offsets[i]) as usize;
            let count = ((self.offsets[i + 1] - at) as usize).min(to.len());
            let part = to.split_off_mut(..count).expect("as long at least");
            // A caller's `as_ref` may return another string by now; the order is then unspecified anyway.
            match (self.string)(&self.strings[i]).get(within..within + count) {
                Some(string) => part.copy_from_slice(bytes(string)),
                None => part.fill(MaybeUninit::new(0)),
            }
            at += count as u64;
            i += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use sortie_simt::Options;

    use super::*;
    use crate::gpu::copy::bytes_mut;
    use crate::gpu::on_bench::{ALLOWED, assert_limit_is_exact, on_bench};

    fn words(n: u32) -> Vec<String> {
        (0..n)
            .map(|i| "ab".repeat((i % 7) as usize) + &(i.wrapping_mul(0x9E37_79B9) % n).to_string())
            .collect()
    }

    #[test]
    fn as_std() {
        on_bench(|gpu| {
            for n in [0, 1, 5000] {
                for descending in [false, true] {
                    let words = words(n);
                    let order = Order { descending, ..Order::default() };
                    let mut found = vec![0u64; words.len()];
                    let report =
                        argsort_strings(gpu, &words, |word| word.as_bytes(), order, &mut found, ALLOWED)
                            .unwrap();
                    let mut expected: Vec<u64> = (0..u64::from(n)).collect();
                    expected.sort_by(|&a, &b| {
                        let ordering = words[a as usize].cmp(&words[b as usize]);
                        if descending { ordering.reverse() } else { ordering }
                    });
                    assert!(found == expected, "{n} words, descending: {descending}");
                    assert_eq!(report.phases.len(), 4);
                }
            }
        });
    }

    /// If the sum of the lengths wrapped around, the device would allocate less memory than it reads.
    #[test]
    fn strings_of_more_bytes_than_there_are_addresses_are_refused() {
        let mut lengths = vec![1 << 62; 4];
        let sum = sum_up(&mut lengths);
        assert!(matches!(sum, Err(Error::Memory { needed: u64::MAX, .. })), "{sum:?}");
        let mut lengths = vec![1 << 62, 5, 0];
        sum_up(&mut lengths).unwrap();
        assert_eq!(lengths, [0, 1 << 62, (1 << 62) + 5, (1 << 62) + 5]);
    }

    #[test]
    fn pieces_are_cut_anywhere() {
        let words = words(50);
        let text = words.concat();
        let ends = words.iter().scan(0, |end, word| {
            *end += word.len() as u64;
            Some(*end)
        });
        let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
        let joined = Joined { strings: &words, string: String::as_bytes, offsets: &offsets };
        for start in 0..text.len() {
            for end in [start + 1, start + 9, text.len()].map(|end| end.min(text.len())) {
                let mut part = vec![0u8; end - start];
                // SAFETY: as in `argsort_strings`.
                joined.copy(start..end, unsafe { bytes_mut(&mut part) }, 1);
                assert_eq!(part, text.as_bytes()[start..end], "{start}..{end}");
            }
        }
    }

    #[test]
    fn a_limit_is_kept_and_exact() {
        on_bench(|gpu| {
            let words = words(3000);
            assert_limit_is_exact(|allowed| {
                let indices = &mut vec![0u32; words.len()];
                argsort_strings(gpu, &words, |word| word.as_bytes(), Order::default(), indices, allowed)
            });
        });
    }

    /// No more memory is allocated on the device than was planned.
    #[test]
    fn the_scratch_stays_within_what_is_planned() {
        on_bench(|gpu| {
            // All tie, again and again, in one group too long for a block; or they tie in pairs.
            let one = vec![b"the same for all of them, and long".to_vec(); 17_000];
            let pairs: Vec<Vec<u8>> = (0..8000u32)
                .map(|i| [&b"a group "[..], &(i / 2).to_be_bytes(), b" that ties"].concat())
                .collect();
            for strings in [one, pairs] {
                let most = 4 * scratch_of_strings(gpu.device().properties(), strings.len()).unwrap();
                let data = strings.concat().len() + 12 * strings.len() + 8;
                let memory = (data + most) as u64;
                let small = Gpu::new(sortie_simt::device(Options { memory, ..Options::default() }).unwrap());
                let indices = &mut vec![0u32; strings.len()];
                argsort_strings(&small, &strings, |string| string, Order::default(), indices, ALLOWED)
                    .unwrap();
            }
        });
    }
}
