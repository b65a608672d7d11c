//! `--debug`: the warnings that GNU sort gives, in the same order. They are about options that are allowed but
//! seldom intended.

use sortie_files::formats::text::{KeyOptions, KeySpec, Locale};
use sortie_files::quote;

use crate::cli::LinesJob;

/// The warnings, one line each.
pub fn of(job: &LinesJob, locale: &Locale) -> Vec<String> {
    let global = job.ordering;
    let keys: Vec<ResolvedKey> = job.keys.iter().map(|key| ResolvedKey::new(&key.spec, global)).collect();
    let mut found = vec![rules(locale)];
    for (place, key) in keys.iter().enumerate() {
        if let Some(old) = &job.keys[place].old {
            found.push(format!(
                "key {}: '{}' is an obsolete form; write -k {}",
                place + 1,
                old.given,
                old.key
            ));
        }
        let texts = key.warnings(job.separator);
        found.extend(texts.map(|text| format!("key {}: {text}", place + 1)));
    }
    found.extend(about_numbers(&keys, global, job.separator, char::from(locale.point())));
    if !keys.is_empty() {
        found.extend(without_effect(&keys, global, job.stable || job.unique));
    }
    found
}

/// By which rules lines are compared.
pub fn rules(locale: &Locale) -> String {
    match (locale.collation(), locale.missing()) {
        (Some(_), _) => format!("lines are compared by the rules of the locale {}", locale.name()),
        (None, None) => "lines are compared by their bytes, as in the C locale".into(),
        (None, Some(missing)) => {
            let missing = quote::always(missing.as_ref());
            format!("lines are compared by their bytes, because the locale {missing} is not installed")
        }
    }
}

/// A `-k` with its own or inherited options.
struct ResolvedKey {
    spec: KeySpec,
    options: KeyOptions,
    start_blanks: bool,
    end_blanks: bool,
}

impl ResolvedKey {
    fn new(spec: &KeySpec, global: KeyOptions) -> ResolvedKey {
        let spec = *spec;
        if spec.options == KeyOptions::default() {
            let blanks = global.blanks;
            return ResolvedKey { spec, options: global, start_blanks: blanks, end_blanks: blanks };
        }
        ResolvedKey {
            spec,
            options: spec.options,
            start_blanks: spec.start_blanks,
            end_blanks: spec.end_blanks,
        }
    }

    fn warnings(&self, separator: Option<u8>) -> impl Iterator<Item = &'static str> + use<> {
        let texts = [
            (self.is_empty(), "ends before it starts, so it is empty in every line"),
            (
                separator.is_none() && self.counts_blanks(),
                "starts or ends with the blanks before its field; b skips them",
            ),
            (self.spans_as_number(), "is a number, and does not end with its field"),
        ];
        texts.into_iter().filter_map(|(applies, text)| applies.then_some(text))
    }

    fn is_empty(&self) -> bool {
        self.spec.end_field.is_some_and(|end| end < self.spec.start_field)
    }

    /// Whether the blanks before a field are part of the key, or are counted in one of its positions.
    fn counts_blanks(&self) -> bool {
        let KeySpec { start_char, end_field, end_char, .. } = self.spec;
        // No blanks before the first field belong to another field.
        let within_line = end_field == Some(1) && end_char > 0;
        let skips = is_number(self.options) || self.options.month;
        let at_start = !self.start_blanks && (!skips || start_char > 1);
        let at_end = !self.end_blanks && end_char > 0;
        !self.is_empty() && !within_line && (at_start || at_end)
    }

    /// Whether a number may extend over more than one field.
    fn spans_as_number(&self) -> bool {
        is_number(self.options) && self.spec.end_field.is_none_or(|end| end > self.spec.start_field)
    }
}

fn is_number(options: KeyOptions) -> bool {
    options.numeric || options.general_numeric || options.human_numeric
}

/// Warns if a separator has a meaning in numbers, and about the decimal point.
fn about_numbers(
    keys: &[ResolvedKey],
    global: KeyOptions,
    separator: Option<u8>,
    point: char,
) -> Vec<String> {
    let spans = keys.iter().any(ResolvedKey::spans_as_number);
    let spans_as_float = keys.iter().any(|key| key.options.general_numeric && key.spans_as_number());
    let in_number = match separator {
        Some(byte) if spans && char::from(byte) == point => Some("the decimal point"),
        Some(b'-') if spans => Some("a minus sign"),
        Some(b'+') if spans_as_float => Some("a plus sign"),
        _ => None,
    };
    let mut found: Vec<String> = Vec::new();
    if let (Some(sign), Some(byte)) = (in_number, separator) {
        found.push(format!("'{}' separates fields, and is also {sign} of a number", char::from(byte)));
    }
    let any_number = keys.iter().any(|key| is_number(key.options)) || keys.is_empty() && is_number(global);
    if any_number && in_number != Some("the decimal point") {
        found.push(format!("the decimal point of numbers is '{point}'"));
    }
    found
}

/// Warns of global options that no key uses.
fn without_effect(keys: &[ResolvedKey], global: KeyOptions, no_last_resort: bool) -> Vec<String> {
    let has = |option: fn(&KeyOptions) -> bool| keys.iter().any(|key| option(&key.options));
    let ignores =
        |options: &KeyOptions| (options.dictionary, options.ignore_nonprinting && !options.dictionary);
    let ignored_alike = keys.iter().any(|key| ignores(&key.options) == ignores(&global));
    let blanks = keys.iter().any(|key| key.start_blanks) && keys.iter().any(|key| key.end_blanks);
    let unused = KeyOptions {
        blanks: global.blanks && !blanks,
        dictionary: global.dictionary && !ignored_alike,
        ignore_nonprinting: global.ignore_nonprinting && !ignored_alike,
        ignore_case: global.ignore_case && !has(|key| key.ignore_case),
        general_numeric: global.general_numeric && !has(|key| key.general_numeric),
        human_numeric: global.human_numeric && !has(|key| key.human_numeric),
        month: global.month && !has(|key| key.month),
        numeric: global.numeric && !has(|key| key.numeric),
        random: global.random && !has(|key| key.random),
        version: global.version && !has(|key| key.version),
        reverse: false,
    };
    let reverse = global.reverse && !has(|key| key.reverse);
    let mut letters = format!("{}{}", if unused.blanks { "b" } else { "" }, unused.meaning());
    if reverse && no_last_resort {
        let before_version = letters.len() - usize::from(letters.ends_with('V'));
        letters.insert(before_version, 'r');
    }
    let mut found = Vec::new();
    if !letters.is_empty() {
        found.push(format!("-{letters} has no effect: every key has options of its own"));
    }
    if reverse && !no_last_resort {
        found.push("-r reverses only lines whose keys are equal: every key has options of its own".into());
    }
    found
}
