//! `sortie-bench`: runs workloads with several distributions and peers. Checks and reports every result.

mod args;
mod bars;
mod distributions;
mod docs;
mod grid;
mod keys;
mod measure;
mod measured;
mod report;
mod soak;
mod suite_batch;
mod suite_cpu_grid;
mod suite_device_strings;
mod suite_external;
mod suite_files;
mod suite_files_small;
mod suite_grid;
mod suite_host_strings;
mod suite_hybrid;
mod suite_index;
mod suite_large;
mod suite_locales;
mod suite_multi_gpu;
mod suite_papers;

use std::process::ExitCode;

use clap::Parser;
use serde::Serialize;

use crate::args::{Args, Suite};
use crate::report::{Outcome, curve, figures, json, plot, table};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("sortie-bench: a result was wrong, see WRONG above");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("sortie-bench: {error}");
            ExitCode::from(2)
        }
    }
}

/// Measures what was asked for. Returns whether every result was correct.
fn run(args: &Args) -> Result<bool> {
    let mut cases = match args.suite {
        Suite::Files => suite_files::cases(args)?,
        Suite::FilesSmall => suite_files_small::cases(args)?,
        Suite::Locales => suite_locales::cases(args)?,
        Suite::Batch => suite_batch::cases(args),
        Suite::Large => suite_large::cases(args),
        Suite::MultiGpu => suite_multi_gpu::cases(args),
        Suite::DeviceStrings => suite_device_strings::cases(args),
        Suite::HostStrings => suite_host_strings::cases(args),
        Suite::Hybrid => suite_hybrid::cases(args),
        Suite::External => suite_external::cases(args)?,
        Suite::Soak => return soak::run(args),
        Suite::CpuGrid => return suite_cpu_grid::run(args),
        Suite::Grid => return suite_grid::run(args),
        Suite::Index => suite_index::cases(args)?,
        Suite::Papers => suite_papers::cases(args),
        Suite::Docs => return docs::write().map(|()| true),
    };
    cases.retain_mut(|case| case.keep(&args.filter, &args.threads));

    if args.list {
        cases.iter().for_each(|case| println!("{}", case.describe()));
        return Ok(true);
    }
    let (mut rows, mut counts) = (Vec::new(), Vec::new());
    for case in &cases {
        match case.measure(args.reps.unwrap_or(case.reps()), args.seed)? {
            Outcome::Timed(measured) => {
                match args.sweep {
                    Some(_) => table::print_line(&measured),
                    None => table::print(&measured),
                }
                append(args, &measured)?;
                rows.extend(measured);
            }
            Outcome::Counted(counted) => {
                table::print_counts(&counted);
                append(args, &counted)?;
                counts.extend(counted);
            }
        }
    }
    if args.suite == Suite::Papers {
        print!("{}", suite_papers::tables(&rows, &counts));
    }
    if args.suite == Suite::Index {
        print!("{}", suite_index::table(&rows));
    }
    if let Some(path) = &args.plot {
        match (args.suite, args.sweep) {
            (Suite::Index, _) => figures::draw(path, &suite_index::figures(&rows))?,
            (Suite::Papers, _) => figures::draw(path, &suite_papers::figures(&rows, &counts))?,
            (_, Some(_)) => curve::draw(path, &rows)?,
            (_, None) => plot::draw(path, &rows)?,
        }
    }
    Ok(rows.iter().all(|row| row.verified) && counts.iter().all(|counted| counted.verified))
}

fn append(args: &Args, lines: &[impl Serialize]) -> Result<()> {
    args.json.as_ref().map_or(Ok(()), |path| json::append(path, lines))
}
