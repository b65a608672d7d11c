//! Which rows of a run a table is about.

use serde::Deserialize;

use crate::report::Row;

/// Lists of the values that are taken. A field that is left out takes all.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rows {
    work: Option<Vec<String>>,
    key: Option<Vec<String>>,
    payload: Option<Vec<String>>,
    distribution: Option<Vec<String>>,
    figure: Option<Vec<String>>,
    n: Option<Vec<usize>>,
    n_from: usize,
    segments: Option<Vec<usize>>,
    length: Option<Vec<usize>>,
    not_length: Option<usize>,
    threads: Option<Vec<usize>>,
}

impl Rows {
    pub fn take(&self, row: &Row) -> bool {
        fn has<T: PartialEq<V>, V>(list: &Option<Vec<T>>, value: V) -> bool {
            list.as_ref().is_none_or(|list| list.iter().any(|one| *one == value))
        }
        fn has_number(list: &Option<Vec<usize>>, value: Option<usize>) -> bool {
            list.as_ref().is_none_or(|list| value.is_some_and(|value| list.contains(&value)))
        }
        let facts = &row.facts;
        has(&self.work, facts.work)
            && has(&self.key, facts.key)
            && has(&self.payload, facts.payload)
            && has(&self.distribution, facts.distribution)
            && has(&self.figure, row.figure)
            && has(&self.n, facts.n)
            && facts.n >= self.n_from
            && has_number(&self.segments, facts.segments)
            && has_number(&self.length, facts.length)
            && (self.not_length.is_none() || facts.length != self.not_length)
            && has(&self.threads, row.threads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{FACTS, Facts, Measured};

    #[test]
    fn every_field_that_is_given_must_fit() {
        let measured = Measured { times_ms: vec![1.0], ..Measured::default() };
        let row = Row::new(&Facts { segments: Some(3), length: Some(1), ..FACTS }, "std", 2, &measured);
        let takes = |rows: &str| serde_json::from_str::<Rows>(rows).unwrap().take(&row);
        for rows in
            [r#"{}"#, r#"{"key": ["f32", "u8"], "threads": [2]}"#, r#"{"n_from": 4, "segments": [3]}"#]
        {
            assert!(takes(rows), "{rows}");
        }
        for rows in [r#"{"key": ["u8"], "threads": [1]}"#, r#"{"n_from": 5}"#, r#"{"not_length": 1}"#] {
            assert!(!takes(rows), "{rows}");
        }
        assert!(serde_json::from_str::<Rows>(r#"{"keys": []}"#).is_err());
    }
}
