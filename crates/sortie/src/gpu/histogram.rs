//! How many keys are in each bin between edges.

use bytemuck::Pod;
use sortie_device::{Launch, Stream, View};

use super::engine::KernelSet;
use super::kernels::histogram::HistogramJob;
use super::kernels::{File, Instance, numbers, struct_bytes};
use super::top::Content;
use super::{Gpu, Pending};
use crate::error::same_length;
use crate::{Error, Order, TotalOrder};

/// Threads of a block.
const BLOCK: usize = 256;
/// Blocks that a multiprocessor runs at the same time.
const RESIDENT: u32 = 4;
/// Keys for which a block makes its table.
const KEYS_A_BLOCK: usize = 1 << 14;
/// Edges for which the kernel has shared memory.
const MOST_EDGES: usize = 1 << 11;
/// Counters in shared memory, of which a block takes 48 KB with edges of 64 bits: as much as every device has.
const MOST_COUNTERS: usize = 2 * MOST_EDGES - 4;
/// The most counters of a bin: one for each lane.
const MOST_COPIES: usize = sortie_device::WARP as usize;
/// The binary logarithm of the cells that the kernel looks up.
const CELL_BITS: u32 = 13;

/// Between which edges [`Gpu::histogram`] counts keys, and where it writes how many there are.
#[derive(Debug, Clone, Copy)]
pub struct DeviceHistogram<'a, K> {
    /// 2 to 2,048 edges, in the order.
    pub edges: View<'a, K>,
    /// One fewer than edges.
    pub counts: View<'a, u64>,
    /// The order of the keys.
    pub order: Order,
    /// Whether -0.0 equals 0.0 and all NaNs are equal, as in NumPy. Otherwise, floats whose bits differ are different.
    pub by_value: bool,
}

impl Gpu {
    /// Enqueues a count: writes how many keys there are from each edge on and before the next one; the last bin has also the keys equal to the
    /// last edge. Keys before the first edge or after the last are not counted. The result is that of
    /// [`Sorter::histogram`](crate::Sorter::histogram). If the edges are not in order, the counts are unspecified.
    ///
    /// Reads the keys once. Edges at equal distances, of numbers or of codes, cost least. No scratch.
    ///
    /// ```no_run
    /// use sortie::{Order, gpu};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = sortie_device::cuda::device(0)?;
    /// let gpu = gpu::Gpu::new(device.clone());
    /// let stream = device.stream()?;
    /// let (keys, edges) = (device.alloc::<f32>(4)?, device.alloc::<f32>(3)?);
    /// stream.copy_in(keys.view(), &[0.5, 3.0, 1.0, 2.0])?;
    /// stream.copy_in(edges.view(), &[0.0, 1.0, 2.0])?;
    /// let counts = device.alloc::<u64>(2)?;
    /// let bins = gpu::DeviceHistogram { edges: edges.view(), counts: counts.view(), order: Order::default(), by_value: true };
    /// // SAFETY: nothing else uses any of them until the count is done.
    /// unsafe { gpu.histogram(&stream, keys.view(), bins)? }.wait()?;
    /// let mut found = [0; 2];
    /// stream.copy_out(&mut found, counts.view())?;
    /// assert_eq!(found, [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless there is one count fewer than edges; [`Error::Unsupported`] for keys of 128 bits, fewer than 2 or more
    /// than 2,048 edges, and for floats whose NaNs are to be equal ([`Nans`](crate::Nans)), unless they are compared by value;
    /// [`Error::Device`] if a kernel is not available.
    ///
    /// # Safety
    /// The stream belongs to this engine's device. Nothing else writes the keys or the edges, or uses the counts, until the count is done. The
    /// counts overlap neither.
    pub unsafe fn histogram<K: TotalOrder + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        bins: DeviceHistogram<'_, K>,
    ) -> Result<Pending<'_>, Error> {
        let DeviceHistogram { edges, counts, order, by_value } = bins;
        same_length("counts", edges.len().saturating_sub(1), counts.len())?;
        if !(2..=MOST_EDGES).contains(&edges.len()) {
            return Err(Error::Unsupported(format!(
                "a GPU counts keys between 2 to {MOST_EDGES} edges, and these are {}; sort the keys and search for the edges in them",
                edges.len()
            )));
        }
        if size_of::<K>() > size_of::<u64>() {
            return Err(Error::Unsupported(
                "a GPU counts keys of at most 64 bits; count these on the CPU".into(),
            ));
        }
        let content = Content::of::<K>(order, by_value)?;
        let codes = content.codes::<K::Bits>();
        let kernels = self.kernel_set(&OfHistogram { content, key_bytes: size_of::<K>() })?;
        let [count] = &kernels[0][..] else { unreachable!("as many as instances") };
        let most = (self.device().properties().multiprocessors * RESIDENT) as usize;
        let blocks = keys.len().div_ceil(KEYS_A_BLOCK).clamp(1, most) as u32;
        let copies = (MOST_COUNTERS / (edges.len() + 1)).min(MOST_COPIES);
        let job = HistogramJob {
            keys: keys.address(),
            count: keys.len() as u64,
            edges: edges.address(),
            edge_count: edges.len() as u32,
            copies: 1 << copies.ilog2(),
            counts: counts.address(),
        };
        let launch = Launch { blocks, threads: BLOCK as u32, shared: shared_bytes(size_of::<K>()) };
        stream.fill(counts.cast::<u32>(), 0)?;
        // SAFETY: the arguments are those of the kernel, which stays within keys, edges and counts. The engine keeps the kernel. The caller
        // guarantees the rest.
        unsafe { count.launch(stream, launch, (job, codes))? };
        self.pending(stream)
    }
}

/// Bytes of shared memory, as the kernel asserts.
fn shared_bytes(key_bytes: usize) -> usize {
    struct_bytes(&[
        numbers(key_bytes.max(size_of::<u32>()), MOST_EDGES),
        numbers(4, 4 + MOST_COUNTERS),
        numbers(2, 1 << CELL_BITS),
    ])
}

/// The kernel that counts keys between edges.
#[derive(Clone, PartialEq, Eq, Hash)]
struct OfHistogram {
    content: Content,
    key_bytes: usize,
}

impl KernelSet for OfHistogram {
    fn instances(&self) -> Vec<Vec<Instance>> {
        let mut defines = self.content.defines();
        defines.extend([
            ("SORTIE_CELL_BITS", CELL_BITS.to_string()),
            ("SORTIE_MOST_EDGES", MOST_EDGES.to_string()),
            ("SORTIE_MOST_COUNTERS", MOST_COUNTERS.to_string()),
            ("SORTIE_HISTOGRAM_MEMORY", shared_bytes(self.key_bytes).to_string()),
        ]);
        vec![vec![Instance { kernel: "count", file: File::Histogram, defines }]]
    }
}
