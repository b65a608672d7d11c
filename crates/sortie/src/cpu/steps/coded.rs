//! Keys that are not numbers, replaced by their codes in place: tuples, options and byte arrays as large as an integer that holds
//! their order. Sorts of numbers sort the codes, and the keys are recovered from them.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use crate::cpu::Job;
use crate::cpu::compiled::{CpuSorts, Payload};
use crate::key::{Bits, Transform};
use crate::parallel::{self, ITEMS_A_TASK};
use crate::{Error, Order, Report, Segments, TotalOrder};

/// A slice of keys that holds their codes until this is dropped.
pub(crate) struct Coded<'a, K: TotalOrder> {
    codes: Codes<'a>,
    order: Order,
    threads: usize,
    keys: PhantomData<&'a mut [K]>,
}

/// Codes of each width.
enum Codes<'a> {
    Of8(&'a mut [u8]),
    Of16(&'a mut [u16]),
    Of32(&'a mut [u32]),
    Of64(&'a mut [u64]),
}

/// Calls code with the codes, whatever their width.
macro_rules! with_codes {
    ($coded:expr, |$codes:ident| $work:expr) => {
        match &mut $coded.codes {
            Codes::Of8(codes) => {
                let $codes = &mut **codes;
                $work
            }
            Codes::Of16(codes) => {
                let $codes = &mut **codes;
                $work
            }
            Codes::Of32(codes) => {
                let $codes = &mut **codes;
                $work
            }
            Codes::Of64(codes) => {
                let $codes = &mut **codes;
                $work
            }
        }
    };
}

impl<'a, K: TotalOrder> Coded<'a, K> {
    /// Whether an integer of the keys' size holds their order.
    pub(crate) const FITS: bool = K::FORM.is_wide()
        && K::IS_PREFIX
        && matches!(size_of::<K>(), 1 | 2 | 4 | 8)
        && K::PREFIX_BITS as usize <= 8 * size_of::<K>();

    /// Replaces keys by their codes. `None` if the order ties different keys, or if the slice is not aligned for the codes.
    pub(crate) fn of(keys: &'a mut [K], order: Order, threads: usize) -> Option<Self> {
        if const { !Self::FITS } || !K::is_recovered(order) {
            return None;
        }
        let codes = if const { size_of::<K>() == size_of::<u8>() } {
            Codes::Of8(encode(keys, order, threads)?)
        } else if const { size_of::<K>() == size_of::<u16>() } {
            Codes::Of16(encode(keys, order, threads)?)
        } else if const { size_of::<K>() == size_of::<u32>() } {
            Codes::Of32(encode(keys, order, threads)?)
        } else {
            Codes::Of64(encode(keys, order, threads)?)
        };
        Some(Coded { codes, order, threads, keys: PhantomData })
    }

    /// Sorts up to [`FEW`](crate::cpu::tuning::FEW) keys.
    pub(crate) fn sort_few(mut self) {
        with_codes!(self, |codes| CpuSorts::sort_few(codes, Transform::IDENTITY));
    }

    /// Sorts keys in place.
    pub(crate) fn sort(self, job: &Job, report: &mut Report) -> Result<(), Error> {
        self.decode_after(report, |coded| {
            with_codes!(coded, |codes| CpuSorts::sort(codes, Transform::IDENTITY, job))
        })
    }

    /// Sorts each segment in place.
    pub(crate) fn sort_segments(
        self,
        segments: Segments<'_>,
        job: &Job,
        report: &mut Report,
    ) -> Result<(), Error> {
        self.decode_after(report, |coded| {
            with_codes!(coded, |codes| CpuSorts::sort_segments(codes, segments, Transform::IDENTITY, job))
        })
    }

    /// Sorts keys and moves each payload with its key. Stable.
    pub(crate) fn sort_pairs(
        self,
        payload: Payload<'_>,
        job: &Job,
        report: &mut Report,
    ) -> Result<(), Error> {
        self.decode_after(report, |coded| {
            with_codes!(coded, |codes| CpuSorts::sort_pairs(codes, payload, Transform::IDENTITY, job))
        })
    }

    /// Calls `sort`, and recovers the keys.
    fn decode_after(
        mut self,
        report: &mut Report,
        sort: impl FnOnce(&mut Self) -> Result<Report, Error>,
    ) -> Result<(), Error> {
        let sorted = sort(&mut self)?;
        report.absorb(sorted);
        let bytes = with_codes!(self, |codes| size_of_val(codes));
        report.phase("decode", bytes, bytes, || drop(self));
        Ok(())
    }
}

/// If a sort panics, the keys are recovered too, because a code may be no key.
impl<K: TotalOrder> Drop for Coded<'_, K> {
    fn drop(&mut self) {
        with_codes!(self, |codes| decode::<K, _>(codes, self.order, self.threads));
    }
}

/// Replaces keys by their codes. `None` if the slice is not aligned for codes.
fn encode<K: TotalOrder, B: Bits>(keys: &mut [K], order: Order, threads: usize) -> Option<&mut [B]> {
    assert!(size_of::<K>() == size_of::<B>());
    let (at, n) = (keys.as_mut_ptr().cast::<MaybeUninit<B>>(), keys.len());
    if !at.is_aligned() {
        return None;
    }
    // SAFETY: the sizes are equal, the alignment was checked, and any bytes may be uninitialised.
    let slots = unsafe { std::slice::from_raw_parts_mut(at, n) };
    each_slot(slots, threads, &|slots| {
        with_order(order, &mut |order| {
            for slot in slots.iter_mut() {
                // SAFETY: the slot holds a key.
                let prefix = unsafe { &*slot.as_ptr().cast::<K>() }.prefix(order);
                slot.write(B::from_low(prefix >> (u64::BITS - K::PREFIX_BITS)));
            }
        });
    });
    // SAFETY: every code was written.
    Some(unsafe { std::slice::from_raw_parts_mut(at.cast(), n) })
}

/// Replaces the codes of keys by the keys.
fn decode<K: TotalOrder, B: Bits>(codes: &mut [B], order: Order, threads: usize) {
    assert!(size_of::<K>() == size_of::<B>());
    let (at, n) = (codes.as_mut_ptr().cast::<MaybeUninit<B>>(), codes.len());
    // SAFETY: the same memory, whose contents are not used as codes again.
    let slots = unsafe { std::slice::from_raw_parts_mut(at, n) };
    each_slot(slots, threads, &|slots| {
        with_order(order, &mut |order| {
            for slot in slots.iter_mut() {
                // SAFETY: the slot holds a code.
                let code = unsafe { slot.assume_init() };
                let key = K::of_prefix(code.low() << (u64::BITS - K::PREFIX_BITS), order);
                // SAFETY: the slot was made of one for a key.
                unsafe { slot.as_mut_ptr().cast::<K>().write(key.expect("each code is that of a key")) };
            }
        });
    });
}

/// Calls `work` with parts of the slots, by all threads.
fn each_slot<B: Bits>(
    slots: &mut [MaybeUninit<B>],
    threads: usize,
    work: &(impl Fn(&mut [MaybeUninit<B>]) + Sync),
) {
    if threads > 1 {
        parallel::for_each(threads, slots.chunks_mut(ITEMS_A_TASK), work);
    } else {
        work(slots);
    }
}

/// Choosing the order once, here, avoids a choice for every key.
#[inline(always)]
fn with_order(order: Order, work: &mut impl FnMut(Order)) {
    if order == Order::default() { work(Order::default()) } else { work(order) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Nans, Nulls};

    /// Sorts keys by their codes, and compares with std's sort.
    fn check<K: TotalOrder + Copy + std::fmt::Debug>(key: impl Fn(&mut fastrand::Rng) -> K) {
        const { assert!(Coded::<K>::FITS) }
        let mut rng = fastrand::Rng::with_seed(1);
        for (descending, nulls) in [(false, Nulls::Last), (true, Nulls::Last), (false, Nulls::First)] {
            for nans in [Nans::Last, Nans::First, Nans::EqualLast] {
                let order = Order { descending, nulls, nans };
                for n in [1, 2, 9, 70, 1000] {
                    let mut keys: Vec<K> = (0..n).map(|_| key(&mut rng)).collect();
                    let mut expected = keys.clone();
                    expected.sort_by(|a, b| a.compare(b, order));
                    match Coded::of(&mut keys, order, 1) {
                        Some(coded) => coded.sort_few(),
                        None => assert!(!K::is_recovered(order)),
                    }
                    if K::is_recovered(order) {
                        // As text, in which NaNs are equal.
                        assert_eq!(format!("{keys:?}"), format!("{expected:?}"), "{order:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn keys_are_recovered() {
        check(|rng| (rng.u32(..9), rng.u32(..)));
        check(|rng| (rng.i16(..), rng.u16(..)));
        check(|rng| (rng.u8(..9), rng.bool(), rng.i16(..)));
        check(|rng| (rng.u8(..9), rng.u32(..)));
        check(|rng| [rng.u8(..3), rng.u8(..)]);
        check(|rng| rng.u64(..).to_be_bytes());
        check(|rng| rng.bool().then(|| rng.u32(..)));
        check(|rng| rng.bool().then(|| f32::from_bits(rng.u32(..))));
        check(|rng| (f32::from_bits(rng.u32(..) & 0x8000_0000), rng.bool().then(|| rng.u8(..))));
        check(|rng| (rng.bool(),));
        check(|rng| (rng.char(..), rng.char(..)));
        check(|rng| rng.bool().then(|| rng.u16(..)));
    }

    #[test]
    fn other_keys_do_not_fit() {
        let fit = [
            Coded::<(u64, u64)>::FITS,
            Coded::<Option<u64>>::FITS,
            Coded::<Option<bool>>::FITS,
            Coded::<[u8; 0]>::FITS,
            Coded::<[u8; 3]>::FITS,
            Coded::<u32>::FITS,
            Coded::<&str>::FITS,
        ];
        assert_eq!(fit, [false; 7]);
    }

    /// Equal NaNs have one code, from which their bits cannot be recovered.
    #[test]
    fn equal_nans_are_not_recovered() {
        let order = Order { nans: Nans::EqualLast, ..Order::default() };
        assert!(Coded::of(&mut [(f32::NAN, 1u32)], order, 1).is_none());
        assert!(Coded::of(&mut [(1u32, 1u32)], order, 1).is_some());
    }

    /// Codes have a larger alignment than the keys.
    #[test]
    fn unaligned_keys_stay() {
        let mut keys = [[7u8; 4]; 3];
        let bytes: &mut [u8] = keys.as_flattened_mut();
        let skip = 1 + bytes.as_ptr().align_offset(align_of::<u32>());
        let (keys, _) = bytes[skip..].as_chunks_mut::<4>();
        assert!(Coded::of(keys, Order::default(), 1).is_none());
        assert!(keys.iter().all(|key| *key == [7; 4]));
    }
}
