//! Bitonic sort of one array, in place and without scratch.
//!
//! Capannini, Silvestri and Baraglia, "Sorting on GPUs for large scale datasets: A thorough comparison" (2011), section
//! 5, whose numbers and Greek letters are used here. The steps of the network are grouped into supersteps. A superstep
//! takes as many steps as possible, as long as the indices of the keys that they compare differ in no more bits than a
//! tile has. Those bits are the superstep's Γ-sequence. The keys whose indices agree in all other bits are one part of
//! its Γ-partition, which a block sorts out in shared memory.

use bytemuck::Pod;
use sortie_device::{Launch, Properties, Stream, View};

use crate::gpu::engine::KernelSet;
use crate::gpu::kernels::array::{BitonicArrays, Superstep};
use crate::gpu::kernels::{CodeTransform, Define, File, Instance, blocks, kind, numbers, struct_bytes};
use crate::gpu::segments::code;
use crate::gpu::tuning::{
    BITONIC_COALESCED_BYTES, BITONIC_FEW_TILE_BITS, BITONIC_ROW_BITS, BITONIC_TILE_BITS,
};
use crate::gpu::{DevicePayload, Gpu, Pending};
use crate::key::{Bits, Code};
use crate::{Error, Order, TotalOrder};

/// With larger items, too few fit in the registers of a thread.
const MOST_PAYLOAD_BYTES: usize = 64;
/// A block has at least one warp of threads.
const WARP_BITS: u32 = 5;

impl Gpu {
    /// Enqueues a sort of the keys in place, by a bitonic network, and does not wait.
    ///
    /// For use when memory is full: it takes no scratch at all, for any keys, and its time depends only on their
    /// number. Equal keys cannot be told apart. Cost: n keys take (log²n + log n) / 2 steps. With tiles of 2^14, for
    /// 32-bit keys on a device whose blocks have 132 KB of shared memory, 2^28 keys are read and written 26 times. Few
    /// keys get smaller tiles, so that more multiprocessors have one: 2^16 keys are read and written 7 times. n can be
    /// any number: indices from n to the next power of two are never read or written, and parts without a key are not
    /// launched.
    ///
    /// This differs from the publication (section 5) in three ways. All runs ascend, because the first step of a merge
    /// compares with the mirror image (in the publication, every other run descends); so n can be any number. A
    /// sequence has 14 bits, not those of a 16 KB memory. Steps are taken in registers, up to five at a time, before
    /// keys return to shared memory.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for keys without codes of 8 to 64 bits; [`Error::Device`] if a kernel is not available:
    /// the keys are as they were then. If a later launch fails, the keys are left as codes and in no order.
    ///
    /// # Safety
    /// Nothing else uses the keys until the sort is done. The stream belongs to this engine's device.
    pub unsafe fn sort_bitonic<K: TotalOrder + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_bits_bitonic(stream, keys.cast::<K::Bits>(), (0, 0), code::<K>()?, order) }
    }

    /// [`Gpu::sort_bitonic`] of keys with payloads. Each payload, of a multiple of 4 bytes up to 64, moves with its
    /// key. Not stable: payloads of equal keys come out in any order, the same in every run.
    ///
    /// This takes no scratch either. The wider the pairs are, the fewer fit in a tile: 2^13 of 8 bytes, so that 2^28 of
    /// them are read and written 30 times.
    ///
    /// # Errors
    /// As [`Gpu::sort_bitonic`]; [`Error::LengthMismatch`]; [`Error::Unsupported`] for payloads of other sizes, or not
    /// aligned: to 8 bytes if those divide the size, else to 4.
    ///
    /// # Safety
    /// As [`Gpu::sort_bitonic`], and nothing else uses the payload until the sort is done.
    pub unsafe fn sort_pairs_bitonic<K: TotalOrder + Pod, V: Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        payload: View<'_, V>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let DevicePayload { address, each } = DevicePayload::of(keys.len(), payload)?;
        if each > MOST_PAYLOAD_BYTES {
            return Err(Error::Unsupported(format!(
                "a bitonic network moves payloads of at most {MOST_PAYLOAD_BYTES} bytes, not {each}; use \
                 sort_pairs_unstable"
            )));
        }
        let payload = (address, each);
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_bits_bitonic(stream, keys.cast::<K::Bits>(), payload, code::<K>()?, order) }
    }

    /// Either of these sorts. `payload` is the address of the payload and the bytes of each item.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs_bitonic`].
    pub(super) unsafe fn sort_bits_bitonic<B: Bits>(
        &self,
        stream: &Stream,
        keys: View<'_, B>,
        (payload, payload_bytes): (u64, usize),
        code: Code,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        if B::WIDTH > 64 {
            return Err(Error::Unsupported(format!(
                "keys of {} bits cannot be sorted by a bitonic network on a GPU; use the CPU engine",
                B::WIDTH
            )));
        }
        if keys.len() < 2 {
            return self.pending(stream);
        }
        let count = keys.len() as u64;
        let shape = Shape::new(count, size_of::<B>(), payload_bytes, self.device().properties())?;
        let supersteps = supersteps(count, shape.tile_bits, shape.coalesced_bits);
        let kernels = self.kernel_set(&NetworkKernels {
            key_bytes: size_of::<B>(),
            code,
            order,
            payload_bytes,
            shape,
        })?;
        let [sort_tiles, run_superstep] = &kernels[0][..] else { unreachable!("as many as instances") };
        let transform = CodeTransform::new::<B>(code, order);
        let launch = |parts| {
            let threads = 1 << (shape.tile_bits - shape.row_bits);
            Ok::<_, Error>(Launch { blocks: blocks(parts)?, threads, shared: shape.shared })
        };
        let tiles = launch(count.div_ceil(1 << shape.tile_bits))?;
        let arrays = BitonicArrays { keys: keys.address(), payload, count };
        // SAFETY: these are the kernels' arguments; they stay within the arrays. The engine keeps the kernels.
        unsafe {
            sort_tiles.launch(stream, tiles, (arrays, u32::from(supersteps.is_empty()), transform))?;
            for superstep in supersteps {
                let parts = launch(superstep.parts(count, shape.tile_bits))?;
                run_superstep.launch(stream, parts, (arrays, superstep, transform))?;
            }
        }
        self.pending(stream)
    }
}

/// What the kernels of a network depend on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct NetworkKernels {
    key_bytes: usize,
    code: Code,
    order: Order,
    payload_bytes: usize,
    shape: Shape,
}

impl KernelSet for NetworkKernels {
    fn instances(&self) -> Vec<Vec<Instance>> {
        let NetworkKernels { key_bytes, code, order, payload_bytes, shape } = *self;
        let defines: Vec<Define> = vec![
            ("SORTIE_KEY_BYTES", key_bytes.to_string()),
            ("SORTIE_KIND", kind(code, order).into()),
            ("SORTIE_PAYLOAD_BYTES", payload_bytes.to_string()),
            ("SORTIE_TILE_BITS", shape.tile_bits.to_string()),
            ("SORTIE_ROW_BITS", shape.row_bits.to_string()),
            ("SORTIE_COALESCED_BITS", shape.coalesced_bits.to_string()),
            ("SORTIE_TILE_MEMORY", shape.shared.to_string()),
        ];
        let of = |kernel| Instance { kernel, file: File::Bitonic, defines: defines.clone() };
        vec![["sort_tiles", "run_superstep"].map(of).to_vec()]
    }
}

/// What a block sorts at a time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Shape {
    tile_bits: u32,
    /// Bits of the number of keys that a thread takes.
    row_bits: u32,
    /// The lowest bits of an index, which are in every sequence.
    coalesced_bits: u32,
    /// Bytes of shared memory.
    shared: usize,
}

impl Shape {
    /// Chooses the largest tile that leaves at least half of the multiprocessors busy, or the tile for few keys.
    fn new(count: u64, key_bytes: usize, payload_bytes: usize, device: &Properties) -> Result<Shape, Error> {
        let Properties { shared_per_block, multiprocessors, .. } = *device;
        // Narrow keys are sorted as words; tiles of wider items have at most as many bytes.
        let code_bytes = key_bytes.max(4);
        let word_bytes = if payload_bytes.is_multiple_of(8) { 8 } else { 4 };
        let words = payload_bytes / word_bytes;
        let payload = if words > 0 { numbers(word_bytes, words) } else { (0, 1, 0) };
        let item_bytes = struct_bytes(&[numbers(code_bytes, 1), payload]);
        // One item in 33 is padding.
        let shared = |bits: u32| ((1usize << bits) + (1 << bits) / 32) * item_bytes;
        let fewer = item_bytes.next_power_of_two().ilog2() - 2;
        // A row is kept in registers.
        let row_bits = match item_bytes {
            ..=8 => BITONIC_ROW_BITS,
            9..=40 => BITONIC_ROW_BITS - 1,
            _ => BITONIC_ROW_BITS - 2,
        };
        let fits = |bits: &u32| {
            (2 * row_bits + 1..=3 * row_bits).contains(bits)
                && *bits >= row_bits + WARP_BITS
                && 2 * shared(*bits) <= shared_per_block
        };
        let is_busy = |bits: u32| 2 * (count >> bits) >= u64::from(multiprocessors);
        let fitting = BITONIC_TILE_BITS.map(|bits| bits - fewer).into_iter().filter(fits);
        let tile_bits = fitting
            .clone()
            .find(|&bits| is_busy(bits) || bits + fewer <= BITONIC_FEW_TILE_BITS)
            .or(fitting.clone().next_back())
            .ok_or_else(|| {
                Error::Unsupported(format!(
                    "a block of this device has {shared_per_block} bytes of shared memory, too little for the bitonic \
                     sort; use the CPU engine"
                ))
            })?;
        // All high bits must fall in the windows of the high bits.
        let coalesced_bits = (BITONIC_COALESCED_BYTES / key_bytes).ilog2().max(tile_bits - 2 * row_bits);
        Ok(Shape { tile_bits, row_bits, coalesced_bits, shared: shared(tile_bits) })
    }
}

impl Superstep {
    /// The number of parts of the Γ-partition that have a key. Parts are numbered by their least index, so these come
    /// first.
    fn parts(&self, count: u64, tile_bits: u32) -> u64 {
        let between = self.high_first - self.low_bits;
        let above = self.high_first + tile_bits - self.low_bits;
        let rest = count & ((1 << above) - 1);
        ((count >> above) << between) + rest.div_ceil(1 << self.low_bits).min(1 << between)
    }
}

/// The supersteps that merge sorted tiles. Each takes as many steps as the bits of its sequence allow, and may go past
/// the end of one merge into the next.
fn supersteps(count: u64, tile_bits: u32, coalesced_bits: u32) -> Vec<Superstep> {
    let merges = count.next_power_of_two().ilog2();
    let mut supersteps = Vec::new();
    // Merges that are done, and the steps left of the current one.
    let (mut merged, mut left) = (tile_bits, 0);
    while merged < merges || left > 0 {
        // At the step of bit b, b + 1 steps are left.
        let low_steps = if left <= tile_bits { left } else { 0 };
        let ends = left == low_steps && merged == merges;
        let low_bits = if ends { tile_bits } else { low_steps.max(coalesced_bits) };
        let high_bits = tile_bits - low_bits;
        let mirrored = left == low_steps && high_bits > 0;
        if left == low_steps {
            left = 0;
            if mirrored {
                merged += 1;
                left = merged;
            }
        }
        left -= high_bits;
        let high_first = if high_bits > 0 { left } else { tile_bits };
        let [mirrored, last] = [mirrored, ends].map(u32::from);
        supersteps.push(Superstep { low_bits, high_first, low_steps, mirrored, last });
    }
    supersteps
}

#[cfg(test)]
mod tests {
    use super::super::shape::tests::device;
    use super::*;

    /// The steps of a superstep, each as its bit, in order.
    fn steps(superstep: &Superstep, tile_bits: u32) -> Vec<u32> {
        let high = superstep.high_first..superstep.high_first + tile_bits - superstep.low_bits;
        (0..superstep.low_steps).rev().chain(high.rev()).collect()
    }

    #[test]
    fn supersteps_are_the_network() {
        for tile_bits in 11..=15 {
            for coalesced_bits in 3..=6 {
                for bits in 1..=45 {
                    for count in [(1u64 << bits) - 1, 1 << bits, (1 << bits) + 1] {
                        let all = supersteps(count, tile_bits, coalesced_bits);
                        let taken: Vec<u32> = all.iter().flat_map(|s| steps(s, tile_bits)).collect();
                        let merges = count.next_power_of_two().ilog2();
                        let network: Vec<u32> =
                            (tile_bits..merges).flat_map(|merge| (0..=merge).rev()).collect();
                        assert_eq!(taken, network, "{count} keys, tiles of {tile_bits} bits");
                        let ends = all.iter().map(|s| s.last).collect::<Vec<_>>();
                        assert!(ends.iter().rev().skip(1).all(|&last| last == 0));
                        assert!(ends.last().is_none_or(|&last| last == 1));
                        let begun = all.iter().filter(|s| s.mirrored == 1).count() as u32;
                        assert_eq!(begun, merges.saturating_sub(tile_bits));
                    }
                }
            }
        }
    }

    #[test]
    fn sequences_are_coalesced_and_take_no_bit_twice() {
        for superstep in supersteps(1 << 40, 14, 4) {
            assert!((4..=14).contains(&superstep.low_bits) && superstep.low_steps <= superstep.low_bits);
            assert!(superstep.high_first >= superstep.low_bits, "{superstep:?}");
            // A mirrored step is one of the highest bit of the current merge.
            assert!(superstep.mirrored == 0 || superstep.low_bits < 14);
        }
    }

    #[test]
    fn parts_with_a_key_come_first() {
        for count in [1, 16, 17, 100, 255, 256, 1000, 4095] {
            for (low_bits, high_first) in [(8, 8), (4, 4), (4, 6), (3, 7), (6, 10)] {
                let superstep = Superstep { low_bits, high_first, low_steps: 0, mirrored: 0, last: 0 };
                // The least index of a part, computed as the kernel does.
                let least = |part: u64| {
                    let between = high_first - low_bits;
                    let outer = part >> between << (high_first + 8 - low_bits);
                    outer | (part & ((1 << between) - 1)) << low_bits
                };
                let parts = superstep.parts(count, 8);
                assert!((0..parts).all(|part| least(part) < count), "{superstep:?} of {count}");
                assert!(least(parts) >= count, "{superstep:?} of {count}");
            }
        }
    }

    #[test]
    fn launches_are_as_many_as_documented() {
        for (bits, payload_bytes, launches) in
            [(16, 0, 7), (20, 0, 12), (24, 0, 17), (28, 0, 26), (28, 4, 30)]
        {
            let shape = Shape::new(1 << bits, 4, payload_bytes, &device(227 << 10)).unwrap();
            assert_eq!(1 + supersteps(1 << bits, shape.tile_bits, shape.coalesced_bits).len(), launches);
        }
    }

    /// The kernels' windows fit the tile on every device.
    #[test]
    fn a_tile_has_three_windows() {
        for key_bytes in [1, 2, 4, 8] {
            for payload_bytes in (0..=MOST_PAYLOAD_BYTES).step_by(4) {
                for shared_per_block in [48 << 10, 99 << 10, 163 << 10, 227 << 10] {
                    for bits in [12, 20, 32] {
                        let device = device(shared_per_block);
                        let shape = Shape::new(1 << bits, key_bytes, payload_bytes, &device).unwrap();
                        let Shape { tile_bits, row_bits, coalesced_bits, .. } = shape;
                        let what = format!(
                            "2^{bits} of {key_bytes} and {payload_bytes} bytes in {shared_per_block}"
                        );
                        assert!(2 * row_bits < tile_bits && tile_bits <= 3 * row_bits, "{what}");
                        assert!(coalesced_bits < tile_bits, "{what}");
                    }
                }
            }
        }
    }
}
