//! Items of any length that follow each other in their files. A [`Layout`] says where an item ends and what its key is.

use std::cmp::Ordering;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use rayon::prelude::*;
use sortie::{Report, Sorter};

use super::Choices;
use crate::memory::{self, append, filled, room, window};
use crate::merge::{self, Order, merge_cursors};
use crate::run::{Part, Source};
use crate::{Error, Format, Gather, Input, Inputs, Keyed, Ledger, Share, Sink, Sorted, quote};

/// The bytes to read at a time, of an input and of the smallest buffer of a run.
const PIECE: u64 = 256 << 10;
/// The memory for each item besides its text and its key: both ends, two references, and two words of a sort of strings.
const ITEM: u64 = (2 * size_of::<usize>() + 2 * size_of::<Keyed<'_>>() + 16) as u64;
/// The bytes of merged items that are passed on at a time.
const MERGED: usize = 256 << 10;
/// The memory for items that are checked at a time.
const CHECKED: u64 = 4 << 20;
/// The smallest and the largest buffer of a run in a merge. It grows if an item is longer.
const READ: (u64, u64) = (16 << 10, 4 << 20);

/// Where an item ends, and what its key is.
pub trait Layout: Sync {
    /// The number of bytes of the first item of `bytes`, which is not empty. `None` if its end is not in `bytes`.
    ///
    /// # Errors
    /// A description of the defect, before which the caller puts the name of the file.
    fn first(&self, bytes: &[u8]) -> Result<Option<usize>, String>;

    /// Appends the key of an item: bytes that compare as the items are to be sorted. It must not panic, so a layout with parameters
    /// checks them when it is made.
    fn key(&self, item: &[u8], key: &mut Vec<u8>);

    /// The byte that ends an item of text. It is added to the last item of a file that lacks it. An input that is not text is then
    /// refused, and one that is compressed is recognised by its content, not by its name only.
    fn terminator(&self) -> Option<u8> {
        None
    }

    /// The bytes before the first item of a file that begins with `bytes`, or `None` if more bytes are needed to tell. Those of
    /// the first input come first in the output.
    fn header(&self, _bytes: &[u8]) -> Option<usize> {
        Some(0)
    }
}

/// Sorts the items of all inputs into the file `output`, or standard output. Items with equal keys keep their order. The file is
/// replaced once the result is complete, and may be one of the inputs. Uses rayon's current thread pool.
///
/// # Errors
/// If an input, an output or a temporary file cannot be read or written, an item is not whole, or memory is short. Then the
/// output is as it was.
pub fn sort_layout<L: Layout + ?Sized>(
    layout: &L,
    inputs: Vec<Input>,
    output: Option<&Path>,
    choices: &Choices,
) -> Result<Report, Error> {
    let is_text = layout.terminator().is_some();
    if is_text {
        inputs.iter().try_for_each(Input::examine)?;
    }
    let size = inputs.iter().map(if is_text { Input::size } else { Input::raw_size }).sum::<Option<u64>>();
    choices.publish(output, size, false, |task, sink| {
        let sort = LayoutSort::new(layout, task.budget, choices, size, task.ledger);
        let mut feed = Feed { inputs: Inputs::new(inputs), rest: Vec::new() };
        if let Some((_, first)) = feed.inputs.current(|input| Opened::new(layout, input))? {
            sink(&std::mem::take(&mut first.header))?;
        }
        task.sort(&sort, feed, size, sink)
    })
}

/// The number of the first item of `input` that is out of order, from 1, if there is one. With [`Choices::unique`], an item with the key of
/// the one before is out of order too. Also returns a report.
///
/// # Errors
/// As [`sort_layout`].
pub fn check_layout<L: Layout + ?Sized>(
    layout: &L,
    input: Input,
    choices: &Choices,
) -> Result<(Option<u64>, Report), Error> {
    if layout.terminator().is_some() {
        input.examine()?;
    }
    let ledger = choices.ledger();
    let budget = memory::budget(choices.memory, input.stored(), rayon::current_num_threads).min(CHECKED);
    let disorder = LayoutSort::new(layout, budget, choices, None, &ledger).check(vec![input])?;
    Ok((disorder, ledger.close()))
}

/// A layout as a format.
struct LayoutSort<'a, L: ?Sized> {
    layout: &'a L,
    budget: u64,
    descending: bool,
    gather: Gather,
    /// The bytes of the longest item so far.
    longest: AtomicUsize,
    ledger: &'a Ledger,
}

impl<'a, L: Layout + ?Sized> LayoutSort<'a, L> {
    fn new(layout: &'a L, budget: u64, choices: &Choices, size: Option<u64>, ledger: &'a Ledger) -> Self {
        let gather = Gather {
            window: window(budget, size),
            terminator: None,
            unique: choices.unique,
            whole: false,
            alone: rayon::current_num_threads() == 1,
        };
        let descending = choices.descending;
        LayoutSort { layout, budget, descending, gather, longest: AtomicUsize::new(0), ledger }
    }

    /// The number of the first item out of order.
    fn check(&self, inputs: Vec<Input>) -> Result<Option<u64>, Error> {
        let mut feed = Feed { inputs: Inputs::new(inputs), rest: Vec::new() };
        let is_wrong = |before: &[u8], key: &[u8]| {
            let order = if self.descending { key.cmp(before) } else { before.cmp(key) };
            order.is_gt() || order.is_eq() && self.gather.unique
        };
        let mut stretch = Stretch::default();
        let (mut last, mut passed) = (None::<Vec<u8>>, 0);
        loop {
            let ended = self.fill(&mut stretch, &mut feed, Share { runners: 1, wait: &|| () })?;
            for item in stretch.items()? {
                passed += 1;
                if last.as_ref().is_some_and(|last| is_wrong(last, item.key)) {
                    return Ok(Some(passed));
                }
                let last = last.get_or_insert_default();
                last.clear();
                append(last, item.key)?;
            }
            if ended {
                return Ok(None);
            }
        }
    }
}

/// The inputs as one stream.
struct Feed {
    inputs: Inputs<Opened>,
    /// The start of an item that was read.
    rest: Vec<u8>,
}

/// An input whose header was read.
struct Opened {
    header: Vec<u8>,
    items: Box<dyn Read + Send>,
}

impl Opened {
    fn new(layout: &(impl Layout + ?Sized), input: &Input) -> Result<Opened, Error> {
        let mut content = match layout.terminator() {
            Some(_) => input.read_text(),
            None => input.read_raw(),
        }?;
        let mut header = Vec::new();
        let mut ended = false;
        loop {
            let end = layout.header(&header).or(ended.then_some(header.len()));
            if let Some(end) = end {
                let rest = header.split_off(end);
                return Ok(Opened { header, items: Box::new(Cursor::new(rest).chain(content)) });
            }
            let read = Read::by_ref(&mut content).take(PIECE).read_to_end(&mut header);
            ended = read.map_err(Error::file("read", input.name()))? == 0;
        }
    }
}

/// Whole items and their keys.
#[derive(Default)]
struct Stretch {
    text: Vec<u8>,
    ends: Vec<usize>,
    keys: Vec<u8>,
    key_ends: Vec<usize>,
}

impl Stretch {
    fn clear(&mut self) {
        self.text.clear();
        self.keys.clear();
        self.ends.clear();
        self.key_ends.clear();
    }

    /// The bytes of the whole items.
    fn whole(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Finds the items in the text after those that are known.
    fn cut(&mut self, layout: &(impl Layout + ?Sized)) -> Result<(), String> {
        let mut start = self.whole();
        while start < self.text.len()
            && let Some(bytes) = layout.first(&self.text[start..])?
        {
            layout.key(&self.text[start..start + bytes], &mut self.keys);
            start += bytes;
            self.ends.push(start);
            self.key_ends.push(self.keys.len());
        }
        Ok(())
    }

    /// The memory that the stretch and its sort take if each of `runners` runners holds such a stretch.
    fn cost(&self, runners: u64) -> u64 {
        let held = (self.text.len() + self.keys.len()) as u64;
        runners * held + runners.min(2) * self.ends.len() as u64 * ITEM
    }

    fn items(&self) -> Result<Vec<Keyed<'_>>, Error> {
        let mut items = filled(self.ends.len(), Keyed { key: &[], bytes: &[] })?;
        let start = |ends: &[usize], index: usize| index.checked_sub(1).map_or(0, |before| ends[before]);
        items.par_iter_mut().with_min_len(1 << 14).enumerate().for_each(|(index, item)| {
            *item = Keyed {
                key: &self.keys[start(&self.key_ends, index)..self.key_ends[index]],
                bytes: &self.text[start(&self.ends, index)..self.ends[index]],
            };
        });
        Ok(items)
    }
}

impl<L: Layout + ?Sized> Format for LayoutSort<'_, L> {
    type Feed = Feed;
    type Stretch = Stretch;

    const RUNS_AT_ONCE: usize = 64;

    fn fill(&self, stretch: &mut Stretch, feed: &mut Feed, share: Share<'_>) -> Result<bool, Error> {
        let start = Instant::now();
        stretch.clear();
        append(&mut stretch.text, &std::mem::take(&mut feed.rest))?;
        let mut runners = share.runners as u64;
        let ended = loop {
            let opened = feed.inputs.current(|input| Opened::new(self.layout, input))?;
            let Some((input, Opened { items: content, .. })) = opened else { break true };
            // A long item is searched again only after it has grown by half.
            let begun = (stretch.text.len() - stretch.whole()) as u64;
            let piece = (self.budget / 16).min(PIECE).max(begun / 2);
            stretch.text.try_reserve(piece as usize).map_err(|_| Error::Memory(piece))?;
            let read = content.take(piece).read_to_end(&mut stretch.text);
            let read = read.map_err(Error::file("read", input.name()))? as u64;
            self.ledger.progress.advance(read);
            let has_ended = read < piece;
            if let Some(terminator) = self.layout.terminator()
                && has_ended
                && stretch.text.len() > stretch.whole()
                && stretch.text.last() != Some(&terminator)
            {
                stretch.text.push(terminator);
            }
            let wrong = |problem| Error::invalid(format!("{}: {problem}", quote::name(input.name())));
            stretch.cut(self.layout).map_err(wrong)?;
            if has_ended {
                if stretch.whole() < stretch.text.len() {
                    return Err(wrong("the last item is cut short".into()));
                }
                feed.inputs.close();
            }
            if stretch.ends.is_empty() && runners > 1 && stretch.cost(runners) >= self.budget {
                share.exceed();
                runners = 1;
            }
            if !stretch.ends.is_empty() && stretch.cost(runners) >= self.budget {
                append(&mut feed.rest, &stretch.text[stretch.whole()..])?;
                stretch.text.truncate(stretch.whole());
                break feed.rest.is_empty() && feed.inputs.is_at_end();
            }
        };
        self.ledger.note("read", start.elapsed(), stretch.text.len(), 0);
        Ok(ended)
    }

    fn sort(
        &self,
        stretch: &mut Stretch,
        then: impl FnOnce(Sorted<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut items = stretch.items()?;
        let sorter = Sorter::builder().descending(self.descending).build()?;
        self.ledger.absorb(sorter.sort_strings(&mut items)?);
        let longest = items.iter().map(|item| item.bytes.len()).max().unwrap_or(0);
        let longest = self.longest.fetch_max(longest, Relaxed).max(longest);
        let bytes = stretch.text.len();
        let write =
            |sink: Sink<'_>| self.ledger.timed("write", bytes, bytes, || self.gather.write(&items, sink));
        // Each run holds an item and its key.
        let at_once = (self.budget / 2 / longest.max(1) as u64) as usize;
        then(Sorted { bytes, at_once, write: &write })
    }

    fn merge(&self, runs: Vec<Part>, budget: u64, sink: Sink<'_>) -> Result<(), Error> {
        let share = (budget / 2 / runs.len() as u64).clamp(READ.0, READ.1) as usize;
        let open = |run| Ok(RunItems { run: Source::open(run, share)?, layout: self.layout, item: 0 });
        let runs: Vec<_> = runs.into_iter().map(open).collect::<Result<_, Error>>()?;
        let mut piece = room(MERGED)?;
        merge_cursors(runs, self, |item| {
            self.gather.put(&mut piece, MERGED, &item, sink)?;
            Ok(true)
        })?;
        sink(&piece)
    }
}

/// The items of a run.
struct RunItems<'a, L: ?Sized> {
    run: Source,
    layout: &'a L,
    /// The bytes of the current item.
    item: usize,
}

impl<L: Layout + ?Sized> RunItems<'_, L> {
    /// The bytes of the first item that was read. It was whole when the run was written.
    fn first(&self) -> Option<usize> {
        let rest = self.run.rest();
        if rest.is_empty() { None } else { self.layout.first(rest).ok().flatten() }
    }
}

impl<L: Layout + ?Sized> merge::Cursor for RunItems<'_, L> {
    fn advance(&mut self) -> Result<bool, Error> {
        self.run.take(self.item);
        if self.first().is_none() {
            let layout = self.layout;
            self.run.load(|rest| !rest.is_empty() && matches!(layout.first(rest), Ok(Some(_))))?;
        }
        let next = self.first();
        self.item = next.unwrap_or(0);
        Ok(next.is_some())
    }

    fn item(&self) -> &[u8] {
        &self.run.rest()[..self.item]
    }
}

impl<L: Layout + ?Sized> Order for LayoutSort<'_, L> {
    type Key = Vec<u8>;

    fn read_key(&self, item: &[u8], key: &mut Vec<u8>) -> Result<(), Error> {
        key.clear();
        self.layout.key(item, key);
        Ok(())
    }

    fn compare_keys(&self, (_, a): (&[u8], &Vec<u8>), (_, b): (&[u8], &Vec<u8>)) -> Ordering {
        if self.descending { b.cmp(a) } else { a.cmp(b) }
    }

    fn is_unique(&self) -> bool {
        self.gather.unique
    }
}
