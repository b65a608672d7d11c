//! A device's default memory pool, from which streams allocate memory.

use std::ffi::c_void;

use cudarc::driver::sys::{
    self, CUdevice_attribute as Attribute, CUmemPool_attribute as PoolAttribute, CUresult,
};

use super::result::check;
use crate::driver::KEPT_PART;
use crate::{Error, Properties};

/// The pool of a device. It exists as long as the driver.
#[derive(Debug, Clone, Copy)]
pub struct Pool(usize);

impl Pool {
    /// `None` if the device has no pools.
    ///
    /// All users of the device in this process share the pool, so each can reuse what another freed. The pool is set to
    /// keep up to 1/[`KEPT_PART`] of the device's memory, unless it is already set to keep more.
    pub fn of(device: sys::CUdevice, properties: &Properties) -> Result<Option<Pool>, Error> {
        let (mut supported, attribute) = (0, Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
        // SAFETY: the call writes the answer.
        check("cuDeviceGetAttribute", unsafe {
            sys::cuDeviceGetAttribute(&mut supported, attribute, device)
        })?;
        if supported == 0 {
            return Ok(None);
        }
        let mut raw = std::ptr::null_mut();
        // SAFETY: the call writes the handle.
        check("cuDeviceGetDefaultMemPool", unsafe { sys::cuDeviceGetDefaultMemPool(&mut raw, device) })?;
        let pool = Pool(raw as usize);
        let mut kept = properties.memory_total / KEPT_PART;
        let threshold = PoolAttribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        if pool.number(threshold)? < kept {
            // SAFETY: the attribute is a 64-bit number, which the call reads.
            check("cuMemPoolSetAttribute", unsafe {
                sys::cuMemPoolSetAttribute(pool.raw(), threshold, (&raw mut kept).cast::<c_void>())
            })?;
        }
        Ok(Some(pool))
    }

    /// The bytes that the pool holds but nobody uses.
    pub fn unused(self) -> Result<u64, Error> {
        // Read in this order, so that memory that another thread allocates in between is not counted as unused.
        let reserved = self.number(PoolAttribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
        Ok(reserved.saturating_sub(self.number(PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?))
    }

    /// Returns unused memory to the device.
    pub fn trim(self) -> CUresult {
        // SAFETY: the pool exists as long as the driver.
        unsafe { sys::cuMemPoolTrimTo(self.raw(), 0) }
    }

    /// Lets another device access the pool's memory over a link. Opening the link alone does not allow that. If it
    /// fails, the driver copies through the host.
    pub fn open_to(self, device: sys::CUdevice) {
        let access = sys::CUmemAccessDesc {
            location: sys::CUmemLocation {
                type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                __bindgen_anon_1: sys::CUmemLocation_st__bindgen_ty_1 { id: device },
            },
            flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: the call reads one descriptor.
        unsafe { sys::cuMemPoolSetAccess(self.raw(), &access, 1) };
    }

    /// The value of an attribute that is a 64-bit number.
    fn number(self, attribute: PoolAttribute) -> Result<u64, Error> {
        let mut number = 0u64;
        // SAFETY: the call writes the number.
        check("cuMemPoolGetAttribute", unsafe {
            sys::cuMemPoolGetAttribute(self.raw(), attribute, (&raw mut number).cast::<c_void>())
        })?;
        Ok(number)
    }

    fn raw(self) -> sys::CUmemoryPool {
        self.0 as sys::CUmemoryPool
    }
}
