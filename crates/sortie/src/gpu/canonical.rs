//! Floats whose bits say whether they are equal.

use bytemuck::Pod;
use sortie_device::{Stream, View};

use super::kernels::{File, Instance};
use super::{Gpu, code};
use crate::error::same_length;
use crate::key::Bits;
use crate::{Error, TotalOrder};

impl Gpu {
    /// Enqueues a copy of floats in which -0.0 is 0.0 and all NaNs are one NaN. In this copy, floats that NumPy takes for equal have equal
    /// bits. So [`Gpu::argsort`] of it gives the indices of NumPy's stable sort. One read and one write of the keys, and no scratch.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Unsupported`] for keys that are not floats; [`Error::Device`] if the kernel is not
    /// available.
    ///
    /// # Safety
    /// The copy does not overlap the keys, and nothing else uses either until the work is done. The stream belongs to this engine's device.
    ///
    /// ```no_run
    /// use sortie::{Order, gpu};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = sortie_device::cuda::device(0)?;
    /// let gpu = gpu::Gpu::new(device.clone());
    /// let stream = device.stream()?;
    /// let keys = device.alloc::<f32>(3)?;
    /// stream.copy_in(keys.view(), &[0.0, -0.0, -1.0])?;
    /// let (copy, indices) = (device.alloc::<f32>(3)?, device.alloc::<u32>(3)?);
    /// // SAFETY: nothing else uses any of them until the sort is done.
    /// unsafe {
    ///     gpu.canonical_floats(&stream, keys.view(), copy.view())?;
    ///     gpu.argsort(&stream, copy.view(), indices.view(), Order::default())?.wait()?;
    /// }
    /// let mut sorted = [0; 3];
    /// stream.copy_out(&mut sorted, indices.view())?;
    /// // Of the keys themselves, it would be 2, 1, 0.
    /// assert_eq!(sorted, [2, 0, 1]);
    /// # Ok(())
    /// # }
    /// ```
    pub unsafe fn canonical_floats<K: TotalOrder + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        to: View<'_, K>,
    ) -> Result<(), Error> {
        same_length("copy", keys.len(), to.len())?;
        let Some((infinity, nan)) = code::<K>()?.infinity_and_nan(K::Bits::WIDTH) else {
            return Err(Error::Unsupported(
                "only floats have a canonical form; sort other keys as they are".into(),
            ));
        };
        let kernel = self.kernel(&Instance {
            kernel: "canonical_floats",
            file: File::Canonical,
            defines: vec![("SORTIE_KEY_BYTES", size_of::<K>().to_string())],
        })?;
        let count = keys.len();
        // SAFETY: these are the kernel's arguments; the caller guarantees the rest. The engine keeps the kernel.
        unsafe { kernel.launch(stream, self.launch_rows(count), (keys, count as u64, to, infinity, nan))? };
        Ok(())
    }
}
