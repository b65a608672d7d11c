//! The structs and constants that the kernels of strings share with the host.

use super::layout::shared;

/// Threads of the kernels, and the items of a tile.
pub(crate) const BLOCK: u32 = 256;
pub(crate) const TILE: usize = 8 * BLOCK as usize;

const WARPS: usize = (BLOCK / sortie_device::WARP) as usize;

shared! {
    /// Where the strings are.
    argument "Strings" StringArrays {
        /// The bytes, or the table of buffers.
        data: u64,
        /// The offsets, or the views.
        entries: u64,
        /// The number of bytes, or of views.
        size: u64,
    }

    /// A buffer of views.
    memory "Readable" StringBuffer {
        bytes: u64,
        size: u64,
    }

    /// What is known about the strings that tie.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    memory "State" TieState {
        depth: u64,
        shared: u64,
        items: u32,
        groups: u32,
        longest: u32,
        padding: u32,
    }

    /// Strings that are sorted by their next symbols.
    argument "Level" TieLevel {
        indices: u64,
        slots: u64,
        heads: u64,
        count: u32,
    }

    /// How symbols become words.
    argument "Alphabet" Alphabet {
        symbols: u64,
        base: u32,
        count: u32,
    }

    /// The next level, without its words.
    argument "Left" LeftTies {
        indices: u64,
        slots: u64,
        heads: u64,
        starts: u64,
    }

    /// Shared memory of the kernels that look at bytes: a number for each byte value.
    memory "Symbols" Symbols {
        numbers: [u32; 256],
    }

    /// Shared memory of the kernels of strings.cu that list ties.
    memory "Sums" TieSums {
        items: [u32; WARPS],
        groups: [u32; WARPS],
    }

    /// Shared memory of the kernels of gather_strings.cu.
    memory "Sums" LengthSums {
        sums: [u64; WARPS],
    }
}
