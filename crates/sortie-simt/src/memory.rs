//! The device's memory: host memory, with a guard zone on both sides of each allocation.

use std::alloc::{self, Layout};
use std::collections::BTreeMap;
use std::ptr;

use sortie_device::Error;

/// The alignment that a driver promises.
const ALIGNMENT: usize = 256;
const ZONE: usize = 256;
const ZONE_BYTE: u8 = 0xA5;
/// The content of fresh memory: nothing that looks sorted.
const FRESH_BYTE: u8 = 0xDB;

/// A range of memory that kernels may use, laid out as `runtime/machine.h` declares it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Region {
    pub base: u64,
    pub bytes: u64,
}

#[derive(Debug)]
pub struct Memory {
    budget: u64,
    used: u64,
    /// The maximum number of allocations at a time.
    most: u64,
    /// The size of a guard zone. 0 with AddressSanitizer, which has guard zones of its own.
    zone: usize,
    /// The length of each allocation, and whether it counts against the budget, by address.
    allocations: BTreeMap<u64, (usize, bool)>,
}

impl Memory {
    pub fn new(budget: u64, most: u64, zones: bool) -> Memory {
        Memory { budget, used: 0, most, zone: if zones { ZONE } else { 0 }, allocations: BTreeMap::new() }
    }

    pub fn available(&self) -> u64 {
        self.budget - self.used
    }

    pub fn alloc(&mut self, bytes: usize) -> Result<u64, Error> {
        let failed = Error::OutOfMemory { needed: bytes as u64, available: self.available() };
        if bytes as u64 > self.available() {
            return Err(failed);
        }
        let address = self.place(bytes, true).ok_or(failed)?;
        self.used += bytes as u64;
        Ok(address)
    }

    /// Allocates host memory, which does not count against the budget.
    pub fn alloc_pinned(&mut self, bytes: usize) -> Result<u64, Error> {
        let reason = "the system has no memory left".to_string();
        self.place(bytes, false).ok_or(Error::OutOfPinned { needed: bytes as u64, reason })
    }

    fn place(&mut self, bytes: usize, counted: bool) -> Option<u64> {
        let layout = self.layout(bytes)?;
        if self.allocations.len() as u64 >= self.most {
            return None;
        }
        // SAFETY: the layout has more than 0 bytes.
        let start = unsafe { alloc::alloc(layout) };
        if start.is_null() {
            return None;
        }
        // SAFETY: all these bytes are within the layout.
        unsafe {
            ptr::write_bytes(start, ZONE_BYTE, self.zone);
            ptr::write_bytes(start.add(self.zone), FRESH_BYTE, bytes);
            ptr::write_bytes(start.add(self.zone + bytes), ZONE_BYTE, self.zone);
        }
        let address = start as u64 + self.zone as u64;
        self.allocations.insert(address, (bytes, counted));
        Some(address)
    }

    fn layout(&self, bytes: usize) -> Option<Layout> {
        Layout::from_size_align(bytes.max(1).checked_add(2 * self.zone)?, ALIGNMENT).ok()
    }

    /// Frees an allocation. Returns whether there was one at this address.
    pub fn free(&mut self, address: u64) -> bool {
        let Some((bytes, counted)) = self.allocations.remove(&address) else { return false };
        if counted {
            self.used -= bytes as u64;
        }
        let layout = self.layout(bytes).expect("it was allocated with this layout");
        // SAFETY: it was allocated with this layout, and is no longer in the table.
        unsafe { alloc::dealloc((address - self.zone as u64) as *mut u8, layout) };
        true
    }

    /// All allocations, in ascending order.
    pub fn regions(&self) -> Vec<Region> {
        self.allocations.iter().map(|(&base, &(bytes, _))| Region { base, bytes: bytes as u64 }).collect()
    }

    /// Whether one allocation holds all the bytes.
    pub fn holds(&self, address: u64, bytes: usize) -> bool {
        let before = self.allocations.range(..=address).next_back();
        before.is_some_and(|(base, &(len, _))| (address - base) as usize + bytes <= len)
    }

    /// Describes where a guard zone was written to, and restores it.
    pub fn damage(&mut self) -> Option<String> {
        let mut found = None;
        for (&address, &(bytes, _)) in &self.allocations {
            for (start, side) in [(address - self.zone as u64, "before"), (address + bytes as u64, "after")] {
                // SAFETY: both zones are part of the allocation, and were written when it was made.
                let zone = unsafe { std::slice::from_raw_parts_mut(start as *mut u8, self.zone) };
                if let Some(at) = zone.iter().position(|&byte| byte != ZONE_BYTE) {
                    let apart = if side == "before" { self.zone - at } else { at };
                    zone.fill(ZONE_BYTE);
                    found.get_or_insert(format!(
                        "out of bounds: it wrote {apart} bytes {side} an allocation of {bytes} bytes"
                    ));
                }
            }
        }
        found
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        while let Some((&address, _)) = self.allocations.first_key_value() {
            self.free(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_past_the_end_is_found_once() {
        let mut memory = Memory::new(1000, u64::MAX, true);
        let address = memory.alloc(10).unwrap();
        assert_eq!(memory.damage(), None);
        // SAFETY: the address is within the guard zone.
        unsafe { *((address + 13) as *mut u8) = 0 };
        assert!(memory.damage().unwrap().contains("3 bytes after an allocation of 10"));
        assert_eq!(memory.damage(), None);
    }

    #[test]
    fn the_budget_is_kept() {
        let mut memory = Memory::new(100, u64::MAX, true);
        let first = memory.alloc(60).unwrap();
        assert_eq!(memory.alloc(41), Err(Error::OutOfMemory { needed: 41, available: 40 }));
        memory.alloc_pinned(1000).unwrap();
        assert!(memory.free(first) && !memory.free(first));
        assert_eq!(memory.available(), 100);
        assert!(memory.alloc(100).is_ok());
    }

    #[test]
    fn no_more_allocations_at_a_time_than_asked_for() {
        let mut memory = Memory::new(100, 2, true);
        let first = memory.alloc(10).unwrap();
        memory.alloc_pinned(10).unwrap();
        assert_eq!(memory.alloc(10), Err(Error::OutOfMemory { needed: 10, available: 90 }));
        assert!(matches!(memory.alloc_pinned(10), Err(Error::OutOfPinned { needed: 10, .. })));
        memory.free(first);
        assert!(memory.alloc(10).is_ok());
    }
}
