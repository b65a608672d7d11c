//! The inputs that the doctor sorts with both engines.

use std::sync::Arc;

use bytemuck::Pod;
use half::f16;
use rayon::prelude::*;
use sortie::gpu::Gpu;
use sortie::internals::{Sent, argsort_sent_strings};
use sortie::{Algorithm, Error, Key, Nans, Segments};

use super::{Board, Both, Chosen, devices, graph, large, mixed, rows, wide_indices};

/// Segment lengths at the limits of every kind of worker, and beyond what fits in a block.
const LENGTHS: [usize; 20] = [
    1, 2, 3, 8, 31, 50, 64, 65, 160, 161, 321, 1000, 1281, 4000, 5121, 10_000, 20_481, 32_769, 40_961,
    300_000,
];
/// Some lengths of each kind. For types whose kernels differ from others only in how a key is converted to a
/// code.
const SOME_LENGTHS: [usize; 8] = [2, 50, 65, 161, 1000, 5121, 20_481, 300_000];

/// The lengths of single arrays: one block and several blocks; and (`DISTRIBUTED`, for each multiprocessor) the length from which
/// keys are distributed to buckets.
const ARRAYS: [usize; 2] = [1000, 200_003];
const DISTRIBUTED: usize = (1 << 15) + 5;
/// Large enough for each thread to copy to the device on its own. The kernels are the same as for fewer keys.
const LONGEST_ARRAY: usize = 1 << 25;

/// Numbers of strings: one string, one block, several blocks.
const STRINGS: [usize; 5] = [1, 2, 1000, 7937, 200_003];

/// The approximate number of keys in each sort of segments.
const KEYS: usize = 1 << 19;

/// The number of keys to generate and check at a time.
const CHUNK: usize = 1 << 26;

/// Makes the bits of a key from its index and 64 random bits.
pub type Bits = fn(u64, u64) -> u64;

pub const RANDOM: Bits = |_, random| random;
pub const CROWDED: Bits = |i, random| if i % 61 == 0 { u64::MAX } else { random >> 52 };

/// The patterns of keys.
const PATTERNS: [(&str, Bits); 6] = [
    ("random", RANDOM),
    ("few", |_, random| (random % 5).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
    ("ascending", |i, _| i << 44 | i << 12 | i),
    ("descending", |i, _| !(i << 44 | i << 12 | i)),
    ("equal", |_, _| 0x7FC0_0000_7FC0_0001),
    ("crowded", CROWDED),
];
/// The patterns for sorts that take long.
const TWO_PATTERNS: [(&str, Bits); 2] = [PATTERNS[0], PATTERNS[5]];

/// A group of sorts that both engines do one after the other.
pub struct Case {
    pub group: usize,
    pub chosen: Chosen,
    pub sorts: Sorts,
}

type Sorts = Box<dyn Fn(&mut Both) -> Result<(), Error> + Send>;

/// All cases except [`large()`]. Those with the most kernels and keys come first. Descending integers, and floats with
/// NaNs first, use the same kernels as the opposite order with other constants, so some types test the one order and
/// some the other.
pub fn all(chosen: Chosen, multiprocessors: usize, board: &mut Board) -> Vec<Case> {
    let up = chosen;
    let down = Chosen { descending: true, ..up };
    let first = |chosen| Chosen { nans: Nans::First, ..chosen };
    let distributed = multiprocessors * DISTRIBUTED;
    let (mut arrays, mut segments, mut small) = (Vec::new(), Vec::new(), Vec::new());
    let mut family = |family: Family, chosen: Chosen| {
        let Family { name, array, between_offsets, of_length, lengths } = family;
        let group = board.group(name, chosen.name(), 2 + lengths.len());
        let case = |sorts| Case { group, chosen, sorts };
        arrays.push(case(array(distributed)));
        segments.push(case(between_offsets()));
        small.extend(lengths.iter().rev().map(|&length| case(of_length(length))));
    };
    family(Family::of::<f32>(&LENGTHS), up);
    family(Family::of::<i64>(&LENGTHS), down);
    family(Family::of::<f32>(&SOME_LENGTHS), first(down));
    family(Family::of::<f64>(&SOME_LENGTHS), first(up));
    family(Family::of::<f64>(&SOME_LENGTHS), down);
    family(Family::of::<f16>(&SOME_LENGTHS), up);
    family(Family::of::<f16>(&SOME_LENGTHS), first(down));
    family(Family::of::<u8>(&SOME_LENGTHS), up);
    family(Family::of::<i16>(&SOME_LENGTHS), down);
    family(Family::of::<u32>(&SOME_LENGTHS), up);

    let mut one = |key, sorted, chosen, sorts| {
        let group = board.group(key, sorted, 1);
        Case { group, chosen, sorts }
    };
    let peaks = [up, down].map(|chosen| one("f64", "peaks", chosen, pairs_between_offsets::<f64>()));
    let wide = [
        one("u128", "segments", up, wide_segments::<u128>()),
        one("i128", "segments", down, wide_segments::<i128>()),
    ];
    let indices =
        [one("f32", "indices", up, indices::<f32>()), one("i64", "indices", down, indices::<i64>())];
    arrays.push(one("f32", "selections", up, selections::<f32>(distributed)));
    arrays.push(one("i64", "selections", down, selections::<i64>(distributed)));
    arrays.push(one("f16", "selections", first(down), selections::<f16>(distributed)));
    arrays.push(one("u32", "rows", up, rows_of(vec![1000, distributed])));
    arrays.push(one("u32", "indices of 64 bits", up, wide_indices_of(vec![1000, distributed])));
    arrays.push(one("strings", "few", up, strings_of(STRINGS.to_vec(), &PATTERNS)));
    arrays.push(one("strings", "many", up, strings_of(vec![distributed], &TWO_PATTERNS)));
    arrays.push(one("u64", "graph", up, captured(distributed)));
    // These come last, when their kernels are already compiled.
    let longest = [one("u32", "longest", up, longest::<u32>()), one("i64", "longest", up, longest::<i64>())];
    let others = peaks.into_iter().chain(wide).chain(indices);
    arrays.into_iter().chain(segments).chain(others).chain(small).chain(longest).collect()
}

/// An array of more keys than 32 bits can count.
pub fn large(chosen: Chosen, board: &mut Board) -> Case {
    let sorts: Sorts = Box::new(|both| {
        let sorted = large::sorts(&both.there, large::KEYS, CHUNK)?;
        both.note(sorted, format!("one array of {}", large::KEYS));
        Ok(())
    });
    Case { group: board.group("u32", "large", 1), chosen, sorts }
}

/// Arrays that several GPUs sort together.
pub fn together(chosen: Chosen, gpus: Vec<Arc<Gpu>>, board: &mut Board) -> Case {
    let sorts: Sorts = Box::new(move |both| {
        for n in [1000, 1 << 22] {
            let sorted = devices::sort(&gpus, n)?;
            both.note(sorted, format!("one array of {n} keys on each of {} GPUs", gpus.len()));
        }
        Ok(())
    });
    Case { group: board.group("u64", "together", 1), chosen, sorts }
}

/// A captured sort that is replayed.
fn captured(n: usize) -> Sorts {
    Box::new(move |both| {
        let sorted = graph::sorts(&both.there, n)?;
        both.note(sorted, format!("a graph of a sort of {n}"));
        Ok(())
    })
}

/// Selections from keys in GPU memory.
fn selections<K: Key + Pod>(distributed: usize) -> Sorts {
    Box::new(move |both| {
        each_pattern(both, &PATTERNS, |both, bits| {
            [1000, distributed].iter().try_for_each(|&n| both.compare_selections(&keys::<K>(n, bits)))
        })
    })
}

/// Payloads whose size is too unusual to be moved together with the keys.
fn rows_of(numbers: Vec<usize>) -> Sorts {
    Box::new(move |both| {
        numbers.iter().try_for_each(|&n| {
            let sorted = rows::sorts(&both.there, n)?;
            both.note(sorted, format!("{n} pairs with payloads of 12 bytes"));
            Ok(())
        })
    })
}

/// Indices wider than those of host arrays.
fn wide_indices_of(numbers: Vec<usize>) -> Sorts {
    Box::new(move |both| {
        numbers.iter().try_for_each(|&n| {
            let sorted = wide_indices::sorts(&both.there, n)?;
            both.note(sorted, format!("{n} indices of 64 bits"));
            Ok(())
        })
    })
}

/// The sorts of keys of one type.
struct Family {
    name: &'static str,
    /// Makes the sorts of single arrays. The argument is the length of the longest.
    array: fn(usize) -> Sorts,
    between_offsets: fn() -> Sorts,
    of_length: fn(usize) -> Sorts,
    lengths: &'static [usize],
}

impl Family {
    fn of<K: Key + Pod>(lengths: &'static [usize]) -> Family {
        Family {
            name: std::any::type_name::<K>().rsplit("::").next().unwrap_or_default(),
            array: arrays::<K>,
            between_offsets: between_offsets::<K>,
            of_length: of_length::<K>,
            lengths,
        }
    }
}

fn arrays<K: Key + Pod>(distributed: usize) -> Sorts {
    Box::new(move |both| {
        each_pattern(both, &PATTERNS, |both, bits| {
            let mut lengths = ARRAYS.into_iter().chain([distributed]);
            lengths.try_for_each(|n| both.compare_arrays(&keys::<K>(n, bits)))
        })
    })
}

fn longest<K: Key + Pod>() -> Sorts {
    Box::new(|both| {
        each_pattern(both, &TWO_PATTERNS, |both, bits| both.compare_arrays(&keys::<K>(LONGEST_ARRAY, bits)))
    })
}

fn of_length<K: Key + Pod>(length: usize) -> Sorts {
    Box::new(move |both| {
        each_pattern(both, &PATTERNS, |both, bits| {
            let keys = keys::<K>(KEYS.next_multiple_of(length), bits);
            both.compare_segments(&keys, Segments::Length(length), &format!("segments of {length}"))
        })
    })
}

fn between_offsets<K: Key + Pod>() -> Sorts {
    Box::new(|both| {
        let offsets = ragged(KEYS);
        each_pattern(both, &PATTERNS, |both, bits| {
            let segments = Segments::Offsets(&offsets);
            both.compare_segments(&keys::<K>(KEYS, bits), segments, "segments between offsets")
        })
    })
}

fn pairs_between_offsets<K: Key + Pod>() -> Sorts {
    Box::new(|both| {
        let offsets = ragged(KEYS);
        each_pattern(both, &PATTERNS, |both, bits| {
            both.compare_pairs(&keys::<K>(KEYS, bits), Segments::Offsets(&offsets))
        })
    })
}

/// Segments of 128-bit keys. These keys are sorted on the GPU only in segments.
fn wide_segments<K: Key + Pod>() -> Sorts {
    Box::new(|both| {
        let offsets = ragged(KEYS);
        each_pattern(both, &PATTERNS, |both, bits| {
            let keys = keys::<K>(KEYS, bits);
            both.compare_segments(&keys, Segments::Offsets(&offsets), "segments between offsets")?;
            both.compare_pairs(&keys, Segments::Offsets(&offsets))?;
            SOME_LENGTHS.iter().try_for_each(|&length| {
                let keys = &keys[..KEYS / length * length];
                both.compare_segments(keys, Segments::Length(length), &format!("segments of {length}"))
            })
        })
    })
}

/// Argsorts of segments.
fn indices<K: Key + Pod>() -> Sorts {
    Box::new(|both| {
        let offsets = ragged(KEYS);
        each_pattern(both, &PATTERNS, |both, bits| {
            let keys = keys::<K>(KEYS, bits);
            both.compare_indices(&keys, Segments::Offsets(&offsets))?;
            SOME_LENGTHS.iter().try_for_each(|&length| {
                both.compare_indices(&keys[..KEYS / length * length], Segments::Length(length))
            })
        })
    })
}

fn strings_of(numbers: Vec<usize>, patterns: &'static [(&str, Bits)]) -> Sorts {
    Box::new(move |both| {
        each_pattern(both, patterns, |both, bits| {
            numbers.iter().try_for_each(|&n| both.compare_strings(&strings(n, bits)))
        })
    })
}

/// Runs `sort` with each pattern, and adds the name of the pattern to the report of a failed comparison.
fn each_pattern(
    both: &mut Both,
    patterns: &[(&str, Bits)],
    sort: impl Fn(&mut Both, Bits) -> Result<(), Error>,
) -> Result<(), Error> {
    for &(pattern, bits) in patterns {
        let known = both.wrong.len();
        sort(both, bits)?;
        both.wrong[known..].iter_mut().for_each(|what| *what += &format!(" ({pattern})"));
    }
    Ok(())
}

impl Both {
    /// Sorts one array in three ways: keys alone, keys alone with a bitonic network (which serves when memory is
    /// short), and an argsort.
    fn compare_arrays<K: Key + Pod>(&mut self, keys: &[K]) -> Result<(), Error> {
        let n = keys.len();
        let (mut there, mut here) = (keys.to_vec(), keys.to_vec());
        let mut places: Vec<u32> = (0..n as u32).collect();
        let mut found = places.clone();
        self.cpu.sort_pairs(&mut here, &mut places)?;
        self.gpu.sort(&mut there)?;
        self.note(bytes(&there) == bytes(&here), format!("one array of {n}"));
        there.copy_from_slice(keys);
        self.chosen.on_gpu().algorithm(Algorithm::Bitonic).build()?.sort(&mut there)?;
        self.note(bytes(&there) == bytes(&here), format!("one array of {n}, bitonic"));
        self.gpu.argsort(keys, &mut found)?;
        self.note(found == places, format!("argsort of one array of {n}"));
        Ok(())
    }

    fn compare_segments<K: Key + Pod>(
        &mut self,
        keys: &[K],
        segments: Segments<'_>,
        what: &str,
    ) -> Result<(), Error> {
        let (mut there, mut here) = (keys.to_vec(), keys.to_vec());
        self.gpu.sort_segments(&mut there, segments)?;
        self.cpu.sort_segments(&mut here, segments)?;
        self.note(bytes(&there) == bytes(&here), what.into());
        Ok(())
    }

    /// Segments of keys with payloads of 4 bytes.
    fn compare_pairs<K: Key + Pod>(&mut self, keys: &[K], segments: Segments<'_>) -> Result<(), Error> {
        let payload: Vec<u32> = (0..keys.len() as u32).collect();
        let (mut there, mut here) = ((keys.to_vec(), payload.clone()), (keys.to_vec(), payload));
        self.gpu.sort_pairs_segments(&mut there.0, &mut there.1, segments)?;
        self.cpu.sort_pairs_segments(&mut here.0, &mut here.1, segments)?;
        let same = bytes(&there.0) == bytes(&here.0) && there.1 == here.1;
        self.note(same, "segments of pairs between offsets".into());
        Ok(())
    }

    fn compare_indices<K: Key + Pod>(&mut self, keys: &[K], segments: Segments<'_>) -> Result<(), Error> {
        let (mut there, mut here) = (vec![0u32; keys.len()], vec![0u32; keys.len()]);
        self.gpu.argsort_segments(keys, &mut there, segments)?;
        self.cpu.argsort_segments(keys, &mut here, segments)?;
        self.note(there == here, "argsort of segments".into());
        Ok(())
    }

    /// An argsort of strings, in both ways of copying them to a GPU.
    pub fn compare_strings(&mut self, strings: &[Vec<u8>]) -> Result<(), Error> {
        let mut here = vec![0u32; strings.len()];
        self.cpu.argsort_strings(strings, &mut here)?;
        let mut found = here.clone();
        for (sent, name) in [(Sent::Whole, "whole"), (Sent::Cut, "cut")] {
            found.fill(0);
            argsort_sent_strings(&self.there, strings, sent, &mut found)?;
            self.note(found == here, format!("argsort of {} {name} strings", strings.len()));
        }
        Ok(())
    }
}

fn bytes<T: Pod>(slice: &[T]) -> &[u8] {
    bytemuck::cast_slice(slice)
}

/// `n` keys of a pattern.
pub fn keys<K: Pod + Send>(n: usize, bits: Bits) -> Vec<K> {
    let key = |i| {
        let low = bits(i, mixed(i));
        // The halves of 128-bit keys differ, so that keys may be equal in one half only.
        bytemuck::pod_read_unaligned(&bytes(&[low, low >> 61])[..size_of::<K>()])
    };
    (0..n as u64).into_par_iter().map(key).collect()
}

/// `n` strings of a pattern: up to 16 of its hexadecimal digits. Some have a long prefix that others share.
pub fn strings(n: usize, bits: Bits) -> Vec<Vec<u8>> {
    let string = |i| {
        let bits = bits(i, mixed(i));
        let shared = "a beginning that many have ".repeat((bits % 4) as usize);
        let digits = format!("{bits:016x}");
        (shared + &digits[..(bits >> 7) as usize % 17]).into_bytes()
    };
    (0..n as u64).into_par_iter().map(string).collect()
}

/// Offsets of segments whose lengths start from 0 and grow by a third each, repeatedly.
fn ragged(n: usize) -> Vec<usize> {
    let mut offsets = vec![3, 3];
    let mut length = 1;
    while offsets[offsets.len() - 1] + length <= n {
        offsets.push(offsets[offsets.len() - 1] + length);
        length = if length > 100_000 { 1 } else { length + length / 3 + 1 };
    }
    offsets
}
