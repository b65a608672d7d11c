//! Where sorted data goes.

use crate::Error;

/// Receives sorted data in order.
pub type Sink<'a> = &'a mut (dyn FnMut(&[u8]) -> Result<(), Error> + Send);
