//! Divides keys between the GPU and the CPU's buckets, by one sample.

use std::mem::MaybeUninit;

use crate::compose::tuning::{
    BUCKETS_A_THREAD, HYBRID_BUCKET_BYTES, HYBRID_SAMPLE, MOST_HYBRID_BUCKETS, TAIL_SAMPLED_A_BUCKET,
};
use crate::cpu::distribute::{self, Classifier};
use crate::cpu::vector::{self, Isa};
use crate::key::{Bits, Transform};

use super::Moved;
use crate::{Error, scratch};

/// The number of keys that are encoded before they are split: at most 8 KB of the L1 cache.
const ENCODED_AT_ONCE: usize = 1 << 10;

/// Splits keys by their codes: the smallest ones go to the GPU, the others to buckets of the CPU.
pub(super) struct Split<B> {
    /// The smallest code for the CPU.
    pivot: B,
    /// The CPU's buckets.
    classifier: Classifier<B>,
    transform: Transform<B>,
    isa: Isa,
    /// The GPU's share of the sample.
    pub share: f64,
}

impl<B: Bits> Split<B> {
    /// Divides the keys, of which there is at least one, so that the GPU gets about the given share. `None` if there
    /// are so many equal keys that no pivot is near the share, or that the CPU's keys would be in few buckets.
    pub fn sampled(keys: &[B], transform: Transform<B>, share: f64, threads: usize) -> Option<Self> {
        let isa = Isa::detect();
        let code = |index: usize| transform.encode(keys[index]);
        let sample = distribute::sample(keys.len(), code, HYBRID_SAMPLE, isa);
        let wanted = ((share * sample.len() as f64) as usize).min(sample.len() - 1);
        let near = sample[wanted];
        let below = sample.partition_point(|&code| code < near);
        // Equal keys stay together: on the CPU if few of them would belong to the GPU, else on the GPU.
        let (pivot, gpus) = if wanted - below <= sample.len() / 64 {
            (near, below)
        } else {
            (near.wrapping_add(B::from_low(1)), sample.partition_point(|&code| code <= near))
        };
        let tail = &sample[gpus..];
        let share = gpus as f64 / sample.len() as f64;
        let bytes = size_of_val(keys) as f64 * (1.0 - share);
        let wanted =
            (bytes as usize / HYBRID_BUCKET_BYTES).max(BUCKETS_A_THREAD * threads).next_power_of_two();
        let buckets = wanted.min(MOST_HYBRID_BUCKETS).min(tail.len() / TAIL_SAMPLED_A_BUCKET);
        if gpus == 0 || buckets < 2 {
            return None;
        }
        let classifier = Classifier::sampled(tail.len(), |index| tail[index], buckets, isa);
        classifier.is_even().then_some(Split { pivot, classifier, transform, isa, share })
    }

    pub fn buckets(&self) -> usize {
        self.classifier.buckets()
    }

    /// Writes the codes and the payloads of the GPU's keys, and returns their number. The others go to the tail.
    /// Payloads keep their order in both.
    pub fn stretch<const N: usize>(
        &self,
        (keys, payload): (&[B], &[Moved<N>]),
        (to_keys, to_payload): (&mut [B], &mut [Moved<N>]),
        tail: &mut Tail<B, N>,
    ) -> usize {
        vector::compiled_for!(self.isa, || match N {
            0 => self.keys_alone(keys, to_keys, tail),
            _ => self.pairs((keys, payload), (to_keys, to_payload), tail),
        })
    }

    /// Uses vector instructions. Keys that are not their own codes are encoded a few at a time, which stay in the L1
    /// cache.
    #[inline(always)]
    fn keys_alone<const N: usize>(&self, keys: &[B], to: &mut [B], tail: &mut Tail<B, N>) -> usize {
        if self.transform.is_identity() {
            let count = vector::split_to(keys, self.pivot, to, &mut tail.keys, self.isa);
            tail.len = keys.len() - count;
            return count;
        }
        let (mut count, mut left) = (0, 0);
        let mut codes = [B::ZERO; ENCODED_AT_ONCE];
        for keys in keys.chunks(ENCODED_AT_ONCE) {
            let codes = &mut codes[..keys.len()];
            codes.copy_from_slice(keys);
            self.transform.encode_slice(codes);
            let (to, others) = (&mut to[count..], &mut tail.keys[left..]);
            let less = vector::split_to(codes, self.pivot, to, others, self.isa);
            count += less;
            left += keys.len() - less;
        }
        tail.len = left;
        count
    }

    /// Without a branch on the key: each pair is written to both targets, and one of the counts is increased.
    #[inline(always)]
    fn pairs<const N: usize>(
        &self,
        (keys, payload): (&[B], &[Moved<N>]),
        (to_keys, to_payload): (&mut [B], &mut [Moved<N>]),
        tail: &mut Tail<B, N>,
    ) -> usize {
        let (mut count, mut left) = (0, 0);
        for (&key, &payload) in keys.iter().zip(payload) {
            let code = self.transform.encode(key);
            (to_keys[count], to_payload[count]) = (code, payload);
            (tail.keys[left], tail.payload[left]) = (code, payload);
            let less = usize::from(code < self.pivot);
            count += less;
            left += 1 - less;
        }
        tail.len = left;
        count
    }

    /// Orders the tail stably by bucket. Returns the start of each bucket, followed by the end of the last one.
    pub fn scatter<const N: usize>(&self, tail: &mut Tail<B, N>) -> Vec<u32> {
        vector::compiled_for!(self.isa, || {
            let Tail { keys, payload, len, labels, by_bucket, payload_by_bucket } = tail;
            let (keys, payload) = (&keys[..*len], &payload[..*len]);
            let mut starts = vec![0u32; self.buckets() + 1];
            for (label, &code) in labels.iter_mut().zip(keys) {
                *label = self.classifier.bucket_of_cell(self.classifier.cell(code)) as u16;
                starts[usize::from(*label) + 1] += 1;
            }
            (0..self.buckets()).for_each(|bucket| starts[bucket + 1] += starts[bucket]);
            let mut next = starts.clone();
            for ((&label, &code), &payload) in labels.iter().zip(keys).zip(payload) {
                let to = &mut next[usize::from(label)];
                by_bucket[*to as usize] = code;
                payload_by_bucket[*to as usize] = payload;
                *to += 1;
            }
            starts
        })
    }
}

/// The CPU's keys of a stretch.
pub(super) struct Tail<B, const N: usize> {
    keys: Vec<B>,
    payload: Vec<Moved<N>>,
    len: usize,
    /// The bucket of each key.
    labels: Vec<u16>,
    by_bucket: Vec<B>,
    payload_by_bucket: Vec<Moved<N>>,
}

impl<B: Bits, const N: usize> Tail<B, N> {
    /// Allocates memory for stretches of at most `most` keys.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn new(most: usize) -> Result<Self, Error> {
        let none = [MaybeUninit::uninit(); N];
        Ok(Tail {
            keys: filled(B::ZERO, most)?,
            payload: filled(none, most)?,
            len: 0,
            labels: filled(0, most)?,
            by_bucket: filled(B::ZERO, most)?,
            payload_by_bucket: filled(none, most)?,
        })
    }

    /// The bytes for stretches of `most` keys.
    pub fn bytes(most: usize) -> usize {
        most * (2 * (size_of::<B>() + N) + size_of::<u16>())
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Keys and payloads in order of buckets.
    pub fn by_bucket(&self) -> (&[B], &[Moved<N>]) {
        (&self.by_bucket[..self.len], &self.payload_by_bucket[..self.len])
    }
}

fn filled<T: Copy>(item: T, count: usize) -> Result<Vec<T>, Error> {
    let mut items = scratch::reserve(count)?;
    items.resize(count, item);
    Ok(items)
}
