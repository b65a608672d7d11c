//! Registers of 256 bits.

use std::arch::x86_64::*;

use super::{SPLIT_8, Vector, quicksort};

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
    unsafe fn min_max<const HIGH: u32>(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            let (low, high) = (_mm256_min_epu32(self.0, other.0), _mm256_max_epu32(self.0, other.0));
            Self(match HIGH & 0xFF {
                0xAA => _mm256_blend_epi32::<0xAA>(low, high),
                0xCC => _mm256_blend_epi32::<0xCC>(low, high),
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
}

// SAFETY: as for U32x8.
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
    unsafe fn min_max<const HIGH: u32>(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            // Takes the other lane if self is greater in the low lanes, and if it is not in the high lanes.
            let high = match HIGH & 0xF {
                0xA => _mm256_setr_epi64x(0, -1, 0, -1),
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
