//! A sort key: its position in a line, and how two keys compare.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::TextOrder;
use super::code::Code;
use super::number::{Leading, Number};
use super::random::Shuffle;
use super::{common_prefix, compare_bytes, directed, fields, float, month, number, version};
use crate::Error;
use crate::formats::text::blank::{self, is_blank};
use crate::formats::text::key::{KeyOptions, KeySpec};
use crate::formats::text::locale::{Classes, Collation, Locale, Months, Notation};

/// A key whose options are resolved.
#[derive(Debug, Clone)]
pub struct Key {
    place: Place,
    kind: Kind,
    /// The effect of `-d`, `-f` and `-i` on the key's bytes before they are compared.
    filter: Option<Arc<Filter>>,
    pub descending: bool,
}

/// The position of a key.
#[derive(Debug, Clone, Copy)]
struct Place {
    separator: Option<u8>,
    /// The number of fields before the key.
    fields: usize,
    /// The number of characters of its field before the key.
    chars: usize,
    skip_blanks: bool,
    end: Option<End>,
}

#[derive(Debug, Clone, Copy)]
struct End {
    /// The number of fields before the one in which the key ends.
    fields: usize,
    /// The number of characters of that field that belong to the key; 0 for all.
    chars: usize,
    skip_blanks: bool,
}

/// How keys compare.
#[derive(Debug, Clone)]
enum Kind {
    Bytes,
    Collated(Arc<Collation>),
    Number(Notation),
    Human(Notation),
    Float(Notation),
    Month(Option<Arc<Months>>),
    Version,
    Random(Shuffle, Locale),
}

/// Resolves the options of keys.
pub struct Resolve<'a> {
    order: &'a TextOrder,
    /// Created for the first key that uses `-R`, and shared by all of them.
    shuffle: Option<Shuffle>,
}

impl<'a> Resolve<'a> {
    pub fn new(order: &'a TextOrder) -> Self {
        Resolve { order, shuffle: None }
    }

    /// The key of a `-k`. If it has no options of its own, it has the global ones.
    pub fn key(&mut self, spec: &KeySpec, global: KeyOptions) -> Result<Key, Error> {
        let inherits = spec.options == KeyOptions::default();
        let options = if inherits { global } else { spec.options };
        let place = Place {
            separator: self.order.separator,
            fields: spec.start_field - 1,
            chars: spec.start_char - 1,
            skip_blanks: if inherits { global.blanks } else { spec.start_blanks },
            end: spec.end_field.map(|field| End {
                fields: field - 1,
                chars: spec.end_char,
                skip_blanks: if inherits { global.blanks } else { spec.end_blanks },
            }),
        };
        self.settle(place, options)
    }

    /// The key for ordering options without `-k`.
    pub fn whole_line(&mut self, options: KeyOptions) -> Result<Key, Error> {
        let place = Place {
            separator: self.order.separator,
            fields: 0,
            chars: 0,
            skip_blanks: options.blanks,
            end: None,
        };
        self.settle(place, options)
    }

    /// The key for whole lines by the rules of a locale.
    pub fn collated_line(&self, rules: &Arc<Collation>, descending: bool) -> Key {
        let place = Place { separator: None, fields: 0, chars: 0, skip_blanks: false, end: None };
        Key { place, kind: Kind::Collated(rules.clone()), filter: None, descending }
    }

    fn settle(&mut self, place: Place, options: KeyOptions) -> Result<Key, Error> {
        let filters = options.dictionary || options.ignore_nonprinting;
        let kinds = [
            options.numeric,
            options.general_numeric,
            options.human_numeric,
            options.month,
            options.version || options.random || filters,
        ];
        if kinds.iter().filter(|&&given| given).count() > 1 {
            return Err(Error::invalid(format!("options '-{}' are incompatible", options.meaning())));
        }
        let locale = &self.order.locale;
        let kind = match options {
            KeyOptions { numeric: true, .. } => Kind::Number(locale.notation()),
            KeyOptions { general_numeric: true, .. } => Kind::Float(locale.notation()),
            KeyOptions { human_numeric: true, .. } => Kind::Human(locale.notation()),
            KeyOptions { month: true, .. } => Kind::Month(locale.months()),
            KeyOptions { random: true, .. } => Kind::Random(self.shuffle()?, locale.clone()),
            KeyOptions { version: true, .. } => Kind::Version,
            _ => locale.collation().map_or(Kind::Bytes, |rules| Kind::Collated(rules.clone())),
        };
        // The other kinds ignore case, or contain no letters.
        let filtered = !matches!(kind, Kind::Number(_) | Kind::Float(_) | Kind::Month(_));
        let filter = (filtered && (filters || options.ignore_case))
            .then(|| Arc::new(Filter::new(options, &locale.classes())));
        Ok(Key { place, kind, filter, descending: options.reverse })
    }

    fn shuffle(&mut self) -> Result<Shuffle, Error> {
        if self.shuffle.is_none() {
            self.shuffle = Some(Shuffle::new(self.order.random_source.as_deref())?);
        }
        Ok(self.shuffle.clone().expect("it was just made"))
    }
}

impl Key {
    /// Whether the key is the whole line, compared by its bytes.
    pub fn is_line(&self) -> bool {
        self.spans_line()
            && !self.place.skip_blanks
            && matches!(self.kind, Kind::Bytes)
            && self.filter.is_none()
    }

    /// Whether the key is the whole line, maybe without leading blanks.
    pub fn spans_line(&self) -> bool {
        self.place.is_line()
    }

    pub fn is_number(&self) -> bool {
        matches!(self.kind, Kind::Number(_))
    }

    /// Whether the key is a number whose decimal point is that of the C locale.
    pub fn is_plain_number(&self) -> bool {
        matches!(&self.kind, Kind::Number(notation) if notation.point() == b'.')
    }

    /// Whether the key is the whole line, compared by the rules of a locale.
    pub fn is_collated_line(&self) -> bool {
        self.spans_line()
            && !self.place.skip_blanks
            && matches!(self.kind, Kind::Collated(_))
            && self.filter.is_none()
    }

    /// Whether keys may differ although [`Key::encode_last`] encodes them alike. Then [`Key::encode`] cannot be used.
    pub fn is_cut(&self) -> bool {
        matches!(self.kind, Kind::Collated(_))
    }

    /// The code of the number in a line, and whether it is exact.
    pub fn number(&self, line: &[u8]) -> (u64, bool) {
        let text = self.find(line);
        let read = |text: &[u8]| {
            let Leading { code, exact, .. } = Leading::read(text);
            (code, exact)
        };
        let (code, exact) = match &self.kind {
            Kind::Number(notation) => notation.with_number(text, read),
            _ => read(text),
        };
        (if self.descending { !code } else { code }, exact)
    }

    /// Appends an encoding that compares as the keys do. No encoding is a prefix of another.
    pub fn encode(&self, line: &[u8], out: &mut Vec<u8>) {
        if let (Kind::Bytes, None) = (&self.kind, &self.filter) {
            return push_escaped(self.find(line), self.descending, out);
        }
        self.with_text(line, |text| self.encode_text(text, out));
    }

    /// Like [`Key::encode`], for a key after which nothing is appended. The encoding may be a prefix of
    /// another. If [`Key::is_cut`], it has at most `most` bytes, and keys may differ.
    pub fn encode_last(&self, line: &[u8], most: usize, out: &mut Vec<u8>) {
        match (&self.kind, &self.filter) {
            (Kind::Bytes, None) if !self.descending => out.extend_from_slice(self.find(line)),
            (Kind::Bytes, Some(filter)) if !self.descending => out.extend(filter.apply(self.find(line))),
            (Kind::Collated(rules), _) => self.with_text(line, |text| {
                let start = out.len();
                rules.push_leading(text, most, out);
                if self.descending {
                    // Shorter encodings come later.
                    let is_whole = out.len() - start < most;
                    out[start..].iter_mut().for_each(|byte| *byte = !*byte);
                    out.extend(is_whole.then_some(u8::MAX));
                }
            }),
            _ => self.encode(line, out),
        }
    }

    fn encode_text(&self, text: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        match &self.kind {
            Kind::Bytes => return push_escaped(text, self.descending, out),
            Kind::Collated(_) => unreachable!("these keys are cut"),
            Kind::Number(notation) => notation.with_number(text, |text| Number::read(text).encode(out)),
            Kind::Human(notation) => {
                out.push(number::unit(text, notation));
                notation.with_number(text, |text| Number::read(text).encode(out));
            }
            // The code has 10 bytes.
            Kind::Float(notation) => {
                let code = notation.with_float(text, float::code);
                out.extend_from_slice(&code.to_be_bytes()[6..]);
            }
            Kind::Month(names) => out.push(month::rank(text, names.as_deref())),
            Kind::Version => version::encode(text, out),
            Kind::Random(shuffle, locale) => out.extend_from_slice(&shuffle.digest(text, locale)),
        }
        if self.descending {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }

    /// The code of the key of a line.
    pub fn code(&self, line: &[u8]) -> Code {
        self.code_of(self.find(line))
    }

    #[inline(always)]
    fn code_of(&self, text: &[u8]) -> Code {
        match (&self.kind, &self.filter) {
            (Kind::Bytes, None) => Code::of_bytes(text),
            (Kind::Bytes, Some(filter)) => filter.code(text),
            (_, None) => self.code_of_text(text),
            (_, Some(filter)) => filter.with(text, |text| self.code_of_text(text)),
        }
        .directed(self.descending)
    }

    #[inline(always)]
    fn code_of_text(&self, text: &[u8]) -> Code {
        match &self.kind {
            Kind::Bytes => Code::of_bytes(text),
            Kind::Collated(rules) => Code::new(rules.leading(text), false),
            Kind::Number(notation) => notation.with_number(text, number::code),
            Kind::Human(notation) => number::human_code(text, notation),
            Kind::Float(notation) => Code::exact(notation.with_float(text, float::code)),
            Kind::Month(names) => Code::exact(month::rank(text, names.as_deref())),
            Kind::Version => Code::new(version::class(text), false),
            Kind::Random(shuffle, locale) => Code::exact(u128::from_be_bytes(shuffle.digest(text, locale))),
        }
    }

    /// Compares the keys of two lines.
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        if let (Kind::Bytes, None) | (Kind::Collated(_), _) = (&self.kind, &self.filter) {
            // The texts themselves are as fast as codes of them.
            return self.compare_tied(a, b);
        }
        self.code(a).compare(self.code(b)).unwrap_or_else(|| self.compare_tied(a, b))
    }

    /// Prepares comparisons of many lines.
    pub fn prepare(&self) {
        if let Kind::Collated(rules) = &self.kind {
            rules.prepare();
        }
    }

    /// Compares two texts of keys that [`Key::find`] found. If `is_tied`, their encodings by [`Key::encode_last`] are equal, and were not cut
    /// off.
    pub fn compare_found(&self, a: &[u8], b: &[u8], is_tied: bool) -> Ordering {
        let ordering = match (&self.kind, &self.filter) {
            (Kind::Collated(rules), None) if is_tied => rules.compare_tied(a, b),
            (Kind::Collated(rules), Some(filter)) if is_tied && a != b => {
                filter.with(a, |a| filter.with(b, |b| rules.compare_tied(a, b)))
            }
            _ => return self.compare_whole(a, b),
        };
        directed(ordering, self.descending)
    }

    /// Compares the keys of two lines with equal codes.
    pub fn compare_tied(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.compare_whole(self.find(a), self.find(b))
    }

    fn compare_whole(&self, a: &[u8], b: &[u8]) -> Ordering {
        let ordering = match (&self.kind, &self.filter) {
            (Kind::Bytes, None) => compare_bytes(a, b),
            (Kind::Bytes, Some(filter)) => filter.compare(a, b),
            (_, None) => self.compare_texts(a, b),
            (_, Some(_)) if a == b => Ordering::Equal,
            (_, Some(filter)) => filter.with(a, |a| filter.with(b, |b| self.compare_texts(a, b))),
        };
        directed(ordering, self.descending)
    }

    /// Compares texts with equal codes.
    fn compare_texts(&self, a: &[u8], b: &[u8]) -> Ordering {
        match &self.kind {
            Kind::Number(notation) | Kind::Human(notation) => notation
                .with_number(a, |a| notation.with_number(b, |b| Number::read(a).cmp(&Number::read(b)))),
            Kind::Version => version::compare(a, b),
            Kind::Bytes => a.cmp(b),
            Kind::Collated(rules) => rules.compare(a, b),
            Kind::Float(_) | Kind::Month(_) | Kind::Random(..) => Ordering::Equal,
        }
    }

    /// The part of a line that `--debug` marks. For a number, only the bytes that are parsed.
    pub fn marked(&self, line: &[u8]) -> Range<usize> {
        let span = self.place.span(line);
        let starts_at_blanks =
            matches!(self.kind, Kind::Number(_) | Kind::Human(_) | Kind::Float(_) | Kind::Month(_));
        if !starts_at_blanks {
            return span;
        }
        let start = span.start + blank::leading(&line[span.clone()]);
        let text = &line[start..span.end];
        let length = match &self.kind {
            Kind::Number(notation) => Number::length(text, false, notation),
            Kind::Human(notation) => Number::length(text, true, notation),
            Kind::Float(notation) => notation.float_length(text, float::length),
            Kind::Month(names) => month::length(text, names.as_deref()),
            _ => 0,
        };
        start..start + length
    }

    #[inline]
    pub fn find<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        &line[self.place.span(line)]
    }

    /// Calls `then` with the key's bytes as they are compared.
    fn with_text(&self, line: &[u8], then: impl FnOnce(&[u8])) {
        let text = self.find(line);
        match &self.filter {
            None => then(text),
            Some(filter) => filter.with(text, then),
        }
    }
}

/// Appends a string in an encoding such that the bytes after it matter only if two strings are equal.
pub fn push_escaped(text: &[u8], descending: bool, out: &mut Vec<u8>) {
    let order = sortie::Order { descending, ..Default::default() };
    sortie::columns::push_bytes(out, Some(text), order);
}

impl Place {
    /// Whether the key is the whole line, maybe without leading blanks.
    fn is_line(&self) -> bool {
        matches!(self, Place { fields: 0, chars: 0, end: None, .. })
    }

    /// The range of `line` that is the key. Empty if the key ends before it starts.
    #[inline(always)]
    fn span(&self, line: &[u8]) -> Range<usize> {
        if self.is_line() {
            let start = if self.skip_blanks { blank::leading(line) } else { 0 };
            return start..line.len();
        }
        self.span_of_fields(line)
    }

    fn span_of_fields(&self, line: &[u8]) -> Range<usize> {
        let field = self.skip_fields(line, 0, self.fields);
        let mut start = field;
        if self.skip_blanks {
            start += blank::leading(&line[start..]);
        }
        start = line.len().min(start.saturating_add(self.chars));
        let Some(end) = self.end else { return start..line.len() };
        let last_field = match end.fields.checked_sub(self.fields) {
            Some(more) => self.skip_fields(line, field, more),
            None => self.skip_fields(line, 0, end.fields),
        };
        let limit = if end.chars == 0 {
            self.fields_end(line, last_field, 1)
        } else {
            let blanks = if end.skip_blanks { blank::leading(&line[last_field..]) } else { 0 };
            line.len().min((last_field + blanks).saturating_add(end.chars))
        };
        start..limit.max(start)
    }

    /// The start of the field that is `count` fields after the one at `at`.
    fn skip_fields(&self, line: &[u8], at: usize, count: usize) -> usize {
        if count == 0 {
            return at;
        }
        let end = self.fields_end(line, at, count);
        if self.separator.is_some() && end < line.len() { end + 1 } else { end }
    }

    /// The end of the `count`-th field from the one that starts at `at`. At least one.
    fn fields_end(&self, line: &[u8], at: usize, count: usize) -> usize {
        let rest = &line[at..];
        let length = match self.separator {
            Some(separator) => fields::end_before_separator(rest, separator, count),
            None => fields::end_before_blank(rest, count),
        };
        length.map_or(line.len(), |length| at + length)
    }
}

/// A text of at most this size is filtered without allocating memory.
const SHORT: usize = 256;

/// The bytes of a text that count, and the bytes that are compared instead of them.
#[derive(Debug)]
struct Filter {
    stands: [u8; 256],
    counts: [bool; 256],
    /// Whether only the case of ASCII letters is ignored.
    only_capitalises: bool,
}

impl Filter {
    fn new(options: KeyOptions, classes: &Classes) -> Filter {
        let counts = |byte: u8| {
            if options.dictionary {
                is_blank(byte) || classes.is_alphanumeric[usize::from(byte)]
            } else {
                !options.ignore_nonprinting || classes.is_printable[usize::from(byte)]
            }
        };
        let bytes: [u8; 256] = std::array::from_fn(|byte| byte as u8);
        let stands = if options.ignore_case { classes.upper } else { bytes };
        let counts = bytes.map(counts);
        let only_capitalises = counts == [true; 256] && stands == bytes.map(|byte| byte.to_ascii_uppercase());
        Filter { stands, counts, only_capitalises }
    }

    fn counts(&self, byte: u8) -> bool {
        self.counts[usize::from(byte)]
    }

    fn stand(&self, byte: u8) -> u8 {
        self.stands[usize::from(byte)]
    }

    fn apply(&self, text: &[u8]) -> impl Iterator<Item = u8> {
        text.iter().filter(|&&byte| self.counts(byte)).map(|&byte| self.stand(byte))
    }

    /// Calls `then` with the text that is compared.
    fn with<T>(&self, text: &[u8], then: impl FnOnce(&[u8]) -> T) -> T {
        let mut short = [0; SHORT];
        if text.len() > short.len() {
            return then(&self.apply(text).collect::<Vec<_>>());
        }
        let mut length = 0;
        for &byte in text {
            short[length] = self.stand(byte);
            length += usize::from(self.counts(byte));
        }
        then(&short[..length])
    }

    /// The code of the text that is compared.
    fn code(&self, text: &[u8]) -> Code {
        if self.only_capitalises {
            return Code::of_bytes(text).capitalised();
        }
        let (mut leading, mut length) = ([0; 16], 0);
        for &byte in text {
            leading[length] = self.stand(byte);
            length += usize::from(self.counts(byte));
            if length == leading.len() {
                break;
            }
        }
        Code::of_bytes(&leading[..length])
    }

    /// Compares two texts as they are when the filter is applied.
    fn compare(&self, mut a: &[u8], mut b: &[u8]) -> Ordering {
        loop {
            let same = common_prefix(a, b);
            (a, b) = (self.next(&a[same..]), self.next(&b[same..]));
            let (Some(first), Some(second)) = (a.first(), b.first()) else { return a.len().cmp(&b.len()) };
            let ordering = self.stand(*first).cmp(&self.stand(*second));
            if ordering.is_ne() {
                return ordering;
            }
            (a, b) = (&a[1..], &b[1..]);
        }
    }

    /// The text from the first byte that counts.
    fn next<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[text.iter().take_while(|&&byte| !self.counts(byte)).count()..]
    }
}
