//! What only data in a device's memory can be asked for: sorts by comparison alone, and strings.

use bytemuck::Pod;
use sortie::gpu::{Compared, Gpu, Offsets, Pending, Strings};
use sortie::{Error, Key, Order};
use sortie_device::{Stream, View};

use super::{Both, bytes};

impl Both {
    /// One array by comparison alone: its keys, as pairs, and as an argsort.
    pub fn compare_by_comparison<K: Key + Compared>(&mut self, keys: &[K]) -> Result<(), Error> {
        let (n, order) = (keys.len(), Order::default());
        let mut here = keys.to_vec();
        let before: Vec<u32> = (0..n as u32).collect();
        let mut places = before.clone();
        self.cpu.sort_pairs(&mut here, &mut places)?;

        let gpu = self.there.clone();
        // SAFETY: nothing else uses the keys meanwhile.
        let there =
            sorted(&gpu, keys, |stream, keys| unsafe { gpu.sort_by_comparison(stream, keys, order) })?;
        self.note(bytes(&there) == bytes(&here), format!("one array of {n}"));

        let (stream, keys_there) = (gpu.device().stream()?, gpu.device().alloc::<K>(n)?);
        let beside = gpu.device().alloc::<u32>(n)?;
        let (mut found, mut found_beside) = (there, before.clone());
        stream.copy_in(keys_there.view(), keys)?;
        stream.copy_in(beside.view(), &before)?;
        // SAFETY: nothing else uses the two meanwhile.
        unsafe { gpu.sort_pairs_by_comparison(&stream, keys_there.view(), beside.view(), order)? }.wait()?;
        stream.copy_out(&mut found, keys_there.view())?;
        stream.copy_out(&mut found_beside, beside.view())?;
        let pairs = bytes(&found) == bytes(&here) && found_beside == places;

        stream.copy_in(keys_there.view(), keys)?;
        // SAFETY: as above.
        unsafe { gpu.argsort_by_comparison(&stream, keys_there.view(), beside.view(), order)? }.wait()?;
        stream.copy_out(&mut found, keys_there.view())?;
        stream.copy_out(&mut found_beside, beside.view())?;
        let argsort = bytes(&found) == bytes(keys) && found_beside == places;
        self.note(pairs, format!("one array of {n} pairs"));
        self.note(argsort, format!("argsort of one array of {n}"));
        Ok(())
    }

    /// An argsort of strings, and the strings in that order.
    pub fn compare_strings(&mut self, strings: &[Vec<u8>]) -> Result<(), Error> {
        let mut here = vec![0u32; strings.len()];
        self.cpu.argsort_strings(strings, &mut here)?;
        let ends = strings.iter().scan(0, |end, string| {
            *end += string.len() as u64;
            Some(*end)
        });
        let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
        let text = strings.concat();

        let gpu = self.there.clone();
        let (stream, bytes_there) = (gpu.device().stream()?, gpu.device().alloc::<u8>(text.len())?);
        let offsets_there = gpu.device().alloc::<u64>(offsets.len())?;
        let places = gpu.device().alloc::<u32>(strings.len())?;
        stream.copy_in(bytes_there.view(), &text)?;
        stream.copy_in(offsets_there.view(), &offsets)?;
        let there = Strings { bytes: bytes_there.view(), offsets: Offsets::Wide(offsets_there.view()) };
        // SAFETY: nothing else uses the strings and the places meanwhile.
        unsafe { gpu.argsort_strings(&stream, there, places.view(), Order::default())? }.wait()?;
        let mut found = here.clone();
        stream.copy_out(&mut found, places.view())?;
        self.note(found == here, format!("argsort of {} strings", strings.len()));

        let sorted_bytes = gpu.device().alloc::<u8>(text.len())?;
        let sorted_offsets = gpu.device().alloc::<u64>(offsets.len())?;
        let sorted = Strings { bytes: sorted_bytes.view(), offsets: Offsets::Wide(sorted_offsets.view()) };
        // SAFETY: nothing else uses either strings or the places; there is room for all bytes.
        unsafe { gpu.gather_strings(&stream, there, places.view(), sorted)? }.wait()?;
        let (mut text, mut offsets) = (text, offsets);
        stream.copy_out(&mut text, sorted_bytes.view())?;
        stream.copy_out(&mut offsets, sorted_offsets.view())?;
        let gathered = offsets.windows(2).map(|ends| text.get(ends[0] as usize..ends[1] as usize));
        let right = here.iter().map(|&place| Some(&strings[place as usize][..])).eq(gathered);
        self.note(right, format!("{} strings in order", strings.len()));
        Ok(())
    }
}

/// Keys after a sort in the device's memory, which nothing else uses meanwhile.
fn sorted<'gpu, K: Pod>(
    gpu: &Gpu,
    keys: &[K],
    sort: impl FnOnce(&Stream, View<'_, K>) -> Result<Pending<'gpu>, Error>,
) -> Result<Vec<K>, Error> {
    let (stream, there) = (gpu.device().stream()?, gpu.device().alloc::<K>(keys.len())?);
    stream.copy_in(there.view(), keys)?;
    sort(&stream, there.view())?.wait()?;
    let mut sorted = keys.to_vec();
    stream.copy_out(&mut sorted, there.view())?;
    Ok(sorted)
}
