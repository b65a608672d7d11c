//! A vectorised quicksort of unsigned codes of 32 and 64 bits, for the instructions of the machine.
//!
//! There is one generic quicksort and one generic network, instantiated for each instruction set. Unsafe code: the
//! instances run only after their instructions were detected, and every pointer stays within the slice.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod network;
#[cfg(target_arch = "x86_64")]
mod quicksort;

use std::env;
use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;

use crate::Error;
use crate::key::Bits;

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

/// Calls the 32-bit or 64-bit instance of a function on a slice of codes, or the portable one.
macro_rules! dispatch {
    ($codes:ident, $isa:ident, $vector_32:ident, $vector_64:ident, ($($argument:ident),*), $portable:expr) => {
        match $isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 | Isa::Avx512 if B::WIDTH == 32 => {
                // SAFETY: B is u32, the only `Bits` of that width.
                let codes = unsafe { std::slice::from_raw_parts_mut($codes.as_mut_ptr().cast::<u32>(), $codes.len()) };
                // SAFETY: the instructions were detected on this machine.
                unsafe {
                    match $isa {
                        Isa::Avx512 => avx512::$vector_32(codes, $($argument.low() as u32),*),
                        _ => avx2::$vector_32(codes, $($argument.low() as u32),*),
                    }
                }
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 | Isa::Avx512 if B::WIDTH == 64 => {
                // SAFETY: B is u64, the only `Bits` of that width.
                let codes = unsafe { std::slice::from_raw_parts_mut($codes.as_mut_ptr().cast::<u64>(), $codes.len()) };
                // SAFETY: the instructions were detected on this machine.
                unsafe {
                    match $isa {
                        Isa::Avx512 => avx512::$vector_64(codes, $($argument.low()),*),
                        _ => avx2::$vector_64(codes, $($argument.low()),*),
                    }
                }
            }
            _ => $portable,
        }
    };
}

/// Sorts codes in place; O(n log n), no scratch memory beyond the stack. Uses std's sort if there are no vectors for
/// the codes.
pub(crate) fn sort<B: Bits>(codes: &mut [B], isa: Isa) {
    dispatch!(codes, isa, sort_u32, sort_u64, (), codes.sort_unstable());
}

/// Moves the codes less than `pivot` to the front, in any order, and returns their number.
pub(crate) fn partition<B: Bits>(codes: &mut [B], pivot: B, isa: Isa) -> usize {
    dispatch!(codes, isa, partition_u32, partition_u64, (pivot), partition_portable(codes, pivot))
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
    /// Loads the first `count` lanes from memory; the others are those of `rest`.
    unsafe fn load_first(from: *const Self::Lane, count: usize, rest: Self) -> Self;
    /// Stores only the first `count` lanes.
    unsafe fn store_first(self, to: *mut Self::Lane, count: usize);
    /// The lesser and the greater of each two lanes.
    unsafe fn order(self, other: Self) -> (Self, Self);
    /// Minimum with `other`, but maximum in the lanes whose bit is set in `HIGH`.
    unsafe fn min_max<const HIGH: u32>(self, other: Self) -> Self;
    /// Exchanges lane i with i ^ D, for D = 1, 2, 4, 8 below LANES.
    unsafe fn exchange<const D: usize>(self) -> Self;
    /// Reverses lanes within groups of G = 2, 4, 8, 16 up to LANES.
    unsafe fn reverse<const G: usize>(self) -> Self;
    /// Interleaves the lanes of both: the first and the second half of the result.
    unsafe fn zip(self, other: Self) -> (Self, Self);
    /// A bit for each lane that is less than that of the pivot.
    unsafe fn less(self, pivot: Self) -> u32;
    /// Moves the lanes whose bits are set to the front, in order. The lanes after them are unspecified.
    unsafe fn compress(self, lanes: u32) -> Self;
    /// Stores the lanes whose bits are set from `left` upwards, and the others below `right`. There is room for two
    /// registers between the two, which may be overwritten.
    unsafe fn split(self, less: u32, left: *mut Self::Lane, right: *mut Self::Lane);
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

    /// The quoted words of a text.
    fn quoted(text: &str) -> BTreeSet<&str> {
        text.split('"').skip(1).step_by(2).flat_map(|list| list.split(',')).collect()
    }

    /// Once, some enabled features were not detected.
    #[test]
    fn every_feature_that_is_enabled_is_detected_first() {
        let own = include_str!("mod.rs");
        let lists = || own.split("if detected!(").skip(1).filter_map(|rest| rest.split_once(") {"));
        let detected = |isa: &str| {
            lists()
                .map(|list| quoted(list.0))
                .find(|list| list.contains("avx512f") == (isa == "avx512f"))
                .unwrap()
        };
        let enabled = [own, include_str!("avx2.rs"), include_str!("avx512.rs")]
            .into_iter()
            .flat_map(|text| text.lines().filter(|line| line.starts_with("#[target_feature")))
            .map(quoted);
        let mut functions = 0;
        for features in enabled {
            let isa = if features.contains("avx512f") { "avx512f" } else { "avx2" };
            assert!(features.is_subset(&detected(isa)), "{features:?}");
            functions += 1;
        }
        assert!(functions >= 14, "{functions}");
    }
}
