//! Binary records, each after its length: a little-endian number of four bytes.

use super::Layout;

/// Records after their lengths. Their bytes are their keys.
pub struct Prefixed;

/// The bytes of a length.
const LENGTH: usize = size_of::<u32>();

impl Layout for Prefixed {
    fn first(&self, bytes: &[u8]) -> Result<Option<usize>, String> {
        let Some(length) = bytes.first_chunk::<LENGTH>() else { return Ok(None) };
        let bytes_of_record = LENGTH + u32::from_le_bytes(*length) as usize;
        Ok((bytes.len() >= bytes_of_record).then_some(bytes_of_record))
    }

    fn key(&self, item: &[u8], key: &mut Vec<u8>) -> Result<(), String> {
        key.extend_from_slice(&item[LENGTH..]);
        Ok(())
    }
}
