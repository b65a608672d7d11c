//! Forced faults on the test bench: allocations that are refused, and launches, copies and fills that fail. The sort
//! returns an error and frees its memory, and the engine can still sort afterwards.

use sortie::gpu::{Gpu, Offsets, Pending, Strings};
use sortie::{Bound, Error, Order};
use sortie_device::{Buffer, Stream, View};
use sortie_simt::{Options, or_skip};

/// Keys of 32 bits, or half as many of 64: enough to be distributed on one multiprocessor.
const WORDS: usize = (1 << 15) + 4;

type Sort = for<'a> unsafe fn(&'a Gpu, &Stream, View<'_, u32>, View<'_, u32>) -> Result<Pending<'a>, Error>;

/// Every sort that takes scratch, of the keys and their payload or indices. Each has the safety conditions of
/// [`Gpu::sort_pairs`].
const SORTS: [(&str, Sort); 10] = [
    ("keys", |gpu, stream, keys, _| {
        // SAFETY: the caller guarantees it.
        unsafe { gpu.sort(stream, keys, Order::default()) }
    }),
    ("pairs", |gpu, stream, keys, beside| {
        // SAFETY: the caller guarantees it.
        unsafe { gpu.sort_pairs(stream, keys, beside, Order::default()) }
    }),
    ("pairs, unstable", |gpu, stream, keys, beside| {
        // SAFETY: the caller guarantees it.
        unsafe { gpu.sort_pairs_unstable(stream, keys, beside, Order::default()) }
    }),
    ("pairs of 12 bytes", |gpu, stream, keys, beside| {
        let count = keys.len() / 3;
        let rows = beside.range(0..3 * count).cast::<[u32; 3]>();
        // SAFETY: the caller guarantees it.
        unsafe { gpu.sort_pairs(stream, keys.range(0..count), rows, Order::default()) }
    }),
    ("argsort", |gpu, stream, keys, beside| {
        // SAFETY: the caller guarantees it.
        unsafe { gpu.argsort(stream, keys, beside, Order::default()) }
    }),
    ("argsort with indices of 64 bits", |gpu, stream, keys, beside| {
        let half = keys.len() / 2;
        // SAFETY: the caller guarantees it.
        unsafe {
            gpu.argsort(
                stream,
                keys.range(0..half),
                beside.range(0..2 * half).cast::<u64>(),
                Order::default(),
            )
        }
    }),
    ("pairs of wide keys", |gpu, stream, keys, beside| {
        // SAFETY: the caller guarantees it.
        unsafe { gpu.sort_pairs(stream, keys.cast::<u64>(), beside.cast::<u64>(), Order::default()) }
    }),
    ("keys by comparison", |gpu, stream, keys, _| {
        // SAFETY: the caller guarantees it.
        unsafe { gpu.sort_by_comparison(stream, keys.cast::<u64>(), Order::default()) }
    }),
    ("pairs by comparison", |gpu, stream, keys, beside| {
        // SAFETY: the caller guarantees it.
        unsafe {
            gpu.sort_pairs_by_comparison(stream, keys.cast::<u64>(), beside.cast::<u64>(), Order::default())
        }
    }),
    ("argsort by comparison", |gpu, stream, keys, beside| {
        // SAFETY: the caller guarantees it.
        unsafe { gpu.argsort_by_comparison(stream, keys, beside, Order::default()) }
    }),
];

/// Sorts that read back what to do next.
const READING_BACK: [(&str, Sort); 1] = [("strings", |gpu, stream, keys, beside| {
    // Each string has the high bytes of one number and the low bytes of the next: many tie in the three symbols of a
    // first word.
    let ends: Vec<u32> = (0..=2000).map(|i| 4 * i + 2).collect();
    let offsets = gpu.device().alloc(ends.len())?;
    stream.copy_in(offsets.view(), &ends)?;
    let strings = Strings { bytes: beside.cast(), offsets: Offsets::Narrow(offsets.view()) };
    // SAFETY: the caller guarantees it; the sort has waited before it returns, so the offsets are no longer in use.
    unsafe { gpu.argsort_strings(stream, strings, keys.range(0..2000), Order::default()) }
})];

/// Keys, and their payload or indices.
type Content = [Vec<u32>; 2];

fn unsorted() -> Content {
    let mut random = fastrand::Rng::with_seed(1);
    [(0..WORDS).map(|_| random.u32(..)).collect(), (0..WORDS as u32).collect()]
}

/// The same on a device.
struct There {
    stream: Stream,
    arrays: [Buffer<u32>; 2],
}

impl There {
    fn new(gpu: &Gpu) -> There {
        let stream = gpu.device().stream().unwrap();
        let arrays = unsorted().map(|array| {
            let buffer = gpu.device().alloc(array.len()).unwrap();
            stream.copy_in(buffer.view(), &array).unwrap();
            buffer
        });
        There { stream, arrays }
    }

    fn sort(&self, gpu: &Gpu, sort: Sort) -> Result<(), Error> {
        let [keys, beside] = &self.arrays;
        // SAFETY: nothing else uses the arrays meanwhile.
        unsafe { sort(gpu, &self.stream, keys.view(), beside.view()) }?.wait()
    }

    fn content(&self) -> Result<Content, sortie_device::Error> {
        let mut content = unsorted();
        for (to, from) in content.iter_mut().zip(&self.arrays) {
            self.stream.copy_out(to, from.view())?;
        }
        Ok(content)
    }
}

/// The result of a sort if nothing fails.
fn sorted(sort: Sort) -> Option<Content> {
    let gpu = gpu(Options::default())?;
    let there = There::new(&gpu);
    there.sort(&gpu, sort).unwrap();
    Some(there.content().unwrap())
}

fn gpu(options: Options) -> Option<Gpu> {
    or_skip(sortie_simt::device(Options { multiprocessors: 1, ..options })).map(Gpu::new)
}

/// Checks that all memory of the engine and of the data is freed once both are dropped.
fn assert_all_given_back(gpu: Gpu, there: There, name: &str) {
    let device = gpu.device().clone();
    drop((gpu, there));
    assert_eq!(device.free_memory(), Ok(device.properties().memory_total), "{name}: all was given back");
}

/// # Safety
/// As [`Gpu::sort_bitonic`].
unsafe fn bitonic<'gpu>(
    gpu: &'gpu Gpu,
    stream: &Stream,
    keys: View<'_, u32>,
    _: View<'_, u32>,
) -> Result<Pending<'gpu>, Error> {
    // SAFETY: the caller guarantees it.
    unsafe { gpu.sort_bitonic(stream, keys, Order::default()) }
}

/// The first allocation is refused, then the second, and so on.
#[test]
fn an_allocation_that_fails_leaves_the_data() {
    for (name, sort) in SORTS {
        let Some(expected) = sorted(sort) else { return };
        // Two allocations are those of the data.
        for allocations in 2.. {
            let gpu = gpu(Options { allocations, ..Options::default() }).unwrap();
            let there = There::new(&gpu);
            match there.sort(&gpu, sort) {
                Ok(()) => {
                    assert!(there.content().unwrap() == expected, "{name} by {allocations} allocations");
                    assert!(allocations > 2, "{name}: takes no scratch");
                    break;
                }
                Err(Error::Memory { bound: Bound::Device, .. }) => {
                    assert!(there.content().unwrap() == unsorted(), "{name}: refused, but changed the data");
                }
                Err(other) => panic!("{name} by {allocations} allocations: {other}"),
            }
            // A sort that takes no scratch still works.
            there.sort(&gpu, bitonic).unwrap();
            assert!(there.content().unwrap()[0].is_sorted(), "{name}: sorted afterwards");
            assert_all_given_back(gpu, there, name);
        }
    }
}

/// The first launch, copy or fill of a sort fails, then the second, and so on.
#[test]
fn work_that_fails_is_an_error_and_the_engine_goes_on() {
    for (name, sort) in SORTS.into_iter().chain(READING_BACK) {
        let Some(expected) = sorted(sort) else { return };
        // Two steps are the copies of the data.
        for failing in 2.. {
            let gpu = gpu(Options { failing: Some(failing), ..Options::default() }).unwrap();
            let there = There::new(&gpu);
            match there.sort(&gpu, sort) {
                Ok(()) => {
                    // The copy of the result must fail now.
                    assert!(there.content().is_err(), "{name}: it hid that step {failing} failed");
                    assert!(failing > 4, "{name}: has no steps");
                    break;
                }
                Err(Error::Device(_)) => {}
                Err(other) => panic!("{name}, step {failing}: {other}"),
            }
            // A whole sort takes much longer than one that fails.
            if failing % 3 == 2 {
                let again = There::new(&gpu);
                again.sort(&gpu, sort).unwrap();
                assert!(again.content().unwrap() == expected, "{name}: sorted after step {failing} failed");
            }
            assert_all_given_back(gpu, there, name);
        }
    }
}
