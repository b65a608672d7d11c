//! Options for memory, threads, engine and reports.

use std::env;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::flag::{Domain, Effect, Flag, Name, words};
use super::job::JobKind;
use super::sort::once;
use super::values::batch;
use super::{MemorySize, SortOptions, StatsFormat, threads};

/// The options shared by all sorting commands.
#[derive(Debug, Clone, Default)]
pub struct Resources {
    pub buffer_size: Option<MemorySize>,
    pub parallel: Option<NonZeroUsize>,
    pub engine: sortie::Engine,
    pub explain: bool,
    pub stats: Option<StatsFormat>,
}

pub const fn shared<A: AsMut<Resources>>() -> [Flag<A>; 5] {
    [
        Flag {
            name: Name::Both('S', "buffer-size"),
            gnu: true,
            of: JobKind::ANY,
            help: "Limit memory to SIZE, GPU memory included. For segments and array axes, SIZE does not count the array itself. \
                   In KiB, or with a suffix of %bKMGTPE",
            effect: Effect::Value("SIZE", Domain::Text, |args, given| {
                args.as_mut().buffer_size = Some(given.read(str::parse)?);
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("parallel"),
            gnu: true,
            of: JobKind::ANY,
            help: "Use N threads; by default one for each core",
            effect: Effect::Value("N", Domain::Text, |args, given| {
                args.as_mut().parallel = Some(given.read(threads)?);
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("engine"),
            gnu: false,
            of: JobKind::ANY,
            help: "Where to sort: cpu; cuda[:N], a GPU (sortie devices lists them); cuda:N,N..., several GPUs, for one array \
                   of numbers; hybrid[:N], a GPU and the CPU together, with the shares that sortie tune has measured; or \
                   auto (the default): a GPU if that is predicted to be faster and -S is not given, else the CPU",
            effect: Effect::Value("ENGINE", Domain::Text, |args, given| {
                args.as_mut().engine = given.read(str::parse)?;
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("explain"),
            gnu: false,
            of: JobKind::ANY,
            help: "Print the plan of the sort, its expected memory and time, and the reasons; do not sort",
            effect: Effect::Switch(|args| args.as_mut().explain = true),
        },
        Flag {
            name: Name::Long("stats"),
            gnu: false,
            of: JobKind::ANY,
            help: "Print a report of the sort on standard error",
            effect: Effect::Optional("FORMAT", Domain::Words(words::<StatsFormat>), |args, given| {
                args.as_mut().stats = Some(given.map_or(Ok(StatsFormat::Table), |given| given.word())?);
                Ok(())
            }),
        },
    ]
}

/// The options for input larger than memory.
pub const TEMPORARY: &[Flag<SortOptions>] = &[
    Flag {
        name: Name::Both('T', "temporary-directory"),
        gnu: true,
        of: JobKind::ANY,
        help: "Put temporary files in DIR instead of $TMPDIR or /tmp; may be repeated",
        effect: Effect::Value("DIR", Domain::Folder, |args, given| {
            args.temporary.folders.push(given.path());
            Ok(())
        }),
    },
    Flag {
        name: Name::Long("batch-size"),
        gnu: true,
        of: JobKind::ANY,
        help: "Merge at most N inputs at once",
        effect: Effect::Value("N", Domain::Text, |args, given| {
            args.temporary.batch_size = Some(given.read(batch)?);
            Ok(())
        }),
    },
    Flag {
        name: Name::Long("compress-program"),
        gnu: true,
        of: JobKind::ANY,
        help: "Compress temporary files with PROG, and decompress them with PROG -d",
        effect: Effect::Value("PROG", Domain::Program, |args, given| {
            once(&mut args.temporary.compress_program, given.path(), "multiple compress programs specified")
        }),
    },
];

/// The default folder for temporary files.
pub fn temporary_folder() -> PathBuf {
    env::var_os("TMPDIR").map_or_else(|| "/tmp".into(), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::path::Path;

    use sortie::Engine;

    use super::super::flag::tests::each_sets;
    use super::{MemorySize, StatsFormat, TEMPORARY, shared};
    use crate::cli::SortOptions;

    #[test]
    fn each_option_sets_what_it_says() {
        each_sets::<SortOptions>(
            &shared(),
            &[
                ("--buffer-size=7b", |args| args.resources.buffer_size == Some(MemorySize::Bytes(7))),
                ("--parallel=3", |args| args.resources.parallel == NonZeroUsize::new(3)),
                ("--engine=cpu", |args| args.resources.engine == Engine::Cpu),
                ("--explain", |args| args.resources.explain),
                ("--stats=json", |args| args.resources.stats == Some(StatsFormat::Json)),
            ],
        );
        each_sets(
            TEMPORARY,
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
