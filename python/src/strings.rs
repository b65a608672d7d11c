//! Elements of NumPy's `StringDType`, through its C interface, which rust-numpy does not have yet.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use arrow_array::{ArrayRef, LargeBinaryArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyString};

use crate::errors::Failure;

/// Bytes of an element. NumPy aligns them to 8 bytes.
const PACKED: usize = 16;

/// Where a string is: `npy_static_string`.
#[repr(C)]
struct Unpacked {
    bytes: usize,
    data: *const c_char,
}

type Load = unsafe extern "C" fn(*mut c_void, *const c_void, *mut Unpacked) -> c_int;
type Acquire = unsafe extern "C" fn(*const c_void) -> *mut c_void;
type Release = unsafe extern "C" fn(*mut c_void);

/// The functions of NumPy's table that are needed here.
struct Functions {
    load: Load,
    acquire: Acquire,
    release: Release,
}

impl Functions {
    fn get(py: Python<'_>) -> PyResult<&Functions> {
        static FUNCTIONS: PyOnceLock<Functions> = PyOnceLock::new();
        FUNCTIONS.get_or_try_init(py, || {
            let table = py
                .import("numpy._core._multiarray_umath")?
                .getattr("_ARRAY_API")?
                .cast_into::<PyCapsule>()?;
            let table = table.pointer_checked(None)?.cast::<*const c_void>().as_ptr();
            // SAFETY: NumPy 2 has these functions at these places of its table, and only NumPy 2 has such elements. The table
            // lives as long as the process.
            unsafe {
                Ok(Functions {
                    load: std::mem::transmute::<*const c_void, Load>(*table.add(313)),
                    acquire: std::mem::transmute::<*const c_void, Acquire>(*table.add(316)),
                    release: std::mem::transmute::<*const c_void, Release>(*table.add(318)),
                })
            }
        })
    }
}

/// What an element without a string stands for.
enum Missing {
    /// A value like NaN: null.
    Null,
    /// This string.
    String(Vec<u8>),
    /// Something that has no place in the order.
    Unordered,
}

impl Missing {
    fn of(dtype: &Bound<'_, PyArrayDescr>) -> PyResult<Missing> {
        let Ok(object) = dtype.getattr("na_object") else { return Ok(Missing::Unordered) };
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Missing::String(text.to_str()?.as_bytes().to_vec()));
        }
        // As NumPy decides it: what does not equal itself, or cannot be compared, is like NaN.
        let is_nan = object.ne(&object).unwrap_or(true);
        Ok(if is_nan { Missing::Null } else { Missing::Unordered })
    }
}

/// Gives the strings of a type back to NumPy, for others to change.
struct Held<'a>(&'a Functions, *mut c_void);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // SAFETY: `acquire` has returned it, and it is released once.
        unsafe { (self.0.release)(self.1) };
    }
}

/// The strings of the elements in `items`, copied. The GIL is held all the while: a thread that waits for the strings of the
/// type holds it too.
pub fn column(py: Python<'_>, dtype: &Bound<'_, PyArrayDescr>, items: &[u8]) -> PyResult<ArrayRef> {
    let functions = Functions::get(py)?;
    let missing = Missing::of(dtype)?;
    let n = items.len() / PACKED;
    let refused = |bytes: usize| PyErr::from(Failure::Memory(bytes));
    let mut offsets: Vec<i64> = Vec::new();
    offsets.try_reserve_exact(n + 1).map_err(|_| refused(8 * n))?;
    let (mut bytes, mut valid): (Vec<u8>, Vec<bool>) = (Vec::new(), Vec::new());
    offsets.push(0);
    // SAFETY: the descriptor is valid and of `StringDType`.
    let held = Held(functions, unsafe { (functions.acquire)(dtype.as_dtype_ptr().cast()) });
    for (i, item) in items.chunks_exact(PACKED).enumerate() {
        let mut string = Unpacked { bytes: 0, data: ptr::null() };
        // SAFETY: the item is an element of this type, whose strings are held.
        let status = unsafe { (functions.load)(held.1, item.as_ptr().cast(), &raw mut string) };
        let text = match (status, &missing) {
            (0, _) if string.bytes == 0 => &[][..],
            // SAFETY: NumPy has returned a string of this length, which stays while it is held.
            (0, _) => unsafe { std::slice::from_raw_parts(string.data.cast(), string.bytes) },
            (1, Missing::String(text)) => text,
            (1, Missing::Null) => {
                valid.resize(i, true);
                valid.push(false);
                &[]
            }
            (1, Missing::Unordered) => {
                return Err(PyValueError::new_err(format!(
                    "Cannot compare null that is not a nan-like value: element {i} is missing; convert the array to \
                     StringDType(na_object=np.nan)"
                )));
            }
            _ => return Err(PyRuntimeError::new_err("NumPy could not load a string of the array")),
        };
        bytes.try_reserve(text.len()).map_err(|_| refused(text.len()))?;
        bytes.extend_from_slice(text);
        offsets.push(bytes.len() as i64);
    }
    drop(held);
    let nulls = (!valid.is_empty()).then(|| {
        valid.resize(n, true);
        NullBuffer::from(valid)
    });
    let offsets = OffsetBuffer::new(offsets.into());
    Ok(Arc::new(LargeBinaryArray::new(offsets, Buffer::from_vec(bytes), nulls)))
}
