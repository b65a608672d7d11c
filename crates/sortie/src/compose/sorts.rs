//! Sorts of numbers on GPUs, as methods of the integers that hold their bits. This crate compiles them, once for each width, as
//! it does [`CpuSorts`].

use std::sync::Arc;

use super::array::{self, Chosen};
use super::segments::{self, OfSegments};
use crate::cpu::sorts::CpuSorts;
use crate::gpu::{Allowed, Gpu, HostArray};
use crate::key::Code;
use crate::{Error, Report, Segments};

/// Sorts numbers of one width in host memory, on GPUs.
pub trait GpuSorts: CpuSorts {
    /// Sorts one array.
    fn sort_array(
        gpus: &[Arc<Gpu>],
        array: HostArray<'_, Self>,
        code: Code,
        chosen: Chosen<'_>,
        allowed: Allowed,
    ) -> Result<Report, Error>;

    /// Sorts each segment on its own.
    fn sort_segments_on_gpu(
        gpu: &Arc<Gpu>,
        array: HostArray<'_, Self>,
        segments: Segments<'_>,
        code: Code,
        chosen: OfSegments,
        allowed: Allowed,
    ) -> Result<Report, Error>;
}

macro_rules! gpu_sorts {
    ($($bits:ty),*) => {$(
        impl GpuSorts for $bits {
            fn sort_array(
                gpus: &[Arc<Gpu>],
                array: HostArray<'_, Self>,
                code: Code,
                chosen: Chosen<'_>,
                allowed: Allowed,
            ) -> Result<Report, Error> {
                array::sort(gpus, array, code, chosen, allowed)
            }

            fn sort_segments_on_gpu(
                gpu: &Arc<Gpu>,
                array: HostArray<'_, Self>,
                segments: Segments<'_>,
                code: Code,
                chosen: OfSegments,
                allowed: Allowed,
            ) -> Result<Report, Error> {
                segments::sort(gpu, array, segments, code, chosen, allowed)
            }
        }
    )*};
}
gpu_sorts!(u8, u16, u32, u64, u128);
