//! The second half: each device fetches its part range by range, and sorts each range as soon as it has arrived.

use sortie_device::{Event, Stream, View};

use super::Exchange;
use super::members::{Member, Members};
use super::split::{self, Division, Step};
use crate::Error;
use crate::compose::tuning::LINKS;
use crate::gpu::Place;
use crate::gpu::alloc::workspace;
use crate::gpu::threads;
use crate::key::Bits;

impl<B: Bits> Members<'_, B> {
    /// Checks that each device has room for its part.
    pub fn check_room(&self, division: &Division) -> Result<(), Error> {
        for (number, member) in self.members.iter().enumerate() {
            let (needed, room) = (division.keys(number), member.share.keys.len());
            if needed > room {
                return Err(Error::Unsupported(format!(
                    "device {number} gets {needed} keys, but has room for {room}; give each device room for 5% more \
                     than the mean"
                )));
            }
        }
        Ok(())
    }

    /// Copies every part to its device and sorts it there, step by step.
    ///
    /// # Safety
    /// As for [`Gpus::sort`]. Each share has room for its part, and its keys are in scratch memory.
    pub unsafe fn exchange(
        &mut self,
        n: usize,
        division: &Division,
        exchange: &mut Exchange,
    ) -> Result<(), Error> {
        let divided = self.divided;
        let most = split::most_keys(n, self.members.len());
        for (member, steps) in self.members.iter_mut().zip(&division.parts) {
            let sorted = steps.iter().filter(|step| !step.equal);
            let longest = sorted.map(|step| step.to.len()).max().unwrap_or(0);
            // The size is the same for all inputs of a length, so memory kept from the last sort suffices.
            let words = member.gpu.words_of_ranges::<B>(longest.max(most.min(n)), divided)?;
            member.workspace = Some(workspace(&member.stream, &words)?);
        }
        let this = &*self;
        // Each device has a thread. Enqueueing a sort takes 0.1 ms, for which the other devices would have to wait.
        let mut parts: Vec<_> = division.parts.iter().collect();
        let times = threads::for_each(&mut parts, |number, steps, _| {
            // SAFETY: the caller guarantees it; each thread handles the part of one device.
            unsafe { this.fetch_and_sort(number, steps) }
        })?;
        for part in times {
            exchange.copies_ms = exchange.copies_ms.max(part.copies_ms);
            exchange.waited_ms = exchange.waited_ms.max(part.waited_ms);
            exchange.bytes += part.bytes;
        }
        Ok(())
    }

    /// Copies the part of a device to it and sorts it, step by step.
    ///
    /// # Safety
    /// As for [`Members::exchange`].
    unsafe fn fetch_and_sort(&self, number: usize, steps: &[Step]) -> Result<Times, Error> {
        let member = &self.members[number];
        let workspace = member.workspace.as_ref().expect("had before").view().cast();
        let mut clock = Clock::new(member)?;
        let mut bytes = 0;
        for step in steps {
            for (link, stream) in member.links.iter().enumerate() {
                // SAFETY: the caller guarantees it.
                bytes += unsafe { self.fetch(number, step, link, stream)? };
                clock.arrived(stream)?;
            }
            let place = member.share.range(step.to.clone(), self.divided.payload_bytes);
            clock.begin_sort(member)?;
            if !step.equal {
                // SAFETY: nothing else uses this part of the share until the stream is done; the workspace belongs to
                // these sorts.
                drop(unsafe { member.gpu.sort_range(&member.stream, workspace, place, self.divided)? });
            }
            clock.end_sort(member)?;
        }
        member.stream.wait()?;
        let (copies_ms, waited_ms) = clock.read()?;
        Ok(Times { copies_ms, waited_ms, bytes })
    }

    /// Fetches the pieces of a step to a device over one of its links, and returns their bytes. The sources are taken
    /// in turn, so that at any time few devices fetch from the same one.
    ///
    /// # Safety
    /// As for [`Members::exchange`].
    unsafe fn fetch(&self, number: usize, step: &Step, link: usize, stream: &Stream) -> Result<u64, Error> {
        let (devices, payload_bytes) = (self.members.len(), self.divided.payload_bytes);
        let mut bytes = 0;
        let own = &self.members[number];
        for turn in (0..devices).filter(|turn| turn % LINKS == link) {
            let source = (number + turn) % devices;
            let theirs = &self.members[source];
            for piece in step.pieces.iter().filter(|piece| piece.source == source) {
                let from = theirs.ranges(payload_bytes).range(piece.from.clone(), payload_bytes);
                let to = own.share.range(piece.to..piece.to + piece.from.len(), payload_bytes);
                let payloads = |place: Place<'_, B>| {
                    // SAFETY: this number of payloads is at the place, on its own device.
                    unsafe { View::<u8>::from_raw(place.payload, piece.from.len() * payload_bytes) }
                };
                if source == number {
                    stream.copy_within(to.keys, from.keys)?;
                    stream.copy_within(payloads(to), payloads(from))?;
                } else {
                    let device = theirs.gpu.device();
                    // SAFETY: the ranges of all devices do not change until the exchange is done; the caller guarantees
                    // that.
                    unsafe {
                        stream.copy_from_peer(to.keys, device, from.keys)?;
                        stream.copy_from_peer(payloads(to), device, payloads(from))?;
                    }
                    bytes += (piece.from.len() * (size_of::<B>() + payload_bytes)) as u64;
                }
            }
        }
        Ok(bytes)
    }
}

/// The times and bytes of a part.
struct Times {
    copies_ms: f64,
    waited_ms: f64,
    bytes: u64,
}

/// Records when a device fetches and sorts.
struct Clock {
    begun: Event,
    arrived: Vec<Event>,
    sorts: Vec<[Event; 2]>,
}

impl Clock {
    fn new<B>(member: &Member<'_, B>) -> Result<Clock, Error> {
        let begun = member.gpu.device().event()?;
        member.stream.record(&begun)?;
        Ok(Clock { begun, arrived: vec![], sorts: vec![] })
    }

    /// Makes the next sort wait for everything that was enqueued on a link.
    fn arrived(&mut self, link: &Stream) -> Result<(), Error> {
        let event = link.device().event()?;
        link.record(&event)?;
        self.arrived.push(event);
        Ok(())
    }

    fn begin_sort<B>(&mut self, member: &Member<'_, B>) -> Result<(), Error> {
        for event in &self.arrived[self.sorts.len() * LINKS..] {
            member.stream.wait_for(event)?;
        }
        let device = member.gpu.device();
        let ends = [device.event()?, device.event()?];
        member.stream.record(&ends[0])?;
        self.sorts.push(ends);
        Ok(())
    }

    fn end_sort<B>(&mut self, member: &Member<'_, B>) -> Result<(), Error> {
        Ok(member.stream.record(&self.sorts[self.sorts.len() - 1][1])?)
    }

    /// The time for fetching, and the time spent waiting with nothing to sort. Call it when everything is done.
    fn read(&self) -> Result<(f64, f64), Error> {
        let (mut copies, mut waited) = (0f32, 0f32);
        for event in self.arrived.iter().rev().take(LINKS) {
            copies = copies.max(event.milliseconds_since(&self.begun)?);
        }
        let mut before = &self.begun;
        for [begin, end] in &self.sorts {
            waited += begin.milliseconds_since(before)?;
            before = end;
        }
        Ok((copies.into(), waited.into()))
    }
}
