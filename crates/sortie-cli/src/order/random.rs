//! `-R`: equal keys together, and the rest in an order that a hash decides.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use md5::{Digest, Md5};

use crate::failure::Failure;

/// The MD5 of a salt, to which keys are added; GNU sort shuffles by the same.
#[derive(Debug, Clone)]
pub struct Shuffle(Md5);

impl Shuffle {
    /// Takes the salt, 16 bytes, from the start of `source`, or from the system.
    pub fn new(source: Option<&Path>) -> Result<Shuffle, Failure> {
        let source = source.unwrap_or(Path::new("/dev/urandom"));
        let mut salt = [0; 16];
        let mut file = File::open(source).map_err(Failure::file("read", source))?;
        file.read_exact(&mut salt).map_err(Failure::file("take 16 bytes to shuffle with from", source))?;
        Ok(Shuffle(Md5::new_with_prefix(salt)))
    }

    /// What decides the place of a key.
    pub fn digest(&self, key: &[u8]) -> [u8; 16] {
        self.0.clone().chain_update(key).finalize().into()
    }
}
