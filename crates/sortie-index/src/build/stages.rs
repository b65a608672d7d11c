//! The stages of a block: parse, sort, write. They run one after the other, or overlapped with three blocks at
//! a time.

use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use rayon::ThreadPool;

use super::{SortKeys, Summary, Times};
use crate::block::Block;
use crate::collection::Collection;
use crate::error::{Error, Skipped};
use crate::parse::{Limits, Parser};
use crate::run::Runs;

/// The stages and their shared state.
pub struct Stages<'a> {
    pub parser: Parser<'a>,
    pub limits: Limits,
    pub pool: &'a ThreadPool,
    pub collection: Collection<'a>,
    pub skipped: &'a mut (dyn FnMut(&Skipped) + Send),
}

impl Stages<'_> {
    /// Processes one block after the other.
    pub fn in_turn(
        mut self,
        mut sort: SortKeys,
        runs: &mut Runs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let pool = self.pool;
        let mut times = Times::default();
        let mut keys = Vec::new();
        while let Some(mut block) = self.parse(keys, summary)? {
            let start = Instant::now();
            summary.on_gpu |= pool.install(|| sort(&mut block.keys))?;
            times.sort += start.elapsed();
            let start = Instant::now();
            pool.install(|| runs.write(&block))?;
            times.write += start.elapsed();
            keys = block.keys;
        }
        summary.times = Times { parse: summary.times.parse, ..times };
        Ok(())
    }

    /// While one block is sorted, parses the next one and writes the one before.
    pub fn overlapped(
        mut self,
        mut sort: SortKeys,
        runs: &mut Runs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let pool = self.pool;
        // A sort waits for the GPU. In the shared pool it would occupy a thread that the other stages need.
        let sort_pool = super::pool(pool.current_num_threads())?;
        thread::scope(|scope| {
            // No block is queued between two stages, so at most three blocks exist.
            let (to_sort, parsed) = mpsc::sync_channel::<Block>(0);
            let (to_write, sorted) = mpsc::sync_channel::<Block>(0);
            let (give_back, free) = mpsc::channel();
            let sorting = move || {
                let (mut time, mut on_gpu) = (Default::default(), false);
                for mut block in parsed {
                    let start = Instant::now();
                    on_gpu |= sort_pool.install(|| sort(&mut block.keys))?;
                    time += start.elapsed();
                    // If the next stage has failed, it reports why.
                    if to_write.send(block).is_err() {
                        break;
                    }
                }
                Ok::<_, Error>((time, on_gpu))
            };
            let writing = move || {
                let mut time = Default::default();
                for block in sorted {
                    let start = Instant::now();
                    pool.install(|| runs.write(&block))?;
                    time += start.elapsed();
                    let _ = give_back.send(block.keys);
                }
                Ok::<_, Error>(time)
            };
            let sorting = thread::Builder::new().spawn_scoped(scope, sorting).map_err(Error::threads(2))?;
            let writing = thread::Builder::new().spawn_scoped(scope, writing).map_err(Error::threads(1))?;
            let parsing = loop {
                match self.parse(free.try_recv().unwrap_or_default(), summary) {
                    Ok(Some(block)) => {
                        if to_sort.send(block).is_err() {
                            break Ok(());
                        }
                    }
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                }
            };
            drop(to_sort);
            let (sorting, writing) = (joined(sorting), joined(writing));
            parsing?;
            (summary.times.sort, summary.on_gpu) = sorting?;
            summary.times.write = writing?;
            Ok(())
        })
    }

    /// Parses the next block, whose keys are unsorted. `None` at the end.
    fn parse(&mut self, keys: Vec<u64>, summary: &mut Summary) -> Result<Option<Block>, Error> {
        let start = Instant::now();
        let Some(mut parsed) = self.parser.parse(self.limits)? else {
            self.collection.end()?;
            summary.counts.documents = self.collection.documents().into();
            return Ok(None);
        };
        let mut first_documents = Vec::with_capacity(parsed.batches.len());
        for batch in &mut parsed.batches {
            first_documents.push(self.collection.add(batch)?);
            batch.names = String::new();
            summary.add(batch);
            batch.skipped.drain(..).for_each(|skipped| (self.skipped)(&skipped));
        }
        let block = self.pool.install(|| Block::new(parsed, &first_documents, keys))?;
        summary.times.parse += start.elapsed();
        Ok(Some(block))
    }
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
