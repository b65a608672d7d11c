//! `sortie doctor`: sorts on a GPU and on the CPU, input at random and input that is hard, and compares the bits.

use std::time::Instant;

use bytemuck::Pod;
use half::f16;
use rayon::prelude::*;
use sortie::{Engine, Key, Nans, Segments, Sorter, SorterBuilder};

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

/// Single arrays: of one block, of several, and of so many keys for each multiprocessor that they are distributed. The longest only
/// of some types.
const ARRAYS: [usize; 2] = [1000, 200_003];
const DISTRIBUTED: usize = (1 << 15) + 5;
const LONGEST_ARRAY: usize = 1 << 26;

/// Keys of each sort of segments, about.
const KEYS: usize = 1 << 19;

/// The bits of a key, of its place and 64 random bits.
type Bits = fn(u64, u64) -> u64;

/// What keys are made of.
const PATTERNS: [(&str, Bits); 6] = [
    ("random", |_, random| random),
    ("few", |_, random| (random % 5).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
    ("ascending", |i, _| i << 44 | i << 12 | i),
    ("descending", |i, _| !(i << 44 | i << 12 | i)),
    ("equal", |_, _| 0x7FC0_0000_7FC0_0001),
    ("crowded", |i, random| if i % 61 == 0 { u64::MAX } else { random >> 52 }),
];

/// Compares every kind of sort that has a GPU engine, and prints a table.
pub fn run(engine: Engine) -> Result<(), Failure> {
    let Engine::Cuda(ordinal) = engine else {
        return Err(Failure::new("the doctor looks at GPUs; give --engine cuda or cuda:N"));
    };
    // A table of nothing would only be in the way of why.
    let gpu = sortie::gpu::Gpu::cuda(ordinal)?;
    let distributed = gpu.device().properties().multiprocessors as usize * DISTRIBUTED;
    print(format!("{:<6} {:<11} {:<10} {:>6} {:>8}  \n", "keys", "order", "input", "sorts", "s").as_bytes())?;
    let mut checks: Vec<(Chosen, Check)> = Vec::new();
    for descending in [false, true] {
        for nans in [Nans::Last, Nans::First] {
            let chosen = Chosen { engine, descending, nans, distributed };
            let floats: [Check; 3] = [compare::<f32>, compare::<f64>, compare::<f16>];
            let integers: [Check; 4] = [compare::<u8>, compare::<i16>, compare::<u32>, compare::<i64>];
            checks.extend(floats.map(|check| (chosen, check)));
            if nans == Nans::Last {
                checks.extend(integers.map(|check| (chosen, check)));
            }
        }
    }
    // At the same time, for most of it is compiling.
    let mut wrong = checks.into_par_iter().map(|(chosen, check)| check(chosen)).sum::<Result<usize, _>>()?;
    // One after the other, for they take memory.
    let chosen = Chosen { engine, descending: false, nans: Nans::Last, distributed };
    wrong +=
        compare_longest::<u32>(chosen)? + compare_longest::<f32>(chosen)? + compare_longest::<i64>(chosen)?;
    match wrong {
        0 => print(b"all as on the CPU\n"),
        _ => Err(Failure::new(format!(
            "{wrong} sorts differ from the CPU's; do not trust this GPU, and report it"
        ))),
    }
}

/// Prints a line for each pattern, and returns how many sorts came out wrong.
type Check = fn(Chosen) -> Result<usize, Failure>;

#[derive(Clone, Copy)]
struct Chosen {
    engine: Engine,
    descending: bool,
    nans: Nans,
    /// Keys of an array that is distributed on this GPU.
    distributed: usize,
}

impl Chosen {
    fn sorter(self, engine: Engine) -> Result<Sorter, sortie::Error> {
        self.builder(engine).build()
    }

    fn builder(self, engine: Engine) -> SorterBuilder {
        Sorter::builder().engine(engine).descending(self.descending).nans(self.nans)
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

fn compare<K: Key + Pod>(chosen: Chosen) -> Result<usize, Failure> {
    let (mut wrong, mut lines) = (0, String::new());
    let key = name::<K>();
    for (pattern, bits) in PATTERNS {
        let mut both = Both::new(chosen)?;
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
        for n in ARRAYS.into_iter().chain([chosen.distributed]) {
            both.compare_arrays(&self::keys::<K>(n, bits))?;
        }
        lines += &both.line(key, pattern);
        wrong += both.wrong.len();
    }
    print(lines.as_bytes())?;
    Ok(wrong)
}

/// The longest array, of keys at random and of keys that crowd.
fn compare_longest<K: Key + Pod>(chosen: Chosen) -> Result<usize, Failure> {
    let (mut wrong, mut lines) = (0, String::new());
    for (pattern, bits) in PATTERNS.into_iter().filter(|(name, _)| matches!(*name, "random" | "crowded")) {
        let mut both = Both::new(chosen)?;
        both.compare_arrays(&keys::<K>(LONGEST_ARRAY, bits))?;
        lines += &both.line(name::<K>(), pattern);
        wrong += both.wrong.len();
    }
    print(lines.as_bytes())?;
    Ok(wrong)
}

fn name<K>() -> &'static str {
    std::any::type_name::<K>().rsplit("::").next().unwrap_or_default()
}

/// The engines, and what they were asked so far.
struct Both {
    chosen: Chosen,
    gpu: Sorter,
    cpu: Sorter,
    sorts: usize,
    wrong: Vec<String>,
    start: Instant,
}

impl Both {
    fn new(chosen: Chosen) -> Result<Both, sortie::Error> {
        Ok(Both {
            chosen,
            gpu: chosen.sorter(chosen.engine)?,
            cpu: chosen.sorter(Engine::Cpu)?,
            sorts: 0,
            wrong: Vec::new(),
            start: Instant::now(),
        })
    }

    /// Of the table.
    fn line(&self, key: &str, pattern: &str) -> String {
        let verdict = match self.wrong.is_empty() {
            true => "ok".into(),
            false => format!("WRONG: {}", self.wrong.join(", ")),
        };
        let (order, sorts, seconds) = (self.chosen.name(), self.sorts, self.start.elapsed().as_secs_f64());
        format!("{key:<6} {order:<11} {pattern:<10} {sorts:>6} {seconds:>8.2}  {verdict}\n")
    }

    /// One array: its keys alone, as pairs, stable and not, and as an argsort.
    fn compare_arrays<K: Key + Pod>(&mut self, keys: &[K]) -> Result<(), sortie::Error> {
        let n = keys.len();
        let (mut there, mut here) = (keys.to_vec(), keys.to_vec());
        let mut places: Vec<u32> = (0..n as u32).collect();
        let mut payload = places.clone();
        self.cpu.sort_pairs(&mut here, &mut places)?;
        self.gpu.sort(&mut there)?;
        self.note(bytes(&there) == bytes(&here), format!("one array of {n}"));
        there.copy_from_slice(keys);
        self.gpu.sort_pairs(&mut there, &mut payload)?;
        self.note(bytes(&there) == bytes(&here) && payload == places, format!("one array of {n} pairs"));
        there.copy_from_slice(keys);
        payload.iter_mut().zip(0..).for_each(|(place, i)| *place = i);
        self.chosen.builder(self.chosen.engine).unstable().build()?.sort_pairs(&mut there, &mut payload)?;
        let own = there
            .iter()
            .zip(&payload)
            .all(|(key, &place)| bytemuck::bytes_of(key) == bytemuck::bytes_of(&keys[place as usize]));
        payload.sort_unstable();
        let once = payload.iter().zip(0..).all(|(&place, i)| place == i);
        self.note(bytes(&there) == bytes(&here) && own && once, format!("one array of {n} pairs, unstable"));
        self.gpu.argsort(keys, &mut payload)?;
        self.note(payload == places, format!("argsort of one array of {n}"));
        Ok(())
    }

    /// Sorts the keys alone.
    fn compare<K: Key + Pod>(
        &mut self,
        keys: &[K],
        segments: Segments<'_>,
        what: &str,
    ) -> Result<(), sortie::Error> {
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
    ) -> Result<(), sortie::Error> {
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

/// `n` keys of a pattern.
fn keys<K: Pod>(n: usize, bits: Bits) -> Vec<K> {
    let mut state = 0u64;
    let mut random = || {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let keys = (0..n as u64).map(|i| bits(i, random()).to_le_bytes());
    keys.map(|bytes| bytemuck::pod_read_unaligned(&bytes[..size_of::<K>()])).collect()
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
