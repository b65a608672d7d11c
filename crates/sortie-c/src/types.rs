//! The types of the header.

use std::ffi::{c_int, c_uint};

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum sortie_status {
    /// The data is sorted.
    Ok = 0,
    /// An argument is wrong, or no engine sorts what was asked for.
    Invalid = 1,
    /// The memory limit is too low, or the system or the GPU has too little memory.
    Memory = 2,
    /// The system refused to start the threads.
    Threads = 3,
    /// The GPU is not available, or failed.
    Device = 4,
    /// A bug of Sortie, which the message describes. It was also printed to the standard error.
    Panic = 5,
}

/// A type of key. Numbers are in the byte order of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum sortie_dtype {
    /// Also for `bool`.
    U8 = 0,
    U16 = 1,
    U32 = 2,
    U64 = 3,
    U128 = 4,
    I8 = 5,
    I16 = 6,
    I32 = 7,
    I64 = 8,
    I128 = 9,
    F16 = 10,
    /// The upper half of an F32.
    Bf16 = 11,
    F32 = 12,
    F64 = 13,
}

/// Where NaNs go, whatever the direction, and whether they are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum sortie_nans {
    /// After every number, in the order of their bits.
    Last = 0,
    /// Before every number, in the order of their bits.
    First = 1,
    /// After every number, equal to each other.
    EqualLast = 2,
    /// Before every number, equal to each other.
    EqualFirst = 3,
}

/// Where a sort runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum sortie_engine {
    /// On the CPU. After sortie_enable_gpu(), on the first GPU if that is predicted to be faster.
    Auto = 0,
    /// On the CPU.
    Cpu = 1,
    /// On the CUDA device that `device` names. It does not sort everything: SORTIE_STATUS_INVALID tells.
    Cuda = 2,
}

/// A [`sortie_dtype`] as it comes from C.
pub type DtypeValue = c_uint;
/// A [`sortie_engine`] as it comes from C.
pub type EngineValue = c_uint;
/// A [`sortie_nans`] as it comes from C.
pub type NansValue = c_uint;

/// The choices of a sort. All zeros are the defaults, and so is NULL instead of a pointer to it. Set all fields that
/// you do not name to zero: `sortie_options options = {0};`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct sortie_options {
    /// The most scratch memory in bytes, GPU memory included; 0 means no limit.
    pub memory_limit: u64,
    /// How many threads may work, at most 4096; 0 means all cores. If it is 2 or more, the threads are kept for the next
    /// call with the same options.
    pub threads: u32,
    /// Not 0: the largest key comes first. NaNs stay where `nans` says, and equal keys keep their order.
    pub descending: c_int,
    /// Where NaNs go.
    pub nans: NansValue,
    /// Not 0: equal keys may come out in any order, if that is faster.
    pub unstable: c_int,
    /// Where to sort.
    pub engine: EngineValue,
    /// The number of the device for SORTIE_ENGINE_CUDA. Other engines do not look at it.
    pub device: u32,
}
