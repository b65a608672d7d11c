//! Lines of text in the order of GNU sort: by their bytes, or by the rules of a [`Locale`].
//!
//! ```
//! use sortie_files::Input;
//! use sortie_files::formats::Choices;
//! use sortie_files::formats::text::{TextOrder, sort_text};
//!
//! # let folder = tempfile::tempdir()?;
//! # let [sales, sorted] = ["sales.csv", "sorted.csv"].map(|name| folder.path().join(name));
//! std::fs::write(&sales, "apples,red,9\npears,green,10\nplums,blue,10\n")?;
//! // As `sort -t, -k3,3nr -k1,1`: by the third column, greatest number first, then by the first column.
//! let order = TextOrder {
//!     keys: vec!["3,3nr".parse()?, "1,1".parse()?],
//!     separator: Some(b','),
//!     ..TextOrder::default()
//! };
//! sort_text(&order, vec![Input::named(&sales)], Some(&sorted), &Choices::default())?;
//! assert_eq!(std::fs::read_to_string(&sorted)?, "pears,green,10\nplums,blue,10\napples,red,9\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alike;
mod blank;
mod blocks;
mod check;
mod cost;
mod distinct;
mod external;
mod items;
pub mod key;
mod keyed;
mod lines;
mod locale;
mod long;
mod merge;
mod numbers;
mod order;
mod sorter;
mod stretch;
mod top;
mod whole;
mod windows;

use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

use sortie::Engine;

use crate::memory::window;
use crate::run::Part;
use crate::{Error, Gather, Ledger, PARALLEL_FROM};
pub use check::Disorder;
pub use distinct::Distinct;
pub use key::{KeyOptions, KeySpec};
pub use locale::{Collator, Locale};
pub use merge::INPUTS_AT_ONCE;
pub use order::{LineOrder, TextOrder, compare_bytes, encode_version};
use sorter::LINES_A_BLOCK;
pub use whole::{Trial, check_text, merge_text, sort_text, top_text};

/// The size of text from which several threads are of use. No step divides the few lines of a smaller text among threads.
pub const POOL_FROM: usize = LINES_A_BLOCK;
/// The number of bytes of a line that a sort compares in most texts.
const COMPARED_OF_A_LINE: usize = 64;
/// The number of samples, and the bytes of each, for estimating the length of a text's lines.
const SAMPLES: usize = 4;
const SAMPLE: usize = 16 << 10;

/// Starts the threads of a sort, if any, and returns their number. Its argument is the number of bytes that are worth dividing among
/// them, if it is known.
pub type StartThreads<'a> = &'a (dyn Fn(Option<u64>) -> Result<usize, Error> + Sync);

/// A sort of lines, for a program that reads inputs, starts threads and reports errors in its own way. [`sort_text`] needs none of it.
pub struct LineSort<'a> {
    pub order: LineOrder,
    /// The byte that ends a line.
    pub terminator: u8,
    pub engine: Engine,
    /// Whether all that the sink gets at a time is whole lines.
    pub whole_lines: bool,
    ledger: &'a Ledger,
    start: StartThreads<'a>,
    /// The bytes of memory for the text and its sort.
    budget: u64,
    /// Whether the caller limits memory.
    is_limited: bool,
    /// The number of bytes that are gathered and written at a time.
    window: usize,
    /// The number of threads, once they are started.
    threads: OnceLock<usize>,
    /// The bytes of the longest line that was sorted.
    longest: AtomicUsize,
}

impl<'a> LineSort<'a> {
    /// A sort of lines that end with line feeds. `start` is called once, as soon as it is known how much text there is.
    pub fn new(order: LineOrder, start: StartThreads<'a>, ledger: &'a Ledger) -> Self {
        LineSort {
            order,
            terminator: b'\n',
            engine: Engine::default(),
            whole_lines: false,
            ledger,
            start,
            budget: 0,
            is_limited: false,
            window: 0,
            threads: OnceLock::new(),
            longest: AtomicUsize::new(0),
        }
    }

    /// The same sort with `budget` bytes of memory for the text and its sort. `is_limited` says whether the caller limits memory: then
    /// no text is read whole before it is known how much memory its sort needs. `size` is the number of bytes of all inputs, if it is
    /// known.
    pub fn within(self, budget: u64, is_limited: bool, size: Option<u64>) -> Self {
        LineSort { budget, is_limited, window: window(budget, size), ..self }
    }

    /// Starts the threads on the first call. `work` is the number of bytes that are worth dividing among them, if it is known.
    pub fn start_threads(&self, work: Option<u64>) -> Result<(), Error> {
        if self.threads.get().is_none() {
            let _ = self.threads.set((self.start)(work)?);
        }
        Ok(())
    }

    /// Merges the parts with `merge`, and adds a phase to the report.
    fn merge_by(
        &self,
        parts: Vec<Part>,
        merge: impl FnOnce(Vec<Part>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let bytes = parts.iter().map(|part| part.bytes).sum::<u64>() as usize;
        self.ledger.timed("merge", bytes, bytes, || merge(parts))
    }

    /// Whether one thread does all the work. There may be no pool then, and calling rayon would start one.
    fn is_alone(&self) -> bool {
        self.threads.get() == Some(&1)
    }

    /// The number of threads that take blocks of lines in turn.
    fn readers(&self) -> usize {
        if self.is_alone() { 1 } else { rayon::current_num_threads() }
    }

    fn gather(&self) -> Gather {
        Gather {
            window: self.window,
            terminator: Some(self.terminator),
            unique: self.order.unique(),
            whole: self.whole_lines,
            alone: self.is_alone(),
        }
    }

    /// The bytes of a text that are worth dividing among threads. A sort usually compares only the beginning of a long line
    /// and copies the rest. Samples estimate how long the lines are.
    fn work(&self, text: &[u8]) -> u64 {
        // For a larger text, reading and writing alone make threads worthwhile.
        if text.len() <= SAMPLES * SAMPLE || text.len() >= PARALLEL_FROM {
            return text.len() as u64;
        }
        let sample = |i: usize| &text[i * (text.len() / SAMPLES)..][..SAMPLE];
        let lines: usize =
            (0..SAMPLES).map(|i| 1 + sortie_formats::lines::count(sample(i), self.terminator)).sum();
        let compared = (COMPARED_OF_A_LINE * lines).min(SAMPLES * SAMPLE);
        let work = text.len() as f64 * compared as f64 / (SAMPLES * SAMPLE) as f64;
        // The samples may have missed many short lines, which need a pool.
        (work as u64).max(POOL_FROM as u64)
    }
}
