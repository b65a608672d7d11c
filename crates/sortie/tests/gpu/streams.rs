//! Calls on device memory do not wait, use the workspace that they are given, and can be captured in a graph.

use sortie::gpu::{DeviceHistogram, DeviceNth, DeviceSearch, DeviceSegments, DeviceTop, Gpu, Pending};
use sortie::request::Beside;
use sortie::{Bound, Error, Order};
use sortie_device::{Buffer, Stream, View};
use sortie_simt::{Bench, Calls, Options, or_skip};

use super::support::cuda;

/// What is sorted: keys of 32 bits, or half as many of 64; their payload or indices; and where segments begin and end.
struct Data {
    keys: Buffer<u32>,
    beside: Buffer<u32>,
    offsets: Buffer<u64>,
}

type Content = [Vec<u32>; 2];

impl Data {
    fn new(gpu: &Gpu, stream: &Stream, n: usize) -> Data {
        let device = gpu.device();
        // One segment has half of the keys.
        let ends = [0, 1, 1, 100, 117, 400, 401, n / 2, n].map(|end| end as u64);
        let offsets = device.alloc(ends.len()).unwrap();
        stream.copy_in(offsets.view(), &ends).unwrap();
        Data { keys: device.alloc(n).unwrap(), beside: device.alloc(n).unwrap(), offsets }
    }

    /// Replaces the keys by others that depend on the seed.
    fn shuffle(&self, stream: &Stream, seed: u64) -> Content {
        let mut random = fastrand::Rng::with_seed(seed);
        let n = self.keys.len();
        let content: Content = [(0..n).map(|_| random.u32(..)).collect(), (0..n as u32).collect()];
        for (to, from) in [&self.keys, &self.beside].into_iter().zip(&content) {
            stream.copy_in(to.view(), from).unwrap();
        }
        content
    }

    fn read(&self, stream: &Stream) -> Content {
        [&self.keys, &self.beside].map(|from| {
            let mut to = vec![0; from.len()];
            stream.copy_out(&mut to, from.view()).unwrap();
            to
        })
    }

    fn wide(&self) -> View<'_, u64> {
        self.keys.view().cast()
    }

    /// A third of the keys, each with three words as its payload.
    fn third(&self) -> View<'_, u32> {
        self.keys.range(0..self.keys.len() / 3)
    }

    fn rows(&self) -> View<'_, [u32; 3]> {
        self.beside.range(0..self.keys.len() / 3 * 3).cast()
    }

    fn in_one(&self) -> DeviceSegments<'_> {
        DeviceSegments::Length(self.third().len() as u64)
    }

    fn between_offsets(&self) -> DeviceSegments<'_> {
        DeviceSegments::Offsets { offsets: self.offsets.view(), longest: self.keys.len() as u64 }
    }

    /// A selection of the first `k` keys of each of some rows, whose indices go to the payload.
    fn first<K>(&self, k: usize, rows: usize) -> DeviceTop<'_, K, u32> {
        let row = (rows > 1).then_some(self.keys.len() * size_of::<u32>() / size_of::<K>() / rows);
        DeviceTop { row, ..DeviceTop::of(self.beside.range(0..k * rows), Order::default()) }
    }

    /// A search of the wide keys, whose positions go to the payload.
    fn search(&self) -> DeviceSearch<'_, u64, u32> {
        DeviceSearch::of(self.wide(), self.beside.range(0..self.wide().len()), Order::default())
    }

    /// A count of the wide keys between the offsets, which goes to the payload.
    fn bins(&self) -> DeviceHistogram<'_, u64> {
        let (edges, counts) =
            (self.offsets.view(), self.beside.range(0..2 * (self.offsets.len() - 1)).cast::<u64>());
        DeviceHistogram { edges, counts, order: Order::default(), by_value: false }
    }

    /// A selection of some keys, which go to the payload.
    fn nth<'a>(&'a self, indices: &'a [usize]) -> DeviceNth<'a, u32> {
        DeviceNth { indices, nth: self.beside.range(0..indices.len()), order: Order::default() }
    }

    fn halves(&self) -> DeviceSegments<'_> {
        DeviceSegments::Length(self.keys.len() as u64 / 2)
    }
}

/// A call, and the bytes of a workspace for it.
struct Call {
    name: &'static str,
    sort: for<'a> unsafe fn(&'a Gpu, &Stream, &Data) -> Result<Pending<'a>, Error>,
    bytes: fn(&Gpu, &Data) -> Result<usize, Error>,
}

const PAIRS: Beside = Beside::Payload { bytes: 4, stable: true };
const WIDE_PAIRS: Beside = Beside::Payload { bytes: 8, stable: true };
const ODD_PAIRS: Beside = Beside::Payload { bytes: 12, stable: true };
const UNSTABLE_PAIRS: Beside = Beside::Payload { bytes: 4, stable: false };
const INDICES: Beside = Beside::Indices { stable: true };

/// Each call, written as a caller would, and how a caller asks for the size of its workspace.
macro_rules! calls {
    ($gpu:ident, $stream:ident, $data:ident, $order:ident; $($name:literal: $sort:expr, $bytes:expr;)*) => {
        vec![$(Call {
            name: $name,
            sort: |$gpu, $stream, $data| {
                let $order = Order::default();
                // SAFETY: the tests do not touch the data until the sort is done.
                unsafe { $sort }
            },
            bytes: |$gpu, $data| $bytes,
        }),*]
    };
}

/// What a call without scratch takes.
fn no_bytes(_: &Gpu, _: &Data) -> Result<usize, Error> {
    Ok(0)
}

fn calls() -> Vec<Call> {
    calls! { gpu, stream, data, order;
        "keys": gpu.sort(stream, data.keys.view(), order),
            gpu.workspace_bytes::<u32>(data.keys.len(), Beside::Nothing);
        "wide keys": gpu.sort(stream, data.wide(), order),
            gpu.workspace_bytes::<u64>(data.wide().len(), Beside::Nothing);
        "pairs": gpu.sort_pairs(stream, data.keys.view(), data.beside.view(), order),
            gpu.workspace_bytes::<u32>(data.keys.len(), PAIRS);
        "unstable pairs": gpu.sort_pairs_unstable(stream, data.keys.view(), data.beside.view(), order),
            gpu.workspace_bytes::<u32>(data.keys.len(), UNSTABLE_PAIRS);
        "wide pairs": gpu.sort_pairs(stream, data.wide(), data.beside.view().cast::<u64>(), order),
            gpu.workspace_bytes::<u64>(data.wide().len(), WIDE_PAIRS);
        "pairs of 12 bytes": gpu.sort_pairs(stream, data.third(), data.rows(), order),
            gpu.workspace_bytes::<u32>(data.third().len(), ODD_PAIRS);
        "segments of pairs of 12 bytes":
            gpu.sort_pairs_segments(stream, data.third(), data.rows(), data.in_one(), order),
            gpu.workspace_bytes_of_segments::<u32>(data.third().len(), data.in_one(), ODD_PAIRS);
        "argsort": gpu.argsort(stream, data.keys.view(), data.beside.view(), order),
            gpu.workspace_bytes::<u32>(data.keys.len(), INDICES);
        "argsort with indices of 64 bits":
            gpu.argsort(stream, data.wide(), data.beside.view().cast::<u64>(), order),
            gpu.workspace_bytes_of_argsort::<u64, u64>(data.wide().len());
        "first keys": gpu.top_k(stream, data.keys.view(), DeviceTop { order, ..data.first(100, 1) }),
            gpu.workspace_bytes_of_top_k(data.keys.len(), &data.first::<u32>(100, 1));
        "all first keys": gpu.top_k(stream, data.wide(), DeviceTop { order, ..data.first(data.wide().len(), 1) }),
            gpu.workspace_bytes_of_top_k(data.wide().len(), &data.first::<u64>(data.wide().len(), 1));
        "first keys of rows": gpu.top_k(stream, data.keys.view(), DeviceTop { order, ..data.first(100, 2) }),
            gpu.workspace_bytes_of_top_k(data.keys.len(), &data.first::<u32>(100, 2));
        "keys at indices": gpu.nth(stream, data.keys.view(), &DeviceNth { order, ..data.nth(&[500, 7, 999]) }),
            gpu.workspace_bytes_of_nth::<u32>(data.keys.len(), &[500, 7, 999]);
        "positions": gpu.search_sorted(stream, data.offsets.view(), DeviceSearch { order, ..data.search() }),
            gpu.workspace_bytes_of_search::<u64>(data.offsets.len(), data.wide().len());
        "keys between edges": gpu.histogram(stream, data.wide(), DeviceHistogram { order, ..data.bins() }),
            no_bytes(gpu, data);
        "keys by comparison": gpu.sort_by_comparison(stream, data.wide(), order),
            gpu.workspace_bytes_by_comparison::<u64>(data.wide().len(), Beside::Nothing);
        "argsort by comparison": gpu.argsort_by_comparison(stream, data.keys.view(), data.beside.view(), order),
            gpu.workspace_bytes_by_comparison::<u32>(data.keys.len(), INDICES);
        "halves": gpu.sort_segments(stream, data.keys.view(), data.halves(), order),
            gpu.workspace_bytes_of_segments::<u32>(data.keys.len(), data.halves(), Beside::Nothing);
        "segments": gpu.sort_segments(stream, data.keys.view(), data.between_offsets(), order),
            gpu.workspace_bytes_of_segments::<u32>(data.keys.len(), data.between_offsets(), Beside::Nothing);
        "pairs in halves":
            gpu.sort_pairs_segments(stream, data.keys.view(), data.beside.view(), data.halves(), order),
            gpu.workspace_bytes_of_segments::<u32>(data.keys.len(), data.halves(), PAIRS);
        "argsort of segments":
            gpu.argsort_segments(stream, data.keys.view(), data.beside.view(), data.between_offsets(), order),
            gpu.workspace_bytes_of_segments::<u32>(data.keys.len(), data.between_offsets(), INDICES);
    }
}

/// Keys for each multiprocessor: for one segment, for passes, and enough to be distributed.
const SIZES: [usize; 3] = [1000, 5000, (1 << 15) + 4];

fn bench() -> Option<Bench> {
    or_skip(Bench::new(Options { multiprocessors: 1, ..Options::default() }))
}

fn on_each(test: impl Fn(&Gpu)) {
    let bench = bench().map(|bench| bench.device().clone());
    bench.into_iter().chain(cuda()).for_each(|device| test(&Gpu::new(device)));
}

fn each_size(gpu: &Gpu) -> [usize; 3] {
    SIZES.map(|size| size * gpu.device().properties().multiprocessors as usize)
}

/// The result of a plain call for the keys of this seed.
fn expected(gpu: &Gpu, call: &Call, stream: &Stream, data: &Data, seed: u64) -> Content {
    data.shuffle(stream, seed);
    // SAFETY: the data is not touched until the sort is done.
    unsafe { (call.sort)(gpu, stream, data) }.unwrap().wait().unwrap();
    data.read(stream)
}

#[test]
fn neither_a_call_nor_dropping_what_it_returns_waits() {
    let Some(bench) = bench() else { return };
    let gpu = Gpu::new(bench.device().clone());
    let stream = gpu.device().stream().unwrap();
    for n in each_size(&gpu) {
        let data = Data::new(&gpu, &stream, n);
        for call in calls() {
            let expected = expected(&gpu, &call, &stream, &data, 1);
            data.shuffle(&stream, 1);
            let before = bench.calls();
            // SAFETY: the data is not touched until it is read, after the sort on the same stream.
            drop(unsafe { (call.sort)(&gpu, &stream, &data) }.unwrap());
            assert_eq!(bench.calls().waits, before.waits, "{} of {n} words", call.name);
            assert!(data.read(&stream) == expected, "{} of {n} words", call.name);
        }
    }
}

#[test]
fn a_workspace_of_the_size_that_was_asked_for_is_enough() {
    on_each(|gpu| {
        let stream = gpu.device().stream().unwrap();
        let mut with_scratch = 0;
        for n in each_size(gpu) {
            let data = Data::new(gpu, &stream, n);
            for call in calls() {
                let what = format!("{} of {n} words", call.name);
                let expected = expected(gpu, &call, &stream, &data, 2);
                let bytes = (call.bytes)(gpu, &data).unwrap();
                let workspace = gpu.device().alloc::<u8>(bytes + 1000).unwrap();
                let sort = |bytes| {
                    // SAFETY: nothing else uses the workspace and the data until the sort is done.
                    unsafe {
                        let stream = stream.with_workspace(workspace.range(0..bytes));
                        (call.sort)(gpu, &stream, &data)?.wait()
                    }
                };
                for bytes in [bytes, bytes + 1000] {
                    data.shuffle(&stream, 2);
                    sort(bytes).unwrap();
                    assert!(data.read(&stream) == expected, "{what}");
                }
                let Some(given) = bytes.checked_sub(1) else { continue };
                with_scratch += 1;
                let unsorted = data.shuffle(&stream, 2);
                let refused = sort(given).unwrap_err();
                assert!(refused.to_string().contains(&format!("a workspace of {bytes} bytes")), "{refused}");
                let Error::Memory { bound: Bound::Workspace, needed, available, .. } = refused else {
                    panic!("{what}: {refused}")
                };
                assert_eq!((needed, available), (bytes as u64, given as u64), "{what}");
                assert!(data.read(&stream) == unsorted, "{what}: refused, but changed the data");
            }
        }
        assert!(with_scratch > 20, "{with_scratch} calls take scratch");
    });
}

#[test]
fn with_a_workspace_nothing_is_allocated() {
    let Some(bench) = bench() else { return };
    let gpu = Gpu::new(bench.device().clone());
    let stream = gpu.device().stream().unwrap();
    let data = Data::new(&gpu, &stream, SIZES[2]);
    for call in calls() {
        let workspace = gpu.device().alloc::<u8>((call.bytes)(&gpu, &data).unwrap()).unwrap();
        let before = bench.calls();
        // SAFETY: nothing else uses the workspace and the data.
        unsafe {
            let stream = stream.with_workspace(workspace.view());
            drop((call.sort)(&gpu, &stream, &data).unwrap());
        }
        let after = bench.calls();
        assert_eq!(after, Calls { ..before }, "{}", call.name);
    }
}

/// With scratch that belongs to the graph, or with a workspace.
#[test]
fn a_captured_call_sorts_whatever_the_keys_are_then() {
    on_each(|gpu| {
        let stream = gpu.device().stream().unwrap();
        for n in each_size(gpu) {
            let data = Data::new(gpu, &stream, n);
            for call in calls() {
                let expected = [3, 4].map(|seed| expected(gpu, &call, &stream, &data, seed));
                let workspace = gpu.device().alloc::<u8>((call.bytes)(gpu, &data).unwrap()).unwrap();
                // SAFETY: nothing else uses the workspace until the graph is gone.
                let within = unsafe { stream.with_workspace(workspace.view()) };
                for stream in [&stream, &within] {
                    // SAFETY: nothing else uses the data until the graph is gone.
                    let sort = || unsafe { (call.sort)(gpu, stream, &data) }.map(drop);
                    let graph = stream.capture(sort).unwrap();
                    for (seed, expected) in [3, 4].into_iter().zip(&expected) {
                        data.shuffle(stream, seed);
                        // SAFETY: data, workspace and engine still exist.
                        unsafe { graph.launch(stream).unwrap() };
                        assert!(data.read(stream) == *expected, "{} of {n} words, keys {seed}", call.name);
                    }
                }
            }
        }
    });
}

/// An array whose length only the device knows, sorted as one segment.
#[test]
fn a_captured_call_takes_the_length_that_the_device_has_then() {
    on_each(|gpu| {
        let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
        let mut random = fastrand::Rng::with_seed(9);
        let most = 70_000;
        let keys: Vec<u32> = (0..most).map(|_| random.u32(..)).collect();
        let (there, offsets) = (device.alloc::<u32>(most).unwrap(), device.alloc::<u64>(2).unwrap());
        let segments = DeviceSegments::Offsets { offsets: offsets.view(), longest: most as u64 };
        // SAFETY: nothing else uses keys and offsets until the graph is gone.
        let sort =
            || unsafe { gpu.sort_segments(&stream, there.view(), segments, Order::default()) }.map(drop);
        let graph = stream.capture(sort).unwrap();
        for length in [most, 0, 1, 5000, 69_999] {
            stream.copy_in(there.view(), &keys).unwrap();
            stream.copy_in(offsets.view(), &[0, length as u64]).unwrap();
            // SAFETY: keys, offsets and engine still exist.
            unsafe { graph.launch(&stream).unwrap() };
            let (mut expected, mut found) = (keys.clone(), vec![0; most]);
            expected[..length].sort_unstable();
            stream.copy_out(&mut found, there.view()).unwrap();
            assert!(found == expected, "{length} keys");
        }
    });
}
