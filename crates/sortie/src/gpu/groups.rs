//! Groups of equal keys among sorted ones: the distinct keys, their counts, and which key is in which group.

use bytemuck::Pod;
use sortie_device::{Launch, Stream, View, WARP};

use super::engine::KernelSet;
use super::kernels::groups::{GroupResults, SortedKeys};
use super::kernels::{File, Instance, blocks};
use super::{Gpu, Pending, code};
use crate::error::same_length;
use crate::key::{Bits, Code, index_fits};
use crate::{Error, Index, TotalOrder};

/// Threads of a block.
const BLOCK: usize = 256;
const WARPS: usize = BLOCK / WARP as usize;
/// Keys of a tile. Each has a block.
const TILE: usize = BLOCK * 16;
/// Threads of the block that sums.
const SUMMING: usize = 1024;

/// Which keys are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Equality {
    /// Those with equal bits. Floats may be in the order of `total_cmp`.
    Bits,
    /// Those with equal values, and all NaNs: as in `np.unique`.
    #[default]
    Values,
    /// Those with equal values. No NaN equals another, as in IEEE 754.
    ValuesButNans,
}

/// What [`Gpu::write_groups`] writes of the groups of sorted keys.
#[derive(Debug, Clone, Copy)]
pub struct DeviceGroups<'a, K, I> {
    /// The first key of each group. As long as there are groups, like the next two.
    pub keys: Option<View<'a, K>>,
    /// How many keys each group has.
    pub counts: Option<View<'a, I>>,
    /// The index of the first key of each group.
    pub first: Option<View<'a, I>>,
    /// For each index, the number of the group that its key is in. As long as there are keys.
    pub inverse: Option<View<'a, I>>,
    /// The indices of the keys before they were sorted, as [`Gpu::argsort`] writes them. `first` and `inverse` need them.
    pub indices: Option<View<'a, I>>,
}

impl<K, I> Default for DeviceGroups<'_, K, I> {
    fn default() -> Self {
        DeviceGroups { keys: None, counts: None, first: None, inverse: None, indices: None }
    }
}

impl Gpu {
    /// Words of the table that [`Gpu::find_groups`] fills for this many keys: one, and two for each 4,096 keys.
    pub fn group_table_words(&self, keys: usize) -> usize {
        1 + 2 * keys.div_ceil(TILE)
    }

    /// Enqueues a search for groups of equal keys in `sorted`, where equal keys are beside each other. Fills `table`, whose first
    /// word is then the number of groups. So the caller can make room for what [`Gpu::write_groups`] writes of them.
    ///
    /// Reads the keys once. Takes no scratch besides the table.
    ///
    /// ```no_run
    /// use sortie::gpu::{self, DeviceGroups, Equality};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = sortie_device::cuda::device(0)?;
    /// let gpu = gpu::Gpu::new(device.clone());
    /// let stream = device.stream()?;
    /// let sorted = device.alloc::<u32>(5)?;
    /// stream.copy_in(sorted.view(), &[3, 3, 7, 8, 8])?;
    /// let table = device.alloc::<u64>(gpu.group_table_words(sorted.len()))?;
    /// // SAFETY: nothing else uses any of them until the search is done.
    /// unsafe { gpu.find_groups(&stream, sorted.view(), Equality::Bits, table.view())? }.wait()?;
    /// let mut groups = [0];
    /// stream.copy_out(&mut groups, table.range(0..1))?;
    /// assert_eq!(groups, [3]);
    ///
    /// let (distinct, counts) = (device.alloc::<u32>(3)?, device.alloc::<u32>(3)?);
    /// let to = DeviceGroups { keys: Some(distinct.view()), counts: Some(counts.view()), ..DeviceGroups::default() };
    /// // SAFETY: as above, and the table is that of these keys.
    /// unsafe { gpu.write_groups(&stream, sorted.view(), Equality::Bits, table.view(), to)? }.wait()?;
    /// let mut found = [0; 3];
    /// stream.copy_out(&mut found, counts.view())?;
    /// assert_eq!(found, [2, 1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the table has another number of words than [`Gpu::group_table_words`];
    /// [`Error::Unsupported`] for keys of 128 bits; errors of the device.
    ///
    /// # Safety
    /// The stream belongs to this engine's device. Nothing else writes the keys or uses the table until the search is done, and
    /// they do not overlap.
    pub unsafe fn find_groups<K: TotalOrder + Pod>(
        &self,
        stream: &Stream,
        sorted: View<'_, K>,
        equality: Equality,
        table: View<'_, u64>,
    ) -> Result<Pending<'_>, Error> {
        same_length("words of the table", self.group_table_words(sorted.len()), table.len())?;
        let job = job(sorted, equality, table)?;
        if sorted.is_empty() {
            stream.fill(table.cast::<u32>(), 0)?;
            return self.pending(stream);
        }
        let kernels = self.kernel_set(&OfGroups::of::<K>(equality))?;
        let [count, sum, _] = &kernels[0][..] else { unreachable!("as many as instances") };
        let summing = Launch { blocks: 1, threads: SUMMING as u32, shared: sums_bytes() };
        // SAFETY: the arguments are those of the kernels, which stay within keys and table. The engine keeps the kernels. The
        // caller guarantees the rest.
        unsafe {
            count.launch(stream, of_tiles(sorted.len())?, (job,))?;
            sum.launch(stream, summing, (job,))?;
        }
        self.pending(stream)
    }

    /// Enqueues the writing of what is asked of the groups of `sorted`, in the order of the keys.
    ///
    /// Reads the keys that are within 4,096 keys of the beginning of a group; for `inverse`, all keys and indices, and writes at random
    /// positions. Takes no scratch.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if results that have an entry for each group differ in length, or `inverse` or `indices` have not
    /// as many entries as there are keys; [`Error::Unsupported`] for keys of 128 bits, if the type of the numbers is too narrow, or
    /// if `first` or `inverse` are wanted and there are no indices; errors of the device.
    ///
    /// # Safety
    /// As [`Gpu::find_groups`], which has filled the table for the same keys and equality. Results for each group have as many
    /// entries as it has found, `indices` has each index once, and results overlap neither each other nor anything else.
    pub unsafe fn write_groups<K: TotalOrder + Pod, I: Index + Pod>(
        &self,
        stream: &Stream,
        sorted: View<'_, K>,
        equality: Equality,
        table: View<'_, u64>,
        to: DeviceGroups<'_, K, I>,
    ) -> Result<Pending<'_>, Error> {
        same_length("words of the table", self.group_table_words(sorted.len()), table.len())?;
        to.check(sorted.len())?;
        let job = job(sorted, equality, table)?;
        if sorted.is_empty() {
            return self.pending(stream);
        }
        let kernels = self.kernel_set(&OfGroups::of::<K>(equality))?;
        let [.., write] = &kernels[0][..] else { unreachable!("as many as instances") };
        // SAFETY: the arguments are those of the kernel, which stays within them. The engine keeps the kernel. The caller
        // guarantees the rest.
        unsafe { write.launch(stream, of_tiles(sorted.len())?, (job, to.results()))? };
        self.pending(stream)
    }
}

impl<K: Pod, I: Index + Pod> DeviceGroups<'_, K, I> {
    /// Fails if the results do not fit each other or this many keys.
    fn check(&self, keys: usize) -> Result<(), Error> {
        index_fits::<I>(keys)?;
        let of_groups = [self.keys.map(|view| view.len()), self.counts.map(|view| view.len())];
        let of_groups = of_groups.into_iter().chain([self.first.map(|view| view.len())]).flatten();
        let mut of_groups = of_groups.peekable();
        if let Some(&groups) = of_groups.peek() {
            of_groups.try_for_each(|length| same_length("entries of all groups", groups, length))?;
        }
        for of_keys in [self.inverse, self.indices].into_iter().flatten() {
            same_length("indices", keys, of_keys.len())?;
        }
        if self.indices.is_none() && (self.first.is_some() || self.inverse.is_some()) {
            return Err(Error::Unsupported(
                "the first and the inverse indices of groups need the indices of the sorted keys; give them too".into(),
            ));
        }
        Ok(())
    }

    fn results(&self) -> GroupResults {
        let of = |view: Option<View<'_, I>>| view.map_or(0, |view| view.address());
        GroupResults {
            keys: self.keys.map_or(0, |view| view.address()),
            counts: of(self.counts),
            indices: of(self.indices),
            first: of(self.first),
            inverse: of(self.inverse),
            number_bytes: size_of::<I>() as u64,
        }
    }
}

fn job<K: TotalOrder + Pod>(
    sorted: View<'_, K>,
    equality: Equality,
    table: View<'_, u64>,
) -> Result<SortedKeys, Error> {
    if size_of::<K>() > size_of::<u64>() {
        return Err(Error::Unsupported(
            "a GPU groups keys of at most 64 bits; group these on the CPU".into(),
        ));
    }
    let tiles = sorted.len().div_ceil(TILE);
    Ok(SortedKeys {
        keys: sorted.address(),
        count: sorted.len() as u64,
        heads: table.range(1..1 + tiles).address(),
        first: table.range(1 + tiles..1 + 2 * tiles).address(),
        groups: table.address(),
        infinity: code::<K>()?.infinity_and_nan(K::Bits::WIDTH).map_or(0, |(infinity, _)| infinity),
        nans_differ: u64::from(equality == Equality::ValuesButNans),
    })
}

fn of_tiles(keys: usize) -> Result<Launch, Error> {
    Ok(Launch { blocks: blocks(keys.div_ceil(TILE) as u64)?, threads: BLOCK as u32, shared: parts_bytes() })
}

/// Bytes of what the warps of a block know of their parts of a tile.
fn parts_bytes() -> usize {
    2 * size_of::<u32>() * WARPS
}

/// Bytes of the shared memory of the block that sums.
fn sums_bytes() -> usize {
    2 * size_of::<u64>() * SUMMING / WARP as usize
}

/// The kernels that find groups and write what they have.
#[derive(Clone, PartialEq, Eq, Hash)]
struct OfGroups {
    key_bytes: usize,
    by_value: bool,
}

impl OfGroups {
    fn of<K: TotalOrder>(equality: Equality) -> OfGroups {
        let is_float = code::<K>().is_ok_and(Code::is_float);
        OfGroups { key_bytes: size_of::<K>(), by_value: is_float && equality != Equality::Bits }
    }
}

impl KernelSet for OfGroups {
    fn instances(&self) -> Vec<Vec<Instance>> {
        let defines = vec![
            ("SORTIE_KEY_BYTES", self.key_bytes.to_string()),
            ("SORTIE_BY_VALUE", u8::from(self.by_value).to_string()),
            ("SORTIE_TILE", TILE.to_string()),
            ("SORTIE_PARTS_MEMORY", parts_bytes().to_string()),
            ("SORTIE_SUMS_MEMORY", sums_bytes().to_string()),
        ];
        let of = |kernel| Instance { kernel, file: File::Groups, defines: defines.clone() };
        vec![["count_heads", "sum_heads", "write_groups"].map(of).to_vec()]
    }
}
