use std::cell::RefCell;

use sortie_simt::{Options, or_skip};

use super::*;
use crate::compose::tuning::HYBRID_SAMPLE;
use crate::cpu::distribute;
use crate::cpu::vector::Isa;
use crate::gpu::on_bench::{ALLOWED, code, on_bench, on_bench_of};
use crate::{Key, Order, Sorter, key};

/// Sorts keys with payloads that detect loss and duplication, and compares with the CPU.
fn compare<K: Key + Copy>(gpu: &Gpu, keys: &[K], order: Order, share: f64) -> Option<Report> {
    let n = keys.len();
    let transform = Transform::new(code::<K>(), order);
    let builder = Sorter::builder().threads(1).descending(order.descending);
    let (mut expected, mut indices) = (keys.to_vec(), (0..n as u32).collect::<Vec<_>>());
    builder.build().unwrap().sort_pairs(&mut expected, &mut indices).unwrap();
    let expected = key::as_bits(&expected);

    let mut sorted = key::as_bits(keys).to_vec();
    let alone = sort(gpu, &mut sorted, None, transform, share, ALLOWED).unwrap();
    let unchanged = key::as_bits(keys);
    assert!(sorted == if alone.is_some() { expected } else { unchanged }, "{n} keys, {order:?}, {share}");

    for stable in [true, false] {
        let mut sorted = unchanged.to_vec();
        let mut boxes: Vec<Box<u32>> = (0..n as u32).map(Box::new).collect();
        // SAFETY: the sort leaves a permutation of the boxes.
        let payload = unsafe { HostPayload::of(&mut boxes) }.map(|payload| (payload, stable));
        let pairs = sort(gpu, &mut sorted, payload, transform, share, ALLOWED).unwrap();
        assert_eq!(pairs.is_some(), alone.is_some());
        if pairs.is_none() {
            assert!(sorted == unchanged && boxes.iter().map(|index| **index).eq(0..n as u32));
            continue;
        }
        assert!(sorted == expected, "{n} pairs, {order:?}, {share}");
        let found: Vec<u32> = boxes.iter().map(|index| **index).collect();
        if stable {
            assert!(found == indices, "{n} payloads, {order:?}, {share}");
        } else {
            let keys_found = found.iter().map(|&index| unchanged[index as usize]);
            assert!(keys_found.eq(sorted.iter().copied()), "{n} payloads, {order:?}, {share}");
        }
    }
    alone
}

#[test]
fn both_sort_as_the_cpu_does() {
    on_bench(|gpu| {
        let mut random = fastrand::Rng::with_seed(1);
        let by_both = |report: Option<Report>| {
            let report = report.expect("the keys are even");
            let names: Vec<_> = report.phases.iter().map(|phase| phase.name).collect();
            assert_eq!(names, ["profile", "distribute", "finish"]);
            let [cpu, gpu] = report.idle().unwrap();
            assert!((0.0..1.0).contains(&cpu) && (0.0..1.0).contains(&gpu), "{report}");
        };
        for descending in [false, true] {
            let order = Order { descending, ..Order::default() };
            for share in [0.3, 0.8, 0.97] {
                by_both(compare(
                    gpu,
                    &(0..100_000).map(|_| random.u64(..)).collect::<Vec<_>>(),
                    order,
                    share,
                ));
            }
            let some = (0..120_000).map(|_| random.i32(-9999..9999)).collect::<Vec<_>>();
            by_both(compare(gpu, &some, order, 0.7));
            let floats = (0..50_000).map(|_| f32::from_bits(random.u32(..))).collect::<Vec<_>>();
            by_both(compare(gpu, &floats, order, 0.5));
        }
        // Sorted in stretches, each of which belongs to one engine as a whole.
        let buckets = (0..100_000u32).map(|i| i / 5000 * 7919 % 20 * 1_000_000 + random.u32(..1_000_000));
        by_both(compare(gpu, &buckets.collect::<Vec<_>>(), Order::default(), 0.6));
    });
}

#[test]
fn what_one_engine_does_better_is_left_to_it() {
    on_bench(|gpu| {
        let order = Order::default();
        // All keys are the greatest one, or in a few of the CPU's buckets.
        let mut random = fastrand::Rng::with_seed(1);
        let mut most_equal = vec![u32::MAX; 50_000];
        most_equal[7] = 1;
        assert!(compare(gpu, &most_equal, order, 0.7).is_none());
        let few = (0..50_000).map(|_| random.u32(..3)).collect::<Vec<_>>();
        assert!(compare(gpu, &few, order, 0.5).is_none());
        let heavy = (0..50_000).map(|_| if random.bool() { 1 << 31 } else { random.u32(..) });
        compare(gpu, &heavy.collect::<Vec<_>>(), order, 0.6);
    });
}

#[test]
fn too_little_memory_is_left_to_one_engine() {
    on_bench_of(Options { memory: 1 << 20, ..Options::default() }, |gpu| {
        let descending = (0..200_000u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect::<Vec<_>>();
        assert!(compare(gpu, &descending, Order::default(), 0.7).is_none());
    });
    on_bench(|gpu| {
        let before = (0..50_000u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect::<Vec<_>>();
        let sorted_with = |memory_limit| {
            let (mut keys, transform) = (before.clone(), Transform::new(code::<u64>(), Order::default()));
            let allowed = Allowed { memory_limit, ..ALLOWED };
            let report = sort(gpu, &mut keys, None, transform, 0.7, allowed).unwrap();
            assert!(if report.is_some() { keys.is_sorted() } else { keys == before });
            report.map(|report| report.scratch_peak)
        };
        let needed = sorted_with(u64::MAX).unwrap();
        assert_eq!(sorted_with(needed), Some(needed));
        assert_eq!(sorted_with(needed - 1), None);
    });
}

/// The sample misrepresents all keys that it does not contain.
#[test]
fn a_sample_far_from_the_truth_is_noticed() {
    on_bench(|gpu| {
        let n = 400_000;
        for others in [0, u32::MAX] {
            let mut keys = vec![others; n];
            // Which keys are sampled depends on the keys from which the seed is computed. These are not changed.
            let looked_at = RefCell::new(Vec::new());
            let look = |index: usize| {
                looked_at.borrow_mut().push(index);
                others
            };
            distribute::sample(n, look, HYBRID_SAMPLE, Isa::detect());
            let looked_at = looked_at.into_inner();
            let (seeding, sampled) = looked_at.split_at(looked_at.len() - HYBRID_SAMPLE);
            for (i, index) in sampled.iter().enumerate().filter(|(_, index)| !seeding.contains(index)) {
                keys[*index] = (1 + i as u32) << 8;
            }
            assert!(compare(gpu, &keys, Order::default(), 0.5).is_none());
        }
    });
}

/// Each copy, fill and launch fails once.
#[test]
fn whatever_fails_loses_no_payload() {
    let before: Vec<u32> = (0..20_000u32).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
    let mut in_order = before.clone();
    in_order.sort_unstable();
    let (mut untouched, mut unspecified) = (0, 0);
    for failing in 0.. {
        let Some(device) =
            or_skip(sortie_simt::device(Options { failing: Some(failing), ..Options::default() }))
        else {
            return;
        };
        let (gpu, mut keys) = (Gpu::new(device), before.clone());
        let mut boxes: Vec<Box<u32>> = before.iter().copied().map(Box::new).collect();
        // SAFETY: the sort leaves a permutation of the boxes.
        let payload = unsafe { HostPayload::of(&mut boxes) }.map(|payload| (payload, true));
        let transform = Transform::new(code::<u32>(), Order::default());
        let result = sort(&gpu, &mut keys, payload, transform, 0.7, ALLOWED);
        let payloads: Vec<u32> = boxes.iter().map(|payload| **payload).collect();
        if let Ok(report) = result {
            assert!(report.is_some() && keys == in_order && payloads == in_order);
            // The time at which other threads write is not deterministic.
            assert!(untouched > 10 && untouched + unspecified > 20, "{untouched} and {unspecified} points");
            return;
        }
        assert!(payloads == before, "point {failing}");
        if keys == before { untouched += 1 } else { unspecified += 1 }
    }
}
