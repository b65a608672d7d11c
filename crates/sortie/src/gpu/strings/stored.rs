//! Strings in device memory, in the layouts of Arrow.

use sortie_device::{Stream, View, WARP};

use crate::Error;
use crate::gpu::kernels::strings::{StringArrays, StringBuffer};

/// Strings one after the other: string `i` is `bytes[offsets[i]..offsets[i + 1]]`, so there is one more offset than
/// strings. The offsets never decrease and stay within the bytes.
#[derive(Debug, Clone, Copy)]
pub struct Strings<'a> {
    /// The bytes of all strings.
    pub bytes: View<'a, u8>,
    /// Where each string begins and the last one ends. The first offset need not be 0.
    pub offsets: Offsets<'a>,
}

/// Offsets of strings, of 32 or 64 bits.
#[derive(Debug, Clone, Copy)]
pub enum Offsets<'a> {
    /// Of 32 bits, as in Arrow's `Utf8`.
    Narrow(View<'a, u32>),
    /// Of 64 bits, as in Arrow's `LargeUtf8`.
    Wide(View<'a, u64>),
}

/// Strings at any place in buffers, given by views of 16 bytes like Arrow's `Utf8View` and `BinaryView`. A view begins
/// with the length in four bytes, up to 2^31 - 1. Up to 12 bytes, the string itself comes next. Otherwise its first
/// four bytes come next, then the number of its buffer and its offset in that buffer. Strings stay within their
/// buffers; there are no nulls.
#[derive(Debug, Clone, Copy)]
pub struct StringViews<'a> {
    /// One view for each string.
    pub views: View<'a, u128>,
    /// The buffers in device memory, in the order of their numbers.
    pub buffers: &'a [View<'a, u8>],
}

/// Strings in either layout.
#[derive(Debug, Clone, Copy)]
pub enum StoredStrings<'a> {
    /// One after the other.
    Offsets(Strings<'a>),
    /// At any place in buffers.
    Views(StringViews<'a>),
}

impl<'a> From<Strings<'a>> for StoredStrings<'a> {
    fn from(strings: Strings<'a>) -> StoredStrings<'a> {
        StoredStrings::Offsets(strings)
    }
}

impl<'a> From<StringViews<'a>> for StoredStrings<'a> {
    fn from(views: StringViews<'a>) -> StoredStrings<'a> {
        StoredStrings::Views(views)
    }
}

impl Strings<'_> {
    pub(super) fn count(self) -> usize {
        match self.offsets {
            Offsets::Narrow(offsets) => offsets.len(),
            Offsets::Wide(offsets) => offsets.len(),
        }
        .saturating_sub(1)
    }

    pub(super) fn offset_words(&self) -> View<'_, u32> {
        match self.offsets {
            Offsets::Narrow(offsets) => offsets,
            Offsets::Wide(offsets) => offsets.cast(),
        }
    }

    pub(super) fn addresses(self) -> StringArrays {
        let offsets = match self.offsets {
            Offsets::Narrow(offsets) => offsets.address(),
            Offsets::Wide(offsets) => offsets.address(),
        };
        StringArrays { data: self.bytes.address(), entries: offsets, size: self.bytes.len() as u64 }
    }

    pub(super) fn offset_bytes(self) -> usize {
        match self.offsets {
            Offsets::Narrow(_) => size_of::<u32>(),
            Offsets::Wide(_) => size_of::<u64>(),
        }
    }
}

impl StoredStrings<'_> {
    pub(super) fn count(self) -> usize {
        match self {
            StoredStrings::Offsets(strings) => strings.count(),
            StoredStrings::Views(StringViews { views, .. }) => views.len(),
        }
    }

    /// `SORTIE_STRINGS` of the kernels.
    pub(super) fn kind(self) -> usize {
        match self {
            StoredStrings::Offsets(strings) => strings.offset_bytes(),
            StoredStrings::Views(_) => size_of::<u128>(),
        }
    }

    /// How many threads have work when all bytes are looked at: one for each eight bytes, or a warp for each view.
    pub(super) fn work(self) -> usize {
        match self {
            StoredStrings::Offsets(strings) => strings.bytes.len() / size_of::<u64>(),
            StoredStrings::Views(StringViews { views, .. }) => views.len() * WARP as usize,
        }
    }

    /// Words of the table of buffers.
    pub(super) fn table_words(self) -> usize {
        match self {
            StoredStrings::Offsets(_) => 0,
            StoredStrings::Views(StringViews { buffers, .. }) => TABLE_WORDS * buffers.len(),
        }
    }

    /// Writes the table of buffers to this memory, which has its size.
    pub(super) fn addresses(self, stream: &Stream, table: View<'_, u32>) -> Result<StringArrays, Error> {
        Ok(match self {
            StoredStrings::Offsets(strings) => strings.addresses(),
            StoredStrings::Views(StringViews { views, buffers }) => {
                let entries: Vec<[u64; 2]> =
                    buffers.iter().map(|buffer| [buffer.address(), buffer.len() as u64]).collect();
                stream.copy_in(table, bytemuck::cast_slice(&entries))?;
                StringArrays { data: table.address(), entries: views.address(), size: views.len() as u64 }
            }
        })
    }
}

/// The size of a buffer's entry, in words.
const TABLE_WORDS: usize = size_of::<StringBuffer>() / size_of::<u32>();
