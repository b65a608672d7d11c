//! A locale of glibc.

use std::ffi::{CStr, CString, c_char, c_int};
use std::sync::Arc;

use libc::{LC_ALL_MASK, LC_COLLATE_MASK, LC_CTYPE_MASK, LC_NUMERIC_MASK, LC_TIME_MASK, locale_t, nl_item};

use super::Classes;

unsafe extern "C" {
    fn strcoll_l(a: *const c_char, b: *const c_char, locale: locale_t) -> c_int;
    fn strxfrm_l(to: *mut c_char, from: *const c_char, room: usize, locale: locale_t) -> usize;
    fn toupper_l(byte: c_int, locale: locale_t) -> c_int;
    fn isalnum_l(byte: c_int, locale: locale_t) -> c_int;
    fn isprint_l(byte: c_int, locale: locale_t) -> c_int;
}

/// A category of a locale that matters here.
#[derive(Debug, Clone, Copy)]
pub enum Category {
    Type = libc::LC_CTYPE as isize,
    Numeric = libc::LC_NUMERIC as isize,
    Time = libc::LC_TIME as isize,
    Collate = libc::LC_COLLATE as isize,
}

impl Category {
    pub const ALL: [Category; 4] = [Category::Type, Category::Numeric, Category::Time, Category::Collate];
    const MASK: c_int = LC_CTYPE_MASK | LC_NUMERIC_MASK | LC_TIME_MASK | LC_COLLATE_MASK;
}

/// The bytes after a string. For characters that are cut off at its end, glibc looks beyond it.
const PADDING: usize = 16;

/// A locale, which is freed with its last copy.
#[derive(Debug, Clone)]
pub struct CLocale(Arc<Owned>);

#[derive(Debug)]
struct Owned(locale_t);

// SAFETY: a locale does not change, and any thread may use and free it.
unsafe impl Send for Owned {}
// SAFETY: as above.
unsafe impl Sync for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: nobody else has the locale.
        unsafe { libc::freelocale(self.0) }
    }
}

impl CLocale {
    /// The locale of this name. `None` if it is not installed.
    pub fn new(name: &str) -> Option<CLocale> {
        CLocale::load(LC_ALL_MASK, &CString::new(name).ok()?)
    }

    /// The locale of the environment. `None` if it is not installed. With `in_part`, only the categories that matter here are loaded: each
    /// is a file to open, unless the locale is in an archive.
    pub fn of_environment(in_part: bool) -> Option<CLocale> {
        CLocale::load(if in_part { Category::MASK } else { LC_ALL_MASK }, c"")
    }

    fn load(categories: c_int, name: &CStr) -> Option<CLocale> {
        // SAFETY: the name ends with NUL, and no locale is changed.
        let locale = unsafe { libc::newlocale(categories, name.as_ptr(), std::ptr::null_mut()) };
        (!locale.is_null()).then(|| CLocale(Arc::new(Owned(locale))))
    }

    fn raw(&self) -> locale_t {
        self.0.0
    }

    /// The name of the locale in a category.
    pub fn name(&self, category: Category) -> String {
        String::from_utf8_lossy(&self.text(item(category, 0xffff))).into_owned()
    }

    pub fn decimal_point(&self) -> Vec<u8> {
        self.text(libc::RADIXCHAR)
    }

    pub fn thousands_separator(&self) -> Vec<u8> {
        self.text(libc::THOUSEP)
    }

    /// The abbreviated names of the months.
    pub fn months(&self) -> [Vec<u8>; 12] {
        std::array::from_fn(|month| self.text(libc::ABMON_1 + month as nl_item))
    }

    fn text(&self, item: nl_item) -> Vec<u8> {
        // SAFETY: these items are strings that end with NUL, and live as long as the locale.
        unsafe { CStr::from_ptr(libc::nl_langinfo_l(item, self.raw())) }.to_bytes().into()
    }

    pub fn classes(&self) -> Classes {
        let bytes: [c_int; 256] = std::array::from_fn(|byte| byte as c_int);
        // SAFETY: these functions take any byte.
        unsafe {
            Classes {
                upper: bytes.map(|byte| toupper_l(byte, self.raw()) as u8),
                is_alphanumeric: bytes.map(|byte| isalnum_l(byte, self.raw()) != 0),
                is_printable: bytes.map(|byte| isprint_l(byte, self.raw()) != 0),
            }
        }
    }

    /// How `strcoll` compares two strings without NUL.
    pub fn compare(&self, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
        let [a, b] = [a, b].map(ended);
        // SAFETY: both end with NUL.
        unsafe { strcoll_l(a.as_ptr().cast(), b.as_ptr().cast(), self.raw()) }.cmp(&0)
    }

    /// Appends what `strxfrm` makes of a string without NUL.
    pub fn transform(&self, text: &[u8], out: &mut Vec<u8>) {
        let text = ended(text);
        let mut room = 4 * text.len();
        loop {
            out.reserve(room);
            // SAFETY: the text ends with NUL, and the bytes are reserved.
            let length = unsafe {
                let end = out.as_mut_ptr().add(out.len());
                strxfrm_l(end.cast(), text.as_ptr().cast(), room, self.raw())
            };
            if length < room {
                // SAFETY: this many bytes were written.
                return unsafe { out.set_len(out.len() + length) };
            }
            room = length + 1;
        }
    }

    /// The number of passes in which strings are compared; 0 if their bytes are.
    pub fn passes(&self) -> usize {
        self.collate(0) as u32 as usize
    }

    /// The tables of collation: the rules of passes, the elements of the first bytes, weights, what follows first bytes, and the elements
    /// of ranges. `None` if they are not where they are expected.
    pub fn tables(&self) -> Option<[&[u8]; 5]> {
        /// No table is nearly as large.
        const MOST: usize = 1 << 28;
        let mut tables: [&[u8]; 5] = Default::default();
        for (number, table) in (1..).zip(&mut tables) {
            let (start, end) = (self.collate(number), self.collate(number + 1));
            let length = end.checked_sub(start).filter(|&length| start != 0 && length <= MOST)?;
            // SAFETY: all tables of the locale are in one file, which is in memory as long as the locale, and follow each other in the
            // order of their numbers.
            *table = unsafe { std::slice::from_raw_parts(start as *const u8, length) };
        }
        Some(tables)
    }

    /// A number of collation, or the address of a table.
    fn collate(&self, number: nl_item) -> usize {
        // SAFETY: the pointer is only compared.
        unsafe { libc::nl_langinfo_l(item(Category::Collate, number), self.raw()) as usize }
    }
}

fn item(category: Category, number: nl_item) -> nl_item {
    (category as nl_item) << 16 | number
}

/// A copy of a string with NUL at its end.
fn ended(text: &[u8]) -> Vec<u8> {
    let mut copy = Vec::with_capacity(text.len() + PADDING);
    copy.extend_from_slice(text);
    copy.resize(text.len() + PADDING, 0);
    copy
}
