//! `sortie doctor`: sorts on a GPU and on the CPU, input at random and input that is hard, and compares the bits.

use std::time::Instant;

use bytemuck::Pod;
use half::f16;
use sortie::{Engine, Key, Nans, Segments, Sorter};

use crate::failure::Failure;
use crate::print;

/// Segments of one length: the edges of every kind of worker, and beyond what fits a block.
const LENGTHS: [usize; 24] = [
    1, 2, 3, 8, 31, 50, 64, 65, 129, 160, 161, 320, 321, 641, 1000, 1280, 1281, 4000, 5121, 10_000, 20_481,
    32_769, 40_961, 300_000,
];

/// Keys of each sort, about.
const KEYS: usize = 1 << 20;

/// The bits of a key, of its place and 64 random bits.
type Bits = fn(u64, u64) -> u64;

/// What keys are made of.
const PATTERNS: [(&str, Bits); 5] = [
    ("random", |_, random| random),
    ("few", |_, random| (random % 5).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
    ("ascending", |i, _| i << 44 | i << 12 | i),
    ("descending", |i, _| !(i << 44 | i << 12 | i)),
    ("equal", |_, _| 0x7FC0_0000_7FC0_0001),
];

/// Compares every kind of sort that has a GPU engine, and prints a table.
pub fn run(engine: Engine) -> Result<(), Failure> {
    let Engine::Cuda(ordinal) = engine else {
        return Err(Failure::new("the doctor looks at GPUs; give --engine cuda or cuda:N"));
    };
    // A table of nothing would only be in the way of why.
    sortie::gpu::Gpu::cuda(ordinal)?;
    print(format!("{:<6} {:<11} {:<10} {:>6} {:>8}  \n", "keys", "order", "input", "sorts", "s").as_bytes())?;
    let mut wrong = 0;
    for descending in [false, true] {
        for nans in [Nans::Last, Nans::First] {
            let order = Chosen { engine, descending, nans };
            wrong += order.compare::<f32>("f32")? + order.compare::<f64>("f64")?;
            if nans == Nans::Last {
                wrong += order.compare::<u8>("u8")? + order.compare::<i16>("i16")?;
                wrong += order.compare::<u32>("u32")?
                    + order.compare::<i64>("i64")?
                    + order.compare::<f16>("f16")?;
            }
        }
    }
    match wrong {
        0 => print(b"all as on the CPU\n"),
        _ => Err(Failure::new(format!(
            "{wrong} sorts differ from the CPU's; do not trust this GPU, and report it"
        ))),
    }
}

struct Chosen {
    engine: Engine,
    descending: bool,
    nans: Nans,
}

impl Chosen {
    /// Prints a line for each pattern, and returns how many sorts came out wrong.
    fn compare<K: Key + Pod>(&self, name: &str) -> Result<usize, Failure> {
        let sorter =
            |engine| Sorter::builder().engine(engine).descending(self.descending).nans(self.nans).build();
        let (gpu, cpu) = (sorter(self.engine)?, sorter(Engine::Cpu)?);
        let mut wrong = 0;
        for (pattern, key) in PATTERNS {
            let start = Instant::now();
            let (mut sorts, mut differ) = (0, Vec::new());
            let mut compare = |keys: &[K], segments: Segments<'_>, what: String| {
                let (mut there, mut here) = (keys.to_vec(), keys.to_vec());
                gpu.sort_segments(&mut there, segments)?;
                cpu.sort_segments(&mut here, segments)?;
                sorts += 1;
                if bytemuck::cast_slice::<K, u8>(&there) != bytemuck::cast_slice::<K, u8>(&here) {
                    differ.push(what);
                }
                Ok::<(), sortie::Error>(())
            };
            for length in LENGTHS {
                let keys = keys::<K>(KEYS.next_multiple_of(length), key);
                compare(&keys, Segments::Length(length), format!("segments of {length}"))?;
            }
            let keys = keys::<K>(KEYS, key);
            compare(&keys, Segments::Offsets(&ragged(KEYS)), "segments between offsets".into())?;
            let order = match (self.descending, self.nans) {
                (false, Nans::First) => "NaNs first",
                (false, _) => "ascending",
                (true, Nans::First) => "down, NaNs",
                (true, _) => "descending",
            };
            let seconds = start.elapsed().as_secs_f64();
            let verdict =
                if differ.is_empty() { "ok".into() } else { format!("WRONG: {}", differ.join(", ")) };
            print(
                format!("{name:<6} {order:<11} {pattern:<10} {sorts:>6} {seconds:>8.2}  {verdict}\n")
                    .as_bytes(),
            )?;
            wrong += differ.len();
        }
        Ok(wrong)
    }
}

/// `n` keys of a pattern.
fn keys<K: Pod>(n: usize, bits: Bits) -> Vec<K> {
    let mut state = 0u64;
    let mut random = || {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let keys = (0..n as u64).map(|i| bits(i, random()).to_le_bytes());
    keys.map(|bytes| bytemuck::pod_read_unaligned(&bytes[..size_of::<K>()])).collect()
}

/// Offsets of segments whose lengths grow by a third, from none at all, over and over.
fn ragged(n: usize) -> Vec<usize> {
    let mut offsets = vec![3, 3];
    let mut length = 1;
    while offsets[offsets.len() - 1] + length <= n {
        offsets.push(offsets[offsets.len() - 1] + length);
        length = if length > 100_000 { 1 } else { length + length / 3 + 1 };
    }
    offsets
}
