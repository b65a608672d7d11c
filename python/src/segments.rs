//! `sort_segments` and `argsort_segments`: many arrays in one.

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use sortie::Segments;

use crate::along::Written;
use crate::array::{self, Array};
use crate::buffer::Buffer;
use crate::call::run;
use crate::columns::{self, columns_along};
use crate::gpu::{self, GpuArray};
use crate::indices::Indices;
use crate::input::{Input, refused};
use crate::kind::{self, Leaf};
use crate::numbers::{Numbers, permute, ranges};
use crate::options::{Given, Options};

/// Returns a copy in which each segment of a one-dimensional array is sorted on its own.
///
/// lengths
///     The length of all segments, or an array with the length of each.
/// offsets
///     Where segments begin and end: segment ``i`` is ``a[offsets[i]:offsets[i + 1]]``. Elements outside of all stay.
///
/// Takes either ``lengths`` or ``offsets``, and the other arguments of :func:`sort`. ``out=a`` sorts in place. Raises as
/// :func:`sort`, and ``ValueError`` if the segments do not fit the array.
///
/// >>> import numpy as np, sortie
/// >>> a = np.array([3, 1, 2, 9, 8, 7])
/// >>> sortie.sort_segments(a, lengths=3)
/// array([1, 2, 3, 7, 8, 9])
/// >>> sortie.sort_segments(a, offsets=[0, 2, 6])
/// array([1, 3, 2, 7, 8, 9])
#[pyfunction]
#[pyo3(
    signature = (a, lengths=None, offsets=None, *, descending=false, stable=None, nans="last", order="numpy", out=None,
        threads=None, memory_limit=None, engine="auto")
)]
#[allow(clippy::too_many_arguments)]
pub fn sort_segments<'py>(
    a: &Bound<'py, PyAny>,
    lengths: Option<&Bound<'py, PyAny>>,
    offsets: Option<&Bound<'py, PyAny>>,
    descending: bool,
    stable: Option<bool>,
    nans: &str,
    order: &str,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
    memory_limit: Option<u64>,
    engine: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Given { descending, stable, nans, threads, memory_limit, engine }.ordered(order)?;
    if let Input::Gpu(array) = Input::of(a)? {
        return sort_on_gpu(&array, lengths, offsets, out.is_some(), &options);
    }
    let array = one_dimension("sort_segments", a)?;
    let parts = Parts::of(lengths, offsets, array.len())?;
    let out = out.map(|out| array::output(out, array.shape(), &array.dtype())).transpose()?;
    let leaf = kind::leaf(&array.dtype())?;
    let sorted = array::copied_in_c_order(&array)?;
    parts.sort(&sorted, &leaf, &options)?;
    match out {
        None => Ok(sorted.into_any()),
        Some(out) => {
            array::copy_into(out, &sorted)?;
            Ok(out.clone().into_any())
        }
    }
}

/// Sorts segments of one length, or between offsets that are on the same GPU.
fn sort_on_gpu<'py>(
    array: &GpuArray<'py>,
    lengths: Option<&Bound<'py, PyAny>>,
    offsets: Option<&Bound<'py, PyAny>>,
    has_out: bool,
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    if has_out {
        return Err(PyTypeError::new_err("out is for NumPy arrays; sort arrays on a GPU without it"));
    }
    let wrong =
        || PyTypeError::new_err("segments on a GPU have one length, or offsets of int64 on the same GPU");
    match (lengths, offsets) {
        (Some(length), None) => gpu::sort_segments(array, length.extract().map_err(|_| wrong())?, options),
        (None, Some(offsets)) => {
            gpu::sort_segments_between(array, &GpuArray::of(offsets)?.ok_or_else(wrong)?, options)
        }
        _ => Err(wrong()),
    }
}

/// Returns the indices that sort each segment of a one-dimensional array, counted from its start. They are 0 for elements
/// outside of all segments.
///
/// Takes the arguments of :func:`sort_segments`, and ``dtype`` as :func:`argsort`. Stable, unless ``stable=False``.
///
/// >>> import numpy as np, sortie
/// >>> sortie.argsort_segments(np.array([3, 1, 2, 9, 8, 7]), lengths=3)
/// array([1, 2, 0, 2, 1, 0])
#[pyfunction]
#[pyo3(
    signature = (a, lengths=None, offsets=None, *, descending=false, stable=None, nans="last", order="numpy", dtype=None,
        threads=None, memory_limit=None, engine="auto")
)]
#[allow(clippy::too_many_arguments)]
pub fn argsort_segments<'py>(
    a: &Bound<'py, PyAny>,
    lengths: Option<&Bound<'py, PyAny>>,
    offsets: Option<&Bound<'py, PyAny>>,
    descending: bool,
    stable: Option<bool>,
    nans: &str,
    order: &str,
    dtype: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
    memory_limit: Option<u64>,
    engine: &str,
) -> PyResult<Array<'py>> {
    let options = Given { descending, stable, nans, threads, memory_limit, engine }.ordered(order)?;
    let array = one_dimension("argsort_segments", a)?;
    let indices = Indices::of(a.py(), dtype)?;
    let parts = Parts::of(lengths, offsets, array.len())?;
    indices.fit(
        ranges(Some(parts.segments()), array.len()).iter().map(ExactSizeIterator::len).max().unwrap_or(0),
    )?;
    let leaf = kind::leaf(&array.dtype())?;
    let result = array::empty(indices.dtype, array.shape())?;
    if indices.narrow {
        parts.argsort::<u32>(&array, &leaf, &options, &result)?;
    } else {
        parts.argsort::<u64>(&array, &leaf, &options, &result)?;
    }
    Ok(result)
}

fn one_dimension<'py>(what: &str, a: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    match Input::of(a)? {
        Input::Array(array) if array.ndim() == 1 => Ok(array),
        Input::Array(array) => Err(PyValueError::new_err(format!(
            "an array of segments has one dimension, not {}; sortie.sort takes an axis",
            array.ndim()
        ))),
        other => Err(refused(what, &other)),
    }
}

/// The segments that a caller has given.
enum Parts {
    Length(usize),
    Offsets(Vec<usize>),
}

impl Parts {
    fn of(
        lengths: Option<&Bound<'_, PyAny>>,
        offsets: Option<&Bound<'_, PyAny>>,
        n: usize,
    ) -> PyResult<Parts> {
        let parts = match (lengths, offsets) {
            (Some(lengths), None) => match lengths.extract::<usize>() {
                Ok(length) => Parts::Length(length),
                Err(_) => Parts::Offsets(sums(&numbers("lengths", lengths)?, n)?),
            },
            (None, Some(offsets)) => Parts::Offsets(numbers("offsets", offsets)?),
            _ => return Err(PyTypeError::new_err("segments are given by either lengths or offsets")),
        };
        let problem = match &parts {
            Parts::Length(length) if n > 0 && (*length == 0 || !n.is_multiple_of(*length)) => {
                Some(format!("{n} elements are no multiple of the length {length}"))
            }
            Parts::Offsets(offsets) => match offsets.windows(2).position(|ends| ends[0] > ends[1]) {
                Some(i) => {
                    Some(format!("offsets go backwards: {} at {i}, then {}", offsets[i], offsets[i + 1]))
                }
                None => offsets
                    .last()
                    .filter(|&&last| last > n)
                    .map(|last| format!("the last offset is {last}, past the {n} elements")),
            },
            Parts::Length(_) => None,
        };
        problem.map_or(Ok(parts), |problem| Err(PyValueError::new_err(format!("segments: {problem}"))))
    }

    fn segments(&self) -> Segments<'_> {
        match self {
            Parts::Length(length) => Segments::Length(*length),
            Parts::Offsets(offsets) => Segments::Offsets(offsets),
        }
    }

    /// Sorts a new array in place.
    fn sort(&self, array: &Array<'_>, leaf: &Leaf, options: &Options) -> PyResult<()> {
        let (py, n) = (array.py(), array.len());
        if n == 0 {
            return Ok(());
        }
        if let Some(numbers) = Numbers::of(leaf.kind, options) {
            // SAFETY: the array is new, so nobody else knows it.
            let keys = unsafe { array::bytes(array) };
            return run(py, options, n, || {
                leaf.swap(keys);
                let report = numbers.sort(keys, Some(self.segments()), options.stable == Some(true), 0)?;
                leaf.swap(keys);
                Ok(((), report))
            });
        }
        let mut indices = vec![0u64; n];
        self.argsort_columns(array, options, &mut indices)?;
        let width = array.dtype().itemsize();
        // SAFETY: as above.
        let items = unsafe { array::bytes(array) };
        for range in ranges(Some(self.segments()), n) {
            permute(&mut items[range.start * width..range.end * width], width, &indices[range])?;
        }
        Ok(())
    }

    /// Writes the indices of each segment to a new array.
    fn argsort<I: Written>(
        &self,
        array: &Array<'_>,
        leaf: &Leaf,
        options: &Options,
        result: &Array<'_>,
    ) -> PyResult<()> {
        let (py, n) = (array.py(), array.len());
        // SAFETY: the result is new, so nobody else knows it.
        let indices: &mut [I] = bytemuck::cast_slice_mut(unsafe { array::bytes(result) });
        indices.fill(I::from(0));
        if n == 0 {
            return Ok(());
        }
        let Some(numbers) = Numbers::of(leaf.kind, options) else {
            return self.argsort_columns(array, options, indices);
        };
        let lanes = array::lanes(array, 0);
        run(py, options, n, || {
            let segments = Some(self.segments());
            if let Some(rows) = lanes.rows(numbers.align()).filter(|_| !leaf.swapped) {
                // SAFETY: the elements lie in a row from there. Nobody writes to them during the call, as the caller promises.
                let keys = unsafe { std::slice::from_raw_parts(rows, n * lanes.width) };
                return Ok(((), numbers.argsort(keys, segments, indices, 0)?));
            }
            let mut keys = Buffer::new(n * lanes.width)?;
            // SAFETY: as above.
            unsafe { lanes.gather(0..1, keys.bytes_mut()) };
            leaf.swap(keys.bytes_mut());
            Ok(((), numbers.argsort(keys.bytes(), segments, indices, n * lanes.width)?))
        })
    }

    /// The same for keys that are no numbers.
    fn argsort_columns<I: Written>(
        &self,
        array: &Array<'_>,
        options: &Options,
        indices: &mut [I],
    ) -> PyResult<()> {
        let n = array.len();
        let keys = columns_along(array, 0, options)?;
        run(array.py(), options, n, || {
            let segments = ranges(Some(self.segments()), n);
            let outside = |range: Option<std::ops::Range<usize>>| range.unwrap_or(0..0);
            let (first, last) = (segments.first().cloned(), segments.last().cloned());
            let (from, to) = (outside(first).start, outside(last).end);
            // Elements before the first segment and after the last are segments too: their indices are not looked at.
            let mut offsets = vec![0];
            offsets.extend(segments.iter().map(|segment| segment.start).chain([to, n]));
            let mut all = vec![columns::of_segments(Segments::Offsets(&offsets), n)?];
            all.extend(keys);
            let (order, report) = columns::indices(&all, n, options, 0)?;
            for range in segments.into_iter().filter(|range| range.start >= from) {
                let start = range.start as u32;
                let sorted = &order.values()[range.clone()];
                indices[range].iter_mut().zip(sorted).for_each(|(to, &index)| *to = I::from(index - start));
            }
            Ok(((), report))
        })
    }
}

/// Whole numbers that are not negative.
fn numbers(what: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let array = array::converted(object)?;
    let whole = matches!(array.dtype().kind(), b'i' | b'u') || array.is_empty();
    if !whole || array.ndim() != 1 {
        return Err(PyTypeError::new_err(format!("{what} are integers in one dimension")));
    }
    let array = array.call_method1("astype", ("int64",))?.cast_into::<PyUntypedArray>()?;
    // SAFETY: the array is new, so nobody else knows it.
    let numbers: &[i64] = bytemuck::cast_slice(unsafe { array::bytes(&array) });
    let checked = numbers.iter().map(|&number| usize::try_from(number).map_err(|_| number));
    checked
        .collect::<Result<_, _>>()
        .map_err(|number| PyValueError::new_err(format!("{what} has {number}; give numbers from 0 on")))
}

/// The offsets of segments of these lengths.
fn sums(lengths: &[usize], n: usize) -> PyResult<Vec<usize>> {
    let mut offsets = vec![0];
    let mut sum = 0usize;
    for length in lengths {
        sum = sum.saturating_add(*length);
        offsets.push(sum);
    }
    if sum == n {
        Ok(offsets)
    } else {
        Err(PyValueError::new_err(format!("the lengths add up to {sum}, not to the {n} elements")))
    }
}
