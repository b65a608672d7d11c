//! NumPy arrays: what a function takes for one, and how their memory is reached.

use std::ffi::c_int;
use std::ops::Range;
use std::ptr;

use numpy::npyffi::{
    _PyArray_GET_ITEM_DATA, NPY_ARRAY_WRITEABLE, NPY_ORDER, NpyTypes, PY_ARRAY_API, PyArrayObject,
    get_type_object, npy_intp,
};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use pyo3::{ffi, intern};

use crate::lanes::Lanes;

/// An array in host memory, of any type.
pub type Array<'py> = Bound<'py, PyUntypedArray>;

/// The array that an argument is. Masked arrays are refused.
pub fn exactly<'a, 'py>(object: &'a Bound<'py, PyAny>) -> PyResult<Option<&'a Array<'py>>> {
    let Ok(array) = object.cast::<PyUntypedArray>() else { return Ok(None) };
    // SAFETY: the thread is attached, and NumPy's types live as long as the process.
    let is_plain =
        unsafe { ffi::Py_TYPE(object.as_ptr()) == get_type_object(object.py(), NpyTypes::PyArray_Type) };
    if !is_plain && object.is_instance(masked(object.py())?)? {
        return Err(PyTypeError::new_err(
            "Sortie does not sort masked arrays; sort a.compressed(), or use np.ma.sort",
        ));
    }
    Ok(Some(array))
}

fn masked(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static MASKED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    MASKED.import(py, "numpy.ma", "MaskedArray")
}

/// The array that NumPy makes of an argument.
pub fn converted<'py>(object: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    if let Some(array) = exactly(object)? {
        return Ok(array.clone());
    }
    let made = numpy(object.py())?.call_method1(intern!(object.py(), "asanyarray"), (object,))?;
    match exactly(&made)? {
        Some(array) => Ok(array.clone()),
        None => Err(PyTypeError::new_err("np.asanyarray has returned no array")),
    }
}

/// The module `numpy`.
pub fn numpy(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static NUMPY: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    NUMPY.get_or_try_init(py, || py.import("numpy").map(Bound::unbind)).map(|module| module.bind(py))
}

/// The axis that a number means, counted from the front.
pub fn axis_of(array: &Array<'_>, axis: isize) -> PyResult<usize> {
    static ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let dimensions = array.ndim() as isize;
    let counted = if axis < 0 { axis + dimensions } else { axis };
    if (0..dimensions).contains(&counted) {
        return Ok(counted as usize);
    }
    let py = array.py();
    // NumPy 1.25 has moved it.
    let error = ERROR
        .import(py, "numpy.exceptions", "AxisError")
        .or_else(|_| ERROR.import(py, "numpy", "AxisError"))?;
    Err(PyErr::from_type(error.clone(), (axis, dimensions)))
}

/// A copy that lies in memory as the array does, as far as that has no gaps. Subclasses stay what they are.
pub fn copied<'py>(array: &Array<'py>) -> PyResult<Array<'py>> {
    copied_as(array, NPY_ORDER::NPY_KEEPORDER)
}

/// A copy without gaps, in C order.
pub fn copied_in_c_order<'py>(array: &Array<'py>) -> PyResult<Array<'py>> {
    copied_as(array, NPY_ORDER::NPY_CORDER)
}

fn copied_as<'py>(array: &Array<'py>, order: NPY_ORDER) -> PyResult<Array<'py>> {
    // SAFETY: a `Bound` holds a valid array, and the thread is attached.
    unsafe { owned(array.py(), PY_ARRAY_API.PyArray_NewCopy(array.py(), array.as_array_ptr(), order)) }
}

/// A copy with one axis.
pub fn flattened<'py>(array: &Array<'py>) -> PyResult<Array<'py>> {
    let order = NPY_ORDER::NPY_CORDER;
    // SAFETY: a `Bound` holds a valid array, and the thread is attached.
    unsafe { owned(array.py(), PY_ARRAY_API.PyArray_Flatten(array.py(), array.as_array_ptr(), order)) }
}

/// Copies the elements of one array to another of the same shape. NumPy converts and checks them.
pub fn copy_into(to: &Array<'_>, from: &Array<'_>) -> PyResult<()> {
    // SAFETY: both are valid arrays, and the thread is attached.
    let status = unsafe { PY_ARRAY_API.PyArray_CopyInto(to.py(), to.as_array_ptr(), from.as_array_ptr()) };
    if status == 0 { Ok(()) } else { Err(PyErr::fetch(to.py())) }
}

/// An array in C order whose elements are still to be written.
pub fn empty<'py>(dtype: Bound<'py, PyArrayDescr>, shape: &[usize]) -> PyResult<Array<'py>> {
    let py = dtype.py();
    let mut shape: Vec<npy_intp> = shape.iter().map(|&len| len as npy_intp).collect();
    // SAFETY: the thread is attached; the shape is read, and the reference to the type is taken over.
    unsafe {
        let (count, shape) = (shape.len() as c_int, shape.as_mut_ptr());
        owned(py, PY_ARRAY_API.PyArray_Empty(py, count, shape, dtype.into_dtype_ptr(), 0))
    }
}

/// An array over memory that `owner` keeps.
///
/// # Safety
/// At the address, elements of this type lie with these strides, in bytes, as long as the owner lives.
pub unsafe fn over<'py>(
    address: usize,
    dtype: Bound<'py, PyArrayDescr>,
    shape: &[usize],
    strides: &[isize],
    owner: Bound<'py, PyAny>,
) -> PyResult<Array<'py>> {
    let py = dtype.py();
    let mut shape: Vec<npy_intp> = shape.iter().map(|&len| len as npy_intp).collect();
    let mut strides: Vec<npy_intp> = strides.iter().map(|&stride| stride as npy_intp).collect();
    // SAFETY: the thread is attached; shape and strides are read, and the references to the type and the owner are taken over.
    // The rest is as the caller states.
    unsafe {
        let array = owned(
            py,
            PY_ARRAY_API.PyArray_NewFromDescr(
                py,
                get_type_object(py, NpyTypes::PyArray_Type),
                dtype.into_dtype_ptr(),
                shape.len() as c_int,
                shape.as_mut_ptr(),
                strides.as_mut_ptr(),
                ptr::with_exposed_provenance_mut(address),
                NPY_ARRAY_WRITEABLE,
                ptr::null_mut(),
            ),
        )?;
        match PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_array_ptr(), owner.into_ptr()) {
            0 => Ok(array),
            _ => Err(PyErr::fetch(py)),
        }
    }
}

/// What NumPy has returned: an array, or null after an exception.
///
/// # Safety
/// The reference to the array is new, and the thread is attached.
unsafe fn owned<'py>(py: Python<'py>, array: *mut ffi::PyObject) -> PyResult<Array<'py>> {
    // SAFETY: as the caller states.
    unsafe { Ok(Bound::from_owned_ptr_or_err(py, array)?.cast_into_unchecked()) }
}

/// The lanes of an array along an axis. They are valid as long as the array, if nobody gives it other memory.
pub fn lanes(array: &Array<'_>, axis: usize) -> Lanes {
    Lanes::new(data(array.as_array_ptr()), array.dtype().itemsize(), array.shape(), array.strides(), axis)
}

fn data(array: *mut PyArrayObject) -> *mut u8 {
    // SAFETY: only called with the pointer of a `Bound`, which holds a valid array, by an attached thread.
    unsafe { (*_PyArray_GET_ITEM_DATA(array)).data.cast() }
}

/// The addresses of the bytes of an array without gaps.
pub fn addresses(array: &Array<'_>) -> Range<usize> {
    let start = data(array.as_array_ptr()).addr();
    start..start + array.len() * array.dtype().itemsize()
}

/// The bytes of an array that lies in C order without gaps.
///
/// # Safety
/// Nobody else reads or writes them, and nobody gives the array other memory.
#[allow(
    clippy::mut_from_ref,
    reason = "as in rust-numpy, who calls it promises that this is the only reference"
)]
pub unsafe fn bytes<'a>(array: &'a Array<'_>) -> &'a mut [u8] {
    let bytes = array.len() * array.dtype().itemsize();
    // SAFETY: the array has that many bytes in a row. NumPy's address is never null. The rest is as the caller states.
    unsafe { std::slice::from_raw_parts_mut(data(array.as_array_ptr()), bytes) }
}
