//! Step: sorted keys are copied back from the GPU, and the CPU's buckets are sorted after them.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::distribute::Part;
use super::{Moved, as_arrays};
use crate::Error;
use crate::compose::tuning::COPIERS;
use crate::cpu::sorts::CpuSorts;
use crate::cpu::vector::{self, Isa};
use crate::cpu::{self, Job};
use crate::gpu::copy;
use crate::gpu::{Clock, HostShare, Ring};
use crate::key::Transform;
use crate::request::Budget;
use crate::ways::CpuWay;

/// The destination of sorted keys and payloads.
pub(super) struct Target<'a, B, const N: usize> {
    pub keys: &'a mut [B],
    pub payload: &'a mut [MaybeUninit<Moved<N>>],
    /// The memory for sorted buckets until keys may be written to the array.
    pub early: &'a mut [MaybeUninit<B>],
}

impl<'a, B, const N: usize> Target<'a, B, N> {
    /// Splits off room for `count` keys.
    fn take(&mut self, count: usize, early: usize) -> Target<'a, B, N> {
        let room = "as long as what goes there";
        Target {
            keys: self.keys.split_off_mut(..count).expect(room),
            payload: self.payload.split_off_mut(..count).expect(room),
            early: self.early.split_off_mut(..early).expect(room),
        }
    }
}

pub(super) struct Finish<'a, B, const N: usize> {
    device: &'a HostShare<'a, B>,
    parts: &'a [Part<'a, B, N>],
    transform: Transform<B>,
    /// The buckets, and the pieces that the GPU sorts. They are taken from the end.
    buckets: Mutex<Vec<(usize, Target<'a, B, N>)>>,
    pieces: Mutex<Vec<(Range<usize>, Target<'a, B, N>)>>,
    /// Whether the GPU is done, so that the array may be written.
    sorted: AtomicBool,
    /// The number of threads that copy pieces back.
    copiers: usize,
}

impl<'a, B: CpuSorts, const N: usize> Finish<'a, B, N> {
    /// The GPU sorts the first `there` keys of the result, which are copied back in pieces of at most `piece` keys.
    #[expect(clippy::too_many_arguments, reason = "what two engines have of a sort")]
    pub fn new(
        device: &'a HostShare<'a, B>,
        there: usize,
        piece: usize,
        parts: &'a [Part<'a, B, N>],
        buckets: usize,
        mut to: Target<'a, B, N>,
        transform: Transform<B>,
        threads: usize,
    ) -> Self {
        let starts = (0..there).step_by(piece);
        let mut pieces: Vec<_> = starts
            .map(|start| start..there.min(start + piece))
            .map(|piece| (piece.clone(), to.take(piece.len(), 0)))
            .collect();
        pieces.reverse();
        let size = |bucket: usize| parts.iter().map(|part| part.bucket(bucket).0.len()).sum::<usize>();
        let mut tasks: Vec<_> =
            (0..buckets).map(|bucket| (bucket, to.take(size(bucket), size(bucket)))).collect();
        assert!(to.keys.is_empty(), "every key is in a piece or a bucket");
        tasks.sort_by_key(|(_, to)| to.keys.len());
        Finish {
            device,
            parts,
            transform,
            buckets: Mutex::new(tasks),
            pieces: Mutex::new(pieces),
            sorted: AtomicBool::new(false),
            copiers: threads.div_ceil(COPIERS),
        }
    }

    /// Processes pieces, if this is one of the first threads, and buckets, until there are no more.
    pub fn work(
        &self,
        thread: usize,
        ring: &mut Ring,
        clock: &mut Clock<'_>,
        failed: &AtomicBool,
    ) -> Result<(), Error> {
        let mut copies = thread < self.copiers;
        let mut early: Vec<(&[B], &mut [B])> = Vec::new();
        if thread == 0 {
            // One thread waits for the GPU and informs the others.
            self.wait(clock)?;
        }
        while !failed.load(Relaxed) {
            let sorted = self.sorted.load(Relaxed);
            if sorted && copies {
                self.bring(ring, clock, failed)?;
                copies = false;
            }
            if sorted {
                early.drain(..).for_each(|(from, to)| to.copy_from_slice(from));
            }
            let next = self.buckets.lock().expect("no holder panics").pop();
            match next {
                Some((bucket, to)) if sorted => {
                    // SAFETY: only keys are written, in order.
                    self.sort(bucket, unsafe { uninit(to.keys) }, to.payload)?;
                }
                Some((bucket, to)) => early.push((self.sort(bucket, to.early, to.payload)?, to.keys)),
                None if copies || !early.is_empty() => self.wait(clock)?,
                None => break,
            }
        }
        Ok(())
    }

    /// Waits until the GPU has sorted.
    fn wait(&self, clock: &mut Clock<'_>) -> Result<(), Error> {
        clock.wait(&self.device.done)?;
        self.sorted.store(true, Relaxed);
        Ok(())
    }

    /// Copies pieces back until there are no more.
    fn bring(&self, ring: &mut Ring, clock: &mut Clock<'_>, failed: &AtomicBool) -> Result<(), Error> {
        let next = || {
            let next = self.pieces.lock().expect("no holder panics").pop();
            let (piece, to) = next.filter(|_| !failed.load(Relaxed))?;
            Some((to, self.device.sorted(piece)))
        };
        let take = |to: Target<'_, B, N>, slot: &mut [u64]| {
            let (keys, payload) = as_arrays::<B, N>(slot, to.keys.len());
            vector::compiled_for!(Isa::detect(), || self.transform.decode_slice(keys));
            // SAFETY: only keys are copied.
            copy::past_caches(unsafe { uninit(to.keys) }, keys);
            copy::past_caches(to.payload, payload);
        };
        ring.bring(clock, next, take)
    }

    /// Gathers a bucket from all parts into `keys` and `payload`, and sorts it there.
    fn sort<'k>(
        &self,
        bucket: usize,
        keys: &'k mut [MaybeUninit<B>],
        payload: &mut [MaybeUninit<Moved<N>>],
    ) -> Result<&'k [B], Error> {
        let parts = || self.parts.iter().map(|part| part.bucket(bucket));
        let keys = joined(keys, parts().map(|(keys, _)| keys));
        let payload = joined(payload, parts().map(|(_, payload)| payload));
        let isa = Isa::detect();
        if N == 0 {
            vector::sort(keys, isa);
        } else {
            let job = Job { way: CpuWay::Distribute, stable: true, budget: Budget::of_threads(1) };
            let codes = Transform::IDENTITY;
            cpu::pairs::sort(keys, payload, codes, &job)?;
        }
        vector::compiled_for!(isa, || self.transform.decode_slice(keys));
        Ok(keys)
    }
}

/// Items as uninitialised memory.
///
/// # Safety
/// The caller only writes items of the type.
unsafe fn uninit<T: Copy>(items: &mut [T]) -> &mut [MaybeUninit<T>] {
    let (at, len) = (items.as_mut_ptr().cast(), items.len());
    // SAFETY: this is the same memory; the caller guarantees what is written.
    unsafe { std::slice::from_raw_parts_mut(at, len) }
}

/// Concatenates the parts, which fill the room exactly.
fn joined<'t, 'f, T: Copy + 'f>(
    to: &'t mut [MaybeUninit<T>],
    parts: impl Iterator<Item = &'f [T]>,
) -> &'t mut [T] {
    let mut rest = &mut *to;
    for part in parts {
        let to = rest.split_off_mut(..part.len()).expect("the room is as long as the parts");
        // SAFETY: the part has this length, and copied items need not be dropped.
        unsafe { to.as_mut_ptr().cast::<T>().copy_from_nonoverlapping(part.as_ptr(), part.len()) };
    }
    assert!(rest.is_empty(), "the parts fill the room");
    // SAFETY: all of it has been written.
    unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr().cast(), to.len()) }
}
