//! `sortie sort --by` and the other options for tables: the crate `sortie-files` sorts, merges or checks them.

use std::fmt::Write;

use sortie_files::formats::columnar::Kind;
use sortie_files::formats::tables::{ColumnKey, ColumnType, Form, Table};
use sortie_files::formats::text::LineOrder;
use sortie_files::formats::{Choices, Disorder, Keep, check_layout, merge_layout, open_layout, sort_layout};
use sortie_files::{Input, quote};

use crate::cli::{Check, Rules, TableJob};
use crate::failure::Failure;
use crate::{columnar, inputs, locale, memory, remark, stats, threads};

/// Sorts, merges or checks a table as the command line says.
pub fn run(args: &TableJob) -> Result<(), Failure> {
    let inputs = inputs::all(&args.sources)?;
    let bytes = inputs.iter().map(Input::size).sum::<Option<u64>>();
    let resources = &args.resources;
    let columnar = inputs.first().filter(|_| args.form.is_none()).and_then(Kind::of);
    if let Some(kind) = columnar {
        refuse_for_columns(args, kind)?;
    }
    let table = table(args, &inputs)?;
    if resources.explain {
        open_layout(&table, &inputs)?;
        return explain(&table, bytes);
    }
    threads::start(resources.parallel, bytes)?;
    memory::hold_back(resources.buffer_size);
    let choices = Choices {
        unique: args.unique,
        keep: args.keep,
        duplicates: args.duplicates.clone(),
        top: args.top,
        memory: resources.buffer_size.map(memory::bytes),
        temporary: args.temporary.clone(),
        compression: args.compress,
        progress: Some(stats::progress()),
        ..Choices::default()
    };
    if columnar.is_some() {
        return columnar::run(args, &inputs, choices);
    }
    let output = args.output.as_deref();
    let (disorder, report) = match args.sources.check {
        Some(how) => {
            let [input] = <[Input; 1]>::try_from(inputs).expect("a check has one input");
            let name = quote::name(input.name());
            let (disorder, report) = check_layout(&table, input, &choices)?;
            (disorder.map(|found| message(&name, found, how)), report)
        }
        None if args.merge => (None, merge_layout(&table, inputs, output, &choices)?),
        None => (None, sort_layout(&table, inputs, output, &choices)?),
    };
    // Removes the progress bar.
    drop(choices);
    if args.verbose {
        table.assumed().iter().for_each(|line| remark(format!("{line}\n").as_bytes()));
    }
    if let Some(message) = disorder {
        return Err(Failure::Disorder(message));
    }
    table.surprises().iter().for_each(|line| remark(format!("note: {line}\n").as_bytes()));
    stats::print(&report, resources.stats)
}

fn table(args: &TableJob, inputs: &[Input]) -> Result<Table, Failure> {
    let mut table = Table::by(args.keys.clone());
    table.form = args.form.or_else(|| inputs.first().and_then(Form::of_name));
    table.header = args.header;
    table.comment = args.comment;
    table.order = args.order.as_ref().map(LineOrder::new).transpose()?;
    table.unique = args.unique_by.clone();
    table.strict = args.strict;
    table.count = args.count.clone();
    table.columns = args.columns.clone();
    table.output_separator = args.output_separator;
    let is_of_locale = |key: &ColumnKey| matches!(key.kind, Some(ColumnType::Locale | ColumnType::Natural));
    if args.rules != Rules::default() || args.keys.iter().any(is_of_locale) {
        table.locale = locale::of(&args.rules, false)?;
    }
    Ok(table)
}

/// Refuses what only tables of text have.
fn refuse_for_columns(args: &TableJob, kind: Kind) -> Result<(), Failure> {
    let of_text = [
        (args.merge, "-m"),
        (args.order.is_some(), "-k and the ordering options"),
        (args.comment.is_some(), "--comment"),
        (args.count.is_some(), "--count"),
        (args.duplicates.is_some(), "--duplicates"),
        (!args.columns.is_empty(), "--columns"),
        (args.output_separator.is_some(), "--output-delimiter"),
        (!args.unique_by.is_empty(), "--unique=NAMES"),
        (args.keep != Keep::First, "--keep and sortie uniq"),
        (args.compress.is_some(), "--compress"),
        (args.resources.explain, "--explain"),
    ];
    match of_text.iter().find(|(is_given, _)| *is_given) {
        None => Ok(()),
        Some((_, name)) => Err(Failure::new(format!(
            "{name} cannot be used with a {} file, only with tables of text",
            kind.name()
        ))),
    }
}

/// Prints what the first input shows.
fn explain(table: &Table, bytes: Option<u64>) -> Result<(), Failure> {
    let size = bytes
        .map_or("of unknown size".into(), |bytes| crate::explain::counted(bytes as usize, "byte", "bytes"));
    let mut text = format!("input:     {size}\n");
    for (place, line) in table.assumed().iter().enumerate() {
        let name = if place == 0 { "table:" } else { "by:" };
        writeln!(text, "{name:<10} {line}").expect("a String takes all text");
    }
    crate::print(text.as_bytes())
}

fn message(name: &str, Disorder { line, bytes, .. }: Disorder, how: Check) -> Vec<u8> {
    match how {
        Check::DiagnoseFirst => [format!("{name}:{line}: disorder: ").as_bytes(), &bytes].concat(),
        Check::Quiet => Vec::new(),
    }
}
