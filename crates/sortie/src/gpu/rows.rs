//! Payloads of sizes that no sort moves with its keys. A sort moves the indices of their rows, which are then gathered
//! by them.

use bytemuck::Pod;
use sortie_device::{Launch, Stream, View};

use super::alloc::scratch;
use super::kernels::{File, Instance};
use super::{Gpu, Pending};
use crate::Error;
use crate::error::same_length;
use crate::request::moves_with_keys;

/// Threads of the kernels' blocks, and blocks per multiprocessor.
const BLOCK: usize = 256;
const RESIDENT: u32 = 8;

/// A payload in device memory, of any type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DevicePayload {
    pub address: u64,
    /// Bytes of each item.
    pub each: usize,
}

impl DevicePayload {
    /// The payload of this many keys.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Unsupported`] for sizes that are not a multiple of 4 bytes, and if it is not
    /// aligned.
    pub fn of<V: Pod>(keys: usize, payload: View<'_, V>) -> Result<DevicePayload, Error> {
        same_length("payload", keys, payload.len())?;
        let payload = DevicePayload { address: payload.address(), each: size_of::<V>() };
        payload.check()?;
        Ok(payload)
    }

    /// The same, if the type of an item is just a number of bytes.
    pub fn of_bytes(keys: usize, payload: View<'_, u8>, each: usize) -> Result<DevicePayload, Error> {
        check_payload_bytes(each)?;
        same_length("bytes of the payload", keys.saturating_mul(each), payload.len())?;
        let payload = DevicePayload { address: payload.address(), each };
        payload.check()?;
        Ok(payload)
    }

    fn check(self) -> Result<(), Error> {
        let DevicePayload { address, each } = self;
        check_payload_bytes(each)?;
        let aligned = if each.is_multiple_of(8) { 8 } else { 4 };
        if address.is_multiple_of(aligned) {
            return Ok(());
        }
        Err(Error::Unsupported(format!(
            "payloads of {each} bytes begin at {address:#x} of GPU memory, which is not aligned to {aligned} bytes; copy them \
             to memory that is"
        )))
    }
}

/// Fails if a GPU does not sort payloads of `each` bytes.
pub(crate) fn check_payload_bytes(each: usize) -> Result<(), Error> {
    if each > 0 && each.is_multiple_of(4) {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "payloads of {each} bytes cannot be sorted on a GPU, only those of a multiple of 4 bytes; pad them, or use an \
         argsort"
    )))
}

/// Rows of a payload that does not move with its keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    count: usize,
    /// The bytes of each row.
    bytes: usize,
}

impl Rows {
    /// `None` if payloads of `bytes` bytes move with their keys.
    pub fn of(count: usize, bytes: usize) -> Option<Rows> {
        (bytes > 0 && !moves_with_keys(bytes)).then_some(Rows { count, bytes })
    }

    /// Bytes of an index.
    pub fn index_bytes(self) -> usize {
        if u32::try_from(self.count).is_ok() { size_of::<u32>() } else { size_of::<u64>() }
    }

    /// Words of scratch: the indices, and a copy of the rows.
    pub fn words(self) -> usize {
        self.index_words() + self.row_words()
    }

    fn index_words(self) -> usize {
        (self.count * self.index_bytes() / size_of::<u32>()).next_multiple_of(2)
    }

    fn row_words(self) -> usize {
        self.count * self.bytes / size_of::<u32>()
    }

    fn instances(self) -> [Instance; 2] {
        ["number_rows", "gather_rows"].map(|kernel| instance(kernel, self.bytes, self.index_bytes()))
    }
}

fn instance(kernel: &'static str, row_bytes: usize, index_bytes: usize) -> Instance {
    let defines = vec![
        ("SORTIE_PAYLOAD_BYTES", row_bytes.to_string()),
        ("SORTIE_INDEX_BYTES", index_bytes.to_string()),
    ];
    Instance { kernel, file: File::Rows, defines }
}

impl Gpu {
    /// Writes the numbers from 0 to `count` at an address, as integers of `index_bytes` bytes.
    ///
    /// # Safety
    /// Nothing else uses the indices meanwhile. The stream belongs to this engine's device.
    pub(crate) unsafe fn number(
        &self,
        stream: &Stream,
        indices: u64,
        count: usize,
        index_bytes: usize,
    ) -> Result<(), Error> {
        let kernel = self.kernel(&instance("number_rows", index_bytes, index_bytes))?;
        // SAFETY: these are the kernel's arguments. The engine keeps the kernel.
        unsafe { kernel.launch(stream, self.launch_rows(count), (indices, count as u64))? };
        Ok(())
    }

    /// Writes indices of 32 bits as integers of 64 bits, at an address.
    ///
    /// # Safety
    /// There is room for as many; nothing else uses them meanwhile. The stream belongs to this engine's device.
    pub(crate) unsafe fn widen(
        &self,
        stream: &Stream,
        indices: View<'_, u32>,
        wide: u64,
    ) -> Result<(), Error> {
        let kernel = self.kernel(&instance("widen_indices", size_of::<u64>(), size_of::<u32>()))?;
        let count = indices.len();
        // SAFETY: these are the kernel's arguments. The engine keeps the kernel.
        unsafe { kernel.launch(stream, self.launch_rows(count), (indices, count as u64, wide))? };
        Ok(())
    }

    /// A launch for work on this many items, each of which any thread may take.
    pub(crate) fn launch_rows(&self, items: usize) -> Launch {
        let most = (self.device().properties().multiprocessors * RESIDENT) as usize;
        Launch { blocks: items.div_ceil(BLOCK).min(most) as u32, threads: BLOCK as u32, shared: 0 }
    }

    /// Enqueues a sort of the rows at an address. `sort` gets the address of indices, each that of its own row, and
    /// enqueues a sort of these.
    ///
    /// # Safety
    /// `sort` permutes the indices. Nothing else uses the rows until the sort is done. The stream belongs to this engine's device.
    pub(crate) unsafe fn sort_rows<'gpu>(
        &'gpu self,
        stream: &Stream,
        rows: Rows,
        address: u64,
        sort: impl FnOnce(u64) -> Result<Pending<'gpu>, Error>,
    ) -> Result<Pending<'gpu>, Error> {
        if rows.count == 0 {
            return sort(address);
        }
        let kernels = self.kernels(&rows.instances())?;
        let scratch = scratch(stream, rows.words())?;
        let indices = scratch.range(0..rows.index_words());
        let copy = scratch.range(rows.index_words()..rows.words());
        let count = rows.count as u64;
        // SAFETY: the caller guarantees it; these are the kernels' arguments, and the kernels stay within the rows and
        // the scratch. The engine keeps the kernels.
        unsafe {
            kernels[0].launch(stream, self.launch_rows(rows.count), (indices, count))?;
            // What follows on the stream waits for the sort.
            drop(sort(indices.address())?);
            let there = View::<u32>::from_raw(address, rows.row_words());
            stream.copy_within(copy, there)?;
            let launch = self.launch_rows(rows.row_words());
            kernels[1].launch(stream, launch, (copy, indices, count, there))?;
        }
        self.pending(stream)
    }
}
