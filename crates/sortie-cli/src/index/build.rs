//! `sortie index build`.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::json;
use sortie_index::{Builder, Summary};

use super::on_one_line;
use crate::cli::{BuildArgs, Pipeline, StatsFormat};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{memory, threads};

pub fn run(args: &BuildArgs) -> Result<(), Failure> {
    let threads = threads::of_use(args.parallel, None);
    memory::hold_back(args.buffer_size);
    let builder = Builder::default()
        .pipeline(match args.pipeline {
            Pipeline::Auto => sortie_index::Pipeline::Auto,
            Pipeline::Cpu => sortie_index::Pipeline::Cpu,
            Pipeline::Gpu => sortie_index::Pipeline::Gpu,
            Pipeline::GpuOverlapped => sortie_index::Pipeline::GpuOverlapped,
        })
        .threads(threads)
        .memory_limit(memory::budget(args.buffer_size, None, || threads))
        .strict(args.strict);
    let progress = Progress::start();
    progress.stage("indexing", 0);
    let summary = builder.build(&args.inputs, &args.output, |skipped| {
        progress.above(|| crate::complain(format!("{}\n", on_one_line(&skipped.to_string())).as_bytes()));
    })?;
    drop(progress);
    if summary.skipped > 0 {
        let each = if summary.skipped == 1 { "document was" } else { "documents were" };
        crate::complain(format!("{} {each} left out\n", summary.skipped).as_bytes());
    }
    if summary.counts.documents == 0 {
        crate::complain(b"no documents were found: the index is empty\n");
    }
    match args.stats {
        Some(format) => print(&summary, threads, format),
        None => Ok(()),
    }
}

/// What was built and how, on standard error.
fn print(summary: &Summary, threads: usize, format: StatsFormat) -> Result<(), Failure> {
    let Summary { counts, times, .. } = summary;
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let phases = [
        ("parse", times.parse),
        ("sort", times.sort),
        ("write", times.write),
        ("merge", times.merge),
        ("all", times.all),
    ];
    let text = match format {
        StatsFormat::Table => {
            let mut text = String::new();
            for (name, time) in phases {
                text += &format!("{name:<6} {:>12.1} ms\n", milliseconds(time));
            }
            let sorted = if summary.on_gpu { "a GPU" } else { "the CPU" };
            text + &format!(
                "{} documents, {} terms, {} postings, {} words; {} runs of {} bytes, sorted on {sorted}; {threads} threads; \
                 the index has {} bytes",
                counts.documents,
                counts.terms,
                counts.postings,
                counts.words,
                summary.runs,
                summary.run_bytes,
                summary.index_bytes,
            )
        }
        StatsFormat::Json => {
            let milliseconds: serde_json::Map<_, _> =
                phases.iter().map(|&(name, time)| (name.to_owned(), json!(milliseconds(time)))).collect();
            json!({
                "milliseconds": milliseconds,
                "documents": counts.documents,
                "terms": counts.terms,
                "postings": counts.postings,
                "words": counts.words,
                "skipped": summary.skipped,
                "runs": summary.runs,
                "run_bytes": summary.run_bytes,
                "index_bytes": summary.index_bytes,
                "on_gpu": summary.on_gpu,
                "threads": threads,
            })
            .to_string()
        }
    };
    writeln!(io::stderr().lock(), "{text}").map_err(Failure::file("write", "standard error".as_ref()))
}
