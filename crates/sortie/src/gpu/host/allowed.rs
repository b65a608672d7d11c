//! [`Allowed`]: the threads and the memory that a sort of host data may use.

/// What the caller of a sort of host data allows.
#[derive(Debug, Clone, Copy)]
pub struct Allowed {
    /// Threads of the current rayon pool that may copy; with 1, rayon is not called.
    pub threads: usize,
    /// The most scratch in bytes, of pinned memory and device memory together.
    pub memory_limit: u64,
}
