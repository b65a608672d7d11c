//! `sortie index build`.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::json;
use sortie_files::Progress as _;
use sortie_files::threads::of_use;
use sortie_index::{Builder, Summary};

use super::{list, on_one_line, signals};
use crate::cli::{BuildArgs, Pipeline, StatsFormat};
use crate::failure::Failure;
use crate::memory;
use crate::progress::Progress;

pub fn run(args: &BuildArgs) -> Result<(), Failure> {
    for input in &args.inputs {
        // Checks that the inputs exist before the first one is read, because reading it may take hours.
        input.metadata().map_err(Failure::file("read", input))?;
    }
    let threads = of_use(args.parallel, None);
    memory::hold_back(args.buffer_size);
    let progress = Progress::start();
    progress.stage("indexing", 0);
    let builder = Builder::default()
        .pipeline(match args.pipeline {
            Pipeline::Auto => sortie_index::Pipeline::Auto,
            Pipeline::Cpu => sortie_index::Pipeline::Cpu,
            Pipeline::Gpu => sortie_index::Pipeline::Gpu,
            Pipeline::GpuOverlapped => sortie_index::Pipeline::GpuOverlapped,
        })
        .threads(threads)
        .memory_limit(memory::budget(args.buffer_size, None, || threads))
        .strict(args.strict)
        .extensions(&args.extensions)
        .all_text(args.all_text)
        .progress(progress.counter());
    let listed = args.files_from.as_deref().map(list::names).transpose()?;
    let inputs = args.inputs.iter().cloned().map(Ok).chain(listed.into_iter().flatten());
    let prepared = builder.prepare(inputs, &args.output, |skipped| {
        progress.above(|| crate::complain(format!("{}\n", on_one_line(&skipped.to_string())).as_bytes()));
    })?;
    let summary = signals::ignored_during(|| prepared.publish())?;
    drop(progress);
    // With `--stats=json`, the report includes all of this.
    if args.stats != Some(StatsFormat::Json) {
        crate::remark(format!("{}\n", line(&summary)).as_bytes());
    }
    if let Some(format) = args.stats {
        print(&summary, threads, format)?;
    }
    if summary.is_partial() || summary.counts.documents == 0 { Err(Failure::Partial) } else { Ok(()) }
}

/// One line that says what was indexed, and what was not and why.
fn line(summary: &Summary) -> String {
    let Summary { passed_over, .. } = summary;
    let counted = |counts: &[(u64, &str)]| {
        let counted = counts.iter().filter(|(count, _)| *count > 0);
        counted.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
    };
    let indexed = format!("{} of {} bytes", documents(summary.counts.documents), summary.text_bytes);
    let parts = [
        ("indexed ", indexed),
        (
            "skipped ",
            counted(&[
                (summary.defective, "defective"),
                (summary.vanished, "gone before they were read"),
                (summary.unmatched, "without documents"),
            ]),
        ),
        (
            "passed over ",
            counted(&[
                (passed_over.other, "of other kinds (see --ext and --all-text)"),
                (passed_over.hidden, "hidden"),
                (passed_over.repeated, "already indexed"),
            ]),
        ),
        ("left out ", counted(&[(summary.long_words, "words over 255 bytes")])),
        ("", counted(&[(summary.repeated_names, "repeated ids")])),
    ];
    let said = parts.iter().filter(|(_, what)| !what.is_empty());
    said.map(|(how, what)| format!("{how}{what}")).collect::<Vec<_>>().join("; ")
}

fn documents(count: u64) -> String {
    format!("{count} document{}", if count == 1 { "" } else { "s" })
}

/// Prints the report of `--stats` on standard error.
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
                "text_bytes": summary.text_bytes,
                "skipped": {
                    "defective": summary.defective,
                    "vanished": summary.vanished,
                    "unmatched": summary.unmatched,
                },
                "passed_over": {
                    "other": summary.passed_over.other,
                    "hidden": summary.passed_over.hidden,
                    "repeated": summary.passed_over.repeated,
                },
                "long_words": summary.long_words,
                "repeated_ids": summary.repeated_names,
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
