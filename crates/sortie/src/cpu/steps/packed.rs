//! Computes the sorting indices of keys with words of 64 bits: the leading bits of a key's code, and its index. The
//! words are sorted in place as keys alone.
//!
//! For many keys, this is faster than distributing codes with indices, which moves twice as many bytes, and packs each
//! bucket into words anyway. For elements with keys, the words are the only scratch memory that finding the order
//! takes.

use std::mem::MaybeUninit;

use crate::cpu::Job;
use crate::cpu::compiled::CpuSorts;
use crate::cpu::order::{Split, order_ties};
use crate::cpu::ranks::Distinct;
use crate::cpu::room::fill;
use crate::cpu::tuning::RANK_SAMPLE;
use crate::cpu::vector::{self, Isa};
use crate::key::Transform;
use crate::parallel::{self, ITEMS_A_TASK};
use crate::scratch::Scratch;
use crate::{Error, Report};

/// Writes the sorting indices of keys. If many keys would tie by their words, writes nothing and returns false.
pub(crate) fn argsort<B: CpuSorts>(
    keys: &[B],
    transform: Transform<B>,
    indices: &mut [u32],
    job: &Job,
    report: &mut Report,
) -> Result<bool, Error> {
    let (isa, n, read) = (Isa::detect(), keys.len(), size_of_val(keys));
    let code = |i: usize| transform.encode(keys[i]);
    let split = report.phase_of_one("profile", read, 0, || {
        vector::compiled_for!(isa, || Split::of(keys.iter().map(|&key| transform.encode(key))))
    });
    if split.dropped::<u64>() > 0
        && repeats(|i| split.word(code((i as u64 * n as u64 / RANK_SAMPLE as u64) as usize), 0))
    {
        return Ok(false);
    }
    let bytes = n * size_of::<u64>();
    // This replaces a copy of the pairs, which takes at least as much memory.
    report.scratch_peak = 0;
    job.budget.scratch(bytes, "", report)?;
    let mut room = Scratch::<u64>::new(n)?;
    report.phase("encode", read, bytes, || {
        let tasks = (0..).step_by(ITEMS_A_TASK).zip(room.chunks_mut(ITEMS_A_TASK));
        parallel::for_each(job.budget.threads, tasks, |(start, slots)| {
            let keys = &keys[start..start + slots.len()];
            vector::compiled_for!(isa, || {
                for ((i, slot), &key) in (start..).zip(slots).zip(keys) {
                    slot.write(split.word(transform.encode(key), i));
                }
            });
        });
    });
    // SAFETY: all words were just written.
    let words = unsafe { room.written_mut() };
    report.absorb(u64::sort(words, Transform::IDENTITY, &job.holding(bytes))?);
    report.phase_of_one("finish", bytes, size_of_val(indices), || {
        order_ties(words, split, code, isa);
        indices.iter_mut().zip(&*words).for_each(|(to, &word)| *to = split.index(word) as u32);
    });
    Ok(true)
}

/// Writes the sorting indices of codes of at most 64 bits to `words`, which has room for them. Stable. `None` if a
/// sample shows few distinct codes. Calls `code` once for each index, and again for codes whose words tie.
pub(crate) fn order<B: CpuSorts>(
    code: impl Fn(usize) -> B,
    words: &mut [MaybeUninit<u64>],
) -> Option<&mut [u64]> {
    assert!(B::WIDTH <= u64::BITS);
    let (n, isa) = (words.len(), Isa::detect());
    if n == 0 || Distinct::sampled::<RANK_SAMPLE>(n, &code).is_some() {
        return None;
    }
    let words = fill(words, (0..n).map(|i| code(i).low()));
    let split = vector::compiled_for!(isa, || {
        let split = Split::of(words.iter().map(|&code| B::from_low(code)));
        for (i, word) in words.iter_mut().enumerate() {
            *word = split.word(B::from_low(*word), i);
        }
        split
    });
    vector::sort(words, isa);
    order_ties(words, split, code, isa);
    words.iter_mut().for_each(|word| *word = split.index(*word) as u64);
    Some(words)
}

/// Whether two words of a sample are equal.
fn repeats(word: impl Fn(usize) -> u64) -> bool {
    let mut sample = [0; RANK_SAMPLE];
    sample.iter_mut().enumerate().for_each(|(i, slot)| *slot = word(i));
    sample.sort_unstable();
    sample.windows(2).any(|pair| pair[0] == pair[1])
}
