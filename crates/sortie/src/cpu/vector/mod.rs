//! A vectorised quicksort of unsigned codes of 16, 32 and 64 bits, for the instructions of the machine.
//!
//! There is one generic quicksort and one generic network over the trait [`Vector`], instantiated for each instruction set and
//! width. To add an instruction set:
//!
//! 1. write a file like `avx2.rs`: a register type for each width that implements [`Vector`], and for each of them the functions that
//!    the macro `dispatch` calls, compiled for the instructions;
//! 2. add a variant to [`Isa`], its detection in `Isa::best`, its name in `limit`, and its arms where the compiler asks for them.
//!
//! Unsafe code: the instances run only after their instructions were detected, and every pointer stays within the slice.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod filter;
#[cfg(target_arch = "x86_64")]
mod network;
#[cfg(target_arch = "x86_64")]
mod quicksort;

use std::env;
use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;

use crate::Error;
use crate::key::{Bits, Transform, UpTo};
pub(crate) use filter::{BLOCK, Band, Inside};

/// Whether this machine has all of these features. They must be those that functions of that name are compiled for,
/// because a hypervisor can hide any one of them.
#[cfg(target_arch = "x86_64")]
macro_rules! detected {
    ($($feature:tt),*) => { $(is_x86_feature_detected!($feature))&&* };
}

/// The widest instructions that may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Isa {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// The instructions of this machine, unless `SORTIE_ISA` limits them. An unknown value limits nothing.
    pub(crate) fn detect() -> Isa {
        static ISA: OnceLock<Isa> = OnceLock::new();
        *ISA.get_or_init(|| {
            let best = Isa::best();
            limit().map_or(best, |limit| best.min(limit))
        })
    }

    /// Returns an error if the value of `SORTIE_ISA` is unknown. Does not ask the processor for its features, which is slow
    /// in a virtual machine.
    pub(crate) fn check() -> Result<(), Error> {
        let unknown = || {
            let value = value().to_string_lossy();
            let names = "portable, avx2 or avx512";
            Error::Unsupported(format!("SORTIE_ISA={value:?} is unknown; use {names}, or unset it"))
        };
        limit().map(drop).ok_or_else(unknown)
    }

    /// The number of its registers that hold as much as the widest one. `None` without vector instructions.
    pub(crate) fn registers(self) -> Option<usize> {
        match self {
            Isa::Portable => None,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Some(2),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Some(1),
        }
    }

    /// The instructions of this set that sort lanes of this width. Some machines have registers of 512 bits, but not all
    /// instructions for their 16-bit lanes.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn of_lanes(self, width: u32) -> Isa {
        if self != Isa::Avx512 || width != u16::BITS {
            self
        } else if detected!("avx512bw", "avx512vbmi2") {
            Isa::Avx512
        } else {
            Isa::Avx2
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn of_lanes(self, _width: u32) -> Isa {
        self
    }

    #[cfg(target_arch = "x86_64")]
    fn best() -> Isa {
        // Miri does not run vector instructions.
        if cfg!(miri) {
            Isa::Portable
        } else if detected!("avx512f", "avx2", "bmi1", "bmi2", "popcnt", "lzcnt") {
            Isa::Avx512
        } else if detected!("avx2", "bmi1", "bmi2", "popcnt", "lzcnt") {
            Isa::Avx2
        } else {
            Isa::Portable
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn best() -> Isa {
        Isa::Portable
    }
}

/// The value of `SORTIE_ISA`, empty if there is none.
fn value() -> &'static OsStr {
    static VALUE: OnceLock<OsString> = OnceLock::new();
    VALUE.get_or_init(|| env::var_os("SORTIE_ISA").unwrap_or_default())
}

/// The widest instructions that this value allows. `None` if it is unknown.
fn limit() -> Option<Isa> {
    match value().to_str()? {
        "portable" => Some(Isa::Portable),
        #[cfg(target_arch = "x86_64")]
        "avx2" => Some(Isa::Avx2),
        #[cfg(target_arch = "x86_64")]
        "avx512" | "" => Some(Isa::Avx512),
        #[cfg(not(target_arch = "x86_64"))]
        "avx2" | "avx512" | "" => Some(Isa::Portable),
        _ => None,
    }
}

/// Runs a closure that is compiled for the detected instructions: plain loops in it become vector loops.
///
/// This is a macro, so that each instruction set has a closure of its own. A shared one would be compiled without
/// vector instructions if it is too long to be inlined.
macro_rules! compiled_for {
    ($isa:expr, $work:expr) => {
        match $isa {
            $crate::cpu::vector::Isa::Portable => $crate::cpu::vector::once($work)(),
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::vector::Isa::Avx2 => {
                let work = $crate::cpu::vector::once($work);
                // SAFETY: the instructions were detected on this machine.
                unsafe { $crate::cpu::vector::compiled_for_avx2(work) }
            }
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::vector::Isa::Avx512 => {
                let work = $crate::cpu::vector::once($work);
                // SAFETY: the instructions were detected on this machine.
                unsafe { $crate::cpu::vector::compiled_for_avx512(work) }
            }
        }
    };
}
pub(crate) use compiled_for;

/// Tells the compiler that a closure is called once.
#[inline(always)]
pub(crate) fn once<R>(work: impl FnOnce() -> R) -> impl FnOnce() -> R {
    work
}

/// # Safety
/// The machine supports the instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(crate) unsafe fn compiled_for_avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// # Safety
/// The machine supports the instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(crate) unsafe fn compiled_for_avx512<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Calls the instance of a function for codes of this width, or the portable one.
macro_rules! dispatch {
    ($codes:ident, $isa:ident, $portable:expr, $($lane:ty: $vector:ident($($argument:expr),*)),*) => {
        match $isa.of_lanes(B::WIDTH) {
            $(
                #[cfg(target_arch = "x86_64")]
                isa @ (Isa::Avx2 | Isa::Avx512) if B::WIDTH == <$lane>::BITS => {
                    // SAFETY: `$lane` is the only `Bits` of that width; the instructions were detected on this machine.
                    unsafe {
                        let codes = std::slice::from_raw_parts_mut($codes.as_mut_ptr().cast::<$lane>(), $codes.len());
                        match isa {
                            Isa::Avx512 => avx512::$vector(codes, $($argument),*),
                            _ => avx2::$vector(codes, $($argument),*),
                        }
                    }
                }
            )*
            _ => $portable,
        }
    };
}

/// Sorts codes in place; O(n log n), no scratch memory beyond the stack. Uses std's sort if there are no vectors for
/// the codes.
pub(crate) fn sort<B: Bits>(codes: &mut [B], isa: Isa) {
    dispatch!(codes, isa, codes.sort_unstable(), u16: sort_u16(), u32: sort_u32(), u64: sort_u64());
}

/// Sorts keys in place, as [`sort`] sorts their codes. The transform is a bijection.
pub(crate) fn sort_keys<B: Bits>(keys: &mut [B], transform: &Transform<B>, isa: Isa) {
    if keys.len() <= small::<B>(isa) && is_small_sorted(transform) {
        sort_small(keys, transform, isa);
        return;
    }
    compiled_for!(isa, || transform.encode_slice(keys));
    sort(keys, isa);
    compiled_for!(isa, || transform.decode_slice(keys));
}

/// The number of keys up to which [`sort_small`] sorts them, at least.
pub(crate) const SMALL: usize = 16;

/// The number of keys of this width up to which [`sort_small`] sorts them: a block of the network.
pub(crate) fn small<B: Bits>(isa: Isa) -> usize {
    match isa.of_lanes(B::WIDTH) {
        Isa::Portable => SMALL,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => 8 * 32 / size_of::<B>(),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => 16 * 64 / size_of::<B>(),
    }
}

/// Whether [`sort_small`] sorts keys with these codes: integers, and floats in the plain order.
pub(crate) fn is_small_sorted<B: Bits>(transform: &Transform<B>) -> bool {
    transform.is_integer() || transform.is_plain_float()
}

/// Sorts up to [`small`] keys in registers, see [`is_small_sorted`]. Codes in memory would be read again before they are
/// all written, which takes as long as such a sort. Returns whether any key was moved.
pub(crate) fn sort_small<B: Bits>(keys: &mut [B], transform: &Transform<B>, isa: Isa) -> bool {
    assert!(keys.len() <= small::<B>(isa) && is_small_sorted(transform));
    dispatch!(
        keys,
        isa,
        sort_small_portable(keys, transform),
        u16: sort_small_u16(same_width(transform)),
        u32: sort_small_u32(same_width(transform)),
        u64: sort_small_u64(same_width(transform))
    )
}

fn sort_small_portable<B: Bits>(keys: &mut [B], transform: &Transform<B>) -> bool {
    if keys.is_sorted_by_key(|&key| transform.encode(key)) {
        return false;
    }
    transform.encode_slice(keys);
    keys.sort_unstable();
    transform.decode_slice(keys);
    true
}

/// A transform of codes of the same type.
#[cfg(target_arch = "x86_64")]
fn same_width<B: Bits, L: Bits>(transform: &Transform<B>) -> &Transform<L> {
    assert!(B::WIDTH == L::WIDTH);
    // SAFETY: there is one type of `Bits` for each width.
    unsafe { &*std::ptr::from_ref(transform).cast() }
}

/// An interval of codes of the same type.
#[cfg(target_arch = "x86_64")]
fn same_interval<B: Bits, L: Bits>(up_to: &UpTo<B>) -> UpTo<L> {
    let [flip, from, more] = [up_to.flip, up_to.from, up_to.more].map(|bits| L::from_low(bits.low()));
    UpTo { float: up_to.float, flip, from, more }
}

/// Moves the codes less than `pivot` to the front, in any order, and returns their number.
pub(crate) fn partition<B: Bits>(codes: &mut [B], pivot: B, isa: Isa) -> usize {
    dispatch!(
        codes,
        isa,
        partition_portable(codes, pivot),
        u16: partition_u16(pivot.low() as u16),
        u32: partition_u32(pivot.low() as u32),
        u64: partition_u64(pivot.low())
    )
}

/// Writes the positions of the keys that are in an interval, ascending, and returns their number. There is at most one block of
/// keys.
pub(crate) fn filter<B: Bits>(keys: &[B], up_to: &UpTo<B>, positions: &mut [u16; BLOCK], isa: Isa) -> usize {
    assert!(keys.len() <= BLOCK);
    match isa.of_lanes(B::WIDTH) {
        #[cfg(target_arch = "x86_64")]
        isa @ (Isa::Avx2 | Isa::Avx512) if matches!(B::WIDTH, 16 | 32 | 64) && keys.len() == BLOCK => {
            let at = keys.as_ptr();
            // SAFETY: there is one type of `Bits` for each width, and a block of keys. The instructions were detected.
            unsafe {
                match (isa, B::WIDTH) {
                    (Isa::Avx512, 16) => avx512::filter_u16(&*at.cast(), &same_interval(up_to), positions),
                    (Isa::Avx512, 32) => avx512::filter_u32(&*at.cast(), &same_interval(up_to), positions),
                    (Isa::Avx512, _) => avx512::filter_u64(&*at.cast(), &same_interval(up_to), positions),
                    (_, 16) => avx2::filter_u16(&*at.cast(), &same_interval(up_to), positions),
                    (_, 32) => avx2::filter_u32(&*at.cast(), &same_interval(up_to), positions),
                    (_, _) => avx2::filter_u64(&*at.cast(), &same_interval(up_to), positions),
                }
            }
        }
        _ => filter::portable(keys, up_to, positions),
    }
}

/// Counts the keys before a band, and copies those in it, in order. Returns both numbers. There is at most one block of keys.
pub(crate) fn band<B: Bits>(keys: &[B], band: &Band<B>, inside: &mut Inside<B>, isa: Isa) -> (usize, usize) {
    assert!(keys.len() <= BLOCK);
    match isa.of_lanes(B::WIDTH) {
        #[cfg(target_arch = "x86_64")]
        isa @ (Isa::Avx2 | Isa::Avx512) if matches!(B::WIDTH, 16 | 32 | 64) && keys.len() == BLOCK => {
            let (keys, inside) = (keys.as_ptr(), std::ptr::from_mut(inside));
            // SAFETY: there is one type of `Bits` for each width, and a block of keys. The instructions were detected.
            unsafe {
                match (isa, B::WIDTH) {
                    (Isa::Avx512, 16) => avx512::band_u16(&*keys.cast(), &band.same(), &mut *inside.cast()),
                    (Isa::Avx512, 32) => avx512::band_u32(&*keys.cast(), &band.same(), &mut *inside.cast()),
                    (Isa::Avx512, _) => avx512::band_u64(&*keys.cast(), &band.same(), &mut *inside.cast()),
                    (_, 16) => avx2::band_u16(&*keys.cast(), &band.same(), &mut *inside.cast()),
                    (_, 32) => avx2::band_u32(&*keys.cast(), &band.same(), &mut *inside.cast()),
                    (_, _) => avx2::band_u64(&*keys.cast(), &band.same(), &mut *inside.cast()),
                }
            }
        }
        _ => filter::portable_band(keys, band, inside),
    }
}

/// Copies the codes less than `pivot` to one slice and the others to another, in order. Returns the number of the
/// former. Both slices are at least as long as the codes. Their contents after the copied codes are unspecified.
#[cfg(feature = "gpu")]
pub(crate) fn split_to<B: Bits>(codes: &[B], pivot: B, less: &mut [B], others: &mut [B], isa: Isa) -> usize {
    assert!(codes.len() <= less.len() && codes.len() <= others.len());
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 | Isa::Avx512 if B::WIDTH == 32 => {
            // SAFETY: B is u32, the only `Bits` of that width, with room for all codes; the instructions were detected.
            unsafe {
                let codes = std::slice::from_raw_parts(codes.as_ptr().cast(), codes.len());
                let split = if isa == Isa::Avx512 { avx512::split_to_u32 } else { avx2::split_to_u32 };
                split(codes, pivot.low() as u32, less.as_mut_ptr().cast(), others.as_mut_ptr().cast())
            }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 | Isa::Avx512 if B::WIDTH == 64 => {
            // SAFETY: B is u64, and else as above.
            unsafe {
                let codes = std::slice::from_raw_parts(codes.as_ptr().cast(), codes.len());
                let split = if isa == Isa::Avx512 { avx512::split_to_u64 } else { avx2::split_to_u64 };
                split(codes, pivot.low(), less.as_mut_ptr().cast(), others.as_mut_ptr().cast())
            }
        }
        _ => split_to_portable(codes, pivot, less, others),
    }
}

/// Without a branch on the code: each code is written to both targets, and one of the counts is increased.
#[cfg(feature = "gpu")]
fn split_to_portable<B: Bits>(codes: &[B], pivot: B, less: &mut [B], others: &mut [B]) -> usize {
    let mut count = 0;
    for (i, &code) in codes.iter().enumerate() {
        (less[count], others[i - count]) = (code, code);
        count += usize::from(code < pivot);
    }
    count
}

/// Without a branch on the code: every code is swapped with the first one that is not less.
fn partition_portable<B: Bits>(codes: &mut [B], pivot: B) -> usize {
    let mut left = 0;
    for i in 0..codes.len() {
        let less = codes[i] < pivot;
        codes.swap(i, left);
        left += usize::from(less);
    }
    left
}

/// The largest number of lanes in a register.
pub(crate) const MOST_LANES: usize = 32;

/// A register of unsigned lanes, and the few instructions of which the network and the partition consist.
///
/// # Safety
/// Its functions run only on machines with its instruction set, inside a function compiled for it.
#[cfg(target_arch = "x86_64")]
unsafe trait Vector: Copy {
    type Lane: Bits;
    /// The lanes in a register.
    const LANES: usize;
    /// The registers that the network sorts at once. They fit in the register file together with some temporaries.
    const ROWS: usize;
    unsafe fn splat(lane: Self::Lane) -> Self;
    unsafe fn load(from: *const Self::Lane) -> Self;
    unsafe fn store(self, to: *mut Self::Lane);
    /// Loads the first `count` lanes from memory, at least one; the others are those of `rest`.
    unsafe fn load_first(from: *const Self::Lane, count: usize, rest: Self) -> Self;
    /// Stores only the first `count` lanes.
    unsafe fn store_first(self, to: *mut Self::Lane, count: usize);
    /// The lesser and the greater of each two lanes.
    unsafe fn order(self, other: Self) -> (Self, Self);
    /// Minimum with `other`, but maximum in the lanes whose number has bit D, for D = 1, 2, 4, 8, 16 below LANES.
    unsafe fn min_max<const D: usize>(self, other: Self) -> Self;
    /// Exchanges lane i with i ^ D, for D = 1, 2, 4, 8, 16 below LANES.
    unsafe fn exchange<const D: usize>(self) -> Self;
    /// Reverses lanes within groups of G = 2, 4, 8, 16, 32 up to LANES.
    unsafe fn reverse<const G: usize>(self) -> Self;
    /// Interleaves the lanes of both: the first and the second half of the result.
    unsafe fn zip(self, other: Self) -> (Self, Self);
    unsafe fn xor(self, other: Self) -> Self;
    unsafe fn or(self, other: Self) -> Self;
    /// The differences of the lanes, which wrap around.
    unsafe fn sub(self, other: Self) -> Self;
    /// All ones in the lanes whose highest bit is set, else zero.
    unsafe fn sign_mask(self) -> Self;
    /// A bit for each lane that is less than that of the pivot.
    unsafe fn less(self, pivot: Self) -> u32;
    /// Moves the lanes whose bits are set to the front, in order. The lanes after them are unspecified.
    unsafe fn compress(self, lanes: u32) -> Self;
    /// Stores the lanes whose bits are set from `left` upwards, and the others below `right`. There is room for two
    /// registers between the two, which may be overwritten.
    unsafe fn split(self, less: u32, left: *mut Self::Lane, right: *mut Self::Lane);
    /// [`network::sort_small`], compiled once for all callers.
    unsafe fn sort_small(keys: &mut [Self::Lane], transform: &Transform<Self::Lane>) -> bool;
}

/// For each mask of 8 lanes, one byte per lane: the indices of the lanes that are set, then of the others.
#[cfg(target_arch = "x86_64")]
static SPLIT_8: [u64; 256] = split_table::<256>(8);

#[cfg(target_arch = "x86_64")]
const fn split_table<const MASKS: usize>(lanes: u32) -> [u64; MASKS] {
    let mut table = [0; MASKS];
    let mut mask = 0;
    while mask < MASKS {
        let (mut front, mut back, mut lane) = (0, (mask as u32).count_ones(), 0);
        while lane < lanes {
            if mask >> lane & 1 == 1 {
                table[mask] |= (lane as u64) << (8 * front);
                front += 1;
            } else {
                table[mask] |= (lane as u64) << (8 * back);
                back += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Order;
    use crate::key::Code;

    /// Sorts and partitions codes in the middle of a slice, and checks that nothing else is written.
    fn check<B: Bits>(codes: &[B], isa: Isa, what: &str) {
        const AROUND: usize = 70;
        let n = codes.len();
        let guards = [B::from_low(0x5A), B::MAX];
        let mut slice: Vec<B> = guards.into_iter().cycle().take(n + 2 * AROUND).collect();
        let around = slice.clone();
        let mut expected = codes.to_vec();
        expected.sort_unstable();
        slice[AROUND..][..n].copy_from_slice(codes);
        sort(&mut slice[AROUND..][..n], isa);
        assert!(slice[AROUND..][..n] == expected, "{n} codes of {} bits, {what}, {isa:?}", B::WIDTH);
        if n > 0 {
            slice[AROUND..][..n].copy_from_slice(codes);
            let pivot = codes[n / 2];
            let less = partition(&mut slice[AROUND..][..n], pivot, isa);
            let (low, high) = slice[AROUND..][..n].split_at(less);
            assert!(low.iter().all(|&code| code < pivot) && high.iter().all(|&code| code >= pivot));
            slice[AROUND..][..n].sort_unstable();
            assert!(slice[AROUND..][..n] == expected, "a partition is a permutation");
        }
        assert!(slice[..AROUND] == around[..AROUND] && slice[AROUND + n..] == around[AROUND + n..]);
    }

    fn check_width<B: Bits>() {
        let mut rng = fastrand::Rng::with_seed(1);
        let all = [Isa::Portable, Isa::Avx2, Isa::Avx512];
        let lengths = (0..=300).chain((0..40).map(|i| 300 + i * 97)).chain([10_000, 50_001]);
        for n in lengths {
            let random: Vec<B> = (0..n).map(|_| B::from_low(rng.u64(..))).collect();
            let mut sorted = random.clone();
            sorted.sort_unstable();
            let few: Vec<B> = (0..n).map(|_| random[rng.usize(..n.min(3))]).collect();
            let least_and_greatest: Vec<B> =
                (0..n).map(|_| if rng.bool() { B::ZERO } else { B::MAX }).collect();
            let half: Vec<B> = random.iter().map(|&code| if rng.bool() { random[0] } else { code }).collect();
            let mut one = vec![B::MAX; n];
            (0..n.div_ceil(500)).for_each(|_| one[rng.usize(..n)] = B::from_low(rng.u64(..)));
            for &isa in all.iter().filter(|&&isa| isa <= Isa::detect()) {
                check(&random, isa, "random");
                check(&sorted, isa, "sorted");
                check(&few, isa, "few values");
                check(&least_and_greatest, isa, "two values");
                check(&half, isa, "half one value");
                check(&one, isa, "one value and others");
            }
        }
    }

    #[test]
    fn every_number_of_codes_is_sorted() {
        check_width::<u16>();
        check_width::<u32>();
        check_width::<u64>();
    }

    /// Sorts few keys in the middle of a slice, and checks that nothing else is written.
    fn check_small<B: Bits>(code: Code) {
        let mut rng = fastrand::Rng::with_seed(2);
        let ascending = Transform::new(code, Order::default());
        let descending = Transform::new(code, Order { descending: true, ..Order::default() });
        let all = [Isa::Portable, Isa::Avx2, Isa::Avx512].into_iter().filter(|&isa| isa <= Isa::detect());
        for (isa, n) in all.flat_map(|isa| (0..=small::<B>(isa)).map(move |n| (isa, n))) {
            for transform in [ascending, descending].iter().filter(|transform| is_small_sorted(transform)) {
                for round in 0..if n <= SMALL { 50 } else { 8 } {
                    // Bits with the sign, zeros and NaNs among them.
                    let draw = |_| {
                        B::from_low(rng.u64(..))
                            .shr(rng.u32(..B::WIDTH))
                            .xor([B::ZERO, B::MAX, B::SIGN][rng.usize(..3)])
                    };
                    let mut slice: Vec<B> = (0..n + 80).map(draw).collect();
                    if round % 4 < 2 {
                        slice[40..40 + n].sort_unstable_by_key(|&key| transform.encode(key));
                    }
                    if round % 4 == 1 {
                        slice[40..40 + n].reverse();
                    }
                    let mut expected = slice.clone();
                    expected[40..40 + n].sort_unstable_by_key(|&key| transform.encode(key));
                    sort_small(&mut slice[40..40 + n], transform, isa);
                    assert!(slice == expected, "{n} keys of {} bits, {code:?}, {isa:?}", B::WIDTH);
                }
            }
        }
    }

    #[test]
    fn few_keys_are_sorted_in_registers() {
        for code in [Code::Unsigned, Code::Signed] {
            check_small::<u16>(code);
            check_small::<u32>(code);
            check_small::<u64>(code);
        }
        check_small::<u16>(Code::F16);
        check_small::<u16>(Code::BF16);
        check_small::<u32>(Code::F32);
        check_small::<u64>(Code::F64);
    }

    /// The quoted words of a text.
    fn quoted(text: &str) -> BTreeSet<&str> {
        text.split('"').skip(1).step_by(2).flat_map(|list| list.split(',')).collect()
    }

    /// Once, some enabled features were not detected.
    #[test]
    fn every_feature_that_is_enabled_is_detected_first() {
        let own = include_str!("mod.rs");
        let detected = |feature: &str| {
            let lists = own.split("if detected!(").skip(1).filter_map(|rest| rest.split_once(") {"));
            lists.map(|list| quoted(list.0)).find(|list| list.contains(feature)).unwrap()
        };
        let (avx512, of_16_bits) = (detected("avx512f"), detected("avx512bw"));
        let avx2 = avx512.iter().filter(|feature| **feature != "avx512f").copied().collect();
        assert_eq!(detected("avx2"), avx512);
        let enabled = [own, include_str!("avx2.rs"), include_str!("avx512.rs")]
            .into_iter()
            .flat_map(|text| text.lines().filter(|line| line.starts_with("#[target_feature")))
            .map(quoted);
        let mut functions = 0;
        for features in enabled {
            let detected = match features.contains("avx512f") {
                _ if features.contains("avx512bw") => &avx512 | &of_16_bits,
                true => avx512.clone(),
                false => BTreeSet::clone(&avx2),
            };
            assert!(features.is_subset(&detected), "{features:?}");
            functions += 1;
        }
        assert!(functions >= 18, "{functions}");
    }
}
