//! The libraries that own arrays on GPUs: what each array is, and what is asked of its library.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyTuple};
use sortie::dynamic::Dtype;

use crate::dlpack;
use crate::library::library;
use crate::tensor;

/// A library with arrays on GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Torch,
    Cupy,
    Numba,
    /// Any other, through DLPack and the functions of the array API. Its arrays may be immutable, as those of JAX are.
    Other,
}

/// An array on a GPU.
#[derive(Clone)]
pub struct GpuArray<'py> {
    pub object: Bound<'py, PyAny>,
    pub owner: Owner,
}

/// Where an array lies.
pub struct Memory {
    pub address: u64,
    pub shape: Vec<usize>,
    /// Whether elements lie in C order without gaps.
    pub dense: bool,
    pub dtype: Dtype,
    pub readonly: bool,
    /// The number of the device.
    pub device: u32,
    /// The stream on which work on the array is in order.
    pub stream: u64,
}

impl Memory {
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }
}

/// The legacy default stream, as the array interface and DLPack call it.
const LEGACY: u64 = 1;

impl<'py> GpuArray<'py> {
    /// The array that an object is, if it lies on a GPU.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<Option<GpuArray<'py>>> {
        let py = object.py();
        let owner = match library(object)?.as_str() {
            "torch" => match object.getattr_opt(intern!(py, "is_cuda"))? {
                Some(is_cuda) => is_cuda.is_truthy()?.then_some(Owner::Torch),
                // No tensor, but a torch.Size for example.
                None => None,
            },
            "cupy" => object.hasattr(intern!(py, "__cuda_array_interface__"))?.then_some(Owner::Cupy),
            "numba" | "numba_cuda" => {
                object.hasattr(intern!(py, "__cuda_array_interface__"))?.then_some(Owner::Numba)
            }
            _ => dlpack::is_on_cuda(object)?.then_some(Owner::Other),
        };
        Ok(owner.map(|owner| GpuArray { object: object.clone(), owner }))
    }

    fn py(&self) -> Python<'py> {
        self.object.py()
    }

    /// The same kind of array.
    fn with(&self, object: Bound<'py, PyAny>) -> GpuArray<'py> {
        GpuArray { object, owner: self.owner }
    }

    pub fn dimensions(&self) -> PyResult<usize> {
        self.object.getattr(intern!(self.py(), "ndim"))?.extract()
    }

    /// Where the array lies, with what must be kept as long as that is used.
    pub fn memory(&self) -> PyResult<(Memory, Option<Bound<'py, PyAny>>)> {
        match self.owner {
            Owner::Torch => Ok((self.of_torch()?, None)),
            Owner::Cupy | Owner::Numba => Ok((self.of_interface()?, None)),
            Owner::Other => {
                let capsule = self.object.call_method(
                    intern!(self.py(), "__dlpack__"),
                    (),
                    Some(&[("stream", LEGACY)].into_py_dict(self.py())?),
                )?;
                Ok((of_exported(dlpack::exported(&capsule)?)?, Some(capsule)))
            }
        }
    }

    /// Where an array lies that this package has made.
    pub fn address(&self) -> PyResult<u64> {
        match self.owner {
            Owner::Torch => self.object.call_method0(intern!(self.py(), "data_ptr"))?.extract(),
            _ => Ok(self.memory()?.0.address),
        }
    }

    fn of_torch(&self) -> PyResult<Memory> {
        let (py, tensor) = (self.py(), &self.object);
        let device: u32 = tensor.getattr(intern!(py, "device"))?.getattr(intern!(py, "index"))?.extract()?;
        let stream = py
            .import(intern!(py, "torch.cuda"))?
            .call_method1(intern!(py, "current_stream"), (device,))?
            .getattr(intern!(py, "cuda_stream"))?;
        let name = tensor.getattr(intern!(py, "dtype"))?.str()?;
        let dtype = dtype_named(name.to_str()?.trim_start_matches("torch."))?;
        Ok(Memory {
            address: tensor.call_method0(intern!(py, "data_ptr"))?.extract()?,
            shape: tensor.getattr(intern!(py, "shape"))?.extract()?,
            dense: tensor.call_method0(intern!(py, "is_contiguous"))?.is_truthy()?,
            dtype,
            readonly: false,
            device,
            stream: stream.extract()?,
        })
    }

    /// Version 3 of the CUDA array interface.
    fn of_interface(&self) -> PyResult<Memory> {
        let py = self.py();
        let interface =
            self.object.getattr(intern!(py, "__cuda_array_interface__"))?.cast_into::<PyDict>()?;
        let get = |name: &str| interface.get_item(name).map(|value| value.filter(|value| !value.is_none()));
        let required = |name: &str| {
            get(name)?.ok_or_else(|| PyTypeError::new_err(format!("the CUDA array interface lacks {name:?}")))
        };
        if get("mask")?.is_some() {
            return Err(PyTypeError::new_err(
                "Sortie does not sort masked arrays; select the valid elements first",
            ));
        }
        let (address, readonly): (u64, bool) = required("data")?.extract()?;
        let shape: Vec<usize> = required("shape")?.extract()?;
        let dtype = dtype_of_typestr(&required("typestr")?.extract::<String>()?)?;
        let strides: Option<Vec<isize>> = get("strides")?.map(|strides| strides.extract()).transpose()?;
        let dense = strides.is_none_or(|strides| is_dense(&shape, &strides, dtype.width()));
        let device = match self.owner {
            Owner::Cupy => {
                self.object.getattr(intern!(py, "device"))?.getattr(intern!(py, "id"))?.extract()?
            }
            _ => {
                let context =
                    self.object.getattr(intern!(py, "gpu_data"))?.getattr(intern!(py, "context"))?;
                context.getattr(intern!(py, "device"))?.getattr(intern!(py, "id"))?.extract()?
            }
        };
        let stream = match (self.owner, get("stream")?) {
            (Owner::Cupy, _) => py
                .import(intern!(py, "cupy.cuda"))?
                .call_method1(intern!(py, "get_current_stream"), (device,))?
                .getattr(intern!(py, "ptr"))?
                .extract()?,
            (_, Some(stream)) => stream.extract()?,
            (_, None) => LEGACY,
        };
        Ok(Memory { address, shape, dense, dtype, readonly, device, stream })
    }

    /// Returns an error if the array must not be changed in place.
    pub fn check_writable(&self, memory: &Memory) -> PyResult<()> {
        if memory.readonly || self.owner == Owner::Other {
            return Err(PyValueError::new_err("the array is read-only; sort a copy with sortie.sort"));
        }
        if self.owner == Owner::Torch { tensor::check_writable(&self.object) } else { Ok(()) }
    }

    /// A new array with the same elements in C order, in which `axis` is the last; without gradients.
    pub fn copied(&self, axis: usize) -> PyResult<GpuArray<'py>> {
        let (py, object) = (self.py(), &self.object);
        let copy = match self.owner {
            Owner::Torch => {
                let moved = object
                    .call_method0(intern!(py, "detach"))?
                    .call_method1(intern!(py, "movedim"), (axis, -1))?;
                let format = py.import(intern!(py, "torch"))?.getattr(intern!(py, "contiguous_format"))?;
                let format = [("memory_format", format)].into_py_dict(py)?;
                moved.call_method(intern!(py, "clone"), (), Some(&format))?
            }
            Owner::Cupy => {
                let cupy = py.import(intern!(py, "cupy"))?;
                let moved = cupy.call_method1(intern!(py, "moveaxis"), (object, axis, -1))?;
                moved.call_method1(intern!(py, "copy"), ("C",))?
            }
            Owner::Numba => {
                self.last_axis_only(axis)?;
                let copy = py
                    .import(intern!(py, "numba.cuda"))?
                    .call_method1(intern!(py, "device_array_like"), (object,))?;
                copy.call_method1(intern!(py, "copy_to_device"), (object,))?;
                copy
            }
            Owner::Other => {
                self.last_axis_only(axis)?;
                let functions = object.call_method0(intern!(py, "__array_namespace__"))?;
                let copy = [("copy", true)].into_py_dict(py)?;
                functions.call_method(intern!(py, "asarray"), (object,), Some(&copy))?
            }
        };
        Ok(self.with(copy))
    }

    fn last_axis_only(&self, axis: usize) -> PyResult<()> {
        if axis + 1 == self.dimensions()? {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "arrays of {:?} are sorted along their last axis alone; move the axis first",
            self.owner
        )))
    }

    /// The array with its last axis moved to `axis`.
    pub fn moved_back(&self, axis: usize) -> PyResult<GpuArray<'py>> {
        let (py, object) = (self.py(), &self.object);
        Ok(self.with(match self.owner {
            Owner::Torch => object.call_method1(intern!(py, "movedim"), (-1, axis))?,
            Owner::Cupy => {
                py.import(intern!(py, "cupy"))?.call_method1(intern!(py, "moveaxis"), (object, -1, axis))?
            }
            Owner::Numba | Owner::Other => object.clone(),
        }))
    }

    /// The array with one axis.
    pub fn flattened(&self) -> PyResult<GpuArray<'py>> {
        let (py, object) = (self.py(), &self.object);
        Ok(self.with(match self.owner {
            Owner::Torch | Owner::Cupy => object.call_method1(intern!(py, "reshape"), (-1,))?,
            Owner::Numba => object.call_method0(intern!(py, "ravel"))?,
            Owner::Other => {
                let functions = object.call_method0(intern!(py, "__array_namespace__"))?;
                functions.call_method1(intern!(py, "reshape"), (object, (-1,)))?
            }
        }))
    }

    /// Copies the elements of `from` into this array.
    pub fn assign(&self, from: &GpuArray<'py>) -> PyResult<()> {
        let py = self.py();
        match self.owner {
            Owner::Torch => self.object.call_method1(intern!(py, "copy_"), (&from.object,)).map(drop),
            Owner::Cupy => self.object.set_item(py.Ellipsis(), &from.object),
            Owner::Numba | Owner::Other => {
                self.object.call_method1(intern!(py, "copy_to_device"), (&from.object,)).map(drop)
            }
        }
    }

    /// A new array of the same library and device, whose elements are still to be written.
    pub fn empty(&self, shape: &[usize], dtype: &str) -> PyResult<GpuArray<'py>> {
        let py = self.py();
        let shape = PyTuple::new(py, shape)?;
        Ok(self.with(match self.owner {
            Owner::Torch => {
                let torch = py.import(intern!(py, "torch"))?;
                let options = PyDict::new(py);
                options.set_item("dtype", torch.getattr(dtype)?)?;
                options.set_item("device", self.object.getattr(intern!(py, "device"))?)?;
                torch.call_method(intern!(py, "empty"), (shape,), Some(&options))?
            }
            Owner::Cupy => py.import(intern!(py, "cupy"))?.call_method1(intern!(py, "empty"), (shape, dtype))?,
            Owner::Numba => {
                py.import(intern!(py, "numba.cuda"))?.call_method1(intern!(py, "device_array"), (shape, dtype))?
            }
            Owner::Other => {
                return Err(PyTypeError::new_err(
                    "indices of such arrays have no library; sort arrays of torch, CuPy or Numba, or sortie.sort",
                ));
            }
        }))
    }

    /// A new array of this shape and of the array's type, whose elements are unspecified.
    pub fn like(&self, shape: &[usize]) -> PyResult<GpuArray<'py>> {
        let py = self.py();
        let shape = PyTuple::new(py, shape)?;
        let dtype = || self.object.getattr(intern!(py, "dtype"));
        Ok(self.with(match self.owner {
            Owner::Torch => self.object.call_method1(intern!(py, "new_empty"), (shape,))?,
            Owner::Cupy => {
                py.import(intern!(py, "cupy"))?.call_method1(intern!(py, "empty"), (shape, dtype()?))?
            }
            Owner::Numba => py
                .import(intern!(py, "numba.cuda"))?
                .call_method1(intern!(py, "device_array"), (shape, dtype()?))?,
            Owner::Other => {
                return Err(PyTypeError::new_err(
                    "new arrays have no library; give an array of torch, CuPy or Numba, or use sortie.sort",
                ));
            }
        }))
    }

    /// The same numbers as another type.
    pub fn converted(&self, dtype: &str) -> PyResult<GpuArray<'py>> {
        let py = self.py();
        Ok(self.with(match self.owner {
            Owner::Torch => {
                let dtype = py.import(intern!(py, "torch"))?.getattr(dtype)?;
                self.object.call_method1(intern!(py, "to"), (dtype,))?
            }
            Owner::Cupy => self.object.call_method1(intern!(py, "astype"), (dtype,))?,
            Owner::Numba | Owner::Other => {
                return Err(PyTypeError::new_err(
                    "indices of rows of such arrays have 32 bits; ask for dtype=np.int32",
                ));
            }
        }))
    }

    /// The rows that the indices name.
    pub fn taken(&self, indices: &GpuArray<'py>) -> PyResult<GpuArray<'py>> {
        let (py, object) = (self.py(), &self.object);
        Ok(self.with(match self.owner {
            Owner::Torch => object.call_method1(intern!(py, "index_select"), (0, &indices.object))?,
            Owner::Cupy => object.call_method1(intern!(py, "take"), (&indices.object, 0))?,
            Owner::Numba | Owner::Other => {
                return Err(PyTypeError::new_err(
                    "such arrays are sorted with one array of values without gaps; convert them to CuPy for more",
                ));
            }
        }))
    }

    /// Whether scratch memory comes from the library's own pool, whose memory belongs to streams.
    pub fn has_pool(&self) -> bool {
        matches!(self.owner, Owner::Torch | Owner::Cupy)
    }
}

/// An array as DLPack describes it, for work on the legacy default stream.
fn of_exported(array: dlpack::Exported) -> PyResult<Memory> {
    let dtype = match (array.dtype.code, array.dtype.bits, array.dtype.lanes) {
        (0, 8, 1) => Dtype::I8,
        (0, 16, 1) => Dtype::I16,
        (0, 32, 1) => Dtype::I32,
        (0, 64, 1) => Dtype::I64,
        (1, 8, 1) => Dtype::U8,
        (1, 16, 1) => Dtype::U16,
        (1, 32, 1) => Dtype::U32,
        (1, 64, 1) => Dtype::U64,
        (2, 16, 1) => Dtype::F16,
        (2, 32, 1) => Dtype::F32,
        (2, 64, 1) => Dtype::F64,
        (4, 16, 1) => Dtype::Bf16,
        (6, 8, 1) => Dtype::Bool,
        (code, bits, lanes) => {
            return Err(PyTypeError::new_err(format!(
                "Sortie does not sort arrays of DLPack's type {code} of {bits} bits in {lanes} lanes"
            )));
        }
    };
    Ok(Memory {
        address: array.address,
        dense: is_dense(&array.shape, &array.strides, 1),
        shape: array.shape,
        dtype,
        readonly: false,
        device: array.device as u32,
        stream: LEGACY,
    })
}

fn is_dense(shape: &[usize], strides: &[isize], width: usize) -> bool {
    let mut expected = width as isize;
    shape.iter().zip(strides).rev().all(|(&len, &stride)| {
        let fits = len <= 1 || stride == expected;
        expected *= len as isize;
        fits
    })
}

fn dtype_named(name: &str) -> PyResult<Dtype> {
    Ok(match name {
        "bool" => Dtype::Bool,
        "uint8" => Dtype::U8,
        "uint16" => Dtype::U16,
        "uint32" => Dtype::U32,
        "uint64" => Dtype::U64,
        "int8" => Dtype::I8,
        "int16" => Dtype::I16,
        "int32" => Dtype::I32,
        "int64" => Dtype::I64,
        "float16" => Dtype::F16,
        "bfloat16" => Dtype::Bf16,
        "float32" => Dtype::F32,
        "float64" => Dtype::F64,
        other => {
            return Err(PyTypeError::new_err(format!(
                "Sortie does not sort {other} on a GPU; convert to an integer or a float of up to 64 bits"
            )));
        }
    })
}

fn dtype_of_typestr(typestr: &str) -> PyResult<Dtype> {
    let name = match typestr.trim_start_matches(['<', '|', '=']) {
        "b1" => "bool",
        "u1" => "uint8",
        "u2" => "uint16",
        "u4" => "uint32",
        "u8" => "uint64",
        "i1" => "int8",
        "i2" => "int16",
        "i4" => "int32",
        "i8" => "int64",
        "f2" => "float16",
        "f4" => "float32",
        "f8" => "float64",
        _ => typestr,
    };
    dtype_named(name)
}
