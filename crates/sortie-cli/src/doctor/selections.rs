//! Selects from keys in GPU memory: the first k, keys at indices of the order, positions of queries, groups of equal keys, keys between edges.

use std::sync::Arc;

use bytemuck::{Pod, bytes_of};
use sortie::gpu::{DeviceGroups, DeviceHistogram, DeviceNth, DeviceSearch, DeviceTop, Equality, Gpu};
use sortie::{Error, Key, Order, Side, Sorter};
use sortie_device::{Buffer, Stream, View};

use super::{Both, Chosen};

/// The length of rows, and how many keys of each are selected.
const ROW: usize = 2000;
const FEW: usize = 10;

impl Both {
    /// Selects from these keys in all ways.
    pub fn compare_selections<K: Key + Pod>(&mut self, keys: &[K]) -> Result<(), Error> {
        let n = keys.len();
        let device = OnDevice::new(self.there.clone(), self.chosen, keys)?;
        for (row, k) in [(n, FEW), (n, n / 16), (ROW.min(n / 2), FEW)] {
            let same = device.finds_first(&self.cpu, row, k)?;
            self.note(same, format!("the first {k} of rows of {row} of {n}"));
        }
        let same = device.finds_nth(&self.cpu)?;
        self.note(same, format!("keys at indices of {n}"));
        let same = device.finds_positions(&self.cpu)?;
        self.note(same, format!("{n} queries in as many keys"));
        let same = device.finds_groups(&self.cpu)?;
        self.note(same, format!("groups of {n}"));
        let same = device.counts_between(&self.cpu)?;
        self.note(same, format!("{n} keys between edges"));
        Ok(())
    }
}

/// Keys in host memory and in that of a GPU.
struct OnDevice<'a, K: Pod> {
    gpu: Arc<Gpu>,
    stream: Stream,
    order: Order,
    host: &'a [K],
    keys: Buffer<K>,
}

impl<'a, K: Key + Pod> OnDevice<'a, K> {
    fn new(gpu: Arc<Gpu>, chosen: Chosen, host: &'a [K]) -> Result<OnDevice<'a, K>, Error> {
        let (stream, keys) = (gpu.device().stream()?, gpu.device().alloc(host.len())?);
        stream.copy_in(keys.view(), host)?;
        let order = Order { descending: chosen.descending, nans: chosen.nans, ..Order::default() };
        Ok(OnDevice { gpu, stream, order, host, keys })
    }

    /// Whether the first `k` keys of each row are found, and their indices.
    fn finds_first(&self, cpu: &Sorter, row: usize, k: usize) -> Result<bool, Error> {
        let rows = self.host.len() / row;
        let (keys, indices) = (self.alloc::<K>(rows * k)?, self.alloc::<u32>(rows * k)?);
        let of = DeviceTop::of(indices.view(), self.order);
        let to = DeviceTop { keys: Some(keys.view()), row: Some(row), ..of };
        // SAFETY: nothing else uses any of them until the selection is done.
        unsafe { self.gpu.top_k(&self.stream, self.keys.range(0..rows * row), to)? }.wait()?;
        let (keys, indices) = (self.copied(keys.view())?, self.copied(indices.view())?);
        let mut first = vec![0u32; k];
        for ((of_row, keys), indices) in
            self.host.chunks_exact(row).zip(keys.chunks(k)).zip(indices.chunks(k))
        {
            cpu.arg_top_k(of_row, &mut first)?;
            let right = |(key, &index): (&K, &u32)| bytes_of(key) == bytes_of(&of_row[index as usize]);
            if indices != first || !keys.iter().zip(&first).all(right) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether keys at some indices of the order are found.
    fn finds_nth(&self, cpu: &Sorter) -> Result<bool, Error> {
        let n = self.host.len();
        let indices = [0, n / 4, n / 2, n / 2 + 1, n - 1].map(|index| index.min(n - 1));
        let nth = self.alloc::<K>(indices.len())?;
        let wanted = DeviceNth { indices: &indices, nth: nth.view(), order: self.order };
        // SAFETY: nothing else uses any of them until the selection is done.
        unsafe { self.gpu.nth(&self.stream, self.keys.view(), &wanted)? }.wait()?;
        let mut expected = [self.host[0]; 5];
        cpu.nth(self.host, &indices, &mut expected)?;
        Ok(same(&self.copied(nth.view())?, &expected))
    }

    /// Whether the keys are found among themselves.
    fn finds_positions(&self, cpu: &Sorter) -> Result<bool, Error> {
        let mut sorted = self.host.to_vec();
        cpu.sort(&mut sorted)?;
        let (on_device, positions) = (self.alloc::<K>(sorted.len())?, self.alloc::<u32>(sorted.len())?);
        self.stream.copy_in(on_device.view(), &sorted)?;
        let mut expected = vec![0u32; sorted.len()];
        for side in [Side::Left, Side::Right] {
            let of = DeviceSearch::of(self.keys.view(), positions.view(), self.order);
            // SAFETY: nothing else uses any of them until the search is done.
            unsafe { self.gpu.search_sorted(&self.stream, on_device.view(), DeviceSearch { side, ..of })? }
                .wait()?;
            cpu.search_sorted(&sorted, self.host, side, &mut expected)?;
            if self.copied(positions.view())? != expected {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether groups of equal keys are found, and what they have.
    fn finds_groups(&self, cpu: &Sorter) -> Result<bool, Error> {
        let (n, equality) = (self.host.len(), Equality::Bits);
        let (mut sorted, mut order) = (self.host.to_vec(), (0..n as u32).collect::<Vec<_>>());
        cpu.sort_pairs(&mut sorted, &mut order)?;
        let (on_device, indices) = (self.alloc::<K>(n)?, self.alloc::<u32>(n)?);
        self.stream.copy_in(on_device.view(), &sorted)?;
        self.stream.copy_in(indices.view(), &order)?;
        let table = self.alloc::<u64>(self.gpu.group_table_words(n))?;
        // SAFETY: nothing else uses any of them until the search is done.
        unsafe { self.gpu.find_groups(&self.stream, on_device.view(), equality, table.view())? }.wait()?;
        let expected = cpu.unique_groups::<K, u32>(self.host)?.0;
        let groups = self.copied(table.range(0..1))?[0] as usize;
        if groups != expected.counts.len() {
            return Ok(false);
        }
        let (keys, counts, first) =
            (self.alloc::<K>(groups)?, self.alloc::<u32>(groups)?, self.alloc::<u32>(groups)?);
        let inverse = self.alloc::<u32>(n)?;
        let to = DeviceGroups {
            keys: Some(keys.view()),
            counts: Some(counts.view()),
            first: Some(first.view()),
            inverse: Some(inverse.view()),
            indices: Some(indices.view()),
        };
        // SAFETY: as above, and the table is that of these keys.
        unsafe { self.gpu.write_groups(&self.stream, on_device.view(), equality, table.view(), to)? }
            .wait()?;
        let of_groups: Vec<K> = expected.first.iter().map(|&index| self.host[index as usize]).collect();
        Ok(same(&self.copied(keys.view())?, &of_groups)
            && self.copied(counts.view())? == expected.counts
            && self.copied(first.view())? == expected.first
            && self.copied(inverse.view())? == expected.inverse)
    }

    /// Whether keys are counted between some of them.
    fn counts_between(&self, cpu: &Sorter) -> Result<bool, Error> {
        let mut edges: Vec<K> = self.host.iter().copied().step_by(self.host.len() / 50).collect();
        cpu.sort(&mut edges)?;
        let mut expected = vec![0; edges.len() - 1];
        cpu.histogram(self.host, &edges, &mut expected)?;
        let (between, counts) = (self.alloc::<K>(edges.len())?, self.alloc::<u64>(expected.len())?);
        self.stream.copy_in(between.view(), &edges)?;
        let (edges, order) = (between.view(), self.order);
        let bins = DeviceHistogram { edges, counts: counts.view(), order, by_value: false };
        // SAFETY: nothing else uses any of them until the count is done.
        unsafe { self.gpu.histogram(&self.stream, self.keys.view(), bins)? }.wait()?;
        Ok(self.copied(counts.view())?.into_iter().eq(expected.into_iter().map(|count| count as u64)))
    }

    fn alloc<T: Pod>(&self, length: usize) -> Result<Buffer<T>, Error> {
        Ok(self.gpu.device().alloc(length)?)
    }

    /// A copy in host memory.
    fn copied<T: Pod>(&self, view: View<'_, T>) -> Result<Vec<T>, Error> {
        let mut copy = vec![T::zeroed(); view.len()];
        self.stream.copy_out(&mut copy, view)?;
        Ok(copy)
    }
}

fn same<K: Pod>(a: &[K], b: &[K]) -> bool {
    bytemuck::cast_slice::<_, u8>(a) == bytemuck::cast_slice::<_, u8>(b)
}
