//! Which locales are installed.

use std::cmp::Reverse;
use std::process::Command;

use crate::quote;

/// The number of names that a message offers.
const OFFERED: usize = 3;

/// What to say of a locale that is not installed.
pub fn missing(name: &str) -> String {
    let shown = quote::always(name.as_ref());
    let near = nearest(name);
    if near.is_empty() {
        return format!("the locale {shown} is not installed; use C, or install it");
    }
    format!("the locale {shown} is not installed; install it, or use C or one of {}", near.join(", "))
}

/// The names of installed locales that are most like this one.
fn nearest(name: &str) -> Vec<String> {
    let listed = Command::new("locale").arg("-a").output().map(|output| output.stdout).unwrap_or_default();
    let listed = String::from_utf8_lossy(&listed);
    let mut names: Vec<&str> = listed.lines().filter(|known| !matches!(*known, "C" | "POSIX")).collect();
    let alike = |known: &str| {
        let letters = |name: &str| name.to_ascii_lowercase().replace(['-', '.', '_'], "");
        letters(known).bytes().zip(letters(name).bytes()).take_while(|(a, b)| a == b).count()
    };
    names.sort_by_key(|known| Reverse(alike(known)));
    names.truncate(OFFERED);
    names.into_iter().map(Into::into).collect()
}
