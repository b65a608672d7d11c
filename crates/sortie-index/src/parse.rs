//! All threads parse documents into a block: its terms, and for every word of the text the number of its term.
//!
//! Threads take items from the source in turn. Each thread has its own dictionary, so no thread waits for another.
//! The index does not depend on which thread took which item, because sorting the block replaces numbers by ranks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;

use crate::dictionary::{Dictionary, Terms};
use crate::documents::{self, Item, PassedOver, Source};
use crate::error::{Error, Skipped};
use crate::tokens::Tokenizer;

/// Parses documents block by block.
pub struct Parser<'a> {
    source: Mutex<Numbered<'a>>,
    pub threads: usize,
    /// Whether a skipped document ends the parsing.
    pub strict: bool,
    /// Called with the number of bytes of text that were parsed.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

/// The items and their numbers.
struct Numbered<'a> {
    source: Source<'a>,
    next: u64,
    ended: bool,
}

/// The limits on the size of a block.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub pairs: usize,
    /// The bytes of memory: [`Limits::bytes_a_pair`] for each pair, plus dictionaries and documents.
    pub bytes: usize,
    pub bytes_a_pair: usize,
}

/// The result of parsing some consecutive documents.
#[derive(Debug, Default)]
pub struct Parsed {
    /// In the order of the source.
    pub batches: Vec<Batch>,
    /// The terms of each thread.
    pub terms: Vec<Terms>,
}

/// The content of an item.
#[derive(Debug, Default)]
pub struct Batch {
    item: u64,
    /// The thread whose dictionary has the terms.
    pub thread: usize,
    pub documents: Vec<Parts>,
    pub names: String,
    /// The number of the term of each word.
    pub words: Vec<u32>,
    /// The number of bytes of text.
    pub bytes: u64,
    /// The number of words that are too long to be indexed.
    pub long_words: u64,
    pub skipped: Vec<Skipped>,
    pub passed_over: PassedOver,
    /// The error that ended reading.
    failed: Option<Error>,
}

/// The end positions of a document's parts in its batch.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    pub name_end: usize,
    pub words_end: usize,
    /// Whether it continues the document before it.
    pub continues: bool,
}

/// The bytes that a document takes, besides its name, until its block is numbered.
const BYTES_A_DOCUMENT: usize = 2 * size_of::<Parts>();

impl<'a> Parser<'a> {
    pub fn new(
        source: Source<'a>,
        threads: usize,
        strict: bool,
        progress: &'a (dyn Fn(u64) + Sync),
    ) -> Parser<'a> {
        let source = Mutex::new(Numbered { source, next: 0, ended: false });
        Parser { source, threads, strict, progress }
    }

    /// Parses the next documents, as many as the limits allow, but at least one item. `None` at the end.
    ///
    /// # Errors
    /// The first of these errors: [`Error::File`] if a file cannot be read; [`Error::Document`] if the parser is strict and a
    /// document is skipped.
    pub fn parse(&self, limits: Limits) -> Result<Option<Parsed>, Error> {
        let progress =
            Progress { limits, pairs: AtomicUsize::new(0), bytes: AtomicUsize::new(0), stop: false.into() };
        let mut threads: Vec<_> = thread::scope(|scope| {
            let progress = &progress;
            let start =
                |thread| thread::Builder::new().spawn_scoped(scope, move || self.work(thread, progress)).ok();
            // If the system cannot start more threads, the running threads do all the work.
            let others: Vec<_> = (1..self.threads).map_while(start).collect();
            let mut threads = vec![self.work(0, progress)];
            threads.extend(
                others
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
            );
            threads
        });
        let mut parsed = Parsed::default();
        for (batches, terms) in &mut threads {
            parsed.batches.append(batches);
            parsed.terms.push(std::mem::take(terms));
        }
        parsed.batches.sort_unstable_by_key(|batch| batch.item);
        for batch in &mut parsed.batches {
            if self.strict
                && let Some(skipped) = batch.skipped.drain(..).next()
            {
                return Err(Error::Document(skipped));
            }
            if let Some(error) = batch.failed.take() {
                return Err(error);
            }
        }
        Ok(Some(parsed).filter(|parsed| !parsed.batches.is_empty()))
    }

    /// The work of one thread on a block.
    fn work(&self, thread: usize, progress: &Progress) -> (Vec<Batch>, Terms) {
        let mut batches = Vec::new();
        let mut worker = Worker::default();
        while !progress.is_over() && !worker.dictionary.is_full() {
            let Some((number, item)) = self.next() else { break };
            let before = worker.dictionary.cost();
            worker.batch = Batch { item: number, thread, ..Batch::default() };
            let long_words = worker.tokenizer.left_out();
            let failed = worker.item(item).err();
            let mut batch = std::mem::take(&mut worker.batch);
            batch.long_words = worker.tokenizer.left_out() - long_words;
            progress.add(&batch, worker.dictionary.cost() - before);
            (self.progress)(batch.bytes);
            if failed.is_some() || self.strict && !batch.skipped.is_empty() {
                progress.stop.store(true, Relaxed);
            }
            batch.failed = failed;
            batches.push(batch);
        }
        (batches, worker.dictionary.into_terms())
    }

    fn next(&self) -> Option<(u64, Item)> {
        let mut source = self.source.lock().ok()?;
        if source.ended {
            return None;
        }
        match source.source.next() {
            Some(item) => {
                source.next += 1;
                Some((source.next, item))
            }
            None => {
                source.ended = true;
                None
            }
        }
    }
}

/// The size of the block so far, shared by the threads.
struct Progress {
    limits: Limits,
    pairs: AtomicUsize,
    bytes: AtomicUsize,
    stop: AtomicBool,
}

impl Progress {
    fn add(&self, batch: &Batch, dictionary: usize) {
        let pairs = batch.words.len();
        let documents = batch.names.capacity() + batch.documents.capacity() * BYTES_A_DOCUMENT;
        self.pairs.fetch_add(pairs, Relaxed);
        self.bytes.fetch_add(pairs * self.limits.bytes_a_pair + dictionary + documents, Relaxed);
    }

    fn is_over(&self) -> bool {
        self.stop.load(Relaxed)
            || self.pairs.load(Relaxed) >= self.limits.pairs
            || self.bytes.load(Relaxed) >= self.limits.bytes
    }
}

/// Parses items into batches.
#[derive(Debug, Default)]
struct Worker {
    tokenizer: Tokenizer,
    dictionary: Dictionary,
    batch: Batch,
}

impl Worker {
    fn item(&mut self, item: Item) -> Result<(), Error> {
        match item {
            Item::Documents(documents) => {
                for document in documents {
                    self.words(&document.text)?;
                    self.document(&document.name);
                }
            }
            Item::Files(files) => {
                for (path, kind) in files {
                    let name = path.to_string_lossy();
                    let start = self.batch.words.len();
                    let mut trouble = None;
                    for piece in documents::pieces(&path, kind) {
                        match piece {
                            Ok(text) => self.words(&text)?,
                            Err(why) => trouble = Some(why),
                        }
                    }
                    match trouble {
                        None => self.document(&name),
                        Some(trouble) => {
                            self.batch.words.truncate(start);
                            self.batch.skipped.push(trouble.of(&path, name.into_owned())?);
                        }
                    }
                }
            }
            Item::Lines { path, first_line, text } => {
                documents::json_documents(&path, first_line, &text, |document| {
                    match document {
                        Ok((name, text)) => {
                            self.words(text)?;
                            self.document(&name);
                        }
                        Err(skipped) => self.batch.skipped.push(skipped),
                    }
                    Ok(())
                })?;
            }
            Item::Piece { name, text } => {
                self.words(&text)?;
                self.document(name.as_deref().unwrap_or_default());
                self.batch.documents[0].continues = name.is_none();
            }
            Item::Skipped(skipped) => self.batch.skipped.push(skipped),
            Item::Failed(error) => return Err(error),
            Item::PassedOver(passed_over) => self.batch.passed_over = passed_over,
        }
        Ok(())
    }

    fn words(&mut self, text: &str) -> Result<(), Error> {
        let Worker { tokenizer, dictionary, batch } = self;
        batch.bytes += text.len() as u64;
        let mut has_room = true;
        tokenizer.words(text, |word| match dictionary.number(word) {
            Some(number) if batch.words.try_reserve(1).is_ok() => batch.words.push(number),
            _ => has_room = false,
        });
        let bytes = || (dictionary.cost() + size_of_val(&batch.words[..])) as u64;
        if has_room { Ok(()) } else { Err(Error::Memory { bytes: bytes() }) }
    }

    /// Ends a document.
    fn document(&mut self, name: &str) {
        self.batch.names.push_str(name);
        let (name_end, words_end) = (self.batch.names.len(), self.batch.words.len());
        self.batch.documents.push(Parts { name_end, words_end, continues: false });
    }
}
