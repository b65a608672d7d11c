//! `--debug`: options that are allowed, and seldom what was meant.

use crate::cli::{KeyOptions, KeySpec, SortArgs};

/// One line for each.
pub fn warnings(args: &SortArgs) -> Vec<String> {
    let global = args.ordering.with(&args.words);
    let mut found: Vec<String> = Vec::new();
    let keys = args.line_keys();
    for (place, key) in keys.iter().enumerate() {
        let about = about_key(key, global, args.separator());
        found.extend(about.map(|text| format!("key {}: {text}", place + 1)));
    }
    if !keys.is_empty() && !keys.iter().any(inherits) {
        let blanks = if global.blanks { "b" } else { "" };
        let unused = format!("{blanks}{}", global.meaning());
        if !unused.is_empty() {
            found.push(format!("-{unused} has no effect: every key has options of its own"));
        }
        if global.reverse && (args.stable || args.unique) {
            found.push("-r has no effect: every key has options of its own".into());
        } else if global.reverse {
            found
                .push("-r reverses only lines whose keys are equal: every key has options of its own".into());
        }
    }
    found
}

fn inherits(key: &KeySpec) -> bool {
    key.options == KeyOptions::default()
}

fn about_key(
    key: &KeySpec,
    global: KeyOptions,
    separator: Option<u8>,
) -> impl Iterator<Item = &'static str> + use<> {
    let options = if inherits(key) { global } else { key.options };
    let skips_blanks = if inherits(key) { global.blanks } else { key.start_blanks };
    let number = options.numeric || options.general_numeric || options.human_numeric;
    let empty = key.end_field.is_some_and(|end| end < key.start_field);
    let spans = !empty && key.end_field != Some(key.start_field);
    let texts = [
        (empty, "ends before it starts, so it is empty in every line"),
        (
            !empty && !number && !options.month && !skips_blanks && separator.is_none(),
            "starts with the blanks before its field; b skips them",
        ),
        (number && spans, "is a number, and does not end with its field"),
        (number && spans && separator == Some(b'.'), "takes the '.' between fields for a decimal point"),
    ];
    texts.into_iter().filter_map(|(applies, text)| applies.then_some(text))
}
