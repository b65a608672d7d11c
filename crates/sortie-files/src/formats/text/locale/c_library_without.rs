//! No locales: the C library has none, or none whose order is that of GNU sort on Linux.

use std::cmp::Ordering;

use super::Classes;

#[derive(Debug, Clone, Copy)]
pub enum Category {
    Collate,
    Time,
}

impl Category {
    pub const ALL: [Category; 2] = [Category::Collate, Category::Time];
}

/// The C locale.
#[derive(Debug, Clone)]
pub struct CLocale;

impl CLocale {
    /// The C locale for its names; `None` for any other locale.
    pub fn new(name: &str) -> Option<CLocale> {
        matches!(name, "C" | "POSIX" | "C.UTF-8" | "C.utf8").then_some(CLocale)
    }

    pub fn of_environment(_: bool) -> Option<CLocale> {
        Some(CLocale)
    }

    pub fn name(&self, _: Category) -> String {
        "C".into()
    }

    pub fn decimal_point(&self) -> Vec<u8> {
        b".".into()
    }

    pub fn thousands_separator(&self) -> Vec<u8> {
        Vec::new()
    }

    pub fn months(&self) -> [Vec<u8>; 12] {
        Default::default()
    }

    pub fn classes(&self) -> Classes {
        Classes::of_c()
    }

    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        a.cmp(b)
    }

    pub fn transform(&self, text: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(text);
    }

    pub fn passes(&self) -> usize {
        0
    }

    pub fn tables(&self) -> Option<[&[u8]; 5]> {
        None
    }
}
