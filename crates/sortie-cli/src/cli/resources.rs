//! Options for memory, threads, engine and reports.

use std::num::NonZeroUsize;

use super::flag::{Domain, Effect, Flag, Name, words};
use super::job_kind::JobKind;
use super::{MemorySize, StatsFormat, engine, threads};

/// How a sorting command uses the machine, and what it reports.
#[derive(Debug, Clone, Default)]
pub struct Resources {
    pub buffer_size: Option<MemorySize>,
    pub parallel: Option<NonZeroUsize>,
    pub engine: sortie::Engine,
    pub explain: bool,
    pub stats: Option<StatsFormat>,
}

/// The options of all sorting commands.
pub const fn shared<A: AsMut<Resources>>() -> [Flag<A>; 3] {
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
        parallel(),
        stats(),
    ]
}

pub const fn parallel<A: AsMut<Resources>>() -> Flag<A> {
    Flag {
        name: Name::Long("parallel"),
        gnu: true,
        of: JobKind::ANY,
        help: "Use N threads; by default one for each core",
        effect: Effect::Value("N", Domain::Text, |args, given| {
            args.as_mut().parallel = Some(given.read(threads)?);
            Ok(())
        }),
    }
}

pub const fn stats<A: AsMut<Resources>>() -> Flag<A> {
    Flag {
        name: Name::Long("stats"),
        gnu: false,
        of: JobKind::ANY,
        help: "Print a report of the work on standard error",
        effect: Effect::Optional("FORMAT", Domain::Words(words::<StatsFormat>), |args, given| {
            args.as_mut().stats = Some(given.map_or(Ok(StatsFormat::Table), |given| given.word())?);
            Ok(())
        }),
    }
}

/// The options of sorts that are planned: where to sort, and the plan itself.
pub const fn planned<A: AsMut<Resources>>() -> [Flag<A>; 2] {
    [
        Flag {
            name: Name::Long("engine"),
            gnu: false,
            of: JobKind::PLANNED,
            help: "Where to sort: cpu; cuda[:N], a GPU (sortie devices lists them); cuda:N,N..., several GPUs, for one array \
                   of numbers; hybrid[:N], a GPU and the CPU together, with the shares that sortie tune has measured; or \
                   auto (the default): a GPU if that is predicted to be faster and -S is not given, else the CPU",
            effect: Effect::Value("ENGINE", Domain::Text, |args, given| {
                args.as_mut().engine = given.read(engine)?;
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("explain"),
            gnu: false,
            of: JobKind::EXPLAINED,
            help: "Print the plan of the sort, its expected memory and time, and the reasons; do not sort",
            effect: Effect::Switch(|args| args.as_mut().explain = true),
        },
    ]
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use sortie::Engine;

    use super::super::flag::tests::each_sets;
    use super::{MemorySize, StatsFormat, planned, shared};
    use crate::cli::SortOptions;

    #[test]
    fn each_option_sets_what_it_says() {
        each_sets::<SortOptions>(
            &shared(),
            &[
                ("--buffer-size=7b", |args| args.resources.buffer_size == Some(MemorySize::Bytes(7))),
                ("--parallel=3", |args| args.resources.parallel == NonZeroUsize::new(3)),
                ("--stats=json", |args| args.resources.stats == Some(StatsFormat::Json)),
            ],
        );
        each_sets::<SortOptions>(
            &planned(),
            &[
                ("--engine=cpu", |args| args.resources.engine == Engine::Cpu),
                ("--explain", |args| args.resources.explain),
            ],
        );
    }
}
