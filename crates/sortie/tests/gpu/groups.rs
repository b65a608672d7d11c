//! Groups of equal keys among sorted ones.

use std::fmt::Debug;

use bytemuck::Pod;
use half::f16;
use sortie::gpu::{DeviceGroups, Equality, Gpu};
use sortie::{Error, Index, Key, Sorter};
use sortie_simt::Options;

use crate::support::{PATTERNS, cut, keys, on_bench, on_each};

/// What the groups of sorted keys have.
#[derive(Debug, PartialEq)]
struct Found<K> {
    keys: Vec<K>,
    counts: Vec<usize>,
    first: Vec<usize>,
    inverse: Vec<usize>,
}

/// Sorts keys with their indices on the GPU, and finds what their groups have.
fn found<K: Key + Pod, I: Index + Pod>(gpu: &Gpu, keys: &[K], equality: Equality) -> Found<K> {
    let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
    let sorter = Sorter::builder().build().unwrap();
    let (mut sorted, mut order) = (keys.to_vec(), (0..keys.len()).map(I::from_usize).collect::<Vec<_>>());
    sorter.sort_pairs(&mut sorted, &mut order).unwrap();
    let there = device.alloc::<K>(keys.len()).unwrap();
    stream.copy_in(there.view(), &sorted).unwrap();
    let indices = device.alloc::<I>(keys.len()).unwrap();
    stream.copy_in(indices.view(), &order).unwrap();
    let table = device.alloc::<u64>(gpu.group_table_words(keys.len())).unwrap();
    // SAFETY: nothing else uses them until the search is done.
    unsafe { gpu.find_groups(&stream, there.view(), equality, table.view()) }.unwrap().wait().unwrap();
    let mut groups = [u64::MAX];
    stream.copy_out(&mut groups, table.range(0..1)).unwrap();
    let groups = groups[0] as usize;

    let distinct = device.alloc::<K>(groups).unwrap();
    let (counts, first) = (device.alloc::<I>(groups).unwrap(), device.alloc::<I>(groups).unwrap());
    let inverse = device.alloc::<I>(keys.len()).unwrap();
    let to = DeviceGroups {
        keys: Some(distinct.view()),
        counts: Some(counts.view()),
        first: Some(first.view()),
        inverse: Some(inverse.view()),
        indices: Some(indices.view()),
    };
    // SAFETY: nothing else uses them until all is written, and the table is that of these keys.
    unsafe { gpu.write_groups(&stream, there.view(), equality, table.view(), to) }.unwrap().wait().unwrap();
    let numbers = |from: sortie_device::View<'_, I>| {
        let mut numbers = vec![I::default(); from.len()];
        stream.copy_out(&mut numbers, from).unwrap();
        numbers.into_iter().map(Index::to_usize).collect::<Vec<_>>()
    };
    let mut of_groups = sorted[..groups].to_vec();
    stream.copy_out(&mut of_groups, distinct.view()).unwrap();
    let found = Found {
        keys: of_groups,
        counts: numbers(counts.view()),
        first: numbers(first.view()),
        inverse: numbers(inverse.view()),
    };

    // Without what each key is in, tiles without heads are not read.
    let to = DeviceGroups { first: None, inverse: None, indices: None, ..to };
    stream.fill(counts.view().cast::<u8>(), 0xFF).unwrap();
    // SAFETY: as above.
    unsafe { gpu.write_groups(&stream, there.view(), equality, table.view(), to) }.unwrap().wait().unwrap();
    assert_eq!(numbers(counts.view()), found.counts);
    found
}

/// Compares with the CPU engine, whose keys are equal if their bits are.
fn check<K: Key + Pod + Debug + PartialEq, I: Index + Pod>(gpu: &Gpu, keys: &[K]) {
    let sorter = Sorter::builder().build().unwrap();
    let groups = sorter.unique_groups::<K, usize>(keys).unwrap().0;
    let expected = Found {
        keys: groups.first.iter().map(|&index| keys[index]).collect(),
        counts: groups.counts,
        first: groups.first,
        inverse: groups.inverse,
    };
    let found = found::<K, I>(gpu, keys, Equality::Bits);
    assert!(
        found == expected,
        "{} keys of {} bytes in {} groups",
        keys.len(),
        size_of::<K>(),
        expected.keys.len()
    );
}

#[test]
fn groups_are_those_of_the_cpu() {
    on_each(|gpu| {
        for (pattern, n) in PATTERNS.iter().zip([9_000, 4_096, 4_097, 40_000, 1, 20_000, 0]) {
            let wide = keys(pattern, n, 3);
            check::<u32, u32>(gpu, &cut(&wide));
            check::<i64, u64>(gpu, &cut(&wide));
            check::<u16, u32>(gpu, &cut(&wide));
            check::<u8, u64>(gpu, &cut(&wide));
        }
    });
}

/// Groups that end anywhere: within a row, a warp's part or a tile, and those that fill many tiles.
#[test]
fn groups_of_any_length_are_found() {
    on_bench(Options::default(), |gpu| {
        let mut random = fastrand::Rng::with_seed(7);
        for longest in [1usize, 3, 40, 1_500, 9_000, 70_000] {
            let mut keys = Vec::new();
            for key in 0.. {
                keys.extend(std::iter::repeat_n(key as u32, random.usize(1..=longest)));
                if keys.len() > 50_000 + longest {
                    break;
                }
            }
            check::<u32, u32>(gpu, &keys);
        }
    });
}

/// More tiles than threads that sum them.
#[test]
fn many_tiles_are_summed() {
    let test = |gpu: &Gpu| {
        let n = (1 << 22) + (1 << 14) + 5;
        check::<u8, u32>(gpu, &(0..n).map(|i| (i % 3 * 100) as u8).collect::<Vec<_>>());
    };
    on_bench(Options { sanitizer: sortie_simt::Sanitizer::None, ..Options::default() }, test);
}

#[test]
fn floats_are_equal_by_value_or_by_bits() {
    on_each(|gpu| {
        let nans = [f64::NAN, -f64::NAN, f64::from_bits(0x7FF8_0000_0000_0001)];
        let keys = [&[2.0, -0.0, 0.0, f64::INFINITY, -0.0][..], &nans, &[2.0]].concat();
        // All NaNs are last in the order of the engine.
        let counts = |equality| found::<f64, u32>(gpu, &keys, equality).counts;
        assert_eq!(counts(Equality::Values), [3, 2, 1, 3]);
        assert_eq!(counts(Equality::ValuesButNans), [3, 2, 1, 1, 1, 1]);
        assert_eq!(found::<f16, u32>(gpu, &[f16::NAN; 5], Equality::ValuesButNans).counts, [1; 5]);
        assert_eq!(found::<f32, u32>(gpu, &[f32::INFINITY; 3], Equality::ValuesButNans).counts, [3]);
    });
}

#[test]
fn results_that_do_not_fit_are_refused() {
    on_bench(Options::default(), |gpu| {
        let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
        let keys = device.alloc::<u32>(10).unwrap();
        let table = device.alloc::<u64>(3).unwrap();
        // SAFETY: nothing is enqueued.
        let find = |words| unsafe {
            gpu.find_groups(&stream, keys.view(), Equality::Bits, table.range(0..words)).map(drop)
        };
        assert!(matches!(find(2), Err(Error::LengthMismatch { .. })));
        let write = |to: DeviceGroups<'_, u32, u32>| unsafe {
            gpu.write_groups(&stream, keys.view(), Equality::Bits, table.view(), to).map(drop)
        };
        let none = DeviceGroups::default();
        let (two, three) = (Some(keys.range(0..2)), Some(keys.range(2..5)));
        assert!(matches!(
            write(DeviceGroups { keys: two, counts: three, ..none }),
            Err(Error::LengthMismatch { .. })
        ));
        assert!(matches!(write(DeviceGroups { inverse: two, ..none }), Err(Error::LengthMismatch { .. })));
        let error = write(DeviceGroups { first: two, ..none }).unwrap_err().to_string();
        assert!(error.contains("give them too"), "{error}");
        let wide = device.alloc::<u128>(1).unwrap();
        // SAFETY: nothing is enqueued.
        let refused =
            unsafe { gpu.find_groups(&stream, wide.view(), Equality::Bits, table.view()).map(drop) };
        assert!(matches!(refused, Err(Error::Unsupported(_))));
    });
}
