//! The option for compressing the output.

use sortie_files::compression::Asked;

use super::flag::{Domain, Effect, Flag, Name};
use super::job_kind::JobKind;

pub const fn shared<A: AsMut<Option<Asked>>>() -> [Flag<A>; 1] {
    [Flag {
        name: Name::Long("compress"),
        gnu: false,
        of: JobKind::ANY,
        help: "Compress the output with gzip, bgzf, zstd, xz, bzip2 or lz4, at LEVEL if given; `none` writes it uncompressed. \
               By default the name of the output decides: .gz, .bgz, .zst, .xz, .bz2 or .lz4",
        effect: Effect::Value("FORMAT[:LEVEL]", Domain::Text, |args, given| {
            *args.as_mut() = Some(given.read(str::parse)?);
            Ok(())
        }),
    }]
}

#[cfg(test)]
mod tests {
    use super::shared;
    use crate::cli::flag::tests::each_sets;
    use crate::cli::{SegmentsOptions, SortOptions, SpectraOptions};

    #[test]
    fn the_format_and_level_are_set_for_every_command_that_has_them() {
        each_sets::<SortOptions>(
            &shared(),
            &[("--compress=zstd:10", |args| args.compress == "zstd:10".parse().ok())],
        );
        each_sets::<SegmentsOptions>(
            &shared(),
            &[("--compress=none", |args| args.compress == "none".parse().ok())],
        );
        each_sets::<SpectraOptions>(
            &shared(),
            &[("--compress=xz", |args| args.compress == "xz".parse().ok())],
        );
    }
}
