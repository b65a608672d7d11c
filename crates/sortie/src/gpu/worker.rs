//! The worker for a segment: how many threads, and how many keys each holds in registers.

use super::kernels::{File, Instance};
use crate::key::{Code, Order};

/// Registers of keys that a thread holds, at most: with more than 40 of 32 bits the compiler runs out of 64 registers.
const REGISTERS: usize = 40;
/// Keys that a single thread sorts: its network grows faster than linearly, yet needs no step between threads. A
/// segment of 50 f32 on an H200: 427 G/s by one thread, 404 by two, 305 by eight.
const ALONE: usize = 64;
/// Workers of so few threads would read keys that lie far apart, so their block copies its segments as they lie.
const TILED_UP_TO: usize = 4;
/// Threads in a block of small workers.
const BLOCK: usize = 128;
const MOST_THREADS: usize = 1024;

/// Where a kernel finds its segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    OneLength,
    List,
    /// The tiles of segments that are too long for a block.
    Tiles,
}

/// `code::Kind` of the kernels.
pub(super) fn kind(code: Code, order: Order) -> &'static str {
    match code {
        Code::Unsigned | Code::Signed => "Integers",
        Code::Float { .. } if order.descending => "FloatsDescending",
        Code::Float { .. } => "Floats",
    }
}

/// A worker for segments of up to `capacity` keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Worker {
    pub threads: usize,
    /// Keys that each thread holds.
    pub row: usize,
    /// Keys that each thread has in every segment, even the shortest.
    full: usize,
    /// Workers in a block.
    pub workers: usize,
}

impl Worker {
    /// A worker for segments of at least `shortest` keys.
    fn new(threads: usize, row: usize, shortest: usize) -> Worker {
        Worker { threads, row, full: shortest / threads, workers: (BLOCK / threads).max(1) }
    }

    pub fn capacity(self) -> usize {
        self.threads * self.row
    }

    pub fn block(self) -> u32 {
        (self.threads * self.workers) as u32
    }

    /// Bytes of shared memory that a block needs to pass keys between threads.
    pub fn shared(self, item_bytes: usize) -> usize {
        self.workers * self.threads * (self.row | 1) * item_bytes
    }

    /// The worker for segments of one length, if one block can sort them.
    pub fn for_length(length: usize, item_bytes: usize, shared: usize) -> Option<Worker> {
        let words = item_bytes / 4;
        let threads = match length <= ALONE / words {
            true => 1,
            false => length.div_ceil(REGISTERS / words).next_power_of_two(),
        };
        // Rows of many odd factors merge slowly.
        let step = if length <= 8 { 1 } else { (4 / words).max(1) };
        let row = length.div_ceil(threads).next_multiple_of(step).max(1);
        let worker = Worker::new(threads, row, (row - step) * threads);
        (worker.threads <= MOST_THREADS && worker.shared(item_bytes) <= shared).then_some(worker)
    }

    /// The workers for segments of any length, by capacity: two for each power of two, so that no more than a third
    /// of a worker is idle.
    pub fn classes(item_bytes: usize, shared: usize) -> Vec<Worker> {
        let words = item_bytes / 4;
        let short = [2, 4, 8, 12, 16].map(|row| (8, row));
        let long = (3..=MOST_THREADS.ilog2()).flat_map(|log| [24, 32].map(|row| (1 << log, row)));
        let mut shortest = 0;
        let workers = short.into_iter().chain(long).map(|(threads, row)| {
            let worker = Worker::new(threads, row / words, shortest);
            shortest = worker.capacity();
            worker
        });
        workers.filter(|worker| worker.shared(item_bytes) <= shared).collect()
    }

    /// The worker for tiles of segments that are too long for one: 8192 words.
    pub fn for_tiles(item_bytes: usize) -> Worker {
        Worker::new(256, 32 / (item_bytes / 4), 0)
    }

    /// Whether its block copies its segments to shared memory as they lie.
    pub fn is_tiled(self) -> bool {
        self.threads <= TILED_UP_TO
    }

    pub fn instance(self, source: From, key_bytes: usize, code: Code, order: Order) -> Instance {
        let (kernel, source) = match source {
            From::OneLength if self.is_tiled() => ("sort_tiled", "TILED"),
            From::OneLength => ("sort_segments", "FIXED"),
            From::List => ("sort_listed", "LISTED"),
            From::Tiles => ("sort_tiles", "TILES"),
        };
        Instance {
            kernel,
            file: File::SortSegments,
            defines: vec![
                ("SORTIE_SOURCE", source.into()),
                ("SORTIE_KEY_BYTES", key_bytes.to_string()),
                ("SORTIE_KIND", kind(code, order).into()),
                ("SORTIE_THREADS", self.threads.to_string()),
                ("SORTIE_ROW", self.row.to_string()),
                ("SORTIE_FULL", self.full.to_string()),
                ("SORTIE_WORKERS", self.workers.to_string()),
            ],
        }
    }
}
