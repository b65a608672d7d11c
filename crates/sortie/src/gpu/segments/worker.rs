//! The worker for a segment: how many threads it has, and how many items each holds in registers.

use crate::gpu::kernels::{Define, File, Instance, kind, numbers, struct_bytes};
use crate::key::{Code, Order};
use crate::request::Beside;

/// The most items that a thread holds: with more than 40, the compiler runs out of 64 registers.
const REGISTERS: usize = 40;
/// The same if indices are sorted, with stages of 4, 8 and 16 bytes. With more items of 8 or 16 bytes, 1024 threads
/// would not fit in the 227 KB of shared memory that a block can have. With stages of 4 bytes, f32 with payloads of 4
/// on an H200: segments of 10,000 reach 62 G/s with rows of up to 24, and 43 with 16; lengths by a power law 50 and 44.
/// Some registers are spilled.
const REGISTERS_OF_PLACES: [usize; 3] = [24, 16, 8];
/// The most keys that a single thread sorts. Its network grows faster than linearly, but needs no exchange between
/// threads. Segments of 50 f32 on an H200 reach 427 G/s with one thread, 404 with two, and 305 with eight.
const ALONE: usize = 64;
/// The same with stages of 16 bytes. A block has a stage for every key of its threads; with more of them, few threads
/// would fit on a multiprocessor.
const ALONE_WITH_WIDE_STAGES: usize = 16;
/// Workers of up to this many threads would read keys that lie far apart, so their block copies its segments as a
/// whole.
const TILED_UP_TO: usize = 4;
/// Threads in a block of small workers.
const BLOCK: usize = 128;
const MOST_THREADS: usize = 1024;
const WARP: usize = 32;
/// Bytes that all banks of shared memory provide side by side.
const LINE: usize = 128;
/// Lengths of tiles are multiples of this, which is the number of keys of a chunk that a block merges.
pub(crate) const CHUNK: usize = 2048;
/// Keys of a tile of segments between offsets. The last tile of a segment may be nearly empty: with longer tiles, more
/// would be sorted for nothing; with shorter ones, there would be one more merge.
const LISTED_TILE: usize = 16_384;

/// What moves with the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    None,
    /// This many bytes per key: 4, 8 or 16.
    Moved(usize),
    /// The keys do not move; their indices in order are written instead.
    Indices,
}

impl Payload {
    /// As a request names it.
    pub fn of(beside: Beside) -> Payload {
        match beside {
            Beside::Nothing => Payload::None,
            Beside::Payload { bytes, .. } => Payload::Moved(bytes),
            Beside::Indices { .. } => Payload::Indices,
        }
    }

    /// Bytes for each key.
    pub fn bytes(self) -> usize {
        match self {
            Payload::None => 0,
            Payload::Moved(bytes) => bytes,
            Payload::Indices => size_of::<u32>(),
        }
    }

    /// As in a request: stable if anything moves with the keys.
    pub fn beside(self) -> Beside {
        match self {
            Payload::None => Beside::Nothing,
            Payload::Moved(bytes) => Beside::Payload { bytes, stable: true },
            Payload::Indices => Beside::Indices { stable: true },
        }
    }
}

/// What is sorted, as the kernels see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Content {
    pub key_bytes: usize,
    pub payload: Payload,
    pub code: Code,
    pub order: Order,
}

impl Content {
    /// Bytes of a key's stage in shared memory; 0 if the codes themselves are sorted, not their indices.
    fn staged(self) -> usize {
        match self.payload {
            Payload::None if self.key_bytes <= 4 => 0,
            Payload::Moved(bytes) => self.key_bytes.max(bytes.min(8)).max(4),
            _ => self.key_bytes.max(4),
        }
    }

    /// Keys of the shortest segment for which there is anything to do.
    pub fn least(self) -> u64 {
        if self.payload == Payload::Indices { 1 } else { 2 }
    }

    /// The macros that `segment.cuh` is instantiated with.
    pub fn defines(self) -> Vec<Define> {
        let (payload, argsort) = match self.payload {
            Payload::None => (0, 0),
            Payload::Moved(bytes) => (bytes, 0),
            Payload::Indices => (4, 1),
        };
        vec![
            ("SORTIE_KEY_BYTES", self.key_bytes.to_string()),
            ("SORTIE_KIND", kind(self.code, self.order).into()),
            ("SORTIE_PAYLOAD_BYTES", payload.to_string()),
            ("SORTIE_ARGSORT", argsort.to_string()),
        ]
    }
}

/// Where a kernel finds its segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    OneLength,
    List,
    /// The tiles of segments that are too long for a block.
    Tiles,
}

/// A worker for segments of up to `capacity` keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Worker {
    pub threads: usize,
    /// Items that each thread holds.
    pub row: usize,
    /// Keys that each thread has in every segment, even in the shortest.
    full: usize,
    /// Workers in a block.
    pub workers: usize,
    content: Content,
}

impl Worker {
    /// A worker for segments of at least `shortest` keys.
    fn new(threads: usize, row: usize, shortest: usize, content: Content) -> Worker {
        // Workers of more than a warp that sort indices stop independently of each other.
        let alone = content.staged() > 0 && threads > WARP;
        let workers = if alone { 1 } else { (BLOCK / threads).max(1) };
        Worker { threads, row, full: shortest / threads, workers, content }
    }

    pub fn capacity(self) -> usize {
        self.threads * self.row
    }

    pub fn block(self) -> u32 {
        (self.threads * self.workers) as u32
    }

    /// Bytes of shared memory that a block needs to sort segments between offsets, or segments of this one length.
    pub fn shared(self, source: From, length: usize) -> usize {
        match source {
            From::OneLength if self.is_tiled() => {
                (self.workers * length * self.tiled_key_shared()).next_multiple_of(LINE)
            }
            _ => self.block_shared(),
        }
    }

    /// Bytes for each key, if the block copies its segments as a whole: its stage, and its index in a byte.
    fn tiled_key_shared(self) -> usize {
        match self.content.staged() {
            0 => self.content.key_bytes,
            staged => staged + size_of::<u8>(),
        }
    }

    /// Bytes of a block whose workers each take a segment: their stages and items, and the kernels' `Notes`.
    fn block_shared(self) -> usize {
        let items = numbers(size_of::<u32>(), self.threads * (self.row | 1));
        let stages = self.capacity() * self.content.staged();
        self.workers * (struct_bytes(&[items]) + stages) + self.notes()
    }

    /// Bytes of the kernels' `Notes`.
    fn notes(self) -> usize {
        if self.content.staged() == 0 {
            return 0;
        }
        let warps = (self.threads * self.workers).div_ceil(WARP);
        let ranges = numbers(self.content.key_bytes.max(4), 2 * warps);
        // What follows begins at a multiple of 16 bytes.
        struct_bytes(&[ranges, numbers(size_of::<u32>(), 1)]).next_multiple_of(16)
    }

    /// The most items that a thread holds.
    fn longest_row(content: Content) -> usize {
        match content.staged() {
            0 => REGISTERS,
            4 => REGISTERS_OF_PLACES[0],
            8 => REGISTERS_OF_PLACES[1],
            _ => REGISTERS_OF_PLACES[2],
        }
    }

    /// The worker for segments of one length, if one block can sort them.
    pub fn for_length(length: usize, content: Content, shared: usize) -> Option<Worker> {
        let many = length.div_ceil(Self::longest_row(content)).next_power_of_two();
        // Indices are sorted by one thread, or by workers whose threads read keys that are close together.
        let many = if content.staged() > 0 { many.max(2 * TILED_UP_TO) } else { many };
        let most_alone = if content.staged() > 8 { ALONE_WITH_WIDE_STAGES } else { ALONE };
        let alone = (length <= most_alone).then_some(1);
        alone.into_iter().chain([many]).find_map(|threads| {
            // Rows of many odd factors merge slowly.
            let step = match content.staged() {
                _ if length <= 8 => 1,
                ..=8 => 4,
                // Rows have up to 8 items.
                _ => 2,
            };
            let row = length.div_ceil(threads).next_multiple_of(step).max(1);
            let worker = Worker::new(threads, row, (row - step) * threads, content);
            let fits = threads <= MOST_THREADS && worker.shared(From::OneLength, length) <= shared;
            fits.then_some(worker)
        })
    }

    /// The workers for segments of any length, by capacity: two for each power of two, so that at most a third of a
    /// worker is idle.
    pub fn classes(content: Content, shared: usize) -> Vec<Worker> {
        let (short, long): (&[usize], _) = match content.staged() {
            0 => (&[2, 4, 8, 12, 16], [24, 32]),
            4 => (&[2, 4, 8, 12], [16, 24]),
            8 => (&[2, 4, 8], [12, 16]),
            _ => (&[2, 4], [6, 8]),
        };
        let short = short.iter().map(|&row| (8, row));
        let long = (3..=MOST_THREADS.ilog2()).flat_map(|log| long.map(|row| (1 << log, row)));
        let mut shortest = 0;
        let workers = short.chain(long).map(|(threads, row)| {
            let worker = Worker::new(threads, row, shortest, content);
            shortest = worker.capacity();
            worker
        });
        workers.take_while(|worker| worker.shared(From::List, 0) <= shared).collect()
    }

    /// The workers for segments that are rarely shorter than this, but may have any length.
    pub fn classes_from(shortest: usize, content: Content, shared: usize) -> Vec<Worker> {
        let mut workers = Self::classes(content, shared);
        workers.retain(|worker| worker.capacity() >= shortest);
        if let Some(first) = workers.first_mut() {
            first.full = 0;
        }
        workers
    }

    /// The worker for tiles of segments that are too long for a block, and the keys of a tile, if a block can sort any.
    /// Segments of one length are cut evenly, because a tile that is nearly empty takes as long as a full one.
    pub fn for_tiles(length: Option<u64>, content: Content, shared: usize) -> Option<(Worker, usize)> {
        let most = Self::classes(content, shared).last()?.capacity();
        let tile = match length {
            Some(length) => {
                let even = length.div_ceil(length.div_ceil(most as u64)) as usize;
                even.next_multiple_of(CHUNK).min(most)
            }
            None => most.min(LISTED_TILE),
        };
        let tile = tile / CHUNK * CHUNK;
        let worker = Worker::for_length(tile, content, shared).filter(|_| tile > 0)?;
        Some((Worker { full: 0, ..worker }, tile))
    }

    /// Whether its block copies its segments to shared memory as a whole.
    fn is_tiled(self) -> bool {
        self.threads <= TILED_UP_TO
    }

    pub fn instance(self, source: From) -> Instance {
        let (kernel, source) = match source {
            From::OneLength if self.is_tiled() => ("sort_tiled", "TILED"),
            From::OneLength => ("sort_segments", "FIXED"),
            From::List => ("sort_listed", "LISTED"),
            From::Tiles => ("sort_tiles", "TILES"),
        };
        let mut defines = self.content.defines();
        defines.extend([
            ("SORTIE_SOURCE", source.into()),
            ("SORTIE_THREADS", self.threads.to_string()),
            ("SORTIE_ROW", self.row.to_string()),
            ("SORTIE_FULL", self.full.to_string()),
            ("SORTIE_WORKERS", self.workers.to_string()),
            ("SORTIE_BLOCK_MEMORY", self.block_shared().to_string()),
            ("SORTIE_TILED_KEY_MEMORY", self.tiled_key_shared().to_string()),
        ]);
        Instance { kernel, file: File::SortSegments, defines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 50 u64 once went through tiles and a copy on devices with 48 KB, because a block of single threads
    /// did not fit.
    #[test]
    fn short_segments_fit_a_block_of_every_device() {
        for payload in [Payload::None, Payload::Moved(4), Payload::Moved(16), Payload::Indices] {
            for key_bytes in [1, 2, 4, 8, 16] {
                let content = Content { key_bytes, payload, code: Code::Unsigned, order: Order::default() };
                for shared in [48 << 10, 99 << 10, 163 << 10, 227 << 10] {
                    assert!(Worker::for_tiles(None, content, shared).is_some(), "{content:?} in {shared}");
                    for length in 1..=1024 {
                        let worker = Worker::for_length(length, content, shared);
                        let worker = worker.unwrap_or_else(|| panic!("{length} of {content:?} in {shared}"));
                        assert!(worker.capacity() >= length && worker.full * worker.threads <= length);
                        assert!(worker.shared(From::OneLength, length) <= shared);
                    }
                    let classes = Worker::classes(content, shared);
                    assert!(classes.is_sorted_by_key(|worker| worker.capacity()));
                    assert!(
                        classes.windows(2).all(|pair| pair[1].full * pair[1].threads <= pair[0].capacity())
                    );
                }
            }
        }
    }
}
