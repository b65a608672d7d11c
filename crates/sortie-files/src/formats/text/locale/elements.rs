//! The tables of glibc that tell the collating elements of a string, and their weights.
//!
//! An element is a character, or several that count as one, such as `ch` in Czech. It has weights for each of several passes: strings that
//! are equal by the weights of one pass compare by those of the next one. The weights of a pass are bytes, none of which is 0 or 1, or no
//! bytes at all if the pass ignores the element.

use std::cmp::Ordering;
use std::sync::OnceLock;

use super::c_library::CLocale;

/// The bits of a rule: the weights of a pass are in the reverse order; or they count only after the number of elements before that the pass
/// has ignored.
const BACKWARD: u8 = 2;
const POSITION: u8 = 4;

/// The tables of a locale.
#[derive(Debug)]
pub struct Elements {
    /// Keeps the tables in memory.
    _locale: CLocale,
    passes: usize,
    /// A rule for each pass of each set of elements.
    rules: &'static [u8],
    /// By the first byte: the element if it is not negative, else the list of those that begin with the byte.
    first: [i32; 256],
    /// The number of bytes of an element's weights, then these, for each pass.
    weights: &'static [u8],
    /// The lists, each a sequence of entries.
    lists: &'static [u8],
    /// The elements of entries that are ranges.
    ranges: &'static [u8],
    /// The lists that were read.
    read: [OnceLock<List>; 256],
    /// By the byte: the weights in the first pass of the element that it is alone, if they fit. [`Leading::NONE`] for NUL, and for bytes
    /// with a list.
    leading: [Leading; 256],
    /// Whether all ASCII characters but NUL are elements of their own.
    ascii_is_alone: bool,
    /// For each pass, whether it takes some elements backward.
    has_backward: Vec<bool>,
    /// By the byte, whether it is an element of its own that no pass ignores or takes backward.
    separates: [bool; 256],
}

/// The number of weights, and these, with zeros after them.
#[derive(Debug, Clone, Copy)]
struct Leading {
    length: u8,
    /// A word, so that one instruction copies all.
    weights: [u8; Leading::MOST + 1],
}

impl Leading {
    const MOST: usize = 3;
    const NONE: Leading = Leading { length: u8::MAX, weights: [0; Leading::MOST + 1] };

    fn new(weights: &[u8]) -> Option<Leading> {
        let mut leading = Leading { length: weights.len() as u8, ..Leading::NONE };
        leading.weights[..Leading::MOST].get_mut(..weights.len())?.copy_from_slice(weights);
        Some(leading)
    }

    #[inline]
    fn is_some(self) -> bool {
        self.length <= Leading::MOST as u8
    }

    /// `None` for [`Leading::NONE`].
    #[inline]
    fn weights(&self) -> Option<&[u8]> {
        self.weights.get(..self.length.into())
    }
}

/// An element: the number of its rules, and the start of its weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element(u32);

impl Element {
    /// An element without weights, in place of one that damaged tables do not have.
    const NONE: Element = Element(u32::MAX);

    fn set(self) -> usize {
        (self.0 >> 24) as usize
    }

    fn weights(self) -> usize {
        (self.0 & 0xff_ffff) as usize
    }
}

/// The elements that begin with one byte.
#[derive(Debug)]
struct List {
    entries: Vec<Entry>,
    /// By the two bytes that follow, the first entry that may begin with them. The bytes are those that [`cell`] takes.
    starts: Vec<u32>,
}

#[derive(Debug)]
struct Entry {
    /// The bytes after the first: of the element, or of the first and the last one of a range.
    low: &'static [u8],
    high: &'static [u8],
    to: To,
}

#[derive(Debug)]
enum To {
    Element(Element),
    /// The index of the first element of a range.
    Range(usize),
}

/// The number of cells for two bytes.
const CELLS: usize = 1 << 12;

/// The cell of the bytes that follow the first one. In UTF-8, no two characters with the same first byte share one.
fn cell(second: u8, third: u8) -> usize {
    usize::from(second & 63) << 6 | usize::from(third & 63)
}

impl Elements {
    /// The tables of a locale. `None` if text compares by bytes there, or if the tables are not as expected.
    pub fn new(locale: CLocale) -> Option<Elements> {
        let (passes, tables) = (locale.passes(), locale.tables()?);
        // SAFETY: the tables live as long as the locale, which this struct keeps, and none of them leaves it.
        let [rules, first, weights, lists, ranges] =
            tables.map(|table| unsafe { std::mem::transmute::<&[u8], &'static [u8]>(table) });
        let (numbers, _) = first.as_chunks();
        let numbers: &[[u8; 4]; 256] = numbers.first_chunk()?;
        let mut elements = Elements {
            _locale: locale,
            passes,
            rules,
            first: numbers.map(i32::from_ne_bytes),
            weights,
            lists,
            ranges,
            read: [const { OnceLock::new() }; 256],
            leading: [Leading::NONE; 256],
            ascii_is_alone: false,
            has_backward: (0..passes)
                .map(|pass| rules.iter().skip(pass).step_by(passes).any(|rule| rule & BACKWARD != 0))
                .collect(),
            separates: [false; 256],
        };
        // Otherwise, the first bytes of a key would not decide.
        if rules.chunks(passes).any(|set| set[0] & (BACKWARD | POSITION) != 0) {
            return None;
        }
        for byte in 1..256 {
            let element = u32::try_from(elements.first[byte]).ok().map(Element);
            let leading = element.and_then(|element| Leading::new(elements.weights_of(element, 0)));
            elements.leading[byte] = leading.unwrap_or(Leading::NONE);
        }
        elements.ascii_is_alone = elements.leading[1..128].iter().all(|leading| leading.is_some());
        elements.separates = std::array::from_fn(|byte| {
            let element = u32::try_from(elements.first[byte]).ok().map(Element).filter(|_| byte != 0);
            let counts = |element: Element, pass| {
                !elements.is_backward(element, pass) && !elements.weights_of(element, pass).is_empty()
            };
            element.is_some_and(|element| (0..passes).all(|pass| counts(element, pass)))
        });
        Some(elements)
    }

    pub fn passes(&self) -> usize {
        self.passes
    }

    /// Replaces `elements` by those of a text without NUL.
    pub fn read(&self, text: &[u8], elements: &mut Vec<Element>) {
        elements.clear();
        let mut at = 0;
        while at < text.len() {
            elements.push(self.next(text, &mut at));
        }
    }

    /// Writes the weights in the first pass of bytes that are elements of their own, from `at` on, until another byte follows or `out` has no
    /// room for more. Moves `at` behind these bytes, and returns the number of weights.
    #[inline]
    fn write_leading(&self, text: &[u8], at: &mut usize, out: &mut [u8]) -> usize {
        let mut length = 0;
        for &byte in &text[*at..] {
            let leading = self.leading[usize::from(byte)];
            let Some(room) = out.get_mut(length..).and_then(<[u8]>::first_chunk_mut) else { break };
            if !leading.is_some() {
                break;
            }
            *room = leading.weights;
            length += usize::from(leading.length);
            *at += 1;
        }
        length
    }

    /// Appends the first weights of a text in the first pass, at most `most`, up to the first NUL.
    pub fn push_leading(&self, text: &[u8], most: usize, out: &mut Vec<u8>) {
        /// The weights of the bytes of most lines.
        const PIECE: usize = 128;
        let end = out.len().saturating_add(most);
        let (mut at, mut weights) = (0, [0; PIECE]);
        while out.len() < end
            && let Some(&byte) = text.get(at)
        {
            if self.leading[usize::from(byte)].is_some() {
                let length = self.write_leading(text, &mut at, &mut weights);
                out.extend_from_slice(&weights[..length]);
            } else if byte == 0 {
                break;
            } else {
                out.extend_from_slice(self.weights_of(self.next(text, &mut at), 0));
            }
        }
        out.truncate(end);
    }

    /// The first weights of a text in the first pass as a number, up to the first NUL.
    #[inline]
    pub fn leading_number(&self, text: &[u8]) -> u128 {
        const BYTES: usize = size_of::<u128>();
        let mut weights = [0; BYTES + Leading::MOST];
        let (mut length, mut at) = (0, 0);
        while length < BYTES
            && let Some(&byte) = text.get(at)
        {
            let leading = self.leading[usize::from(byte)];
            if leading.is_some() {
                *weights[length..].first_chunk_mut().expect("there is room") = leading.weights;
                length += usize::from(leading.length);
                at += 1;
            } else if byte == 0 {
                break;
            } else {
                let found = self.weights_of(self.next(text, &mut at), 0);
                let fitting = found.len().min(BYTES - length);
                weights[length..length + fitting].copy_from_slice(&found[..fitting]);
                length += fitting;
            }
        }
        u128::from_be_bytes(*weights.first_chunk().expect("it is longer"))
    }

    /// The weights of a text in the first pass, up to the first NUL.
    #[inline]
    fn leading<'e>(&'e self, text: &'e [u8]) -> LeadingWeights<'e> {
        LeadingWeights { elements: self, text, at: 0, weights: &[] }
    }

    /// Compares two texts by their weights in the first pass, up to the first NUL of each.
    #[inline]
    pub fn compare_leading(&self, a: &[u8], b: &[u8]) -> Ordering {
        let same = self.same(a, b);
        self.leading(&a[same..]).cmp(self.leading(&b[same..]))
    }

    /// The number of bytes with which both texts begin that are elements of their own.
    #[inline]
    fn same(&self, a: &[u8], b: &[u8]) -> usize {
        let is_alone = |byte: u8| self.leading[usize::from(byte)].is_some();
        let (words_of_a, words_of_b) = (a.as_chunks().0.iter(), b.as_chunks().0);
        let words = words_of_a.zip(words_of_b).take_while(|(a, b)| a == b && is_ascii_without_nul(a));
        let bytes = if self.ascii_is_alone { WORD * words.count() } else { 0 };
        let rest = a[bytes..].iter().zip(&b[bytes..]);
        bytes + rest.take_while(|&(a, b)| a == b && is_alone(*a)).count()
    }

    /// The number of bytes with which both texts begin that need not be read to compare them in a pass after the first. Behind them, a pass
    /// goes on as from the start: the last of them is an element that no pass ignores or takes backward.
    pub fn same_before(&self, a: &[u8], b: &[u8]) -> usize {
        let same = self.same(a, b);
        a[..same].iter().rposition(|&byte| self.separates[usize::from(byte)]).map_or(0, |last| last + 1)
    }

    /// For each pass, whether the weights of a text count only after the number of elements before them that the pass ignores. The first
    /// element decides.
    pub fn positions(&self, text: &[u8]) -> impl Iterator<Item = bool> {
        let first = (!text.is_empty()).then(|| self.next(text, &mut 0));
        (0..self.passes).map(move |pass| first.is_some_and(|first| self.rule(first, pass) & POSITION != 0))
    }

    /// Compares two texts by their weights in a pass that moves no element of them.
    pub fn compare_forward(
        &self,
        a: &[Element],
        b: &[Element],
        pass: usize,
        has_positions: bool,
    ) -> Ordering {
        let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let [a, b] = [a, b].map(|text| text[same..].iter().map(|&element| self.weights_of(element, pass)));
        if has_positions { counted(a).cmp(counted(b)) } else { a.flatten().cmp(b.flatten()) }
    }

    /// Whether a pass may take some elements of a text backward.
    pub fn moves(&self, text: &[Element], pass: usize, has_positions: bool) -> bool {
        // A single element that is taken backward stays where it is, and it does not matter where those without weights are.
        let is_backward = |element: &Element| self.is_backward(*element, pass);
        let matters = |element: &Element| has_positions || !self.weights_of(*element, pass).is_empty();
        let is_moved = |pair: &[Element]| pair.iter().all(is_backward) && pair.iter().any(matters);
        self.has_backward[pass] && text.windows(2).any(is_moved)
    }

    /// Whether all passes but the last ignore the elements in which two texts differ.
    pub fn differ_only_in_last(&self, a: &[Element], b: &[Element]) -> bool {
        let [a, b] = [a, b].map(|text| text.iter().filter(|element| !self.is_for_last(**element)));
        a.eq(b)
    }

    fn is_for_last(&self, element: Element) -> bool {
        // Those passes have no weights of it, of which the lengths are next to each other.
        let lengths = self.weights.get(element.weights()..).and_then(|rest| rest.get(..self.passes - 1));
        lengths.is_some_and(|lengths| lengths.iter().all(|&length| length == 0))
    }

    /// The element at a position, which moves behind it.
    #[inline]
    fn next(&self, text: &[u8], at: &mut usize) -> Element {
        let byte = text[*at];
        *at += 1;
        match self.first[usize::from(byte)] {
            element @ 0.. => Element(element as u32),
            list => self.next_in_list(byte, list, text, at).unwrap_or(Element::NONE),
        }
    }

    /// The element of a list that a text continues. `None` if the tables are damaged.
    fn next_in_list(&self, byte: u8, list: i32, text: &[u8], at: &mut usize) -> Option<Element> {
        let list = self.read[usize::from(byte)].get_or_init(|| self.list(list));
        let rest = &text[*at..];
        let get = |place: usize| rest.get(place).copied().unwrap_or(0);
        let start = list.starts.get(cell(get(0), get(1)))?;
        for entry in &list.entries[*start as usize..] {
            let width = entry.low.len();
            let is_within = width <= rest.len();
            match &entry.to {
                To::Element(element) if is_within && rest.starts_with(entry.low) => {
                    *at += width;
                    return Some(*element);
                }
                To::Range(first) if is_within && (entry.low..=entry.high).contains(&&rest[..width]) => {
                    *at += width;
                    return self.in_range(*first, entry.low, &rest[..width]);
                }
                _ => {}
            }
        }
        None
    }

    /// The element of a range that is as far from the first as the bytes are.
    fn in_range(&self, first: usize, low: &[u8], bytes: &[u8]) -> Option<Element> {
        let same = low.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        let distances = low[same..].iter().zip(&bytes[same..]);
        let distance = distances.fold(0i64, |distance, (&low, &byte)| {
            (distance << 8).wrapping_add(i64::from(byte) - i64::from(low))
        });
        let index = usize::try_from(first as i64 + distance).ok()?;
        let bytes = self.ranges.get(4 * index..)?.first_chunk()?;
        u32::try_from(i32::from_ne_bytes(*bytes)).ok().map(Element)
    }

    /// Reads a list, up to the entry that any text continues.
    fn list(&self, list: i32) -> List {
        let mut entries: Vec<Entry> = Vec::new();
        let mut at = list.unsigned_abs() as usize;
        while entries.last().is_none_or(|last| !last.low.is_empty())
            && let Some((entry, width)) = self.entry(at)
        {
            entries.push(entry);
            at += width;
        }
        let mut starts = vec![0; CELLS];
        for (number, entry) in entries.iter().enumerate().rev() {
            for second in entry.span(0) {
                // Within a range of several second bytes, the third may be any.
                let thirds = if entry.low.first() == entry.high.first() { entry.span(1) } else { 0..=63 };
                for third in thirds {
                    starts[cell(second, third)] = number as u32;
                }
            }
        }
        List { entries, starts }
    }

    /// An entry of a list, and the number of its bytes. It has a number, the length of the element without its first byte, and that
    /// element; or if the number is negative, the first and the last element of a range.
    fn entry(&self, at: usize) -> Option<(Entry, usize)> {
        const NUMBER: usize = size_of::<i32>();
        let bytes = self.lists.get(at..)?;
        let number = i32::from_ne_bytes(*bytes.first_chunk()?);
        let length = usize::from(*bytes.get(NUMBER)?);
        let bytes = &bytes[NUMBER + 1..];
        let low = bytes.get(..length)?;
        let (high, to) = match u32::try_from(number) {
            Ok(element) => (low, To::Element(Element(element))),
            Err(_) => (bytes.get(length..2 * length)?, To::Range(number.unsigned_abs() as usize)),
        };
        let width = 1 + if number < 0 { 2 * length } else { length };
        Some((Entry { low, high, to }, NUMBER + width.next_multiple_of(NUMBER)))
    }

    fn weights_of(&self, element: Element, pass: usize) -> &[u8] {
        let mut rest = self.weights.get(element.weights()..).unwrap_or_default();
        let mut weights: &[u8] = &[];
        for _ in 0..=pass {
            let Some((&length, after)) = rest.split_first() else { return &[] };
            (weights, rest) = after.split_at_checked(length.into()).unwrap_or_default();
        }
        weights
    }

    fn rule(&self, element: Element, pass: usize) -> u8 {
        self.rules.get(element.set() * self.passes + pass).copied().unwrap_or(0)
    }

    fn is_backward(&self, element: Element, pass: usize) -> bool {
        self.rule(element, pass) & BACKWARD != 0
    }

    /// Appends the weights of elements in a pass, followed by a 0. Two of them compare as `strcoll` compares the strings in that pass.
    pub fn push_weights(&self, elements: &[Element], pass: usize, has_positions: bool, out: &mut Vec<u8>) {
        let mut ignored = 0;
        let mut push = |element: Element| {
            let weights = self.weights_of(element, pass);
            if !has_positions {
                out.extend_from_slice(weights);
            } else if weights.is_empty() {
                ignored += 1;
            } else {
                push_count(ignored, out);
                out.extend_from_slice(weights);
                out.push(1);
                ignored = 0;
            }
            !weights.is_empty()
        };
        // As `strcoll` walks them, which differs from `strxfrm` in two ways if the pass takes some elements backward. It takes the last one
        // of a run, then those before it down to the first; but if others follow the run, it passes over the last but one. And it finds
        // the others by counting from `origin`, which is before the run if the pass ignores the elements in between.
        let (mut at, mut origin) = (0, 0);
        while let Some(&element) = elements.get(at) {
            if !self.is_backward(element, pass) {
                at += 1;
                if push(element) {
                    origin = at;
                }
                continue;
            }
            let run = elements[at..].iter().take_while(|&&element| self.is_backward(element, pass)).count();
            let end = at + run;
            let next = elements.get(end);
            push(elements[end - 1]);
            let others = run - 1 - usize::from(run > 1 && next.is_some());
            elements[origin..][..others].iter().rev().for_each(|&element| {
                push(element);
            });
            if let Some(&next) = next {
                push(next);
            }
            at = end + usize::from(next.is_some());
            origin = at;
        }
        out.push(0);
    }
}

/// The weights of a text in the first pass.
pub struct LeadingWeights<'e> {
    elements: &'e Elements,
    text: &'e [u8],
    at: usize,
    /// The other weights of the last element.
    weights: &'e [u8],
}

impl Iterator for LeadingWeights<'_> {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        loop {
            if let Some((&weight, others)) = self.weights.split_first() {
                self.weights = others;
                return Some(weight);
            }
            let byte = *self.text.get(self.at)?;
            self.weights = match self.elements.leading[usize::from(byte)].weights() {
                Some(weights) => {
                    self.at += 1;
                    weights
                }
                None if byte == 0 => return None,
                None => self.elements.weights_of(self.elements.next(self.text, &mut self.at), 0),
            };
        }
    }
}

impl Entry {
    /// The low 6 bits of the bytes that an element of this entry may have at a place. Any, if it ends before.
    fn span(&self, place: usize) -> std::ops::RangeInclusive<u8> {
        match (self.low.get(place), self.high.get(place)) {
            // The bits of bytes that are farther apart are in no order.
            (Some(low), Some(high)) if low >> 6 == high >> 6 => low & 63..=high & 63,
            _ => 0..=63,
        }
    }
}

/// The bytes that are compared at a time.
const WORD: usize = 8;

fn is_ascii_without_nul(bytes: &[u8; WORD]) -> bool {
    const EACH: u64 = u64::MAX / 0xff;
    let word = u64::from_ne_bytes(*bytes);
    // Taking 1 from each byte borrows at the first that is 0.
    (word | word.wrapping_sub(EACH)) & EACH << 7 == 0
}

/// The weights of the elements that a pass does not ignore, each after the number of those before it that the pass ignores.
fn counted<'e>(weights: impl Iterator<Item = &'e [u8]>) -> impl Iterator<Item = (usize, &'e [u8])> {
    let mut ignored = 0;
    weights.filter_map(move |weights| {
        if weights.is_empty() {
            ignored += 1;
            return None;
        }
        Some((std::mem::take(&mut ignored), weights))
    })
}

/// Appends a number such that more comes later. No byte of it is 0.
fn push_count(count: usize, out: &mut Vec<u8>) {
    match u8::try_from(count) {
        Ok(few @ ..=253) => out.push(few + 1),
        _ => {
            out.push(u8::MAX);
            out.extend_from_slice(&(count as u64).to_be_bytes());
        }
    }
}
