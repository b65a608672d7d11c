//! The rules of a locale: how its text compares, and how it writes numbers and months.
//!
//! The C library has them. Where it has none, in static builds and on other systems than Linux, every locale is the C locale.

#[cfg_attr(not(all(target_os = "linux", target_env = "gnu")), path = "c_library_without.rs")]
mod c_library;
mod collation;
mod collator;
mod elements;
mod installed;
mod months;
mod natural;
mod notation;
mod strcoll;
#[cfg_attr(not(feature = "unicode"), path = "unicode_without.rs")]
mod unicode;

use std::env;
use std::sync::Arc;

use crate::Error;
use c_library::{CLocale, Category};
pub use collation::Collation;
pub use collator::Collator;
pub use months::Months;
pub use notation::Notation;
use strcoll::Strcoll;
use unicode::Unicode;

/// The variables that choose the rules of this module, in the order of their effect if the one of all is not set.
const VARIABLES: [&str; 4] = ["LC_COLLATE", "LC_CTYPE", "LC_NUMERIC", "LC_TIME"];
/// Those that choose other rules.
const OTHER_VARIABLES: [&str; 8] = [
    "LC_ADDRESS",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_PAPER",
    "LC_TELEPHONE",
];

/// The rules by which text is sorted. By default those of the C locale: bytes.
///
/// ```
/// use sortie_files::formats::text::{Locale, TextOrder};
///
/// let order = TextOrder { locale: Locale::of_environment(), ..TextOrder::default() };
/// # let _ = order;
/// ```
#[derive(Debug, Clone, Default)]
pub struct Locale {
    /// `None` for the C locale.
    rules: Option<Arc<Rules>>,
    /// The locale that the environment asks for, if it is not installed.
    missing: Option<String>,
}

/// What differs from the C locale.
#[derive(Debug, Clone)]
struct Rules {
    name: String,
    /// If `None`, text compares by its bytes.
    collation: Option<Arc<Collation>>,
    /// Whether `-R` hashes strings that end with NUL, as it does if text is not compared by its bytes.
    hashes_strings: bool,
    classes: Arc<Classes>,
    notation: Notation,
    months: Option<Arc<Months>>,
}

impl Rules {
    fn of_c() -> Rules {
        Rules {
            name: "C".into(),
            collation: None,
            hashes_strings: false,
            classes: Arc::new(Classes::of_c()),
            notation: Notation::default(),
            months: None,
        }
    }
}

/// What single bytes are. No byte of a character of several bytes is anything.
#[derive(Debug)]
pub struct Classes {
    pub upper: [u8; 256],
    pub is_alphanumeric: [bool; 256],
    pub is_printable: [bool; 256],
}

impl Classes {
    /// Those of the C locale.
    pub fn of_c() -> Classes {
        let bytes = std::array::from_fn(|byte| byte as u8);
        Classes {
            upper: bytes.map(|byte| byte.to_ascii_uppercase()),
            is_alphanumeric: bytes.map(|byte| byte.is_ascii_alphanumeric()),
            is_printable: bytes.map(|byte| byte == b' ' || byte.is_ascii_graphic()),
        }
    }
}

impl Locale {
    /// The locale that the environment asks for: by `LC_ALL`, else by `LC_COLLATE`, `LC_CTYPE`, `LC_NUMERIC` and `LC_TIME`, else by
    /// `LANG`. As in other programs, the C locale if one of them is not installed.
    pub fn of_environment() -> Locale {
        let asked_for = VARIABLES.map(asked);
        // Other programs take no locale if any of those that the environment names is missing.
        let names_no_others =
            OTHER_VARIABLES.into_iter().all(|variable| asked_for.contains(&asked(variable)));
        match CLocale::of_environment(names_no_others) {
            Some(locale) => Locale::of(&locale),
            None => Locale {
                rules: None,
                missing: asked_for.into_iter().find(|name| CLocale::new(name).is_none()),
            },
        }
    }

    /// Whether the environment asks for an order by bytes, so that nothing needs to be read of a locale. With it, only the hashes of
    /// `-R` may differ from the C locale.
    pub fn environment_is_plain() -> bool {
        VARIABLES.map(asked).iter().all(|name| matches!(&**name, "C" | "POSIX" | "C.UTF-8" | "C.utf8"))
    }

    /// The locale of this name.
    ///
    /// # Errors
    /// If it is not installed.
    pub fn named(name: &str) -> Result<Locale, Error> {
        let locale = CLocale::new(name).filter(|_| !name.is_empty());
        locale.map(|locale| Locale::of(&locale)).ok_or_else(|| Error::invalid(installed::missing(name)))
    }

    fn of(locale: &CLocale) -> Locale {
        let is_c = |category| matches!(&*locale.name(category), "C" | "POSIX");
        if Category::ALL.into_iter().all(is_c) {
            return Locale::default();
        }
        let classes = Arc::new(locale.classes());
        let hashes_strings = !is_c(Category::Collate);
        let rules = Rules {
            name: locale.name(Category::Collate),
            collation: hashes_strings
                .then(|| Strcoll::new(locale.clone()))
                .flatten()
                .map(|rules| Arc::new(Collation::Strcoll(rules))),
            hashes_strings,
            notation: Notation::new(&locale.decimal_point(), &locale.thousands_separator()),
            months: (!is_c(Category::Time)).then(|| Arc::new(Months::new(locale.months(), &classes.upper))),
            classes,
        };
        Locale { rules: Some(Arc::new(rules)), missing: None }
    }

    /// The same rules, except that text compares as the Unicode collation algorithm does, with the data of CLDR for a language such as
    /// `de`, or for no particular one if it is empty. That is another order than the C library's.
    ///
    /// # Errors
    /// If this is no language, or if the program was built without the feature `unicode`.
    pub fn collated_by_unicode(self, language: &str) -> Result<Locale, Error> {
        let rules = self.rules.map_or_else(Rules::of_c, |rules| Rules::clone(&rules));
        let name = if language.is_empty() { "unicode".into() } else { format!("unicode:{language}") };
        let collation = Some(Arc::new(Collation::Unicode(Unicode::new(language)?)));
        Ok(Locale {
            rules: Some(Arc::new(Rules { name, collation, hashes_strings: true, ..rules })),
            missing: None,
        })
    }

    /// The name of the locale whose rules order text.
    pub fn name(&self) -> &str {
        self.rules.as_ref().map_or("C", |rules| &rules.name)
    }

    /// The locale that the environment asks for, if it is not installed.
    pub fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// The byte that is the decimal point of `-n`.
    pub fn point(&self) -> u8 {
        self.notation().point()
    }

    /// How text compares, unless by its bytes.
    pub fn collation(&self) -> Option<&Arc<Collation>> {
        self.rules.as_ref()?.collation.as_ref()
    }

    pub(super) fn hashes_strings(&self) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.hashes_strings)
    }

    pub(super) fn classes(&self) -> Arc<Classes> {
        self.rules.as_ref().map_or_else(|| Arc::new(Classes::of_c()), |rules| rules.classes.clone())
    }

    pub(super) fn notation(&self) -> Notation {
        self.rules.as_ref().map_or_else(Notation::default, |rules| rules.notation.clone())
    }

    pub(super) fn months(&self) -> Option<Arc<Months>> {
        self.rules.as_ref()?.months.clone()
    }
}

/// The locale that the environment asks for in a category.
fn asked(variable: &str) -> String {
    let set = |variable| env::var_os(variable).filter(|name| !name.is_empty());
    let name = set("LC_ALL").or_else(|| set(variable)).or_else(|| set("LANG"));
    name.map_or_else(|| "C".into(), |name| name.to_string_lossy().into_owned())
}
