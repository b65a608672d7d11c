//! What every sort that is larger than memory has in common: sorted runs on disk.

mod runs;

use crate::failure::Failure;
pub use runs::{Content, Run, RunFolder};

/// Takes sorted data in order.
pub type Sink<'a> = &'a mut (dyn FnMut(&[u8]) -> Result<(), Failure> + Send);
