//! A device's default memory pool: where memory that streams allocate and free comes from.

use std::ffi::c_void;

use cudarc::driver::sys::{
    self, CUdevice_attribute as Attribute, CUmemPool_attribute as PoolAttribute, CUresult,
};

use super::context::check;
use crate::driver::KEPT_PART;
use crate::{Error, Properties};

/// The pool of a device, which lasts as long as the driver.
#[derive(Debug, Clone, Copy)]
pub struct Pool(usize);

impl Pool {
    /// `None` if the device has no pools.
    ///
    /// The pool is shared with all other users of the device in this process, so that each can reuse what another freed.
    /// It is told to keep up to a [`KEPT_PART`]th of the device's memory, unless somebody had it keep more.
    pub fn of(device: sys::CUdevice, properties: &Properties) -> Result<Option<Pool>, Error> {
        let (mut supported, attribute) = (0, Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
        // SAFETY: the answer is written.
        check("cuDeviceGetAttribute", unsafe {
            sys::cuDeviceGetAttribute(&mut supported, attribute, device)
        })?;
        if supported == 0 {
            return Ok(None);
        }
        let mut raw = std::ptr::null_mut();
        // SAFETY: the handle is written.
        check("cuDeviceGetDefaultMemPool", unsafe { sys::cuDeviceGetDefaultMemPool(&mut raw, device) })?;
        let pool = Pool(raw as usize);
        let mut kept = properties.memory_total / KEPT_PART;
        let threshold = PoolAttribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        if pool.number(threshold)? < kept {
            // SAFETY: the attribute is a number of 64 bits, which is read.
            check("cuMemPoolSetAttribute", unsafe {
                sys::cuMemPoolSetAttribute(pool.raw(), threshold, (&raw mut kept).cast::<c_void>())
            })?;
        }
        Ok(Some(pool))
    }

    /// Bytes that the pool holds and nobody uses.
    pub fn unused(self) -> Result<u64, Error> {
        // In this order, so that what another thread allocates between the two is not counted as unused.
        let reserved = self.number(PoolAttribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
        Ok(reserved.saturating_sub(self.number(PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?))
    }

    /// Gives what nobody uses back to the device.
    pub fn trim(self) -> CUresult {
        // SAFETY: the pool lasts as long as the driver.
        unsafe { sys::cuMemPoolTrimTo(self.raw(), 0) }
    }

    /// Lets another device read and write the pool's memory over a link, which opening the link alone does not. Where it
    /// cannot be, the driver copies through the host.
    pub fn open_to(self, device: sys::CUdevice) {
        let access = sys::CUmemAccessDesc {
            location: sys::CUmemLocation {
                type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                __bindgen_anon_1: sys::CUmemLocation_st__bindgen_ty_1 { id: device },
            },
            flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: one descriptor is read.
        unsafe { sys::cuMemPoolSetAccess(self.raw(), &access, 1) };
    }

    /// An attribute that is a number of 64 bits.
    fn number(self, attribute: PoolAttribute) -> Result<u64, Error> {
        let mut number = 0u64;
        // SAFETY: the number is written.
        check("cuMemPoolGetAttribute", unsafe {
            sys::cuMemPoolGetAttribute(self.raw(), attribute, (&raw mut number).cast::<c_void>())
        })?;
        Ok(number)
    }

    fn raw(self) -> sys::CUmemoryPool {
        self.0 as sys::CUmemoryPool
    }
}
