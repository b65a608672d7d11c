//! The way of one thread to a device and back: a ring of slots of pinned memory, each of which waits for its own copies alone.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use sortie_device::{Device, Event, Pinned, Stream, View};

use crate::plan::RING_SLOTS;
use crate::{Bound, Error};

/// A stream of its own, with its slots.
#[derive(Debug)]
pub(crate) struct Ring {
    stream: Stream,
    slots: VecDeque<Slot>,
}

/// Pinned memory, and when its last copies were done.
#[derive(Debug)]
struct Slot {
    pinned: Pinned<u64>,
    done: Event,
    /// When they were enqueued, if they may be under way. An event for that would keep the device from the next copy.
    since: Option<Instant>,
}

/// Milliseconds from an event to when a device began with something and to when it was done.
pub(crate) type Span = [f32; 2];

impl Ring {
    /// Bytes of pinned memory of a ring whose slots hold so many bytes.
    pub fn bytes(slot: usize) -> usize {
        RING_SLOTS * slot.next_multiple_of(size_of::<u64>())
    }

    /// One that was kept, or a new one.
    pub fn new(device: &Device, kept: &Mutex<Vec<Ring>>, slot: usize) -> Result<Ring, Error> {
        let words = slot.div_ceil(size_of::<u64>());
        let mut kept = kept.lock().expect("no holder panics");
        if let Some(fits) =
            kept.iter().position(|ring| ring.slots.iter().all(|slot| slot.pinned.len() >= words))
        {
            return Ok(kept.swap_remove(fits));
        }
        // What is too small will not be asked for again.
        kept.clear();
        let slot = |_| -> Result<Slot, Error> {
            let pinned = device.alloc_pinned(words).map_err(|error| match error {
                sortie_device::Error::OutOfPinned { .. } => Error::Memory {
                    bound: Bound::Host,
                    needed: Ring::bytes(8 * words) as u64,
                    available: 0,
                    hint: "it is pinned memory, for a GPU; use the CPU engine, or see ulimit -l",
                },
                other => other.into(),
            })?;
            Ok(Slot { pinned, done: device.event()?, since: None })
        };
        let slots = (0..RING_SLOTS).map(slot).collect::<Result<_, _>>()?;
        Ok(Ring { stream: device.stream()?, slots })
    }

    /// Back to the others, once nothing is under way.
    pub fn keep(self, kept: &Mutex<Vec<Ring>>) {
        if self.stream.wait().is_ok() {
            kept.lock().expect("no holder panics").push(self);
        }
    }

    /// Has `fill` write to a slot that is free, and say what of it goes where: words from the start, and bytes from a place
    /// on. Enqueues those copies.
    pub fn send<'v>(
        &mut self,
        clock: &mut Clock<'_>,
        fill: impl FnOnce(&mut [u64]) -> Result<[(usize, View<'v, u8>); 2], Error>,
    ) -> Result<(), Error> {
        let slot = self.slots.front_mut().expect("a ring has slots");
        slot.free(clock)?;
        let copies = fill(&mut slot.pinned)?;
        slot.since = Some(Instant::now());
        for (start, to) in copies {
            let from = &bytemuck::cast_slice(&slot.pinned)[start..start + to.len()];
            // SAFETY: the slot is not touched until its event has come.
            unsafe { self.stream.enqueue_copy_in(to, from)? };
        }
        self.stream.record(&slot.done)?;
        self.slots.rotate_left(1);
        Ok(())
    }

    /// Brings back what `next` says, until it has no more, as much at a time as there are slots. `take` gets what was brought,
    /// in a slot: the bytes of the first from its start, then those of the second, from a whole word on.
    pub fn bring<'v, T>(
        &mut self,
        clock: &mut Clock<'_>,
        mut next: impl FnMut() -> Option<(T, [View<'v, u8>; 2])>,
        mut take: impl FnMut(T, &mut [u64]),
    ) -> Result<(), Error> {
        let mut coming = VecDeque::new();
        loop {
            while coming.len() < self.slots.len()
                && let Some((what, from)) = next()
            {
                let slot = self.slots.front_mut().expect("a ring has slots");
                slot.free(clock)?;
                slot.since = Some(Instant::now());
                let mut start = 0;
                for from in from {
                    let to = &mut bytemuck::cast_slice_mut(&mut slot.pinned)[start..start + from.len()];
                    // SAFETY: the slot is not touched until its event has come.
                    unsafe { self.stream.enqueue_copy_out(to, from)? };
                    start += from.len().next_multiple_of(size_of::<u64>());
                }
                self.stream.record(&slot.done)?;
                self.slots.rotate_left(1);
                coming.push_back(what);
            }
            let oldest = self.slots.len() - coming.len();
            let Some(what) = coming.pop_front() else { return Ok(()) };
            let slot = &mut self.slots[oldest];
            slot.free(clock)?;
            take(what, &mut slot.pinned);
        }
    }

    /// What another stream does from now on waits for what was enqueued here.
    pub fn hold_up(&self, device: &Device, other: &Stream) -> Result<(), Error> {
        let sent = device.event()?;
        self.stream.record(&sent)?;
        Ok(other.wait_for(&sent)?)
    }

    /// Waits until nothing is under way.
    pub fn settle(&mut self, clock: &mut Clock<'_>) -> Result<(), Error> {
        self.slots.iter_mut().try_for_each(|slot| slot.free(clock))
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // Before the memory goes that a copy may still use; a lost device uses nothing.
        let _ = self.stream.wait();
    }
}

impl Slot {
    /// Waits until its copies are done.
    fn free(&mut self, clock: &mut Clock<'_>) -> Result<(), Error> {
        let Some(since) = self.since else { return Ok(()) };
        clock.wait(&self.done)?;
        self.since = None;
        clock.add(since, &self.done)
    }
}

/// When a device was busy, as one thread has seen it.
#[derive(Debug)]
pub(crate) struct Clock<'o> {
    origin: &'o Origin,
    pub spans: Vec<Span>,
    /// How long the thread waited for it.
    pub waited: Duration,
}

/// A moment that both the host and a device know.
#[derive(Debug)]
pub(crate) struct Origin {
    event: Event,
    host: Instant,
}

impl Origin {
    /// Now.
    pub fn new(device: &Device, stream: &Stream) -> Result<Origin, Error> {
        let event = device.event()?;
        stream.record(&event)?;
        event.wait()?;
        Ok(Origin { event, host: Instant::now() })
    }
}

impl<'o> Clock<'o> {
    pub fn new(origin: &'o Origin) -> Clock<'o> {
        Clock { origin, spans: Vec::new(), waited: Duration::ZERO }
    }

    /// Waits for an event of the device.
    pub fn wait(&mut self, event: &Event) -> Result<(), Error> {
        let start = Instant::now();
        let waited = event.wait();
        self.waited += start.elapsed();
        Ok(waited?)
    }

    /// Something was enqueued then, and is done.
    fn add(&mut self, since: Instant, done: &Event) -> Result<(), Error> {
        let begun = since.saturating_duration_since(self.origin.host).as_secs_f32() * 1e3;
        self.spans.push([begun, done.milliseconds_since(&self.origin.event)?]);
        Ok(())
    }
}

/// When the device was at work between two events that have happened.
pub(crate) fn between(origin: &Origin, begun: &Event, done: &Event) -> Result<Span, Error> {
    Ok([begun.milliseconds_since(&origin.event)?, done.milliseconds_since(&origin.event)?])
}

/// Milliseconds in which the device did any of it.
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
