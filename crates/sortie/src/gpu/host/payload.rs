//! [`HostPayload`]: a payload in host memory, as bytes.

use std::mem::MaybeUninit;
use std::ops::Range;

use bytemuck::Pod;

use crate::request::moves_with_keys;

/// A payload on the host, of any type with 4, 8 or 16 bytes per key.
pub struct HostPayload<'a> {
    bytes: &'a mut [MaybeUninit<u8>],
    each: usize,
}

impl<'a> HostPayload<'a> {
    /// Returns `None` if the type has another size.
    ///
    /// # Safety
    /// Whatever fails, what is written to it leaves a permutation of the elements in the end, and no element is read or
    /// dropped before then.
    pub unsafe fn of<V>(payload: &'a mut [V]) -> Option<HostPayload<'a>> {
        let each = size_of::<V>();
        let (at, len) = (payload.as_mut_ptr().cast(), size_of_val(payload));
        // SAFETY: the same memory, for as long; the caller guarantees what is written.
        let bytes = unsafe { std::slice::from_raw_parts_mut(at, len) };
        moves_with_keys(each).then_some(HostPayload { bytes, each })
    }

    /// A payload whose elements may have any bytes.
    pub fn of_pod<V: Pod>(payload: &'a mut [V]) -> Option<HostPayload<'a>> {
        // SAFETY: a sort writes bytes of the payload, and any bytes are valid elements.
        unsafe { HostPayload::of(payload) }
    }

    /// A payload of `each` bytes for each key.
    pub fn of_bytes(bytes: &'a mut [u8], each: usize) -> Option<HostPayload<'a>> {
        let payload = HostPayload::of_pod(bytemuck::try_cast_slice_mut::<u8, [u8; 4]>(bytes).ok()?);
        payload.filter(|_| moves_with_keys(each)).map(|payload| HostPayload { each, ..payload })
    }

    /// The payload as elements of this size.
    pub fn elements<const N: usize>(&mut self) -> &mut [[MaybeUninit<u8>; N]] {
        assert_eq!(self.each, N);
        let (elements, []) = self.bytes.as_chunks_mut() else { unreachable!("there are whole elements") };
        elements
    }

    /// The part that belongs to these keys.
    pub fn part(&mut self, keys: Range<usize>) -> HostPayload<'_> {
        let each = self.each;
        HostPayload { bytes: self.range(keys), each }
    }

    pub fn bytes(&mut self) -> &mut [MaybeUninit<u8>] {
        self.bytes
    }

    /// Reverses the elements.
    pub fn reverse(&mut self) {
        match self.each {
            4 => self.elements::<4>().reverse(),
            8 => self.elements::<8>().reverse(),
            _ => self.elements::<16>().reverse(),
        }
    }

    /// Bytes for each key.
    pub fn each(&self) -> usize {
        self.each
    }

    /// The bytes that belong to these keys.
    pub fn range(&mut self, keys: Range<usize>) -> &mut [MaybeUninit<u8>] {
        &mut self.bytes[keys.start * self.each..keys.end * self.each]
    }
}
