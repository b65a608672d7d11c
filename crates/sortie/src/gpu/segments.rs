//! Many segments, each sorted by a worker of its own, in place.
//!
//! Segments of one length go to workers that fit it. Segments between offsets are put into classes by length, on the
//! device, and each class goes to workers of its size; nothing of their lengths is read back.

use bytemuck::Pod;
use sortie_device::{Launch, Stream, View};

use super::kernels::{File, Instance};
use super::worker::{From, Worker};
use super::{Gpu, Pending};
use crate::key::{Bits, Code, Form, Transform};
use crate::{Error, Key, Order};

/// How keys on a device fall into segments.
#[derive(Debug, Clone, Copy)]
pub enum Segments<'a> {
    /// Segments of one length, which divides the number of keys.
    Length(u64),
    /// Segment `i` is `offsets[i]..offsets[i + 1]`; the offsets, on the device too, never go backwards and stay within
    /// the keys.
    Offsets(View<'a, u64>),
}

/// `code::Transform` of the kernels.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Numbers([u64; 4]);

// SAFETY: laid out as its C equivalent.
unsafe impl sortie_device::Argument for Numbers {}

const MOST_CLASSES: usize = 64;

/// `classes::Capacities` of the kernels.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Capacities {
    count: u32,
    of: [u32; MOST_CLASSES - 1],
}

// SAFETY: laid out as its C equivalent.
unsafe impl sortie_device::Argument for Capacities {}

/// Threads of a block that puts segments into classes, and the segments that it takes at a time.
const CLASSES_BLOCK: u32 = 256;
const CLASSES_TAKEN: u64 = 256 * 8;
/// Bytes of shared memory that it uses: three words a class.
const CLASSES_SHARED: usize = 3 * 4 * MOST_CLASSES;

impl Gpu {
    /// Enqueues a sort of every segment by itself, in place, and does not wait.
    ///
    /// Segments of one length need no scratch; segments between offsets, 4 bytes each and less than a kilobyte. One read and
    /// one write of the keys. Keys are sorted alone, so equal ones cannot be told apart.
    ///
    /// # Errors
    /// [`Error::Segments`] where the length does not divide the keys; [`Error::Unsupported`] for keys without codes of 8
    /// to 64 bits, and for segments of one length too long for a block; [`Error::Device`] where scratch or a kernel could not be
    /// had.
    ///
    /// # Safety
    /// Nothing else uses the keys or the offsets until the sort is done, and offsets are as [`Segments::Offsets`]
    /// states. The stream is of this engine's device.
    pub unsafe fn sort_segments<K: Key + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        segments: Segments<'_>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let Form::Bits(code) = K::FORM else {
            return Err(Error::Unsupported(
                "only keys of fixed width are sorted on a GPU; use the CPU engine".into(),
            ));
        };
        // SAFETY: as the caller states.
        unsafe { self.sort_bits(stream, keys.cast::<K::Bits>(), segments, code, order) }
    }

    /// [`Gpu::sort_segments`] for the bits of keys of this code.
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn sort_bits<B: Bits>(
        &self,
        stream: &Stream,
        keys: View<'_, B>,
        segments: Segments<'_>,
        code: Code,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        if B::WIDTH > 64 {
            return Err(Error::Unsupported(format!(
                "keys of {} bits are not sorted on a GPU; use the CPU engine",
                B::WIDTH
            )));
        }
        let job = Job { gpu: self, stream, keys, code, order };
        match segments {
            // SAFETY: as the caller states.
            Segments::Length(length) => unsafe { job.of_one_length(length) },
            // SAFETY: as the caller states.
            Segments::Offsets(offsets) => unsafe { job.between_offsets(offsets) },
        }
    }
}

struct Job<'gpu, 'a, B> {
    gpu: &'gpu Gpu,
    stream: &'a Stream,
    keys: View<'a, B>,
    code: Code,
    order: Order,
}

impl<'gpu, B: Bits> Job<'gpu, '_, B> {
    /// # Safety
    /// As [`Gpu::sort_segments`].
    unsafe fn of_one_length(self, length: u64) -> Result<Pending<'gpu>, Error> {
        let keys = self.keys.len();
        if keys == 0 || length == 1 {
            return self.gpu.pending(self.stream, None);
        }
        crate::Segments::Length(length as usize).check(keys)?;
        let segments = keys as u64 / length;
        let Some(worker) = Worker::for_length(length as usize, self.item_bytes(), self.shared_per_block())
        else {
            return Err(Error::Unsupported(format!(
                "segments of {length} keys are too long for a block of this device; use the CPU engine"
            )));
        };
        let kernel =
            self.gpu.kernel(&worker.instance(From::OneLength, size_of::<B>(), self.code, self.order))?;
        let launch = Launch {
            blocks: blocks(segments.div_ceil(worker.workers as u64))?,
            threads: worker.block(),
            shared: match worker.is_tiled() {
                true => worker.workers * length as usize * size_of::<B>(),
                false => worker.shared(self.item_bytes()),
            },
        };
        // SAFETY: these are the kernel's arguments; it stays within the segments, which are the keys. The engine keeps
        // the kernel.
        unsafe { kernel.launch(self.stream, launch, (self.keys, length, segments, self.numbers()))? };
        self.gpu.pending(self.stream, None)
    }

    /// # Safety
    /// As [`Gpu::sort_segments`].
    unsafe fn between_offsets(self, offsets: View<'_, u64>) -> Result<Pending<'gpu>, Error> {
        let segments = offsets.len().saturating_sub(1);
        if segments == 0 || self.keys.is_empty() {
            return self.gpu.pending(self.stream, None);
        }
        if segments as u64 > u64::from(u32::MAX) {
            return Err(Error::Unsupported(format!("{segments} segments are too many; sort them in parts")));
        }
        let workers = Worker::classes(self.item_bytes(), self.shared_per_block());
        let mut capacities = Capacities { count: workers.len() as u32, of: [0; MOST_CLASSES - 1] };
        for (capacity, worker) in capacities.of.iter_mut().zip(&workers) {
            *capacity = worker.capacity() as u32;
        }
        let scratch = self.gpu.scratch(2 * MOST_CLASSES + segments)?;
        let counts = scratch.range(0..MOST_CLASSES);
        let cursors = scratch.range(MOST_CLASSES..2 * MOST_CLASSES);
        let list = scratch.range(2 * MOST_CLASSES..2 * MOST_CLASSES + segments);
        self.stream.fill(scratch.range(0..2 * MOST_CLASSES), 0)?;
        let resident = self.gpu.device().properties().multiprocessors * 8;
        let launch = Launch {
            blocks: blocks((segments as u64).div_ceil(CLASSES_TAKEN))?.min(resident),
            threads: CLASSES_BLOCK,
            shared: CLASSES_SHARED,
        };
        let [count, list_them] = ["count_classes", "list_classes"]
            .map(|kernel| self.gpu.kernel(&Instance { kernel, file: File::Classes, defines: vec![] }));
        // SAFETY: these are the kernels' arguments; they read the offsets and write the scratch, which is large enough.
        unsafe {
            count?.launch(self.stream, launch, (offsets, segments, capacities, counts))?;
            list_them?.launch(self.stream, launch, (offsets, segments, capacities, counts, cursors, list))?;
        }
        for (size, worker) in workers.iter().enumerate() {
            // Where even the shortest of the class are too long for the keys, there are none.
            if size > 0 && workers[size - 1].capacity() >= self.keys.len() {
                break;
            }
            let kernel =
                self.gpu.kernel(&worker.instance(From::List, size_of::<B>(), self.code, self.order))?;
            let launch = Launch {
                blocks: blocks((segments as u64).div_ceil(worker.workers as u64))?.min(resident),
                threads: worker.block(),
                shared: worker.shared(self.item_bytes()),
            };
            let arguments = (self.keys, offsets, list, counts, size as u32, self.numbers());
            // SAFETY: these are the kernel's arguments; it stays within the segments that are listed.
            unsafe { kernel.launch(self.stream, launch, arguments)? };
        }
        self.gpu.pending(self.stream, Some(scratch))
    }

    /// Bytes of a key as the kernels sort it.
    fn item_bytes(&self) -> usize {
        size_of::<B>().max(4)
    }

    fn shared_per_block(&self) -> usize {
        self.gpu.device().properties().shared_per_block
    }

    fn numbers(&self) -> Numbers {
        Numbers(Transform::<B>::new(self.code, self.order).numbers())
    }
}

/// A number of blocks that a launch can have.
fn blocks(count: u64) -> Result<u32, Error> {
    let most = i32::MAX as u64;
    if count > most {
        return Err(Error::Unsupported(format!(
            "{count} blocks are more than the {most} of a launch; sort in parts"
        )));
    }
    Ok(count as u32)
}
