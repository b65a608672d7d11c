//! How a [`Sorter`]'s calls for strings reach an engine.

use super::{Sorter, index_fits};
#[cfg(doc)]
use crate::Algorithm;
use crate::cpu::Job;
use crate::error::same_length;
use crate::request::{Beside, KeyForm, Operation, Request};
use crate::ways::CpuWay;
use crate::{Error, Index, Report, cpu};

impl Sorter {
    /// Sorts strings by their bytes. Moves references, never the bytes. Stable, unless the sorter was built with `.unstable()`.
    ///
    /// `n` strings that are told apart by `D` bytes take at most O((n + D) log n). Scratch on the CPU:
    ///
    /// - up to 16 strings: none;
    /// - more: a copy of the references and 16 bytes for each, for a sort by words of their first bytes;
    /// - with [`Algorithm::Merge`]: a copy of the references; with one thread, half a copy, or a whole one of up to 8 MB;
    /// - with [`Algorithm::Quicksort`]: none.
    ///
    /// On a GPU it is that of [`Sorter::argsort_strings`], plus a copy of the references and 33 bits for each.
    ///
    /// # Panics
    /// If `as_ref` panics, and possibly if it returns other bytes than before; the strings are then a permutation.
    ///
    /// # Errors
    /// [`Error::Memory`] if the limit does not leave room for the scratch; the strings are then as they were. [`Error::Memory`]
    /// also if the system refuses the scratch; they are then a permutation. [`Error::Unsupported`] for an algorithm that does
    /// not sort strings or cannot be stable. On a GPU as [`Sorter::argsort_strings`].
    pub fn sort_strings<S: AsRef<[u8]> + Send + Sync>(&self, strings: &mut [S]) -> Result<Report, Error> {
        self.sort_referred(strings, S::as_ref)
    }

    /// Sorts items that refer to strings.
    pub(super) fn sort_referred<S: Send + Sync>(
        &self,
        strings: &mut [S],
        bytes: impl Fn(&S) -> &[u8] + Sync,
    ) -> Result<Report, Error> {
        let (bytes, descending) = (&bytes, self.choices.order.descending);
        if self.sorts_at_once(strings.len()) && self.choices.memory_limit.is_none() {
            return Ok(cpu::strings::sort_few(strings, bytes, descending));
        }
        self.run(
            self.strings_request::<S>(Operation::Array, strings.len()),
            strings,
            |strings, on| self.sort_strings_on_gpu(on, strings, bytes, 0),
            |strings, job| cpu::strings::sort(strings, bytes, descending, job),
        )
    }

    /// The request for strings that move as items of this type.
    fn strings_request<S>(&self, operation: Operation, n: usize) -> Request {
        self.request(operation, KeyForm::Strings, Beside::Payload { bytes: size_of::<S>(), stable: true }, n)
    }

    /// The request for the indices of strings.
    fn indices_request(&self, operation: Operation, n: usize) -> Request {
        self.request(operation, KeyForm::Strings, Beside::Indices { stable: true }, n)
    }

    /// Writes the indices of the strings in order. Stable, unless the sorter was built with `.unstable()`. Time, and
    /// scratch on the CPU, are as for [`Sorter::sort_strings`], with the indices as references.
    ///
    /// On a GPU, the CPU helps: it cuts the first symbols of every string to a word of 8 bytes, the GPU sorts the words, and
    /// the CPU sorts the ties. The transfers take O(n), however long the strings are. If a sample has many ties and short
    /// strings, all bytes are copied to the GPU instead, as by `Gpu::argsort_strings`. Scratch: at most two pieces of 16 MiB in
    /// pinned memory, and about 110 bytes per string, most of it on the device, which may also hold the bytes. If the device or
    /// the limit has less, the CPU first splits the strings into ranges by splitters from a sample. That takes a few
    /// comparisons and 16 bytes of scratch per string. Each range is then sorted on its own, with the scratch above.
    ///
    /// Source: Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014), section
    /// III.
    ///
    /// # Panics
    /// If `as_ref` panics, and possibly if it returns other bytes than before. The indices are then unspecified.
    ///
    /// # Errors
    /// As [`Sorter::argsort`]. On a GPU: [`Error::Unsupported`] for any algorithm but [`Algorithm::Auto`] and
    /// [`Algorithm::Radix`], or more than 2^32 - 2^16 strings; [`Error::Memory`] if there is too little, and
    /// [`Error::Device`] if the device is not available or fails. The strings are as they were.
    pub fn argsort_strings<S: AsRef<[u8]> + Sync, I: Index>(
        &self,
        strings: &[S],
        indices: &mut [I],
    ) -> Result<Report, Error> {
        index_fits::<I>(strings.len())?;
        same_length("indices", strings.len(), indices.len())?;
        self.argsort_referred(
            self.indices_request(Operation::Array, strings.len()),
            strings,
            S::as_ref,
            indices,
        )
    }

    /// Writes the indices of items that refer to strings.
    pub(super) fn argsort_referred<S: Sync, I: Index>(
        &self,
        request: Request,
        strings: &[S],
        bytes: impl Fn(&S) -> &[u8] + Sync,
        indices: &mut [I],
    ) -> Result<Report, Error> {
        let (bytes, descending) = (&bytes, self.choices.order.descending);
        if self.sorts_at_once(strings.len()) && self.choices.memory_limit.is_none() {
            return Ok(cpu::strings::argsort_few(strings, bytes, indices, descending));
        }
        self.run(
            request,
            indices,
            |indices, on| self.strings_on_gpu(on, strings, bytes, indices, 0),
            |indices, job| cpu::strings::argsort(strings, bytes, indices, descending, job),
        )
    }

    /// Sorts strings as [`Sorter::sort_strings`] does on the CPU, and writes how many bytes each shares with the one
    /// before: `lcps[0]` is 0, and `lcps[i]` is the length of the longest common prefix of `strings[i - 1]` and
    /// `strings[i]`.
    ///
    /// Most of these lengths follow from the words by which strings are sorted, without reading the strings again. Only
    /// strings that were already in order, or that are sorted by comparison (up to 16 strings, [`Algorithm::Merge`],
    /// [`Algorithm::Quicksort`]), are compared with their neighbours afterwards, in O(n + the sum of the lcps). No
    /// scratch beyond that of the sort.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let (mut strings, mut lcps) = (["tea", "ten", "a", "tea"], [0u32; 4]);
    /// sortie::Sorter::builder().build()?.sort_strings_with_lcps(&mut strings, &mut lcps)?;
    /// assert_eq!((strings, lcps), (["a", "tea", "tea", "ten"], [0, 0, 3, 2]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// As [`Sorter::sort_strings`]. The lcps are then unspecified.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the numbers of lcps and strings differ; [`Error::Unsupported`] if their type is too
    /// narrow for the length of the longest string, or if the engine is a device; the errors of
    /// [`Sorter::sort_strings`].
    pub fn sort_strings_with_lcps<S: AsRef<[u8]> + Send + Sync, L: Index>(
        &self,
        strings: &mut [S],
        lcps: &mut [L],
    ) -> Result<Report, Error> {
        same_length("lcps", strings.len(), lcps.len())?;
        lcps_fit::<S, L>(strings)?;
        let descending = self.choices.order.descending;
        let request = self.strings_request::<S>(Operation::Lcps, strings.len());
        self.run_on_cpu(request, |job| {
            cpu::strings::sort_with_lcps(strings, lcps, S::as_ref, descending, job)
        })
    }

    /// Writes the indices of the strings in order, and how many bytes each shares with the one before: `lcps[0]` is 0, and
    /// `lcps[i]` is the length of the longest common prefix of `strings[indices[i - 1]]` and `strings[indices[i]]`. For the
    /// cost, see [`Sorter::sort_strings_with_lcps`].
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let (mut indices, mut lcps) = ([0u32; 3], [0usize; 3]);
    /// let sorter = sortie::Sorter::builder().build()?;
    /// sorter.argsort_strings_with_lcps(&["ten", "a", "tea"], &mut indices, &mut lcps)?;
    /// assert_eq!((indices, lcps), ([1, 2, 0], [0, 0, 2]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// As [`Sorter::argsort_strings`]. The lcps are then unspecified.
    ///
    /// # Errors
    /// As [`Sorter::argsort`] and [`Sorter::sort_strings_with_lcps`].
    pub fn argsort_strings_with_lcps<S: AsRef<[u8]> + Sync, I: Index, L: Index>(
        &self,
        strings: &[S],
        indices: &mut [I],
        lcps: &mut [L],
    ) -> Result<Report, Error> {
        index_fits::<I>(strings.len())?;
        same_length("indices", strings.len(), indices.len())?;
        same_length("lcps", strings.len(), lcps.len())?;
        lcps_fit::<S, L>(strings)?;
        let descending = self.choices.order.descending;
        self.run_on_cpu(self.indices_request(Operation::Lcps, strings.len()), |job| {
            cpu::strings::argsort_with_lcps(strings, S::as_ref, indices, lcps, descending, job)
        })
    }

    /// Sorts strings stored as offsets into bytes (see [`sort_string_array`](crate::sort_string_array)), as
    /// [`Sorter::sort_strings`] does. Scratch: a copy of the bytes, 24 bytes per string, and that of a sort of references of 16
    /// bytes.
    ///
    /// # Errors
    /// [`Error::Segments`] if there are no offsets, or if they decrease or go past the end; the errors of
    /// [`Sorter::sort_strings`]. Offsets and bytes are as they were.
    pub fn sort_string_array<O: Index>(&self, offsets: &mut [O], bytes: &mut [u8]) -> Result<Report, Error> {
        let request = self.strings_request::<&[u8]>(Operation::Array, offsets.len());
        let budget = request.budget;
        let descending = self.choices.order.descending;
        self.run(
            request,
            &mut (offsets, bytes),
            |(offsets, bytes), on| {
                let job = Job { way: CpuWay::Distribute, stable: true, budget };
                cpu::strings::sort_array(offsets, bytes, &job, |strings, job| {
                    let held = job.budget.held - budget.held;
                    self.sort_strings_on_gpu(on, strings, &|string| string, held as usize)
                })
            },
            |(offsets, bytes), job| {
                cpu::strings::sort_array(offsets, bytes, job, |strings, job| {
                    cpu::strings::sort(strings, |string| string, descending, job)
                })
            },
        )
    }
}

fn lcps_fit<S: AsRef<[u8]>, L: Index>(strings: &[S]) -> Result<(), Error> {
    let too_long = |length: &usize| *length as u64 > L::LARGEST;
    // Only if the index type is narrower than `usize`, because this reads the length of every string.
    if !too_long(&usize::MAX) {
        return Ok(());
    }
    match strings.iter().map(|string| string.as_ref().len()).find(too_long) {
        None => Ok(()),
        Some(length) => Err(Error::Unsupported(format!(
            "a string of {length} bytes may share a prefix whose length does not fit in lcps of {} bits; use wider lcps",
            8 * size_of::<L>()
        ))),
    }
}
