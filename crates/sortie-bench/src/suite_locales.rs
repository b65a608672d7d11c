//! Suite `locales`: whole programs sort, check and merge lines by the rules of locales of glibc. The baseline is GNU sort in the same
//! locale.
//!
//! `localedef` makes the locales from the sources in the package `locales`.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tempfile::{NamedTempFile, TempDir, TempPath};

use crate::Result;
use crate::args::Args;
use crate::distributions::StringSet;
use crate::measure::{Case, Clock, Contender, Facts, Measurable};
use crate::suite_files::{CAP, Programs, THREADS, lines, run, same, says};

/// Lines per file, unless `--n` says otherwise.
const N: usize = 10_000_000;
const TEXTS: [StringSet; 4] =
    [StringSet::Words, StringSet::LinesOfText, StringSet::Scripts, StringSet::Paths];
/// The first one has all work, the others only the first.
const LOCALES: [&str; 4] = ["en_US", "de_DE", "sv_SE", "ja_JP"];
const WORK: [Work; 8] = [
    Work { name: "sort", options: &[], input: Given::Mixed },
    Work { name: "sort -f", options: &["-f"], input: Given::Mixed },
    Work { name: "sort -d", options: &["-d"], input: Given::Mixed },
    Work { name: "sort -k2,2", options: &["-k2,2"], input: Given::Mixed },
    Work { name: "sort -u", options: &["-u"], input: Given::Mixed },
    Work { name: "sort in 256 MB", options: CAP, input: Given::Mixed },
    Work { name: "sort -c", options: &["-c"], input: Given::Sorted },
    Work { name: "sort -m", options: &["-m"], input: Given::Divided },
];
/// The files that are merged.
const FILES: usize = 4;

#[derive(Clone, Copy)]
struct Work {
    name: &'static str,
    options: &'static [&'static str],
    input: Given,
}

/// The order of the lines in the input.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    Mixed,
    Sorted,
    /// The sorted lines, which several files have in turn.
    Divided,
}

/// Where the programs, the locales and the files are.
struct Place {
    sortie: PathBuf,
    folder: TempDir,
}

pub fn cases(args: &Args) -> Result<Vec<Box<dyn Measurable>>> {
    if !says("sort", &["--version"], "GNU coreutils") {
        return Err("the baseline is GNU sort, but `sort` on this machine is another program".into());
    }
    let folder = TempDir::with_prefix_in("sortie-bench-", &args.dir)?;
    for locale in LOCALES {
        let to = folder.path().join(locale);
        // It also fails after warnings.
        let _ = Command::new("localedef").args(["-c", "-i", locale, "-f", "UTF-8"]).arg(&to).output();
        if !to.join("LC_COLLATE").exists() {
            return Err(format!("cannot make the locale {locale}: install the package locales").into());
        }
    }
    let place = Arc::new(Place { sortie: Programs::sortie_of(args)?, folder });
    let mut cases: Vec<Box<dyn Measurable>> = Vec::new();
    for (number, locale) in LOCALES.into_iter().enumerate() {
        let work = if number == 0 { &WORK[..] } else { &WORK[..1] };
        for text in TEXTS.into_iter().filter(|text| text.available()) {
            let case = |&work: &Work| -> Box<dyn Measurable> {
                Box::new(case(work, locale, text, args.n.unwrap_or(N), &place))
            };
            cases.extend(work.iter().map(case));
        }
    }
    Ok(cases)
}

fn case(
    work: Work,
    locale: &'static str,
    text: StringSet,
    n: usize,
    place: &Arc<Place>,
) -> Case<Vec<TempPath>, TempPath> {
    let programs = [("GNU sort", Path::new("sort"), None), ("sortie", &place.sortie, Some("sort"))];
    let contenders = programs.map(|(name, program, command)| {
        let (place, program) = (place.clone(), program.to_owned());
        Contender::new(name, THREADS, move |inputs: &Vec<TempPath>, clock: &mut Clock| {
            let mut sort = Command::new(&program);
            sort.args(command).args(work.options);
            place.run(sort, locale, inputs, name, work.input != Given::Sorted, clock)
        })
    });
    let place = place.clone();
    Case {
        figure: "",
        facts: Facts {
            suite: "locales",
            work: work.name,
            key: locale,
            payload: "",
            n,
            segments: None,
            length: None,
            distribution: text.name(),
            includes: "starting the program, reading from the page cache, writing",
        },
        draw: Box::new(move |rng| {
            let mixed = lines(text, n, place.folder.path(), rng)?;
            match work.input {
                Given::Mixed => Ok(vec![mixed]),
                Given::Sorted => Ok(vec![place.sorted(mixed, locale)?]),
                Given::Divided => place.divided(&place.sorted(mixed, locale)?),
            }
        }),
        bytes: |inputs| {
            let bytes = |path: &TempPath| std::fs::metadata(path).map_or(0, |meta| meta.len() as usize);
            inputs.iter().map(bytes).sum()
        },
        agrees: |_, reference, outcome| same(reference, outcome).unwrap_or(false),
        contenders: contenders.into(),
    }
}

impl Place {
    /// Runs `sort` in a locale. Returns its output, or an empty file if it has none.
    fn run(
        &self,
        mut sort: Command,
        locale: &str,
        inputs: &[TempPath],
        name: &str,
        has_output: bool,
        clock: &mut Clock,
    ) -> Result<TempPath> {
        let output = TempPath::try_from_path(self.folder.path().join(format!("{name}.out")))?;
        File::create(&output)?;
        sort.env("LOCPATH", self.folder.path()).env("LC_ALL", locale);
        sort.arg(format!("--parallel={THREADS}")).arg("-T").arg(self.folder.path()).args(inputs);
        if has_output {
            sort.arg("-o").arg(&output);
        }
        run(name, sort, &output, clock)?;
        Ok(output)
    }

    fn sorted(&self, mixed: TempPath, locale: &str) -> Result<TempPath> {
        let mut sort = Command::new(&self.sortie);
        sort.arg("sort");
        self.run(sort, locale, &[mixed], "sorted", true, &mut Clock::default())
    }

    fn divided(&self, sorted: &Path) -> Result<Vec<TempPath>> {
        let folder = self.folder.path();
        let mut files = (0..FILES)
            .map(|_| NamedTempFile::new_in(folder).map(BufWriter::new))
            .collect::<std::io::Result<Vec<_>>>()?;
        for (number, line) in BufReader::new(File::open(sorted)?).split(b'\n').enumerate() {
            let file = &mut files[number % FILES];
            file.write_all(&line?)?;
            file.write_all(b"\n")?;
        }
        let path = |file: BufWriter<NamedTempFile>| Ok(file.into_inner()?.into_temp_path());
        files.into_iter().map(path).collect()
    }
}
