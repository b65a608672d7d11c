//! No Unicode collation: this was built without the feature `unicode`.

use std::cmp::Ordering;

use crate::Error;

#[derive(Debug)]
pub enum Unicode {}

impl Unicode {
    pub fn new(_: &str) -> Result<Unicode, Error> {
        Err(Error::invalid("this build has no Unicode collation; build it with the feature unicode"))
    }

    pub fn compare(&self, _: &[u8], _: &[u8]) -> Ordering {
        match *self {}
    }

    pub fn push_leading(&self, _: &[u8], _: usize, _: &mut Vec<u8>) {
        match *self {}
    }

    pub fn leading(&self, _: &[u8]) -> u128 {
        match *self {}
    }

    pub fn push_whole(&self, _: &[u8], _: &mut Vec<u8>) {
        match *self {}
    }
}
