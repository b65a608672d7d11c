//! The contenders: the standard library as the baseline, Sortie, and its peers. Each is called as its documentation
//! recommends.

use std::sync::Arc;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use rdst::RadixSort;
use sortie::{Segments, Sorter};

use crate::keys::{BenchKey, Pair, Payload, Voracious};
use crate::measure::Contender;

/// Everything needed for a number of threads. Made once, outside the measured time.
#[derive(Clone)]
pub struct Team {
    pub threads: usize,
    pub sorter: Sorter,
    pub pool: Arc<ThreadPool>,
}

impl Team {
    pub fn all(threads: &[usize]) -> Vec<Team> {
        let team = |&threads: &usize| Team {
            threads,
            sorter: Sorter::builder().threads(threads).build().expect("--threads are above 0"),
            pool: Arc::new(
                ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started"),
            ),
        };
        threads.iter().map(team).collect()
    }
}

/// Why no [`sortie::Error`] can occur: there are no limits, and the arguments match.
pub const NO_LIMITS: &str = "nothing is refused without limits";

/// The number of threads that the free functions use.
fn default_threads() -> usize {
    rayon::current_num_threads()
}

/// Contenders that sort keys alone.
pub fn sorts<K: BenchKey>(teams: &[Team]) -> Vec<Contender<Vec<K>, Vec<K>>> {
    let mut all = vec![Contender::in_place("std", 1, |v: &mut Vec<K>| K::std_sort(v))];
    for Team { threads, sorter, pool } in teams.iter().cloned() {
        all.push(Contender::in_place("sortie", threads, move |v: &mut Vec<K>| {
            sorter.sort(v).expect(NO_LIMITS);
        }));
        if threads == 1 {
            all.push(Contender::in_place("rdst", 1, |v: &mut Vec<K>| rdst_alone(v)));
            all.push(Contender::in_place("voracious", 1, |v: &mut Vec<K>| <K as Voracious>::sort(v)));
            all.push(Contender::in_place("radsort", 1, |v: &mut Vec<K>| radsort::sort(v)));
        } else {
            let rayon = pool.clone();
            all.push(Contender::in_place("rayon", threads, move |v: &mut Vec<K>| {
                rayon.install(|| K::rayon_sort(v));
            }));
            all.push(Contender::in_place("rdst", threads, move |v: &mut Vec<K>| {
                pool.install(|| v.radix_sort_unstable());
            }));
            all.push(Contender::in_place("voracious", threads, move |v: &mut Vec<K>| {
                K::sort_with(v, threads)
            }));
        }
    }
    let free = |v: &mut Vec<K>| sortie::sort(v);
    all.push(Contender::in_place("sortie (free function)", default_threads(), free));
    all
}

pub fn rdst_alone<T: rdst::RadixKey + Copy + Send + Sync>(v: &mut [T]) {
    v.radix_sort_builder().with_single_threaded_tuner().with_parallel(false).sort();
}

/// The result of a sort of pairs, or of an argsort.
pub struct Placed<K> {
    /// Empty for an argsort.
    pub keys: Vec<K>,
    /// The index of each key in the input.
    pub places: Vec<usize>,
    /// Whether the contender promises to keep the order of equal keys.
    pub stable: bool,
}

impl<K: Copy> Placed<K> {
    fn of_pairs<V: Payload>(pairs: &[Pair<K, V>], stable: bool) -> Self {
        let keys = pairs.iter().map(|pair| pair.key).collect();
        Placed { keys, places: pairs.iter().map(|pair| pair.payload.place()).collect(), stable }
    }
}

/// Keys with their indices as payloads.
fn pairs<K: Copy, V: Payload>(keys: &[K]) -> Vec<Pair<K, V>> {
    (0..).zip(keys).map(|(place, &key)| Pair { key, payload: V::of_place(place) }).collect()
}

/// Contenders that sort pairs by key. The sorts of std, rayon and rdst, and voracious's unstable sort, may reorder the
/// payloads of equal keys. Those of Sortie and radsort, and voracious's stable sort, do not.
pub fn pair_sorts<K: BenchKey + Ord, V: Payload>(teams: &[Team]) -> Vec<Contender<Vec<K>, Placed<K>>>
where
    Pair<K, V>: Voracious,
{
    let mut all = vec![side_by_side("std", 1, false, |v: &mut [Pair<K, V>]| {
        v.sort_unstable_by_key(|pair| pair.key);
    })];
    for Team { threads, sorter, pool } in teams.iter().cloned() {
        all.push(two_slices::<K, V>("sortie", threads, move |keys, payload| {
            sorter.sort_pairs(keys, payload).expect(NO_LIMITS);
        }));
        if threads == 1 {
            all.push(side_by_side("rdst", 1, false, |v: &mut [Pair<K, V>]| rdst_alone(v)));
            all.push(side_by_side("voracious", 1, false, |v: &mut [Pair<K, V>]| Voracious::sort(v)));
            all.push(side_by_side("voracious (stable)", 1, true, |v: &mut [Pair<K, V>]| {
                Voracious::stable_sort(v)
            }));
            all.push(side_by_side("radsort", 1, true, |v: &mut [Pair<K, V>]| {
                radsort::sort_by_key(v, |pair| pair.key);
            }));
        } else {
            let rayon = pool.clone();
            all.push(side_by_side("rayon", threads, false, move |v: &mut [Pair<K, V>]| {
                rayon.install(|| v.par_sort_unstable_by_key(|pair| pair.key));
            }));
            all.push(side_by_side("rdst", threads, false, move |v: &mut [Pair<K, V>]| {
                pool.install(|| v.radix_sort_unstable());
            }));
            all.push(side_by_side("voracious", threads, false, move |v: &mut [Pair<K, V>]| {
                Voracious::sort_with(v, threads);
            }));
        }
    }
    let free = |keys: &mut [K], payload: &mut [V]| sortie::sort_pairs(keys, payload);
    all.push(two_slices("sortie (free function)", default_threads(), free));
    all
}

/// A sort of pairs in one slice.
fn side_by_side<K: BenchKey, V: Payload>(
    name: &'static str,
    threads: usize,
    stable: bool,
    sort: impl Fn(&mut [Pair<K, V>]) + 'static,
) -> Contender<Vec<K>, Placed<K>> {
    Contender::new(name, threads, move |keys: &Vec<K>, clock| {
        let mut data = pairs(keys);
        clock.time(|| sort(&mut data));
        Ok(Placed::of_pairs(&data, stable))
    })
}

/// A stable sort of keys in one slice and payloads in another.
fn two_slices<K: BenchKey, V: Payload>(
    name: &'static str,
    threads: usize,
    sort: impl Fn(&mut [K], &mut [V]) + 'static,
) -> Contender<Vec<K>, Placed<K>> {
    Contender::new(name, threads, move |input: &Vec<K>, clock| {
        let mut keys = input.clone();
        let mut payload: Vec<V> = (0..keys.len()).map(V::of_place).collect();
        clock.time(|| sort(&mut keys, &mut payload));
        Ok(Placed { keys, places: payload.into_iter().map(V::place).collect(), stable: true })
    })
}

/// Contenders for an argsort. Sortie has a call for it. The others sort pairs, and making the pairs is part of the
/// time.
pub fn argsorts(teams: &[Team]) -> Vec<Contender<Vec<u64>, Placed<u64>>> {
    let mut all = vec![Contender::new("std", 1, |keys: &Vec<u64>, clock| {
        let pairs = clock.time(|| {
            let mut pairs: Vec<(u64, u64)> = keys.iter().copied().zip(0..).collect();
            pairs.sort_unstable();
            pairs
        });
        Ok(Placed { keys: vec![], places: pairs.iter().map(|pair| pair.1 as usize).collect(), stable: true })
    })];
    for Team { threads, sorter, pool } in teams.iter().cloned() {
        all.push(places("sortie", threads, true, move |keys| {
            let mut places = vec![0; keys.len()];
            sorter.argsort(keys, &mut places).expect(NO_LIMITS);
            places
        }));
        if threads == 1 {
            all.push(by_pairs("rdst", 1, false, rdst_alone));
            all.push(by_pairs("voracious (stable)", 1, true, Voracious::stable_sort));
            all.push(by_pairs("radsort", 1, true, |v| radsort::sort_by_key(v, |pair| pair.key)));
        } else {
            let rayon = pool.clone();
            all.push(by_pairs("rayon", threads, true, move |v| {
                rayon.install(|| v.par_sort_unstable_by_key(|pair| (pair.key, pair.payload)));
            }));
            all.push(by_pairs("rdst", threads, false, move |v| pool.install(|| v.radix_sort_unstable())));
            all.push(by_pairs("voracious", threads, false, move |v| Voracious::sort_with(v, threads)));
        }
    }
    all.push(places("sortie (free function)", default_threads(), true, sortie::argsort));
    all
}

/// A call that returns indices.
fn places(
    name: &'static str,
    threads: usize,
    stable: bool,
    argsort: impl Fn(&[u64]) -> Vec<usize> + 'static,
) -> Contender<Vec<u64>, Placed<u64>> {
    Contender::new(name, threads, move |keys: &Vec<u64>, clock| {
        let places = clock.time(|| argsort(keys));
        Ok(Placed { keys: vec![], places, stable })
    })
}

/// A sort of pairs, which are made from the keys within the measured time.
fn by_pairs(
    name: &'static str,
    threads: usize,
    stable: bool,
    sort: impl Fn(&mut [Pair<u64, u64>]) + 'static,
) -> Contender<Vec<u64>, Placed<u64>> {
    Contender::new(name, threads, move |keys: &Vec<u64>, clock| {
        let pairs = clock.time(|| {
            let mut pairs = pairs(keys);
            sort(&mut pairs);
            pairs
        });
        Ok(Placed { keys: vec![], ..Placed::of_pairs(&pairs, stable) })
    })
}

/// Contenders that sort segments: those between `offsets`, or of `length` keys each.
pub fn segment_sorts<K: BenchKey>(
    teams: &[Team],
    length: Option<usize>,
    offsets: &Arc<Vec<usize>>,
) -> Vec<Contender<Vec<K>, Vec<K>>> {
    let one_by_one = |name, sort: fn(&mut [K])| {
        let offsets = offsets.clone();
        Contender::in_place(name, 1, move |v: &mut Vec<K>| split(v, &offsets).into_iter().for_each(sort))
    };
    let mut all = vec![one_by_one("std", K::std_sort)];
    for Team { threads, sorter, pool } in teams.iter().cloned() {
        all.push(as_segments("sortie", threads, length, offsets, move |v, segments| {
            sorter.sort_segments(v, segments).expect(NO_LIMITS);
        }));
        if threads == 1 {
            all.push(one_by_one("rdst", |v| rdst_alone(v)));
            all.push(one_by_one("voracious", |v| Voracious::sort(v)));
            all.push(one_by_one("radsort", |v| radsort::sort(v)));
        } else {
            let at = offsets.clone();
            all.push(Contender::in_place("rayon", threads, move |v: &mut Vec<K>| {
                pool.install(|| split(v, &at).into_par_iter().for_each(K::std_sort));
            }));
        }
    }
    let free = sortie::sort_segments;
    all.push(as_segments("sortie (free function)", default_threads(), length, offsets, free));
    all
}

/// A contender that sorts all segments in one call.
fn as_segments<K: BenchKey>(
    name: &'static str,
    threads: usize,
    length: Option<usize>,
    offsets: &Arc<Vec<usize>>,
    sort: impl Fn(&mut [K], Segments<'_>) + 'static,
) -> Contender<Vec<K>, Vec<K>> {
    let offsets = offsets.clone();
    Contender::in_place(name, threads, move |v: &mut Vec<K>| {
        sort(v, length.map_or(Segments::Offsets(&offsets), Segments::Length));
    })
}

/// The segments between the offsets.
fn split<'a, K>(mut keys: &'a mut [K], offsets: &[usize]) -> Vec<&'a mut [K]> {
    let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]);
    lengths.map(|length| keys.split_off_mut(..length).expect("offsets lie within the keys")).collect()
}
