//! [`Lanes`]: the one-dimensional arrays along an axis of an array of any shape and strides.

use std::ops::Range;
use std::ptr;

use rayon::prelude::*;

use crate::buffer::{self, Buffer};
use crate::errors::Failure;

/// The most bytes of lanes that are copied at a time to be sorted: for each thread, so that they stay in its cache, and in all.
const BLOCK_EACH: usize = 1 << 20;
const BLOCK: usize = 32 << 20;

/// Bytes of a cache line. A square of elements, as wide as one, is copied at a time: both of its sides are whole lines.
const LINE: usize = 64;

/// Cache lines of neighbouring lanes that one thread copies together, so that it looks up the page of each fewer times.
const LINES: usize = 4;

/// The lanes along an axis. Lane `i` is the `i`-th in C order of the other axes.
#[derive(Debug, Clone)]
pub struct Lanes {
    base: *mut u8,
    /// Elements of a lane.
    pub len: usize,
    stride: isize,
    /// Length and stride of the other axes.
    outer: Vec<(usize, isize)>,
    /// How many lanes there are.
    pub count: usize,
    /// Bytes of an element.
    pub width: usize,
    /// Whether no two elements share memory. Only then several threads may write.
    apart: bool,
}

// SAFETY: lanes are addresses. Whoever reads or writes through them states that nobody else does. Threads of one call write to
// different elements, which `scatter` checks to have no bytes in common.
unsafe impl Send for Lanes {}
// SAFETY: as above.
unsafe impl Sync for Lanes {}

impl Lanes {
    /// The lanes along `axis` of an array.
    pub fn new(base: *mut u8, width: usize, shape: &[usize], strides: &[isize], axis: usize) -> Lanes {
        let others = (0..shape.len()).filter(|&other| other != axis);
        let outer: Vec<_> = others.map(|other| (shape[other], strides[other])).collect();
        let count = outer.iter().map(|(len, _)| len).product();
        let apart = lie_apart(width, shape, strides);
        Lanes { base, len: shape[axis], stride: strides[axis], outer, count, width, apart }
    }

    /// Elements of all lanes.
    pub fn elements(&self) -> usize {
        self.len * self.count
    }

    /// The same lanes, in the order of their addresses.
    pub fn by_address(mut self) -> Lanes {
        self.outer.sort_by_key(|&(_, stride)| std::cmp::Reverse(stride));
        self
    }

    /// The first byte of all lanes, if they follow one another without gaps, and are aligned to `align` bytes.
    pub fn rows(&self, align: usize) -> Option<*mut u8> {
        let mut expected = (self.len * self.width) as isize;
        let dense = self.outer.iter().rev().all(|&(len, stride)| {
            let fits = len == 1 || stride == expected;
            expected *= len as isize;
            fits
        });
        let in_line = self.len == 1 || self.stride == self.width as isize;
        (dense && in_line && self.base.addr().is_multiple_of(align)).then_some(self.base)
    }

    /// Ranges of lanes that are to be copied at a time: at least one lane.
    pub fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let threads = if buffer::in_pool() { rayon::current_num_threads() } else { 1 };
        let (count, bytes) = (self.count, (BLOCK_EACH * threads).min(BLOCK));
        let each = (bytes / (self.len * self.width).max(1)).max(1);
        (0..count).step_by(each).map(move |from| from..(from + each).min(count))
    }

    /// Copies these lanes, one after the other, to a buffer. Returns its bytes.
    ///
    /// # Safety
    /// As [`Lanes::gather`].
    pub unsafe fn copy_to(&self, lanes: Range<usize>, buffer: &mut Buffer) -> Result<usize, Failure> {
        let bytes = lanes.len() * self.len * self.width;
        buffer.reuse(bytes)?;
        // SAFETY: as the caller states.
        unsafe { self.gather(lanes, buffer.bytes_mut()) };
        Ok(bytes)
    }

    /// The elements of these lanes, one after the other: where they lie, or in a copy. Also returns the bytes of the copy.
    ///
    /// # Safety
    /// As [`Lanes::gather`], as long as the elements are used.
    pub unsafe fn items<'a>(
        &self,
        lanes: Range<usize>,
        copy: &'a mut Buffer,
    ) -> Result<(&'a [u8], usize), Failure> {
        let Some(rows) = self.rows(1) else {
            // SAFETY: as the caller states.
            let held = unsafe { self.copy_to(lanes, copy)? };
            return Ok((copy.bytes(), held));
        };
        let lane = self.len * self.width;
        // SAFETY: the lanes follow one another from there. The rest is as the caller states.
        Ok((unsafe { std::slice::from_raw_parts(rows.add(lanes.start * lane), lanes.len() * lane) }, 0))
    }

    /// Copies these lanes, one after the other, to `into`.
    ///
    /// # Safety
    /// The elements are valid, and nobody writes to them.
    pub unsafe fn gather(&self, lanes: Range<usize>, into: &mut [u8]) {
        let group = self.group();
        let parts = |from: usize, part: &mut [u8]| {
            let many = part.len() / (self.len * self.width);
            // SAFETY: as the caller states; the part has room for its lanes.
            unsafe { self.transfer::<true>(from..from + many, part.as_mut_ptr()) };
        };
        let bytes = group * self.len * self.width;
        if bytes == 0 {
            return;
        }
        if buffer::in_pool() {
            let parts = |(i, part): (usize, &mut [u8])| parts(lanes.start + i * group, part);
            into.par_chunks_mut(bytes).enumerate().for_each(parts);
        } else {
            into.chunks_mut(bytes).enumerate().for_each(|(i, part)| parts(lanes.start + i * group, part));
        }
    }

    /// Copies elements of one lane, from the one of this number on, to `into`.
    ///
    /// # Safety
    /// As [`Lanes::gather`].
    pub unsafe fn gather_part(&self, lane: usize, from: usize, into: &mut [u8]) {
        let base = self.start(lane).wrapping_offset(from as isize * self.stride);
        let part = Lanes { base, len: into.len() / self.width, outer: Vec::new(), count: 1, ..*self };
        // SAFETY: as the caller states.
        unsafe { part.transfer::<true>(0..1, into.as_mut_ptr()) };
    }

    /// Copies `from`, which has these lanes one after the other, to them.
    ///
    /// # Safety
    /// The elements are valid, and nobody else reads or writes them.
    ///
    /// # Panics
    /// If elements share memory: the threads would write to it at the same time.
    pub unsafe fn scatter(&self, lanes: Range<usize>, from: &[u8]) {
        assert!(self.apart, "elements that are written share memory");
        let group = self.group();
        let parts = |first: usize, part: &[u8]| {
            let many = part.len() / (self.len * self.width);
            // SAFETY: as the caller states; the part has its lanes. It is only read.
            unsafe { self.transfer::<false>(first..first + many, part.as_ptr().cast_mut()) };
        };
        let bytes = group * self.len * self.width;
        if bytes == 0 {
            return;
        }
        if buffer::in_pool() {
            let parts = |(i, part): (usize, &[u8])| parts(lanes.start + i * group, part);
            from.par_chunks(bytes).enumerate().for_each(parts);
        } else {
            from.chunks(bytes).enumerate().for_each(|(i, part)| parts(lanes.start + i * group, part));
        }
    }

    /// Lanes that one thread copies together: enough to share cache lines and to be worth a task.
    fn group(&self) -> usize {
        (LINES * LINE / self.width.max(1)).max((1 << 16) / (self.len * self.width).max(1)).max(1)
    }

    /// Copies lanes between their places and `packed`.
    ///
    /// # Safety
    /// Of [`Lanes::gather`] or [`Lanes::scatter`]; `packed` has room for the lanes.
    unsafe fn transfer<const OUT: bool>(&self, lanes: Range<usize>, packed: *mut u8) {
        // SAFETY: as the caller states. The types are as wide as an element.
        unsafe {
            match self.width {
                1 => self.copy::<OUT, [u8; 1]>(lanes, packed),
                2 => self.copy::<OUT, [u8; 2]>(lanes, packed),
                4 => self.copy::<OUT, [u8; 4]>(lanes, packed),
                8 => self.copy::<OUT, [u8; 8]>(lanes, packed),
                16 => self.copy::<OUT, [u8; 16]>(lanes, packed),
                width => self.each(lanes, |element, i| {
                    let at = packed.add(i * width);
                    let (from, to) = if OUT { (element, at) } else { (at, element) };
                    ptr::copy_nonoverlapping(from, to, width);
                }),
            }
        }
    }

    /// [`Lanes::transfer`] of elements as wide as `T`, whose alignment is 1.
    unsafe fn copy<const OUT: bool, T: Copy>(&self, lanes: Range<usize>, packed: *mut u8) {
        self.each(lanes, |element, i| {
            // SAFETY: as the caller states.
            unsafe {
                let at = packed.cast::<T>().add(i);
                if OUT { *at = *element.cast::<T>() } else { *element.cast::<T>() = *at }
            }
        });
    }

    /// Calls `visit` with the address of each element of these lanes, and its index among them.
    fn each(&self, lanes: Range<usize>, visit: impl Fn(*mut u8, usize)) {
        let starts: Vec<*mut u8> = lanes.map(|lane| self.start(lane)).collect();
        let side = (LINE / self.width.max(1)).max(1);
        // Elements that follow one another need no squares.
        let (rows, columns) = if self.stride == self.width as isize { (self.len, 1) } else { (side, side) };
        for from in (0..self.len).step_by(rows.max(1)) {
            for (group, starts) in starts.chunks(columns).enumerate() {
                for (lane, start) in starts.iter().enumerate() {
                    let lane = group * columns + lane;
                    for i in from..(from + rows).min(self.len) {
                        visit(start.wrapping_offset(i as isize * self.stride), lane * self.len + i);
                    }
                }
            }
        }
    }

    /// The first element of a lane.
    fn start(&self, mut lane: usize) -> *mut u8 {
        let mut start = self.base;
        for &(len, stride) in self.outer.iter().rev() {
            start = start.wrapping_offset((lane % len) as isize * stride);
            lane /= len;
        }
        start
    }
}

/// Whether elements of `width` bytes have no bytes in common. A stride must step over all that the shorter ones reach. This holds
/// for every part of an array without gaps, with its axes in any order.
pub fn lie_apart(width: usize, shape: &[usize], strides: &[isize]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let axes = shape.iter().zip(strides).filter(|(len, _)| **len > 1);
    let mut axes: Vec<(usize, usize)> = axes.map(|(&len, stride)| (stride.unsigned_abs(), len)).collect();
    axes.sort_unstable();
    let mut reach = width;
    axes.into_iter().all(|(stride, len)| {
        let apart = stride >= reach;
        reach = reach.saturating_add(stride.saturating_mul(len - 1));
        apart
    })
}
