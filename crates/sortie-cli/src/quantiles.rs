//! `sortie quantiles`: the median or other quantiles of numbers, which are selected, not sorted.

use std::ffi::OsStr;
use std::fmt::{Display, LowerExp, Write};
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use bytemuck::{Pod, cast_slice, cast_slice_mut, pod_read_unaligned};
use half::f16;
use sortie::dynamic::{self, Dtype};
use sortie::{Engine, Sorter};
use sortie_files::{Error, Input, Ledger, quote, shortage};

use crate::arrays::{ArrayFile, dtype, holds_npy, of_width};
use crate::cli::QuantilesOptions;
use crate::failure::Failure;
use crate::{complain, stats, threads};

/// Bytes that are read from a file of lines at a time.
const READ: usize = 1 << 20;
/// Bytes of a wrong line that are shown.
const SHOWN: usize = 60;

pub fn run(args: &QuantilesOptions) -> Result<(), Failure> {
    let ledger = stats::open();
    let job = Job { args, ledger: &ledger };
    let stdin = [Path::new("-").to_owned()];
    let inputs = if args.inputs.is_empty() { &stdin[..] } else { &args.inputs };
    let values = if args.array.element.is_some() || inputs.iter().any(|path| holds_npy(path)) {
        let [path] = inputs else {
            return Err(Failure::new("quantiles are those of one array; give one file, or files of lines"));
        };
        job.of_array(path)?
    } else {
        job.of_lines(inputs)?
    };
    let mut text = String::new();
    for ((share, _), value) in args.shares.iter().zip(values) {
        writeln!(text, "{share}\t{value}").expect("a string takes it");
    }
    crate::print(text.as_bytes())?;
    stats::close(ledger, args.resources.stats)
}

struct Job<'a> {
    args: &'a QuantilesOptions,
    ledger: &'a Ledger,
}

impl Job<'_> {
    fn of_array(&self, path: &Path) -> Result<Vec<String>, Failure> {
        let mut array = ArrayFile::open(path, self.args.array.element)?;
        let kind = array.format.kind();
        if kind.is_time() {
            let name = quote::name(path);
            return Err(Failure::new(format!(
                "{name}: {kind} has no quantiles here; convert it to integers"
            )));
        }
        let pool = threads::pool(self.args.resources.parallel, array.size())?;
        pool.install(|| of_width!(kind, Self::of_words)(self, &mut array, dtype(kind), path))
    }

    fn of_words<W: Pod>(
        &self,
        array: &mut ArrayFile,
        dtype: Dtype,
        path: &Path,
    ) -> Result<Vec<String>, Failure> {
        self.ledger.progress.stage("reading", array.size().unwrap_or(0));
        let numbers: Vec<W> = array.read(&|bytes| self.ledger.progress.advance(bytes))?;
        let numbers = cast_slice(&numbers);
        let skipped = if self.args.skip_invalid { count_nans(dtype, numbers) } else { 0 };
        let is_empty = skipped == numbers.len() / dtype.width();
        if !is_empty {
            say_left_out(skipped, "NaN", "NaNs");
        }
        self.of_numbers(dtype, numbers, is_empty, &quote::name(path))
    }

    fn of_lines(&self, paths: &[std::path::PathBuf]) -> Result<Vec<String>, Failure> {
        let inputs: Vec<_> = paths.iter().map(|path| Input::named(path)).collect();
        inputs.iter().try_for_each(Input::check_access)?;
        let bytes = inputs.iter().map(Input::size).sum::<Option<u64>>();
        self.ledger.progress.stage("reading", bytes.unwrap_or(0));
        let (mut numbers, mut skipped) = (Vec::new(), 0);
        for input in &inputs {
            skipped += self.read(input, &mut numbers)?;
        }
        if !numbers.is_empty() {
            say_left_out(skipped, "line that is no number", "lines that are no numbers");
        }
        let names: Vec<_> = inputs.iter().map(|input| quote::name(input.name())).collect();
        let pool = threads::pool(self.args.resources.parallel, Some(8 * numbers.len() as u64))?;
        pool.install(|| {
            self.of_numbers(Dtype::F64, cast_slice(&numbers), numbers.is_empty(), &names.join(", "))
        })
    }

    /// Appends the numbers of an input. Returns how many lines were left out.
    fn read(&self, input: &Input, numbers: &mut Vec<f64>) -> Result<usize, Failure> {
        let is_text = input.examine().and_then(|()| input.read_text());
        let mut text = BufReader::with_capacity(READ, is_text.map_err(no_lines)?);
        let (mut line, mut number, mut skipped) = (Vec::new(), 0u64, 0);
        loop {
            line.clear();
            let bytes = text.read_until(b'\n', &mut line).map_err(Failure::file("read", input.name()))?;
            if bytes == 0 {
                return Ok(skipped);
            }
            self.ledger.progress.advance(bytes as u64);
            number += 1;
            let parsed =
                std::str::from_utf8(line.trim_ascii()).ok().and_then(|text| text.parse::<f64>().ok());
            match parsed {
                Some(parsed) if !(self.args.skip_invalid && parsed.is_nan()) => {
                    if numbers.len() == numbers.capacity() {
                        let more = numbers.len().max(READ);
                        let refused = |_| Failure::new(shortage::refused("reading", 8 * more as u64));
                        numbers.try_reserve(more).map_err(refused)?;
                    }
                    numbers.push(parsed);
                }
                _ if self.args.skip_invalid => skipped += 1,
                _ => return Err(no_number(input, number, line.trim_ascii())),
            }
        }
    }

    /// The values of all quantiles of these numbers. `is_empty`: whether none is left. `name`: where they are from.
    fn of_numbers(
        &self,
        dtype: Dtype,
        numbers: &[u8],
        is_empty: bool,
        name: &str,
    ) -> Result<Vec<String>, Failure> {
        let (count, method) = (numbers.len() / dtype.width(), self.args.method);
        if is_empty {
            return Err(Failure::new(format!("{name}: no numbers, so there are no quantiles")));
        }
        self.ledger.progress.stage("selecting", 0);
        let sorter = Sorter::builder().engine(Engine::Cpu).build()?;
        let shares: Vec<f64> = self.args.shares.iter().map(|&(_, share)| share).collect();
        if let Some(shown) = integers(dtype).filter(|_| method.is_discrete()) {
            let indices: Vec<_> = shares.iter().map(|&share| method.position(share, count).low).collect();
            let mut found = vec![0u64; shares.len()];
            let found = &mut cast_slice_mut(&mut found)[..shares.len() * dtype.width()];
            self.ledger.absorb(dynamic::nth(&sorter, dtype, numbers, &indices, found)?);
            return Ok(found.chunks_exact(dtype.width()).map(shown).collect());
        }
        let find = match self.args.skip_invalid {
            true => dynamic::quantiles_of_numbers_only,
            false => dynamic::quantiles,
        };
        let mut values = vec![0.0; shares.len()];
        self.ledger.absorb(find(&sorter, dtype, numbers, &shares, method, &mut values)?);
        let is_narrow = matches!(dtype, Dtype::F16 | Dtype::F32);
        let shown = |value: f64| if is_narrow { decimal(value, value as f32) } else { decimal(value, value) };
        Ok(values.into_iter().map(shown).collect())
    }
}

/// Says how many were left out, of things with these names for one and for several.
fn say_left_out(count: usize, one: &str, several: &str) {
    match count {
        0 => {}
        1 => complain(format!("1 {one} was left out\n").as_bytes()),
        _ => complain(format!("{count} {several} were left out\n").as_bytes()),
    }
}

/// What to do about an input that is not text.
fn no_lines(error: Error) -> Failure {
    match &error {
        Error::NotText { path, is, .. } => Failure::new(format!(
            "{} is {is}, not lines of numbers; for an array, give --type or a .npy file alone",
            quote::name(path)
        )),
        _ => error.into(),
    }
}

fn no_number(input: &Input, line: u64, text: &[u8]) -> Failure {
    let (name, cut) = (quote::name(input.name()), &text[..text.len().min(SHOWN)]);
    let (shown, more) =
        (quote::always(Path::new(OsStr::from_bytes(cut))), if cut == text { "" } else { "..." });
    Failure::new(format!("{name}:{line}: {shown}{more} is no number; --skip-invalid leaves such lines out"))
}

fn count_nans(dtype: Dtype, numbers: &[u8]) -> usize {
    match dtype {
        Dtype::F16 => cast_slice::<_, f16>(numbers).iter().filter(|number| number.is_nan()).count(),
        Dtype::F32 => cast_slice::<_, f32>(numbers).iter().filter(|number| number.is_nan()).count(),
        Dtype::F64 => cast_slice::<_, f64>(numbers).iter().filter(|number| number.is_nan()).count(),
        _ => 0,
    }
}

/// What writes an element of a type of integers.
fn integers(dtype: Dtype) -> Option<fn(&[u8]) -> String> {
    macro_rules! of {
        ($type:ty) => {
            Some(|bytes| pod_read_unaligned::<$type>(bytes).to_string())
        };
    }
    match dtype {
        Dtype::Bool | Dtype::U8 => of!(u8),
        Dtype::U16 => of!(u16),
        Dtype::U32 => of!(u32),
        Dtype::U64 => of!(u64),
        Dtype::I8 => of!(i8),
        Dtype::I16 => of!(i16),
        Dtype::I32 => of!(i32),
        Dtype::I64 => of!(i64),
        _ => None,
    }
}

/// A number as the shortest decimal that stands for `rounded`, or with an exponent if that would be long.
fn decimal(value: f64, rounded: impl Display + LowerExp) -> String {
    let is_short = value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs());
    if is_short { format!("{rounded}") } else { format!("{rounded:e}") }
}
