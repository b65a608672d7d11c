//! The key types that are measured, and what the peers need to know about them.

use std::cmp::Ordering;
use std::fmt::Debug;

/// A type whose keys are drawn here or on a GPU.
pub trait BenchKey:
    sortie::Key + sortie::gpu::Compared + Copy + Send + Sync + PartialOrd + Debug + 'static
{
    const NAME: &'static str;

    /// The key at this fraction of the type's range, in units of 2^-64. For floats, the range is [0, 1).
    fn at(fraction: u64) -> Self;

    /// A small number as a key.
    fn of(number: u64) -> Self;

    /// The low 64 bits of the key.
    fn bits(&self) -> u64;

    fn order(&self, other: &Self) -> Ordering;

    /// The standard library's sort, as a caller would use it for this type.
    fn std_sort(keys: &mut [Self]);
}

macro_rules! integers {
    ($($t:ident: |$x:ident| $at:expr;)*) => {$(
        impl BenchKey for $t {
            const NAME: &'static str = stringify!($t);
            fn at($x: u64) -> Self {
                $at
            }
            fn of(number: u64) -> Self {
                number as $t
            }
            fn bits(&self) -> u64 {
                *self as u64
            }
            fn order(&self, other: &Self) -> Ordering {
                self.cmp(other)
            }
            fn std_sort(keys: &mut [Self]) {
                keys.sort_unstable();
            }
        }
    )*};
}

integers! {
    u8: |x| (x >> 56) as u8;
    u16: |x| (x >> 48) as u16;
    u32: |x| (x >> 32) as u32;
    u64: |x| x;
    // The low half is a hash of the high half.
    u128: |x| u128::from(x) << 64 | u128::from((x ^ x >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    i32: |x| (x >> 32) as i32 ^ i32::MIN;
    i64: |x| x as i64 ^ i64::MIN;
}

macro_rules! floats {
    ($($t:ident: $digits:expr;)*) => {$(
        impl BenchKey for $t {
            const NAME: &'static str = stringify!($t);
            fn at(fraction: u64) -> Self {
                (fraction >> (64 - $digits)) as $t / (1u64 << $digits) as $t
            }
            fn of(number: u64) -> Self {
                number as $t
            }
            fn bits(&self) -> u64 {
                self.to_bits().into()
            }
            fn order(&self, other: &Self) -> Ordering {
                self.total_cmp(other)
            }
            fn std_sort(keys: &mut [Self]) {
                keys.sort_unstable_by(Self::total_cmp);
            }
        }
    )*};
}

floats! {
    f32: 24;
    f64: 53;
}

/// A key next to its payload, compared by the key. Peers sort slices of these; Sortie sorts two slices.
#[derive(Debug, Clone, Copy)]
pub struct Pair<K, V> {
    pub key: K,
    pub payload: V,
}

impl<K: PartialEq, V> PartialEq for Pair<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<K: PartialOrd, V> PartialOrd for Pair<K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.key.partial_cmp(&other.key)
    }
}

impl<K: rdst::RadixKey, V> rdst::RadixKey for Pair<K, V> {
    const LEVELS: usize = K::LEVELS;

    fn get_level(&self, level: usize) -> u8 {
        self.key.get_level(level)
    }
}

/// The types that voracious can sort. Its own trait has a parameter that only a concrete type can supply.
pub trait Voracious: Sized {
    fn sort(v: &mut [Self]);
    fn stable_sort(v: &mut [Self]);
    fn sort_with(v: &mut [Self], threads: usize);
}

macro_rules! voracious {
    ($($t:ty, $key:ident;)*) => {$(
        impl Voracious for $t {
            fn sort(v: &mut [Self]) {
                voracious_radix_sort::RadixSort::<Self, $key>::voracious_sort(v);
            }
            fn stable_sort(v: &mut [Self]) {
                voracious_radix_sort::RadixSort::<Self, $key>::voracious_stable_sort(v);
            }
            fn sort_with(v: &mut [Self], threads: usize) {
                voracious_radix_sort::RadixSort::<Self, $key>::voracious_mt_sort(v, threads);
            }
        }
    )*};
}

macro_rules! voracious_pairs {
    ($($key:ident)*) => {$(
        impl<V: Copy + Send + Sync> voracious_radix_sort::Radixable<$key> for Pair<$key, V> {
            type Key = $key;
            fn key(&self) -> $key {
                self.key
            }
        }
        impl<V: Copy + Send + Sync> Voracious for Pair<$key, V> {
            fn sort(v: &mut [Self]) {
                voracious_radix_sort::RadixSort::<Self, $key>::voracious_sort(v);
            }
            fn stable_sort(v: &mut [Self]) {
                voracious_radix_sort::RadixSort::<Self, $key>::voracious_stable_sort(v);
            }
            fn sort_with(v: &mut [Self], threads: usize) {
                voracious_radix_sort::RadixSort::<Self, $key>::voracious_mt_sort(v, threads);
            }
        }
    )*};
}

voracious! {
    u8, u8; u16, u16; u32, u32; u64, u64; u128, u128;
    i8, i8; i16, i16; i32, i32; i64, i64; i128, i128; f32, f32; f64, f64;
}
voracious_pairs! { u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64 }

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the lowest and the highest key, and that keys in between keep their order.
    fn covers<K: BenchKey>(lowest: K, highest: K) {
        assert_eq!(K::at(0).order(&lowest), Ordering::Equal);
        assert_eq!(K::at(u64::MAX).order(&highest), Ordering::Equal);
        let keys: Vec<K> = (0..256).map(|i| K::at(i << 56)).collect();
        assert!(keys.windows(2).all(|w| w[0].order(&w[1]).is_lt()), "{} out of order", K::NAME);
    }

    #[test]
    fn fractions_cover_the_range_in_order() {
        covers(u8::MIN, u8::MAX);
        covers(u16::MIN, u16::MAX);
        covers(u32::MIN, u32::MAX);
        covers(u64::MIN, u64::MAX);
        covers(i32::MIN, i32::MAX);
        covers(i64::MIN, i64::MAX);
        covers(0f32, 1.0f32.next_down());
        covers(0f64, 1.0f64.next_down());
        assert_eq!(u128::at(u64::MAX) >> 64, u64::MAX.into());
    }
}
