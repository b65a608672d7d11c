//! Errors in files of numbers. Messages do not include the file name, which the caller knows.

use std::io;

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system returned an error.
    #[error(transparent)]
    Io(#[from] io::Error),

    /// The last element of a raw array is incomplete.
    #[error(
        "{bytes} bytes are not a multiple of {width}, the size of {kind}; the file is cut short or has another type"
    )]
    Uneven { bytes: u64, width: usize, kind: crate::Kind },

    /// The file ends before the header does.
    #[error("the .npy header is cut short: it has {have} of {need} bytes")]
    HeaderTruncated { have: u64, need: u64 },

    /// The header differs from what NumPy writes.
    #[error("not a .npy file that NumPy could have written: {0}")]
    Header(String),

    /// The elements have a type that cannot be sorted.
    #[error(
        "dtype {0} cannot be sorted; the supported types are b1, u1 to u8, i1 to i8, f2, f4, f8, M8 and m8"
    )]
    Dtype(String),

    /// The elements have several fields.
    #[error(
        "the dtype {0} is structured and cannot be sorted; save one of its fields as a separate array: \
         np.save('one.npy', a['FIELD'])"
    )]
    Structured(String),

    /// The file ends before the data does.
    #[error("the array is cut short: it has {have} of {need} bytes of data")]
    Truncated { have: u64, need: u64 },

    /// The data ends before the file does.
    #[error("the header promises {need} bytes of data, but the file has more; remove what follows the array")]
    Trailing { need: u64 },

    /// The elements do not fit in memory.
    #[error("{bytes} bytes do not fit in memory; sort the array in parts, or on a machine with more memory")]
    Memory { bytes: u64 },
}
