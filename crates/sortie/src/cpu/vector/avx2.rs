//! Registers of 256 bits.

use std::arch::x86_64::*;

use super::{BLOCK, Band, Inside, SPLIT_8, Vector, filter, network, quicksort};
use crate::key::{Transform, UpTo};

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn sort_u16(codes: &mut [u16]) {
    // SAFETY: this function is compiled for these instructions.
    unsafe { quicksort::sort::<U16x16>(codes) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn sort_u32(codes: &mut [u32]) {
    // SAFETY: this function is compiled for these instructions.
    unsafe { quicksort::sort::<U32x8>(codes) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn sort_u64(codes: &mut [u64]) {
    // SAFETY: this function is compiled for these instructions.
    unsafe { quicksort::sort::<U64x4>(codes) }
}

/// # Safety
/// The machine supports the instructions that are enabled here. There are at most [`small`](super::small) keys.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn sort_small_u16(keys: &mut [u16], transform: &Transform<u16>) -> bool {
    // SAFETY: this function is compiled for these instructions.
    unsafe { network::sort_small::<U16x16>(keys, transform) }
}

/// # Safety
/// The machine supports the instructions that are enabled here. There are at most [`small`](super::small) keys.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn sort_small_u32(keys: &mut [u32], transform: &Transform<u32>) -> bool {
    // SAFETY: this function is compiled for these instructions.
    unsafe { network::sort_small::<U32x8>(keys, transform) }
}

/// # Safety
/// The machine supports the instructions that are enabled here. There are at most [`small`](super::small) keys.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn sort_small_u64(keys: &mut [u64], transform: &Transform<u64>) -> bool {
    // SAFETY: this function is compiled for these instructions.
    unsafe { network::sort_small::<U64x4>(keys, transform) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn partition_u16(codes: &mut [u16], pivot: u16) -> usize {
    // SAFETY: this function is compiled for these instructions.
    unsafe { quicksort::partition_any::<U16x16>(codes, pivot) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn partition_u32(codes: &mut [u32], pivot: u32) -> usize {
    // SAFETY: this function is compiled for these instructions.
    unsafe { quicksort::partition_any::<U32x8>(codes, pivot) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn partition_u64(codes: &mut [u64], pivot: u64) -> usize {
    // SAFETY: this function is compiled for these instructions.
    unsafe { quicksort::partition_any::<U64x4>(codes, pivot) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn filter_u16(
    keys: &[u16; BLOCK],
    up_to: &UpTo<u16>,
    positions: &mut [u16; BLOCK],
) -> usize {
    // SAFETY: this function is compiled for these instructions.
    unsafe { filter::filter::<U16x16>(keys, up_to, positions) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn filter_u32(
    keys: &[u32; BLOCK],
    up_to: &UpTo<u32>,
    positions: &mut [u16; BLOCK],
) -> usize {
    // SAFETY: this function is compiled for these instructions.
    unsafe { filter::filter::<U32x8>(keys, up_to, positions) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn filter_u64(
    keys: &[u64; BLOCK],
    up_to: &UpTo<u64>,
    positions: &mut [u16; BLOCK],
) -> usize {
    // SAFETY: this function is compiled for these instructions.
    unsafe { filter::filter::<U64x4>(keys, up_to, positions) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn band_u16(
    keys: &[u16; BLOCK],
    band: &Band<u16>,
    inside: &mut Inside<u16>,
) -> (usize, usize) {
    // SAFETY: this function is compiled for these instructions.
    unsafe { filter::band::<U16x16>(keys, band, inside) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn band_u32(
    keys: &[u32; BLOCK],
    band: &Band<u32>,
    inside: &mut Inside<u32>,
) -> (usize, usize) {
    // SAFETY: this function is compiled for these instructions.
    unsafe { filter::band::<U32x8>(keys, band, inside) }
}

/// # Safety
/// The machine supports the instructions that are enabled here.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn band_u64(
    keys: &[u64; BLOCK],
    band: &Band<u64>,
    inside: &mut Inside<u64>,
) -> (usize, usize) {
    // SAFETY: this function is compiled for these instructions.
    unsafe { filter::band::<U64x4>(keys, band, inside) }
}

/// # Safety
/// The machine supports the instructions that are enabled here. Both targets have room for all codes.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[cfg(feature = "gpu")]
pub(super) unsafe fn split_to_u32(codes: &[u32], pivot: u32, less: *mut u32, others: *mut u32) -> usize {
    // SAFETY: this function is compiled for these instructions; the caller guarantees the room.
    unsafe { quicksort::split_to::<U32x8>(codes, pivot, less, others) }
}

/// # Safety
/// The machine supports the instructions that are enabled here. Both targets have room for all codes.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[cfg(feature = "gpu")]
pub(super) unsafe fn split_to_u64(codes: &[u64], pivot: u64, less: *mut u64, others: *mut u64) -> usize {
    // SAFETY: this function is compiled for these instructions; the caller guarantees the room.
    unsafe { quicksort::split_to::<U64x4>(codes, pivot, less, others) }
}

#[derive(Clone, Copy)]
struct U16x16(__m256i);

#[derive(Clone, Copy)]
struct U32x8(__m256i);

#[derive(Clone, Copy)]
struct U64x4(__m256i);

/// For each mask of 4 lanes of 64 bits: the 32-bit lanes of those that are set, then of the others.
static SPLIT_4: [u64; 16] = {
    let mut pairs = [0; 16];
    let mut mask = 0;
    while mask < 16 {
        // The mask with each bit doubled, looked up among the masks of 8 lanes.
        let doubled = (mask & 1) * 3 + (mask >> 1 & 1) * 12 + (mask >> 2 & 1) * 48 + (mask >> 3) * 192;
        pairs[mask] = SPLIT_8[doubled];
        mask += 1;
    }
    pairs
};

/// All ones in the first `count` lanes of 32 bits.
#[inline(always)]
unsafe fn first_32(count: usize) -> __m256i {
    // SAFETY: callers run this only if the machine supports the instructions.
    unsafe { _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)) }
}

/// All ones in the first `count` lanes of 64 bits.
#[inline(always)]
unsafe fn first_64(count: usize) -> __m256i {
    // SAFETY: as above.
    unsafe { _mm256_cmpgt_epi64(_mm256_set1_epi64x(count as i64), _mm256_setr_epi64x(0, 1, 2, 3)) }
}

/// The lanes of `split`, one byte each, as the indices of a permutation.
#[inline(always)]
unsafe fn places(split: u64) -> __m256i {
    // SAFETY: as above.
    unsafe { _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(split as i64)) }
}

// SAFETY (of all unsafe blocks below): callers run these only if the machine supports the instructions, and with
// pointers that are valid for the lanes that are accessed.
unsafe impl Vector for U16x16 {
    type Lane = u16;
    const LANES: usize = 16;
    const ROWS: usize = 8;

    #[inline(always)]
    unsafe fn splat(lane: u16) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_set1_epi16(lane as i16)) }
    }
    #[inline(always)]
    unsafe fn load(from: *const u16) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_loadu_si256(from.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u16) {
        // SAFETY: see above.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn load_first(from: *const u16, count: usize, rest: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            // Masked loads have lanes of 32 bits, so the last of an odd number of lanes is loaded separately.
            let pairs = _mm256_maskload_epi32(from.cast(), first_32(count / 2));
            let last = _mm256_set1_epi16(*from.add(count - 1) as i16);
            let lanes = _mm256_setr_epi16(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
            let count = _mm256_set1_epi16(count as i16);
            let loaded = _mm256_blendv_epi8(pairs, last, _mm256_cmpeq_epi16(lanes, count));
            Self(_mm256_blendv_epi8(loaded, rest.0, _mm256_cmpgt_epi16(lanes, count)))
        }
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut u16, count: usize) {
        // SAFETY: see above.
        unsafe {
            _mm256_maskstore_epi32(to.cast(), first_32(count / 2), self.0);
            if count % 2 == 1 {
                let last = _mm256_permutevar8x32_epi32(self.0, _mm256_set1_epi32(count as i32 / 2));
                to.add(count - 1).write(_mm256_cvtsi256_si32(last) as u16);
            }
        }
    }
    #[inline(always)]
    unsafe fn order(self, other: Self) -> (Self, Self) {
        // SAFETY: see above.
        unsafe { (Self(_mm256_min_epu16(self.0, other.0)), Self(_mm256_max_epu16(self.0, other.0))) }
    }
    #[inline(always)]
    unsafe fn min_max<const D: usize>(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            let (low, high) = (_mm256_min_epu16(self.0, other.0), _mm256_max_epu16(self.0, other.0));
            Self(match D {
                1 => _mm256_blend_epi16::<0xAA>(low, high),
                2 => _mm256_blend_epi16::<0xCC>(low, high),
                4 => _mm256_blend_epi16::<0xF0>(low, high),
                _ => _mm256_blend_epi32::<0xF0>(low, high),
            })
        }
    }
    #[inline(always)]
    unsafe fn exchange<const D: usize>(self) -> Self {
        // SAFETY: see above.
        unsafe {
            Self(match D {
                1 => {
                    let halves = _mm256_shufflelo_epi16::<0b10_11_00_01>(self.0);
                    _mm256_shufflehi_epi16::<0b10_11_00_01>(halves)
                }
                2 => _mm256_shuffle_epi32::<0b10_11_00_01>(self.0),
                4 => _mm256_shuffle_epi32::<0b01_00_11_10>(self.0),
                _ => _mm256_permute4x64_epi64::<0b01_00_11_10>(self.0),
            })
        }
    }
    #[inline(always)]
    unsafe fn reverse<const G: usize>(self) -> Self {
        // SAFETY: see above.
        unsafe {
            match G {
                2 => self.exchange::<1>(),
                4 => {
                    let halves = _mm256_shufflelo_epi16::<0b00_01_10_11>(self.0);
                    Self(_mm256_shufflehi_epi16::<0b00_01_10_11>(halves))
                }
                8 => Self(_mm256_shuffle_epi32::<0b01_00_11_10>(self.reverse::<4>().0)),
                _ => Self(_mm256_permute4x64_epi64::<0b00_01_10_11>(self.reverse::<4>().0)),
            }
        }
    }
    #[inline(always)]
    unsafe fn zip(self, other: Self) -> (Self, Self) {
        // SAFETY: see above.
        unsafe {
            let (a, b) = (_mm256_unpacklo_epi16(self.0, other.0), _mm256_unpackhi_epi16(self.0, other.0));
            (Self(_mm256_permute2x128_si256::<0x20>(a, b)), Self(_mm256_permute2x128_si256::<0x31>(a, b)))
        }
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_xor_si256(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_or_si256(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_sub_epi16(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn sign_mask(self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_srai_epi16::<15>(self.0)) }
    }
    #[inline(always)]
    unsafe fn less(self, pivot: Self) -> u32 {
        // SAFETY: see above.
        unsafe {
            let not_less = _mm256_cmpeq_epi16(_mm256_max_epu16(self.0, pivot.0), self.0);
            // Packed to bytes: those of the lower half of the lanes, twice, then those of the upper half.
            let bytes = !_mm256_movemask_epi8(_mm256_packs_epi16(not_less, not_less)) as u32;
            bytes & 0xFF | bytes >> 8 & 0xFF00
        }
    }
    #[inline(always)]
    unsafe fn compress(self, lanes: u32) -> Self {
        // SAFETY: see above.
        unsafe {
            let mut front = [0; 16];
            let [low, high] = self.split_halves(lanes);
            _mm_storeu_si128(front.as_mut_ptr().cast(), low);
            _mm_storeu_si128(front.as_mut_ptr().add((lanes & 0xFF).count_ones() as usize).cast(), high);
            Self::load(front.as_ptr())
        }
    }
    #[inline(always)]
    unsafe fn split(self, less: u32, left: *mut u16, right: *mut u16) {
        // SAFETY: see above.
        unsafe {
            let [low, high] = self.split_halves(less);
            let lesser = (less & 0xFF).count_ones() as usize;
            _mm_storeu_si128(left.cast(), low);
            _mm_storeu_si128(right.sub(8).cast(), low);
            _mm_storeu_si128(left.add(lesser).cast(), high);
            _mm_storeu_si128(right.sub(8 - lesser).sub(8).cast(), high);
        }
    }
    unsafe fn sort_small(keys: &mut [u16], transform: &Transform<u16>) -> bool {
        // SAFETY: see above.
        unsafe { sort_small_u16(keys, transform) }
    }
}

impl U16x16 {
    /// Both halves, in each of which the lanes whose bits are set move to the front, and the others to the back.
    #[inline(always)]
    unsafe fn split_halves(self, lanes: u32) -> [__m128i; 2] {
        // SAFETY: see above.
        unsafe {
            let split = |half: __m128i, mask: u32| {
                let first = _mm_cvtsi64_si128(SPLIT_8[mask as usize] as i64);
                let first = _mm_add_epi8(first, first);
                _mm_shuffle_epi8(half, _mm_unpacklo_epi8(first, _mm_add_epi8(first, _mm_set1_epi8(1))))
            };
            let (low, high) = (_mm256_castsi256_si128(self.0), _mm256_extracti128_si256::<1>(self.0));
            [split(low, lanes & 0xFF), split(high, lanes >> 8)]
        }
    }
}

// SAFETY: as for U16x16.
unsafe impl Vector for U32x8 {
    type Lane = u32;
    const LANES: usize = 8;
    const ROWS: usize = 8;

    #[inline(always)]
    unsafe fn splat(lane: u32) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_set1_epi32(lane as i32)) }
    }
    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_loadu_si256(from.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: see above.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn load_first(from: *const u32, count: usize, rest: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            let lanes = first_32(count);
            Self(_mm256_blendv_epi8(rest.0, _mm256_maskload_epi32(from.cast(), lanes), lanes))
        }
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut u32, count: usize) {
        // SAFETY: see above.
        unsafe { _mm256_maskstore_epi32(to.cast(), first_32(count), self.0) }
    }
    #[inline(always)]
    unsafe fn order(self, other: Self) -> (Self, Self) {
        // SAFETY: see above.
        unsafe { (Self(_mm256_min_epu32(self.0, other.0)), Self(_mm256_max_epu32(self.0, other.0))) }
    }
    #[inline(always)]
    unsafe fn min_max<const D: usize>(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            let (low, high) = (_mm256_min_epu32(self.0, other.0), _mm256_max_epu32(self.0, other.0));
            Self(match D {
                1 => _mm256_blend_epi32::<0xAA>(low, high),
                2 => _mm256_blend_epi32::<0xCC>(low, high),
                _ => _mm256_blend_epi32::<0xF0>(low, high),
            })
        }
    }
    #[inline(always)]
    unsafe fn exchange<const D: usize>(self) -> Self {
        // SAFETY: see above.
        unsafe {
            Self(match D {
                1 => _mm256_shuffle_epi32::<0b10_11_00_01>(self.0),
                2 => _mm256_shuffle_epi32::<0b01_00_11_10>(self.0),
                _ => _mm256_permute4x64_epi64::<0b01_00_11_10>(self.0),
            })
        }
    }
    #[inline(always)]
    unsafe fn reverse<const G: usize>(self) -> Self {
        // SAFETY: see above.
        unsafe {
            Self(match G {
                2 => _mm256_shuffle_epi32::<0b10_11_00_01>(self.0),
                4 => _mm256_shuffle_epi32::<0b00_01_10_11>(self.0),
                _ => _mm256_permutevar8x32_epi32(self.0, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0)),
            })
        }
    }
    #[inline(always)]
    unsafe fn zip(self, other: Self) -> (Self, Self) {
        // SAFETY: see above.
        unsafe {
            let (a, b) = (_mm256_unpacklo_epi32(self.0, other.0), _mm256_unpackhi_epi32(self.0, other.0));
            (Self(_mm256_permute2x128_si256::<0x20>(a, b)), Self(_mm256_permute2x128_si256::<0x31>(a, b)))
        }
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_xor_si256(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_or_si256(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_sub_epi32(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn sign_mask(self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_srai_epi32::<31>(self.0)) }
    }
    #[inline(always)]
    unsafe fn less(self, pivot: Self) -> u32 {
        // SAFETY: see above.
        unsafe {
            // Unsigned comparison: a lane is not less if the maximum is the lane itself.
            let not_less = _mm256_cmpeq_epi32(_mm256_max_epu32(self.0, pivot.0), self.0);
            !_mm256_movemask_ps(_mm256_castsi256_ps(not_less)) as u32 & 0xFF
        }
    }
    #[inline(always)]
    unsafe fn compress(self, lanes: u32) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_permutevar8x32_epi32(self.0, places(SPLIT_8[lanes as usize]))) }
    }
    #[inline(always)]
    unsafe fn split(self, less: u32, left: *mut u32, right: *mut u32) {
        // SAFETY: see above.
        unsafe {
            let parted = self.compress(less);
            parted.store(left);
            parted.store(right.sub(8));
        }
    }
    unsafe fn sort_small(keys: &mut [u32], transform: &Transform<u32>) -> bool {
        // SAFETY: see above.
        unsafe { sort_small_u32(keys, transform) }
    }
}

// SAFETY: as for U16x16.
unsafe impl Vector for U64x4 {
    type Lane = u64;
    const LANES: usize = 4;
    const ROWS: usize = 8;

    #[inline(always)]
    unsafe fn splat(lane: u64) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_set1_epi64x(lane as i64)) }
    }
    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_loadu_si256(from.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: see above.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn load_first(from: *const u64, count: usize, rest: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            let lanes = first_64(count);
            Self(_mm256_blendv_epi8(rest.0, _mm256_maskload_epi64(from.cast(), lanes), lanes))
        }
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut u64, count: usize) {
        // SAFETY: see above.
        unsafe { _mm256_maskstore_epi64(to.cast(), first_64(count), self.0) }
    }
    #[inline(always)]
    unsafe fn order(self, other: Self) -> (Self, Self) {
        // SAFETY: see above.
        unsafe {
            let swap = greater(self.0, other.0);
            (Self(_mm256_blendv_epi8(self.0, other.0, swap)), Self(_mm256_blendv_epi8(other.0, self.0, swap)))
        }
    }
    #[inline(always)]
    unsafe fn min_max<const D: usize>(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            // Takes the other lane if self is greater in the low lanes, and if it is not in the high lanes.
            let high = match D {
                1 => _mm256_setr_epi64x(0, -1, 0, -1),
                _ => _mm256_setr_epi64x(0, 0, -1, -1),
            };
            let swap = _mm256_xor_si256(greater(self.0, other.0), high);
            Self(_mm256_blendv_epi8(self.0, other.0, swap))
        }
    }
    #[inline(always)]
    unsafe fn exchange<const D: usize>(self) -> Self {
        // SAFETY: see above.
        unsafe {
            Self(match D {
                1 => _mm256_shuffle_epi32::<0b01_00_11_10>(self.0),
                _ => _mm256_permute4x64_epi64::<0b01_00_11_10>(self.0),
            })
        }
    }
    #[inline(always)]
    unsafe fn reverse<const G: usize>(self) -> Self {
        // SAFETY: see above.
        unsafe {
            Self(match G {
                2 => _mm256_shuffle_epi32::<0b01_00_11_10>(self.0),
                _ => _mm256_permute4x64_epi64::<0b00_01_10_11>(self.0),
            })
        }
    }
    #[inline(always)]
    unsafe fn zip(self, other: Self) -> (Self, Self) {
        // SAFETY: see above.
        unsafe {
            let (a, b) = (_mm256_unpacklo_epi64(self.0, other.0), _mm256_unpackhi_epi64(self.0, other.0));
            (Self(_mm256_permute2x128_si256::<0x20>(a, b)), Self(_mm256_permute2x128_si256::<0x31>(a, b)))
        }
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_xor_si256(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_or_si256(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_sub_epi64(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn sign_mask(self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_cmpgt_epi64(_mm256_setzero_si256(), self.0)) }
    }
    #[inline(always)]
    unsafe fn less(self, pivot: Self) -> u32 {
        // SAFETY: see above.
        unsafe { _mm256_movemask_pd(_mm256_castsi256_pd(greater(pivot.0, self.0))) as u32 }
    }
    #[inline(always)]
    unsafe fn compress(self, lanes: u32) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_permutevar8x32_epi32(self.0, places(SPLIT_4[lanes as usize]))) }
    }
    #[inline(always)]
    unsafe fn split(self, less: u32, left: *mut u64, right: *mut u64) {
        // SAFETY: see above.
        unsafe {
            let parted = self.compress(less);
            parted.store(left);
            parted.store(right.sub(4));
        }
    }
    unsafe fn sort_small(keys: &mut [u64], transform: &Transform<u64>) -> bool {
        // SAFETY: see above.
        unsafe { sort_small_u64(keys, transform) }
    }
}

/// All ones in the lanes where `a` is greater, unsigned.
#[inline(always)]
unsafe fn greater(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: callers run this only if the machine supports the instructions.
    unsafe {
        let sign = _mm256_set1_epi64x(i64::MIN);
        _mm256_cmpgt_epi64(_mm256_xor_si256(a, sign), _mm256_xor_si256(b, sign))
    }
}
