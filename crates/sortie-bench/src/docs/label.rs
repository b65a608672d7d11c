//! The labels of the lines in the tables of `docs/benchmarks.md`.

use serde::Deserialize;

use crate::bars::{GRID_MEANS, GRID_MEANS_FROM};
use crate::grid::shape::Shape;
use crate::measure::{Facts, amount};
use crate::report::Row;

/// What the first cell of a line says. Rows with the same label share a line.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    Keys,
    Strings,
    KeysOrStrings,
    Segments,
    Distribution,
    KeyAndDistribution,
    Mean,
    Links,
}

impl Label {
    /// `None` if the row belongs to no line.
    pub fn of(self, row: &Row) -> Option<String> {
        let Facts { key, segments, distribution, .. } = row.facts;
        Some(match self {
            Label::KeysOrStrings if key == "bytes" => strings(row),
            Label::Keys | Label::KeysOrStrings => keys(row),
            Label::Strings => strings(row),
            Label::Segments => match (segments, distribution.split_once(", ")) {
                (Some(count), _) => format!("{} `{key}`", amount_of(count)),
                (None, lengths) => format!("{}, `{key}`", lengths.unwrap_or_default().1),
            },
            Label::Distribution => distribution.into(),
            Label::KeyAndDistribution => format!("`{key}`, {distribution}"),
            Label::Mean => mean(row)?.into(),
            Label::Links => "GB/s, slowest to fastest".into(),
        })
    }
}

/// The mean of `GRID_MEANS` that a row belongs to.
fn mean(row: &Row) -> Option<&'static str> {
    let Facts { work, key, n, distribution, .. } = row.facts;
    let easy = Shape::ALL.iter().any(|shape| shape.name() == distribution && shape.is_easy());
    let mean = GRID_MEANS.iter().find(|mean| mean.works.contains(&work) && mean.key == key)?;
    (n >= GRID_MEANS_FROM && !easy).then_some(mean.name)
}

/// The label of an array or of segments.
fn keys(row: &Row) -> String {
    let Facts { work, key, payload, n, segments, length, distribution, .. } = row.facts;
    let mut text = match (segments, length) {
        (Some(count), Some(length)) if count > 1 => {
            format!("{} x {} `{key}`", amount_of(count), amount_of(length))
        }
        (Some(count), None) => format!("{} of power-law lengths, `{key}`", amount_of(count)),
        _ if work == "segments" => format!("{} `{key}` in segments of power-law lengths", amount_of(n)),
        _ if work.starts_with("argsort") => format!("argsort of `{key}`, {}", amount_of(n)),
        _ if !payload.is_empty() => format!("`{key}` with `{payload}`, {}", amount_of(n)),
        _ => format!("`{key}`, {}", amount_of(n)),
    };
    if !distribution.starts_with("uniform") {
        text += &format!(", {distribution}");
    }
    text
}

/// The label of strings, lines, records, or the words of documents.
fn strings(row: &Row) -> String {
    let Facts { work, key, n, length, distribution, .. } = row.facts;
    let many = amount_of(n);
    let text = match (work, distribution, length) {
        ("records", _, Some(length)) => format!("{many} records of {length} bytes"),
        ("numbers", ..) => format!("{many} `{key}`"),
        (_, "DNA reads", Some(length)) => format!("{many} DNA reads of {length} letters"),
        _ if distribution.ends_with(" letters") => format!("{many} strings of {distribution}"),
        _ => format!("{many} {distribution}"),
    };
    match work {
        "argsort strings" if row.engine == "cpu" => format!("argsort of {text}"),
        "lines in 256 MB" => format!("{text}, within 256 MB"),
        _ => text,
    }
}

/// A number as a power of two or ten, or with commas.
fn amount_of(n: usize) -> String {
    if n.is_power_of_two() && n >= 1 << 10 {
        return format!("2^{}", n.ilog2());
    }
    let power = amount(n);
    if power.contains('^') && n > 10_000 {
        return power;
    }
    let digits = n.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_powers_or_have_commas() {
        let amounts = [512, 1 << 28, 10_000_000, 10_000, 43_178_144].map(amount_of);
        assert_eq!(amounts, ["512", "2^28", "10^7", "10,000", "43,178,144"]);
    }
}
