//! How text compares, unless by its bytes.

use std::cmp::Ordering;

use super::{Strcoll, Unicode};

/// Whose rules text compares by.
#[derive(Debug)]
pub enum Collation {
    Strcoll(Strcoll),
    Unicode(Unicode),
}

impl Collation {
    /// Compares two texts. They may be equal although their bytes differ.
    #[inline]
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Collation::Strcoll(rules) => rules.compare(a, b),
            Collation::Unicode(rules) => rules.compare(a, b),
        }
    }

    /// Prepares comparisons of many texts.
    pub fn prepare(&self) {
        if let Collation::Strcoll(rules) = self {
            rules.elements();
        }
    }

    /// Compares two texts for which [`Collation::push_leading`] appends the same bytes, less than `most`.
    pub fn compare_tied(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Collation::Strcoll(rules) => rules.compare_tied(a, b),
            // These bytes are all that is compared.
            Collation::Unicode(_) => Ordering::Equal,
        }
    }

    /// Appends at most `most` bytes that compare as texts do, as far as they go.
    #[inline]
    pub fn push_leading(&self, text: &[u8], most: usize, out: &mut Vec<u8>) {
        match self {
            Collation::Strcoll(rules) => rules.push_leading(text, most, out),
            Collation::Unicode(rules) => rules.push_leading(text, most, out),
        }
    }

    /// A number that compares as texts do, as far as it goes.
    #[inline]
    pub fn leading(&self, text: &[u8]) -> u128 {
        match self {
            Collation::Strcoll(rules) => rules.leading(text),
            Collation::Unicode(rules) => rules.leading(text),
        }
    }

    /// Appends bytes that compare as texts do. No such sequence is a prefix of another one.
    pub fn push_whole(&self, text: &[u8], out: &mut Vec<u8>) {
        match self {
            Collation::Strcoll(rules) => rules.push_whole(text, out),
            Collation::Unicode(rules) => rules.push_whole(text, out),
        }
    }

    /// Appends what is hashed of a text for `-R`.
    pub fn transform(&self, text: &[u8], out: &mut Vec<u8>) {
        match self {
            Collation::Strcoll(rules) => rules.transform(text, out),
            Collation::Unicode(rules) => rules.push_whole(text, out),
        }
    }
}
