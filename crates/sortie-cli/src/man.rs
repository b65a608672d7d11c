//! The man pages: one for the program, and one for each of its commands.

use clap::Command;
use clap_mangen::Man;
use sortie_files::{Output, quote};

use crate::cli::{ManArgs, program};
use crate::failure::Failure;

/// Prints one page, or writes all of them to a folder.
pub fn run(args: &ManArgs) -> Result<(), Failure> {
    let mut program = program().disable_help_subcommand(true);
    program.build();
    let Some(folder) = &args.out else {
        let mut command = &program;
        for name in &args.command {
            command = command.find_subcommand(name).ok_or_else(|| {
                let name = quote::always(name.as_ref());
                Failure::new(format!("sortie has no command {name}; sortie man lists all commands"))
            })?;
        }
        return crate::print(&render(command));
    };
    for command in with_subcommands(&program) {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        let mut page = Output::open(Some(&folder.join(format!("{name}.1"))), folder, None)?;
        page.write(&render(command))?;
        page.finish()?;
    }
    Ok(())
}

pub fn render(command: &Command) -> Vec<u8> {
    let mut page = Vec::new();
    let man = Man::new(command.clone()).source(concat!("sortie ", env!("CARGO_PKG_VERSION")));
    man.render(&mut page).expect("there is room for a page");
    page
}

/// A command and all of its subcommands, at any depth.
fn with_subcommands(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().flat_map(with_subcommands);
    [command].into_iter().chain(below).collect()
}
