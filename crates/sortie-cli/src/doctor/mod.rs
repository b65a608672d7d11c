//! `sortie doctor`: sorts on a GPU and on the CPU, input at random and input that is hard, and compares the bits.

mod device;
mod large;

use std::ops::AddAssign;
use std::sync::Arc;
use std::time::Instant;

use bytemuck::Pod;
use half::f16;
use rayon::prelude::*;
use sortie::gpu::{Compared, Gpu};
use sortie::{Algorithm, Engine, Error, Key, Nans, Segments, Sorter, SorterBuilder};

use crate::failure::Failure;
use crate::print;

/// Segments of one length: the edges of every kind of worker, and beyond what fits a block.
const LENGTHS: [usize; 20] = [
    1, 2, 3, 8, 31, 50, 64, 65, 160, 161, 321, 1000, 1281, 4000, 5121, 10_000, 20_481, 32_769, 40_961,
    300_000,
];

/// Those of them that are sorted with payloads of 4 bytes too, and of 16: each is a kernel more to compile.
const LENGTHS_WITH_4: [usize; 8] = [2, 50, 65, 161, 1000, 5121, 20_481, 300_000];
const LENGTHS_WITH_16: [usize; 4] = [3, 64, 1281, 40_961];

/// Single arrays: of one block, of several, and of so many keys for each multiprocessor that they are distributed. The
/// longest only of some types.
const ARRAYS: [usize; 2] = [1000, 200_003];
const DISTRIBUTED: usize = (1 << 15) + 5;
const LONGEST_ARRAY: usize = 1 << 26;

/// Arrays that are sorted by comparison alone, and strings: without keys to compare, of one block, just
/// beyond the longest of them, of several buckets. The longest of keys of more than 4 bytes is shorter.
const COMPARED_ARRAYS: [usize; 5] = [1, 2, 1000, 7937, 200_003];
const LONGEST_WIDE_ARRAY: usize = 1 << 24;

/// Keys that are drawn and checked at a time.
const CHUNK: usize = 1 << 26;

/// Keys of each sort of segments, about.
const KEYS: usize = 1 << 19;

/// The bits of a key, of its place and 64 random bits.
type Bits = fn(u64, u64) -> u64;

/// What keys are made of.
const PATTERNS: [(&str, Bits); 6] = [
    RANDOM,
    ("few", |_, random| (random % 5).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
    ("ascending", |i, _| i << 44 | i << 12 | i),
    ("descending", |i, _| !(i << 44 | i << 12 | i)),
    ("equal", |_, _| 0x7FC0_0000_7FC0_0001),
    CROWDED,
];
const RANDOM: (&str, Bits) = ("random", |_, random| random);
const CROWDED: (&str, Bits) = ("crowded", |i, random| if i % 61 == 0 { u64::MAX } else { random >> 52 });

/// Compares every kind of sort that has a GPU engine, and prints a table.
pub fn run(engine: Engine, large: bool) -> Result<(), Failure> {
    let Engine::Cuda(ordinal) = engine else {
        return Err(Failure::new("the doctor looks at GPUs; give --engine cuda or cuda:N"));
    };
    // A table of nothing would only be in the way of why.
    let gpu = Gpu::cuda(ordinal)?;
    let distributed = gpu.device().properties().multiprocessors as usize * DISTRIBUTED;
    print(
        format!("{:<8} {:<11} {:<10} {:>6} {:>8}  \n", "keys", "sorted", "input", "sorts", "s").as_bytes(),
    )?;
    let chosen = Chosen { ordinal, descending: false, nans: Nans::Last, distributed };
    let mut tally = Tally::default();
    // First, while the engine holds no scratch.
    if large {
        tally = compare_large(chosen)?;
    }
    let mut checks: Vec<(Chosen, Check)> = Vec::new();
    for descending in [false, true] {
        for nans in [Nans::Last, Nans::First] {
            let chosen = Chosen { ordinal, descending, nans, distributed };
            let floats: [Check; 3] = [compare::<f32>, compare::<f64>, compare::<f16>];
            let integers: [Check; 4] = [compare::<u8>, compare::<i16>, compare::<u32>, compare::<i64>];
            checks.extend(floats.map(|check| (chosen, check)));
            if nans == Nans::Last {
                checks.extend(integers.map(|check| (chosen, check)));
            }
        }
    }
    let compared: [Check; 6] = [
        compare_compared::<u32>,
        compare_compared::<u64>,
        compare_compared::<u128>,
        compare_compared::<[u8; 16]>,
        compare_compared::<[u8; 64]>,
        compare_strings,
    ];
    checks.extend(compared.map(|check| (chosen, check)));
    // At the same time, for most of it is compiling.
    let short = checks.into_par_iter().map(|(chosen, check)| check(chosen));
    short.collect::<Result<Vec<_>, _>>()?.into_iter().for_each(|found| tally += found);
    // One after the other, for they take memory.
    let longest: [Check; 9] = [
        compare_longest::<u32>,
        compare_longest::<f32>,
        compare_longest::<i64>,
        compare_longest_compared::<u32>,
        compare_longest_compared::<u64>,
        compare_longest_compared::<u128>,
        compare_longest_compared::<[u8; 16]>,
        compare_longest_compared::<[u8; 64]>,
        compare_longest_strings,
    ];
    for check in longest {
        tally += check(chosen)?;
    }
    match tally {
        Tally { wrong: 0, left_out: 0 } => print(b"all as on the CPU\n"),
        Tally { wrong: 0, left_out } => {
            print(format!("all as on the CPU, but {left_out} left out for lack of memory\n").as_bytes())
        }
        Tally { wrong, .. } => {
            Err(Failure::new(format!("{wrong} sorts are wrong; do not trust this GPU, and report it")))
        }
    }
}

/// Prints a line for each pattern.
type Check = fn(Chosen) -> Result<Tally, Failure>;

/// Sorts that came out wrong, and such as there was no memory for.
#[derive(Debug, Default)]
struct Tally {
    wrong: usize,
    left_out: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.wrong += other.wrong;
        self.left_out += other.left_out;
    }
}

#[derive(Clone, Copy)]
struct Chosen {
    ordinal: u32,
    descending: bool,
    nans: Nans,
    /// Keys of an array that is distributed on this GPU.
    distributed: usize,
}

impl Chosen {
    fn builder(self, engine: Engine) -> SorterBuilder {
        Sorter::builder().engine(engine).descending(self.descending).nans(self.nans)
    }

    fn on_gpu(self) -> SorterBuilder {
        self.builder(Engine::Cuda(self.ordinal))
    }

    fn name(self) -> &'static str {
        match (self.descending, self.nans) {
            (false, Nans::First) => "NaNs first",
            (false, _) => "ascending",
            (true, Nans::First) => "down, NaNs",
            (true, _) => "descending",
        }
    }
}

fn compare<K: Key + Pod>(chosen: Chosen) -> Result<Tally, Failure> {
    of_each_pattern(chosen, name::<K>(), chosen.name(), &PATTERNS, |both, bits| {
        for length in LENGTHS {
            let keys = keys::<K>(KEYS.next_multiple_of(length), bits);
            let (segments, what) = (Segments::Length(length), format!("segments of {length}"));
            both.compare(&keys, segments, &what)?;
            if LENGTHS_WITH_4.contains(&length) {
                both.compare_pairs(&keys, segments, &what, |i| i as u32)?;
            }
            if LENGTHS_WITH_16.contains(&length) {
                both.compare_pairs(&keys, segments, &what, |i| [i, !i])?;
            }
        }
        let (keys, offsets) = (keys::<K>(KEYS, bits), ragged(KEYS));
        let (segments, what) = (Segments::Offsets(&offsets), "segments between offsets");
        both.compare(&keys, segments, what)?;
        both.compare_pairs(&keys, segments, what, |i| i as u32)?;
        let mut lengths = ARRAYS.into_iter().chain([chosen.distributed]);
        lengths.try_for_each(|n| both.compare_arrays(&self::keys::<K>(n, bits)))
    })
}

/// One array by comparison alone.
fn compare_compared<K: Key + Compared>(chosen: Chosen) -> Result<Tally, Failure> {
    of_each_pattern(chosen, name::<K>(), "compared", &PATTERNS, |both, bits| {
        COMPARED_ARRAYS.into_iter().try_for_each(|n| both.compare_by_comparison(&keys::<K>(n, bits)))
    })
}

/// Strings, alone or many.
fn compare_strings(chosen: Chosen) -> Result<Tally, Failure> {
    of_each_pattern(chosen, "strings", "argsort", &PATTERNS, |both, bits| {
        let mut lengths = COMPARED_ARRAYS.into_iter().chain([chosen.distributed]);
        lengths.try_for_each(|n| both.compare_strings(&strings(n, bits)))
    })
}

/// The longest array.
fn compare_longest<K: Key + Pod>(chosen: Chosen) -> Result<Tally, Failure> {
    of_each_pattern(chosen, name::<K>(), chosen.name(), &[RANDOM, CROWDED], |both, bits| {
        both.compare_arrays(&keys::<K>(LONGEST_ARRAY, bits))
    })
}

fn compare_longest_compared<K: Key + Compared>(chosen: Chosen) -> Result<Tally, Failure> {
    let n = if size_of::<K>() > 4 { LONGEST_WIDE_ARRAY } else { LONGEST_ARRAY };
    of_each_pattern(chosen, name::<K>(), "compared", &[RANDOM, CROWDED], |both, bits| {
        both.compare_by_comparison(&keys::<K>(n, bits))
    })
}

fn compare_longest_strings(chosen: Chosen) -> Result<Tally, Failure> {
    of_each_pattern(chosen, "strings", "argsort", &[RANDOM, CROWDED], |both, bits| {
        both.compare_strings(&strings(LONGEST_WIDE_ARRAY, bits))
    })
}

fn compare_large(chosen: Chosen) -> Result<Tally, Failure> {
    of_each_pattern(chosen, "u32", chosen.name(), &[RANDOM], |both, _| {
        let sorted = large::sorts(&both.there, large::KEYS, CHUNK)?;
        both.note(sorted, format!("one array of {}", large::KEYS));
        Ok(())
    })
}

/// Compares what is made of each pattern, and prints a line for it. What there is no memory for is left out.
fn of_each_pattern(
    chosen: Chosen,
    key: &str,
    sorted: &str,
    patterns: &[(&str, Bits)],
    compare: impl Fn(&mut Both, Bits) -> Result<(), Error>,
) -> Result<Tally, Failure> {
    let (mut tally, mut lines) = (Tally::default(), String::new());
    for &(pattern, bits) in patterns {
        let mut both = Both::new(chosen)?;
        let short = match compare(&mut both, bits) {
            Err(short @ (Error::Memory { .. } | Error::Device(sortie_device::Error::OutOfMemory { .. }))) => {
                Some(short)
            }
            other => {
                other?;
                None
            }
        };
        let verdict = match &short {
            _ if !both.wrong.is_empty() => format!("WRONG: {}", both.wrong.join(", ")),
            Some(short) => format!("left out: {short}"),
            None => "ok".into(),
        };
        let (sorts, seconds) = (both.sorts, both.start.elapsed().as_secs_f64());
        lines += &format!("{key:<8} {sorted:<11} {pattern:<10} {sorts:>6} {seconds:>8.2}  {verdict}\n");
        tally += Tally { wrong: both.wrong.len(), left_out: usize::from(short.is_some()) };
    }
    print(lines.as_bytes())?;
    Ok(tally)
}

fn name<K>() -> &'static str {
    std::any::type_name::<K>().rsplit("::").next().unwrap_or_default()
}

/// The engines, and what they were asked so far.
struct Both {
    chosen: Chosen,
    gpu: Sorter,
    cpu: Sorter,
    /// The engine of `gpu`, for keys in its memory.
    there: Arc<Gpu>,
    sorts: usize,
    wrong: Vec<String>,
    start: Instant,
}

impl Both {
    fn new(chosen: Chosen) -> Result<Both, Error> {
        Ok(Both {
            chosen,
            gpu: chosen.on_gpu().build()?,
            cpu: chosen.builder(Engine::Cpu).build()?,
            there: Gpu::cuda(chosen.ordinal)?,
            sorts: 0,
            wrong: Vec::new(),
            start: Instant::now(),
        })
    }

    /// One array: its keys alone, as pairs, stable and not, and as an argsort; what a bitonic network sorts, by that too.
    fn compare_arrays<K: Key + Pod>(&mut self, keys: &[K]) -> Result<(), Error> {
        let n = keys.len();
        let (mut there, mut here) = (keys.to_vec(), keys.to_vec());
        let mut places: Vec<u32> = (0..n as u32).collect();
        let mut payload = places.clone();
        self.cpu.sort_pairs(&mut here, &mut places)?;
        self.gpu.sort(&mut there)?;
        self.note(bytes(&there) == bytes(&here), format!("one array of {n}"));
        there.copy_from_slice(keys);
        self.chosen.on_gpu().algorithm(Algorithm::Bitonic).build()?.sort(&mut there)?;
        self.note(bytes(&there) == bytes(&here), format!("one array of {n}, bitonic"));
        there.copy_from_slice(keys);
        self.gpu.sort_pairs(&mut there, &mut payload)?;
        self.note(bytes(&there) == bytes(&here) && payload == places, format!("one array of {n} pairs"));
        for (algorithm, what) in [(Algorithm::Auto, "unstable"), (Algorithm::Bitonic, "bitonic")] {
            there.copy_from_slice(keys);
            payload.iter_mut().zip(0..).for_each(|(place, i)| *place = i);
            let sorter = self.chosen.on_gpu().unstable().algorithm(algorithm).build()?;
            sorter.sort_pairs(&mut there, &mut payload)?;
            let own = there
                .iter()
                .zip(&payload)
                .all(|(key, &place)| bytemuck::bytes_of(key) == bytemuck::bytes_of(&keys[place as usize]));
            payload.sort_unstable();
            let once = payload.iter().zip(0..).all(|(&place, i)| place == i);
            let right = bytes(&there) == bytes(&here) && own && once;
            self.note(right, format!("one array of {n} pairs, {what}"));
        }
        self.gpu.argsort(keys, &mut payload)?;
        self.note(payload == places, format!("argsort of one array of {n}"));
        Ok(())
    }

    /// Sorts the keys alone.
    fn compare<K: Key + Pod>(&mut self, keys: &[K], segments: Segments<'_>, what: &str) -> Result<(), Error> {
        let (mut there, mut here) = (keys.to_vec(), keys.to_vec());
        self.gpu.sort_segments(&mut there, segments)?;
        self.cpu.sort_segments(&mut here, segments)?;
        self.note(bytes(&there) == bytes(&here), what.into());
        Ok(())
    }

    fn compare_pairs<K: Key + Pod, V: Pod + Send>(
        &mut self,
        keys: &[K],
        segments: Segments<'_>,
        what: &str,
        payload: impl Fn(usize) -> V,
    ) -> Result<(), Error> {
        let payload: Vec<V> = (0..keys.len()).map(payload).collect();
        let (mut there, mut here) = ((keys.to_vec(), payload.clone()), (keys.to_vec(), payload));
        self.gpu.sort_pairs_segments(&mut there.0, &mut there.1, segments)?;
        self.cpu.sort_pairs_segments(&mut here.0, &mut here.1, segments)?;
        let same = bytes(&there.0) == bytes(&here.0) && bytes(&there.1) == bytes(&here.1);
        self.note(same, format!("{what} with payloads of {} bytes", size_of::<V>()));
        Ok(())
    }

    fn note(&mut self, same: bool, what: String) {
        self.sorts += 1;
        if !same {
            self.wrong.push(what);
        }
    }
}

fn bytes<T: Pod>(slice: &[T]) -> &[u8] {
    bytemuck::cast_slice(slice)
}

/// `n` keys of a pattern. Of wide ones the bits are the last; those before them are few.
fn keys<K: Pod>(n: usize, bits: Bits) -> Vec<K> {
    let last = size_of::<K>().div_ceil(8) - 1;
    let key = |i| {
        let bits = bits(i, mixed(i));
        let mut words = [bits % 3; 8];
        words[last] = bits;
        bytemuck::pod_read_unaligned(&bytes(&words)[..size_of::<K>()])
    };
    (0..n as u64).map(key).collect()
}

/// `n` strings of a pattern, in its hexadecimal digits: of none of them to all, some with much in front that others have
/// too.
fn strings(n: usize, bits: Bits) -> Vec<Vec<u8>> {
    let string = |i| {
        let bits = bits(i, mixed(i));
        let shared = "a beginning that many have ".repeat((bits % 4) as usize);
        let digits = format!("{bits:016x}");
        (shared + &digits[..(bits >> 7) as usize % 17]).into_bytes()
    };
    (0..n as u64).map(string).collect()
}

/// The output of SplitMix64 after so many others.
fn mixed(i: u64) -> u64 {
    let z = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Offsets of segments whose lengths grow by a third, from none at all, over and over.
fn ragged(n: usize) -> Vec<usize> {
    let mut offsets = vec![3, 3];
    let mut length = 1;
    while offsets[offsets.len() - 1] + length <= n {
        offsets.push(offsets[offsets.len() - 1] + length);
        length = if length > 100_000 { 1 } else { length + length / 3 + 1 };
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What goes to the device past a `Sorter`, on the test bench.
    #[test]
    fn the_bench_is_well() {
        let device = match sortie_simt::device(sortie_simt::Options::default()) {
            Ok(device) => device,
            Err(why) => return println!("skipped: {why}"),
        };
        let chosen = Chosen { ordinal: 0, descending: false, nans: Nans::Last, distributed: 0 };
        let sorter = || chosen.builder(Engine::Cpu).build().unwrap();
        let there = Arc::new(Gpu::new(device));
        let mut both = Both {
            chosen,
            gpu: sorter(),
            cpu: sorter(),
            there,
            sorts: 0,
            wrong: vec![],
            start: Instant::now(),
        };
        for bits in [RANDOM.1, CROWDED.1] {
            both.compare_by_comparison(&keys::<u32>(20_000, bits)).unwrap();
            both.compare_by_comparison(&keys::<[u8; 64]>(2000, bits)).unwrap();
            both.compare_strings(&strings(3000, bits)).unwrap();
        }
        for (n, chunk) in [(1, 10), (10_001, 2500), (10_000, 2500)] {
            assert!(large::sorts(&both.there, n, chunk).unwrap(), "{n} by chunks of {chunk}");
        }
        assert_eq!((both.sorts, both.wrong), (2 * (3 + 3 + 2), Vec::<String>::new()));
    }
}
