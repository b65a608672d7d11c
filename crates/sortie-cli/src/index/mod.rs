//! `sortie index`: indexes documents with `sortie-index`, and searches them.

mod build;
mod list;
mod signals;

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use sortie_files::{Error, Output, quote};
use sortie_index::Index;

use crate::cli::{IndexCommand, temporary_folder};
use crate::failure::Failure;

/// The number of bytes to print at a time.
const BLOCK: usize = 64 << 10;

pub fn run(command: &IndexCommand) -> Result<(), Failure> {
    match command {
        IndexCommand::Build(args) => build::run(args),
        IndexCommand::Search { index, words, top } => search(index, &words.join(" "), top.get()),
        IndexCommand::Stats { index } => stats(index),
        IndexCommand::Terms { index, prefix } => terms(index, prefix),
        IndexCommand::Check { index } => Ok(Index::open(index)?.check()?),
        IndexCommand::Export { index, ciff } => export(index, ciff),
    }
}

impl From<sortie_index::Error> for Failure {
    fn from(error: sortie_index::Error) -> Failure {
        match error {
            sortie_index::Error::File { doing, path, source } => Failure::file(doing, &path)(source),
            sortie_index::Error::NotAnIndex { path, why } => {
                Failure::new(format!("{}: {why}", quote::name(&path)))
            }
            sortie_index::Error::Empty { path } => Failure::new(format!(
                "no documents were found; the existing index is kept: {}",
                quote::name(&path)
            )),
            sortie_index::Error::Memory { bytes } => Error::Memory(bytes).into(),
            sortie_index::Error::Sort(error) => error.into(),
            // The message may contain a file name with any characters.
            other => Failure::new(other.to_string().replace(char::is_control, "?")),
        }
    }
}

fn search(index: &Path, words: &str, top: usize) -> Result<(), Failure> {
    let mut text = String::new();
    for hit in Index::open(index)?.search(words, top)? {
        writeln!(text, "{:.6}\t{}", hit.score, on_one_line(&hit.name)).expect("memory takes all");
    }
    crate::print(text.as_bytes())
}

fn stats(index: &Path) -> Result<(), Failure> {
    let index = Index::open(index)?;
    let counts = index.counts();
    let mut text = String::new();
    let mut line = |what: &str, count: u64| writeln!(text, "{what}: {count}").expect("memory takes all");
    line("documents", counts.documents);
    line("terms", counts.terms);
    line("postings", counts.postings);
    line("words", counts.words);
    line("bytes", index.files().map(|(_, bytes)| bytes).sum());
    index.files().for_each(|(name, bytes)| line(&format!("bytes of {name}"), bytes));
    crate::print(text.as_bytes())
}

fn terms(index: &Path, prefix: &str) -> Result<(), Failure> {
    let mut output = Output::stdout()?;
    let mut text = String::new();
    Index::open(index)?.terms_with_prefix(prefix, |term, list| {
        writeln!(text, "{term}\t{}\t{}", list.documents, list.words).expect("memory takes all");
        if text.len() >= BLOCK {
            output.write(text.as_bytes())?;
            text.clear();
        }
        Ok::<_, Failure>(true)
    })?;
    output.write(text.as_bytes())?;
    Ok(output.finish()?)
}

fn export(index: &Path, ciff: &Path) -> Result<(), Failure> {
    let index = Index::open(index)?;
    let to = Some(ciff).filter(|ciff| *ciff != Path::new("-"));
    let output = Output::open(to, &temporary_folder(), None)?;
    let mut buffered = io::BufWriter::with_capacity(BLOCK, Exported { output, error: None });
    let exported = index.export_ciff(&mut buffered, ciff);
    let (Exported { output, error }, _) = buffered.into_parts();
    match error {
        Some(error) => return Err(error.into()),
        None => exported?,
    }
    Ok(output.finish()?)
}

/// An output that keeps the reason if it cannot be written.
struct Exported {
    output: Output,
    error: Option<Error>,
}

impl io::Write for Exported {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.output.write(bytes);
        written.map(|()| bytes.len()).map_err(|error| {
            self.error = Some(error);
            io::ErrorKind::Other.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A name with its control characters escaped.
fn on_one_line(name: &str) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    name.chars().map(escape).collect()
}
