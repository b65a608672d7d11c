//! Counts what a sort allocates: no more than promised, and no more than its report says.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use sortie::{Report, Segments, Sorter};

/// The system's allocator, with the bytes held now and at the peak.
struct Counting {
    held: AtomicUsize,
    peak: AtomicUsize,
}

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = self.held.fetch_add(layout.size(), Relaxed) + layout.size();
        self.peak.fetch_max(held, Relaxed);
        // SAFETY: the caller keeps to the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        self.held.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps to the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting { held: AtomicUsize::new(0), peak: AtomicUsize::new(0) };

/// What threads, queues and reports take for any input, and the codes and words of a bucket for each thread.
const SMALL: usize = 512 << 10;

/// Runs a sort whose scratch may have at most `allowed` bytes.
fn within(what: &str, allowed: usize, sort: impl FnOnce() -> Result<Report, sortie::Error>) {
    let before = ALLOCATOR.held.load(Relaxed);
    ALLOCATOR.peak.store(before, Relaxed);
    let report = sort().expect("the sort does not fail");
    let taken = ALLOCATOR.peak.load(Relaxed) - before;
    assert!(taken <= allowed + SMALL, "{what}: took {taken} bytes, {allowed} are promised");
    let said = report.scratch_peak as usize;
    assert!(taken <= said + SMALL, "{what}: took {taken} bytes, reports {said}");
}

/// One single test, so that no other test allocates meanwhile.
#[test]
fn scratch_is_as_promised() {
    keys_take_a_twentieth();
    pairs_and_indices_take_a_copy();
    strings_take_a_reference_and_two_words_each();
    sorts_by_comparison_take_a_copy();
    selections_take_what_the_result_does();
    few_large_elements_are_not_copied();
}

const N: usize = 2_000_000;

fn random() -> Vec<u64> {
    let mut rng = fastrand::Rng::with_seed(1);
    (0..N).map(|_| rng.u64(..)).collect()
}

/// Calls `check` with a sorter of one thread and one of two.
fn each_sorter(check: impl Fn(&str, &Sorter)) {
    for threads in [1, 2] {
        let sorter = Sorter::builder().threads(threads).build().expect("a sorter");
        // The first call starts whatever must be started.
        sorter.sort(&mut random()).expect("sorted");
        check(&format!("{threads} threads"), &sorter);
    }
}

fn keys_take_a_twentieth() {
    each_sorter(|what, sorter| {
        let mut keys = random();
        within(what, N * 8 / 20, || sorter.sort(&mut keys));
        let mut keys: Vec<u32> = random().iter().map(|&x| x as u32).collect();
        within(what, N * 4 / 20, || sorter.sort(&mut keys));
        let mut keys: Vec<f32> = random().iter().map(|&x| x as f32).collect();
        within(what, N * 4 / 20, || sorter.sort_segments(&mut keys, Segments::Length(1000)));
    });
}

fn pairs_and_indices_take_a_copy() {
    each_sorter(|what, sorter| {
        let (mut keys, mut payload) = (random(), random());
        within(what, N * 16, || sorter.sort_pairs(&mut keys, &mut payload));
        let (mut keys, mut payload) = (random(), vec![[7u8; 3]; N]);
        within(what, N * 11, || sorter.sort_pairs(&mut keys, &mut payload));
        // Two values, and a few others: buckets of a million equal keys, which were once copied.
        for others in [0, 5] {
            let (mut keys, mut payload) = (random(), random());
            keys[others..].iter_mut().for_each(|key| *key &= 1 << 40);
            within(what, N * 16, || sorter.sort_pairs(&mut keys, &mut payload));
        }
        // Two runs, and one run with a tail in no order.
        for tail in [N / 3, N / 10] {
            let (mut keys, mut payload) = (random(), random());
            keys[..N - tail].sort_unstable();
            if tail == N / 3 {
                keys[N - tail..].sort_unstable();
            }
            within(what, N * 16, || sorter.sort_pairs(&mut keys, &mut payload));
        }
        for (length, threads) in [(1000, 2), (100_000, 2), (N / 4, 2), (N, 1)] {
            let (mut keys, mut payload) = (random(), random());
            let words = if length <= 131_072 { length * 16 } else { 0 };
            let copies = if length > 8192 { threads * (length * 16 + words) } else { 0 };
            within(what, copies + threads * (328 << 10), || {
                sorter.sort_pairs_segments(&mut keys, &mut payload, Segments::Length(length))
            });
        }
        let (keys, mut indices) = (random(), vec![0u32; N]);
        within(what, N * 12, || sorter.argsort(&keys, &mut indices));
        let mut indices = vec![0u64; N];
        within(what, N * 16, || sorter.argsort(&keys, &mut indices));
    });
}

fn strings_take_a_reference_and_two_words_each() {
    let texts: Vec<String> = random().iter().take(N / 4).map(|x| format!("{x:x}{x}")).collect();
    each_sorter(|what, sorter| {
        let mut strings = texts.clone();
        within(what, strings.len() * (size_of::<String>() + 16), || sorter.sort_strings(&mut strings));
        let mut strings: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        within(what, strings.len() * (size_of::<&[u8]>() + 16), || sorter.sort_strings(&mut strings));
        // As many as one thread sorts by words.
        for descending in [false, true] {
            let sorter = sorter.with_order(sortie::Order { descending, ..Default::default() });
            let mut strings: Vec<&[u8]> = texts.iter().take(65_535).map(String::as_bytes).collect();
            within(what, strings.len() * (size_of::<&[u8]>() + 16), || sorter.sort_strings(&mut strings));
        }
    });
}

/// One thread was once assumed to take half a copy, but std's sort takes that only for large slices.
fn sorts_by_comparison_take_a_copy() {
    each_sorter(|what, sorter| {
        let mut items = random()[..N / 4].to_vec();
        within(what, items.len() * 8, || sorter.sort_by(&mut items, |a, b| (a % 1000).cmp(&(b % 1000))));
        let texts: Vec<String> = items.iter().take(200).map(|x| format!("{x:x}{x}")).collect();
        let mut strings: Vec<&str> = texts.iter().map(String::as_str).collect();
        within(what, strings.len() * size_of::<&str>(), || sorter.sort_strings(&mut strings));
    });
}

/// Candidates, and what sorts the result.
fn selections_take_what_the_result_does() {
    each_sorter(|what, sorter| {
        for k in [10, 1000, 50_000, N / 2, N] {
            let threads = if what.starts_with('2') && 16 * k <= N { 4 } else { 1 };
            let candidates = N.min(2 * k + 4096) * threads;
            let (keys, mut indices) = (random(), vec![0u64; k]);
            within(what, candidates * 24 + k * 32, || sorter.arg_top_k(&keys, &mut indices));
            let mut top = vec![0u64; k];
            within(what, candidates * 2 * 8 + k * 4, || sorter.top_k(&keys, &mut top));
            let keys: Vec<f32> = keys.iter().map(|&x| x as f32).collect();
            within(what, candidates * 16 + k * 24, || sorter.arg_top_k(&keys, &mut indices));
        }
        let (keys, copies) = (random(), if what.starts_with('2') { 3 } else { 1 });
        within(what, copies * N / 4 * 8, || sorter.nth(&keys, &[N / 2], &mut [0]));
        within(what, copies * N / 2 * 8, || sorter.arg_nth(&keys, &[7, N / 2], &mut [0u32; 2]));
        let wanted: Vec<usize> = (0..20).map(|i| i * N / 20).collect();
        within(what, N * 8 + N * 8 / 20 + 2 * (262 << 10), || sorter.nth(&keys, &wanted, &mut [0; 20]));
        let mut moved = random();
        within(what, 0, || sorter.partition(&mut moved, &wanted));
        let texts: Vec<String> = random().iter().take(N / 4).map(|x| format!("{x:x}")).collect();
        within(what, copies * texts.len() * 8, || sorter.nth(&texts, &[N / 9], &mut [String::new()]));
        let mut indices = vec![0u64; 1000];
        within(what, 4 * 6096 * 32 + 32_000, || sorter.arg_top_k(&texts, &mut indices));
    });
}

/// Two runs of them were once merged through a copy of one, which no limit counted.
fn few_large_elements_are_not_copied() {
    type Large = (u64, [u64; 511]);
    let mut elements: Vec<Large> = (0..1000).map(|i| (i * 7 % 1000, [i; 511])).collect();
    elements[..500].sort_unstable();
    elements[500..].sort_unstable();
    let sorter = Sorter::builder().memory_limit(0).build().expect("a sorter");
    within("1000 elements of 4 KB", 0, || sorter.sort_by_key(&mut elements, |element| element.0));
    assert!(elements.is_sorted());
}
