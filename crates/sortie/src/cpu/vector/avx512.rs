//! Registers of 512 bits.

use std::arch::asm;
use std::arch::x86_64::*;

use super::{BLOCK, Band, Inside, SPLIT_8, Vector, filter, network, quicksort};
use crate::key::{Transform, UpTo};

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn sort_u16(codes: &mut [u16]) {
    // SAFETY: this function is compiled for these instructions.
    unsafe { quicksort::sort::<U16x32>(codes) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx512f,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn sort_u32(codes: &mut [u32]) {
    // SAFETY: this function is compiled for these instructions.
    unsafe { quicksort::sort::<U32x16>(codes) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx512f,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn sort_u64(codes: &mut [u64]) {
    // SAFETY: this function is compiled for these instructions.
    unsafe { quicksort::sort::<U64x8>(codes) }
}

/// # Safety
/// The machine supports the instructions that are enabled here. There are at most [`small`](super::small) keys.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn sort_small_u16(keys: &mut [u16], transform: &Transform<u16>) -> bool {
    // SAFETY: this function is compiled for these instructions.
    unsafe { network::sort_small::<U16x32>(keys, transform) }
}

/// # Safety
/// The machine supports the instructions that are enabled here. There are at most [`small`](super::small) keys.
#[target_feature(enable = "avx512f,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn sort_small_u32(keys: &mut [u32], transform: &Transform<u32>) -> bool {
    // SAFETY: this function is compiled for these instructions.
    unsafe { network::sort_small::<U32x16>(keys, transform) }
}

/// # Safety
/// The machine supports the instructions that are enabled here. There are at most [`small`](super::small) keys.
#[target_feature(enable = "avx512f,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn sort_small_u64(keys: &mut [u64], transform: &Transform<u64>) -> bool {
    // SAFETY: this function is compiled for these instructions.
    unsafe { network::sort_small::<U64x8>(keys, transform) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn partition_u16(codes: &mut [u16], pivot: u16) -> usize {
    // SAFETY: this function is compiled for these instructions.
    unsafe { quicksort::partition_any::<U16x32>(codes, pivot) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx512f,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn partition_u32(codes: &mut [u32], pivot: u32) -> usize {
    // SAFETY: this function is compiled for these instructions.
    unsafe { quicksort::partition_any::<U32x16>(codes, pivot) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx512f,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn partition_u64(codes: &mut [u64], pivot: u64) -> usize {
    // SAFETY: this function is compiled for these instructions.
    unsafe { quicksort::partition_any::<U64x8>(codes, pivot) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn filter_u16(
    keys: &[u16; BLOCK],
    up_to: &UpTo<u16>,
    positions: &mut [u16; BLOCK],
) -> usize {
    // SAFETY: this function is compiled for these instructions.
    unsafe { filter::filter::<U16x32>(keys, up_to, positions) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx512f,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn filter_u32(
    keys: &[u32; BLOCK],
    up_to: &UpTo<u32>,
    positions: &mut [u16; BLOCK],
) -> usize {
    // SAFETY: this function is compiled for these instructions.
    unsafe { filter::filter::<U32x16>(keys, up_to, positions) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx512f,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn filter_u64(
    keys: &[u64; BLOCK],
    up_to: &UpTo<u64>,
    positions: &mut [u16; BLOCK],
) -> usize {
    // SAFETY: this function is compiled for these instructions.
    unsafe { filter::filter::<U64x8>(keys, up_to, positions) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn band_u16(
    keys: &[u16; BLOCK],
    band: &Band<u16>,
    inside: &mut Inside<u16>,
) -> (usize, usize) {
    // SAFETY: this function is compiled for these instructions.
    unsafe { filter::band::<U16x32>(keys, band, inside) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx512f,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn band_u32(
    keys: &[u32; BLOCK],
    band: &Band<u32>,
    inside: &mut Inside<u32>,
) -> (usize, usize) {
    // SAFETY: this function is compiled for these instructions.
    unsafe { filter::band::<U32x16>(keys, band, inside) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx512f,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn band_u64(
    keys: &[u64; BLOCK],
    band: &Band<u64>,
    inside: &mut Inside<u64>,
) -> (usize, usize) {
    // SAFETY: this function is compiled for these instructions.
    unsafe { filter::band::<U64x8>(keys, band, inside) }
}

/// # Safety
/// The machine supports the instructions that are enabled here. Both targets have room for all codes.
#[target_feature(enable = "avx512f,bmi1,bmi2,popcnt,lzcnt")]
#[cfg(feature = "gpu")]
pub(super) unsafe fn split_to_u32(codes: &[u32], pivot: u32, less: *mut u32, others: *mut u32) -> usize {
    // SAFETY: this function is compiled for these instructions; the caller guarantees the room.
    unsafe { quicksort::split_to::<U32x16>(codes, pivot, less, others) }
}

/// # Safety
/// The machine supports the instructions that are enabled here. Both targets have room for all codes.
#[target_feature(enable = "avx512f,bmi1,bmi2,popcnt,lzcnt")]
#[cfg(feature = "gpu")]
pub(super) unsafe fn split_to_u64(codes: &[u64], pivot: u64, less: *mut u64, others: *mut u64) -> usize {
    // SAFETY: this function is compiled for these instructions; the caller guarantees the room.
    unsafe { quicksort::split_to::<U64x8>(codes, pivot, less, others) }
}

#[derive(Clone, Copy)]
struct U16x32(__m512i);

#[derive(Clone, Copy)]
struct U32x16(__m512i);

#[derive(Clone, Copy)]
struct U64x8(__m512i);

/// The first `count` lanes.
#[inline(always)]
fn first(count: usize) -> u32 {
    (1u64 << count).wrapping_sub(1) as u32
}

/// A bit for each lane whose number has bit D.
///
/// The compiler must not know the value. It would replace a masked instruction by an unmasked one and a shuffle.
#[inline(always)]
fn upper<const D: usize>() -> u32 {
    let mut mask: u32 = match D {
        1 => 0xAAAA_AAAA,
        2 => 0xCCCC_CCCC,
        4 => 0xF0F0_F0F0,
        8 => 0xFF00_FF00,
        _ => 0xFFFF_0000,
    };
    // SAFETY: there are no instructions.
    unsafe { asm!("/* {0:e} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags)) };
    mask
}

/// The 16-bit lanes of a register, in reverse within groups of G.
const fn reversed<const G: usize>() -> [u16; 32] {
    let (mut lanes, mut i) = ([0; 32], 0);
    while i < 32 {
        lanes[i] = (i ^ (G - 1)) as u16;
        i += 1;
    }
    lanes
}

/// The 16-bit lanes of two registers, zipped, from lane `start` of each.
const fn zipped(start: u16) -> [u16; 32] {
    let (mut lanes, mut i) = ([0; 32], 0);
    while i < 32 {
        lanes[i as usize] = start + i / 2 + i % 2 * 32;
        i += 1;
    }
    lanes
}

// SAFETY (of all unsafe blocks below): callers run these only if the machine supports the instructions, and with
// pointers that are valid for the lanes that are accessed.
unsafe impl Vector for U16x32 {
    type Lane = u16;
    const LANES: usize = 32;
    const ROWS: usize = 16;

    #[inline(always)]
    unsafe fn splat(lane: u16) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_set1_epi16(lane as i16)) }
    }
    #[inline(always)]
    unsafe fn load(from: *const u16) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_loadu_si512(from.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u16) {
        // SAFETY: see above.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn load_first(from: *const u16, count: usize, rest: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_mask_loadu_epi16(rest.0, first(count), from.cast())) }
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut u16, count: usize) {
        // SAFETY: see above.
        unsafe { _mm512_mask_storeu_epi16(to.cast(), first(count), self.0) }
    }
    #[inline(always)]
    unsafe fn order(self, other: Self) -> (Self, Self) {
        // SAFETY: see above.
        unsafe { (Self(_mm512_min_epu16(self.0, other.0)), Self(_mm512_max_epu16(self.0, other.0))) }
    }
    #[inline(always)]
    unsafe fn min_max<const D: usize>(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            let low = _mm512_min_epu16(self.0, other.0);
            Self(_mm512_mask_max_epu16(low, upper::<D>(), self.0, other.0))
        }
    }
    #[inline(always)]
    unsafe fn exchange<const D: usize>(self) -> Self {
        // SAFETY: see above.
        unsafe {
            Self(match D {
                1 => _mm512_rol_epi32::<16>(self.0),
                2 => _mm512_shuffle_epi32::<0b10_11_00_01>(self.0),
                4 => _mm512_shuffle_epi32::<0b01_00_11_10>(self.0),
                8 => _mm512_shuffle_i64x2::<0b10_11_00_01>(self.0, self.0),
                _ => _mm512_shuffle_i64x2::<0b01_00_11_10>(self.0, self.0),
            })
        }
    }
    #[inline(always)]
    unsafe fn reverse<const G: usize>(self) -> Self {
        // SAFETY: see above.
        unsafe {
            if G == 2 {
                return self.exchange::<1>();
            }
            let places = const { &reversed::<G>() };
            Self(_mm512_permutexvar_epi16(Self::load(places.as_ptr()).0, self.0))
        }
    }
    #[inline(always)]
    unsafe fn zip(self, other: Self) -> (Self, Self) {
        // SAFETY: see above.
        unsafe {
            let low = Self::load(const { &zipped(0) }.as_ptr()).0;
            let high = Self::load(const { &zipped(16) }.as_ptr()).0;
            (
                Self(_mm512_permutex2var_epi16(self.0, low, other.0)),
                Self(_mm512_permutex2var_epi16(self.0, high, other.0)),
            )
        }
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_xor_si512(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_or_si512(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_sub_epi16(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn sign_mask(self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_srai_epi16::<15>(self.0)) }
    }
    #[inline(always)]
    unsafe fn less(self, pivot: Self) -> u32 {
        // SAFETY: see above.
        unsafe { _mm512_cmplt_epu16_mask(self.0, pivot.0) }
    }
    #[inline(always)]
    unsafe fn compress(self, lanes: u32) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_maskz_compress_epi16(lanes, self.0)) }
    }
    #[inline(always)]
    unsafe fn split(self, less: u32, left: *mut u16, right: *mut u16) {
        // SAFETY: see above.
        unsafe {
            // The lesser lanes move to the front, and the others, in reverse, to the back of one register. A masked store
            // would be slower.
            let others = self.compress(!less).reverse::<32>();
            let parted = Self(_mm512_mask_compress_epi16(others.0, less, self.0));
            parted.store(left);
            parted.store(right.sub(32));
        }
    }
    unsafe fn sort_small(keys: &mut [u16], transform: &Transform<u16>) -> bool {
        // SAFETY: see above.
        unsafe { sort_small_u16(keys, transform) }
    }
}

// SAFETY: as for U16x32.
unsafe impl Vector for U32x16 {
    type Lane = u32;
    const LANES: usize = 16;
    const ROWS: usize = 16;

    #[inline(always)]
    unsafe fn splat(lane: u32) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_set1_epi32(lane as i32)) }
    }
    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_loadu_si512(from.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: see above.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn load_first(from: *const u32, count: usize, rest: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_mask_loadu_epi32(rest.0, first(count) as u16, from.cast())) }
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut u32, count: usize) {
        // SAFETY: see above.
        unsafe { _mm512_mask_storeu_epi32(to.cast(), first(count) as u16, self.0) }
    }
    #[inline(always)]
    unsafe fn order(self, other: Self) -> (Self, Self) {
        // SAFETY: see above.
        unsafe {
            // a ^ b ^ min is the maximum. Intel runs minimum and maximum on one port, ternary logic on two.
            let low = _mm512_min_epu32(self.0, other.0);
            (Self(low), Self(_mm512_ternarylogic_epi32::<0x96>(self.0, other.0, low)))
        }
    }
    #[inline(always)]
    unsafe fn min_max<const D: usize>(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            let low = _mm512_min_epu32(self.0, other.0);
            Self(_mm512_mask_ternarylogic_epi32::<0x96>(low, upper::<D>() as u16, self.0, other.0))
        }
    }
    #[inline(always)]
    unsafe fn exchange<const D: usize>(self) -> Self {
        // SAFETY: see above.
        unsafe {
            Self(match D {
                1 => _mm512_shuffle_epi32::<0b10_11_00_01>(self.0),
                2 => _mm512_shuffle_epi32::<0b01_00_11_10>(self.0),
                4 => _mm512_shuffle_i64x2::<0b10_11_00_01>(self.0, self.0),
                _ => _mm512_shuffle_i64x2::<0b01_00_11_10>(self.0, self.0),
            })
        }
    }
    #[inline(always)]
    unsafe fn reverse<const G: usize>(self) -> Self {
        // SAFETY: see above.
        unsafe {
            Self(match G {
                2 => _mm512_shuffle_epi32::<0b10_11_00_01>(self.0),
                4 => _mm512_shuffle_epi32::<0b00_01_10_11>(self.0),
                8 => {
                    let places = _mm512_set_epi32(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
                    _mm512_permutexvar_epi32(places, self.0)
                }
                _ => {
                    let places = _mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                    _mm512_permutexvar_epi32(places, self.0)
                }
            })
        }
    }
    #[inline(always)]
    unsafe fn zip(self, other: Self) -> (Self, Self) {
        // SAFETY: see above.
        unsafe {
            let low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
            let high = _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8);
            (
                Self(_mm512_permutex2var_epi32(self.0, low, other.0)),
                Self(_mm512_permutex2var_epi32(self.0, high, other.0)),
            )
        }
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_xor_si512(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_or_si512(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_sub_epi32(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn sign_mask(self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_srai_epi32::<31>(self.0)) }
    }
    #[inline(always)]
    unsafe fn less(self, pivot: Self) -> u32 {
        // SAFETY: see above.
        unsafe { u32::from(_mm512_cmplt_epu32_mask(self.0, pivot.0)) }
    }
    #[inline(always)]
    unsafe fn compress(self, lanes: u32) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_maskz_compress_epi32(lanes as u16, self.0)) }
    }
    #[inline(always)]
    unsafe fn split(self, less: u32, left: *mut u32, right: *mut u32) {
        // SAFETY: see above.
        unsafe {
            let others = self.compress(!less).reverse::<16>();
            let parted = Self(_mm512_mask_compress_epi32(others.0, less as u16, self.0));
            parted.store(left);
            parted.store(right.sub(16));
        }
    }
    unsafe fn sort_small(keys: &mut [u32], transform: &Transform<u32>) -> bool {
        // SAFETY: see above.
        unsafe { sort_small_u32(keys, transform) }
    }
}

// SAFETY: as for U16x32.
unsafe impl Vector for U64x8 {
    type Lane = u64;
    const LANES: usize = 8;
    const ROWS: usize = 16;

    #[inline(always)]
    unsafe fn splat(lane: u64) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_set1_epi64(lane as i64)) }
    }
    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_loadu_si512(from.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: see above.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn load_first(from: *const u64, count: usize, rest: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_mask_loadu_epi64(rest.0, first(count) as u8, from.cast())) }
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut u64, count: usize) {
        // SAFETY: see above.
        unsafe { _mm512_mask_storeu_epi64(to.cast(), first(count) as u8, self.0) }
    }
    #[inline(always)]
    unsafe fn order(self, other: Self) -> (Self, Self) {
        // SAFETY: see above.
        unsafe {
            // On Intel, a 64-bit minimum takes two steps on one port; comparing and blending takes three on either.
            let less = _mm512_cmplt_epu64_mask(self.0, other.0);
            (
                Self(_mm512_mask_blend_epi64(less, other.0, self.0)),
                Self(_mm512_mask_blend_epi64(less, self.0, other.0)),
            )
        }
    }
    #[inline(always)]
    unsafe fn min_max<const D: usize>(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            let low = _mm512_min_epu64(self.0, other.0);
            Self(_mm512_mask_ternarylogic_epi64::<0x96>(low, upper::<D>() as u8, self.0, other.0))
        }
    }
    #[inline(always)]
    unsafe fn exchange<const D: usize>(self) -> Self {
        // SAFETY: see above.
        unsafe {
            Self(match D {
                1 => _mm512_shuffle_epi32::<0b01_00_11_10>(self.0),
                2 => _mm512_shuffle_i64x2::<0b10_11_00_01>(self.0, self.0),
                _ => _mm512_shuffle_i64x2::<0b01_00_11_10>(self.0, self.0),
            })
        }
    }
    #[inline(always)]
    unsafe fn reverse<const G: usize>(self) -> Self {
        // SAFETY: see above.
        unsafe {
            Self(match G {
                2 => _mm512_shuffle_epi32::<0b01_00_11_10>(self.0),
                4 => _mm512_permutex_epi64::<0b00_01_10_11>(self.0),
                _ => _mm512_permutexvar_epi64(_mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7), self.0),
            })
        }
    }
    #[inline(always)]
    unsafe fn zip(self, other: Self) -> (Self, Self) {
        // SAFETY: see above.
        unsafe {
            let low = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
            let high = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
            (
                Self(_mm512_permutex2var_epi64(self.0, low, other.0)),
                Self(_mm512_permutex2var_epi64(self.0, high, other.0)),
            )
        }
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_xor_si512(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_or_si512(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_sub_epi64(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn sign_mask(self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_srai_epi64::<63>(self.0)) }
    }
    #[inline(always)]
    unsafe fn less(self, pivot: Self) -> u32 {
        // SAFETY: see above.
        unsafe { u32::from(_mm512_cmplt_epu64_mask(self.0, pivot.0)) }
    }
    #[inline(always)]
    unsafe fn compress(self, lanes: u32) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_maskz_compress_epi64(lanes as u8, self.0)) }
    }
    #[inline(always)]
    unsafe fn split(self, less: u32, left: *mut u64, right: *mut u64) {
        // SAFETY: see above.
        unsafe {
            // One permutation moves the lesser lanes to the front and the others behind them, which is cheaper than
            // compressing twice.
            let places = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(SPLIT_8[less as usize] as i64));
            let parted = Self(_mm512_permutexvar_epi64(places, self.0));
            parted.store(left);
            parted.store(right.sub(8));
        }
    }
    unsafe fn sort_small(keys: &mut [u64], transform: &Transform<u64>) -> bool {
        // SAFETY: see above.
        unsafe { sort_small_u64(keys, transform) }
    }
}
