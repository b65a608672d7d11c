//! The peers made from CUB, in a shared library that is built separately from `peers/cub.cu`.

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::sync::Arc;

use bytemuck::Pod;
use libloading::Library;
use sortie_device::{Stream, View};

use super::batch::Batch;
use crate::Result;
use crate::keys::BenchKey;

/// How to get the library.
pub const BUILD: &str = "build them with `nvcc -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC -o cub.so \
                         crates/sortie-bench/peers/cub.cu` and give the library with --peers ./cub.so";

/// The peers in the library.
#[derive(Debug, Clone, Copy)]
pub enum Peer {
    SegmentedSort,
    SegmentedRadixSort,
    ByHand,
    ByTags,
    Radix,
    Merge,
    RadixPairs,
    Strings,
}

/// `Batch` in `cub.cu`.
#[repr(C)]
struct RawBatch {
    input: u64,
    keys: u64,
    n: u64,
    segments: u64,
    length: u64,
    offsets: u64,
}

/// `Array` in `cub_arrays.cuh`.
#[repr(C)]
pub struct RawArray {
    pub keys: u64,
    pub sorted_keys: u64,
    pub payload: u64,
    pub sorted_payload: u64,
    pub n: u64,
}

/// Segments of one length, or between offsets if there are any.
pub struct RawSegments {
    pub count: u64,
    pub length: u64,
    pub offsets: u64,
}

/// A job of the library, only used by address.
#[repr(C)]
struct RawJob {
    _opaque: [u8; 0],
}

type Answer = *const c_char;
type Open =
    unsafe extern "C" fn(c_int, *const c_char, c_int, *const RawBatch, u64, *mut *mut RawJob) -> Answer;
type Run = unsafe extern "C" fn(*mut RawJob, u64) -> Answer;
type Note = unsafe extern "C" fn(*const RawJob) -> Answer;
type Close = unsafe extern "C" fn(*mut RawJob);
type SortArray =
    unsafe extern "C" fn(*const c_char, c_int, c_int, *const RawArray, u64, *mut usize, u64) -> Answer;
type Export = unsafe extern "C" fn(u64, *mut u8) -> Answer;

/// The library and its functions.
#[derive(Debug)]
struct Calls {
    open: Open,
    run: Run,
    note: Note,
    close: Close,
    sort_array: SortArray,
    export: Export,
    _library: Library,
}

#[derive(Debug, Clone)]
pub struct Cub(Arc<Calls>);

impl Cub {
    pub fn load(path: &Path) -> Result<Cub> {
        let cannot = |e| format!("cannot load the peers in {}: {e}; {BUILD}", path.display());
        // SAFETY: the user names a library built from `cub.cu`, whose functions have these types.
        unsafe {
            let library = Library::new(path).map_err(cannot)?;
            Ok(Cub(Arc::new(Calls {
                open: *library.get(b"sortie_peer_open").map_err(cannot)?,
                run: *library.get(b"sortie_peer_run").map_err(cannot)?,
                note: *library.get(b"sortie_peer_note").map_err(cannot)?,
                close: *library.get(b"sortie_peer_close").map_err(cannot)?,
                sort_array: *library.get(b"sortie_peer_sort_array").map_err(cannot)?,
                export: *library.get(b"sortie_peer_export").map_err(cannot)?,
                _library: library,
            })))
        }
    }

    /// Prepares a peer for this batch. Allocates its temporary storage.
    pub fn open<'a, K: BenchKey + Pod>(&self, peer: Peer, batch: &'a Batch<K>) -> Result<CubSort<'a>> {
        let raw = RawBatch {
            input: batch.input.address(),
            keys: batch.keys.address(),
            n: batch.keys.len() as u64,
            segments: batch.segments,
            length: batch.length.unwrap_or(0),
            offsets: batch.offsets.as_ref().map_or(0, |offsets| offsets.address()),
        };
        // SAFETY: the batch's buffers hold what `raw` says, and outlive the job.
        unsafe { self.open_raw(peer, K::NAME, &raw, &batch.stream) }
    }

    /// Prepares an argsort of strings.
    pub fn open_strings<'a>(
        &self,
        stream: &'a Stream,
        bytes: View<'a, u8>,
        offsets: View<'a, u64>,
        places: View<'a, u32>,
    ) -> Result<CubSort<'a>> {
        let raw = RawBatch {
            input: bytes.address(),
            keys: places.address(),
            n: places.len() as u64,
            segments: 1,
            length: 0,
            offsets: offsets.address(),
        };
        // SAFETY: as above.
        unsafe { self.open_raw(Peer::Strings, "bytes", &raw, stream) }
    }

    /// Prepares a sort of segments from one array to another.
    pub fn open_segments<'a, K: BenchKey + Pod>(
        &self,
        peer: Peer,
        input: View<'a, K>,
        keys: View<'a, K>,
        segments: &RawSegments,
        stream: &'a Stream,
    ) -> Result<CubSort<'a>> {
        let raw = RawBatch {
            input: input.address(),
            keys: keys.address(),
            n: keys.len() as u64,
            segments: segments.count,
            length: segments.length,
            offsets: segments.offsets,
        };
        // SAFETY: as above.
        unsafe { self.open_raw(peer, K::NAME, &raw, stream) }
    }

    /// Enqueues a radix sort of one array with payloads of `payload_bytes`. Without storage, only returns the bytes of
    /// storage that it needs.
    ///
    /// # Safety
    /// The addresses are those of arrays of `n` such keys and payloads, and of storage of the required size.
    pub unsafe fn sort_array(
        &self,
        key: &str,
        payload_bytes: usize,
        array: &RawArray,
        storage: Option<View<'_, u8>>,
        stream: &Stream,
    ) -> Result<usize> {
        let key = CString::new(key)?;
        let device = stream.device().properties().ordinal as c_int;
        let mut bytes = storage.map_or(0, |storage| storage.len());
        let storage = storage.map_or(0, |storage| storage.address());
        let payload_bytes = payload_bytes as c_int;
        // SAFETY: the caller guarantees it.
        unsafe {
            let sort = self.0.sort_array;
            said(sort(key.as_ptr(), payload_bytes, device, array, storage, &mut bytes, stream.raw()))?;
        }
        Ok(bytes)
    }

    /// A handle with which another process can open the allocation that starts at this address.
    pub fn export(&self, address: u64) -> Result<[u8; 64]> {
        let mut handle = [0; 64];
        // SAFETY: the handle has 64 bytes. If the address is not that of an allocation, the call returns an error.
        unsafe { said((self.0.export)(address, handle.as_mut_ptr()))? };
        Ok(handle)
    }

    /// # Safety
    /// The addresses are those of the data that a batch for this peer needs. The data outlives the job.
    unsafe fn open_raw<'a>(
        &self,
        peer: Peer,
        key: &str,
        raw: &RawBatch,
        stream: &'a Stream,
    ) -> Result<CubSort<'a>> {
        let key = CString::new(key)?;
        let device = stream.device().properties().ordinal as c_int;
        let mut job = std::ptr::null_mut();
        // SAFETY: the caller guarantees it.
        unsafe {
            said((self.0.open)(peer as c_int, key.as_ptr(), device, raw, stream.raw(), &mut job))?;
        }
        Ok(CubSort { cub: self.clone(), job, stream })
    }
}

/// A peer that is prepared for a batch.
pub struct CubSort<'a> {
    cub: Cub,
    job: *mut RawJob,
    stream: &'a Stream,
}

impl CubSort<'_> {
    /// Enqueues the sort on the batch's stream.
    pub fn run(&self) -> Result<()> {
        // SAFETY: the job is open, and its batch is alive.
        unsafe { said((self.cub.0.run)(self.job, self.stream.raw())) }
    }

    /// What was chosen for this batch, or an empty string.
    pub fn note(&self) -> String {
        // SAFETY: the job is open; its text ends with a NUL and lives as long as the job.
        unsafe { CStr::from_ptr((self.cub.0.note)(self.job)).to_string_lossy().into_owned() }
    }
}

impl Drop for CubSort<'_> {
    fn drop(&mut self) {
        // SAFETY: opened once and closed once.
        unsafe { (self.cub.0.close)(self.job) }
    }
}

/// Converts an answer of the library to a result.
///
/// # Safety
///
/// The answer is null, or a text that ends with a NUL and lives until the next call.
unsafe fn said(answer: Answer) -> Result<()> {
    if answer.is_null() {
        return Ok(());
    }
    // SAFETY: the caller guarantees it.
    Err(unsafe { CStr::from_ptr(answer) }.to_string_lossy().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_told_with_how_to_build_it() {
        let error = Cub::load(Path::new("/no/such/library.so")).unwrap_err().to_string();
        assert!(error.contains("/no/such/library.so") && error.contains("nvcc"), "{error}");
    }
}
