//! [`Report`]: what a sort did, for Python.

use pyo3::prelude::*;

use crate::call;

/// What a sort did: its phases, their times and bytes, and the peak of scratch memory.
///
/// ``str()`` gives a table.
#[pyclass(module = "sortie", frozen)]
pub struct Report(sortie::Report);

#[pymethods]
impl Report {
    /// The steps of the sort, in the order in which they ran.
    ///
    /// Empty for up to 1024 keys, which are sorted without reading the clock.
    #[getter]
    fn phases(&self) -> Vec<Phase> {
        self.0.phases.iter().cloned().map(Phase).collect()
    }

    /// Wall time in milliseconds.
    #[getter]
    fn milliseconds(&self) -> f64 {
        self.0.milliseconds()
    }

    /// The most scratch memory that the sort held at one time, in bytes.
    #[getter]
    fn scratch_peak(&self) -> u64 {
        self.0.scratch_peak
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<sortie.Report: {:.3} ms, {} phases>", self.0.milliseconds(), self.0.phases.len())
    }
}

/// One step of a sort.
#[pyclass(module = "sortie", frozen)]
pub struct Phase(sortie::Phase);

#[pymethods]
impl Phase {
    /// ``"profile"``, ``"distribute"``, ``"finish"``, or another step.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name
    }

    /// ``"cpu"``, ``"cuda"`` or ``"hybrid"``.
    #[getter]
    fn engine(&self) -> String {
        self.0.engine.to_string()
    }

    /// Wall time in milliseconds.
    #[getter]
    fn milliseconds(&self) -> f64 {
        self.0.milliseconds
    }

    /// Bytes that the step read.
    #[getter]
    fn bytes_read(&self) -> u64 {
        self.0.bytes_read
    }

    /// Bytes that it wrote.
    #[getter]
    fn bytes_written(&self) -> u64 {
        self.0.bytes_written
    }

    /// How long each thread worked, in milliseconds. Empty if that was not measured.
    #[getter]
    fn work(&self) -> Vec<f64> {
        self.0.work.clone()
    }

    fn __repr__(&self) -> String {
        format!("<sortie.Phase {} on {}: {:.3} ms>", self.0.name, self.0.engine, self.0.milliseconds)
    }
}

/// The report of the last sort that the calling thread asked for, or ``None`` before the first.
///
/// >>> import numpy as np, sortie
/// >>> _ = sortie.sort(np.arange(100_000)[::-1])
/// >>> report = sortie.last_report()
/// >>> [phase.engine for phase in report.phases][0]
/// 'cpu'
/// >>> report.milliseconds > 0
/// True
#[pyfunction]
pub fn last_report() -> Option<Report> {
    call::last_report().map(Report)
}
