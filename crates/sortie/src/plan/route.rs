//! [`Plan`]: where and how a request will be carried out.

use std::fmt;

use super::Machine;
use super::predict::on_cpu;
use super::scratch;
use crate::Devices;
use crate::request::Request;
use crate::ways::{CpuWay, GpuWay, Scratch};

/// How a request will be carried out, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What sorts, and how.
    pub route: Route,
    /// What is tried next, in this order, if memory runs short while it sorts. If a GPU fails, only the CPU among them is tried.
    pub alternatives: Vec<Route>,
    /// The most scratch that the route takes.
    pub scratch: Scratch,
    /// Seconds that each engine is predicted to take, if that is known; the CPU comes first.
    pub predicted: Vec<Predicted>,
    /// Why the engine was chosen.
    pub reason: Reason,
}

/// What sorts, and how.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Route {
    /// The CPU engine.
    Cpu(CpuWay),
    /// The GPU with this number, from host memory and back.
    Gpu(u32, GpuWay),
    /// Several GPUs, in chunks.
    Gpus(Devices),
}

/// The time that one engine would take.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// `None` for the CPU.
    pub gpu: Option<String>,
    /// The whole time: transfers, the sort, and the start of the device.
    pub seconds: f64,
}

/// Why an engine was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The caller named it.
    Named,
    /// There is no GPU that a sort may use.
    NoGpu,
    /// No GPU has this sort, or the algorithm is one of the CPU's.
    NotOnGpu,
    /// So few bytes are sorted before a GPU could start.
    Few,
    /// The array as a whole does not fit in the GPU's memory, or within the memory limit.
    DoesNotFit,
    /// The CPU is predicted to be as fast, or nearly.
    CpuIsFaster,
    /// The GPU is predicted to be faster.
    GpuIsFaster,
}

pub(super) fn on_the_cpu(request: &Request, machine: &Machine, reason: Reason) -> Plan {
    let seconds = on_cpu(request, &machine.cpu);
    Plan {
        route: Route::Cpu(CpuWay::of(request)),
        alternatives: Vec::new(),
        scratch: scratch::on_cpu(request),
        predicted: seconds.map(|seconds| Predicted { gpu: None, seconds }).into_iter().collect(),
        reason,
    }
}

impl Plan {
    /// The phases of the report, in order. The report leaves out those that turn out to be unnecessary.
    #[must_use]
    pub fn phases(&self) -> &'static [&'static str] {
        match self.route {
            Route::Cpu(CpuWay::Distribute) => &["profile", "encode", "distribute", "finish"],
            Route::Cpu(CpuWay::Select) => &["profile", "distribute", "finish"],
            Route::Cpu(_) => &["profile", "finish"],
            Route::Gpu(_, GpuWay::Whole(_)) => &["profile", "copy in", "sort", "copy out"],
            Route::Gpu(_, GpuWay::WithCpu(_)) => &["profile", "distribute", "finish"],
            Route::Gpu(_, GpuWay::Chunks) | Route::Gpus(_) => {
                &["profile", "sort runs", "split", "sort ranges"]
            }
            Route::Gpu(_, GpuWay::Ranges) => {
                &["profile", "encode", "split", "copy in", "sort", "copy out", "decode"]
            }
            Route::Gpu(_, GpuWay::Segments) => &["finish"],
            Route::Gpu(_, GpuWay::Strings) => &["sample", "copy in", "sort", "copy out", "finish"],
        }
    }

    /// What is decided by the data, while the sort runs.
    #[must_use]
    pub fn at_run_time(&self) -> &'static [&'static str] {
        match self.route {
            Route::Cpu(CpuWay::Distribute) => &[
                "data that is in order, or in reverse order, is not distributed",
                "a sample decides the boundaries of the buckets; narrow keys and small inputs are not sampled",
                "one thread does not distribute pairs or indices of up to 16 distinct keys",
            ],
            Route::Cpu(_) => &[],
            Route::Gpu(_, GpuWay::Strings) => {
                &["a sample decides whether the GPU gets all bytes or only words of 8 bytes"]
            }
            Route::Gpu(_, GpuWay::Segments) => {
                &["a segment that is too long for a chunk is sorted as one array"]
            }
            Route::Gpu(_, GpuWay::Whole(_) | GpuWay::WithCpu(_)) => {
                &["the GPU's profile finds data in order, in reverse order, or of few values"]
            }
            Route::Gpu(..) | Route::Gpus(_) => &["free memory decides the size of the chunks"],
        }
    }
}

impl fmt::Display for Plan {
    /// One line for each item: its name and its value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "route:     {}", self.route)?;
        writeln!(f, "why:       {}", self.reason)?;
        writeln!(f, "phases:    {}", self.phases().join(", "))?;
        write!(f, "scratch:   {}", self.scratch)?;
        for Predicted { gpu, seconds } in &self.predicted {
            let engine = gpu.as_deref().unwrap_or("cpu");
            write!(f, "\npredicted: {:.3} ms by {engine}", seconds * 1e3)?;
        }
        if self.predicted.is_empty() {
            write!(f, "\npredicted: unknown")?;
        }
        self.at_run_time().iter().try_for_each(|choice| write!(f, "\nat run time: {choice}"))?;
        self.alternatives.iter().try_for_each(|route| write!(f, "\nor else:   {route}"))
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Route::Cpu(way) => write!(f, "cpu, {way}"),
            Route::Gpu(ordinal, way) => write!(f, "cuda:{ordinal}, {way}"),
            Route::Gpus(devices) => write!(f, "cuda:{devices:?}, {}", GpuWay::Chunks),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Named => "the engine was named",
            Reason::NoGpu => "no usable GPU is known",
            Reason::NotOnGpu => "no GPU supports this sort",
            Reason::Few => "the input is below 4 MiB; starting a GPU takes longer than sorting it",
            Reason::DoesNotFit => "the input does not fit in GPU memory or in the memory limit",
            Reason::CpuIsFaster => "the CPU is predicted to be faster, or nearly as fast",
            Reason::GpuIsFaster => "the GPU is predicted to be faster",
        })
    }
}
