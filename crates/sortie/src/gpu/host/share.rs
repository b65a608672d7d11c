//! A device's share of an array in host memory, whose other keys the CPU sorts. The share arrives piece by piece, from
//! many threads at a time, and its size is only known at the end.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Mutex;

use sortie_device::{Buffer, Event, Properties, Stream, View};

use super::allowed::Allowed;
use crate::gpu::alloc::{available, scratch, workspace, workspace_bytes};
use crate::gpu::array::{MOST_KEYS, Wanted};
use crate::gpu::ring::{Origin, Ring, Slots, Span, between};
use crate::gpu::tuning::RING_SLOTS;
use crate::gpu::{Gpu, Pending};
use crate::key::{Bits, Code};
use crate::request::Beside;
use crate::ways;
use crate::{Error, Order};

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

impl Room {
    fn wanted(&self) -> Wanted {
        let beside = match self.payload_bytes {
            0 => Beside::Nothing,
            bytes => Beside::Payload { bytes, stable: self.stable },
        };
        // Codes arrive here, not keys.
        Wanted { beside, code: Code::Unsigned, order: Order::default() }
    }

    /// Words of each piece of scratch for the sort of any number of keys that there is room for.
    fn words<B: Bits>(&self, device: &Properties) -> Result<Vec<usize>, Error> {
        let mut most = Vec::new();
        // Fewer keys may be sorted in another way.
        for keys in [self.keys, self.keys.min(MOST_KEYS)] {
            let words = self.wanted();
            let words = words.scratch_words::<B>(&words.way::<B>(keys, device)?, keys, device);
            most.resize(most.len().max(words.len()), 0);
            most.iter_mut().zip(words).for_each(|(most, words)| *most = words.max(*most));
        }
        Ok(most)
    }

    /// Whether pieces are put in order after they have arrived.
    fn is_put_in_order(&self) -> bool {
        self.payload_bytes > 0 && self.stable
    }

    fn scratch<B: Bits>(&self, words: &[usize], threads: usize) -> ways::Scratch {
        let copies = if self.is_put_in_order() { 2 } else { 1 };
        let arrays = copies * self.keys * (size_of::<B>() + self.payload_bytes);
        let pinned = threads * Slots { count: RING_SLOTS, bytes: self.slot }.pinned();
        ways::Scratch { host: self.held + pinned as u64, device: (arrays + workspace_bytes(words)) as u64 }
    }

    /// What a share of this size takes, and what is held besides.
    pub fn most<B: Bits>(&self, device: &Properties, threads: usize) -> Result<ways::Scratch, Error> {
        Ok(self.scratch::<B>(&self.words::<B>(device)?, threads))
    }
}

impl<'gpu, B: Bits> HostShare<'gpu, B> {
    /// Allocates a share, with a ring for each thread.
    ///
    /// # Errors
    /// [`Error::Memory`] if it exceeds the limit or the memory of the device.
    pub fn new(gpu: &'gpu Gpu, room: Room, allowed: Allowed) -> Result<(Self, Vec<Ring>), Error> {
        let Room { keys: most, payload_bytes, slot, .. } = room;
        let (device, wanted) = (gpu.device(), room.wanted());
        let most_words = room.words::<B>(device.properties())?;
        let needed = room.scratch::<B>(&most_words, allowed.threads);
        needed.check(allowed.memory_limit, available(device.free_memory()?), HINT)?;
        let slots = Slots { count: RING_SLOTS, bytes: slot };
        let stream = device.stream()?;
        let array = || -> Result<_, Error> {
            let of = |bytes: usize| scratch(&stream, (most * bytes).div_ceil(size_of::<u32>()));
            Ok([of(size_of::<B>())?, of(payload_bytes)?])
        };
        let sent = array()?;
        let in_order = room.is_put_in_order().then(array).transpose()?;
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
            bytes: needed.bytes(),
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
