//! Text as keys in the order of a language, or in natural order.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array as _, ArrayAccessor, ArrayRef, LargeBinaryArray, LargeStringArray};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_schema::DataType;
use arrow_select::take::take;
use numpy::{PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use rayon::prelude::*;
use sortie::Report;
use sortie_files::formats::text::Collator;

use crate::call::run;
use crate::errors::Failure;
use crate::keys::Keys;
use crate::options::Options;

/// The texts that a thread encodes at a time.
const BLOCK: usize = 4096;

/// The order of text that a name says; `None` if text compares by its bytes.
pub fn collator(name: Option<&str>, case: bool) -> PyResult<Option<Collator>> {
    if name.is_none() && case {
        return Ok(None);
    }
    let collator = name.map_or_else(|| Ok(Collator::default()), Collator::named);
    let collator = collator.map_err(|error| PyValueError::new_err(format!("collate: {error}")))?;
    Ok(Some(if case { collator } else { collator.ignoring_case() }))
}

/// Keys that compare by their bytes as text does in the order of `collator`. What is no text stays as it is.
pub fn encoded<'py>(
    py: Python<'py>,
    keys: Keys<'py>,
    collator: &Collator,
    options: &Options,
) -> PyResult<Keys<'py>> {
    let text: ArrayRef = match &keys {
        Keys::Arrow(values, _) => values.clone(),
        Keys::Array(array) if array.ndim() != 1 => return Ok(keys),
        Keys::Array(array) => match array.dtype().kind() {
            b'U' => {
                let texts: Vec<String> = array.call_method0(intern!(py, "tolist"))?.extract()?;
                Arc::new(LargeStringArray::from_iter_values(texts))
            }
            b'T' => {
                let items = array.call_method1(intern!(py, "astype"), ("O",))?;
                let items: Vec<Option<String>> = items
                    .try_iter()?
                    .map(|item| Ok(item?.extract::<String>().ok()))
                    .collect::<PyResult<_>>()?;
                Arc::new(LargeStringArray::from(items))
            }
            _ => return Ok(keys),
        },
    };
    let (rows, bytes) = (text.len(), text.get_buffer_memory_size());
    let made = run(py, options, rows, bytes, || Ok((of_text(&text, collator, options)?, Report::default())))?;
    Ok(match made {
        Some(made) => {
            let held = made.get_buffer_memory_size();
            Keys::Arrow(made, held)
        }
        None => keys,
    })
}

/// The keys of a column of text. `None` if it has another type.
fn of_text(values: &ArrayRef, collator: &Collator, options: &Options) -> Result<Option<ArrayRef>, Failure> {
    match values.data_type() {
        DataType::Utf8 => of_rows(values.as_string::<i32>(), collator, options).map(Some),
        DataType::LargeUtf8 => of_rows(values.as_string::<i64>(), collator, options).map(Some),
        DataType::Utf8View => of_rows(values.as_string_view(), collator, options).map(Some),
        DataType::Dictionary(..) => {
            let dictionary = values.as_any_dictionary();
            match of_text(dictionary.values(), collator, options)? {
                Some(keys) => Ok(Some(take(&keys, dictionary.keys(), None)?)),
                None => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

fn of_rows<'t>(
    texts: impl ArrayAccessor<Item = &'t str> + Sync,
    collator: &Collator,
    options: &Options,
) -> Result<ArrayRef, Failure> {
    let (rows, nulls) = (texts.len(), texts.logical_nulls());
    let blocks: Vec<(Vec<u8>, Vec<usize>)> = (0..rows.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let (mut keys, mut lengths) = (Vec::new(), Vec::with_capacity(BLOCK));
            for row in block * BLOCK..rows.min((block + 1) * BLOCK) {
                let start = keys.len();
                if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
                    collator.encode(texts.value(row).as_bytes(), &mut keys);
                }
                lengths.push(keys.len() - start);
            }
            (keys, lengths)
        })
        .collect();
    options.left(2 * blocks.iter().map(|(keys, _)| keys.len()).sum::<usize>())?;
    let offsets = OffsetBuffer::from_lengths(blocks.iter().flat_map(|(_, lengths)| lengths.iter().copied()));
    let keys: Vec<&[u8]> = blocks.iter().map(|(keys, _)| &keys[..]).collect();
    Ok(Arc::new(LargeBinaryArray::new(offsets, Buffer::from_vec(keys.concat()), nulls)))
}
