//! `devices` and `explain`: what there is, and what would be done.

use std::thread;

use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sortie::Segments;
use sortie::request::{Beside, KeyForm, Lengths, Operation};

use crate::array::axis_of;
use crate::errors::of_sortie;
use crate::input::{Input, not_on_gpu};
use crate::kind::{self, Kind};
use crate::options::{Count, Given};

/// The engines of this machine: a list with a dictionary for the CPU, and one for each GPU.
///
/// ``engine`` is the value for the argument ``engine`` of other functions. The CPU also has ``threads``; a GPU has ``name``,
/// ``compute_capability``, and ``memory`` and ``free`` in bytes. Without a working driver, the list has only the CPU, and the error
/// of a call with ``engine="cuda"`` says what is missing.
///
/// Raises ``RuntimeError`` if a GPU does not work.
///
/// >>> import sortie
/// >>> sortie.devices()[0]["engine"]
/// 'cpu'
#[pyfunction]
pub fn devices(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let cpu = PyDict::new(py);
    cpu.set_item("engine", "cpu")?;
    cpu.set_item("threads", thread::available_parallelism().map_or(1, usize::from))?;
    let mut all = vec![cpu];
    for device in py.detach(sortie_device::cuda::devices).unwrap_or_default() {
        let about = device.properties();
        let free = py.detach(|| device.free_memory()).map_err(|error| of_sortie(error.into()))?;
        let gpu = PyDict::new(py);
        gpu.set_item("engine", format!("cuda:{}", about.ordinal))?;
        gpu.set_item("name", &about.name)?;
        gpu.set_item("compute_capability", about.compute_capability)?;
        gpu.set_item("memory", about.memory_total)?;
        gpu.set_item("free", free)?;
        all.push(gpu);
    }
    Ok(all)
}

/// Returns a text that says how an array would be sorted, and why: engine, algorithm, scratch memory and predicted times. Does not
/// sort.
///
/// operation
///     ``"sort"``, ``"argsort"`` or ``"pairs"``, with values of ``value_bytes`` each.
///
/// Takes the other arguments of :func:`sort`, and raises as it does.
///
/// >>> import numpy as np, sortie
/// >>> print(sortie.explain(np.zeros(1_000_000), threads=1).splitlines()[0].split()[:2])
/// ['route:', 'cpu,']
#[pyfunction]
#[pyo3(
    signature = (a, operation="sort", axis=Some(-1), *, value_bytes=8, descending=false, stable=None, nans="last", order="numpy",
        threads=None, memory_limit=None, engine="auto"),
    text_signature = "(a, operation='sort', axis=-1, *, value_bytes=8, descending=False, stable=None, nans='last', order='numpy', \
        threads=None, memory_limit=None, engine='auto')"
)]
#[allow(clippy::too_many_arguments)]
pub fn explain(
    a: &Bound<'_, PyAny>,
    operation: &str,
    axis: Option<isize>,
    value_bytes: usize,
    descending: bool,
    stable: Option<bool>,
    nans: &str,
    order: &str,
    threads: Option<Count>,
    memory_limit: Option<Count>,
    engine: &str,
) -> PyResult<String> {
    let options = Given { descending, stable, nans, threads, memory_limit, engine }.ordered(order)?;
    let beside = match operation {
        "sort" => Beside::Nothing,
        "argsort" => Beside::Indices { stable: true },
        "pairs" => Beside::Payload { bytes: value_bytes, stable: true },
        other => {
            return Err(PyValueError::new_err(format!(
                "unknown operation {other:?}; choose \"sort\", \"argsort\" or \"pairs\""
            )));
        }
    };
    let (form, n, len) = match Input::of(a)? {
        Input::Array(array) => {
            let n = array.len();
            let len = match axis {
                Some(axis) => array.shape()[axis_of(&array, axis)?],
                None => n,
            };
            (form_of(kind::leaf(&array.dtype())?), n, len)
        }
        Input::Gpu(_) => return Err(not_on_gpu()),
        Input::Series(object) | Input::Arrow(object) => {
            let n = Input::of(&object)?.keys()?.len();
            (KeyForm::Strings, n, n)
        }
    };
    // What is not a number is sorted by its indices.
    let beside = if matches!(form, KeyForm::Strings) { Beside::Indices { stable: true } } else { beside };
    let threads = options.threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    let builder = options.builder(0)?.descending(descending).nans(options.key_order().nans).threads(threads);
    let operation = match len < n {
        true => Operation::Segments(Some(Box::new(Lengths::of(n, Segments::Length(len))))),
        false => Operation::Array,
    };
    let sorter = builder.build().map_err(of_sortie)?;
    let request = sorter.request(operation, form, beside, n);
    a.py().detach(|| sorter.explain(&request)).map(|plan| plan.to_string()).map_err(of_sortie)
}

fn form_of(leaf: kind::Leaf) -> KeyForm {
    match leaf.kind {
        Kind::Number(dtype) => dtype.form(),
        Kind::Time => KeyForm::of::<i64>(),
        Kind::Complex => KeyForm::Number { bytes: leaf.width, float: false },
        Kind::Bytes | Kind::Text | Kind::Strings | Kind::Fields => KeyForm::Strings,
    }
}
