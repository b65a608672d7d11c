//! The key types of the grid, and the crates that sort them.

use std::cmp::Ordering;
use std::fmt::Debug;

use rayon::slice::ParallelSliceMut as _;
use rdst::RadixSort as _;

use crate::grid::draw::Drawn;
use crate::keys::{Pair, Voracious};

/// A sort of keys alone.
pub type Sort<'a, K> = Box<dyn Fn(&mut [K]) + 'a>;
/// A stable sort by key of elements that have other data next to the key.
pub type StableSort<K, V> = fn(&mut [Pair<K, V>]);

pub trait GridKey: Drawn + sortie::Key + Copy + Send + Sync + Debug + 'static {
    const NAME: &'static str;

    /// The order passed to the standard library's sorts.
    fn order(&self, other: &Self) -> Ordering;

    /// Whether two keys are equal except for the sign of a zero or the bits of a NaN, which some peers do not order.
    fn alike(&self, other: &Self) -> bool;

    fn std_sort(keys: &mut [Self]);
    fn std_stable_sort(keys: &mut [Self]);
    fn rayon_sort(keys: &mut [Self]);

    /// The crates that sort these keys alone. They use `threads` threads of the caller's pool.
    fn crates(threads: usize) -> Vec<(&'static str, Sort<'static, Self>)>;

    /// The crates that sort stably by these keys, on one thread.
    fn stable_crates<V: Copy + Send + Sync>() -> Vec<(&'static str, StableSort<Self, V>)>;
}

macro_rules! std_sorts {
    (by value) => {
        fn order(&self, other: &Self) -> Ordering {
            self.cmp(other)
        }
        fn alike(&self, other: &Self) -> bool {
            self == other
        }
        fn std_sort(keys: &mut [Self]) {
            keys.sort_unstable();
        }
        fn std_stable_sort(keys: &mut [Self]) {
            keys.sort();
        }
        fn rayon_sort(keys: &mut [Self]) {
            keys.par_sort_unstable();
        }
    };
    (by total order) => {
        fn order(&self, other: &Self) -> Ordering {
            self.total_cmp(other)
        }
        fn alike(&self, other: &Self) -> bool {
            self == other || (self.is_nan() && other.is_nan())
        }
        fn std_sort(keys: &mut [Self]) {
            keys.sort_unstable_by(Self::total_cmp);
        }
        fn std_stable_sort(keys: &mut [Self]) {
            keys.sort_by(Self::total_cmp);
        }
        fn rayon_sort(keys: &mut [Self]) {
            keys.par_sort_unstable_by(Self::total_cmp);
        }
    };
}

/// Types that all crates support.
macro_rules! numbers {
    ($order:tt: $($t:ident)*) => {$(
        impl GridKey for $t {
            const NAME: &'static str = stringify!($t);
            std_sorts! $order;
            fn crates(threads: usize) -> Vec<(&'static str, Sort<'static, Self>)> {
                if threads == 1 {
                    vec![("rdst", Box::new(rdst_alone)), ("voracious", Box::new(Voracious::sort)), ("radsort", Box::new(radsort::sort))]
                } else {
                    vec![
                        ("rdst", Box::new(|keys| keys.radix_sort_unstable())),
                        ("voracious", Box::new(move |keys| Voracious::sort_with(keys, threads))),
                    ]
                }
            }
            fn stable_crates<V: Copy + Send + Sync>() -> Vec<(&'static str, StableSort<Self, V>)> {
                vec![("voracious", Voracious::stable_sort), ("radsort", |v| radsort::sort_by_key(v, |pair| pair.key))]
            }
        }
    )*};
}

numbers! { (by value): u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 }
numbers! { (by total order): f32 f64 }

/// Types that few of the crates support.
macro_rules! others {
    ($order:tt: $($t:ty, $name:literal, $threads:ident, $crates:expr, $stable:expr;)*) => {$(
        impl GridKey for $t {
            const NAME: &'static str = $name;
            std_sorts! $order;
            fn crates($threads: usize) -> Vec<(&'static str, Sort<'static, Self>)> {
                $crates
            }
            fn stable_crates<V: Copy + Send + Sync>() -> Vec<(&'static str, StableSort<Self, V>)> {
                $stable
            }
        }
    )*};
}

others! {
    (by value):
    (u32, u32), "(u32,u32)", threads, tuples(threads), vec![("radsort", |v| radsort::sort_by_key(v, |pair| pair.key))];
    (u64, u64), "(u64,u64)", threads, tuples(threads), vec![("radsort", |v| radsort::sort_by_key(v, |pair| pair.key))];
    [u8; 16], "[u8; 16]", threads, bytes(threads), vec![];
}
others! { (by total order): half::f16, "f16", _threads, vec![], vec![]; }

fn tuples<K: radsort::Key + Copy + 'static>(threads: usize) -> Vec<(&'static str, Sort<'static, K>)> {
    if threads == 1 { vec![("radsort", Box::new(|keys| radsort::sort(keys)))] } else { vec![] }
}

fn bytes(threads: usize) -> Vec<(&'static str, Sort<'static, [u8; 16]>)> {
    if threads == 1 {
        vec![("rdst", Box::new(rdst_alone))]
    } else {
        vec![("rdst", Box::new(|keys| keys.radix_sort_unstable()))]
    }
}

fn rdst_alone<T: rdst::RadixKey + Copy + Send + Sync>(keys: &mut [T]) {
    keys.radix_sort_builder().with_single_threaded_tuner().with_parallel(false).sort();
}
