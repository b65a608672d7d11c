//! Options for temporary files.

use std::env;
use std::path::PathBuf;

use super::{SortOptions, once};
use crate::cli::flag::{Domain, Effect, Flag, Name};
use crate::cli::job_kind::JobKind;
use crate::cli::values::batch;

/// The options for input larger than memory.
pub const fn shared<A: AsMut<SortOptions>>() -> [Flag<A>; 3] {
    [
        Flag {
            name: Name::Both('T', "temporary-directory"),
            gnu: true,
            of: JobKind::ANY,
            help: "Put temporary files in DIR instead of $TMPDIR or /tmp; may be repeated",
            effect: Effect::Value("DIR", Domain::Folder, |args, given| {
                args.as_mut().temporary.folders.push(given.path());
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("batch-size"),
            gnu: true,
            of: JobKind::ANY,
            help: "Merge at most N inputs at once",
            effect: Effect::Value("N", Domain::Text, |args, given| {
                args.as_mut().temporary.batch_size = Some(given.read(batch)?);
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("compress-program"),
            gnu: true,
            of: JobKind::ANY,
            help: "Compress temporary files with PROG, and decompress them with PROG -d",
            effect: Effect::Value("PROG", Domain::Program, |args, given| {
                once(
                    &mut args.as_mut().temporary.compress_program,
                    given.path(),
                    "multiple compress programs specified",
                )
            }),
        },
    ]
}

/// The default folder for temporary files.
pub fn temporary_folder() -> PathBuf {
    env::var_os("TMPDIR").map_or_else(|| "/tmp".into(), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::path::Path;

    use super::shared;
    use crate::cli::SortOptions;
    use crate::cli::flag::tests::each_sets;

    #[test]
    fn each_option_sets_what_it_says() {
        each_sets::<SortOptions>(
            &shared(),
            &[
                ("--temporary-directory=t", |args| args.temporary.folders == [Path::new("t")]),
                ("--batch-size=5", |args| args.temporary.batch_size == NonZeroUsize::new(5)),
                ("--compress-program=p", |args| {
                    args.temporary.compress_program.as_deref() == Some(Path::new("p"))
                }),
            ],
        );
    }
}
