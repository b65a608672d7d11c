//! `-R`: groups equal keys together and shuffles the groups, by a hash of each key.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use md5::{Digest, Md5};

use crate::Error;

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
    pub fn digest(&self, key: &[u8]) -> [u8; 16] {
        self.0.clone().chain_update(key).finalize().into()
    }
}
