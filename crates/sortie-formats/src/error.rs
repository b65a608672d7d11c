//! What can be wrong with a file of numbers, said without its name, which the caller knows.

use std::io;

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),

    /// A raw array of some whole elements and a piece of one.
    #[error(
        "{bytes} bytes are no multiple of the {width} bytes of {kind}; the file is cut short or of another type"
    )]
    Uneven { bytes: u64, width: usize, kind: crate::Kind },

    /// The file ends before the header does.
    #[error("the .npy header is cut short: {have} bytes are there, {need} are needed")]
    HeaderTruncated { have: u64, need: u64 },

    /// The header is not what NumPy writes.
    #[error("not a .npy file that NumPy could have written: {0}")]
    Header(String),

    /// The elements are of a type that has no order here.
    #[error("dtype {0} cannot be sorted; supported are b1, u1 to u8, i1 to i8, f2, f4 and f8")]
    Dtype(String),

    /// The elements have several fields.
    #[error(
        "the dtype {0} is structured, and cannot be sorted; save one of its fields as an array by itself: \
         np.save('one.npy', a['FIELD'])"
    )]
    Structured(String),

    /// The file ends before the data does.
    #[error("the array is cut short: {have} bytes of data are there, {need} are needed")]
    Truncated { have: u64, need: u64 },

    /// The data ends before the file does.
    #[error("the header promises {need} bytes of data, but there are more; cut off what follows the array")]
    Trailing { need: u64 },

    /// The elements do not fit into memory.
    #[error("{bytes} bytes do not fit into memory; sort the array in parts, or where there is more")]
    Memory { bytes: u64 },
}
