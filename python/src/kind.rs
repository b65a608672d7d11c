//! What the elements of a NumPy array are: [`Kind`], and the [`Leaf`]s of a structured type.

use std::ffi::c_int;

use numpy::npyffi::NPY_TYPES;
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTypeMethods;
use sortie::dynamic::Dtype;

use crate::{bfloat16, buffer};

/// What the bytes of an element mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Number(Dtype),
    /// `datetime64` or `timedelta64`: a signed integer, whose least value is NaT.
    Time,
    Complex,
    /// Bytes of one length: `S` and `V`.
    Bytes,
    /// Code points of 4 bytes, as many in each element: `U`.
    Text,
    /// `StringDType`.
    Strings,
    /// A structured type.
    Fields,
}

/// A part of an element that is compared on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    pub kind: Kind,
    /// Its first byte in the element.
    pub offset: usize,
    pub width: usize,
    /// Whether its bytes are in the other order than the machine's.
    pub swapped: bool,
}

impl Leaf {
    /// Bytes that are swapped together.
    pub fn unit(&self) -> usize {
        match self.kind {
            Kind::Bytes | Kind::Strings | Kind::Fields => 1,
            Kind::Text => 4,
            Kind::Complex => self.width / 2,
            Kind::Number(_) | Kind::Time => self.width,
        }
    }

    /// Changes elements between their byte order and the machine's.
    pub fn swap(&self, elements: &mut [u8]) {
        if self.swapped {
            buffer::swap(elements, self.unit());
        }
    }
}

/// The whole element of this type as one leaf.
pub fn leaf(dtype: &Bound<'_, PyArrayDescr>) -> PyResult<Leaf> {
    let width = dtype.itemsize();
    let swapped = dtype.is_native_byteorder() == Some(false);
    Ok(Leaf { kind: kind(dtype, dtype.num(), width)?, offset: 0, width, swapped })
}

fn kind(dtype: &Bound<'_, PyArrayDescr>, number: c_int, width: usize) -> PyResult<Kind> {
    use NPY_TYPES::{
        NPY_BOOL, NPY_CDOUBLE, NPY_CFLOAT, NPY_CLONGDOUBLE, NPY_DATETIME, NPY_DOUBLE, NPY_FLOAT, NPY_HALF,
        NPY_LONGDOUBLE, NPY_OBJECT, NPY_SHORT, NPY_STRING, NPY_TIMEDELTA, NPY_ULONGLONG, NPY_UNICODE,
        NPY_VOID, NPY_VSTRING,
    };
    let is = |known: NPY_TYPES| number == known as c_int;
    if is(NPY_SHORT) && bfloat16::is_of_torch(dtype)? {
        return Ok(Kind::Number(Dtype::Bf16));
    }
    // Bytes, shorts, ints, longs and long longs alternate between signed and unsigned.
    if (NPY_BOOL as c_int..=NPY_ULONGLONG as c_int).contains(&number) {
        let unsigned = number % 2 == 0;
        return Ok(Kind::Number(match (width, unsigned) {
            (1, true) => Dtype::U8,
            (2, true) => Dtype::U16,
            (4, true) => Dtype::U32,
            (_, true) => Dtype::U64,
            (1, false) => Dtype::I8,
            (2, false) => Dtype::I16,
            (4, false) => Dtype::I32,
            (_, false) => Dtype::I64,
        }));
    }
    Ok(match () {
        () if is(NPY_FLOAT) => Kind::Number(Dtype::F32),
        () if is(NPY_DOUBLE) => Kind::Number(Dtype::F64),
        () if is(NPY_HALF) => Kind::Number(Dtype::F16),
        () if is(NPY_DATETIME) || is(NPY_TIMEDELTA) => Kind::Time,
        () if is(NPY_CFLOAT) || is(NPY_CDOUBLE) => Kind::Complex,
        () if is(NPY_STRING) => Kind::Bytes,
        () if is(NPY_UNICODE) => Kind::Text,
        () if is(NPY_VSTRING) => Kind::Strings,
        () if is(NPY_VOID) => {
            if dtype.has_fields() {
                Kind::Fields
            } else {
                Kind::Bytes
            }
        }
        () if is(NPY_LONGDOUBLE) || is(NPY_CLONGDOUBLE) => {
            let name = if is(NPY_LONGDOUBLE) { "float64" } else { "complex128" };
            return Err(PyTypeError::new_err(format!(
                "Sortie does not sort {dtype}; convert it with a.astype(np.{name}), or use np.sort"
            )));
        }
        () if is(NPY_OBJECT) => {
            return Err(PyTypeError::new_err(
                "Sortie does not sort Python objects; convert them with a.astype, to np.dtypes.StringDType() for strings, or \
                 use np.sort",
            ));
        }
        () if is_bfloat16(dtype)? => Kind::Number(Dtype::Bf16),
        () => {
            return Err(PyTypeError::new_err(format!(
                "Sortie does not know the type {dtype}; convert it with a.astype, to np.float32 for small floats"
            )));
        }
    })
}

/// Whether elements of two types are the same.
pub fn is_same(a: &Bound<'_, PyArrayDescr>, b: &Bound<'_, PyArrayDescr>) -> PyResult<bool> {
    Ok(a.is_equiv_to(b) && bfloat16::is_of_torch(a)? == bfloat16::is_of_torch(b)?)
}

/// Whether this is the type that the package `ml_dtypes` registers with NumPy.
fn is_bfloat16(dtype: &Bound<'_, PyArrayDescr>) -> PyResult<bool> {
    let scalar = dtype.typeobj();
    Ok(scalar.name()? == "bfloat16" && scalar.module()?.to_string().starts_with("ml_dtypes"))
}

/// The parts by which elements of this type are compared, the most significant first. The named fields go before the others.
pub fn leaves(dtype: &Bound<'_, PyArrayDescr>, first: Option<&[String]>) -> PyResult<Vec<Leaf>> {
    let mut found = Vec::new();
    match first {
        Some(names) if !dtype.has_fields() => {
            return Err(PyValueError::new_err(format!(
                "unknown order {:?}; choose \"numpy\", \"total\" or \"arrow\" (only a structured array has fields to name)",
                names.first().map_or("", String::as_str)
            )));
        }
        _ => collect(dtype, 0, first.unwrap_or(&[]), &mut found)?,
    }
    Ok(found)
}

fn collect(
    dtype: &Bound<'_, PyArrayDescr>,
    offset: usize,
    first: &[String],
    found: &mut Vec<Leaf>,
) -> PyResult<()> {
    if dtype.has_subarray() {
        let base = dtype.base();
        let each = base.itemsize();
        for i in 0..dtype.itemsize().checked_div(each).unwrap_or(0) {
            collect(&base, offset + i * each, &[], found)?;
        }
        return Ok(());
    }
    if !dtype.has_fields() {
        found.push(Leaf { offset, ..leaf(dtype)? });
        return Ok(());
    }
    let names = dtype.names().unwrap_or_default();
    if let Some(unknown) = first.iter().find(|name| !names.contains(name)) {
        return Err(PyValueError::new_err(format!(
            "the array has no field {unknown:?}; its fields are {}",
            names.join(", ")
        )));
    }
    if let Some(twice) = first.iter().enumerate().find(|(i, name)| first[..*i].contains(name)) {
        return Err(PyValueError::new_err(format!(
            "order has the duplicate field {:?}; name it once",
            twice.1
        )));
    }
    for name in first.iter().chain(names.iter().filter(|name| !first.contains(name))) {
        let (of, at) = dtype.get_field(name)?;
        collect(&of, offset + at, &[], found)?;
    }
    Ok(())
}
