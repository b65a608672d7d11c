//! Compiled programs, their kernels, and launches.

use std::ffi::c_void;
use std::sync::Arc;

use crate::{Buffer, Device, Error, Launch, Program, Stream, View};

impl Device {
    /// Compiles a program for this device, or loads it from the cache.
    pub fn load(&self, program: &Program) -> Result<Module, Error> {
        Module::new(self, program)
    }
}

/// A program that is compiled for a device and loaded on it.
#[derive(Debug, Clone)]
pub struct Module(Arc<Loaded>);

#[derive(Debug)]
struct Loaded {
    device: Device,
    raw: u64,
    overlaps: bool,
}

impl Module {
    pub(crate) fn new(device: &Device, program: &Program) -> Result<Module, Error> {
        let raw = device.driver().load(program)?;
        Ok(Module(Arc::new(Loaded { device: device.clone(), raw, overlaps: program.overlaps })))
    }

    /// The kernel with this name, which must be `extern "C"`. It keeps the module loaded.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        // SAFETY: the module is loaded, and the kernel's clone keeps it loaded.
        let raw = unsafe { self.0.device.driver().function(self.0.raw, name)? };
        Ok(Kernel { module: self.clone(), raw, name: name.into() })
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: no kernel of the module exists any more, and the driver waits for those that are running.
        unsafe { self.device.driver().unload(self.raw) }
    }
}

/// A kernel, ready to launch.
#[derive(Debug, Clone)]
pub struct Kernel {
    module: Module,
    raw: u64,
    name: Arc<str>,
}

impl Kernel {
    /// Enqueues the kernel with a tuple of [`Argument`]s. Does nothing if there are no blocks.
    ///
    /// # Safety
    ///
    /// - The stream, and the memory to which arguments lead, belong to the device for which the kernel was loaded.
    /// - The arguments are those that the kernel takes, in number, order and type.
    /// - With these arguments and this shape, the kernel only accesses memory that exists until it is done, and does
    ///   not race with other work.
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        launch: Launch,
        arguments: impl Arguments,
    ) -> Result<(), Error> {
        if launch.blocks == 0 {
            return Ok(());
        }
        let Loaded { device, overlaps, .. } = &*self.module.0;
        let driver = device.driver();
        let enqueue = |pointers: &[*const c_void]| {
            // SAFETY: the caller guarantees the kernel's work; the values live until this returns.
            unsafe { driver.launch(self.raw, &launch, *overlaps, pointers, stream.raw()) }
        };
        arguments.with_pointers(enqueue).map_err(|error| match error {
            Error::Driver { message, .. } => Error::Launch {
                kernel: self.name.to_string(),
                blocks: launch.blocks,
                threads: launch.threads,
                shared: launch.shared,
                reason: message,
            },
            other => other,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A value that a kernel takes: a number, the address of a [`Buffer`] or a [`View`], or a `repr(C)` struct.
///
/// # Safety
///
/// [`pointer`](Argument::pointer) points to the value in C layout, and stays valid while `self` is borrowed.
pub unsafe trait Argument {
    fn pointer(&self) -> *const c_void {
        std::ptr::from_ref(self).cast()
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        // SAFETY: laid out as its C equivalent.
        unsafe impl Argument for $number {}
    )*};
}
numbers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64);

// SAFETY: the address is a 64-bit pointer.
unsafe impl<T> Argument for &Buffer<T> {
    fn pointer(&self) -> *const c_void {
        std::ptr::from_ref(&self.address).cast()
    }
}

// SAFETY: the address is a 64-bit pointer.
unsafe impl<T> Argument for View<'_, T> {
    fn pointer(&self) -> *const c_void {
        std::ptr::from_ref(&self.address).cast()
    }
}

/// A tuple of up to twelve [`Argument`]s.
pub trait Arguments {
    /// Calls `f` with pointers to the values, which are valid until it returns.
    fn with_pointers<R>(&self, f: impl FnOnce(&[*const c_void]) -> R) -> R;
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Argument),*> Arguments for ($($name,)*) {
            fn with_pointers<R>(&self, f: impl FnOnce(&[*const c_void]) -> R) -> R {
                #[allow(non_snake_case)]
                let ($($name,)*) = self;
                f(&[$($name.pointer()),*])
            }
        }
    };
}
tuples!();
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);
