//! Readers and writers of the files that Sortie sorts. No sorting happens here.

pub mod compressed;
mod dtype;
mod error;
mod kind;
pub mod lines;
pub mod npy;
mod quoted;
pub mod raw;
pub mod sequences;
pub mod spectra;
mod stretches;

pub use dtype::{Dtype, Endian};
pub use error::Error;
pub use kind::Kind;
pub use quoted::{Quoted, is_plain, quote};
pub use stretches::Stretches;
