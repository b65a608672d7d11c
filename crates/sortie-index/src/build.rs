//! Building an index: blocks are parsed, sorted and written as runs, which are merged.
//!
//! The three programs of Capannini, Silvestri and Baraglia, "Sorting on GPUs for large scale datasets: A thorough comparison"
//! (2011), section 7.

mod stages;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};
use sortie::{Algorithm, Engine, Sorter};

use crate::collection::Collection;
use crate::documents::{self, Choice, Document, PassedOver, Source, Walk};
use crate::error::{Error, Reason, Skipped};
use crate::format::Counts;
use crate::merge::merge;
use crate::names;
use crate::parse::{Batch, Parser};
use crate::plan::{self, Sorts};
use crate::publish::{self, Complete, Draft};
use crate::run::Runs;
use stages::Stages;

/// How blocks go from documents to runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pipeline {
    /// [`Pipeline::GpuOverlapped`] where there is a GPU, else [`Pipeline::Cpu`].
    #[default]
    Auto,
    /// A block is parsed, sorted and written, then the next: the paper's Index_cpu.
    Cpu,
    /// The same with the sort on the first GPU: its Index_gpu.
    Gpu,
    /// While the GPU sorts a block, the CPU parses the next and writes the one before: its Index_gpu+.
    GpuOverlapped,
}

/// Builds indexes, with everything chosen that can be chosen.
///
/// The index is the same, byte for byte, whatever is chosen.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sortie_index::{Builder, Document, Index};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("index");
/// let documents = ["to be or not to be", "to do"].into_iter().enumerate();
/// let documents = documents.map(|(i, text)| Document { name: i.to_string(), text: text.into() });
/// let summary = Builder::default().build_from(documents, &path)?;
/// assert_eq!((summary.counts.documents, summary.counts.terms, summary.counts.words), (2, 5, 8));
/// let hits = Index::open(&path)?.search("be", 10)?;
/// assert_eq!((hits.len(), &*hits[0].name), (1, "0"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Builder {
    pipeline: Pipeline,
    algorithm: Algorithm,
    threads: Option<usize>,
    memory_limit: Option<u64>,
    device_memory_limit: Option<u64>,
    strict: bool,
    choice: Choice,
    progress: Progress,
}

/// What is called with bytes of text that were parsed.
#[derive(Clone)]
struct Progress(Arc<dyn Fn(u64) + Send + Sync>);

impl Default for Progress {
    fn default() -> Progress {
        Progress(Arc::new(|_| ()))
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}

/// What was built, and how.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Summary {
    pub counts: Counts,
    /// Sorted blocks.
    pub runs: usize,
    /// Of all runs on disk.
    pub run_bytes: u64,
    /// Of the index.
    pub index_bytes: u64,
    /// Bytes of text that were cut to words: decompressed, and without tags.
    pub text_bytes: u64,
    /// Documents that are not in the index, or not to their end, for [`Reason::Defective`].
    pub defective: u64,
    /// Files that were gone before they were read, [`Reason::Vanished`].
    pub vanished: u64,
    /// Inputs in which no document was found, [`Reason::Unmatched`].
    pub unmatched: u64,
    /// What in folders is no document.
    pub passed_over: PassedOver,
    /// Words of more than 255 bytes, which are not indexed.
    pub long_words: u64,
    /// Documents whose name another one has that came before.
    pub repeated_names: u64,
    /// Whether a GPU sorted.
    pub on_gpu: bool,
    pub times: Times,
}

/// How long each part took. Stages that overlap count in full.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Times {
    /// Reading, cutting to words, and numbering these.
    pub parse: Duration,
    /// Sorting pairs, transfers included.
    pub sort: Duration,
    /// Writing runs.
    pub write: Duration,
    pub merge: Duration,
    /// From the start to the end of it all.
    pub all: Duration,
}

impl Summary {
    /// Whether something was skipped, and [`Skipped`] told of it.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.defective + self.vanished + self.unmatched > 0
    }

    fn add(&mut self, batch: &Batch) {
        self.text_bytes += batch.bytes;
        self.long_words += batch.long_words;
        for skipped in &batch.skipped {
            *match skipped.reason {
                Reason::Defective => &mut self.defective,
                Reason::Vanished => &mut self.vanished,
                Reason::Unmatched => &mut self.unmatched,
            } += 1;
        }
        // Told once, at the end.
        if batch.passed_over != PassedOver::default() {
            self.passed_over = batch.passed_over;
        }
    }
}

/// A complete index on the disk that has no name yet. Dropped, it leaves nothing behind.
pub struct Prepared {
    complete: Complete,
    summary: Summary,
    start: Instant,
}

impl Prepared {
    /// What was built.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Puts the index in its place in one instant, and removes the one that was there.
    ///
    /// What ends the process meanwhile may leave a folder `.sortie-unfinished-index` beside the index, which the next index
    /// that is built there removes. It is there for some milliseconds, or while files are copied in a file system that
    /// has none without names.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::NotAnIndex`], and [`Error::Empty`]: an index without documents replaces none.
    pub fn publish(self) -> Result<Summary, Error> {
        let Prepared { complete, mut summary, start } = self;
        let publishing = Instant::now();
        complete.publish()?;
        summary.times.merge += publishing.elapsed();
        summary.times.all = start.elapsed();
        Ok(summary)
    }
}

impl Builder {
    /// How blocks go from documents to runs.
    #[must_use]
    pub fn pipeline(mut self, pipeline: Pipeline) -> Self {
        self.pipeline = pipeline;
        self
    }

    /// How a GPU sorts, by default with scratch. [`Algorithm::Bitonic`] sorts in place, slower, and has blocks twice as large
    /// where the GPU's memory bounds them.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// How many threads each stage has, at least 1; by default as many as there are cores.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// About how much memory to use, in bytes; by default 1 GiB. Documents may have any length. Not counted are about 40
    /// bytes for each file, and the names of the folder that is read.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// The most memory of a GPU that a block and its sort may take, in bytes; by default most of what is free.
    #[must_use]
    pub fn device_memory_limit(mut self, bytes: u64) -> Self {
        self.device_memory_limit = Some(bytes);
        self
    }

    /// Stops at the first document that would be skipped.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Takes files in folders whose names end so as plain text, besides those that are known: ends of names as `rst`, with
    /// or without a full stop before.
    #[must_use]
    pub fn extensions<E: AsRef<str>>(mut self, extensions: impl IntoIterator<Item = E>) -> Self {
        let plain = |extension: E| extension.as_ref().trim_start_matches('.').to_ascii_lowercase();
        self.choice.extensions = extensions.into_iter().map(plain).collect();
        self
    }

    /// Takes every file in folders as plain text whose name says nothing else and whose first 8 KiB are UTF-8 without NUL.
    #[must_use]
    pub fn all_text(mut self, all_text: bool) -> Self {
        self.choice.all_text = all_text;
        self
    }

    /// Calls `progress` with bytes of text that were parsed, from several threads, whenever there are some.
    #[must_use]
    pub fn progress(mut self, progress: impl Fn(u64) + Send + Sync + 'static) -> Self {
        self.progress = Progress(Arc::new(progress));
        self
    }

    /// Builds the index of files and folders at `target`, which may be an index already, and is replaced once the new one is
    /// complete. `skipped` is told of every document that is left out for what it holds.
    ///
    /// Of a folder those files are indexed whose names say what they hold, and those that [`Builder::extensions`] and
    /// [`Builder::all_text`] add, each once, however many names and links lead to it. Hidden files and folders are passed over,
    /// and links to folders.
    ///
    /// O(words), and memory as [`Builder::memory_limit`] says; on disk, beside the index, its runs: about two bytes for each pair
    /// of a term and a document that it is in.
    ///
    /// # Errors
    /// [`Error::File`] if an input is not there or something cannot be read or written, [`Error::NotAnIndex`] if
    /// something else is at `target`, [`Error::Empty`] if there are no documents and an index is there,
    /// [`Error::Document`] if it is strict, [`Error::Sort`] if a GPU was asked for and there is none or it fails. What
    /// was at `target` is as it was then.
    pub fn build(
        &self,
        inputs: &[PathBuf],
        target: &Path,
        skipped: impl FnMut(&Skipped) + Send,
    ) -> Result<Summary, Error> {
        for input in inputs {
            input.metadata().map_err(Error::file("read", input))?;
        }
        self.prepare(inputs.iter().cloned().map(Ok), target, skipped)?.publish()
    }

    /// [`Builder::build`] up to the instant in which the index appears, for inputs that are found one by one.
    ///
    /// # Errors
    /// As there, and that of the inputs.
    pub fn prepare<I>(
        &self,
        inputs: I,
        target: &Path,
        skipped: impl FnMut(&Skipped) + Send,
    ) -> Result<Prepared, Error>
    where
        I: IntoIterator<Item = Result<PathBuf, Error>, IntoIter: Send>,
    {
        let inputs = Box::new(inputs.into_iter());
        let walk = Walk::new(inputs, self.choice.clone(), target, publish::folder_of(target));
        prepare_with(self, self.sort()?, Box::new(walk), target, skipped)
    }

    /// [`Builder::build`] of documents that the program has.
    ///
    /// # Errors
    /// As there.
    pub fn build_from(
        &self,
        documents: impl Iterator<Item = Document> + Send,
        target: &Path,
    ) -> Result<Summary, Error> {
        prepare_with(self, self.sort()?, documents::given(documents), target, |_| ())?.publish()
    }

    fn memory(&self) -> u64 {
        self.memory_limit.unwrap_or(1 << 30)
    }

    fn pool(&self) -> Result<ThreadPool, Error> {
        let threads = self.threads.or_else(|| thread::available_parallelism().ok().map(|n| n.get()));
        pool(threads.unwrap_or(1).max(1))
    }

    /// How the pairs of a block are sorted.
    fn sort(&self) -> Result<Sort, Error> {
        let cpu = Sorter::builder().engine(Engine::Cpu).build()?;
        let on_cpu = Sort {
            place: Sorts::OnCpu,
            overlapped: false,
            by: Box::new(move |keys| cpu.sort(keys).map(|_| false)),
        };
        if self.pipeline == Pipeline::Cpu {
            return Ok(on_cpu);
        }
        let device = match (sortie_device::cuda::device(0), self.pipeline) {
            (Err(_), Pipeline::Auto) => return Ok(on_cpu),
            (device, _) => device.map_err(sortie::Error::from)?,
        };
        let free = device.free_memory().map_err(sortie::Error::from)?;
        let memory = self.device_memory_limit.unwrap_or(free - free / 8).min(free);
        let gpu = Sorter::builder().engine(Engine::Cuda(0)).algorithm(self.algorithm).build()?;
        let place = Sorts::OnGpu { algorithm: self.algorithm, memory };
        let least = if self.pipeline == Pipeline::Auto { plan::least_for_gpu(place) } else { 0 };
        let mut by_cpu = on_cpu.by;
        Ok(Sort {
            place,
            overlapped: self.pipeline != Pipeline::Gpu,
            by: Box::new(
                move |keys| {
                    if keys.len() < least { by_cpu(keys) } else { gpu.sort(keys).map(|_| true) }
                },
            ),
        })
    }
}

fn pool(threads: usize) -> Result<ThreadPool, Error> {
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(Error::threads(threads))
}

/// Where and by what blocks are sorted.
struct Sort {
    place: Sorts,
    overlapped: bool,
    by: SortKeys,
}

/// Sorts keys, and says whether a GPU did.
type SortKeys = Box<dyn FnMut(&mut [u64]) -> Result<bool, sortie::Error> + Send>;

/// Builds an index whose blocks are sorted so.
fn prepare_with(
    builder: &Builder,
    sort: Sort,
    source: Source<'_>,
    target: &Path,
    mut skipped: impl FnMut(&Skipped) + Send,
) -> Result<Prepared, Error> {
    let start = Instant::now();
    let pool = builder.pool()?;
    let mut draft = Draft::new(target)?;
    let mut runs = Runs::new(draft.folder())?;
    let mut summary = Summary::default();
    let threads = pool.current_num_threads();
    let stages = Stages {
        parser: Parser::new(source, threads, builder.strict, &*builder.progress.0),
        limits: plan::limits(builder.memory(), threads, sort.place, sort.overlapped),
        pool: &pool,
        collection: Collection::new(&mut draft.files),
        skipped: &mut skipped,
    };
    if sort.overlapped {
        stages.overlapped(sort.by, &mut runs, &mut summary)?;
    } else {
        stages.in_turn(sort.by, &mut runs, &mut summary)?;
    }
    let merging = Instant::now();
    (summary.runs, summary.run_bytes) = (runs.len(), runs.bytes());
    let documents = summary.counts.documents;
    summary.counts = Counts { documents, ..merge(&runs, plan::merge_bytes(builder.memory()), &mut draft)? };
    summary.repeated_names = names::repeated(&mut draft, documents, builder.memory())?;
    // Room for the index, which is copied where it cannot be named.
    drop(runs);
    let complete = draft.complete(summary.counts)?;
    summary.index_bytes = complete.bytes();
    summary.times.merge = merging.elapsed();
    summary.times.all = start.elapsed();
    Ok(Prepared { complete, summary, start })
}
