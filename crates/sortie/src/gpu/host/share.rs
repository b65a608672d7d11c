//! A device's share of an array in host memory, whose other keys the CPU sorts. The share arrives piece by piece, from
//! many threads at a time, and its size is only known at the end.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Mutex;

use sortie_device::{Buffer, Event, Stream, View};

use super::segments::Allowed;
use crate::gpu::alloc::{scratch, workspace, workspace_bytes};
use crate::gpu::array::{MOST_KEYS, Wanted};
use crate::gpu::ring::{Origin, Ring, Slots, Span, between};
use crate::gpu::tuning::{LEFT_FREE, RING_SLOTS};
use crate::gpu::{Gpu, Pending};
use crate::key::{Bits, Code};
use crate::request::Beside;
use crate::{Algorithm, Bound, Error, Order};

/// Keys and payloads.
type Arrays = [Buffer<u32>; 2];

/// The memory of a share.
pub(crate) struct HostShare<'gpu, B> {
    keys: PhantomData<B>,
    gpu: &'gpu Gpu,
    stream: Stream,
    /// The sort's workspace.
    scratch: Buffer<u32>,
    sent: Arrays,
    /// The same amount again, if pieces are to be put in order.
    in_order: Option<Arrays>,
    payload_bytes: usize,
    wanted: Wanted,
    /// How many keys there is room for, and how many have been taken.
    most: usize,
    taken: Mutex<usize>,
    /// The time that spans are counted from, and when the sort began and ended.
    pub origin: Origin,
    begun: Event,
    pub done: Event,
    /// Bytes of all of it.
    pub bytes: u64,
}

/// The size of a share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// The most keys.
    pub keys: usize,
    pub payload_bytes: usize,
    /// Whether equal keys with payloads keep their order; for this, the pieces that arrive are put in order first.
    pub stable: bool,
    /// Bytes of a slot.
    pub slot: usize,
    /// Bytes that are held on the host besides.
    pub held: u64,
}

impl<'gpu, B: Bits> HostShare<'gpu, B> {
    /// Allocates a share, with a ring for each thread.
    ///
    /// # Errors
    /// [`Error::Memory`] if it exceeds the limit or the memory of the device.
    pub fn new(gpu: &'gpu Gpu, room: Room, allowed: Allowed) -> Result<(Self, Vec<Ring>), Error> {
        let Room { keys: most, payload_bytes, stable, slot, held } = room;
        let beside = match payload_bytes {
            0 => Beside::Nothing,
            bytes => Beside::Payload { bytes, stable },
        };
        // Codes arrive here, not keys.
        let wanted = Wanted { beside, code: Code::Unsigned, order: Order::default() };
        // Fewer keys may be sorted in another way.
        let mut most_words = Vec::new();
        for keys in [most, most.min(MOST_KEYS)] {
            let words = gpu.array_words::<B>(&gpu.way::<B>(keys, wanted, Algorithm::Auto)?, keys, wanted);
            most_words.resize(most_words.len().max(words.len()), 0);
            most_words.iter_mut().zip(words).for_each(|(most, words)| *most = words.max(*most));
        }
        let slots = Slots { count: RING_SLOTS, bytes: slot };
        let copies = if payload_bytes > 0 && stable { 2 } else { 1 };
        let there = (copies * most * (size_of::<B>() + payload_bytes) + workspace_bytes(&most_words)) as u64;
        let bytes = there + held + (allowed.threads * slots.pinned()) as u64;
        let too_much = |bound, needed, available| Error::Memory { bound, needed, available, hint: HINT };
        if bytes > allowed.memory_limit {
            return Err(too_much(Bound::Limit, bytes, allowed.memory_limit));
        }
        let device = gpu.device();
        let free = device.free_memory()?;
        if there > free - free / LEFT_FREE {
            return Err(too_much(Bound::Device, there, free));
        }
        let stream = device.stream()?;
        let array = || -> Result<_, Error> {
            let of = |bytes: usize| scratch(&stream, (most * bytes).div_ceil(size_of::<u32>()));
            Ok([of(size_of::<B>())?, of(payload_bytes)?])
        };
        let sent = array()?;
        let in_order = (copies == 2).then(array).transpose()?;
        let scratch = workspace(&stream, &most_words)?;
        let rings =
            (0..allowed.threads).map(|_| Ring::new(device, gpu.rings(), slots)).collect::<Result<_, _>>()?;
        // This also waits for the allocations, which the streams of the rings use.
        let origin = Origin::new(device, &stream)?;
        let share = HostShare {
            keys: PhantomData,
            gpu,
            stream,
            scratch,
            sent,
            in_order,
            payload_bytes,
            wanted,
            most,
            taken: Mutex::new(0),
            origin,
            begun: device.event()?,
            done: device.event()?,
            bytes,
        };
        Ok((share, rings))
    }

    /// Takes room for `count` more keys, if there is any.
    pub fn take(&self, count: usize) -> Option<Range<usize>> {
        let mut taken = self.taken.lock().expect("no holder panics");
        let start = *taken;
        (count <= self.most - start).then(|| {
            *taken += count;
            start..start + count
        })
    }

    /// Where these keys and their payloads are sent.
    pub fn sent(&self, keys: Range<usize>) -> [View<'_, u8>; 2] {
        self.of(&self.sent, keys)
    }

    /// Where these sorted keys and their payloads are.
    pub fn sorted(&self, keys: Range<usize>) -> [View<'_, u8>; 2] {
        self.of(self.in_order.as_ref().unwrap_or(&self.sent), keys)
    }

    fn of<'v>(&self, arrays: &'v Arrays, keys: Range<usize>) -> [View<'v, u8>; 2] {
        let of = |array: &'v Buffer<u32>, each: usize| {
            array.view().cast::<u8>().range(keys.start * each..keys.end * each)
        };
        [of(&arrays[0], size_of::<B>()), of(&arrays[1], self.payload_bytes)]
    }

    /// Sorts what was sent through these rings, in these pieces, which are in order. Returns the number of keys.
    ///
    /// # Errors
    /// [`Error::Device`] if the device fails; [`Error::Memory`] if these keys take more scratch than the largest number
    /// of keys would.
    pub fn sort(
        &self,
        rings: &[Ring],
        pieces: impl Iterator<Item = Range<usize>>,
    ) -> Result<(usize, Pending<'_>), Error> {
        rings.iter().try_for_each(|ring| ring.hold_up(self.gpu.device(), &self.stream))?;
        self.stream.record(&self.begun)?;
        let mut n = 0;
        for piece in pieces {
            let to = n..n + piece.len();
            n = to.end;
            if let Some(in_order) = &self.in_order {
                let (to, from) = (self.of(in_order, to), self.of(&self.sent, piece));
                to.into_iter().zip(from).try_for_each(|(to, from)| self.stream.copy_within(to, from))?;
            }
        }
        let [keys, payload] = self.sorted(0..n);
        // SAFETY: the keys, the payload and the scratch are on the device for this sort alone.
        let sorting = unsafe {
            let (keys, workspace) = (keys.cast::<B>(), self.scratch.view().cast());
            self.gpu.sort_array_within(&self.stream, workspace, keys, payload.address(), self.wanted)?
        };
        self.stream.record(&self.done)?;
        Ok((n, sorting))
    }

    /// When the sort began and ended. To be called after its end.
    pub fn sorting(&self) -> Result<Span, Error> {
        between(&self.origin, &self.begun, &self.done)
    }
}

const HINT: &str = "use the GPU alone, or the CPU engine";
