//! Sorts lines in memory: as the text of numbers, as lines, or as lines with encoded keys.

use std::time::Instant;

use sortie::plan::Plan;
use sortie::request::{Beside, KeyForm, Operation};

use super::alike::{self, Numbers};
use super::cost::SHORT;
use super::keyed::{encode, keyed, order_cut, order_equal};
use super::lines::Lines;
use super::sorter::{builder, sorter};
use super::stretch::PART;
use super::{LineSort, numbers};
use crate::{Error, Item, Keyed, Sink};

/// Up to this many lines of a [`SHORT`] text are compared by the C library sooner than the tables of its locale are read for encodings.
const FEW: usize = 64;

/// Lines in sorted order.
#[derive(Clone, Copy)]
pub enum Sorted<'a, 's> {
    Plain(&'s [&'a [u8]]),
    Keyed(&'s [Keyed<'a, 'a>]),
    Numbers(Numbers<'s>),
}

impl Sorted<'_, '_> {
    /// The bytes of the longest line.
    pub fn longest(self) -> usize {
        match self {
            Sorted::Plain(lines) => lines.iter().map(|line| line.len()).max(),
            Sorted::Keyed(items) => items.iter().map(|item| item.bytes.len()).max(),
            Sorted::Numbers(numbers) => Some(numbers.longest()),
        }
        .unwrap_or(0)
    }

    /// Writes the lines into `sink`.
    pub fn write(self, job: &LineSort<'_>, sink: Sink<'_>) -> Result<(), Error> {
        match self {
            Sorted::Plain(lines) => write(lines, job, sink),
            Sorted::Keyed(items) => write(items, job, sink),
            Sorted::Numbers(numbers) => {
                let (start, mut written) = (Instant::now(), 0);
                numbers.write(job, &mut |lines| {
                    written += lines.len();
                    sink(lines)
                })?;
                job.ledger.note("write", start.elapsed(), numbers.bytes(), written);
                Ok(())
            }
        }
    }
}

fn write<'a>(items: &[impl Item<'a>], job: &LineSort<'_>, sink: Sink<'_>) -> Result<(), Error> {
    let mut gather = job.gather();
    let bytes = gather.bytes(items);
    gather.alone |= gather.copied(items) < PART;
    job.ledger.timed("write", bytes, bytes, || gather.write(items, sink))
}

impl Lines<'_> {
    /// Sorts the lines, then passes them to `then`.
    pub fn sort(
        self,
        job: &LineSort<'_>,
        then: impl FnOnce(Sorted<'_, '_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let bytes = self.bytes();
        if let Some(descending) = job.order.number_line()
            && let Some((mut numbers, decimals)) =
                job.ledger.timed("parse", bytes, 0, || alike::read(&self, job))?
        {
            job.ledger.absorb(sorter(job, descending, numbers.len())?.sort(&mut numbers)?);
            if job.order.unique() {
                numbers.dedup();
            }
            return then(Sorted::Numbers(Numbers::new(&numbers, decimals)));
        }
        let mut lines = job.ledger.timed("split", bytes, 0, || self.split(job))?;
        if let Some(descending) = job.order.plain() {
            job.ledger.absorb(sorter(job, descending, lines.len())?.sort_strings(&mut lines)?);
            return then(Sorted::Plain(&lines));
        }
        if job.order.is_number() {
            numbers::sort(&mut lines, bytes, job)?;
            return then(Sorted::Plain(&lines));
        }
        if job.order.cut(0).is_some() && lines.len() <= FEW && bytes <= SHORT {
            lines.sort_by(|a, b| job.order.compare(a, b));
            if job.order.unique() {
                lines.dedup_by(|next, first| job.order.compare_keys(first, next).is_eq());
            }
            return then(Sorted::Plain(&lines));
        }
        let blocks = job.ledger.timed("encode", bytes, 0, || encode(&lines, 0, job))?;
        let mut items = keyed(&lines, &blocks)?;
        drop(lines);
        job.ledger.absorb(sorter(job, false, items.len())?.sort_strings(&mut items)?);
        if let Some(descending) = job.order.last_resort() {
            // This sort compares items, so it never uses a GPU.
            let sorter = builder(job, items.len()).descending(descending).build()?;
            job.ledger.timed("last resort", 0, 0, || order_equal(&mut items, descending, &sorter))?;
        }
        if let Some(cut) = job.order.cut(0) {
            job.ledger.timed("ties", 0, 0, || order_cut(&mut items, cut, job))?;
        }
        then(Sorted::Keyed(&items))
    }
}

/// Plans the sort of `lines` lines.
pub fn plan(job: &LineSort<'_>, lines: usize) -> Result<Plan, sortie::Error> {
    let sorter = sorter(job, job.order.plain().unwrap_or(false), lines)?;
    let is_keyed = job.order.plain().is_none() && !job.order.is_number();
    let item = if is_keyed { size_of::<Keyed<'_, '_>>() } else { size_of::<&[u8]>() };
    let keys = if job.order.is_number() { KeyForm::of::<u64>() } else { KeyForm::Strings };
    let beside = Beside::Payload { bytes: item, stable: true };
    sorter.explain(&sorter.request(Operation::Array, keys, beside, lines))
}
