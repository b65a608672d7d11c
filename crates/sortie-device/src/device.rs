//! A device: where memory, streams, events and modules come from.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use bytemuck::Pod;

use crate::{Buffer, Driver, Error, Event, Module, Pinned, Program, Properties, Stream};

/// A device. A clone is the same device.
#[derive(Debug, Clone)]
pub struct Device(Arc<dyn Driver>);

impl Device {
    /// The device that a driver drives.
    pub fn new(driver: impl Driver + 'static) -> Device {
        Device(Arc::new(driver))
    }

    pub fn properties(&self) -> &Properties {
        self.0.properties()
    }

    /// How long the process waited for the driver and the device to start. Starts it where nothing has so far.
    pub fn start(&self) -> Result<Duration, Error> {
        self.0.start()
    }

    /// Bytes of device memory that could be allocated now, with those that are kept from what streams have freed.
    pub fn free_memory(&self) -> Result<u64, Error> {
        self.0.free_memory()
    }

    /// Device memory for `len` elements, whose content is unspecified.
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::new(self, len)
    }

    /// `len` elements in host memory that the device reads and writes directly, all zero.
    pub fn alloc_pinned<T: Pod>(&self, len: usize) -> Result<Pinned<T>, Error> {
        Pinned::new(self, len)
    }

    /// A stream that runs beside all others, the default stream of CUDA included.
    pub fn stream(&self) -> Result<Stream, Error> {
        Stream::new(self)
    }

    pub fn event(&self) -> Result<Event, Error> {
        Event::new(self)
    }

    /// Compiles a program for this device, or finds it where it was kept when it was compiled before.
    pub fn load(&self, program: &Program) -> Result<Module, Error> {
        Module::new(self, program)
    }

    /// Whether copies from another device come straight, over a link of the two; else they go through the host.
    pub fn is_linked_to(&self, other: &Device) -> Result<bool, Error> {
        self.driver().is_linked_to(other.driver())
    }

    /// Whether the other is the same device: handles of one are handles of the other.
    pub(crate) fn is(&self, other: &Device) -> bool {
        self.is_like(other) && self.properties().id == other.properties().id
    }

    /// Whether one kind of driver drives both.
    pub(crate) fn is_like(&self, other: &Device) -> bool {
        let kind = |device: &Device| Any::type_id(device.driver());
        kind(self) == kind(other)
    }

    /// The other side, with raw handles.
    pub fn driver(&self) -> &dyn Driver {
        &*self.0
    }
}
