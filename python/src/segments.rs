//! `sort_segments` and `argsort_segments`: many arrays in one.

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyString};
use sortie::Segments;

use crate::along::Written;
use crate::array::{self, Array};
use crate::buffer::{Buffer, zeroed};
use crate::call::run;
use crate::columns::{self, Columns, columns_along};
use crate::errors::Failure;
use crate::gpu::{self, GpuArray};
use crate::indices::Indices;
use crate::input::{Input, refused};
use crate::kind::{self, Leaf};
use crate::numbers::{Numbers, longest, permute, ranges};
use crate::options::{Count, Given, Options};
use crate::tensor;
use crate::writable::output;

/// Returns a copy in which each segment of a one-dimensional array is sorted on its own.
///
/// lengths
///     The length of all segments, or an array with the length of each.
/// offsets
///     Where segments begin and end: segment ``i`` is ``a[offsets[i]:offsets[i + 1]]``. Elements outside of all segments stay.
///
/// Give either ``lengths`` or ``offsets``. Takes the other arguments of :func:`sort`; ``out=a`` sorts in place. Raises as
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
    threads: Option<Count>,
    memory_limit: Option<Count>,
    engine: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Given { descending, stable, nans, threads, memory_limit, engine }.ordered(order)?;
    if let Input::Gpu(array) = Input::of(a)? {
        return sort_on_gpu(&array, lengths, offsets, out.is_some(), &options);
    }
    let array = one_dimension("sort_segments", a)?;
    let parts = Parts::of(lengths, offsets, array.len())?;
    let to = out.map(|out| output(out, array.shape(), &array.dtype())).transpose()?;
    let leaf = kind::leaf(&array.dtype())?;
    let sorted = array::copied_in_c_order(&array)?;
    parts.sort(&sorted, &leaf, &options)?;
    match (out, to) {
        (Some(out), Some(to)) => {
            array::copy_into(&to, &sorted)?;
            Ok(out.clone())
        }
        _ => tensor::returned(a, sorted),
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
        return Err(PyTypeError::new_err(
            "out is for arrays in host memory; sort arrays on a GPU without it",
        ));
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

/// Returns the indices that sort each segment of a one-dimensional array. They count from the start of the segment, and are 0 for
/// elements outside of all segments.
///
/// Takes the arguments of :func:`sort_segments`, and ``dtype`` as :func:`argsort`. The sort is stable, unless you give
/// ``stable=False``.
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
    threads: Option<Count>,
    memory_limit: Option<Count>,
    engine: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Given { descending, stable, nans, threads, memory_limit, engine }.ordered(order)?;
    let array = one_dimension("argsort_segments", a)?;
    let indices = Indices::of(a.py(), dtype)?;
    let parts = Parts::of(lengths, offsets, array.len())?;
    indices.fit(longest(Some(parts.segments()), array.len()))?;
    let leaf = kind::leaf(&array.dtype())?;
    let result = array::empty(indices.dtype, array.shape())?;
    if indices.narrow {
        parts.argsort::<u32>(&array, &leaf, &options, &result)?;
    } else {
        parts.argsort::<u64>(&array, &leaf, &options, &result)?;
    }
    tensor::returned(a, result)
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
            (Some(lengths), None) => match one_number("lengths", lengths)? {
                Some(length) => Parts::Length(length),
                None => Parts::Offsets(sums(&numbers("lengths", lengths)?, n)?),
            },
            (None, Some(offsets)) => Parts::Offsets(numbers("offsets", offsets)?),
            _ => return Err(PyTypeError::new_err("segments are given by either lengths or offsets")),
        };
        let problem = match &parts {
            Parts::Length(length) if n > 0 && (*length == 0 || !n.is_multiple_of(*length)) => {
                Some(format!("the array has {n} elements, which is not a multiple of the length {length}"))
            }
            Parts::Offsets(offsets) => match offsets.windows(2).position(|ends| ends[0] > ends[1]) {
                Some(i) => Some(format!(
                    "offsets must not decrease; offset {i} is {}, the next is {}",
                    offsets[i],
                    offsets[i + 1]
                )),
                None => offsets
                    .last()
                    .filter(|&&last| last > n)
                    .map(|last| format!("the last offset is {last}, but the array has {n} elements")),
            },
            Parts::Length(_) => None,
        };
        problem.map_or(Ok(parts), |problem| Err(PyValueError::new_err(problem)))
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
            return run(py, options, n, keys.len(), || {
                leaf.swap(keys);
                let report = numbers.sort(keys, Some(self.segments()), options.stable == Some(true), 0)?;
                leaf.swap(keys);
                Ok(((), report))
            });
        }
        let width = array.dtype().itemsize();
        let copied = longest(Some(self.segments()), n) * width;
        let held = copied + n * size_of::<u64>();
        options.left(held)?;
        let (mut copy, mut indices) = (Buffer::new(copied)?, zeroed::<u64>(n)?);
        self.argsort_columns(array, options, &mut indices, held)?;
        // SAFETY: as above.
        let items = unsafe { array::bytes(array) };
        py.detach(|| {
            for range in ranges(Some(self.segments()), n) {
                permute(
                    &mut items[range.start * width..range.end * width],
                    width,
                    &indices[range],
                    &mut copy,
                );
            }
        });
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
            return self.argsort_columns(array, options, indices, 0);
        };
        let lanes = array::lanes(array, 0);
        let bytes = n * lanes.width;
        run(py, options, n, bytes, || {
            let segments = Some(self.segments());
            if let Some(rows) = lanes.rows(numbers.align()).filter(|_| !leaf.swapped) {
                // SAFETY: the elements lie in a row from there. Nobody writes to them during the call, as the caller promises.
                let keys = unsafe { std::slice::from_raw_parts(rows, bytes) };
                return Ok(((), numbers.argsort(keys, segments, indices, 0)?));
            }
            options.left(bytes)?;
            let mut keys = Buffer::new(bytes)?;
            // SAFETY: as above.
            unsafe { lanes.gather(0..1, keys.bytes_mut()) };
            leaf.swap(keys.bytes_mut());
            Ok(((), numbers.argsort(keys.bytes(), segments, indices, bytes)?))
        })
    }

    /// The same for keys that are not numbers. The call holds `held` bytes of scratch already.
    fn argsort_columns<I: Written>(
        &self,
        array: &Array<'_>,
        options: &Options,
        indices: &mut [I],
        held: usize,
    ) -> PyResult<()> {
        let n = array.len();
        let mut all = Columns::default();
        all.push(columns::of_segments(self.segments(), n)?);
        all.append(columns_along(array, 0, options)?);
        run(array.py(), options, n, all.bytes(), || {
            let (order, report) = columns::indices(&all, n, options, held)?;
            for range in ranges(Some(self.segments()), n) {
                let start = range.start as u32;
                let sorted = &order.values()[range.clone()];
                indices[range].iter_mut().zip(sorted).for_each(|(to, &index)| *to = I::from(index - start));
            }
            Ok(((), report))
        })
    }
}

/// The number that an argument is, if it is one and not a sequence.
fn one_number(what: &str, object: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    // A tensor of one dimension and one element would pass for a number.
    let is_array =
        object.getattr_opt(intern!(object.py(), "ndim"))?.is_some_and(|ndim| ndim.gt(0).unwrap_or(false));
    if is_array {
        return Ok(None);
    }
    match object.extract::<usize>() {
        Ok(number) => Ok(Some(number)),
        Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
            let problem = if object.lt(0)? { "is negative" } else { "is too large" };
            Err(PyValueError::new_err(format!("{what} is {}, which {problem}", object.str()?)))
        }
        Err(_) => Ok(None),
    }
}

/// Integers that are not negative.
fn numbers(what: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let wrong = |found: String| {
        Err(PyTypeError::new_err(format!(
            "{what} must be {}a one-dimensional array of integers, not {found}",
            if what == "lengths" { "an integer or " } else { "" }
        )))
    };
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyFloat>() {
        return wrong(object.get_type().name()?.to_string());
    }
    let array = array::converted(object)?;
    if array.ndim() != 1 {
        return wrong(format!("an array of {} dimensions", array.ndim()));
    }
    let integers = match array.dtype().kind() {
        b'i' => "int64",
        b'u' => "uint64",
        _ if array.is_empty() => return Ok(Vec::new()),
        _ => return wrong(format!("an array of {}", array.dtype())),
    };
    let array = array.call_method1("astype", (integers,))?.cast_into::<PyUntypedArray>()?;
    // SAFETY: the array is new, so nobody else knows it.
    let bytes = unsafe { array::bytes(&array) };
    let mut found = reserved(array.len())?;
    if integers == "uint64" {
        found.extend(bytemuck::cast_slice::<u8, u64>(bytes).iter().map(|&number| number as usize));
        return Ok(found);
    }
    for &number in bytemuck::cast_slice::<u8, i64>(bytes) {
        match usize::try_from(number) {
            Ok(number) => found.push(number),
            Err(_) => {
                return Err(PyValueError::new_err(format!("{what} contains {number}, which is negative")));
            }
        }
    }
    Ok(found)
}

/// A vector with room for `n` numbers.
fn reserved(n: usize) -> Result<Vec<usize>, Failure> {
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(n).map_err(|_| Failure::Memory(n.saturating_mul(size_of::<usize>())))?;
    Ok(numbers)
}

/// The offsets of segments of these lengths.
fn sums(lengths: &[usize], n: usize) -> PyResult<Vec<usize>> {
    let mut offsets = reserved(lengths.len() + 1)?;
    let mut sum = 0usize;
    offsets.push(sum);
    for length in lengths {
        sum = sum.saturating_add(*length);
        offsets.push(sum);
    }
    if sum == n {
        Ok(offsets)
    } else {
        Err(PyValueError::new_err(format!("the lengths add up to {sum}, but the array has {n} elements")))
    }
}
