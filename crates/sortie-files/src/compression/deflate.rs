//! [`Deflate`]: libdeflate, which may find no memory. The crate `libdeflater` would panic.

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

use libdeflate_sys::{
    libdeflate_alloc_compressor, libdeflate_compressor, libdeflate_deflate_compress,
    libdeflate_deflate_compress_bound, libdeflate_free_compressor, libdeflate_gzip_compress,
    libdeflate_gzip_compress_bound,
};

/// Compresses pieces that lie in memory as a whole.
pub struct Deflate(NonNull<libdeflate_compressor>);

impl Deflate {
    /// One of the levels of gzip.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn new(level: i32) -> io::Result<Deflate> {
        // SAFETY: any number may be given as a level. The result is null if it is none, or if there is no memory.
        let compressor = unsafe { libdeflate_alloc_compressor(level) };
        NonNull::new(compressor).map(Deflate).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    /// The size of the largest gzip member that a piece of this length can become.
    pub fn gzip_bound(&mut self, bytes: usize) -> usize {
        // SAFETY: the compressor lives.
        unsafe { libdeflate_gzip_compress_bound(self.0.as_ptr(), bytes) }
    }

    /// The size of the longest raw DEFLATE data that a piece of this length can become.
    pub fn deflate_bound(&mut self, bytes: usize) -> usize {
        // SAFETY: the compressor lives.
        unsafe { libdeflate_deflate_compress_bound(self.0.as_ptr(), bytes) }
    }

    /// Compresses a piece to a member of gzip, and returns its size.
    ///
    /// # Errors
    /// If it does not fit.
    pub fn gzip(&mut self, piece: &[u8], into: &mut [u8]) -> io::Result<usize> {
        self.call(libdeflate_gzip_compress, piece, into)
    }

    /// Compresses a piece, without a header and a trailer, and returns its size.
    ///
    /// # Errors
    /// If it does not fit.
    pub fn deflate(&mut self, piece: &[u8], into: &mut [u8]) -> io::Result<usize> {
        self.call(libdeflate_deflate_compress, piece, into)
    }

    fn call(&mut self, compress: Compress, piece: &[u8], into: &mut [u8]) -> io::Result<usize> {
        let (from, to) = (piece.as_ptr().cast::<c_void>(), into.as_mut_ptr().cast::<c_void>());
        // SAFETY: the compressor lives, and is used by nobody else; the function reads the piece and writes up to the length of `into`.
        let size = unsafe { compress(self.0.as_ptr(), from, piece.len(), to, into.len()) };
        if size > 0 { Ok(size) } else { Err(io::ErrorKind::StorageFull.into()) }
    }
}

/// Returns 0 if the result does not fit.
type Compress =
    unsafe extern "C" fn(*mut libdeflate_compressor, *const c_void, usize, *mut c_void, usize) -> usize;

impl Drop for Deflate {
    fn drop(&mut self) {
        // SAFETY: it was allocated by the function that belongs to this one, and is not used again.
        unsafe { libdeflate_free_compressor(self.0.as_ptr()) }
    }
}
