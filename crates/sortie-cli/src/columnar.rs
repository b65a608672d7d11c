//! `sortie sort --by` of Parquet and Arrow files, and `sortie verify`.

use std::path::Path;

use sortie_files::formats::Choices;
use sortie_files::formats::columnar::{Columnar, Verdict, check_columnar, sort_columnar, verify};
use sortie_files::{Input, quote};

use crate::cli::{Check, TableJob};
use crate::failure::Failure;
use crate::{print, remark, stats};

/// Sorts or checks files with columns. The options were checked.
pub fn run(args: &TableJob, inputs: &[Input], choices: Choices) -> Result<(), Failure> {
    let mut table = Columnar::by(args.keys.clone());
    table.strict = args.strict;
    if let (Some(how), [input]) = (args.sources.check, inputs) {
        let found = check_columnar(&table, input, &choices)?;
        drop(choices);
        told(&table);
        return match (found, how) {
            (None, _) => Ok(()),
            (Some(_), Check::Quiet) => Err(Failure::Disorder(Vec::new())),
            (Some(row), Check::DiagnoseFirst) => {
                let name = quote::name(input.name());
                Err(Failure::Disorder(
                    format!("{name}:{row}: disorder: row {row} does not belong after the row before\n")
                        .into(),
                ))
            }
        };
    }
    let report = sort_columnar(&table, inputs, args.output.as_deref(), &choices)?;
    // Removes the progress bar.
    drop(choices);
    told(&table);
    stats::print(&report, args.resources.stats)
}

fn told(table: &Columnar) {
    table.surprises().iter().for_each(|line| remark(format!("note: {line}\n").as_bytes()));
}

/// Says of each file whether the order that it declares is true.
pub fn verify_all(files: &[std::path::PathBuf]) -> Result<(), Failure> {
    let mut wrong = None;
    for file in files {
        let (said, is_true) = said(file)?;
        print(format!("{said}\n").as_bytes())?;
        if !is_true {
            wrong.get_or_insert_with(|| quote::name(file));
        }
    }
    match wrong {
        None => Ok(()),
        Some(name) => Err(Failure::Disorder(format!("{name}: the declared order is false\n").into())),
    }
}

fn said(file: &Path) -> Result<(String, bool), Failure> {
    let name = quote::name(file);
    Ok(match verify(&Input::named(file))? {
        Verdict::Undeclared => (format!("{name}: declares no order"), true),
        Verdict::True { order, groups } => {
            let groups = if groups == 1 { "1 row group".into() } else { format!("{groups} row groups") };
            (format!("{name}: sorted by {order} in {groups}, as declared"), true)
        }
        Verdict::False { order, group, row } => (
            format!(
                "{name}: not sorted by {order} as declared: row {row} of row group {group} does not belong after the row before"
            ),
            false,
        ),
    })
}
