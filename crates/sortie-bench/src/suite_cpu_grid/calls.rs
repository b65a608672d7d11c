//! The contenders for a call: Sortie's free functions, the standard library's equivalent, and the peers. Each sorts
//! fresh copies of the same arrays.
//!
//! Below 20,000 elements, one timing covers many arrays of the same shape, each drawn separately. So neither the
//! resolution of the clock matters, nor a branch predictor that has learnt one array.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use rayon::prelude::*;
use sortie::Segments;

use super::call::{Call, KeyType, Lengths, typed};
use super::key::{GridKey, Sort};
use super::native::Native;
use crate::Result;
use crate::grid::draw::{Source, draw};
use crate::grid::race::{Entrant, Raced, race};
use crate::keys::Pair;

/// The minimum number of elements in all arrays of a timing.
const ELEMENTS: usize = 20_000;

/// The data next to a key: words, the first of which is the index of the element.
type Beside<const WORDS: usize> = [u32; WORDS];

/// Arrays of keys, and the contenders that sort them.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    pub source: Source,
    pub n: usize,
    pub seed: u64,
    pub reps: usize,
    pub threads: usize,
    pub native: Option<&'a Native>,
}

/// The number of arrays of `n` elements that are sorted in one timing.
pub fn arrays(n: usize) -> usize {
    ELEMENTS.div_ceil(n)
}

/// Measures all contenders of a call on keys.
pub fn race_keys(call: Call, job: &Job<'_>) -> Result<Vec<Raced>> {
    match call {
        Call::Keys(key) => typed!(key, keys(job)),
        Call::Pairs(key, bytes) => pairs_of(key, bytes, job),
        Call::Argsort(key) => argsort_of(key, job),
        Call::ByKey(key, bytes) => by_key_of(key, bytes, job),
        Call::Segments(lengths) => segments(lengths, job),
        Call::Strings | Call::ArgsortStrings => unreachable!("strings are no keys"),
    }
}

/// The measured combinations of a key type and a number of words, each with a call of the function.
macro_rules! combinations {
    ($list:ident, $dispatch:ident, $function:ident, $bytes:expr; $($key:ident $t:ty, $words:literal;)*) => {
        pub const $list: &[(KeyType, usize)] = &[$((KeyType::$key, $bytes(size_of::<$t>(), $words))),*];

        fn $dispatch(key: KeyType, bytes: usize, job: &Job<'_>) -> Result<Vec<Raced>> {
            $(if (key, bytes) == (KeyType::$key, $bytes(size_of::<$t>(), $words)) {
                return $function::<$t, $words>(job);
            })*
            unreachable!("{} with {bytes} bytes is not in the list", key.name())
        }
    };
}

const fn payload_bytes(_: usize, words: usize) -> usize {
    4 * words
}

const fn element_bytes(key: usize, words: usize) -> usize {
    key + 4 * words
}

combinations! { PAIRS, pairs_of, pairs, payload_bytes;
    U16 u16, 2;
    U32 u32, 1;
    U32 u32, 2;
    U32 u32, 4;
    U32 u32, 8;
    U64 u64, 1;
    U64 u64, 2;
    U64 u64, 4;
    U64 u64, 8;
    U128 u128, 2;
    I32 i32, 1;
    F64 f64, 2;
}

combinations! { BY_KEY, by_key_of, by_key, element_bytes;
    U32 u32, 1;
    U32 u32, 3;
    U64 u64, 2;
    U64 u64, 6;
    U64 u64, 14;
    F64 f64, 2;
}

/// The types whose argsort is measured, each with a call of the function.
macro_rules! argsorts {
    ($($key:ident $t:ty;)*) => {
        pub const ARGSORTS: &[KeyType] = &[$(KeyType::$key),*];

        fn argsort_of(key: KeyType, job: &Job<'_>) -> Result<Vec<Raced>> {
            match key {
                $(KeyType::$key => argsort::<$t>(job),)*
                _ => unreachable!("{} is not in the list", key.name()),
            }
        }
    };
}

argsorts! {
    U8 u8;
    U16 u16;
    U32 u32;
    U64 u64;
    U128 u128;
    I32 i32;
    F32 f32;
    F64 f64;
    Pair32 (u32, u32);
    Bytes16 [u8; 16];
}

impl Call {
    pub fn all() -> Vec<Call> {
        let keys = KeyType::ALL.iter().map(|&key| Call::Keys(key));
        let pairs = PAIRS.iter().map(|&(key, bytes)| Call::Pairs(key, bytes));
        let argsorts = ARGSORTS.iter().map(|&key| Call::Argsort(key));
        let by_key = BY_KEY.iter().map(|&(key, bytes)| Call::ByKey(key, bytes));
        let segments = [Lengths::Even, Lengths::PowerLaw].map(Call::Segments);
        let numbers = keys.chain(pairs).chain(argsorts).chain(by_key).chain(segments);
        numbers.chain([Call::Strings, Call::ArgsortStrings]).collect()
    }
}

/// A contender that is timed on fresh copies of `arrays` arrays. A panic counts as a failure: some crates panic on
/// NaNs.
pub fn entrant<'a, D>(
    name: &'static str,
    includes: &'static str,
    arrays: usize,
    fresh: impl Fn() -> D + 'a,
    sort: impl Fn(&mut D) + 'a,
    right: impl Fn(&D) -> bool + 'a,
) -> Entrant<'a> {
    Entrant::new(name, includes, move || {
        let mut data = fresh();
        let start = Instant::now();
        let sorted = catch_unwind(AssertUnwindSafe(|| sort(&mut data)));
        let ms = start.elapsed().as_secs_f64() * 1e3 / arrays as f64;
        sorted.map_err(|_| "it panicked")?;
        Ok((ms, right(&data)))
    })
}

const SCRATCH: &str = "scratch";
const BY_PAIRS: &str = "scratch, building (key, index) pairs, writing the result";

impl Job<'_> {
    /// The keys of all arrays, one array after the other.
    fn draw<K: GridKey>(&self) -> Vec<K> {
        let array = |at| draw::<K>(self.source, self.n, self.seed.wrapping_add(at));
        (0..arrays(self.n) as u64).flat_map(array).collect()
    }

    /// The stable sorting indices of each array, one array after the other.
    fn order<K: GridKey>(&self, keys: &[K]) -> Vec<u32> {
        let order = |keys: &[K]| {
            let mut indices: Vec<u32> = (0..keys.len() as u32).collect();
            indices.sort_by(|&a, &b| keys[a as usize].order(&keys[b as usize]));
            indices
        };
        keys.chunks_exact(self.n).flat_map(order).collect()
    }

    /// Stable sorts of elements by key, on the job's number of threads.
    fn stable_sorts<K: GridKey, V: Copy + Send + Sync + 'static>(
        &self,
    ) -> Vec<(&'static str, Sort<'static, Pair<K, V>>)> {
        fn by_key<K: GridKey, V>(a: &Pair<K, V>, b: &Pair<K, V>) -> std::cmp::Ordering {
            a.key.order(&b.key)
        }
        let mut sorts: Vec<(_, Sort<'static, Pair<K, V>>)> =
            vec![("std (stable)", Box::new(|v| v.sort_by(by_key)))];
        if self.threads == 1 {
            sorts.extend(K::stable_crates::<V>().into_iter().map(|(name, sort)| (name, Box::new(sort) as _)));
        } else {
            sorts.push(("rayon", Box::new(|v| v.par_sort_by(by_key))));
        }
        sorts
    }

    /// Stable sorts of (key, index) pairs: stable sorts by key, and unstable sorts by key and index.
    fn index_sorts<K: GridKey>(&self) -> Vec<(&'static str, Sort<'static, Pair<K, u32>>)> {
        let both = |a: &Pair<K, u32>, b: &Pair<K, u32>| a.key.order(&b.key).then(a.payload.cmp(&b.payload));
        let mut sorts = self.stable_sorts();
        sorts.push(("std", Box::new(move |v| v.sort_unstable_by(both))));
        sorts
    }
}

/// Sorts of an array. The first ones are Sortie and those of std, which order all bits of a key.
struct Sorts<'a, K> {
    all: Vec<(&'static str, Sort<'a, K>)>,
    exact: usize,
}

impl<'a, K: GridKey> Sorts<'a, K> {
    fn new(
        sortie: impl Fn(&mut [K]) + 'a,
        std: impl Fn(&mut [K]) + 'a,
        stable: impl Fn(&mut [K]) + 'a,
    ) -> Self {
        let all: Vec<(_, Sort<'a, K>)> =
            vec![("sortie", Box::new(sortie)), ("std", Box::new(std)), ("std (stable)", Box::new(stable))];
        Sorts { exact: all.len(), all }
    }

    /// Measures them. The result of std is the expected one.
    fn race(self, job: &Job<'_>) -> Result<Vec<Raced>> {
        let (n, input) = (job.n, job.draw::<K>());
        let mut expected = input.clone();
        expected.chunks_exact_mut(n).for_each(&self.all[1].1);
        let (input, expected, exact) = (&input, &expected, self.exact);
        let entrants = self.all.into_iter().enumerate().map(|(at, (name, sort))| {
            let same = move |a: &K, b: &K| if at < exact { a.order(b).is_eq() } else { a.alike(b) };
            entrant(
                name,
                SCRATCH,
                arrays(n),
                || input.clone(),
                move |keys: &mut Vec<K>| keys.chunks_exact_mut(n).for_each(&sort),
                move |keys| keys.iter().zip(expected).all(|(a, b)| same(a, b)),
            )
        });
        race(entrants.collect(), job.reps)
    }
}

fn keys<K: GridKey>(job: &Job<'_>) -> Result<Vec<Raced>> {
    let mut sorts = Sorts::new(sortie::sort, K::std_sort, K::std_stable_sort);
    if job.threads > 1 {
        sorts.all.push(("rayon", Box::new(K::rayon_sort)));
    }
    sorts.all.extend(K::crates(job.threads));
    sorts.all.extend(job.native.iter().flat_map(|native| native.sorts(job.threads)));
    sorts.race(job)
}

/// The peers sort the segments one after the other, and rayon's threads share them.
fn segments(lengths: Lengths, job: &Job<'_>) -> Result<Vec<Raced>> {
    fn split<'a>(mut keys: &'a mut [f32], offsets: &[usize]) -> Vec<&'a mut [f32]> {
        let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]);
        lengths.map(|length| keys.split_off_mut(..length).expect("offsets lie within the keys")).collect()
    }
    let (even, offsets) = (lengths.even(job.n), lengths.offsets(job.n, job.seed));
    let offsets = &offsets[..];
    let each =
        |sort: Sort<'static, f32>| move |keys: &mut [f32]| split(keys, offsets).into_iter().for_each(&sort);
    let ours = |keys: &mut [f32]| {
        sortie::sort_segments(keys, even.map_or(Segments::Offsets(offsets), Segments::Length));
    };
    let std = each(Box::new(f32::std_sort));
    let mut sorts = Sorts::new(ours, std, each(Box::new(f32::std_stable_sort)));
    if job.threads > 1 {
        let shared = |keys: &mut [f32]| split(keys, offsets).into_par_iter().for_each(f32::std_sort);
        sorts.all.push(("rayon", Box::new(shared)));
    } else {
        let crates = f32::crates(1).into_iter();
        sorts.all.extend(crates.map(|(name, sort)| (name, Box::new(each(sort)) as Sort<'_, f32>)));
    }
    sorts.race(job)
}

/// Keys and their payloads. Arrays follow each other.
type Slices<K, const WORDS: usize> = (Vec<K>, Vec<Beside<WORDS>>);

fn pairs<K: GridKey, const WORDS: usize>(job: &Job<'_>) -> Result<Vec<Raced>> {
    let (n, keys) = (job.n, job.draw::<K>());
    let payload: Vec<Beside<WORDS>> = (0..keys.len()).map(|at| [(at % n) as u32; WORDS]).collect();
    let order = job.order(&keys);
    let fresh = || (keys.clone(), payload.clone());
    let right = |(sorted, moved): &Slices<K, WORDS>| {
        let from = |at: usize| at / n * n + order[at] as usize;
        (0..keys.len()).all(|at| moved[at] == payload[from(at)] && sorted[at].order(&keys[from(at)]).is_eq())
    };
    let each = |(keys, payload): &mut Slices<K, WORDS>, sort: &dyn Fn(&mut [K], &mut [Beside<WORDS>])| {
        keys.chunks_exact_mut(n)
            .zip(payload.chunks_exact_mut(n))
            .for_each(|(keys, payload)| sort(keys, payload));
    };
    let sortie = move |data: &mut _| each(data, &|keys, payload| sortie::sort_pairs(keys, payload));
    let mut entrants = vec![entrant("sortie", SCRATCH, arrays(n), fresh, sortie, right)];
    for (name, sort) in job.index_sorts::<K>() {
        let by_index = move |data: &mut _| {
            each(data, &|keys, payload| {
                let mut pairs = with_indices(keys);
                sort(&mut pairs);
                let unsorted = payload.to_vec();
                for ((pair, key), payload) in pairs.iter().zip(keys).zip(payload) {
                    *key = pair.key;
                    *payload = unsorted[pair.payload as usize];
                }
            });
        };
        entrants.push(entrant(name, BY_PAIRS, arrays(n), fresh, by_index, right));
    }
    race(entrants, job.reps)
}

fn with_indices<K: Copy>(keys: &[K]) -> Vec<Pair<K, u32>> {
    keys.iter().zip(0..).map(|(&key, payload)| Pair { key, payload }).collect()
}

fn argsort<K: GridKey>(job: &Job<'_>) -> Result<Vec<Raced>> {
    let (n, keys) = (job.n, job.draw::<K>());
    let order = job.order(&keys);
    let fresh = || Vec::with_capacity(arrays(n));
    let right = |results: &Vec<Vec<usize>>| {
        results.iter().flatten().zip(&order).all(|(&index, &expected)| index == expected as usize)
            && results.iter().map(Vec::len).sum::<usize>() == order.len()
    };
    let each = |results: &mut Vec<Vec<usize>>, sort: &dyn Fn(&[K]) -> Vec<usize>| {
        results.extend(keys.chunks_exact(n).map(sort));
    };
    let sortie = move |results: &mut _| each(results, &sortie::argsort::<K>);
    let mut entrants = vec![entrant("sortie", SCRATCH, arrays(n), fresh, sortie, right)];
    for (name, sort) in job.index_sorts::<K>() {
        let by_index = move |results: &mut _| {
            each(results, &|keys| {
                let mut pairs = with_indices(keys);
                sort(&mut pairs);
                pairs.iter().map(|pair| pair.payload as usize).collect()
            });
        };
        entrants.push(entrant(name, BY_PAIRS, arrays(n), fresh, by_index, right));
    }
    race(entrants, job.reps)
}

fn by_key<K: GridKey, const WORDS: usize>(job: &Job<'_>) -> Result<Vec<Raced>> {
    let (n, keys) = (job.n, job.draw::<K>());
    let element = |(at, &key): (usize, &K)| Pair { key, payload: [(at % n) as u32; WORDS] };
    let input: Vec<Pair<K, Beside<WORDS>>> = keys.iter().enumerate().map(element).collect();
    let order = job.order(&keys);
    let right = |sorted: &Vec<Pair<K, Beside<WORDS>>>| {
        let same = |at: usize| {
            let from = &input[at / n * n + order[at] as usize];
            sorted[at].payload == from.payload && sorted[at].key.order(&from.key).is_eq()
        };
        (0..input.len()).all(same)
    };
    let mut sorts = job.stable_sorts::<K, Beside<WORDS>>();
    sorts.insert(0, ("sortie", Box::new(|v| sortie::sort_by_key(v, |element| element.key))));
    let entrants = sorts.into_iter().map(|(name, sort)| {
        let each = move |data: &mut Vec<_>| data.chunks_exact_mut(n).for_each(&sort);
        entrant(name, SCRATCH, arrays(n), || input.clone(), each, right)
    });
    race(entrants.collect(), job.reps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::recipe::Recipe;
    use crate::grid::shape::Shape;

    fn job(shape: Shape, n: usize, threads: usize) -> Job<'static> {
        Job { source: Source::Shape(shape), n, seed: 1, reps: 1, threads, native: None }
    }

    fn names(raced: &[Raced]) -> Vec<&str> {
        raced.iter().map(|raced| raced.name).collect()
    }

    #[test]
    fn sortie_and_std_are_found_right_at_every_call() {
        for call in Call::all().into_iter().filter(|call| call.key().is_some()) {
            for (shape, n) in [(Shape::SixteenValues, 100), (Shape::Expo, 1), (Shape::LogNormal, 30_000)] {
                if !shape.takes(call.key().is_some_and(KeyType::is_float)) {
                    continue;
                }
                let raced = race_keys(call, &job(shape, n, 1)).unwrap();
                let ours =
                    raced.iter().filter(|raced| raced.name == "sortie" || raced.name.starts_with("std"));
                assert!(
                    ours.clone().count() >= 2 && ours.clone().all(|raced| raced.times.right),
                    "{}",
                    call.title()
                );
            }
        }
    }

    #[test]
    fn every_call_has_its_peers() {
        let of = |call, threads| race_keys(call, &job(Shape::Uniform, 100, threads)).unwrap();
        let keys = of(Call::Keys(KeyType::U32), 1);
        assert_eq!(names(&keys), ["sortie", "std", "std (stable)", "rdst", "voracious", "radsort"]);
        assert!(keys.iter().all(|raced| raced.times.right));
        let pairs = of(Call::Pairs(KeyType::U64, 8), 1);
        assert_eq!(names(&pairs), ["sortie", "std (stable)", "voracious", "radsort", "std"]);
        assert!(pairs.iter().all(|raced| raced.times.right));
        let elements = of(Call::ByKey(KeyType::U64, 16), 2);
        assert_eq!(names(&elements), ["sortie", "std (stable)", "rayon"]);
        let argsort = of(Call::Argsort(KeyType::Bytes16), 2);
        assert_eq!(names(&argsort), ["sortie", "std (stable)", "rayon", "std"]);
    }

    #[test]
    fn a_wrong_result_is_told_and_who_panics_is_left_out() {
        let right = entrant("right", "", 2, || vec![2, 1], |v| v.reverse(), |v: &Vec<i32>| v.is_sorted());
        let panics = entrant("panics", "", 2, || vec![2, 1], |_| panic!("a crate did"), |_| true);
        let lazy = entrant("lazy", "", 2, || vec![2, 1], |_| (), |v: &Vec<i32>| v.is_sorted());
        let raced = race(vec![right, lazy, panics], 1).unwrap();
        assert_eq!(raced.iter().map(|raced| raced.times.right).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn a_timing_is_over_many_small_arrays_that_differ() {
        assert_eq!([1, 999, 20_000, 1_000_000].map(arrays), [20_000, 21, 1, 1]);
        let keys: Vec<u64> = job(Shape::Uniform, 10, 1).draw();
        assert_eq!(keys.len(), 20_000);
        assert_ne!(keys[..10], keys[10..20]);
        let recipe = Job { source: Source::Recipe(Recipe::of_values(3)), ..job(Shape::Zero, 10, 1) };
        assert_eq!(recipe.draw::<u8>().len(), 20_000);
    }
}
