//! One array on several devices of a host: each has a share of the keys, and gets a part of them in order.
//!
//! A sample of all shares cuts the codes into ranges, several for each device. Each device moves what it has to these ranges, in
//! scratch, which also counts them; so it is known how many keys go where. Then each fetches its part from all others, range by
//! range into the place of its share, and sorts a range as soon as it is there, while the next ones are on their way.
//!
//! Room for the ranges is guessed from the sample, with some to spare, since to count them first would take another read of
//! everything. A guess that is too low costs the move once more.

mod split;

use std::sync::Arc;
use std::time::Instant;

use bytemuck::Pod;
use sortie_device::{Buffer, Event, Stream, View};

use crate::cpu;
use crate::error::same_length;
use crate::gpu::ranges::{Divided, Place, RANGES};
use crate::gpu::{Gpu, check_payload, code};
use crate::key::{Bits, Code, Transform};
use crate::plan::{DIVIDED_BY, LINKS};
use crate::{Error, Key, Order};
use split::{Cut, Division};

/// Samples that are drawn, each four times the one before, until parts are even.
const TRIES: u32 = 3;

/// The GPU engine on several devices of one host, 2 to 8.
#[derive(Debug, Clone)]
pub struct Gpus(Vec<Arc<Gpu>>);

/// What one device has of the keys: the first `count` of these, the others being room.
#[derive(Debug)]
pub struct Share<'a, K> {
    pub keys: View<'a, K>,
    pub count: usize,
}

/// What a sort over several devices took, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Exchange {
    /// To draw the sample and to cut it.
    pub sample_ms: f64,
    /// To move keys to their ranges on each device.
    pub distribute_ms: f64,
    /// From the first copy between devices to the last, on the device where that took longest.
    pub copies_ms: f64,
    /// Of these, how long the device waited that waited longest, with nothing to sort.
    pub waited_ms: f64,
    /// Bytes that left their device.
    pub bytes: u64,
    pub total_ms: f64,
}

impl Gpus {
    /// # Errors
    /// [`Error::Unsupported`] for other than 2 to 8.
    pub fn new(gpus: Vec<Arc<Gpu>>) -> Result<Gpus, Error> {
        match gpus.len() {
            2..=8 => Ok(Gpus(gpus)),
            count => Err(Error::Unsupported(format!("{count} devices; a sort over several takes 2 to 8"))),
        }
    }

    pub fn engines(&self) -> &[Arc<Gpu>] {
        &self.0
    }

    /// Sorts the keys of all devices, and waits: the first has the least then, in order, and so on. The shares say how many
    /// each has, which differs from the mean by 5% at most, whatever the keys are and however they were shared before.
    ///
    /// Keys are read once and written twice before each device sorts its part; they travel over the devices' links, or through
    /// the host where there is none. Scratch on each: a fifth more than its share, and that of a sort of an eighth of its
    /// part, or a third with eight devices.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for keys without codes of 8 to 64 bits; [`Error::LengthMismatch`] for more or fewer shares than
    /// devices, and where a share has less room than its part of the keys; [`Error::Memory`] where a device has too little
    /// for the scratch: the keys are as they were then. [`Error::Device`] where one fails: all are unspecified.
    ///
    /// # Safety
    /// Each share lies in the memory of the device with its number, no two of them overlap, and nothing else uses them.
    pub unsafe fn sort<K: Key + Pod>(
        &self,
        shares: &mut [Share<'_, K>],
        order: Order,
    ) -> Result<Exchange, Error> {
        let divided = Divided { code: code::<K>()?, order, payload_bytes: 0 };
        // SAFETY: as the caller states.
        unsafe { self.sort_divided::<K::Bits>(&mut Share::bits(shares), &[], divided) }
            .map(|(exchange, counts)| Share::count(shares, &counts, exchange))
    }

    /// [`Gpus::sort`] where each payload, of 4, 8 or 16 bytes, moves with its key. Payloads of equal keys come out in any
    /// order. They have as much room as the keys.
    ///
    /// # Errors
    /// As [`Gpus::sort`]; [`Error::Unsupported`] for payloads of another size, or not aligned to 8 bytes or their size.
    ///
    /// # Safety
    /// As [`Gpus::sort`], of the payloads too.
    pub unsafe fn sort_pairs_unstable<K: Key + Pod, V: Pod>(
        &self,
        shares: &mut [Share<'_, K>],
        payloads: &[View<'_, V>],
        order: Order,
    ) -> Result<Exchange, Error> {
        same_length("payloads", shares.len(), payloads.len())?;
        for (share, payload) in shares.iter().zip(payloads) {
            check_payload(share.keys.len(), *payload)?;
        }
        let divided = Divided { code: code::<K>()?, order, payload_bytes: size_of::<V>() };
        let payloads: Vec<View<'_, u8>> = payloads.iter().map(|payload| payload.cast()).collect();
        // SAFETY: as the caller states.
        unsafe { self.sort_divided::<K::Bits>(&mut Share::bits(shares), &payloads, divided) }
            .map(|(exchange, counts)| Share::count(shares, &counts, exchange))
    }

    /// Either of these, of the bits of the keys; says how many each device then has.
    ///
    /// # Safety
    /// As there.
    unsafe fn sort_divided<B: Bits>(
        &self,
        shares: &mut [Share<'_, B>],
        payloads: &[View<'_, u8>],
        divided: Divided,
    ) -> Result<(Exchange, Vec<usize>), Error> {
        same_length("shares", self.0.len(), shares.len())?;
        if B::WIDTH > 64 {
            return Err(Error::Unsupported("keys of 128 bits are sorted on one device alone".into()));
        }
        for share in &*shares {
            if share.count > share.keys.len() {
                return Err(Error::LengthMismatch {
                    what: "a share",
                    expected: share.count,
                    found: share.keys.len(),
                });
            }
        }
        let n: usize = shares.iter().map(|share| share.count).sum();
        if n == 0 {
            return Ok((Exchange::default(), vec![0; shares.len()]));
        }
        let start = Instant::now();
        let mut exchange = Exchange::default();
        let mut members = Members::new(&self.0, shares, payloads, divided)?;
        // SAFETY: as the caller states.
        let division = unsafe { members.divide(n, &mut exchange)? };
        members.check_room(&division)?;
        // SAFETY: as the caller states; there is room, and all shares are in scratch.
        unsafe { members.exchange(n, &division, &mut exchange)? };
        exchange.total_ms = milliseconds(start);
        members.keep_scratch();
        Ok((exchange, (0..self.0.len()).map(|part| division.keys(part)).collect()))
    }
}

impl<K: Key + Pod> Share<'_, K> {
    fn bits<'a>(shares: &[Share<'a, K>]) -> Vec<Share<'a, K::Bits>> {
        shares.iter().map(|share| Share { keys: share.keys.cast(), count: share.count }).collect()
    }

    fn count(shares: &mut [Share<'_, K>], counts: &[usize], exchange: Exchange) -> Exchange {
        shares.iter_mut().zip(counts).for_each(|(share, &count)| share.count = count);
        exchange
    }
}

/// All devices of a sort. It waits for all of them before any gives back memory: they read one another's.
struct Members<'a, B> {
    members: Vec<Member<'a, B>>,
    divided: Divided,
}

/// One device.
struct Member<'a, B> {
    gpu: &'a Gpu,
    /// Of its moves and sorts.
    stream: Stream,
    /// Of what it fetches.
    links: Vec<Stream>,
    /// All its room.
    share: Place<'a, B>,
    count: usize,
    /// Keys by their ranges, then payloads, then the counts of ranges; before that, the sample.
    scratch: Option<Buffer<u32>>,
    /// Keys that there is room for in the ranges.
    room: usize,
    starts: [usize; RANGES + 1],
    counts: [usize; RANGES],
    /// With the scratch of its sorts.
    sorts: Option<Gpu>,
}

impl<'a, B: Bits> Members<'a, B> {
    fn new(
        gpus: &'a [Arc<Gpu>],
        shares: &[Share<'a, B>],
        payloads: &[View<'a, u8>],
        divided: Divided,
    ) -> Result<Self, Error> {
        let member = |(i, gpu): (usize, &'a Arc<Gpu>)| -> Result<Member<'a, B>, Error> {
            let device = gpu.device();
            Ok(Member {
                gpu,
                stream: device.stream()?,
                links: (0..LINKS).map(|_| device.stream()).collect::<Result<_, _>>()?,
                share: Place {
                    keys: shares[i].keys,
                    payload: payloads.get(i).map_or(0, |payload| payload.address()),
                },
                count: shares[i].count,
                scratch: None,
                room: 0,
                starts: [0; RANGES + 1],
                counts: [0; RANGES],
                sorts: None,
            })
        };
        let members = gpus.iter().enumerate().map(member).collect::<Result<_, _>>()?;
        Ok(Members { members, divided })
    }

    /// Moves the keys of each device to ranges in its scratch, and says what goes where from there.
    ///
    /// # Safety
    /// As [`Gpus::sort`].
    unsafe fn divide(&mut self, n: usize, exchange: &mut Exchange) -> Result<Division, Error> {
        let mut tries = 0;
        loop {
            let start = Instant::now();
            let most = DIVIDED_BY << (2 * tries);
            // SAFETY: as the caller states.
            let samples = unsafe { self.sample(n, most, tries)? };
            let mut all = samples.concat();
            cpu::keys::sort_few(&mut all, Transform::new(Code::Unsigned, Order::default()));
            let cut = Cut::new(&all, self.members.len());
            for (member, sample) in self.members.iter_mut().zip(&samples) {
                member.guess_starts(&cut, sample);
            }
            exchange.sample_ms += milliseconds(start);
            let start = Instant::now();
            let lacked: Vec<usize> = (0..self.members.len()).collect();
            // SAFETY: as the caller states.
            let lacked = unsafe { self.to_ranges(&cut, &lacked)? };
            // SAFETY: as above.
            let lacked = unsafe { self.to_ranges(&cut, &lacked)? };
            assert!(lacked.is_empty(), "what was counted has room");
            exchange.distribute_ms += milliseconds(start);
            let counts: Vec<_> = self.members.iter().map(|member| member.counts).collect();
            let starts: Vec<_> = self.members.iter().map(|member| member.starts).collect();
            let division = Division::new(&cut, &counts, &starts);
            tries += 1;
            if division.is_even() || tries == TRIES {
                return Ok(division);
            }
        }
    }

    /// Codes at random from each device, of each as many as it has of all keys; of few keys all.
    ///
    /// # Safety
    /// As [`Gpus::sort`].
    unsafe fn sample(&mut self, n: usize, most: usize, seed: u32) -> Result<Vec<Vec<B>>, Error> {
        let divided = self.divided;
        let transform = Transform::<B>::new(divided.code, divided.order);
        let mut sizes = Vec::new();
        for member in &mut self.members {
            let sampled = match n <= most {
                true => member.count,
                false => (member.count as u128 * most as u128).div_ceil(n as u128) as usize,
            };
            member.reserve(sampled, divided.payload_bytes)?;
            let (keys, sample) = (member.share.keys.range(0..member.count), member.keys().range(0..sampled));
            // SAFETY: as the caller states; nothing is in the scratch yet.
            unsafe { member.gpu.sample(&member.stream, keys, sample, divided, u64::from(seed))? };
            sizes.push(sampled);
        }
        let read = |(member, &sampled): (&Member<'_, B>, &usize)| {
            let mut sample = vec![B::ZERO; sampled];
            member.stream.copy_out(&mut sample, member.keys().range(0..sampled))?;
            sample.iter_mut().for_each(|key| *key = transform.encode(*key));
            Ok(sample)
        };
        self.members.iter().zip(&sizes).map(read).collect()
    }

    /// Moves the keys of these devices to their ranges. Returns those of them where some range had too little room, once it
    /// is known how much each needs.
    ///
    /// # Safety
    /// As [`Gpus::sort`].
    unsafe fn to_ranges(&mut self, cut: &Cut<B>, numbers: &[usize]) -> Result<Vec<usize>, Error> {
        let divided = self.divided;
        for &number in numbers {
            let member = &self.members[number];
            let keys = member.share.keys.range(0..member.count);
            let places = [Place { keys, ..member.share }, member.ranges(divided.payload_bytes)];
            let (splitters, starts) = (&cut.splitters, member.starts.map(|start| start as u64));
            let counts = member.counts();
            // SAFETY: as the caller states; the scratch is as large as the last start.
            unsafe { member.gpu.to_ranges(&member.stream, places, divided, splitters, starts, counts)? };
        }
        let mut lacked = Vec::new();
        for &number in numbers {
            let member = &mut self.members[number];
            let mut counts = [0u64; RANGES];
            member.stream.copy_out(&mut counts, member.counts())?;
            member.counts = counts.map(|count| count as usize);
            if (0..RANGES).any(|i| member.counts[i] > member.starts[i + 1] - member.starts[i]) {
                member.starts = starts_of(member.counts);
                lacked.push(number);
            }
        }
        Ok(lacked)
    }

    /// Whether each device has room for its part.
    fn check_room(&self, division: &Division) -> Result<(), Error> {
        for (number, member) in self.members.iter().enumerate() {
            let (needed, room) = (division.keys(number), member.share.keys.len());
            if needed > room {
                return Err(Error::LengthMismatch {
                    what: "a device's part of the keys",
                    expected: needed,
                    found: room,
                });
            }
        }
        Ok(())
    }

    /// Brings every part to its device, and sorts it there, step by step.
    ///
    /// # Safety
    /// As [`Gpus::sort`]; each share has room for its part, and its keys are in scratch.
    unsafe fn exchange(
        &mut self,
        n: usize,
        division: &Division,
        exchange: &mut Exchange,
    ) -> Result<(), Error> {
        let divided = self.divided;
        let most = split::most_keys(n, self.members.len());
        for (member, steps) in self.members.iter_mut().zip(&division.parts) {
            let longest = steps.iter().map(|step| step.to.len()).max().unwrap_or(0);
            // The same for all inputs of a length, so that what was kept from the last sort is enough.
            member.sorts = Some(member.gpu.for_ranges::<B>(longest.max(most.min(n)), divided)?);
        }
        let mut clocks = Vec::new();
        for member in &self.members {
            clocks.push(Clock::new(member)?);
        }
        let rounds = division.parts.iter().map(Vec::len).max().unwrap_or(0);
        for round in 0..rounds {
            for number in 0..self.members.len() {
                let Some(step) = division.parts[number].get(round) else { continue };
                for (link, stream) in self.members[number].links.iter().enumerate() {
                    // SAFETY: as the caller states.
                    unsafe { self.fetch(number, step, link, stream, exchange)? };
                    clocks[number].arrived(stream)?;
                }
                let member = &self.members[number];
                let sorts = member.sorts.as_ref().expect("made above");
                let place = member.share.range(step.to.clone(), divided.payload_bytes);
                clocks[number].begin_sort(member)?;
                if !step.equal {
                    // SAFETY: nothing else uses this part of the share until the stream is done.
                    unsafe { sorts.sort_range(&member.stream, place, divided)? }.release();
                }
                clocks[number].end_sort(member)?;
            }
        }
        for (member, clock) in self.members.iter().zip(&clocks) {
            member.stream.wait()?;
            let (copies, waited) = clock.read()?;
            exchange.copies_ms = exchange.copies_ms.max(copies);
            exchange.waited_ms = exchange.waited_ms.max(waited);
        }
        Ok(())
    }

    /// Fetches what comes to a device in a step by one of its links. They take turns: at any time each device is asked by few.
    ///
    /// # Safety
    /// As [`Members::exchange`].
    unsafe fn fetch(
        &self,
        number: usize,
        step: &split::Step,
        link: usize,
        stream: &Stream,
        exchange: &mut Exchange,
    ) -> Result<(), Error> {
        let (devices, payload_bytes) = (self.members.len(), self.divided.payload_bytes);
        let own = &self.members[number];
        for turn in (0..devices).filter(|turn| turn % LINKS == link) {
            let source = (number + turn) % devices;
            let theirs = &self.members[source];
            for piece in step.pieces.iter().filter(|piece| piece.source == source) {
                let from = theirs.ranges(payload_bytes).range(piece.from.clone(), payload_bytes);
                let to = own.share.range(piece.to..piece.to + piece.from.len(), payload_bytes);
                let payloads = |place: Place<'_, B>| {
                    // SAFETY: so many payloads lie there, of the place's own device.
                    unsafe { View::<u8>::from_raw(place.payload, piece.from.len() * payload_bytes) }
                };
                if source == number {
                    stream.copy_within(to.keys, from.keys)?;
                    stream.copy_within(payloads(to), payloads(from))?;
                } else {
                    let device = theirs.gpu.device();
                    stream.copy_from_peer(to.keys, device, from.keys)?;
                    stream.copy_from_peer(payloads(to), device, payloads(from))?;
                    exchange.bytes += (piece.from.len() * (size_of::<B>() + payload_bytes)) as u64;
                }
            }
        }
        Ok(())
    }

    /// Leaves the scratch to later sorts, once all is done.
    fn keep_scratch(mut self) {
        for member in &mut self.members {
            member.scratch.take().into_iter().for_each(|scratch| member.gpu.keep(scratch));
            member.sorts.take().into_iter().for_each(|sorts| member.gpu.keep_all_of(sorts));
        }
    }
}

impl<B> Drop for Members<'_, B> {
    fn drop(&mut self) {
        for member in &self.members {
            for stream in member.links.iter().chain([&member.stream]) {
                // What failed was told, or is about to be.
                let _ = stream.wait();
            }
        }
    }
}

impl<B: Bits> Member<'_, B> {
    /// Has scratch for the ranges, if so many of the keys are sampled: the same for all inputs of a length.
    fn reserve(&mut self, sampled: usize, payload_bytes: usize) -> Result<(), Error> {
        let spare = match sampled == self.count {
            true => 0,
            // What the ranges have to spare together, of all samples of this size.
            false => scaled(
                (SPARE * ((RANGES * sampled) as f64).sqrt()) as usize + RANGES * SPARE_EACH,
                self.count,
                sampled,
            ),
        };
        self.room = (self.count + spare + RANGES).next_multiple_of(16);
        let moved = (self.room * (size_of::<B>() + payload_bytes)).div_ceil(4);
        let words = moved.next_multiple_of(2) + 2 * RANGES;
        if self.scratch.as_ref().is_none_or(|scratch| scratch.len() < words) {
            self.scratch = None;
            self.scratch = Some(self.gpu.scratch(words)?);
        }
        Ok(())
    }

    /// Gives each range room for what it should have, by a sample of this device's codes.
    fn guess_starts(&mut self, cut: &Cut<B>, sample: &[B]) {
        let mut rooms = [0; RANGES];
        sample.iter().for_each(|&code| rooms[cut.range_of(code)] += 1);
        if sample.len() < self.count {
            rooms = rooms.map(|drawn: usize| {
                let most = drawn + (SPARE * (drawn as f64).sqrt()) as usize + SPARE_EACH;
                scaled(most, self.count, sample.len())
            });
        }
        self.starts = starts_of(rooms);
    }

    fn scratch(&self) -> &Buffer<u32> {
        self.scratch.as_ref().expect("reserved before")
    }

    /// The scratch that keys go to.
    fn keys(&self) -> View<'_, B> {
        let words = (self.room * size_of::<B>()) / 4;
        self.scratch().range(0..words).cast()
    }

    /// Keys and payloads by range.
    fn ranges(&self, payload_bytes: usize) -> Place<'_, B> {
        let payload = self.scratch().address() + (self.room * size_of::<B>()) as u64;
        Place { keys: self.keys(), payload: if payload_bytes == 0 { 0 } else { payload } }
    }

    fn counts(&self) -> View<'_, u64> {
        let end = self.scratch().len() / 2 * 2;
        self.scratch().range(end - 2 * RANGES..end).cast()
    }
}

/// What a range may have beyond its share of a sample: so many deviations, and so many keys of the sample.
const SPARE: f64 = 6.0;
const SPARE_EACH: usize = 16;

/// So many of a sample as a part of all.
fn scaled(drawn: usize, count: usize, sampled: usize) -> usize {
    (drawn as u128 * count as u128).div_ceil(sampled as u128) as usize
}

fn starts_of(rooms: [usize; RANGES]) -> [usize; RANGES + 1] {
    let mut starts = [0; RANGES + 1];
    for range in 0..RANGES {
        starts[range + 1] = starts[range] + rooms[range];
    }
    starts
}

/// When a device fetches and sorts.
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

    /// What a link has been asked for is waited for before the next sort.
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

    /// How long it fetched, and how long it waited with nothing to sort. Once all is done.
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

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests;
