//! The order of lines: what GNU sort's ordering options mean in a locale.
//!
//! A [`LineOrder`] compares two lines, or encodes the keys of a line as bytes that compare as the keys do. Each
//! kind of key has its own file; `key.rs` finds a key in its line.

mod annotate;
mod code;
mod fields;
mod float;
mod key;
mod month;
mod number;
mod random;
mod version;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::path::PathBuf;

use super::key::{KeyOptions, KeySpec};
use super::locale::Locale;
use crate::Error;
pub use code::Code;
use key::{Key, Resolve};
pub use number::read_digits;
pub use version::encode as encode_version;

/// The most bytes of the encoding of a key that is compared by the rules of a locale. Comparisons decide between keys whose encodings are
/// equal.
const MOST: usize = 1 << 10;
/// The same for keys after others.
pub const MOST_AFTER_KEYS: usize = 32;

/// What lines are sorted by: the options of GNU sort that say how lines compare.
#[derive(Debug, Clone, Default)]
pub struct TextOrder {
    /// The keys, the most significant first. If there are none, whole lines are compared.
    pub keys: Vec<KeySpec>,
    /// For keys that have no options of their own, and for whole lines. If `reverse` is set, lines with equal keys are in descending
    /// order too.
    pub options: KeyOptions,
    /// The byte between fields (`-t`). By default, a field begins where a blank follows another character.
    pub separator: Option<u8>,
    /// Whether lines with equal keys keep their order (`-s`). By default, all their bytes are compared.
    pub stable: bool,
    /// Whether only the first of several lines with equal keys is kept (`-u`).
    pub unique: bool,
    /// The file whose first 16 bytes decide the order of random keys; `/dev/urandom` by default.
    pub random_source: Option<PathBuf>,
    /// The rules by which text compares, and how numbers and months are written.
    pub locale: Locale,
}

/// How two lines compare.
#[derive(Debug, Clone)]
pub struct LineOrder {
    /// If empty, whole lines are compared.
    keys: Vec<Key>,
    /// The number of keys that were asked for. The others are whole lines under the rules of a locale.
    asked: usize,
    /// Whether `-r` applies to whole lines.
    descending: bool,
    stable: bool,
    unique: bool,
    /// See [`LineOrder::last_resort`].
    last_resort: Option<bool>,
}

impl LineOrder {
    /// The order that the options define.
    ///
    /// # Errors
    /// If the options of a key are incompatible, or if the source of random bytes cannot be read.
    pub fn new(text: &TextOrder) -> Result<LineOrder, Error> {
        let global = text.options;
        let mut resolve = Resolve::new(text);
        let mut keys = if !text.keys.is_empty() {
            text.keys.iter().map(|key| resolve.key(key, global)).collect::<Result<_, _>>()?
        } else if (KeyOptions { reverse: false, ..global }) != KeyOptions::default() {
            vec![resolve.whole_line(global)?]
        } else {
            Vec::new()
        };
        let (descending, stable, unique) = (global.reverse, text.stable, text.unique);
        let asked = keys.len();
        if let Some(rules) = text.locale.collation() {
            let decides = !stable && !unique && !keys.first().is_some_and(Key::is_collated_line);
            if asked == 0 || decides {
                keys.push(resolve.collated_line(rules, descending));
            }
        }
        let mut order = LineOrder { keys, asked, descending, stable, unique, last_resort: None };
        let is_wanted = !stable && !unique && order.plain().is_none() && text.locale.collation().is_none();
        order.last_resort = is_wanted.then_some(descending);
        Ok(order)
    }

    /// Whether whole lines are compared by their bytes alone; if so, whether in descending order.
    pub fn plain(&self) -> Option<bool> {
        match self.keys.first() {
            None => Some(self.descending),
            Some(key) => key.is_line().then_some(key.descending),
        }
    }

    /// Whether whole lines are compared, by their bytes or by the rules of a locale. By these, lines that differ may be equal.
    pub fn is_of_lines(&self) -> bool {
        self.asked == 0
    }

    /// Whether there is one key, and it is a number of `-n`.
    pub fn is_number(&self) -> bool {
        matches!(&self.keys[..], [key] if key.is_number())
    }

    /// Whether there is one key, it is a number of `-n`, and it is the whole line; if so, whether in descending order.
    pub fn number_line(&self) -> Option<bool> {
        match &self.keys[..] {
            [key] if key.is_plain_number() && key.spans_line() => Some(key.descending),
            _ => None,
        }
    }

    /// The code of a line's number, and whether lines with this code have equal numbers, if that holds for each of them. Only if
    /// [`LineOrder::is_number`].
    pub fn number(&self, line: &[u8]) -> (u64, bool) {
        self.keys[0].number(line)
    }

    /// Whether lines with equal keys are ordered by their bytes; if so, whether in descending order.
    pub fn last_resort(&self) -> Option<bool> {
        self.last_resort
    }

    /// Whether only the first of lines with equal keys is kept.
    pub fn unique(&self) -> bool {
        self.unique
    }

    /// Appends an encoding that compares as the keys of `line` do, from the one at `first`. It may be a prefix of another encoding.
    /// After it, append only bytes that order lines whose keys are equal and have the same encoding. If there is a key that
    /// [`LineOrder::cut`] returns, it compares so only as far as it goes, which is no farther than that key.
    pub fn encode(&self, line: &[u8], first: usize, out: &mut Vec<u8>) {
        match self.plain() {
            Some(false) => out.extend_from_slice(line),
            Some(true) => key::push_escaped(line, true, out),
            None => {
                let last = self.cut(first).unwrap_or(self.keys.len() - 1);
                self.keys[first..last].iter().for_each(|key| key.encode(line, out));
                self.keys[last].encode_last(line, most(last), out);
            }
        }
    }

    /// The index of the first key, from the one at `first`, in which lines may differ although they have the same encoding.
    pub fn cut(&self, first: usize) -> Option<usize> {
        let keys = if self.plain().is_none() { &self.keys[first..] } else { &[] };
        keys.iter().position(Key::is_cut).map(|after| first + after)
    }

    /// Whether there are keys after the one at `index`.
    pub fn has_keys_after(&self, index: usize) -> bool {
        index + 1 < self.keys.len()
    }

    /// Compares the keys at `cut` of two lines with this encoding. [`LineOrder::text_of_key`] found them.
    pub fn compare_cut(&self, cut: usize, encoding: &[u8], a: &[u8], b: &[u8]) -> Ordering {
        self.keys[cut].compare_found(a, b, encoding.len() < most(cut))
    }

    /// The part of a line that is its key at `index`.
    pub fn text_of_key<'l>(&self, index: usize, line: &'l [u8]) -> &'l [u8] {
        self.keys[index].find(line)
    }

    /// Prepares comparisons of many lines.
    pub fn prepare(&self) {
        self.keys.iter().for_each(Key::prepare);
    }

    /// Compares the keys from the one at `first`.
    pub fn compare_keys_from(&self, first: usize, a: &[u8], b: &[u8]) -> Ordering {
        let keys = self.keys[first..].iter();
        keys.map(|key| key.compare(a, b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// Compares only the keys.
    pub fn compare_keys(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self.plain() {
            Some(descending) => directed(compare_bytes(a, b), descending),
            None => self.compare_keys_from(0, a, b),
        }
    }

    /// Compares the keys, then whole lines if [`LineOrder::last_resort`] says so.
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.compare_keys(a, b).then_with(|| self.compare_last(a, b))
    }

    /// Compares lines whose keys are equal.
    fn compare_last(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.last_resort.map_or(Ordering::Equal, |descending| directed(compare_bytes(a, b), descending))
    }

    /// Appends what GNU sort's `--debug` prints under a line: a row of underscores for each key and for the last-resort
    /// comparison.
    pub fn annotate(&self, line: &[u8], out: &mut Vec<u8>) {
        for key in &self.keys[..self.asked] {
            annotate::mark(line, key.marked(line), out);
        }
        if self.asked == 0 || !(self.unique || self.stable) {
            annotate::mark(line, 0..line.len(), out);
        }
    }
}

/// Comparisons by codes. Each line's code is found once for all comparisons of the line.
impl LineOrder {
    /// The code of the first key of a line.
    #[inline]
    pub fn code(&self, line: &[u8]) -> Code {
        match self.keys.first() {
            None => Code::of_bytes(line).directed(self.descending),
            Some(key) => key.code(line),
        }
    }

    /// The code of the key at `index`.
    pub fn code_of_key(&self, index: usize, line: &[u8]) -> Code {
        self.keys[index].code(line)
    }

    /// Compares the keys from the one at `first`, of lines with the codes of that key.
    pub fn compare_coded_keys_from(
        &self,
        first: usize,
        (a, code_a): (&[u8], Code),
        (b, code_b): (&[u8], Code),
    ) -> Ordering {
        let ordering = code_a.compare(code_b).unwrap_or_else(|| self.keys[first].compare_tied(a, b));
        ordering.then_with(|| self.compare_keys_from(first + 1, a, b))
    }

    /// The same as [`LineOrder::compare_keys`], for lines with their codes.
    #[inline(always)]
    pub fn compare_coded_keys(&self, (a, code_a): (&[u8], Code), (b, code_b): (&[u8], Code)) -> Ordering {
        match code_a.compare(code_b) {
            Some(Ordering::Equal) if self.keys.is_empty() => Ordering::Equal,
            Some(Ordering::Equal) => self.compare_keys_from(1, a, b),
            Some(decided) => decided,
            None => self.compare_tied(a, b),
        }
    }

    /// The same as [`LineOrder::compare`], for lines with their codes.
    #[inline(always)]
    pub fn compare_coded(&self, a: (&[u8], Code), b: (&[u8], Code)) -> Ordering {
        self.compare_coded_keys(a, b).then_with(|| self.compare_last(a.0, b.0))
    }

    /// Compares the keys of lines whose codes do not tell how the first ones compare.
    fn compare_tied(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self.keys.first() {
            None => directed(compare_bytes(a, b), self.descending),
            Some(first) => first.compare_tied(a, b).then_with(|| self.compare_keys_from(1, a, b)),
        }
    }
}

/// The most bytes of the encoding of the key at `cut`.
fn most(cut: usize) -> usize {
    if cut == 0 { MOST } else { MOST_AFTER_KEYS }
}

/// Compares two lines or keys by their bytes. Usually the first few bytes decide.
#[inline(always)]
pub fn compare_bytes(a: &[u8], b: &[u8]) -> Ordering {
    match (a.first_chunk::<8>(), b.first_chunk::<8>()) {
        (Some(first_of_a), Some(first_of_b)) if first_of_a != first_of_b => {
            u64::from_be_bytes(*first_of_a).cmp(&u64::from_be_bytes(*first_of_b))
        }
        _ => a.cmp(b),
    }
}

/// A comparison, reversed if the order is descending.
pub fn directed(ordering: Ordering, descending: bool) -> Ordering {
    if descending { ordering.reverse() } else { ordering }
}

/// The number of bytes at the start of both texts that are the same.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let (a_words, _) = a.as_chunks::<8>();
    let (b_words, _) = b.as_chunks::<8>();
    let words = a_words.iter().zip(b_words).take_while(|(a, b)| a == b).count();
    let rest = a[8 * words..].iter().zip(&b[8 * words..]).take_while(|(a, b)| a == b).count();
    8 * words + rest
}

/// Less than 8 bytes as a number, the first one in the lowest byte, and zeros after the last.
#[inline]
fn padded(text: &[u8]) -> u64 {
    let last = |length: usize| 8 * (text.len() - length);
    if let (Some(first), Some(end)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        let [first, end] = [first, end].map(|half| u64::from(u32::from_le_bytes(*half)));
        return first | end << last(4);
    }
    let Some((&first, &end)) = text.first().zip(text.last()) else { return 0 };
    // Both are the same byte twice, or once and the one in the middle.
    let middle = text.len() / 2;
    u64::from(first) | u64::from(text[middle]) << (8 * middle) | u64::from(end) << last(1)
}
