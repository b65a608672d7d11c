//! Items of any length that follow each other in their files. A [`Layout`] says where an item ends and what its key is.

mod duplicates;
mod feed;
mod kept;
mod merged;
mod stretch;

use std::cmp::Ordering;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use sortie::{Report, Sorter};

use super::Choices;
use crate::compression::{Asked, Way};
use crate::memory::{self, append, room, window};
use crate::merge::{Order, merge_cursors};
use crate::run::Part;
use crate::{Error, Format, Gather, Input, Keyed, Ledger, Share, Sink, Sorted, Task};
use duplicates::Duplicates;
use feed::{BYTE_ORDER_MARK, Feed, Opened, end_last, wrong};
pub use kept::Keep;
use kept::Kept;
use merged::PartItems;
use stretch::{Stretch, Wrong};

/// The least and the most bytes of an input to read at a time, if they are not more than a 16th of the memory. All threads divide the
/// items of a piece.
const PIECE: (u64, u64) = (256 << 10, 1 << 20);
/// The bytes of merged items that are passed on at a time.
const MERGED: usize = 256 << 10;
/// The memory for items that are checked at a time.
const CHECKED: u64 = 4 << 20;
/// The smallest and the largest buffer of a run in a merge. It grows if an item is longer.
const READ: (u64, u64) = (16 << 10, 4 << 20);

/// Whether files of a format are compressed in the blocks of BGZF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bgzf {
    No,
    /// Outputs whose names end in `.gz` are.
    Named,
    /// All files are, whatever their names, unless something else is asked for.
    Always,
}

/// Where an item ends, and what its key is.
pub trait Layout: Sync {
    /// The number of bytes of the first item of `bytes`, which is not empty. `None` if its end is not in `bytes`.
    ///
    /// # Errors
    /// A description of the defect, before which the caller puts the name of the file.
    fn first(&self, bytes: &[u8]) -> Result<Option<usize>, String>;

    /// Appends the key of an item: bytes that compare as the items are to be sorted. It must not panic, so a layout with parameters
    /// checks them when it is made. Called once for each item of the inputs, by all threads.
    ///
    /// # Errors
    /// What is wrong with the item. The caller puts the name of the file and the line before it.
    fn key(&self, item: &[u8], key: &mut Vec<u8>) -> Result<(), String>;

    /// The same for an item that [`Layout::key`] has accepted.
    fn key_again(&self, item: &[u8], key: &mut Vec<u8>) {
        let known = self.key(item, key);
        debug_assert!(known.is_ok(), "it was accepted before");
    }

    /// Whether [`Choices::unique`] compares less than whole keys, or not all items.
    fn has_groups(&self) -> bool {
        false
    }

    /// Appends what [`Choices::unique`] compares of an item that [`Layout::key`] has accepted. Items that are equal in it must follow
    /// each other in the order of their keys.
    fn group(&self, item: &[u8], key: &mut Vec<u8>) {
        self.key_again(item, key);
    }

    /// Whether [`Choices::unique`] leaves an item alone.
    fn is_comment(&self, _item: &[u8]) -> bool {
        false
    }

    /// The bytes that end an item of text, such as a line feed. They are added to the last item of a file if it lacks the last of them.
    /// An input that is not text is then refused, and one that is compressed is recognised by its content, not by its name only.
    fn ending(&self) -> Option<&'static [u8]> {
        None
    }

    /// Whether files are compressed in blocks. An input in blocks is then refused if its last block is missing.
    fn bgzf(&self) -> Bgzf {
        Bgzf::No
    }

    /// The bytes before the first item of an input that begins with `bytes`, or `None` if more bytes are needed to tell. `is_all` says
    /// that there are no more. Those of the first input that is not empty come first in the output. Called for one input after the
    /// other, before their items are looked at.
    ///
    /// # Errors
    /// What is wrong with the input. The caller puts the name of the file before it.
    fn header(&self, _bytes: &[u8], _is_all: bool) -> Result<Option<usize>, String> {
        Ok(Some(0))
    }

    /// Whether items are written otherwise than they are read.
    fn rewrites(&self) -> bool {
        false
    }

    /// Appends an item as it is written. `count` is the number of items with its key if only one of them is kept, else 1.
    ///
    /// # Errors
    /// If there is no memory for it.
    fn write(&self, item: &[u8], _count: u64, out: &mut Vec<u8>) -> Result<(), Error> {
        append(out, item)
    }

    /// Appends a header, as [`Layout::header`] has found it, as it is written.
    ///
    /// # Errors
    /// If there is no memory for it.
    fn write_header(&self, header: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        append(out, header)
    }

    /// The part of a later input's header that follows the header of the first input in the output.
    fn kept_of_header(&self, _header: &[u8]) -> Vec<u8> {
        Vec::new()
    }

    /// What is wrong with a last item whose end is missing.
    fn unfinished(&self) -> &'static str {
        "the last item is cut short"
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
    run(layout, inputs, output, choices, |sort, inputs, size, task, sink| {
        task.sort(sort, Feed::new(inputs), size, sink)
    })
}

/// Merges inputs of text that are each in order into the file `output`, or standard output. See [`sort_layout`].
///
/// # Errors
/// As that function. That an input is not in order is no error: then the output is not in order either.
pub fn merge_layout<L: Layout + ?Sized>(
    layout: &L,
    inputs: Vec<Input>,
    output: Option<&Path>,
    choices: &Choices,
) -> Result<Report, Error> {
    run(layout, inputs, output, choices, |sort, inputs, size, task, sink| {
        sort.ledger.progress.stage("merging", size.unwrap_or(0));
        let merge = |parts, budget, sink: Sink<'_>| sort.merge(parts, budget, sink);
        let mut parts = task.parts(<LayoutSort<'_, L> as Format>::RUNS_AT_ONCE, &merge);
        parts.add_inputs(inputs);
        parts.merge(sink)
    })
}

fn run<L: Layout + ?Sized>(
    layout: &L,
    inputs: Vec<Input>,
    output: Option<&Path>,
    choices: &Choices,
    work: impl FnOnce(&LayoutSort<'_, L>, Vec<Input>, Option<u64>, &Task<'_>, Sink<'_>) -> Result<(), Error>,
) -> Result<Report, Error> {
    let inputs = inputs.into_iter().map(|input| examined(layout, input)).collect::<Result<Vec<_>, _>>()?;
    let is_text = layout.ending().is_some();
    let size = inputs.iter().map(if is_text { Input::size } else { Input::raw_size }).sum::<Option<u64>>();
    let bgzf = layout.bgzf();
    if let (Bgzf::Always, Some(Asked::Compressed(how))) = (bgzf, choices.compression)
        && !matches!(how.way, Way::Gzip | Way::Bgzf)
    {
        return Err(Error::invalid("this format is compressed in blocks (bgzf), or not at all (none)"));
    }
    let compression = choices.compression.or((bgzf == Bgzf::Always).then(Asked::blocks));
    let choices = &Choices { compression, ..choices.clone() };
    choices.publish(output, size, bgzf != Bgzf::No, |task, sink| {
        let sort = LayoutSort::new(layout, task.budget, choices, size, task.ledger);
        let mut others = Duplicates::open(choices.duplicates.as_deref(), output, task)?;
        sort.write(choices, sink, others.as_mut(), |sink| work(&sort, inputs, size, task, sink))?;
        task.ledger.may_publish()?;
        others.map_or(Ok(()), Duplicates::finish)
    })
}

/// The input as the layout reads it.
///
/// # Errors
/// If it is seen at once that it has another format.
fn examined<L: Layout + ?Sized>(layout: &L, input: Input) -> Result<Input, Error> {
    let bgzf = layout.bgzf();
    let input = if bgzf == Bgzf::Always { input.in_blocks() } else { input };
    if bgzf != Bgzf::No {
        input.refuse_missing_blocks()?;
    }
    if layout.ending().is_some() {
        input.examine()?;
    }
    Ok(input)
}

/// Reads the header of the first input that is not empty, as a sort would.
///
/// # Errors
/// If the input cannot be read, or its header is refused.
pub fn open_layout<L: Layout + ?Sized>(layout: &L, inputs: &[Input]) -> Result<(), Error> {
    for input in inputs {
        if !Opened::input(layout, input)?.is_empty {
            break;
        }
    }
    Ok(())
}

/// An item that is out of order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disorder {
    /// The number of the item, from 1.
    pub number: u64,
    /// The number of the line in which it begins, from 1.
    pub line: u64,
    pub bytes: Vec<u8>,
}

/// The first item of `input` that is out of order, if there is one. With [`Choices::unique`], an item with the key of the one before is
/// out of order too. Also returns a report.
///
/// # Errors
/// As [`sort_layout`].
pub fn check_layout<L: Layout + ?Sized>(
    layout: &L,
    input: Input,
    choices: &Choices,
) -> Result<(Option<Disorder>, Report), Error> {
    let input = examined(layout, input)?;
    let ledger = choices.ledger();
    let budget = memory::budget(choices.memory, input.stored(), rayon::current_num_threads).min(CHECKED);
    let disorder = LayoutSort::new(layout, budget, choices, None, &ledger).check(input, choices.unique)?;
    Ok((disorder, ledger.close()))
}

/// A layout as a format.
struct LayoutSort<'a, L: ?Sized> {
    layout: &'a L,
    /// Bytes of memory for the items and their sort.
    budget: u64,
    descending: bool,
    gather: Gather,
    /// The number of items that are written, if that can be told before the last merge.
    top: Option<usize>,
    /// See [`LayoutSort::see`].
    header: Mutex<Option<Vec<u8>>>,
    /// Whether what is written are other bytes than those of the items. [`LayoutSort::write`] counts them.
    is_rewritten: AtomicBool,
    /// The bytes of the longest item so far.
    longest: AtomicUsize,
    ledger: &'a Ledger,
}

impl<'a, L: Layout + ?Sized> LayoutSort<'a, L> {
    fn new(layout: &'a L, budget: u64, choices: &Choices, size: Option<u64>, ledger: &'a Ledger) -> Self {
        let is_grouped = is_grouped(layout, choices);
        let window = window(budget, size);
        let gather = Gather {
            window,
            terminator: None,
            unique: choices.unique && !is_grouped,
            whole: is_grouped || layout.rewrites(),
            alone: rayon::current_num_threads() == 1,
        };
        let top = choices.top.filter(|_| !is_grouped).map(|top| usize::try_from(top).unwrap_or(usize::MAX));
        LayoutSort {
            layout,
            // A window is written while the next one is filled.
            budget: budget.saturating_sub(2 * window as u64).max(budget / 2),
            descending: choices.descending,
            gather,
            top,
            header: Mutex::default(),
            is_rewritten: AtomicBool::new(false),
            longest: AtomicUsize::new(0),
            ledger,
        }
    }

    /// Writes the header, and those of the sorted items that are chosen. `others` gets the header and what is left out as equal.
    fn write(
        &self,
        choices: &Choices,
        sink: Sink<'_>,
        others: Option<&mut Duplicates>,
        sort: impl FnOnce(Sink<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut has_begun = false;
        let mut put = |bytes: &[u8]| {
            if !std::mem::replace(&mut has_begun, true) {
                let mut header = Vec::new();
                self.layout.write_header(&self.header(), &mut header)?;
                sink(&header)?;
            }
            sink(bytes)
        };
        if !self.gather.whole {
            sort(&mut put)?;
            return put(&[]);
        }
        let mut put_other = others.map(|others| |bytes: &[u8]| others.put(|| self.header(), bytes));
        let keep = is_grouped(self.layout, choices).then_some(choices.keep);
        let most = choices.top.filter(|_| keep.is_some());
        let mut kept = Kept::new(self.layout, keep, most, put_other.as_mut().map(|put| put as Sink<'_>));
        let mut written = 0;
        let mut put = |bytes: &[u8]| {
            written += bytes.len();
            self.is_rewritten.store(true, Relaxed);
            put(bytes)
        };
        sort(&mut |piece| kept.take(piece, &mut put))?;
        kept.end(&mut put)?;
        self.ledger.note("write", Duration::ZERO, 0, written);
        Ok(())
    }

    /// The first item out of order.
    fn check(&self, input: Input, unique: bool) -> Result<Option<Disorder>, Error> {
        let mut feed = Feed::new(vec![input]);
        let mut stretch = Stretch::default();
        let (mut last, mut number, mut line) = (None::<(Vec<u8>, Vec<u8>)>, 0, None);
        loop {
            let ended = self.fill(&mut stretch, &mut feed, Share { runners: 1, wait: &|| () })?;
            let line = line.get_or_insert(1 + lines(&self.header()));
            for item in stretch.items()? {
                number += 1;
                let unique = unique && !self.layout.is_comment(item.bytes);
                let mut group = Vec::new();
                if unique {
                    self.layout.group(item.bytes, &mut group);
                }
                if let Some((key, other)) = &last
                    && (self.compare(key, item.key).is_gt() || unique && *other == group)
                {
                    return Ok(Some(Disorder { number, line: *line, bytes: item.bytes.to_vec() }));
                }
                let (key, other) = last.get_or_insert_default();
                key.clear();
                append(key, item.key)?;
                *other = group;
                *line += lines(item.bytes);
            }
            if ended {
                return Ok(None);
            }
        }
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.descending { b.cmp(a) } else { a.cmp(b) }
    }

    /// Leaves only the items that can be among those that are written.
    fn select(&self, items: &mut Vec<Keyed<'_, '_>>) {
        if let Some(top) = self.top
            && !self.gather.unique
            && (1..items.len()).contains(&top)
        {
            // Their addresses are in the order of the input.
            items.select_nth_unstable_by(top - 1, |a, b| {
                self.compare(a.key, b.key).then_with(|| a.bytes.as_ptr().cmp(&b.bytes.as_ptr()))
            });
            items.truncate(top);
            items.sort_unstable_by_key(|item| item.bytes.as_ptr());
        }
    }

    /// Keeps the header of the next input that is not empty: of the first that has one, all, and of others what the layout keeps.
    fn see(&self, header: Vec<u8>) {
        let mut kept = self.header.lock().expect("nothing panics while it is locked");
        let Some(kept) = &mut *kept else {
            *kept = Some(header);
            return;
        };
        let header = header.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&header);
        if kept.is_empty() || *kept == BYTE_ORDER_MARK {
            kept.extend_from_slice(header);
        } else {
            kept.extend(self.layout.kept_of_header(header));
        }
    }

    fn header(&self) -> Vec<u8> {
        self.header.lock().expect("nothing panics while it is locked").clone().unwrap_or_default()
    }
}

/// Whether items are left out as equal after the last merge, rather than as soon as they are met.
fn is_grouped<L: Layout + ?Sized>(layout: &L, choices: &Choices) -> bool {
    let needs_all = choices.keep != Keep::First || choices.duplicates.is_some();
    choices.unique && (needs_all || layout.has_groups() || layout.rewrites())
}

fn lines(text: &[u8]) -> u64 {
    sortie_formats::lines::count(text, b'\n') as u64
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
        let piece = (self.budget / 256).clamp(PIECE.0, PIECE.1).min(self.budget / 16);
        // A piece is read ahead.
        let budget = self.budget - piece;
        let ended = loop {
            let opened = feed.inputs.current(|input| {
                let mut opened = Opened::input(self.layout, input)?;
                if !opened.is_empty {
                    self.see(std::mem::take(&mut opened.header));
                }
                Ok(opened)
            })?;
            let Some((input, opened)) = opened else { break true };
            // A long item is searched again only after it has grown by half.
            let begun = (stretch.text.len() - stretch.whole()) as u64;
            let length = stretch.text.len();
            let is_last = match feed.ahead.take() {
                Some(read) => {
                    let (bytes, is_last) = read?;
                    append(&mut stretch.text, &bytes)?;
                    is_last
                }
                None => opened.read(piece.max(begun / 2), input.name(), &mut stretch.text)?,
            };
            self.ledger.progress.advance((stretch.text.len() - length) as u64);
            if is_last && stretch.text.len() > stretch.whole() {
                end_last(self.layout, &mut stretch.text);
            }
            let before = stretch.whole();
            let is_text = self.layout.ending().is_some();
            let wrong_at = |lines_before: u64, stretch: &Stretch, start: usize, problem: &str| {
                let line = is_text.then(|| lines_before + lines(&stretch.text[before..start]) + 1);
                wrong(input.name(), line, problem)
            };
            let keyed = stretch.cut(self.layout).and_then(|known| {
                let begun = (stretch.text.len() - stretch.whole()) as u64;
                let is_next = !is_last && begun / 2 <= piece;
                let read_ahead = || {
                    let mut bytes = Vec::new();
                    let is_last = opened.read(piece, input.name(), &mut bytes)?;
                    Ok((bytes, is_last))
                };
                let find_keys = || stretch.find_keys(known, self.layout);
                let (keyed, ahead) = rayon::join(find_keys, || is_next.then(read_ahead));
                feed.ahead = ahead;
                keyed
            });
            keyed.map_err(|Wrong { start, problem }| wrong_at(opened.lines, stretch, start, &problem))?;
            let whole = stretch.whole();
            if is_last {
                if whole < stretch.text.len() {
                    return Err(wrong_at(opened.lines, stretch, whole, self.layout.unfinished()));
                }
                feed.inputs.close();
            } else if is_text {
                opened.lines += lines(&stretch.text[before..whole]);
            }
            if stretch.ends.is_empty() && runners > 1 && stretch.cost(runners) >= budget {
                share.exceed();
                runners = 1;
            }
            if !stretch.ends.is_empty() && stretch.cost(runners) >= budget {
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
        self.select(&mut items);
        let sorter = Sorter::builder().descending(self.descending).build()?;
        self.ledger.absorb(sorter.sort_strings(&mut items)?);
        if let Some(top) = self.top {
            if self.gather.unique {
                items.dedup_by(|a, b| a.key == b.key);
            }
            items.truncate(top);
        }
        let longest = items.iter().map(|item| item.bytes.len()).max().unwrap_or(0);
        let longest = self.longest.fetch_max(longest, Relaxed).max(longest);
        let bytes = if self.top.is_some() { self.gather.bytes(&items) } else { stretch.text.len() };
        let write = |sink: Sink<'_>| {
            let start = Instant::now();
            self.gather.write(&items, sink)?;
            let written = if self.is_rewritten.load(Relaxed) { 0 } else { bytes };
            self.ledger.note("write", start.elapsed(), bytes, written);
            Ok(())
        };
        // Each run holds an item and its key.
        let at_once = (self.budget / 2 / longest.max(1) as u64) as usize;
        then(Sorted { bytes, at_once, write: &write })
    }

    fn merge(&self, runs: Vec<Part>, budget: u64, sink: Sink<'_>) -> Result<(), Error> {
        let share = (budget / 2 / runs.len() as u64).clamp(READ.0, READ.1) as usize;
        let open = |run| PartItems::open(run, share, self.layout, |header| self.see(header));
        let runs: Vec<_> = runs.into_iter().map(open).collect::<Result<_, _>>()?;
        let mut piece = room(MERGED)?;
        let mut left = self.top.unwrap_or(usize::MAX);
        if left > 0 {
            merge_cursors(runs, self, |item| {
                self.gather.put(&mut piece, MERGED, &item, sink)?;
                left -= 1;
                Ok(left > 0)
            })?;
        }
        sink(&piece)
    }
}

impl<L: Layout + ?Sized> Order for LayoutSort<'_, L> {
    type Key = Vec<u8>;

    fn read_key(&self, item: &[u8], key: &mut Vec<u8>) -> Result<(), Error> {
        key.clear();
        self.layout.key_again(item, key);
        Ok(())
    }

    fn compare_keys(&self, (_, a): (&[u8], &Vec<u8>), (_, b): (&[u8], &Vec<u8>)) -> Ordering {
        self.compare(a, b)
    }

    fn is_unique(&self) -> bool {
        self.gather.unique
    }
}
