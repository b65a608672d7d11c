//! `sortie sort --format` with the formats of layouts: the crate `sortie-files` sorts, merges or checks their records.

use sortie_files::formats::{Choices, Disorder, check_layout, merge_layout, sort_layout};
use sortie_files::{Input, quote};

use crate::cli::{Check, LayoutJob};
use crate::failure::Failure;
use crate::{inputs, memory, stats, threads};

/// Sorts, merges or checks records as the command line says.
pub fn run(args: &LayoutJob) -> Result<(), Failure> {
    let inputs = inputs::all(&args.sources)?;
    let layout = &*args.layout.0;
    let bytes = inputs.iter().map(Input::raw_size).sum::<Option<u64>>();
    let resources = &args.resources;
    threads::start(resources.parallel, bytes)?;
    memory::hold_back(resources.buffer_size);
    let choices = Choices {
        descending: args.descending,
        unique: args.unique,
        memory: resources.buffer_size.map(memory::bytes),
        temporary: args.temporary.clone(),
        compression: args.compress,
        progress: Some(stats::progress()),
        ..Choices::default()
    };
    let output = args.output.as_deref();
    let report = match args.sources.check {
        None if args.merge => merge_layout(layout, inputs, output, &choices)?,
        None => sort_layout(layout, inputs, output, &choices)?,
        Some(how) => {
            let [input] = <[Input; 1]>::try_from(inputs).expect("a check has one input");
            let name = quote::name(input.name());
            let (disorder, report) = check_layout(layout, input, &choices)?;
            if let Some(Disorder { number, .. }) = disorder {
                let said = format!("{name}:{number}: disorder: record {number}\n");
                let is_told = how == Check::DiagnoseFirst;
                return Err(Failure::Disorder(if is_told { said.into() } else { Vec::new() }));
            }
            report
        }
    };
    // Removes the progress bar.
    drop(choices);
    stats::print(&report, resources.stats)
}
