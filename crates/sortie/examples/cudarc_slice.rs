//! Sorts the rows of a matrix that a program has in a `cudarc` slice, on the program's own stream.
//!
//!     cargo run --release --example cudarc_slice
//!
//! Both sides use the device's primary context, so addresses and streams mean the same to both.

use cudarc::driver::{CudaContext, DevicePtrMut};
use sortie::Order;
use sortie::gpu::{DeviceSegments, Gpu};
use sortie_device::{Stream, View};

const ROWS: usize = 100_000;
const COLUMNS: usize = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // This comes first, because its error says what is missing if there is no device.
    let gpu = Gpu::cuda(0)?;
    let stream = CudaContext::new(0)?.new_stream()?;
    let host: Vec<f32> = (0..ROWS * COLUMNS).map(|i| (i as f32 * 0.618).fract()).collect();
    let mut matrix = stream.clone_htod(&host)?;

    let keys = matrix.len();
    let (address, in_use) = matrix.device_ptr_mut(&stream);
    // SAFETY: the slice and the stream exist until `in_use` is dropped.
    let (view, ours) = unsafe {
        let view = View::<f32>::from_raw(address, keys);
        (view, Stream::borrowed(gpu.device(), stream.cu_stream() as u64))
    };
    // SAFETY: all other work that uses the matrix comes later on the same stream.
    let sort =
        unsafe { gpu.sort_segments(&ours, view, DeviceSegments::Length(COLUMNS as u64), Order::default())? };
    // The sort may not have run yet. Meanwhile, more work can be enqueued behind it.
    sort.wait()?;
    drop(in_use);

    let sorted = stream.clone_dtoh(&matrix)?;
    assert!(sorted.chunks(COLUMNS).all(|row| row.is_sorted()));
    println!("{ROWS} rows of {COLUMNS} keys are in order; the first begins with {:?}", &sorted[..3]);
    Ok(())
}
