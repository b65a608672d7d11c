//! The Python package `sortie`: sorts NumPy arrays and Arrow data with Sortie.
//!
//! Functions are parsed here, without a layer of Python in between, so that sorts of a few elements are quick. The exceptions are in
//! `sortie/_select.py`, whose results NumPy computes from what [`select`] finds. [`along`] sorts
//! arrays of any type, shape and strides: numbers by `sortie::dynamic` ([`numbers`]), everything else as [`columns`] by
//! sortie-arrow. Arrays on GPUs are sorted where they lie ([`gpu`]).

mod along;
mod array;
mod arrow;
mod bfloat16;
mod buffer;
mod call;
mod collate;
mod columns;
mod concatenate;
mod dlpack;
mod errors;
mod file;
mod gpu;
mod indices;
mod input;
mod keys;
mod kind;
mod lanes;
mod lexsort;
mod library;
mod machine;
mod merge;
mod numbers;
mod options;
mod pairs;
mod pandas;
mod report;
mod segments;
mod select;
mod sort;
mod strings;
mod table;
mod tensor;
mod text_file;
mod top;
mod watch;
mod writable;

#[pyo3::pymodule]
mod _sortie {
    #[pymodule_export]
    use crate::file::{check_file, sort_file};
    #[pymodule_export]
    use crate::lexsort::lexsort;
    #[pymodule_export]
    use crate::machine::{devices, explain};
    #[pymodule_export]
    use crate::merge::{is_sorted, merge};
    #[pymodule_export]
    use crate::pairs::{sort_pairs, sort_pairs_inplace};
    #[pymodule_export]
    use crate::report::{Phase, Report, last_report};
    #[pymodule_export]
    use crate::segments::{argsort_segments, sort_segments};
    #[pymodule_export]
    use crate::select::{
        _histogram, _histogram_on_gpu, _is_on_gpu, _nth, _nth_on_gpu, _partition, _quantile_positions,
        _search, _search_on_gpu, _unique_on_gpu,
    };
    #[pymodule_export]
    use crate::sort::{argsort, sort, sort_inplace};
    #[pymodule_export]
    use crate::table::sort_by;
    #[pymodule_export]
    use crate::top::{arg_top_k, top_k};
}
