//! Sorts keys of 8 and 16 bits by their digits of 8 bits, the lower one first: their indices, or payloads. Each digit is
//! a stable pass that counts and then moves (`stripes.rs`).

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::cpu::lines::Lines;
use crate::cpu::scatter::Pointers;
use crate::cpu::tuning::{DIGIT_LINES_FROM_BYTES, DIGITS_OF_8_FROM, DIGITS_OF_16_FROM};
use crate::cpu::{Job, counting, stripes};
use crate::key::{Bits, Transform};
use crate::parallel;
use crate::report::Work;
use crate::scratch::Scratch;
use crate::ways::CpuWay;
use crate::{Error, Report};

const DIGITS: usize = 1 << u8::BITS;

/// The number of tables of counters, which items use in turn. With a single table, equal neighbours would wait for the
/// increment before.
const TABLES: usize = 4;

/// The bits of an index in a word that also has a digit, in the narrower words.
const NARROW_INDEX_BITS: u32 = u32::BITS - u8::BITS;

/// Whether the indices of `n` keys are found by digits.
pub(crate) fn applies<B: Bits>(n: usize, job: &Job) -> bool {
    let fits = || scratch(n, size_of::<B>()) as u64 <= job.budget.left();
    job.way == CpuWay::Distribute && counting::are_narrow::<B>() && n >= least_keys(size_of::<B>()) && fits()
}

/// The least number of keys of `key` bytes whose indices are found by digits.
pub(crate) const fn least_keys(key: usize) -> usize {
    if key == 1 { DIGITS_OF_8_FROM } else { DIGITS_OF_16_FROM }
}

/// The scratch memory in bytes for the indices of `n` keys of `key` bytes.
pub(crate) fn scratch(n: usize, key: usize) -> usize {
    match key {
        1 => 0,
        _ if n <= 1 << NARROW_INDEX_BITS => n * size_of::<u32>(),
        _ => n.saturating_mul(size_of::<u64>()),
    }
}

/// Writes the sorting indices of the keys. Stable.
pub(crate) fn argsort<B: Bits>(
    keys: &[B],
    transform: Transform<B>,
    indices: &mut [u32],
    job: &Job,
    report: &mut Report,
) -> Result<(), Error> {
    let n = keys.len();
    if const { B::WIDTH == u8::BITS } {
        let (read, written) = (2 * size_of_val(keys), size_of_val(indices));
        report.phase_by_thread("finish", job.budget.threads, read, written, |work| {
            // SAFETY: the digit of an index is always the same.
            unsafe { pass(lower_of(keys), lower(flip(transform)), |i| i as u32, indices, work) };
        });
        Ok(())
    } else if n <= 1 << NARROW_INDEX_BITS {
        argsort_by_words::<B, u32>(keys, transform, indices, job, report)
    } else {
        argsort_by_words::<B, u64>(keys, transform, indices, job, report)
    }
}

/// The bits in which the codes of integers differ from the keys. Keys have the digits of their codes in another order, so none needs
/// to be encoded.
fn flip<B: Bits>(transform: Transform<B>) -> B {
    transform.encode_integer(B::ZERO)
}

/// Two passes. In between, words hold the upper digit and the index.
fn argsort_by_words<B: Bits, W: Bits>(
    keys: &[B],
    transform: Transform<B>,
    indices: &mut [u32],
    job: &Job,
    report: &mut Report,
) -> Result<(), Error> {
    let (n, index_bits, threads) = (keys.len(), W::WIDTH - u8::BITS, job.budget.threads);
    let mut words = Scratch::<W>::new(n)?;
    let moved = size_of_val(&*words);
    // Choosing the transform once, here, avoids a choice for every key.
    let flip = if transform.is_integer() { flip(transform) } else { B::ZERO };
    report.phase_by_thread("distribute", threads, 2 * size_of_val(keys), moved, |work| {
        let word = move |code: B, i: usize| {
            MaybeUninit::new(W::from_low(code.low() >> u8::BITS << index_bits | i as u64))
        };
        // SAFETY: the digit of an index is always the same.
        unsafe {
            if transform.is_integer() {
                pass(lower_of(keys), lower(flip), move |i| word(keys[i], i), &mut words, work);
            } else {
                let code = move |i: usize| transform.encode(keys[i]);
                pass(move |i| lower(code(i)), 0, move |i| word(code(i), i), &mut words, work);
            }
        }
    });
    // SAFETY: all were just written.
    let words = unsafe { words.written() };
    report.phase_by_thread("finish", threads, 2 * moved, size_of_val(indices), |work| {
        let index = move |i: usize| (words[i].low() & ((1 << index_bits) - 1)) as u32;
        // SAFETY: the digit of an index is always the same.
        unsafe {
            pass(move |i| (words[i].low() >> index_bits) as u8, upper(flip), index, indices, work);
        };
    });
    Ok(())
}

/// Whether `n` keys with payloads are sorted by digits. No pass moves the keys, which are counted.
pub(crate) fn applies_to_pairs<B: Bits, V>(n: usize, job: &Job) -> bool {
    let fits = || pairs_scratch::<B, V>(n) as u64 <= job.budget.left();
    job.way == CpuWay::Distribute && counting::are_narrow::<B>() && n >= least_keys(size_of::<B>()) && fits()
}

/// The scratch memory in bytes to sort `n` keys with payloads of type `V`.
pub(crate) fn pairs_scratch<B: Bits, V>(n: usize) -> usize {
    let item = if B::WIDTH > u8::BITS { size_of::<Item<V>>() } else { size_of::<V>() };
    n.saturating_mul(item).saturating_add(counting::scratch::<B>())
}

/// The upper digit of a key, and its payload, without a gap.
#[repr(C, packed)]
struct Item<V> {
    digit: u8,
    payload: MaybeUninit<V>,
}

/// Sorts keys, and moves each payload with its key. Stable. Keys must be recoverable from their codes.
pub(crate) fn sort_pairs<B: Bits, V: Send>(
    keys: &mut [B],
    payload: &mut [V],
    transform: Transform<B>,
    job: &Job,
    report: &mut Report,
) -> Result<(), Error> {
    assert_eq!(keys.len(), payload.len());
    if transform.is_integer() {
        move_payload(keys, flip(transform), payload, job, report)?;
    } else {
        transform.encode_slice(keys);
        let moved = move_payload(keys, B::ZERO, payload, job, report);
        transform.decode_slice(keys);
        moved?;
    }
    let bytes = size_of_val(keys);
    report.phase_of_one("finish", bytes, bytes, || counting::sort(keys, transform));
    Ok(())
}

/// Moves each payload to the position of its key, whose code is `key ^ flip`. If there is an error, none was moved.
fn move_payload<B: Bits, V: Send>(
    keys: &[B],
    flip: B,
    payload: &mut [V],
    job: &Job,
    report: &mut Report,
) -> Result<(), Error> {
    let (n, threads) = (keys.len(), job.budget.threads);
    let (read, moved) = (2 * size_of_val(keys) + size_of_val(payload), size_of_val(payload));
    let low = lower_of(keys);
    if const { B::WIDTH == u8::BITS } {
        let mut sorted = Scratch::<V>::new(n)?;
        report.phase_by_thread("finish", threads, read + moved, 2 * moved, |work| {
            let source = Pointers::of(payload);
            // SAFETY: each payload is moved to scratch memory once, and back into the slice below. Nothing in between
            // panics. The digit of an index is always the same.
            unsafe {
                pass(low, lower(flip), move |i| MaybeUninit::new(source.at(i).read()), &mut sorted, work)
            };
            let part = n.div_ceil(work.threads());
            parallel::for_each(
                threads,
                payload.chunks_mut(part).zip(sorted.chunks_mut(part)),
                |(to, from)| {
                    // SAFETY: the parts have the same length. All payloads were moved to scratch memory.
                    work.task(|| unsafe {
                        std::ptr::copy_nonoverlapping(from.as_ptr().cast(), to.as_mut_ptr(), to.len())
                    });
                },
            );
        });
        return Ok(());
    }
    let mut items = Scratch::<Item<V>>::new(n)?;
    report.phase_by_thread("distribute", threads, read, size_of_val(&*items), |work| {
        let source = Pointers::of(payload);
        let item = move |i: usize| {
            let digit = upper(keys[i]);
            // SAFETY: each payload is moved to scratch memory once, and back into the slice below. Nothing in between
            // panics.
            let payload = unsafe { source.at(i).cast::<MaybeUninit<V>>().read() };
            MaybeUninit::new(Item { digit, payload })
        };
        // SAFETY: the digit of an index is always the same.
        unsafe { pass(low, lower(flip), item, &mut items, work) };
    });
    report.phase_by_thread("finish", threads, 2 * size_of_val(&*items), moved, |work| {
        let items = Pointers::of(&mut items);
        // SAFETY: all were written. Several threads only read them.
        let item = move |i: usize| unsafe { items.at(i).cast::<Item<V>>() };
        // SAFETY: all payloads have been moved out, and every position is written again.
        let payload = unsafe {
            std::slice::from_raw_parts_mut(payload.as_mut_ptr().cast::<MaybeUninit<V>>(), payload.len())
        };
        // SAFETY: the items are within the scratch memory, and packed. The digit of an index is always the same.
        unsafe {
            pass(
                move |i| (*item(i)).digit,
                upper(flip),
                move |i| (&raw const (*item(i)).payload).read_unaligned(),
                payload,
                work,
            )
        };
    });
    Ok(())
}

fn lower<B: Bits>(bits: B) -> u8 {
    bits.low() as u8
}

fn upper<B: Bits>(bits: B) -> u8 {
    (bits.low() >> u8::BITS) as u8
}

/// The lower digit of the key at an index.
fn lower_of<B: Bits>(keys: &[B]) -> impl Fn(usize) -> u8 + Copy + Sync {
    move |i| lower(keys[i])
}

/// Writes `item(i)` for each index `i` of `to`, in the order of `digit(i) ^ flip`. Stable. Drops nothing.
///
/// The closures hold what they use by value, and are copied to each task. Through a reference they would load it again for
/// every item, because the compiler cannot tell that a store to `to` does not change it.
///
/// # Safety
/// `digit` returns the same for the same index.
unsafe fn pass<T: Send>(
    digit: impl Fn(usize) -> u8 + Copy + Sync,
    flip: u8,
    item: impl Fn(usize) -> T + Copy + Sync,
    to: &mut [T],
    work: &Work,
) {
    let (n, by_lines) = (to.len(), size_of_val(to) >= DIGIT_LINES_FROM_BYTES);
    let to = Pointers::of(to);
    let count = move |stripe: Range<usize>| flipped(&count(stripe, digit), flip).to_vec();
    let scatter = move |stripe: Range<usize>, starts: Vec<usize>| {
        // SAFETY: the starts are sums of the counts of the same digits, so every position is written once, by one stripe.
        unsafe { move_stripe(stripe, flipped(&starts, flip), digit, item, to, by_lines) };
    };
    stripes::distribute(n, work, &count, &scatter);
}

/// What there is for each digit, for each `digit ^ flip`.
fn flipped(of_digits: &[usize], flip: u8) -> [usize; DIGITS] {
    let mut flipped = [0; DIGITS];
    for digit in 0..=u8::MAX {
        flipped[usize::from(digit)] = of_digits[usize::from(digit ^ flip)];
    }
    flipped
}

/// Writes the items of a stripe from the starts of their digits on.
///
/// # Safety
/// From each start on, there is room for the items of that digit, which nothing else accesses.
unsafe fn move_stripe<T>(
    stripe: Range<usize>,
    mut starts: [usize; DIGITS],
    digit: impl Fn(usize) -> u8,
    item: impl Fn(usize) -> T,
    to: Pointers<T>,
    by_lines: bool,
) {
    if !by_lines {
        for i in stripe {
            let start = &mut starts[usize::from(digit(i))];
            // SAFETY: the caller guarantees it.
            unsafe { to.at(*start).write(item(i)) };
            *start += 1;
        }
        return;
    }
    // SAFETY: the caller guarantees it.
    unsafe {
        let mut lines = Lines::new(to.all(&starts));
        for i in stripe {
            lines.push(usize::from(digit(i)), item(i));
        }
        lines.finish();
    }
}

/// The number of indices with each digit.
fn count(range: Range<usize>, digit: impl Fn(usize) -> u8) -> [usize; DIGITS] {
    let mut counts = [[0; DIGITS]; TABLES];
    let Range { start: mut i, end } = range;
    while i + TABLES <= end {
        for (table, counts) in counts.iter_mut().enumerate() {
            counts[usize::from(digit(i + table))] += 1;
        }
        i += TABLES;
    }
    while i < end {
        counts[0][usize::from(digit(i))] += 1;
        i += 1;
    }
    sum(&counts)
}

/// The sums of the tables.
fn sum(tables: &[[usize; DIGITS]; TABLES]) -> [usize; DIGITS] {
    std::array::from_fn(|digit| tables.iter().map(|counts| counts[digit]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sorter;
    use crate::parallel::ITEMS_A_TASK;
    use crate::request::Budget;

    /// Every kind of pass: of one thread and of several, with and without lines, and with the wider words. Once, a call failed if the
    /// keys were too few for the threads.
    #[test]
    fn indices_are_those_of_a_stable_sort() {
        let mut random = fastrand::Rng::with_seed(1);
        for n in [
            DIGITS_OF_8_FROM,
            least_keys(2),
            3 * ITEMS_A_TASK + 1,
            DIGIT_LINES_FROM_BYTES / size_of::<u32>() + 1,
        ] {
            let keys: Vec<u16> = (0..n).map(|_| random.u16(..)).collect();
            let mut expected: Vec<u32> = (0..n as u32).collect();
            expected.sort_by_key(|&i| keys[i as usize]);
            for threads in [1, 3, 16] {
                let sorter = Sorter::builder().threads(threads).build().unwrap();
                let mut indices = vec![0u32; n];
                let report = sorter.argsort(&keys, &mut indices).unwrap();
                assert!(indices == expected, "{n} keys by {threads} threads");
                assert!(n < least_keys(2) || report.scratch_peak == scratch(n, 2) as u64);
            }
            let mut indices = vec![0u32; n];
            let job = Job { way: CpuWay::Distribute, stable: true, budget: Budget::of_threads(1) };
            let report = &mut Report::default();
            argsort_by_words::<u16, u64>(&keys, Transform::IDENTITY, &mut indices, &job, report).unwrap();
            assert!(indices == expected, "{n} keys by wide words");
        }
    }

    /// Signed and descending keys have the digits of their codes in another order.
    #[test]
    fn flipped_digits_give_the_order_of_the_codes() {
        fn check<K: crate::Key + Ord + Copy>(keys: &[K]) {
            for descending in [false, true] {
                let mut expected: Vec<usize> = (0..keys.len()).collect();
                expected.sort_by(|&a, &b| {
                    let order = keys[a].cmp(&keys[b]);
                    if descending { order.reverse() } else { order }
                });
                let sorter = Sorter::builder().threads(2).descending(descending).build().unwrap();
                let mut indices = vec![0usize; keys.len()];
                sorter.argsort(keys, &mut indices).unwrap();
                assert!(indices == expected);
                let (mut sorted, mut payload) = (keys.to_vec(), (0..keys.len()).collect::<Vec<_>>());
                sorter.sort_pairs(&mut sorted, &mut payload).unwrap();
                assert!(payload == expected);
                assert!(sorted.iter().zip(expected).all(|(key, i)| *key == keys[i]));
            }
        }
        let mut random = fastrand::Rng::with_seed(2);
        for n in [DIGITS_OF_8_FROM + 1, least_keys(2) + 1, 3 * ITEMS_A_TASK + 1] {
            check(&(0..n).map(|_| random.i8(..)).collect::<Vec<_>>());
            check(&(0..n).map(|_| random.u8(..)).collect::<Vec<_>>());
            check(&(0..n).map(|_| random.i16(..)).collect::<Vec<_>>());
            check(&(0..n).map(|_| random.u16(..)).collect::<Vec<_>>());
        }
    }
}
