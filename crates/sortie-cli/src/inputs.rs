//! The inputs that the command line names.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sortie_files::{Input, quote};
use sortie_formats::lines;

use crate::cli::Sources;
use crate::failure::Failure;

/// All inputs of a job. Checks that the permissions of every file allow reading it.
pub fn all(sources: &Sources) -> Result<Vec<Input>, Failure> {
    let inputs: Vec<Input> = match &sources.files0_from {
        Some(list) => named_in(list)?,
        None if sources.files.is_empty() => vec![Input::stdin()],
        None => sources.files.iter().map(|path| Input::named(path)).collect(),
    };
    if let (Some(_), Some(extra)) = (sources.check, inputs.get(1)) {
        let extra = quote::always(extra.name());
        return Err(Failure::new(format!("extra operand {extra} not allowed with -c: it checks one file")));
    }
    inputs.iter().try_for_each(Input::check_access)?;
    Ok(inputs.into_iter().map(|input| if sources.as_is { input.as_is() } else { input }).collect())
}

/// The files named in `list`, in which a NUL ends each name.
fn named_in(list: &Path) -> Result<Vec<Input>, Failure> {
    let list = Input::named(list);
    let mut names = Vec::new();
    list.open()?.read_to_end(&mut names).map_err(Failure::file("read", list.name()))?;
    lines::terminate(&mut names, 0);
    if names.is_empty() {
        return Err(Failure::new(format!("no input from {}", quote::always(list.name()))));
    }
    let mut found = vec![&[][..]; lines::count(&names, 0)];
    lines::split(&names, 0, &mut found);
    let each = found.iter().enumerate().map(|(place, name)| {
        let place = format!("{}:{}", quote::name(list.name()), place + 1);
        match *name {
            b"" => Err(Failure::new(format!("{place}: invalid zero-length file name"))),
            b"-" if list.is_stdin() => Err(Failure::new(format!(
                "{place}: standard input holds the names, so '-' cannot be one of them"
            ))),
            name => Ok(Input::named(Path::new(OsStr::from_bytes(name)))),
        }
    });
    each.collect()
}
