//! Reads an array in stretches, for arrays larger than memory.

use bytemuck::Pod;

use crate::npy::Header;
use crate::raw::{self, Input, Note};
use crate::{Endian, Error, Kind};

/// An array that is read from start to end.
#[derive(Debug)]
pub struct Stretches {
    input: Input,
    kind: Kind,
    endian: Endian,
    /// The bytes of all elements, if known.
    bytes: Option<u64>,
    /// Whether a header gave this number.
    promised: bool,
    read: u64,
}

impl Stretches {
    /// A raw array: little-endian elements of `kind` and nothing else.
    ///
    /// # Errors
    /// [`Error::Uneven`] if the length of the input shows that the last element is incomplete.
    pub fn raw(input: Input, kind: Kind) -> Result<Self, Error> {
        let bytes = input.remaining();
        let all = Stretches { input, kind, endian: Endian::Little, bytes, promised: false, read: 0 };
        bytes.map_or(Ok(()), |bytes| all.even(bytes)).map(|()| all)
    }

    /// The elements that `header` describes. `input` must be at the first of them.
    ///
    /// # Errors
    /// [`Error::Truncated`] or [`Error::Trailing`] if the length of the input shows that there are fewer or
    /// more.
    pub fn npy(input: Input, header: &Header) -> Result<Self, Error> {
        let kind = header.dtype.kind;
        let need = (header.count() * kind.width()) as u64;
        match input.remaining() {
            Some(have) if have < need => Err(Error::Truncated { have, need }),
            Some(have) if have > need => Err(Error::Trailing { need }),
            _ => {
                let endian = header.dtype.endian;
                Ok(Stretches { input, kind, endian, bytes: Some(need), promised: true, read: 0 })
            }
        }
    }

    /// The bytes of all elements, if known.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// Fills `elements` with the next ones in the byte order of this machine. Returns their number, which is smaller
    /// only at the end. `T` must be as wide as an element.
    ///
    /// # Errors
    /// [`Error::Uneven`], [`Error::Truncated`] and [`Error::Trailing`] if the array does not end as it should,
    /// [`Error::Io`].
    pub fn next<T: Pod>(&mut self, elements: &mut [T], note: Note<'_>) -> Result<usize, Error> {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(elements);
        let left = self.bytes.map_or(u64::MAX, |all| all - self.read);
        let most = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
        let filled = self.input.fill(&mut bytes[..most], note)?;
        self.read += filled as u64;
        match self.bytes {
            Some(need) if self.promised && filled < most => Err(Error::Truncated { have: self.read, need }),
            Some(_) if filled < most => Err(raw::shorter().into()),
            Some(need) if self.promised && self.read == need && self.input.fill(&mut [0], note)? > 0 => {
                Err(Error::Trailing { need })
            }
            None if filled < most => self.even(self.read),
            _ => Ok(()),
        }?;
        let count = filled / size_of::<T>();
        raw::reorder(&mut elements[..count], self.endian);
        Ok(count)
    }

    fn even(&self, bytes: u64) -> Result<(), Error> {
        let (width, kind) = (self.kind.width(), self.kind);
        if bytes.is_multiple_of(width as u64) { Ok(()) } else { Err(Error::Uneven { bytes, width, kind }) }
    }
}
