//! How text compares by the Unicode collation algorithm, with the data of CLDR.

use std::cell::RefCell;
use std::cmp::Ordering;

use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorBorrowed};
use icu_locale_core::Locale;

use crate::{Error, quote};

/// The rules of a language. Text that is not UTF-8 compares as if U+FFFD stood for each wrong sequence of bytes.
#[derive(Debug)]
pub struct Unicode(CollatorBorrowed<'static>);

thread_local! {
    static KEY: RefCell<Vec<u8>> = RefCell::default();
}

impl Unicode {
    /// The rules of a language as BCP 47 names it, or of none in particular if it is empty.
    pub fn new(language: &str) -> Result<Unicode, Error> {
        let refused = || {
            let shown = quote::always(language.as_ref());
            Error::invalid(format!("{shown} is no language; write one such as de, pt-BR or de-u-co-phonebk"))
        };
        let locale = if language.is_empty() {
            Locale::UNKNOWN
        } else {
            Locale::try_from_str(language).map_err(|_| refused())?
        };
        Collator::try_new(locale.into(), CollatorOptions::default()).map(Unicode).map_err(|_| refused())
    }

    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.0.compare_utf8(a, b)
    }

    pub fn push_leading(&self, text: &[u8], most: usize, out: &mut Vec<u8>) {
        let start = out.len();
        self.push_key(text, out);
        out.truncate(out.len().min(start.saturating_add(most)));
    }

    pub fn leading(&self, text: &[u8]) -> u128 {
        let mut bytes = [0; size_of::<u128>()];
        KEY.with_borrow_mut(|key| {
            key.clear();
            self.push_key(text, key);
            bytes.iter_mut().zip(&*key).for_each(|(byte, of_key)| *byte = *of_key);
        });
        u128::from_be_bytes(bytes)
    }

    pub fn push_whole(&self, text: &[u8], out: &mut Vec<u8>) {
        KEY.with_borrow_mut(|key| {
            key.clear();
            self.push_key(text, key);
            sortie::columns::push_bytes(out, Some(key), sortie::Order::default());
        });
    }

    fn push_key(&self, text: &[u8], out: &mut Vec<u8>) {
        let Ok(()) = self.0.write_sort_key_utf8_to(text, out);
    }
}
