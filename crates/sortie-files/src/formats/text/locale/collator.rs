//! Keys of text for sorts of tables.

use std::sync::Arc;

use super::{Collation, Locale, natural};
use crate::Error;

/// In which order text is sorted. By default by its bytes.
///
/// ```
/// use sortie_files::formats::text::Collator;
///
/// let collator = Collator::named("natural")?;
/// let key = |text: &str| {
///     let mut key = Vec::new();
///     collator.encode(text.as_bytes(), &mut key);
///     key
/// };
/// assert!(key("a9") < key("a10"));
/// # Ok::<(), sortie_files::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Collator {
    rules: Option<Arc<Collation>>,
    is_natural: bool,
    ignores_case: bool,
}

impl Collator {
    /// The order that a name says: `natural`, `unicode`, `unicode:LANGUAGE`, or a locale of the C library; `natural:` may stand before the
    /// others.
    ///
    /// # Errors
    /// If the locale is not installed, if there is no such language, or if this was built without the feature `unicode`.
    pub fn named(name: &str) -> Result<Collator, Error> {
        let (rest, is_natural) = match name.strip_prefix("natural") {
            Some("") => ("C", true),
            Some(rest) if rest.starts_with(':') => (&rest[1..], true),
            _ => (name, false),
        };
        let locale = match rest.strip_prefix("unicode") {
            Some("") => Locale::default().collated_by_unicode("")?,
            Some(language) if language.starts_with(':') => {
                Locale::default().collated_by_unicode(&language[1..])?
            }
            _ => Locale::named(rest)?,
        };
        Ok(Collator { is_natural, ..Collator::of(&locale) })
    }

    /// The order of text in a locale.
    pub fn of(locale: &Locale) -> Collator {
        Collator { rules: locale.collation().cloned(), ..Collator::default() }
    }

    /// The same order, in which numbers in text count as numbers. Zeros before a number do not count.
    pub fn natural(self) -> Collator {
        Collator { is_natural: true, ..self }
    }

    /// The same order, of text in small letters. Text that is not UTF-8 stays as it is.
    pub fn ignoring_case(self) -> Collator {
        Collator { ignores_case: true, ..self }
    }

    /// Appends bytes that compare as texts do. No such sequence is a prefix of another one.
    pub fn encode(&self, text: &[u8], out: &mut Vec<u8>) {
        match std::str::from_utf8(text) {
            Ok(text) if self.ignores_case => self.encode_cased(text.to_lowercase().as_bytes(), out),
            _ => self.encode_cased(text, out),
        }
    }

    fn encode_cased(&self, text: &[u8], out: &mut Vec<u8>) {
        if !self.is_natural {
            return self.encode_text(text, out);
        }
        let mut rewritten = Vec::with_capacity(text.len() + text.len() / 2);
        natural::push(text, &mut rewritten);
        self.encode_text(&rewritten, out);
    }

    fn encode_text(&self, text: &[u8], out: &mut Vec<u8>) {
        match &self.rules {
            Some(rules) => rules.push_whole(text, out),
            None => sortie::columns::push_bytes(out, Some(text), sortie::Order::default()),
        }
    }
}
