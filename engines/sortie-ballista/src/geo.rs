//! The metadata of GeoParquet, of several files.

use std::fmt::Display;

use datafusion::common::{Result, exec_datafusion_err, exec_err};
use serde_json::{Value, json};

/// The value of `geo` that is true of the rows of all files: the bounds and the kinds of their geometries may differ and are left
/// out, as the format allows.
///
/// # Errors
///
/// The files differ in what the coordinates mean.
pub(crate) fn without_extent<'a, P: Display + 'a>(
    files: impl IntoIterator<Item = (&'a P, &'a String)>,
) -> Result<String> {
    let mut merged: Option<(&P, Value)> = None;
    for (path, text) in files {
        let mut value: Value = serde_json::from_str(text)
            .map_err(|error| exec_datafusion_err!("{path}: its metadata `geo` is not JSON: {error}"))?;
        let columns = value.get_mut("columns").and_then(Value::as_object_mut);
        for column in
            columns.into_iter().flat_map(|columns| columns.values_mut()).filter_map(Value::as_object_mut)
        {
            column.remove("bbox");
            column.insert("geometry_types".to_owned(), json!([]));
        }
        match &merged {
            Some((first, of_first)) if *of_first != value => {
                return exec_err!(
                    "{first} and {path} differ in the metadata `geo`, which says what coordinates mean; convert one, and sort then"
                );
            }
            Some(_) => (),
            None => merged = Some((path, value)),
        }
    }
    Ok(merged.map(|(_, value)| value.to_string()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geo(crs: &str, bbox: [i32; 4]) -> String {
        let column = json!({"encoding": "WKB", "geometry_types": ["Point"], "crs": crs, "bbox": bbox});
        json!({"version": "1.1.0", "primary_column": "g", "columns": {"g": column}}).to_string()
    }

    #[test]
    fn bounds_of_one_file_are_not_those_of_all() {
        let files = [geo("a", [0, 0, 1, 1]), geo("a", [5, 5, 9, 9])];
        let merged = without_extent([(&"0", &files[0]), (&"1", &files[1])]).unwrap();
        let merged: Value = serde_json::from_str(&merged).unwrap();
        assert_eq!(merged["columns"]["g"], json!({"encoding": "WKB", "geometry_types": [], "crs": "a"}));
        assert_eq!(merged["version"], "1.1.0");
    }

    #[test]
    fn coordinates_of_two_systems_are_refused() {
        let files = [geo("a", [0, 0, 1, 1]), geo("b", [0, 0, 1, 1])];
        let error = without_extent([(&"0.parquet", &files[0]), (&"1.parquet", &files[1])]).unwrap_err();
        assert!(error.to_string().contains("0.parquet and 1.parquet differ"), "{error}");
    }
}
