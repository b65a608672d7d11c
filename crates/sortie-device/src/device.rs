//! A device. Its methods that make memory, streams, events and modules are in the files of those.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use crate::{Driver, Error, Properties};

/// A device. A clone refers to the same device.
#[derive(Debug, Clone)]
pub struct Device(Arc<dyn Driver>);

impl Device {
    /// The device of a driver.
    pub fn new(driver: impl Driver + 'static) -> Device {
        Device(Arc::new(driver))
    }

    pub fn properties(&self) -> &Properties {
        self.0.properties()
    }

    /// How long the process waited for the driver and the device to start. Starts the device if nothing has done so.
    pub fn start(&self) -> Result<Duration, Error> {
        self.0.start()
    }

    /// The bytes of device memory that can be allocated now, including memory that streams have freed and the device
    /// keeps.
    pub fn free_memory(&self) -> Result<u64, Error> {
        self.0.free_memory()
    }

    /// Whether copies from another device go directly over a link between the two. Otherwise they go through the host.
    pub fn is_linked_to(&self, other: &Device) -> Result<bool, Error> {
        self.driver().is_linked_to(other.driver())
    }

    /// Whether the other is the same device, so that handles of one are valid for the other.
    pub(crate) fn is(&self, other: &Device) -> bool {
        self.is_like(other) && self.properties().id == other.properties().id
    }

    /// Whether both devices have the same kind of driver.
    pub(crate) fn is_like(&self, other: &Device) -> bool {
        let kind = |device: &Device| Any::type_id(device.driver());
        kind(self) == kind(other)
    }

    /// The driver, which works with raw handles.
    pub fn driver(&self) -> &dyn Driver {
        &*self.0
    }
}
