//! The memory that all cells use, one after the other: the input, the result, and payloads. Times sorts in this memory
//! and checks their results.

use std::cell::{Ref, RefCell};

use bytemuck::Pod;
use sortie_device::{Buffer, Device, Error, Event, Kernel, Launch, Program, Stream, View};

use super::cells::KeyType;
use crate::Result;
use crate::grid::draw::Source;

/// The threads in a block, as in the kernels.
const THREADS: u32 = 256;
/// A few blocks for each multiprocessor of any device.
const BLOCKS: usize = 2048;

/// How kernels that draw and check `n` keys are launched.
fn launch(n: usize) -> Launch {
    Launch { blocks: n.div_ceil(THREADS as usize).min(BLOCKS) as u32, threads: THREADS, shared: 0 }
}

/// An allocation of at least this many bytes is separate from others, so another process can open it by its address.
const OWN_ALLOCATION: usize = 4 << 20;

pub struct Arena {
    pub stream: Stream,
    input: Buffer<u64>,
    keys: Buffer<u64>,
    payload: Buffer<u64>,
    /// All positions, as payloads of 4 and of 8 bytes.
    narrow: Buffer<u32>,
    wide: Buffer<u64>,
    /// The temporary storage of a peer.
    storage: RefCell<Buffer<u8>>,
    /// The kernels for keys of 32 and of 64 bits.
    kernels: [Kernels; 2],
    totals: Buffer<u64>,
    start: Event,
    end: Event,
}

struct Kernels {
    draw: Kernel,
    compose: Kernel,
    number: Kernel,
    sums: Kernel,
    check: Kernel,
    check_segments: Kernel,
}

impl Kernels {
    fn new(device: &Device, bits: u32) -> Result<Kernels> {
        let module = device.load(&Program {
            name: format!("grid of {bits} bits"),
            source: include_str!("../../kernels/grid.cu"),
            headers: &[("simt.cuh", sortie::internals::SIMT_HEADER)],
            defines: vec![("KEY_BITS".into(), bits.to_string())],
            overlaps: true,
        })?;
        Ok(Kernels {
            draw: module.kernel("draw")?,
            compose: module.kernel("compose")?,
            number: module.kernel("number")?,
            sums: module.kernel("sums")?,
            check: module.kernel("check")?,
            check_segments: module.kernel("check_segments")?,
        })
    }
}

/// The kind of result that a sort produces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Keys,
    /// Keys with payloads of this size in bytes.
    Pairs(usize),
    Indices,
}

impl Arena {
    /// Memory for arrays of up to `n` keys that take up to `bytes` bytes.
    pub fn new(device: &Device, n: usize, bytes: usize) -> Result<Arena> {
        let words = bytes.max(OWN_ALLOCATION).div_ceil(8);
        let arena = Arena {
            stream: device.stream()?,
            input: device.alloc(words)?,
            keys: device.alloc(words)?,
            payload: device.alloc(n)?,
            narrow: device.alloc(n)?,
            wide: device.alloc(n)?,
            storage: RefCell::new(device.alloc(0)?),
            kernels: [Kernels::new(device, 32)?, Kernels::new(device, 64)?],
            totals: device.alloc(2)?,
            start: device.event()?,
            end: device.event()?,
        };
        let arguments = (&arena.narrow, &arena.wide, n as u64);
        // SAFETY: these are the kernel's arguments, and both buffers hold `n` elements.
        unsafe { arena.kernels[0].number.launch(&arena.stream, launch(n), arguments)? };
        Ok(arena)
    }

    /// Draws the input.
    pub fn draw(&self, source: Source, key: KeyType, n: usize, seed: u64) -> Result<Array<'_>> {
        let array = Array { arena: self, key, n, sums: [0; 2] };
        let (to, grid, n, kernels) = (self.input.address(), launch(n), n as u64, array.kernels());
        // SAFETY: these are the kernel's arguments; it stays within `n` keys, which the input can hold.
        unsafe {
            match source {
                Source::Shape(shape) => {
                    kernels.draw.launch(&self.stream, grid, (to, n, seed, key.kind(), shape as i32))?;
                }
                Source::Recipe(recipe) => {
                    kernels.compose.launch(&self.stream, grid, (to, n, seed, key.kind(), recipe))?;
                }
            }
        }
        // SAFETY: as above.
        let sums =
            self.totals(|totals| unsafe { kernels.sums.launch(&self.stream, grid, (to, n, totals)) })?;
        Ok(Array { sums, ..array })
    }

    /// The milliseconds from the call of `work` to the end of the work that it enqueues. The device is idle before.
    /// Otherwise earlier work would hide the time that the calls of some contenders take.
    pub fn time<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(f64, R)> {
        self.stream.wait()?;
        self.stream.record(&self.start)?;
        let result = work()?;
        self.stream.record(&self.end)?;
        self.end.wait()?;
        Ok((self.end.milliseconds_since(&self.start)?.into(), result))
    }

    /// Memory for a peer, and its number of bytes.
    pub fn storage(&self, bytes: usize) -> Result<Ref<'_, Buffer<u8>>> {
        if self.storage.borrow().len() < bytes {
            // Frees the old memory first, so that both are never allocated at once.
            self.storage.replace(self.stream.device().alloc(0)?);
            self.storage.replace(self.stream.device().alloc(bytes)?);
        }
        Ok(self.storage.borrow())
    }

    /// The address of the input, which has an allocation of its own.
    pub fn input_address(&self) -> u64 {
        self.input.address()
    }

    /// The two sums that a kernel adds up.
    fn totals(
        &self,
        enqueue: impl FnOnce(View<'_, u64>) -> std::result::Result<(), Error>,
    ) -> Result<[u64; 2]> {
        self.stream.fill(self.totals.view(), 0)?;
        enqueue(self.totals.view())?;
        let mut totals = [0; 2];
        self.stream.copy_out(&mut totals, self.totals.view())?;
        Ok(totals)
    }
}

/// Keys that were drawn as the input of sorts.
pub struct Array<'a> {
    pub arena: &'a Arena,
    pub key: KeyType,
    pub n: usize,
    /// See the kernel `sums`.
    sums: [u64; 2],
}

/// The first `n` elements of a buffer.
fn part<T: Pod>(buffer: &Buffer<u64>, n: usize) -> View<'_, T> {
    buffer.range(0..(n * size_of::<T>()).div_ceil(8)).cast::<T>().range(0..n)
}

impl<'a> Array<'a> {
    pub fn input<K: Pod>(&self) -> View<'a, K> {
        part(&self.arena.input, self.n)
    }

    /// The memory for the result.
    pub fn keys<K: Pod>(&self) -> View<'a, K> {
        part(&self.arena.keys, self.n)
    }

    pub fn payload<V: Pod>(&self) -> View<'a, V> {
        part(&self.arena.payload, self.n)
    }

    pub fn narrow_positions(&self) -> View<'a, u32> {
        self.arena.narrow.range(0..self.n)
    }

    pub fn wide_positions(&self) -> View<'a, u64> {
        self.arena.wide.range(0..self.n)
    }

    /// Fills the result with ones, so that missing writes are detected.
    pub fn poison(&self, payload_bytes: usize) -> Result<()> {
        let stream = &self.arena.stream;
        let words = |bytes: usize| 0..(self.n * bytes).div_ceil(8);
        stream.fill(self.arena.keys.range(words(self.key.bytes())), 0xFF)?;
        Ok(stream.fill(self.arena.payload.range(words(payload_bytes)), 0xFF)?)
    }

    /// Whether the result is this array in order. With `zeros_equal`, -0.0 and 0.0 count as equal.
    pub fn check(&self, outcome: Outcome, zeros_equal: bool) -> Result<bool> {
        let arena = self.arena;
        let (sorted, payload, payload_bytes) = match outcome {
            Outcome::Keys => (arena.keys.address(), 0, 0),
            Outcome::Pairs(bytes) => (arena.keys.address(), arena.payload.address(), bytes as i32),
            Outcome::Indices => (0, arena.payload.address(), 4),
        };
        let (n, kind, zeros_equal) = (self.n, self.key.kind(), i32::from(zeros_equal));
        let kernel = &self.kernels().check;
        let [sum, wrong] = arena.totals(|totals| {
            let arguments =
                (&arena.input, sorted, payload, payload_bytes, n as u64, kind, zeros_equal, totals);
            // SAFETY: these are the kernel's arguments, and all buffers hold `n` elements.
            unsafe { kernel.launch(&arena.stream, launch(n), arguments) }
        })?;
        Ok(wrong == 0 && sum == self.sums[usize::from(outcome != Outcome::Keys)])
    }

    /// The array as `count` segments, to check sorts of segments: of `length` keys, or between offsets if there are
    /// any.
    pub fn segments(&self, count: u64, length: u64, offsets: u64) -> Result<Segments<'a>> {
        let mut segments = Segments { array: Array { ..*self }, count, length, offsets, sum: 0 };
        segments.sum = segments.totals(self.arena.input.address())?[0];
        Ok(segments)
    }

    fn kernels(&self) -> &'a Kernels {
        &self.arena.kernels[self.key.bytes() / 8]
    }
}

/// An array, divided into segments.
pub struct Segments<'a> {
    pub array: Array<'a>,
    pub count: u64,
    pub length: u64,
    pub offsets: u64,
    sum: u64,
}

impl Segments<'_> {
    /// Whether each segment of the result is in order.
    pub fn check(&self) -> Result<bool> {
        Ok(self.totals(self.array.arena.keys.address())? == [self.sum, 0])
    }

    fn totals(&self, keys: u64) -> Result<[u64; 2]> {
        let Array { arena, key, n, .. } = self.array;
        let kernel = &self.array.kernels().check_segments;
        arena.totals(|totals| {
            let arguments = (keys, n as u64, self.count, self.length, self.offsets, key.kind(), totals);
            // SAFETY: these are the kernel's arguments; the offsets and the keys are allocated.
            unsafe { kernel.launch(&arena.stream, launch(n), arguments) }
        })
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::distributions::Rng;
    use crate::grid::draw::{self, Drawn};
    use crate::grid::recipe::Recipe;
    use crate::grid::shape::Shape;
    use crate::keys::BenchKey;

    const N: usize = 5000;

    /// The test bench. `None` if the test is to be skipped.
    fn device() -> Option<Device> {
        sortie_simt::or_skip(sortie_simt::device(sortie_simt::Options::default()))
    }

    fn drawn<K: BenchKey + Pod>(arena: &Arena, key: KeyType, shape: Shape) -> (Array<'_>, Vec<K>) {
        let array = arena.draw(Source::Shape(shape), key, N, 7).unwrap();
        let mut keys = vec![K::of(0); N];
        arena.stream.copy_out(&mut keys, array.input()).unwrap();
        (array, keys)
    }

    /// The number of neighbours in descending order.
    fn descents<K: BenchKey>(keys: &[K]) -> usize {
        keys.windows(2).filter(|pair| pair[0].order(&pair[1]).is_gt()).count()
    }

    fn distinct<K: BenchKey>(keys: &[K]) -> usize {
        let mut sorted = keys.to_vec();
        K::std_sort(&mut sorted);
        1 + sorted.windows(2).filter(|pair| pair[0].order(&pair[1]).is_ne()).count()
    }

    /// Checks the properties of a shape that hold for every type.
    fn shapes_are_as_described<K: BenchKey + Pod>(arena: &Arena, key: KeyType) {
        for &shape in Shape::ON_DEVICES.iter().filter(|shape| shape.takes(key.is_float())) {
            let (_, keys) = drawn::<K>(arena, key, shape);
            let (descents, distinct) = (descents(&keys), distinct(&keys));
            let right = match shape {
                Shape::Zero => distinct == 1,
                Shape::TwoValues => distinct == 2,
                Shape::SixteenValues => distinct == 16,
                Shape::LowBits | Shape::TopBits if key.bytes() == 4 => distinct <= 256 && distinct > 200,
                Shape::SawTooth => distinct == 1000 && descents == 4,
                Shape::Outlier => distinct <= 1001 && distinct > 900,
                Shape::Sorted => descents == 0 && distinct > 4900,
                Shape::Reversed => descents == N - 1,
                Shape::Rotated => descents == 1,
                Shape::OrganPipe => (2400..=2500).contains(&descents),
                Shape::SortedRuns => descents > 900 && descents < 1024,
                Shape::BucketSorted => (120..=127).contains(&descents),
                Shape::NearlySorted => (8..=20).contains(&descents),
                _ => (1200..=3000).contains(&descents),
            };
            assert!(right, "{} {}: {descents} descents, {distinct} values", key.name(), shape.name());
        }
    }

    #[test]
    fn shapes_are_as_described_for_every_type() {
        let Some(device) = device() else { return };
        let arena = Arena::new(&device, N, 8 * N).unwrap();
        shapes_are_as_described::<u32>(&arena, KeyType::U32);
        shapes_are_as_described::<u64>(&arena, KeyType::U64);
        shapes_are_as_described::<f32>(&arena, KeyType::F32);
        shapes_are_as_described::<i32>(&arena, KeyType::I32);
        shapes_are_as_described::<f64>(&arena, KeyType::F64);
    }

    /// The drawing on the host is in `grid/draw.rs`.
    fn host_draws_the_same<K: BenchKey + Pod + Drawn>(arena: &Arena, key: KeyType) {
        let shapes = Shape::ON_DEVICES.iter().filter(|shape| shape.takes(key.is_float()));
        let recipes = (0..50).map(|seed| Recipe::draw(8 * key.bytes() as u64, &mut Rng::seed_from_u64(seed)));
        for source in shapes.map(|&shape| Source::Shape(shape)).chain(recipes.map(Source::Recipe)) {
            let array = arena.draw(source, key, N, 7).unwrap();
            let mut keys = vec![K::of(0); N];
            arena.stream.copy_out(&mut keys, array.input()).unwrap();
            let here: Vec<K> = draw::draw(source, N, 7);
            assert!(
                bytemuck::cast_slice::<K, u8>(&keys) == bytemuck::cast_slice::<K, u8>(&here),
                "{source:?}"
            );
        }
    }

    #[test]
    fn the_host_draws_the_same_arrays() {
        let Some(device) = device() else { return };
        let arena = Arena::new(&device, N, 8 * N).unwrap();
        host_draws_the_same::<u32>(&arena, KeyType::U32);
        host_draws_the_same::<u64>(&arena, KeyType::U64);
        host_draws_the_same::<f32>(&arena, KeyType::F32);
        host_draws_the_same::<i32>(&arena, KeyType::I32);
        host_draws_the_same::<f64>(&arena, KeyType::F64);
    }

    #[test]
    fn only_log_normal_floats_have_nans() {
        let Some(device) = device() else { return };
        let arena = Arena::new(&device, N, 8 * N).unwrap();
        for &shape in Shape::ON_DEVICES {
            let (_, narrow) = drawn::<f32>(&arena, KeyType::F32, shape);
            let (_, wide) = drawn::<f64>(&arena, KeyType::F64, shape);
            let finite = narrow.iter().all(|key| key.is_finite()) && wide.iter().all(|key| key.is_finite());
            assert_eq!(finite, shape != Shape::LogNormal, "{}", shape.name());
        }
        let (_, keys) = drawn::<f32>(&arena, KeyType::F32, Shape::LogNormal);
        let count = |is: fn(&&f32) -> bool| keys.iter().filter(is).count();
        for special in [
            count(|key| key.is_nan() && key.is_sign_positive()),
            count(|key| key.to_bits() == 0),
            count(|key| key.to_bits() == 1 << 31),
        ] {
            assert!((40..=120).contains(&special), "{special} of {N}");
        }
    }

    #[test]
    fn an_and_has_fewer_ones_and_an_outlier_is_the_greatest() {
        let Some(device) = device() else { return };
        let arena = Arena::new(&device, N, 8 * N).unwrap();
        let (_, keys) = drawn::<u32>(&arena, KeyType::U32, Shape::And2);
        let ones: u32 = keys.iter().map(|key| key.count_ones()).sum();
        assert!((f64::from(ones) / (32 * N) as f64 - 0.125).abs() < 0.01);
        let (_, keys) = drawn::<f32>(&arena, KeyType::F32, Shape::Outlier);
        assert_eq!(keys.iter().filter(|&&key| key == f32::MAX).count(), 1);
    }

    #[test]
    fn a_recipe_is_drawn_as_it_says() {
        let Some(device) = device() else { return };
        let arena = Arena::new(&device, N, 8 * N).unwrap();
        let recipe = Recipe::of_values(7);
        let array = arena.draw(Source::Recipe(recipe), KeyType::U64, N, 3).unwrap();
        let mut keys = vec![0u64; N];
        arena.stream.copy_out(&mut keys, array.input()).unwrap();
        assert_eq!(distinct(&keys), 7);
    }

    #[test]
    fn wrong_results_are_told() {
        let Some(device) = device() else { return };
        let arena = Arena::new(&device, N, 8 * N).unwrap();
        let stream = &arena.stream;
        let (array, keys) = drawn::<f32>(&arena, KeyType::F32, Shape::LogNormal);
        let mut order: Vec<u32> = (0..N as u32).collect();
        order.sort_by(|&a, &b| keys[a as usize].total_cmp(&keys[b as usize]));
        let sorted: Vec<f32> = order.iter().map(|&at| keys[at as usize]).collect();
        let put = |sorted: &[f32], order: &[u32]| {
            stream.copy_in(array.keys(), sorted).unwrap();
            stream.copy_in(array.payload(), order).unwrap();
        };
        let right = |outcome| array.check(outcome, false).unwrap();
        let all = [Outcome::Keys, Outcome::Pairs(4), Outcome::Indices];

        put(&sorted, &order);
        assert_eq!(all.map(right), [true; 3]);
        // For CUB, zeros of both signs are equal, so its stable order is different.
        assert!(!array.check(Outcome::Pairs(4), true).unwrap());
        let mut swapped = sorted.clone();
        swapped.swap(0, N - 1);
        put(&swapped, &order);
        assert_eq!(all.map(right), [false, false, true]);
        let mut twice = order.clone();
        twice[9] = twice[10];
        put(&sorted, &twice);
        assert_eq!(all.map(right), [true, false, false]);
        // Two equal keys swapped their payloads.
        let equal = (1..N).find(|&at| sorted[at].to_bits() == sorted[at - 1].to_bits()).unwrap();
        let mut unstable = order.clone();
        unstable.swap(equal, equal - 1);
        put(&sorted, &unstable);
        assert_eq!(all.map(right), [true, false, false]);
        array.poison(4).unwrap();
        assert_eq!(all.map(right), [false; 3]);
    }

    #[test]
    fn wrong_segments_are_told() {
        let Some(device) = device() else { return };
        let arena = Arena::new(&device, N, 8 * N).unwrap();
        let (array, keys) = drawn::<u64>(&arena, KeyType::U64, Shape::Uniform);
        let host = [0, 3, 3, 4000, N as u64];
        let offsets = device.alloc(host.len()).unwrap();
        arena.stream.copy_in(offsets.view(), &host).unwrap();
        let uneven = array.segments(4, 0, offsets.address()).unwrap();
        let mut sorted = keys.clone();
        host.windows(2).for_each(|ends| sorted[ends[0] as usize..ends[1] as usize].sort_unstable());
        let right = |segments: &Segments<'_>, keys: &[u64]| {
            arena.stream.copy_in(array.keys(), keys).unwrap();
            segments.check().unwrap()
        };
        assert!(right(&uneven, &sorted) && !right(&uneven, &keys));
        // In order, but from another segment.
        let mut all = keys.clone();
        all.sort_unstable();
        assert!(!right(&uneven, &all));
        let even = array.segments(10, 500, 0).unwrap();
        assert!(!right(&even, &sorted));
        let mut sorted = keys;
        sorted.chunks_mut(500).for_each(<[u64]>::sort_unstable);
        assert!(right(&even, &sorted));
    }
}
