//! [`Engine`]: where a sort runs, and how that is written.

use std::str::FromStr;

#[cfg(doc)]
use super::Algorithm;
use super::Devices;
use super::devices;
use crate::Error;
#[cfg(doc)]
use crate::Sorter;
#[cfg(all(doc, feature = "gpu"))]
use crate::{enable_gpu, gpus::Gpus};

/// Where a sort runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Engine {
    /// On the CPU; after [`enable_gpu`], on the first CUDA device where the [plan](crate::plan) predicts the shortest time,
    /// for [`Algorithm::Auto`] and everything that one GPU sorts. Whatever goes wrong on a GPU, the sort then runs on the CPU. An
    /// array that does not fit the device as a whole stays on the CPU.
    #[default]
    Auto,
    /// On the CPU.
    Cpu,
    /// On the CUDA device of this number. [`Sorter::sort`], [`Sorter::sort_pairs`], [`Sorter::argsort`],
    /// [`Sorter::sort_segments`] and [`Sorter::sort_pairs_segments`] have an engine there, for keys of 8 to 64 bits, the
    /// first three and [`Sorter::sort_by_key`] for those of 128 too, and [`Sorter::sort_strings`], [`Sorter::argsort_strings`] and
    /// [`Sorter::sort_string_array`]; other calls return [`Error::Unsupported`], as do algorithms that there are not on a GPU. The
    /// [table](crate::plan::capabilities) has all of it.
    Cuda(u32),
    /// On the CPU and that device together, which share every phase of [`Sorter::sort`] and [`Sorter::sort_pairs`]: of keys
    /// of 32 or 64 bits, from host memory and back, where there are enough of them and both engines do better than the GPU
    /// alone. The GPU's share is [`gpu_share`](crate::SorterBuilder::gpu_share), else what
    /// [`rates::tune`](crate::rates::tune) has found. All other sorts are as with [`Engine::Cuda`].
    Hybrid(u32),
    /// On several CUDA devices of this host: [`Sorter::sort`], [`Sorter::sort_pairs`] and [`Sorter::argsort`], of keys of 8 to 64
    /// bits. What fits the first one goes there alone, as with [`Engine::Cuda`]: once there and back, which takes the host's
    /// memory as much as all devices could. What does not is sorted by all of them in chunks, which go there twice, with a copy
    /// of it on the host and 4 MiB of pinned memory for each thread. Other calls return [`Error::Unsupported`], as do
    /// algorithms but [`Algorithm::Auto`] and [`Algorithm::Radix`]. What lies on devices already is for [`Gpus`].
    CudaDevices(Devices),
}

impl Engine {
    /// The number of the one CUDA device that it was said to take, alone or with the CPU.
    #[must_use]
    pub fn device(self) -> Option<u32> {
        match self {
            Engine::Auto | Engine::Cpu | Engine::CudaDevices(_) => None,
            Engine::Cuda(ordinal) | Engine::Hybrid(ordinal) => Some(ordinal),
        }
    }

    /// Whether it was said to take any.
    #[must_use]
    pub fn has_gpu(self) -> bool {
        !matches!(self, Engine::Auto | Engine::Cpu)
    }
}

/// As it is written: `auto`, `cpu`, `cuda`, `cuda:1`, `cuda:0,1,2,3`, `hybrid` or `hybrid:1`.
impl FromStr for Engine {
    type Err = Error;

    fn from_str(text: &str) -> Result<Engine, Error> {
        let hybrid = |number: &str| number.parse().ok().map(|ordinal| Ok(Engine::Hybrid(ordinal)));
        let known = match text.split_once(':') {
            None if text == "auto" => Some(Ok(Engine::Auto)),
            None if text == "cpu" => Some(Ok(Engine::Cpu)),
            None if text == "cuda" => Some(Ok(Engine::Cuda(0))),
            None if text == "hybrid" => Some(Ok(Engine::Hybrid(0))),
            Some(("cuda", numbers)) => devices::parse(numbers),
            Some(("hybrid", number)) => hybrid(number),
            _ => None,
        };
        known.unwrap_or_else(|| {
            Err(Error::Unsupported(format!(
                "there is no engine {text:?}; there are auto, cpu, cuda, cuda:N, cuda:N,N, hybrid and hybrid:N"
            )))
        })
    }
}
