//! [`Engine`]: where a sort runs, and how engines are written as text.

use std::str::FromStr;

#[cfg(doc)]
use super::Algorithm;
use super::Devices;
use crate::Error;
#[cfg(doc)]
use crate::Sorter;
#[cfg(all(doc, feature = "gpu"))]
use crate::{enable_gpu, gpus::Gpus};

/// Where a sort runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Engine {
    /// On the CPU. After [`enable_gpu`], on the first CUDA device if the [plan](crate::plan) predicts the shortest time there,
    /// for [`Algorithm::Auto`] and everything that one GPU sorts. If anything goes wrong on a GPU, the CPU sorts. An array that
    /// does not fit on the device as a whole stays on the CPU.
    #[default]
    Auto,
    /// On the CPU.
    Cpu,
    /// On the CUDA device with this number. It sorts keys of 8 to 64 bits by [`Sorter::sort`], [`Sorter::sort_pairs`],
    /// [`Sorter::argsort`], [`Sorter::sort_segments`] and [`Sorter::sort_pairs_segments`]; keys of 128 bits by the first three
    /// and [`Sorter::sort_by_key`]; and strings by [`Sorter::sort_strings`], [`Sorter::argsort_strings`] and
    /// [`Sorter::sort_string_array`]. Other calls return [`Error::Unsupported`], and so do algorithms that do not exist on a
    /// GPU. The [table](crate::plan::capabilities) lists everything.
    Cuda(u32),
    /// On the CPU and that device together. They share every phase of [`Sorter::sort`] and [`Sorter::sort_pairs`], for keys of
    /// 32 or 64 bits, from host memory and back, if there are enough keys and both engines together are faster than the GPU
    /// alone. The GPU's share is [`gpu_share`](crate::SorterBuilder::gpu_share), or else the one that
    /// [`rates::tune`](crate::rates::tune) has found. All other sorts are as with [`Engine::Cuda`].
    Hybrid(u32),
    /// On several CUDA devices of this host: [`Sorter::sort`], [`Sorter::sort_pairs`] and [`Sorter::argsort`], for keys of 8 to
    /// 64 bits. An array that fits on the first device is sorted there alone, as with [`Engine::Cuda`]: one copy there and back
    /// loads the host's memory as much as all devices together could. A larger array is sorted by all devices in chunks, which
    /// are copied there twice, with a copy of the array on the host and 4 MiB of pinned memory for each thread. Other calls
    /// return [`Error::Unsupported`], and so do algorithms other than [`Algorithm::Auto`] and [`Algorithm::Radix`]. For arrays
    /// that are already on devices, see [`Gpus`].
    CudaDevices(Devices),
}

impl Engine {
    /// The number of the one CUDA device that it names, alone or with the CPU.
    #[must_use]
    pub fn device(self) -> Option<u32> {
        match self {
            Engine::Auto | Engine::Cpu | Engine::CudaDevices(_) => None,
            Engine::Cuda(ordinal) | Engine::Hybrid(ordinal) => Some(ordinal),
        }
    }

    /// Whether it names a GPU.
    #[must_use]
    pub fn has_gpu(self) -> bool {
        !matches!(self, Engine::Auto | Engine::Cpu)
    }
}

/// Parses `auto`, `cpu`, `cuda`, `cuda:1`, `cuda:0,1,2,3`, `hybrid` or `hybrid:1`.
impl FromStr for Engine {
    type Err = Error;

    fn from_str(text: &str) -> Result<Engine, Error> {
        let hybrid = |number: &str| number.parse().ok().map(|ordinal| Ok(Engine::Hybrid(ordinal)));
        let known = match text.split_once(':') {
            None if text == "auto" => Some(Ok(Engine::Auto)),
            None if text == "cpu" => Some(Ok(Engine::Cpu)),
            None if text == "cuda" => Some(Ok(Engine::Cuda(0))),
            None if text == "hybrid" => Some(Ok(Engine::Hybrid(0))),
            Some(("cuda", numbers)) => parse_devices(numbers),
            Some(("hybrid", number)) => hybrid(number),
            _ => None,
        };
        known.unwrap_or_else(|| {
            Err(Error::Unsupported(format!(
                "unknown engine {text:?}; use auto, cpu, cuda, cuda:N, cuda:N,N, hybrid or hybrid:N"
            )))
        })
    }
}

/// Parses what follows `cuda:`: one number, or several separated by commas.
fn parse_devices(numbers: &str) -> Option<Result<Engine, Error>> {
    let numbers: Vec<u32> = numbers.split(',').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    Some(match numbers[..] {
        [number] => Ok(Engine::Cuda(number)),
        _ => Devices::new(&numbers).map(Engine::CudaDevices),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_as_they_are_written() {
        assert_eq!("cuda:3".parse(), Ok(Engine::Cuda(3)));
        let several = "cuda:2,0,63".parse().unwrap();
        let Engine::CudaDevices(devices) = several else { panic!("{several:?}") };
        assert!(devices.numbers().eq([0, 2, 63]));
        assert_eq!(format!("{several:?}"), "CudaDevices([0, 2, 63])");
        for (text, part) in [
            ("cuda:0,1,0", "cuda:0 is named twice"),
            ("cuda:0,64", "cuda:64 is not supported"),
            ("cuda:", "unknown engine"),
            ("cuda:0,", "unknown engine"),
            ("cuda:0,-1", "unknown engine"),
        ] {
            let error = text.parse::<Engine>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(Devices::new(&[5]).is_err());
    }
}
