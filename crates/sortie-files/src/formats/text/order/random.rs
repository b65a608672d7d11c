//! `-R`: groups equal keys together and shuffles the groups, by a hash of each key.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use md5::{Digest, Md5};

use crate::Error;
use crate::formats::text::locale::Locale;

/// The MD5 state after hashing a salt; each key is then added to a copy. GNU sort uses the same hash.
#[derive(Debug, Clone)]
pub struct Shuffle(Md5);

impl Shuffle {
    /// Reads a salt of 16 bytes from the start of `source`, or from the system.
    pub fn new(source: Option<&Path>) -> Result<Shuffle, Error> {
        let source = source.unwrap_or(Path::new("/dev/urandom"));
        let mut salt = [0; 16];
        let mut file = File::open(source).map_err(Error::file("read", source))?;
        file.read_exact(&mut salt).map_err(Error::file("take 16 bytes to shuffle with from", source))?;
        Ok(Shuffle(Md5::new_with_prefix(salt)))
    }

    /// The hash that decides the position of a key.
    pub fn digest(&self, key: &[u8], locale: &Locale) -> [u8; 16] {
        let mut hash = self.0.clone();
        if !locale.hashes_strings() {
            return hash.chain_update(key).finalize().into();
        }
        let mut transformed = Vec::new();
        // A last part that is empty is no string.
        for part in key.strip_suffix(b"\0").unwrap_or(key).split(|&byte| byte == 0) {
            if key.is_empty() {
                break;
            }
            transformed.clear();
            match locale.collation() {
                Some(collation) => collation.transform(part, &mut transformed),
                None => transformed.extend_from_slice(part),
            }
            hash.update(&transformed);
            hash.update(b"\0");
        }
        hash.finalize().into()
    }
}
