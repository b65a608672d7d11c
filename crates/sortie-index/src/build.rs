//! Builds an index: parses, sorts and writes blocks of documents as runs, then merges the runs.
//!
//! The pipelines are the three programs of Capannini, Silvestri and Baraglia, "Sorting on GPUs for large scale
//! datasets: A thorough comparison" (2011), section 7.

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

/// How blocks of documents become sorted runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pipeline {
    /// [`Pipeline::GpuOverlapped`] if there is a GPU, else [`Pipeline::Cpu`].
    #[default]
    Auto,
    /// Parses, sorts and writes one block, then the next: `Index_cpu` in the paper.
    Cpu,
    /// The same, but the first GPU sorts: `Index_gpu` in the paper.
    Gpu,
    /// While the GPU sorts a block, the CPU parses the next one and writes the one before: `Index_gpu+` in the
    /// paper.
    GpuOverlapped,
}

/// Builds indexes, with options.
///
/// No option changes the content of the index: it is the same byte for byte, except that the options for
/// choosing files decide which documents it has.
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

/// A callback that receives the number of bytes of text that were parsed.
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
    /// The number of sorted runs.
    pub runs: usize,
    /// The size of all runs on disk in bytes.
    pub run_bytes: u64,
    /// The size of the index in bytes.
    pub index_bytes: u64,
    /// The bytes of text that were divided into words, after decompression and without tags.
    pub text_bytes: u64,
    /// The number of documents that are missing from the index, or only partly in it, for
    /// [`Reason::Defective`].
    pub defective: u64,
    /// The number of files that disappeared before they were read: [`Reason::Vanished`].
    pub vanished: u64,
    /// The number of inputs without any document: [`Reason::Unmatched`].
    pub unmatched: u64,
    /// Counts of what was found in folders and is not a document.
    pub passed_over: PassedOver,
    /// The number of words longer than 255 bytes, which are not indexed.
    pub long_words: u64,
    /// The number of documents with the name of an earlier document.
    pub repeated_names: u64,
    /// Whether a GPU sorted.
    pub on_gpu: bool,
    pub times: Times,
}

/// The time of each part. Stages that overlap are counted in full.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Times {
    /// Reading, dividing into words, and numbering the words.
    pub parse: Duration,
    /// Sorting the pairs, including transfers.
    pub sort: Duration,
    /// Writing runs.
    pub write: Duration,
    pub merge: Duration,
    /// The total time from start to end.
    pub all: Duration,
}

impl Summary {
    /// Whether any document was skipped, which [`Skipped`] reported.
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
        // Reported once, at the end.
        if batch.passed_over != PassedOver::default() {
            self.passed_over = batch.passed_over;
        }
    }
}

/// A complete index on disk that has no name yet. If it is dropped, nothing is left behind.
pub struct Prepared {
    complete: Complete,
    summary: Summary,
    start: Instant,
}

impl Prepared {
    /// What was built, and how.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Puts the index in its place by one rename, and removes the index that was there before.
    ///
    /// If the process ends during this call, a folder `.sortie-unfinished-index` may remain beside the index. The
    /// next index that is built there removes it. The folder normally exists for a few milliseconds, or for as long
    /// as files are copied on a file system without unnamed files.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::NotAnIndex`], and [`Error::Empty`]: an index without documents does not
    /// replace another.
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
    /// Sets how blocks become sorted runs.
    #[must_use]
    pub fn pipeline(mut self, pipeline: Pipeline) -> Self {
        self.pipeline = pipeline;
        self
    }

    /// Sets how a GPU sorts. By default it uses scratch memory. [`Algorithm::Bitonic`] sorts in place: it is slower,
    /// but if GPU memory limits the size of blocks, they are twice as large.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Sets the number of threads of each stage, at least 1. The default is one for each core.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Sets how much memory to use in bytes, approximately. The default is 1 GiB. Documents may have any length. The
    /// limit does not count about 40 bytes for each file, and the names in the folder that is being read.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Sets the maximum GPU memory in bytes for a block and its sort. The default is most of the free memory.
    #[must_use]
    pub fn device_memory_limit(mut self, bytes: u64) -> Self {
        self.device_memory_limit = Some(bytes);
        self
    }

    /// Stops the build at the first document that would be skipped.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// In folders, also takes files whose names end in one of these extensions, as plain text. An extension is given
    /// as `rst`, with or without a dot before it.
    #[must_use]
    pub fn extensions<E: AsRef<str>>(mut self, extensions: impl IntoIterator<Item = E>) -> Self {
        let plain = |extension: E| extension.as_ref().trim_start_matches('.').to_ascii_lowercase();
        self.choice.extensions = extensions.into_iter().map(plain).collect();
        self
    }

    /// In folders, also takes every other file as plain text whose first 8 KiB are UTF-8 without NUL bytes.
    #[must_use]
    pub fn all_text(mut self, all_text: bool) -> Self {
        self.choice.all_text = all_text;
        self
    }

    /// Calls `progress` with the number of newly parsed bytes of text. The calls come from several threads.
    #[must_use]
    pub fn progress(mut self, progress: impl Fn(u64) + Send + Sync + 'static) -> Self {
        self.progress = Progress(Arc::new(progress));
        self
    }

    /// Builds an index of files and folders at `target`. An index that is already there is replaced once the new one
    /// is complete. `skipped` is called for every document that is left out because of its content.
    ///
    /// In a folder, files of known kinds are indexed, and those that [`Builder::extensions`] and
    /// [`Builder::all_text`] add. Each file is indexed once, however many names and links lead to it. Hidden files,
    /// hidden folders and links to folders are passed over.
    ///
    /// O(words) time, and memory as [`Builder::memory_limit`] says. The disk holds the index and its runs: about two
    /// bytes for each pair of a term and a document that contains it.
    ///
    /// # Errors
    /// [`Error::File`] if an input does not exist, or something cannot be read or written; [`Error::NotAnIndex`] if
    /// something else is at `target`; [`Error::Empty`] if there are no documents but `target` is an index;
    /// [`Error::Document`] in strict mode; [`Error::Sort`] if a GPU was requested and none is found or it fails. In
    /// all cases `target` stays as it was.
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

    /// Like [`Builder::build`], for inputs that are found one by one, but does not publish the index yet.
    ///
    /// # Errors
    /// Those of [`Builder::build`], and the errors of the inputs.
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

    /// Like [`Builder::build`], for documents in memory.
    ///
    /// # Errors
    /// Those of [`Builder::build`].
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

    /// Chooses how to sort the pairs of a block.
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

/// Where blocks are sorted, and the function that sorts them.
struct Sort {
    place: Sorts,
    overlapped: bool,
    by: SortKeys,
}

/// Sorts keys. Returns whether a GPU did.
type SortKeys = Box<dyn FnMut(&mut [u64]) -> Result<bool, sortie::Error> + Send>;

/// Builds an index with the given sort.
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
    let bytes = plan::merge_bytes(builder.memory());
    summary.counts = Counts { documents, ..pool.install(|| merge(&runs, bytes, &mut draft))? };
    summary.repeated_names = names::repeated(&mut draft, documents, builder.memory())?;
    // Frees disk space for the index, whose files may have to be copied to get names.
    drop(runs);
    let complete = draft.complete(summary.counts)?;
    summary.index_bytes = complete.bytes();
    summary.times.merge = merging.elapsed();
    summary.times.all = start.elapsed();
    Ok(Prepared { complete, summary, start })
}
