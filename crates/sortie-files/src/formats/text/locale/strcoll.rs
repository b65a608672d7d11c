//! How text compares in a locale of the C library: as `strcoll` compares it.
//!
//! Keys are made from the C library's own tables instead of by `strxfrm`, whose order is another one for some strings (see
//! `push_weights`), and which takes longer. If random strings show that the tables do not give the order of `strcoll`, that function
//! compares all text.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::sync::OnceLock;

use memchr::memchr;

use super::c_library::CLocale;
use super::elements::{Element, Elements};

/// The bytes of two texts that are compared by `strcoll`, because keys of them would take much memory.
const LONG: usize = 64 << 10;

/// The rules by which text compares in a locale. A text with NUL compares as its parts between these.
#[derive(Debug)]
pub struct Strcoll {
    locale: CLocale,
    /// Read for the first encoding, because that takes as long as to compare some hundred lines without them. `None` if the tables do not
    /// give the order.
    elements: OnceLock<Option<Box<Elements>>>,
}

thread_local! {
    static SCRATCH: RefCell<[Scratch; 2]> = RefCell::default();
}

/// What a comparison makes of a text.
#[derive(Default)]
struct Scratch {
    elements: Vec<Element>,
    weights: Vec<u8>,
}

impl Strcoll {
    /// The rules of a locale. `None` if text compares by its bytes there.
    pub fn new(locale: CLocale) -> Option<Strcoll> {
        (locale.passes() > 0).then(|| Strcoll { locale, elements: OnceLock::new() })
    }

    /// Reads the tables, if that was not done before. Without them, all texts are compared by the C library.
    pub fn elements(&self) -> Option<&Elements> {
        let read = || {
            Elements::new(self.locale.clone()).filter(|elements| agree(elements, &self.locale)).map(Box::new)
        };
        self.elements.get_or_init(read).as_deref()
    }

    /// Compares two texts. They may be equal although their bytes differ.
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let elements = self.elements.get().and_then(Option::as_deref);
        if let Some(elements) = elements {
            let leading = elements.compare_leading(a, b);
            if leading.is_ne() {
                return leading;
            }
        }
        self.compare_tied(a, b)
    }

    /// Compares two texts whose weights in the first pass are equal, up to the first NUL of each.
    pub fn compare_tied(&self, a: &[u8], b: &[u8]) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let elements = self.elements.get().and_then(Option::as_deref);
        // A few texts are searched without `memchr`, which would detect vector instructions first. In a virtual machine, that takes longer.
        let has_nul =
            |text: &[u8]| if elements.is_some() { memchr(0, text).is_some() } else { text.contains(&0) };
        // Most texts have no NUL. Then only the passes after the first are left, if the tables were read.
        if !has_nul(a) && !has_nul(b) {
            return self.compare_parts(a, b, elements);
        }
        let (mut parts_of_a, mut parts_of_b) = (parts(a), parts(b));
        loop {
            match (parts_of_a.next(), parts_of_b.next()) {
                (Some(a), Some(b)) => {
                    let leading = elements.map_or(Ordering::Equal, |elements| elements.compare_leading(a, b));
                    let ordering = leading.then_with(|| self.compare_parts(a, b, elements));
                    if ordering.is_ne() {
                        return ordering;
                    }
                }
                (a, b) => return a.is_some().cmp(&b.is_some()),
            }
        }
    }

    /// Compares two texts without NUL, which are equal by the first pass of `elements`.
    fn compare_parts(&self, a: &[u8], b: &[u8], elements: Option<&Elements>) -> Ordering {
        if a.is_empty() || b.is_empty() {
            return a.len().cmp(&b.len());
        }
        match elements {
            Some(elements) if a.len() + b.len() <= LONG => compare_others(elements, a, b),
            _ => self.locale.compare(a, b),
        }
    }

    /// Appends at most `most` bytes that compare as texts do, as far as they go.
    #[inline]
    pub fn push_leading(&self, text: &[u8], most: usize, out: &mut Vec<u8>) {
        if let Some(elements) = self.elements() {
            elements.push_leading(text, most, out);
        }
    }

    /// A number that compares as texts do, as far as it goes.
    #[inline]
    pub fn leading(&self, text: &[u8]) -> u128 {
        self.elements().map_or(0, |elements| elements.leading_number(text))
    }

    /// Appends bytes that compare as texts do. No such sequence is a prefix of another one. If the tables do not give the order, it is that
    /// of `strxfrm`.
    pub fn push_whole(&self, text: &[u8], out: &mut Vec<u8>) {
        for part in parts(text) {
            out.push(1);
            match self.elements() {
                Some(elements) => SCRATCH.with_borrow_mut(|[scratch, _]| {
                    elements.read(part, &mut scratch.elements);
                    for (pass, has_positions) in elements.positions(part).enumerate() {
                        elements.push_weights(&scratch.elements, pass, has_positions, out);
                    }
                }),
                None => {
                    self.locale.transform(part, out);
                    out.push(0);
                }
            }
        }
        out.push(0);
    }

    /// Appends what GNU sort hashes of a text for `-R`.
    pub fn transform(&self, part: &[u8], out: &mut Vec<u8>) {
        self.locale.transform(part, out);
    }
}

/// Compares two texts that are equal by the first pass, with neither NUL nor an empty one among them.
fn compare_others(elements: &Elements, a: &[u8], b: &[u8]) -> Ordering {
    SCRATCH.with_borrow_mut(|[of_a, of_b]| {
        let start = elements.same_before(a, b);
        elements.read(&a[start..], &mut of_a.elements);
        elements.read(&b[start..], &mut of_b.elements);
        let differ_only_in_last = elements.differ_only_in_last(&of_a.elements, &of_b.elements);
        let last = elements.passes() - 1;
        let positions = elements.positions(a).zip(elements.positions(b)).enumerate();
        let in_pass = |(pass, (positions_a, positions_b))| {
            let moves_a = elements.moves(&of_a.elements, pass, positions_a);
            if moves_a || elements.moves(&of_b.elements, pass, positions_b) || positions_a != positions_b {
                for (text, has_positions) in [(&mut *of_a, positions_a), (&mut *of_b, positions_b)] {
                    text.weights.clear();
                    elements.push_weights(&text.elements, pass, has_positions, &mut text.weights);
                }
                of_a.weights.cmp(&of_b.weights)
            } else if differ_only_in_last && pass < last && !positions_a {
                Ordering::Equal
            } else {
                elements.compare_forward(&of_a.elements, &of_b.elements, pass, positions_a)
            }
        };
        positions.skip(1).map(in_pass).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
    })
}

/// Whether the tables give the order of `strcoll` for random strings: short ones of few characters, so that they often differ in the last
/// passes only.
fn agree(elements: &Elements, locale: &CLocale) -> bool {
    const PAIRS: usize = 200;
    const CHARACTERS: [&str; 4] = [
        "aAbhlcz",
        "19-. ,$:'",
        "\u{e9}\u{df}\u{f6}\u{3b1}\u{436}",
        "\u{301}\u{e01}\u{3042}\u{4e9c}\u{1f600}\u{1}",
    ];
    let characters: Vec<char> = CHARACTERS.concat().chars().collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        // An LCG, of which the high bits are random.
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) as usize % below
    };
    let mut text = || -> Vec<u8> {
        let length = 1 + random(5);
        let text: String = (0..length).map(|_| characters[random(characters.len())]).collect();
        text.into()
    };
    (0..PAIRS).all(|_| {
        let (mut a, b) = (text(), text());
        // Half of the pairs have the same letters.
        if a.len() % 2 == 0 {
            a = [&a[..], &b[..]].concat();
        }
        let pairs = [(&a, &b), (&a, &a.to_ascii_uppercase()), (&b, &[&b[..], b"-"].concat())];
        let compare =
            |a: &[u8], b: &[u8]| elements.compare_leading(a, b).then_with(|| compare_others(elements, a, b));
        pairs.iter().all(|(a, b)| compare(a, b) == locale.compare(a, b))
    })
}

/// The parts of a text between NULs. An empty text is one empty part.
pub fn parts(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == 0)
}
