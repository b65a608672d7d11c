//! Sorts strings in device memory by groups of symbols. Words of the next symbols of all strings that still tie are sorted,
//! many groups of strings at once, and only the strings that tie then continue.
//!
//! Source: Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014), section III.
//! There, a symbol group is a digit of a distribution, and the CPU finishes. Here, it is a key of the large-array sorts first,
//! then of the segment sorts, to the end.

use std::num::NonZeroUsize;

use sortie_device::{Buffer, Kernel, Launch, Properties, Stream, View};

use super::stored::{Offsets, StoredStrings, Strings};
use super::ties::Ties;
use crate::error::same_length;
use crate::gpu::alloc::scratch;
use crate::gpu::array::{MOST_KEYS, Wanted};
use crate::gpu::kernels::strings::{
    Alphabet, BLOCK, LeftTies, StringArrays, Symbols, TILE, TieLevel, TieState, TieSums,
};
use crate::gpu::kernels::{File, Instance};
use crate::gpu::segments::{Content, Payload};
use crate::gpu::segments::{DeviceSegments, Moved, copies_words, listed_words};
use crate::gpu::tuning::{CUT_OFF_LARGE_ALPHABET, CUT_OFF_SMALL_ALPHABET, SMALL_ALPHABET};
use crate::gpu::{Gpu, Pending};
use crate::key::Code;
use crate::request::Beside;
use crate::{Error, Order};

/// Blocks per multiprocessor, if there is enough work.
const BLOCKS: u32 = 8;
/// The size of a group of symbols, in words of scratch memory. With 64 bits, sorting is a little faster than with 32 if few
/// strings tie, and much faster if many do: 22.7 ms instead of 43.5 for 10^8 real words, 11.2 ms instead of 16.9 for 10^7 URLs
/// (H200).
const WORD: usize = size_of::<u64>() / size_of::<u32>();

impl Gpu {
    /// Writes the indices of the strings in the order of their bytes. Stable. Waits until they are written: for each group of
    /// symbols, the host reads back how many strings tie, and launches work for those.
    ///
    /// A group of symbols is a word of 64 bits. The alphabet of the bytes decides how many symbols it has: 27 of DNA, 13
    /// letters, or 7 bytes of any kind. All strings are sorted by their first group, as pairs are by
    /// [`Gpu::sort_pairs_unstable`]. Those that tie are sorted by their next group, and so on. Each time, the symbols that all
    /// of them share with their neighbours are skipped. Cost: one read of all bytes, then one read of each string as far as is
    /// needed to tell it from the others.
    ///
    /// Scratch memory: at most 36 bytes per string for the first group. Then for each string that ties 21 bytes, up to 16 more
    /// while its group is sorted, and 21 again if it still ties. A table of 16 bytes for each buffer of
    /// [`StringViews`](super::StringViews). In total at most 94 bytes per string, and a few KB.
    ///
    /// Source: Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014), section
    /// III.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Unsupported`] for more than 2^32 - 2^16 strings; [`Error::Memory`] if the device has
    /// too little free memory; [`Error::Device`] if a kernel is not available or the device fails. The strings stay as they
    /// are; the indices are then unspecified.
    ///
    /// # Safety
    /// Nothing else uses the strings and the indices meanwhile, and offsets are as [`Strings`] states, or views as
    /// [`StringViews`](super::StringViews). The stream belongs to this engine's device.
    pub unsafe fn argsort_strings<'s>(
        &self,
        stream: &Stream,
        strings: impl Into<StoredStrings<'s>>,
        indices: View<'_, u32>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let strings = strings.into();
        check(strings, indices)?;
        if indices.len() < 2 {
            stream.fill(indices, 0)?;
            return self.pending(stream);
        }
        let mut job = StringSort::new(self, stream, strings, indices, order)?;
        job.base = job.find_alphabet()?;
        // SAFETY: the caller guarantees it.
        let mut tied = unsafe { job.sort_all()? };
        while let Some(level) = tied.take() {
            // SAFETY: as above.
            tied = unsafe { job.sort_ties(&level)? };
        }
        self.pending(stream)
    }

    /// Writes the indices of the strings in order, as [`Gpu::argsort_strings`] does, but only by their first `depth` bytes.
    /// Returns which strings tie then; the caller sorts those. Stable, so that a run of ties has its strings in the order of
    /// their indices. Waits until all results are there.
    ///
    /// If the depth is `None`, it is that of the paper: 8 bytes if the alphabet is small, like that of DNA, and 5 otherwise.
    /// Scratch memory as for [`Gpu::argsort_strings`]. On the host, the result keeps at most 8 bytes for each string that ties.
    ///
    /// Source: Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014), section
    /// IV B, the cut-off level.
    ///
    /// # Errors
    /// As [`Gpu::argsort_strings`], and [`Error::Memory`] if the system refuses memory for the result.
    ///
    /// # Safety
    /// As [`Gpu::argsort_strings`].
    pub unsafe fn argsort_beginnings<'s>(
        &self,
        stream: &Stream,
        strings: impl Into<StoredStrings<'s>>,
        depth: Option<NonZeroUsize>,
        indices: View<'_, u32>,
        order: Order,
    ) -> Result<Ties, Error> {
        let strings = strings.into();
        check(strings, indices)?;
        if indices.len() < 2 {
            stream.fill(indices, 0)?;
            self.pending(stream)?.wait()?;
            return Ok(Ties::default());
        }
        let mut job = StringSort::new(self, stream, strings, indices, order)?;
        job.base = job.find_alphabet()?;
        let of_paper =
            if job.base <= SMALL_ALPHABET { CUT_OFF_SMALL_ALPHABET } else { CUT_OFF_LARGE_ALPHABET };
        let depth = depth.map_or(of_paper, NonZeroUsize::get) as u64;
        job.end = Some(depth);
        // SAFETY: the caller guarantees it.
        let mut tied = unsafe { job.sort_all()? };
        while let Some(level) = tied.take_if(|level| level.depth < depth) {
            // SAFETY: as above.
            tied = unsafe { job.sort_ties(&level)? };
        }
        let ties = tied.as_ref().map_or_else(|| Ok(Ties::default()), |tied| job.ties(tied))?;
        self.pending(stream)?.wait()?;
        Ok(ties)
    }
}

/// Sorts words of symbols in this base, and writes the indices of their strings. Stable. Returns which words tie, and waits
/// until the results are there.
///
/// # Safety
/// As [`Gpu::argsort_strings`].
pub(crate) unsafe fn sort_words(
    gpu: &Gpu,
    stream: &Stream,
    words: View<'_, u64>,
    indices: View<'_, u32>,
    base: u32,
    order: Order,
) -> Result<Option<Tied>, Error> {
    let n = indices.len();
    let nowhere =
        Strings { bytes: words.cast().range(0..0), offsets: Offsets::Wide(words.range(0..0)) }.into();
    let job = StringSort { base, ..StringSort::new(gpu, stream, nowhere, indices, order)? };
    // SAFETY: the caller guarantees it.
    let tied = unsafe {
        gpu.number(stream, indices.address(), n, size_of::<u32>())?;
        drop(gpu.sort_array(stream, words, indices.address(), wanted(order))?);
        let sorted = TieLevel { indices: indices.address(), slots: 0, heads: 0, count: n as u32 };
        job.find_ties(sorted, job.alphabet(0).count, words)?
    };
    gpu.pending(stream)?.wait()?;
    Ok(tied)
}

fn check(strings: StoredStrings<'_>, indices: View<'_, u32>) -> Result<(), Error> {
    same_length("indices", strings.count(), indices.len())?;
    check_count(indices.len())
}

/// Returns an error if there are more strings than indices of 32 bits can count.
pub(crate) fn check_count(n: usize) -> Result<(), Error> {
    if n <= MOST_KEYS {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "this sort takes at most {MOST_KEYS} strings, not {n}; sort them in parts"
    )))
}

/// The most words of scratch memory that an argsort of `n` strings holds, whatever they are.
pub(crate) fn scratch_of_strings(device: &Properties, n: usize) -> Result<usize, Error> {
    let content = Content {
        key_bytes: size_of::<u64>(),
        payload: Payload::Moved(size_of::<u32>()),
        code: Code::Unsigned,
        order: Order::default(),
    };
    let next = copies_words(content, n) + listed_words(n / 2 + 1);
    // Two levels exist at a time.
    Ok(WORD * n + scratch_of_words(device, n)? + most_tied(n) + next)
}

/// The same for a sort of existing words and the list of its ties.
pub(crate) fn scratch_of_words(device: &Properties, n: usize) -> Result<usize, Error> {
    let wanted = wanted(Order::default());
    let way = wanted.way::<u64>(n, device)?;
    let sorted: usize = wanted.scratch_words::<u64>(&way, n, device).into_iter().sum();
    Ok(fixed_words(n) + sorted + most_tied(n))
}

/// Words of a level in which all strings tie, in groups of at least two.
fn most_tied(n: usize) -> usize {
    Tied::lengths(n, n / 2).into_iter().sum()
}

struct StringKernels {
    find_shared: Kernel,
    encode: Kernel,
    count_ties: Kernel,
    sum_ties: Kernel,
    list_ties: Kernel,
    find_longest: Kernel,
}

impl StringKernels {
    fn new(gpu: &Gpu, strings: StoredStrings<'_>) -> Result<StringKernels, Error> {
        let names = ["find_shared", "encode", "count_ties", "sum_ties", "list_ties", "find_longest"];
        let instances = names.map(|kernel| instance(kernel, strings));
        let kernels = <[Kernel; 6]>::try_from(gpu.kernels(&instances)?).expect("as many as instances");
        let [find_shared, encode, count_ties, sum_ties, list_ties, find_longest] = kernels;
        Ok(StringKernels { find_shared, encode, count_ties, sum_ties, list_ties, find_longest })
    }
}

fn instance(kernel: &'static str, strings: StoredStrings<'_>) -> Instance {
    Instance { kernel, file: File::Strings, defines: vec![("SORTIE_STRINGS", strings.kind().to_string())] }
}

/// Strings that tie: their groups, and where they belong. All in one piece of scratch memory, with the words of their next
/// symbols.
pub(crate) struct Tied {
    scratch: Buffer<u32>,
    count: usize,
    groups: usize,
    longest: u64,
    /// The least number of bytes that a group shares.
    depth: u64,
}

impl Tied {
    /// Words of scratch: indices, slots, heads, starts of groups, and the words of strings.
    fn lengths(count: usize, groups: usize) -> [usize; 5] {
        [count, count, count.div_ceil(4), 2 * (groups + 1), 2 * count].map(|words| words.next_multiple_of(4))
    }

    fn part(&self, i: usize) -> View<'_, u32> {
        let lengths = Tied::lengths(self.count, self.groups);
        let start = lengths[..i].iter().sum();
        self.scratch.range(start..start + lengths[i])
    }

    fn indices(&self) -> View<'_, u32> {
        self.part(0).range(0..self.count)
    }

    /// Where each of them belongs among all strings.
    pub fn slots(&self) -> View<'_, u32> {
        self.part(1).range(0..self.count)
    }

    /// Where each group begins among them, and where the last one ends.
    pub fn starts(&self) -> View<'_, u64> {
        self.part(3).cast().range(0..self.groups + 1)
    }

    pub fn groups(&self) -> usize {
        self.groups
    }

    fn words(&self) -> View<'_, u64> {
        self.part(4).cast().range(0..self.count)
    }

    fn level(&self) -> TieLevel {
        TieLevel {
            indices: self.indices().address(),
            slots: self.slots().address(),
            heads: self.part(2).address(),
            count: self.count as u32,
        }
    }
}

/// One argsort.
struct StringSort<'a> {
    gpu: &'a Gpu,
    stream: &'a Stream,
    strings: StoredStrings<'a>,
    indices: View<'a, u32>,
    order: Order,
    kernels: StringKernels,
    /// The state, the alphabet's symbols, the table of buffers, and for each tile its counts and those of the tiles before it.
    fixed: Buffer<u32>,
    addresses: StringArrays,
    base: u32,
    /// The number of leading bytes to sort by, unless it is all bytes.
    end: Option<u64>,
}

impl<'a> StringSort<'a> {
    /// A sort without an alphabet.
    fn new(
        gpu: &'a Gpu,
        stream: &'a Stream,
        strings: StoredStrings<'a>,
        indices: View<'a, u32>,
        order: Order,
    ) -> Result<StringSort<'a>, Error> {
        let kernels = StringKernels::new(gpu, strings)?;
        let fixed = scratch(stream, fixed_words(indices.len()) + strings.table_words())?;
        let table = fixed.range(TABLE..TABLE + strings.table_words());
        let addresses = strings.addresses(stream, table)?;
        let job = StringSort {
            gpu,
            stream,
            strings,
            indices,
            order,
            kernels,
            fixed,
            addresses,
            base: 0,
            end: None,
        };
        let unknown = TieState { shared: u64::MAX, ..bytemuck::Zeroable::zeroed() };
        stream.copy_in(job.state(), &[unknown])?;
        Ok(job)
    }

    /// Finds out which bytes occur, and numbers them. Returns the number of symbols, with the end of a string as one.
    fn find_alphabet(&self) -> Result<u32, Error> {
        let find_alphabet = self.gpu.kernel(&instance("find_alphabet", self.strings))?;
        let symbols = self.symbols();
        self.stream.fill(symbols, 0)?;
        let launch = launch(self.gpu, self.strings.work().div_ceil(BLOCK as usize), size_of::<Symbols>());
        let arguments = (self.addresses, self.indices.len() as u64, symbols);
        // SAFETY: these are the kernel's arguments; it reads the bytes of the strings. The engine keeps the kernels.
        unsafe { find_alphabet.launch(self.stream, launch, arguments)? };
        let mut numbers = [0u32; 256];
        self.stream.copy_out(&mut numbers, symbols)?;
        let mut base = 1;
        for number in numbers.iter_mut().filter(|seen| **seen != 0) {
            *number = base;
            base += 1;
        }
        self.stream.copy_in(symbols, &numbers)?;
        // With a base of one, which only empty strings have, any number of symbols would fit in a word.
        Ok(base.max(2))
    }

    /// Sorts all strings by their first group of symbols, and returns those that tie.
    ///
    /// # Safety
    /// As [`Gpu::argsort_strings`]. This holds for all methods.
    unsafe fn sort_all(&self) -> Result<Option<Tied>, Error> {
        let n = self.indices.len();
        let words = scratch(self.stream, WORD * n)?;
        let keys = words.range(0..WORD * n).cast::<u64>();
        let all = TieLevel { indices: 0, slots: 0, heads: 0, count: n as u32 };
        let alphabet = self.alphabet(0);
        // SAFETY: the caller guarantees it; the indices are written before they are sorted.
        unsafe {
            self.encode(all, alphabet, keys)?;
            drop(self.gpu.sort_array(self.stream, keys, self.indices.address(), wanted(self.order))?);
            let sorted = TieLevel { indices: self.indices.address(), ..all };
            self.find_ties(sorted, alphabet.count, keys)
        }
    }

    /// Sorts each group of strings by the next group of symbols, and returns those that tie then.
    unsafe fn sort_ties(&self, tied: &Tied) -> Result<Option<Tied>, Error> {
        let segments = DeviceSegments::Offsets { offsets: tied.starts(), longest: tied.longest };
        let payload = tied.indices().address();
        let moved = Moved { keys: tied.words(), payload, kind: Payload::Moved(size_of::<u32>()) };
        let alphabet = self.alphabet(tied.depth);
        // SAFETY: the caller guarantees it; the groups are within what ties.
        unsafe {
            self.encode(tied.level(), alphabet, tied.words())?;
            drop(self.gpu.sort_moved(self.stream, moved, segments, Code::Unsigned, self.order)?);
            self.find_ties(tied.level(), alphabet.count, tied.words())
        }
    }

    /// Writes the words of the next symbols for the strings of a level.
    unsafe fn encode(&self, level: TieLevel, alphabet: Alphabet, words: View<'_, u64>) -> Result<(), Error> {
        let (strings, state, kernels) = (self.addresses, self.state(), &self.kernels);
        let by_warp = launch(self.gpu, (level.count as usize).div_ceil(BLOCK as usize / 32), 0);
        let by_thread =
            launch(self.gpu, (level.count as usize).div_ceil(BLOCK as usize), size_of::<Symbols>());
        // SAFETY: these are the kernels' arguments; they read the strings, and write the state and the words.
        unsafe {
            if self.end.is_some() {
                // Skipped symbols would count towards the depth too.
                self.stream.fill(state.cast::<u64>().range(1..2), 0)?;
            } else {
                kernels.find_shared.launch(self.stream, by_warp, (strings, level, state))?;
            }
            let arguments = (strings, level, self.indices, alphabet, state, words);
            kernels.encode.launch(self.stream, by_thread, arguments)?;
        }
        Ok(())
    }

    /// Writes a level's indices to their slots, and returns the strings that tie, if any.
    unsafe fn find_ties(
        &self,
        level: TieLevel,
        symbols: u32,
        words: View<'_, u64>,
    ) -> Result<Option<Tied>, Error> {
        let (stream, state, base, kernels) = (self.stream, self.state(), self.base, &self.kernels);
        let tiles = (level.count as usize).div_ceil(TILE);
        let [counts, items_before, groups_before] = self.of_tiles();
        let launch = launch(self.gpu, tiles, size_of::<TieSums>());
        let one = Launch { blocks: 1, shared: size_of::<TieSums>(), ..launch };
        // SAFETY: these are the kernels' arguments; what they list has room for all that is left.
        unsafe {
            kernels.count_ties.launch(stream, launch, (level, words, base, counts))?;
            let arguments = (counts, tiles as u32, symbols, items_before, groups_before, state);
            kernels.sum_ties.launch(stream, one, arguments)?;
            let left = self.read_state()?;
            let (count, groups) = (left.items as usize, left.groups as usize);
            let scratch = scratch(stream, Tied::lengths(count, groups).iter().sum())?;
            let mut tied = Tied { scratch, count, groups, longest: 0, depth: left.depth };
            let TieLevel { indices, slots, heads, .. } = tied.level();
            let next = LeftTies { indices, slots, heads, starts: tied.starts().address() };
            let arguments = (level, words, base, items_before, groups_before, self.indices, next, state);
            kernels.list_ties.launch(stream, launch, arguments)?;
            if count == 0 {
                return Ok(None);
            }
            let of_groups = self::launch(self.gpu, groups.div_ceil(BLOCK as usize), 0);
            kernels.find_longest.launch(stream, of_groups, (tied.starts(), state))?;
            tied.longest = self.read_state()?.longest.into();
            Ok(Some(tied))
        }
    }

    /// How words of this depth encode symbols.
    fn alphabet(&self, depth: u64) -> Alphabet {
        let powers = std::iter::successors(Some(1u64), |power| power.checked_mul(self.base.into()));
        let fit = powers.skip(1).count() as u64;
        let count = self.end.map_or(fit, |end| fit.min(end - depth)) as u32;
        Alphabet { symbols: self.symbols().address(), base: self.base, count }
    }

    /// Copies the ties to the host.
    fn ties(&self, tied: &Tied) -> Result<Ties, Error> {
        let mut ties = Ties::with_room(tied.count, tied.groups)?;
        self.stream.copy_out(&mut ties.slots, tied.slots())?;
        self.stream.copy_out(&mut ties.starts, tied.starts())?;
        Ok(ties)
    }

    fn state(&self) -> View<'_, TieState> {
        self.fixed.range(0..STATE_WORDS).cast()
    }

    fn read_state(&self) -> Result<TieState, Error> {
        let mut state = [bytemuck::Zeroable::zeroed()];
        self.stream.copy_out(&mut state, self.state())?;
        Ok(state[0])
    }

    fn symbols(&self) -> View<'_, u32> {
        self.fixed.range(STATE_WORDS..TABLE)
    }

    fn of_tiles(&self) -> [View<'_, u32>; 3] {
        let tiles = self.indices.len().div_ceil(TILE);
        let start = TABLE + self.strings.table_words();
        [0, 1, 2].map(|part| self.fixed.range(start + part * tiles..start + (part + 1) * tiles))
    }
}

/// How all strings are sorted by their first words, with their indices.
fn wanted(order: Order) -> Wanted {
    // Payloads go below the keys, or else their order is kept, so that equal words come out by their indices.
    let beside = Beside::Payload { bytes: size_of::<u32>(), stable: false };
    Wanted { beside, code: Code::Unsigned, order }
}

/// A launch of as many blocks as there is work for, but no more than keep the device busy.
pub(crate) fn launch(gpu: &Gpu, blocks: usize, shared: usize) -> Launch {
    let most = gpu.device().properties().multiprocessors * BLOCKS;
    Launch { blocks: blocks.clamp(1, most as usize) as u32, threads: BLOCK, shared }
}

/// Words of scratch memory that exist from the beginning to the end, except the table of buffers.
fn fixed_words(n: usize) -> usize {
    TABLE + 3 * n.div_ceil(TILE)
}

const STATE_WORDS: usize = size_of::<TieState>() / size_of::<u32>();
/// Where the table of buffers begins.
const TABLE: usize = STATE_WORDS + 256;
