//! `sortie sort --record-size`: sorts records of one length by some of their bytes.

use std::path::Path;

use sortie_files::compression::Compression;
use sortie_files::formats::{RecordFeed, Records};
use sortie_files::memory::{filled, window};
use sortie_files::{Input, Items, Task, quote, sort_items};

use crate::cli::{Check, FixedJob};
use crate::failure::Failure;
use crate::{devices, explain, inputs, memory, stats, threads};

/// The bytes of records that are checked at a time.
const CHECKED: usize = 4 << 20;

/// Sorts or checks records as the command line says.
pub fn run(args: &FixedJob) -> Result<(), Failure> {
    let compression = Compression::of(args.compress, args.output.as_deref(), false)?;
    let (inputs, size) = (inputs::all(&args.sources)?, args.size);
    let bytes = inputs.iter().map(Input::raw_size).sum::<Option<u64>>();
    let resources = &args.resources;
    threads::start(resources.parallel, bytes)?;
    let ledger = stats::open();
    let budget = memory::budget(resources.buffer_size, bytes, rayon::current_num_threads);
    let records = Records {
        size: size.get(),
        window: window(budget, bytes),
        keys: args.keys.clone(),
        descending: args.descending,
        unique: args.unique,
        engine: resources.engine,
    };
    devices::may_be_chosen(resources.engine, resources.buffer_size);
    if resources.explain {
        let bytes = bytes.ok_or_else(explain::unknown_size)?;
        let (all, most) = (bytes as usize / size, budget as usize / (size.get() + records.beside()));
        let (count, parts) = if all > most { (most, explain::IN_RUNS) } else { (all, "") };
        let records_at_a_time = explain::counted(count, "record", "records");
        return explain::print(&format!("{records_at_a_time} at a time{parts}"), &records.plan(count)?);
    }
    let name = inputs[0].name().to_owned();
    let mut feed = RecordFeed::new(inputs, size.get(), &ledger);
    match args.sources.check {
        Some(how) => check(&records, &mut feed, &name, how)?,
        None => {
            memory::hold_back(resources.buffer_size);
            let task = Task::new(&args.temporary, budget, &ledger);
            task.publish(args.output.as_deref(), compression, |sink| {
                sort_items(&records, &task, &mut |items| feed.fill(items), bytes, sink)
            })?;
        }
    }
    stats::close(ledger, resources.stats)
}

/// Fails with the first record that is out of order.
fn check(records: &Records, feed: &mut RecordFeed<'_>, input: &Path, how: Check) -> Result<(), Failure> {
    let size = records.size;
    // The last record of the stretch before, and the records that follow it.
    let mut stretch = filled((1 + CHECKED.div_ceil(size)) * size, 0)?;
    let (mut held, mut passed) = (0, 0);
    loop {
        let filled = held + feed.fill(&mut stretch[held..])?;
        let pairs = stretch[..filled].windows(2 * size).step_by(size);
        let is_wrong = |pair: &[u8]| {
            let order = records.compare(&pair[..size], &pair[size..]);
            order.is_gt() || order.is_eq() && records.unique
        };
        if let Some(place) = pairs.into_iter().position(is_wrong) {
            let mut message = String::new();
            if how == Check::DiagnoseFirst {
                let number = passed + place as u64 + 2;
                message = format!("{}:{number}: disorder: record {number}\n", quote::name(input));
            }
            return Err(Failure::Disorder(message.into()));
        }
        if filled < stretch.len() {
            return Ok(());
        }
        stretch.copy_within(filled - size.., 0);
        passed += (filled / size - 1) as u64;
        held = size;
    }
}
