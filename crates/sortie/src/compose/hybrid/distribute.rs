//! Step: all threads distribute stretches of the array to the device and to the CPU's buckets.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use super::split::{Split, Tail};
use super::{Moved, as_arrays, payload_start};
use crate::Error;
use crate::cpu::sorts::CpuSorts;
use crate::gpu::{Clock, HostShare, Ring};

/// The result of distributing a stretch.
pub(super) struct Part<'s, B, const N: usize> {
    /// The index of the stretch.
    stretch: usize,
    /// The keys that went to the device, as a range there.
    pub device: Range<usize>,
    /// The other keys, by bucket. `starts` has the start of each bucket, followed by the end of the last one.
    keys: &'s [B],
    payload: &'s [Moved<N>],
    starts: Vec<u32>,
}

impl<'s, B, const N: usize> Part<'s, B, N> {
    /// The keys of a bucket, and their payloads.
    pub fn bucket(&self, bucket: usize) -> (&'s [B], &'s [Moved<N>]) {
        let range = self.starts[bucket] as usize..self.starts[bucket + 1] as usize;
        (&self.keys[range.clone()], &self.payload[range])
    }
}

/// Unused room for keys and payloads.
type Rest<'s, B, const N: usize> = (&'s mut [MaybeUninit<B>], &'s mut [MaybeUninit<Moved<N>>]);

pub(super) struct Distribution<'a, 's, B, const N: usize> {
    pub split: &'a Split<B>,
    /// The number of keys in a stretch.
    pub stretch: usize,
    pub keys: &'a [B],
    pub payload: &'a [Moved<N>],
    pub device: &'a HostShare<'a, B>,
    pub next: AtomicUsize,
    pub rest: Mutex<Rest<'s, B, N>>,
    /// Whether there was too little room, because the sample did not represent the keys.
    pub given_up: AtomicBool,
}

impl<'s, B: CpuSorts, const N: usize> Distribution<'_, 's, B, N> {
    /// Processes stretches until there are no more.
    pub fn work(
        &self,
        ring: &mut Ring,
        clock: &mut Clock<'_>,
        failed: &AtomicBool,
    ) -> Result<Vec<Part<'s, B, N>>, Error> {
        let mut tail = Tail::new(self.stretch)?;
        let mut parts = Vec::new();
        while !failed.load(Relaxed) && !self.given_up.load(Relaxed) {
            let stretch = self.next.fetch_add(1, Relaxed);
            let start = stretch.saturating_mul(self.stretch);
            if start >= self.keys.len() {
                break;
            }
            let range = start..self.keys.len().min(start + self.stretch);
            let from = (&self.keys[range.clone()], &self.payload[range]);
            let mut device = None;
            ring.send(clock, |slot| {
                let (keys, payload) = as_arrays(slot, self.stretch);
                let count = self.split.stretch(from, (keys, payload), &mut tail);
                device = self.device.take(count);
                let [to_keys, to_payload] = self.device.sent(device.clone().unwrap_or_default());
                Ok([(0, to_keys), (payload_start::<B>(self.stretch), to_payload)])
            })?;
            let starts = self.split.scatter(&mut tail);
            let (Some(device), Some((keys, payload))) = (device, self.keep(&tail)) else {
                self.given_up.store(true, Relaxed);
                break;
            };
            parts.push(Part { stretch, device, keys, payload, starts });
        }
        Ok(parts)
    }

    /// Copies a tail to the unused room. `None` if there is too little.
    fn keep(&self, tail: &Tail<B, N>) -> Option<(&'s [B], &'s [Moved<N>])> {
        let (to_keys, to_payload) = {
            let mut rest = self.rest.lock().expect("no holder panics");
            let (keys, payload) = &mut *rest;
            (keys.split_off_mut(..tail.len())?, payload.split_off_mut(..tail.len())?)
        };
        let (keys, payload) = tail.by_bucket();
        Some((written(to_keys, keys), written(to_payload, payload)))
    }

    /// The parts of all threads, in the order of the array. `None` if the threads gave up.
    pub fn done(self, parts: Vec<Vec<Part<'s, B, N>>>) -> Option<Vec<Part<'s, B, N>>> {
        let mut parts: Vec<_> = parts.into_iter().flatten().collect();
        parts.sort_unstable_by_key(|part| part.stretch);
        (!self.given_up.into_inner()).then_some(parts)
    }
}

fn written<'s, T: Copy>(to: &'s mut [MaybeUninit<T>], from: &[T]) -> &'s [T] {
    assert_eq!(to.len(), from.len());
    // SAFETY: both have the same number of items, which need not be dropped, and all of them are written.
    unsafe {
        to.as_mut_ptr().cast::<T>().copy_from_nonoverlapping(from.as_ptr(), from.len());
        std::slice::from_raw_parts(to.as_ptr().cast(), to.len())
    }
}
