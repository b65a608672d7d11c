//! Copies between pageable host memory and a device: a stream, and a ring of slots of pinned memory. Each slot waits only for its
//! own copies. All copies from pageable memory go through a ring.

use std::collections::VecDeque;
use std::mem::{self, MaybeUninit};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sortie_device::{Device, Event, Pinned, Stream, View};

use crate::gpu::copy::bytes_mut;
use crate::gpu::tuning::{PIECE_BYTES, RING_SLOT_BYTES, RING_SLOTS, SHARED_SLOTS};
use crate::{Bound, Error};

/// Used by one thread at a time.
#[derive(Debug)]
pub(crate) struct Ring {
    stream: Stream,
    slots: VecDeque<Slot>,
    /// How many of the slots, counted from the end, hold copies from the device.
    coming: usize,
    kept: Kept,
}

/// The slots of rings that were dropped, for the next ones.
pub(crate) type Kept = Arc<Mutex<Vec<VecDeque<Slot>>>>;

/// Pinned memory, and an event for the end of its last copies.
#[derive(Debug)]
pub(crate) struct Slot {
    pinned: Pinned<u64>,
    done: Event,
    /// When these copies were enqueued, if they may still run. An event for the start would keep the device from the
    /// next copy.
    since: Option<Instant>,
}

/// The number of slots of a ring, and the bytes of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slots {
    pub count: usize,
    pub bytes: usize,
}

impl Slots {
    /// For a ring that one of several threads fills, and copies of at most `most` bytes.
    pub fn of_one_thread(most: usize) -> Slots {
        Slots { count: RING_SLOTS, bytes: most.min(RING_SLOT_BYTES) }
    }

    /// For a ring whose slots all threads fill together.
    pub fn of_all_threads(most: usize) -> Slots {
        Slots { count: SHARED_SLOTS, bytes: most.min(PIECE_BYTES) }
    }

    /// Bytes of pinned memory of all slots.
    pub fn pinned(self) -> usize {
        self.count * self.bytes.next_multiple_of(size_of::<u64>())
    }
}

/// When a device began with something and when it was done, in milliseconds from an event.
pub(crate) type Span = [f32; 2];

impl Ring {
    /// Makes a ring with slots that were kept, or with new ones.
    ///
    /// # Errors
    /// [`Error::Memory`] if the system has too little pinned memory.
    pub fn new(device: &Device, kept: &Kept, wanted: Slots) -> Result<Ring, Error> {
        let stream = device.stream()?;
        let words = wanted.bytes.div_ceil(size_of::<u64>());
        let free = || {
            let mut kept = kept.lock().expect("no holder panics");
            let length = |slots: &VecDeque<Slot>| slots.iter().map(|slot| slot.pinned.len()).min();
            // The smallest that fits, so that a large one is left for whoever needs it.
            let fits = (0..kept.len())
                .filter(|&i| kept[i].len() == wanted.count && length(&kept[i]) >= Some(words))
                .min_by_key(|&i| length(&kept[i]));
            if fits.is_none() {
                // Slots that are too small will not be asked for again.
                kept.retain(|slots| slots.len() != wanted.count);
            }
            fits.map(|i| kept.swap_remove(i))
        };
        let slot = |i: usize| -> Result<Slot, Error> {
            let pinned = device.alloc_pinned(words).map_err(|error| match error {
                sortie_device::Error::OutOfPinned { .. } => Error::Memory {
                    bound: Bound::Host,
                    needed: wanted.pinned() as u64,
                    available: (wanted.pinned() / wanted.count * i) as u64,
                    hint: "a GPU needs pinned memory; use the CPU engine, or raise ulimit -l",
                },
                other => other.into(),
            })?;
            Ok(Slot { pinned, done: device.event()?, since: None })
        };
        let slots = match free() {
            Some(slots) => slots,
            None => (0..wanted.count).map(slot).collect::<Result<_, _>>()?,
        };
        Ok(Ring { stream, slots, coming: 0, kept: kept.clone() })
    }

    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Calls `fill` to write to a free slot; it returns where the bytes from certain positions on go. Enqueues those
    /// copies.
    pub fn send<'v, const N: usize>(
        &mut self,
        clock: &mut Clock<'_>,
        fill: impl FnOnce(&mut [u64]) -> Result<[(usize, View<'v, u8>); N], Error>,
    ) -> Result<(), Error> {
        let slot = self.slots.front_mut().expect("a ring has slots");
        slot.free(clock)?;
        let copies = fill(&mut slot.pinned)?;
        slot.since = Some(Instant::now());
        for (start, to) in copies {
            let from = &bytemuck::cast_slice(&slot.pinned)[start..start + to.len()];
            // SAFETY: the slot is not touched until its event has happened.
            unsafe { self.stream.enqueue_copy_in(to, from)? };
        }
        self.stream.record(&slot.done)?;
        self.slots.rotate_left(1);
        Ok(())
    }

    /// Enqueues copies to a slot: of the first view to its start, and of each other view from the next whole word on.
    /// There must be a slot whose content was [taken](Ring::take). What was sent from it is copied first, because both
    /// are on one stream.
    pub fn fetch<const N: usize>(&mut self, from: [View<'_, u8>; N]) -> Result<(), Error> {
        assert!(self.coming < self.slots.len(), "a slot is free");
        let slot = self.slots.front_mut().expect("a ring has slots");
        slot.since = Some(Instant::now());
        let mut start = 0;
        for from in from {
            let to = &mut bytemuck::cast_slice_mut(&mut slot.pinned)[start..start + from.len()];
            // SAFETY: the slot is not touched until its event has happened.
            unsafe { self.stream.enqueue_copy_out(to, from)? };
            start += from.len().next_multiple_of(size_of::<u64>());
        }
        self.stream.record(&slot.done)?;
        self.slots.rotate_left(1);
        self.coming += 1;
        Ok(())
    }

    /// Waits for the oldest fetched copy that is not taken yet, and hands over its slot.
    pub fn take<R>(&mut self, clock: &mut Clock<'_>, take: impl FnOnce(&mut [u64]) -> R) -> Result<R, Error> {
        let oldest = self.slots.len() - self.coming;
        let slot = &mut self.slots[oldest];
        slot.free(clock)?;
        self.coming -= 1;
        Ok(take(&mut slot.pinned))
    }

    /// Fetches what `next` returns until it returns nothing, with as many copies at a time as there are slots. `take`
    /// gets each result in its slot.
    pub fn bring<'v, T, const N: usize>(
        &mut self,
        clock: &mut Clock<'_>,
        mut next: impl FnMut() -> Option<(T, [View<'v, u8>; N])>,
        mut take: impl FnMut(T, &mut [u64]),
    ) -> Result<(), Error> {
        let mut coming = VecDeque::new();
        loop {
            while coming.len() < self.slots.len()
                && let Some((what, from)) = next()
            {
                self.fetch(from)?;
                coming.push_back(what);
            }
            let Some(what) = coming.pop_front() else { return Ok(()) };
            self.take(clock, |slot| take(what, slot))?;
        }
    }

    /// Sends what `fill` writes for each range of `to`. Returns when all has been written.
    ///
    /// # Safety
    /// `fill` writes only initialised bytes, or copies of the bytes of a payload.
    pub unsafe fn fill_in(
        &mut self,
        to: View<'_, u8>,
        mut fill: impl FnMut(Range<usize>, &mut [MaybeUninit<u8>]),
    ) -> Result<(), Error> {
        for range in pieces(to.len(), self.piece()) {
            self.send(&mut Clock::stopped(), |slot| {
                // SAFETY: the caller guarantees it.
                fill(range.clone(), &mut unsafe { bytes_mut(slot) }[..range.len()]);
                Ok([(0, to.range(range.clone()))])
            })?;
        }
        Ok(())
    }

    /// Copies all of it back, and gives `take` each range as it arrives.
    pub fn take_out(
        &mut self,
        from: View<'_, u8>,
        mut take: impl FnMut(Range<usize>, &[u8]),
    ) -> Result<(), Error> {
        let mut rest = pieces(from.len(), self.piece());
        let next = || rest.next().map(|range| (range.clone(), [from.range(range)]));
        self.bring(&mut Clock::stopped(), next, |range, slot| {
            let pinned = &bytemuck::cast_slice(slot)[..range.len()];
            take(range, pinned);
        })
    }

    /// Bytes of a piece. It may be smaller than a slot, because slots may have been kept from a larger sort.
    fn piece(&self) -> usize {
        let words = self.slots.iter().map(|slot| slot.pinned.len()).min().unwrap_or(0);
        (words * size_of::<u64>()).clamp(1, PIECE_BYTES)
    }

    /// Makes what another stream does from now on wait for what was enqueued here.
    pub fn hold_up(&self, device: &Device, other: &Stream) -> Result<(), Error> {
        let sent = device.event()?;
        self.stream.record(&sent)?;
        Ok(other.wait_for(&sent)?)
    }

    /// Waits until no copy is in flight.
    pub fn settle(&mut self, clock: &mut Clock<'_>) -> Result<(), Error> {
        self.slots.iter_mut().try_for_each(|slot| slot.free(clock))
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // Before the memory is freed, which a copy may still use. A lost device does not use it any more.
        let done = self.stream.wait();
        let mut slots = mem::take(&mut self.slots);
        slots.iter_mut().for_each(|slot| slot.since = None);
        if let (Ok(()), Ok(mut kept)) = (done, self.kept.lock()) {
            kept.push(slots);
        }
    }
}

/// Cuts `0..all` into ranges of at most `each`.
pub(super) fn pieces(all: usize, each: usize) -> impl Iterator<Item = Range<usize>> {
    (0..all).step_by(each).map(move |start| start..all.min(start + each))
}

impl Slot {
    /// Waits until the copies of this slot are done.
    fn free(&mut self, clock: &mut Clock<'_>) -> Result<(), Error> {
        let Some(since) = self.since else { return Ok(()) };
        clock.wait(&self.done)?;
        self.since = None;
        clock.add(since, &self.done)
    }
}

/// When a device was busy, as seen by one thread.
#[derive(Debug)]
pub(crate) struct Clock<'o> {
    /// `None` if nobody wants to know.
    origin: Option<&'o Origin>,
    pub spans: Vec<Span>,
    /// How long the thread waited for the device.
    pub waited: Duration,
}

/// A moment that is known both on the host's clock and on the device's.
#[derive(Debug)]
pub(crate) struct Origin {
    event: Event,
    host: Instant,
}

impl Origin {
    /// The current moment.
    pub fn new(device: &Device, stream: &Stream) -> Result<Origin, Error> {
        let event = device.event()?;
        stream.record(&event)?;
        event.wait()?;
        Ok(Origin { event, host: Instant::now() })
    }
}

impl<'o> Clock<'o> {
    pub fn new(origin: &'o Origin) -> Clock<'o> {
        Clock { origin: Some(origin), ..Clock::stopped() }
    }

    /// A clock that measures nothing.
    pub fn stopped() -> Clock<'o> {
        Clock { origin: None, spans: Vec::new(), waited: Duration::ZERO }
    }

    /// Waits for an event of the device.
    pub fn wait(&mut self, event: &Event) -> Result<(), Error> {
        let start = Instant::now();
        let waited = event.wait();
        self.waited += start.elapsed();
        Ok(waited?)
    }

    /// Notes a span from when something was enqueued to when it was done.
    fn add(&mut self, since: Instant, done: &Event) -> Result<(), Error> {
        if let Some(origin) = self.origin {
            let begun = since.saturating_duration_since(origin.host).as_secs_f32() * 1e3;
            self.spans.push([begun, done.milliseconds_since(&origin.event)?]);
        }
        Ok(())
    }
}

/// The span between two events that have happened.
pub(crate) fn between(origin: &Origin, begun: &Event, done: &Event) -> Result<Span, Error> {
    Ok([begun.milliseconds_since(&origin.event)?, done.milliseconds_since(&origin.event)?])
}

/// Milliseconds for which at least one of the spans lasted.
pub(crate) fn busy(mut spans: Vec<Span>) -> f64 {
    spans.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]));
    let (mut sum, mut until) = (0.0, f32::NEG_INFINITY);
    for [begun, done] in spans {
        sum += f64::from((done - begun.max(until)).max(0.0));
        until = until.max(done);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_counts_once() {
        assert_eq!(busy(vec![]), 0.0);
        assert_eq!(busy(vec![[3.0, 5.0], [0.0, 1.0], [4.0, 6.0], [4.0, 4.5]]), 4.0);
    }
}
