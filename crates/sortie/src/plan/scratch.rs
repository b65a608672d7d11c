//! The most scratch that a plan for the CPU takes. For plans for GPUs, see `on_gpus/scratch.rs`.

use std::num::Saturating;

use crate::cpu::tuning::{MERGED_BY_THREADS, PACKED_BY_THREADS, PAIRS_A_BUCKET, PAIRS_AT_ONCE};
use crate::cpu::{compare, counting, digits, distribute, pairs, segment_pairs, select, top};
use crate::request::{Beside, Budget, KeyForm, Operation, Request};
use crate::ways::{CpuWay, Scratch};

/// A number of bytes, or of items. Saturates: a [`Request`] may state more than any memory holds.
pub(super) type Count = Saturating<u64>;

pub(super) fn count(items: usize) -> Count {
    Saturating(items as u64)
}

/// For the CPU engine.
pub(super) fn on_cpu(request: &Request) -> Scratch {
    let (all, threads) = (count(request.n), count(request.budget.threads));
    let n = match &request.operation {
        // Counting all segments as one would give more.
        Operation::Segments(Some(lengths)) => (Saturating(lengths.longest) * threads).min(all),
        _ => all,
    };
    let way = CpuWay::of(request);
    let of_merge = |bytes: Count| Saturating(compare::scratch(bytes.0, request.budget.threads));
    let (word, index) = (count(size_of::<u64>()), count(size_of::<usize>()));
    let narrow_index = if n.0 <= u64::from(u32::MAX) { count(size_of::<u32>()) } else { index };
    let beside = count(request.bytes_beside());
    // Keys that are sorted at once; in segments, by each thread.
    let at_once = match &request.operation {
        Operation::Segments(Some(lengths)) if lengths.longest <= PAIRS_AT_ONCE as u64 => n,
        Operation::Segments(_) => n.min(count(threads.0 as usize * PAIRS_AT_ONCE)),
        _ if n.0 <= PAIRS_AT_ONCE as u64 => n,
        _ => count(0),
    };
    let key = if let KeyForm::Number { bytes, .. } = request.keys { bytes } else { size_of::<u64>() };
    let words = count(pairs::words(1, key)) * at_once;
    let segments = matches!(request.operation, Operation::Segments(_));
    // For segments of up to `PAIRS_A_BUCKET` keys.
    let room =
        if segments { threads * count(segment_pairs::room_bytes(key) * PAIRS_A_BUCKET) } else { count(0) };
    let argsort = |bytes| {
        (n * (count(bytes) + narrow_index))
            .max(words)
            .max(packed(n, bytes, request))
            .max(by_digits(n, bytes, request))
    };
    let bytes = match (request.keys, way) {
        (keys, CpuWay::Select) => selection(keys, request),
        (KeyForm::Number { bytes, .. }, CpuWay::Merge) => match request.beside {
            Beside::Nothing if segments => of_merge(all * count(bytes)),
            Beside::Nothing => of_merge(n * count(bytes)),
            Beside::Payload { .. } => n * index + of_merge(n * index),
            Beside::Indices { .. } => of_merge(n * index),
        },
        (KeyForm::Number { bytes, .. }, _) => match request.beside {
            Beside::Nothing => buffers(n * count(bytes), request).max(of_runs(n * count(bytes), request)),
            // Keys cannot be recovered from their codes, so indices are sorted.
            Beside::Payload { .. } if request.ties_nans() => n * index + argsort(bytes),
            Beside::Payload { .. } => {
                // The words of a tail take as much as pairs of two bytes.
                let pairs = n * (count(bytes) + beside).max(count(2));
                pairs + words + counters(request)
            }
            Beside::Indices { .. } => argsort(bytes),
        },
        (KeyForm::Strings, CpuWay::Distribute) => n * (word + word + beside),
        (KeyForm::Strings, _) => of_merge(n * beside),
        (KeyForm::Compound { bytes }, CpuWay::Merge) if request.beside.is_nothing() => {
            of_merge(all * count(bytes))
        }
        (KeyForm::Compound { .. }, CpuWay::Distribute) => {
            let indices = if request.beside.is_indices() { count(0) } else { n * index };
            let (order, ties) = (argsort(size_of::<u64>()), of_merge(n * index));
            indices + n * word + if segments { order + ties } else { order.max(ties) }
        }
        (KeyForm::Compound { .. }, CpuWay::Merge) => n * index + of_merge(n * index),
        (KeyForm::Compound { bytes }, CpuWay::Quicksort) if request.beside.is_nothing() && !segments => {
            of_runs(n * count(bytes), request).max(counters(request))
        }
        (KeyForm::Compound { .. }, CpuWay::Quicksort) if request.beside.is_nothing() => counters(request),
        (KeyForm::Compound { .. }, CpuWay::Quicksort) => n * index,
        (KeyForm::Compared, CpuWay::Quicksort) => count(0),
        (KeyForm::Compared, _) => of_merge(n * beside),
    };
    Scratch { host: (Saturating(request.budget.held) + bytes + room).0, device: 0 }
}

/// For a selection.
fn selection(keys: KeyForm, request: &Request) -> Count {
    let (code, are_whole) = match keys {
        KeyForm::Number { bytes, .. } => (bytes.clamp(size_of::<u16>(), size_of::<u64>()), bytes <= 8),
        _ => (size_of::<u64>(), false),
    };
    let (n, threads) = (request.n, request.budget.threads);
    let k = match request.operation {
        Operation::TopK { k, .. } => k,
        Operation::Nth { count } => return nth(keys, count, request),
        _ => return count(0),
    };
    if request.beside.is_nothing() {
        let result = count(k) * count(code);
        let sort = buffers(result, request).max(of_runs(result, request));
        return count(top::scratch_of_codes(n, k, code, threads)).max(sort);
    }
    count(top::scratch(n, k, code, are_whole, threads))
}

/// For keys at some indices of the order.
fn nth(keys: KeyForm, bands: usize, request: &Request) -> Count {
    let (code, are_whole) = match keys {
        KeyForm::Number { bytes, .. } => (bytes.max(size_of::<u16>()), true),
        _ => (size_of::<u64>(), false),
    };
    let (n, threads) = (request.n, request.budget.threads);
    let found = count(select::scratch(n, bands, code, are_whole, threads));
    if bands <= select::BANDS {
        return found;
    }
    // A copy is sorted.
    let (copy, codes) = (count(n) * count(code), KeyForm::Number { bytes: code, float: false });
    let held = Budget { held: request.budget.held.saturating_add(copy.0), ..request.budget };
    let sort = Request { keys: codes, budget: held, ..request.clone() };
    found.max(copy + buffers(copy, &sort).max(of_runs(copy, &sort)))
}

/// For keys alone with long runs, which are merged if the limit has room for that.
fn of_runs(bytes: Count, request: &Request) -> Count {
    let copy = match request.keys {
        KeyForm::Number { bytes: ..=8, .. } => bytes / count(2),
        // Runs are merged with the rest, which may have runs of its own.
        _ => bytes,
    };
    // If a whole copy is too much, a shorter run may still fit.
    let most = copy.min(Saturating(request.budget.left()));
    if request.budget.threads <= MERGED_BY_THREADS { most } else { count(0) }
}

/// For a distribution in place, or the counters of narrow keys.
fn buffers(bytes: Count, request: &Request) -> Count {
    let threads = request.budget.threads.max(1);
    let each = if let KeyForm::Number { bytes, .. } = request.keys { bytes } else { size_of::<u64>() };
    distribution(bytes, each, threads).max(counters(request))
}

/// For the counters of narrow keys.
fn counters(request: &Request) -> Count {
    count(match request.keys {
        KeyForm::Number { bytes: 1, .. } | KeyForm::Compound { bytes: 1 } => counting::scratch::<u8>(),
        KeyForm::Number { bytes: 2, .. } | KeyForm::Compound { bytes: 2 } => counting::scratch::<u16>(),
        _ => 0,
    })
}

/// For an argsort of narrow keys by digits, if the limit allows it.
fn by_digits(n: Count, key: usize, request: &Request) -> Count {
    if key > size_of::<u16>() || n.0 < digits::least_keys(key) as u64 {
        return count(0);
    }
    count(digits::scratch(n.0 as usize, key)).min(Saturating(request.budget.left()))
}

/// For a distribution in place of keys of `each` bytes.
fn distribution(bytes: Count, each: usize, threads: usize) -> Count {
    if bytes < count(distribute::from_bytes(each)) {
        return count(0);
    }
    count(threads) * count(distribute::scratch::<u8>((bytes.0 as usize) / threads))
}

/// For an argsort of many keys of `key` bytes by words, which are sorted as keys.
fn packed(n: Count, key: usize, request: &Request) -> Count {
    let threads = request.budget.threads.max(1);
    if n.0 <= PAIRS_AT_ONCE as u64 || key < size_of::<u32>() || threads > PACKED_BY_THREADS {
        return count(0);
    }
    let words = n * count(size_of::<u64>());
    words + distribution(words, size_of::<u64>(), threads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sorter;

    /// The value of a formula in the documentation, where `n` keys have `k` bytes each and payloads `v`.
    fn value(formula: &str, n: u64, k: u64, v: u64) -> u64 {
        if let Some((dividend, divisor)) = formula.split_once(" / ") {
            return value(dividend, n, k, v) / value(divisor, n, k, v);
        }
        let (mut product, mut rest) = (1, formula);
        while let Some(first) = rest.chars().next() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (factor, end) = match first {
                'n' => (n, 1),
                'K' => (k, 1),
                'V' => (v, 1),
                '(' => {
                    let end = rest.find(')').expect("a parenthesis is closed");
                    (rest[1..end].split(" + ").map(|term| value(term, n, k, v)).sum(), end + 1)
                }
                _ => (rest[..digits].parse().expect("a number"), digits),
            };
            (product, rest) = (product * factor, &rest[end..]);
        }
        product
    }

    /// The table of the crate's documentation has what plans say.
    #[test]
    fn the_table_in_the_documentation_is_right() {
        let documentation = include_str!("../lib.rs");
        let row = |call: &str| {
            let start = format!("//! | {call} |");
            documentation
                .lines()
                .find(|line| line.starts_with(&start))
                .unwrap_or_else(|| panic!("no row {call}"))
        };
        let (number, compound) = (KeyForm::of::<u64>(), KeyForm::of::<(u64, u64)>());
        let payload = |bytes| Beside::Payload { bytes, stable: true };
        let indices = Beside::Indices { stable: true };
        let (few, many) = (100_000, 4_000_000);
        for (call, keys, k, beside, threads, n, formulas) in [
            ("[`sort`], numbers", number, 8, Beside::Nothing, 1, many, &["nK / 2"][..]),
            (
                "[`sort_strings`], [`sort`] of strings",
                KeyForm::Strings,
                24,
                payload(24),
                8,
                many,
                &["n(K + 16)"],
            ),
            ("[`sort_pairs`], numbers", number, 8, payload(12), 8, many, &["n(K + V)"]),
            ("[`sort_pairs`], numbers", number, 8, payload(12), 8, few, &["n(K + V)", "n(K + 8)"]),
            ("[`sort_pairs`], other keys", compound, 16, payload(12), 8, many, &["28n"]),
            ("[`sort_pairs`], other keys", compound, 16, payload(12), 8, few, &["32n"]),
            ("[`argsort`], numbers", number, 8, indices, 8, many, &["n(K + 4)"]),
            ("[`argsort`], numbers", number, 8, indices, 8, few, &["n(K + 8)"]),
            ("[`argsort`], strings", KeyForm::Strings, 16, indices, 8, many, &["24n"]),
            ("[`argsort`], other keys", compound, 16, indices, 8, many, &["20n"]),
            ("[`argsort`], other keys", compound, 16, indices, 8, few, &["24n"]),
            ("[`sort`], tuples, options and byte arrays", compound, 16, Beside::Nothing, 8, many, &[]),
        ] {
            let sorter = Sorter::builder().build().unwrap();
            let request = sorter.request(Operation::Array, keys, beside, n);
            let planned = on_cpu(&Request { budget: Budget::of_threads(threads), ..request }).bytes();
            let v = if let Beside::Payload { bytes, .. } = beside { bytes as u64 } else { 0 };
            let stated: u64 = formulas.iter().map(|formula| value(formula, n as u64, k, v)).sum();
            assert_eq!(planned, stated, "{call}: {formulas:?} of {n} keys");
            for formula in formulas {
                assert!(row(call).contains(&format!("`{formula}`")), "{call}: {formula}");
            }
            assert!(!formulas.is_empty() || row(call).contains("none"), "{call}");
        }
        let row = row("[`sort`], numbers");
        assert!(row.contains("262 KiB a thread and `nK` / 1024 from 8 MiB"), "{row}");
        let request =
            Sorter::builder().build().unwrap().request(Operation::Array, number, Beside::Nothing, many);
        let planned = on_cpu(&Request { budget: Budget::of_threads(8), ..request }).bytes();
        let stated = 8 * (262 << 10) + value("nK", many as u64, 8, 0) / 1024;
        assert!((stated * 9 / 10..=stated).contains(&planned), "{planned} of {stated}");
    }
}
