//! [`Numbers`]: sorts of numbers whose bytes lie one after the other, in the orders that this package has.
//!
//! The library has one order, in which keys with different bits are different. In NumPy's order, -0.0 equals 0.0 and all NaNs
//! are equal. The two differ only where keys are *tied*: equal, with different bits. Keys alone, sorted without regard to
//! stability, may then come in the library's order. For everything else, keys are looked through for ties, and where there are
//! any, a copy is sorted in which equal keys have equal bits.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use sortie::dynamic::{self, Dtype};
use sortie::{Error, Index, Nans, Order, Report, Segments, Side, Sorter};

use crate::buffer::{self, Buffer, by_parts, zeroed};
use crate::errors::Failure;
use crate::kind::Kind;
use crate::options::{Options, Ordering};

/// Keys that become codes at a time, and in one task.
const CODED: usize = 1 << 10;
const SHARED: usize = 1 << 16;

/// Keys that are compared before the first that is out of order ends the search.
const COMPARED: usize = 1 << 12;

/// Lanes of fewer keys are sorted sooner than a selection in each is set up.
const SELECTED_FROM: usize = 1 << 8;

/// Numbers of one type, with the order in which they come.
pub struct Numbers<'a> {
    options: &'a Options,
    /// What the library sorts, after the change.
    dtype: Dtype,
    order: Order,
    change: Change,
    /// The type of floats that may be tied.
    ties: Option<Float>,
}

/// What is done to the bits of keys so that the order of `dtype` is the one that was asked for. It can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    None,
    /// Makes NaT, the least integer, the greatest, and every other integer one less.
    RotateNat,
    /// Makes the totalOrder of floats the order of signed integers.
    FlipNegative,
}

/// What tells zeros and NaNs of a type of float.
#[derive(Debug, Clone, Copy)]
struct Float {
    /// The bits of infinity.
    infinity: u64,
}

impl Float {
    fn of(dtype: Dtype) -> Option<Float> {
        let infinity = match dtype {
            Dtype::F16 => 0x7c00,
            Dtype::Bf16 => 0x7f80,
            Dtype::F32 => 0x7f80_0000,
            Dtype::F64 => 0x7ff0_0000_0000_0000,
            _ => return None,
        };
        Some(Float { infinity })
    }
}

/// The unsigned integers that hold floats.
trait Bits: Pod + Eq + Ord + Send + Sync {
    const SIGN: Self;
    const ZERO: Self;
    fn of(bits: u64) -> Self;
    /// Without the sign.
    fn magnitude(self) -> Self;
    /// With all bits but the sign reversed, if the sign bit is set.
    fn flip_negative(self) -> Self;
}

macro_rules! bits {
    ($($unsigned:ty: $signed:ty),*) => {$(
        impl Bits for $unsigned {
            const SIGN: Self = 1 << (<$unsigned>::BITS - 1);
            const ZERO: Self = 0;
            fn of(bits: u64) -> Self { bits as $unsigned }
            fn magnitude(self) -> Self { self & !Self::SIGN }
            fn flip_negative(self) -> Self { self ^ (((self as $signed >> (<$unsigned>::BITS - 1)) as $unsigned) >> 1) }
        }
    )*};
}
bits!(u16: i16, u32: i32, u64: i64);

/// Evaluates an expression with `$bits` as the unsigned integer as wide as `$dtype`.
macro_rules! with_bits {
    ($dtype:expr, $bits:ident => $body:expr) => {
        match $dtype.width() {
            2 => {
                type $bits = u16;
                $body
            }
            4 => {
                type $bits = u32;
                $body
            }
            _ => {
                type $bits = u64;
                $body
            }
        }
    };
}

impl<'a> Numbers<'a> {
    /// Numbers of this kind, if they are numbers.
    pub fn of(kind: Kind, options: &'a Options) -> Option<Numbers<'a>> {
        let (mut dtype, mut change, mut ties) = match kind {
            Kind::Number(dtype) => (dtype, Change::None, None),
            // Where a descending sort puts the least integer last, NaT needs no change.
            Kind::Time if options.descending == options.nans_first => (Dtype::I64, Change::RotateNat, None),
            Kind::Time => (Dtype::I64, Change::None, None),
            _ => return None,
        };
        if let Some(float) = Float::of(dtype) {
            match options.ordering {
                Ordering::Numpy => ties = Some(float),
                Ordering::Total => {}
                Ordering::Arrow => {
                    change = Change::FlipNegative;
                    dtype = match dtype.width() {
                        2 => Dtype::I16,
                        4 => Dtype::I32,
                        _ => Dtype::I64,
                    };
                }
            }
        }
        Some(Numbers { options, dtype, order: options.key_order(), change, ties })
    }

    /// Bytes to which keys are aligned.
    pub fn align(&self) -> usize {
        self.dtype.width()
    }

    /// The sorter of a call that already holds `held` bytes.
    fn sorter(&self, held: usize) -> Result<Sorter, Failure> {
        let Order { descending, nans, .. } = self.order;
        Ok(self.options.builder(held)?.descending(descending).nans(nans).build()?)
    }

    /// Sorts keys, as one array or in segments. If it is to be `stable`, keys that are equal and have different bits keep their
    /// order. The call holds `held` bytes of scratch already.
    pub fn sort(
        &self,
        keys: &mut [u8],
        segments: Option<Segments<'_>>,
        stable: bool,
        held: usize,
    ) -> Result<Report, Failure> {
        if stable && self.has_ties(keys) {
            return self.sort_rows(keys, segments, None, held);
        }
        let sorter = self.sorter(held)?;
        let report = self.changed(keys, |keys| {
            Ok(match segments {
                None => dynamic::sort(&sorter, self.dtype, keys)?,
                Some(segments) => dynamic::sort_segments(&sorter, self.dtype, keys, segments)?,
            })
        })?;
        Ok(holding(report, held))
    }

    /// Sorts keys, each with a payload of `each` bytes. Stable, unless the options say otherwise.
    pub fn sort_pairs(&self, keys: &mut [u8], each: usize, payload: &mut [u8]) -> Result<Report, Failure> {
        if self.options.stable != Some(false) && self.has_ties(keys) {
            return self.sort_rows(keys, None, Some((each, payload)), 0);
        }
        let sorter = self.sorter(0)?;
        self.changed(keys, |keys| Ok(dynamic::sort_pairs(&sorter, self.dtype, keys, each, payload)?))
    }

    /// Whether keys are in order in each lane of `len`. `None` for types whose keys must become codes first.
    pub fn are_sorted(&self, keys: &[u8], len: usize) -> Option<bool> {
        let Order { descending, nans, .. } = self.order;
        let nans_first = nans == Nans::First;
        fn numbers<T: Pod + PartialOrd + Sync>(keys: &[u8], len: usize, descending: bool) -> bool {
            if descending {
                in_order::<T>(keys, len, |a, b| a >= b)
            } else {
                in_order::<T>(keys, len, |a, b| a <= b)
            }
        }
        // A NaN, which alone differs from itself, goes after or before everything.
        fn floats<T: Pod + PartialOrd + Sync>(
            keys: &[u8],
            len: usize,
            descending: bool,
            nans_first: bool,
        ) -> bool {
            #[allow(clippy::eq_op)]
            match (descending, nans_first) {
                (false, false) => in_order::<T>(keys, len, |a, b| (a <= b) | (b != b)),
                (false, true) => in_order::<T>(keys, len, |a, b| (a <= b) | (a != a)),
                (true, false) => in_order::<T>(keys, len, |a, b| (a >= b) | (b != b)),
                (true, true) => in_order::<T>(keys, len, |a, b| (a >= b) | (a != a)),
            }
        }
        if self.change != Change::None {
            return None;
        }
        Some(match (self.dtype, self.ties.is_some()) {
            (Dtype::U8, _) => numbers::<u8>(keys, len, descending),
            (Dtype::U16, _) => numbers::<u16>(keys, len, descending),
            (Dtype::U32, _) => numbers::<u32>(keys, len, descending),
            (Dtype::U64, _) => numbers::<u64>(keys, len, descending),
            (Dtype::I8, _) => numbers::<i8>(keys, len, descending),
            (Dtype::I16, _) => numbers::<i16>(keys, len, descending),
            (Dtype::I32, _) => numbers::<i32>(keys, len, descending),
            (Dtype::I64, _) => numbers::<i64>(keys, len, descending),
            (Dtype::F32, true) => floats::<f32>(keys, len, descending, nans_first),
            (Dtype::F64, true) => floats::<f64>(keys, len, descending, nans_first),
            _ => return None,
        })
    }

    /// Writes the indices of keys in order, of all or in each segment. Stable, unless the options say otherwise.
    pub fn argsort<I: Index>(
        &self,
        keys: &[u8],
        segments: Option<Segments<'_>>,
        indices: &mut [I],
        held: usize,
    ) -> Result<Report, Failure> {
        let mut copy = Buffer::default();
        let (keys, held) = if self.changes(keys) || self.has_ties(keys) {
            copy = self.prepared(keys, held)?;
            (copy.bytes(), held + keys.len())
        } else {
            (keys, held)
        };
        let sorter = self.sorter(held)?;
        let report = match segments {
            None => dynamic::argsort(&sorter, self.dtype, keys, indices)?,
            Some(segments) => dynamic::argsort_segments(&sorter, self.dtype, keys, indices, segments)?,
        };
        drop(copy);
        Ok(holding(report, held))
    }

    /// Writes the indices of the first `k` keys of each lane of `len` keys: sorted, or in any order. Of equal keys, those with
    /// smaller indices are first.
    pub fn arg_top_k<I: Index + Zeroable>(
        &self,
        keys: &[u8],
        len: usize,
        sorted: bool,
        indices: &mut [I],
        k: usize,
        held: usize,
    ) -> Result<Report, Failure> {
        let bytes = len * self.dtype.width();
        let lanes = keys.len() / bytes;
        if len < SELECTED_FROM && lanes > 1 {
            let held = held + lanes * len * size_of::<I>();
            self.options.left(held)?;
            let mut order = zeroed::<I>(lanes * len)?;
            let report = self.argsort(keys, Some(Segments::Length(len)), &mut order, held)?;
            let first = order.chunks(len).zip(indices.chunks_mut(k));
            first.for_each(|(order, indices)| indices.copy_from_slice(&order[..k]));
            return Ok(report);
        }
        // The library finds all NaNs equal, as NumPy does.
        let nans = match (self.ties, self.options.nans_first) {
            (None, _) => self.order.nans,
            (Some(_), false) => Nans::EqualLast,
            (Some(_), true) => Nans::EqualFirst,
        };
        let sorter = self.sorter(held)?.with_order(Order { nans, ..self.order });
        let lane = |(keys, indices): (&[u8], &mut [I])| self.select(&sorter, keys, sorted, indices, held);
        let merged = |mut all: Report, report: Report| {
            all.absorb(report);
            Ok(all)
        };
        // Each lane of several at a time has scratch of its own, so a limit is for one.
        if buffer::in_pool() && self.options.memory_limit.is_none() {
            let each = keys.par_chunks(bytes).zip(indices.par_chunks_mut(k));
            let mut report = each.map(lane).try_reduce(Report::default, merged)?;
            report.scratch_peak *= rayon::current_num_threads().min(lanes) as u64;
            return Ok(holding(report, held));
        }
        let mut each = keys.chunks(bytes).zip(indices.chunks_mut(k)).map(lane);
        let report = each.try_fold(Report::default(), |all, report| merged(all, report?))?;
        Ok(holding(report, held))
    }

    /// The indices of the first keys of one lane.
    fn select<I: Index>(
        &self,
        sorter: &Sorter,
        keys: &[u8],
        sorted: bool,
        indices: &mut [I],
        held: usize,
    ) -> Result<Report, Failure> {
        let select = if sorted { dynamic::arg_top_k::<I> } else { dynamic::arg_top_k_unsorted::<I> };
        if !self.changes(keys) {
            let report = select(sorter, self.dtype, keys, indices)?;
            // Other keys are in the same order among those that are tied.
            if !self.has_zeros(keys, indices) || !self.has_ties(keys) {
                return Ok(report);
            }
        }
        let copy = self.prepared(keys, held)?;
        let report = select(&sorter.holding(keys.len() as u64)?, self.dtype, copy.bytes(), indices)?;
        Ok(holding(report, keys.len()))
    }

    /// Writes the keys at these indices of the order of each lane of `len` keys.
    pub fn nth(
        &self,
        keys: &[u8],
        len: usize,
        indices: &[usize],
        found: &mut [u8],
        held: usize,
    ) -> Result<Report, Failure> {
        let width = self.dtype.width();
        let mut copy = Buffer::default();
        let (keys, held) = if self.changes(keys) {
            copy = self.prepared(keys, held)?;
            (copy.bytes(), held + keys.len())
        } else {
            (keys, held)
        };
        let sorter = self.sorter(held)?;
        let each = keys.chunks(len * width).zip(found.chunks_mut(indices.len() * width));
        let mut report = Report::default();
        for (keys, found) in each {
            report.absorb(dynamic::nth(&sorter, self.dtype, keys, indices, found)?);
        }
        if !copy.bytes().is_empty() {
            self.decode(found);
        }
        Ok(holding(report, held))
    }

    /// Puts the keys at these indices of the order of each lane of `len` keys in their places.
    pub fn partition(
        &self,
        keys: &mut [u8],
        len: usize,
        indices: &[usize],
        held: usize,
    ) -> Result<Report, Failure> {
        let sorter = self.sorter(held)?;
        let report = self.changed(keys, |keys| {
            let mut report = Report::default();
            for lane in keys.chunks_mut(len * self.dtype.width()) {
                report.absorb(dynamic::partition(&sorter, self.dtype, lane, indices)?);
            }
            Ok(report)
        })?;
        Ok(holding(report, held))
    }

    /// Writes the positions of queries in sorted keys. All NaNs are equal.
    pub fn search(
        &self,
        keys: &[u8],
        queries: &[u8],
        side: Side,
        positions: &mut [u64],
    ) -> Result<Report, Failure> {
        let sorter = self.sorter(0)?.with_order(Order { nans: Nans::EqualLast, ..self.order });
        Ok(dynamic::search_sorted(&sorter, self.dtype, keys, queries, side, positions)?)
    }

    /// Writes how many keys are between neighbouring edges, which are in order. All NaNs are equal.
    pub fn histogram(&self, keys: &[u8], edges: &[u8], counts: &mut [usize]) -> Result<Report, Failure> {
        let sorter = self.sorter(0)?.with_order(Order { nans: Nans::EqualLast, ..self.order });
        Ok(dynamic::histogram(&sorter, self.dtype, keys, edges, counts)?)
    }

    /// Whether one of the keys that the indices name is a zero of a type that has two.
    fn has_zeros(&self, keys: &[u8], indices: &[impl Index]) -> bool {
        self.ties.is_some()
            && with_bits!(self.dtype, B => {
                let keys: &[B] = bytemuck::cast_slice(keys);
                indices.iter().any(|index| keys[index.to_usize()].magnitude() == B::ZERO)
            })
    }

    /// Numbers of 64 bits, whose order as integers is that of the keys. Equal keys have equal numbers. Those of narrower keys
    /// are in the high bits. Changes the keys.
    pub fn codes(&self, keys: &mut [u8]) -> Result<Vec<u64>, Failure> {
        self.narrow_codes(keys, |code| code)
    }

    /// The same, each as the number that `narrow` makes of it.
    pub fn narrow_codes<T: Zeroable + Clone + Send>(
        &self,
        keys: &mut [u8],
        narrow: impl Fn(u64) -> T + Sync,
    ) -> Result<Vec<T>, Failure> {
        self.prepare(keys);
        let width = self.dtype.width();
        let mut codes = zeroed::<T>(keys.len() / width)?;
        let part = |(keys, codes): (&[u8], &mut [T])| {
            let mut wide = [0; CODED];
            for (keys, codes) in keys.chunks(CODED * width).zip(codes.chunks_mut(CODED)) {
                let wide = &mut wide[..codes.len()];
                dynamic::codes(self.dtype, keys, self.order, wide)?;
                codes.iter_mut().zip(wide).for_each(|(code, wide)| *code = narrow(*wide));
            }
            Ok::<(), Error>(())
        };
        if buffer::in_pool() {
            let keys = keys.par_chunks(SHARED * width);
            keys.zip(codes.par_chunks_mut(SHARED)).try_for_each(part)?;
        } else {
            part((keys, &mut codes))?;
        }
        Ok(codes)
    }

    /// Sorts keys and payloads by indices, so that tied keys keep their order and their bits.
    fn sort_rows(
        &self,
        keys: &mut [u8],
        segments: Option<Segments<'_>>,
        mut payload: Option<(usize, &mut [u8])>,
        held: usize,
    ) -> Result<Report, Failure> {
        let width = self.dtype.width();
        let n = keys.len() / width;
        let widest = payload.as_ref().map_or(width, |(each, _)| width.max(*each));
        // All memory is there before anything moves.
        let copied = widest * longest(segments, n);
        let held = held + n * size_of::<u64>() + copied;
        self.options.left(held)?;
        let (mut copy, mut indices) = (Buffer::new(copied)?, zeroed::<u64>(n)?);
        let report = self.argsort(keys, segments, &mut indices, held)?;
        for range in ranges(segments, n) {
            let indices = &indices[range.clone()];
            permute(&mut keys[range.start * width..range.end * width], width, indices, &mut copy);
            if let Some((each, payload)) = &mut payload {
                permute(&mut payload[range.start * *each..range.end * *each], *each, indices, &mut copy);
            }
        }
        Ok(report)
    }

    /// Runs `sort` on keys that are changed for it, and undoes the change.
    fn changed(
        &self,
        keys: &mut [u8],
        sort: impl FnOnce(&mut [u8]) -> Result<Report, Failure>,
    ) -> Result<Report, Failure> {
        if !self.changes(keys) {
            return sort(keys);
        }
        self.encode(keys);
        let done = sort(keys);
        self.decode(keys);
        done
    }

    /// Whether the change makes a difference to these keys.
    fn changes(&self, keys: &[u8]) -> bool {
        match self.change {
            Change::None => false,
            Change::RotateNat => bytemuck::cast_slice::<u8, i64>(keys).contains(&i64::MIN),
            Change::FlipNegative => true,
        }
    }

    /// A prepared copy of keys, for a call that already holds `held` bytes.
    fn prepared(&self, keys: &[u8], held: usize) -> Result<Buffer, Failure> {
        self.options.left(held + keys.len())?;
        let mut copy = Buffer::new(keys.len())?;
        copy.bytes_mut().copy_from_slice(keys);
        self.prepare(copy.bytes_mut());
        Ok(copy)
    }

    /// Changes keys so that the order of their bits is the one asked for, and equal keys have equal bits.
    fn prepare(&self, keys: &mut [u8]) {
        self.encode(keys);
        if let Some(float) = self.ties {
            with_bits!(self.dtype, B => by_parts(keys, size_of::<B>(), |keys| untie::<B>(keys, float)));
        }
    }

    /// Changes keys for the library.
    pub fn encode(&self, keys: &mut [u8]) {
        match self.change {
            Change::None => {}
            Change::RotateNat => add(keys, -1),
            Change::FlipNegative => self.flip(keys),
        }
    }

    /// Undoes [`Numbers::encode`].
    pub fn decode(&self, keys: &mut [u8]) {
        match self.change {
            Change::None => {}
            Change::RotateNat => add(keys, 1),
            Change::FlipNegative => self.flip(keys),
        }
    }

    fn flip(&self, keys: &mut [u8]) {
        with_bits!(self.dtype, B => by_parts(keys, size_of::<B>(), |keys| {
            bytemuck::cast_slice_mut::<u8, B>(keys).iter_mut().for_each(|key| *key = Bits::flip_negative(*key));
        }));
    }

    /// Whether some keys are equal and have different bits.
    fn has_ties(&self, keys: &[u8]) -> bool {
        self.ties.is_some_and(|float| with_bits!(self.dtype, B => has_ties::<B>(keys, float)))
    }
}

/// Whether every key of each lane of `len` keys and the next are in order.
fn in_order<T: Pod + Sync>(keys: &[u8], len: usize, pair: impl Fn(T, T) -> bool + Sync) -> bool {
    let keys: &[T] = bytemuck::cast_slice(keys);
    // Without a branch for each pair, the compiler compares many at once.
    let stretch = |keys: &[T]| {
        keys.iter().zip(keys.get(1..).unwrap_or_default()).fold(true, |all, (&a, &b)| all & pair(a, b))
    };
    // Stretches overlap by one key.
    let starts = |keys: &[T]| (0..keys.len()).step_by(COMPARED);
    let of = |keys: &[T], from: usize| stretch(&keys[from..keys.len().min(from + COMPARED + 1)]);
    if len == keys.len() && buffer::in_pool() {
        return (0..keys.len().div_ceil(COMPARED)).into_par_iter().all(|i| of(keys, i * COMPARED));
    }
    keys.chunks_exact(len.max(1)).all(|lane| starts(lane).all(|from| of(lane, from)))
}

fn add(keys: &mut [u8], number: i64) {
    by_parts(keys, size_of::<i64>(), |keys| {
        bytemuck::cast_slice_mut::<u8, i64>(keys).iter_mut().for_each(|key| *key = key.wrapping_add(number));
    });
}

/// Gives all zeros the bits of 0.0, and all NaNs those of one of them.
fn untie<B: Bits>(keys: &mut [u8], float: Float) {
    let infinity = B::of(float.infinity);
    let nan = B::of(float.infinity | 1);
    for key in bytemuck::cast_slice_mut::<u8, B>(keys) {
        let magnitude = key.magnitude();
        *key = if magnitude > infinity {
            nan
        } else if magnitude == B::ZERO {
            B::ZERO
        } else {
            *key
        };
    }
}

/// Whether there are zeros of both signs, or NaNs with different bits.
fn has_ties<B: Bits>(keys: &[u8], float: Float) -> bool {
    let infinity = B::of(float.infinity);
    let (mut plus, mut minus, mut nan) = (false, false, None);
    for chunk in bytemuck::cast_slice::<u8, B>(keys).chunks(4096) {
        let mut nans = false;
        for &key in chunk {
            plus |= key == B::ZERO;
            minus |= key == B::SIGN;
            nans |= key.magnitude() > infinity;
        }
        if nans {
            for &key in chunk.iter().filter(|key| key.magnitude() > infinity) {
                if *nan.get_or_insert(key) != key {
                    return true;
                }
            }
        }
        if plus && minus {
            return true;
        }
    }
    false
}

/// The report of a sort whose caller holds `held` bytes of scratch.
pub fn holding(mut report: Report, held: usize) -> Report {
    report.scratch_peak += held as u64;
    report
}

/// The ranges of the segments; of all keys, without segments.
pub fn ranges(segments: Option<Segments<'_>>, n: usize) -> impl Iterator<Item = Range<usize>> {
    let count = match segments {
        None => 1,
        Some(Segments::Length(len)) => n / len.max(1),
        Some(Segments::Offsets(offsets)) => offsets.len().saturating_sub(1),
    };
    (0..count).map(move |i| match segments {
        None => 0..n,
        Some(Segments::Length(len)) => i * len..(i + 1) * len,
        Some(Segments::Offsets(offsets)) => offsets[i]..offsets[i + 1],
    })
}

/// The elements of the longest segment.
pub fn longest(segments: Option<Segments<'_>>, n: usize) -> usize {
    ranges(segments, n).map(|range| range.len()).max().unwrap_or(0)
}

/// Puts the items that the indices name in the place of all. `copy` has room for them.
pub fn permute(items: &mut [u8], width: usize, indices: &[impl Copy + Into<u64> + Sync], copy: &mut Buffer) {
    let copy = &mut copy.bytes_mut()[..items.len()];
    copy.copy_from_slice(items);
    buffer::take(copy, width, indices, items);
}
