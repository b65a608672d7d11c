//! Inputs as numbers: each pattern aims at a mistake that a sort might make.

use fastrand::Rng;

/// What a pattern is made from.
pub struct Ask {
    pub n: usize,
    /// The width of the keys, 1 to 64 bits.
    pub bits: u32,
    pub rng: Rng,
}

impl Ask {
    fn max(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    fn random(&mut self) -> u64 {
        self.rng.u64(..) & self.max()
    }

    /// Number `i` of `of` numbers that divide the range evenly.
    fn spread(&self, i: usize, of: usize) -> u64 {
        ((i as u128 * (u128::from(self.max()) + 1)) / of.max(1) as u128) as u64
    }

    fn position(&mut self) -> usize {
        self.rng.usize(0..self.n.max(1))
    }

    fn each(&mut self, mut number: impl FnMut(&mut Self, usize) -> u64) -> Vec<u64> {
        (0..self.n).map(|i| number(self, i)).collect()
    }
}

type Pattern = (&'static str, fn(&mut Ask) -> Vec<u64>);

/// The numbers of a pattern for keys of this many bits, the same each time.
pub fn numbers(pattern: &Pattern, n: usize, bits: u32) -> Vec<u64> {
    let numbers = (pattern.1)(&mut Ask { n, bits: bits.min(64), rng: Rng::with_seed(n as u64) });
    assert_eq!(numbers.len(), n, "{}", pattern.0);
    numbers
}

pub const PATTERNS: &[Pattern] = &[
    ("random", |a| a.each(|a, _| a.random())),
    ("sorted", sorted),
    ("reversed", |a| a.each(|a, i| a.spread(a.n - 1 - i, a.n))),
    ("reversed with ties", |a| a.each(|a, i| a.spread((a.n - 1 - i) / 3, a.n))),
    ("all smallest", |a| a.each(|_, _| 0)),
    ("all largest", |a| a.each(|a, _| a.max())),
    ("largest but one", |a| all_but_one(a, u64::MAX, 0)),
    ("smallest but one", |a| all_but_one(a, 0, u64::MAX)),
    ("two values", |a| a.each(|a, _| a.rng.u64(0..2) * a.max())),
    ("sixteen values", |a| {
        a.each(|a, _| {
            let i = a.rng.usize(0..16);
            a.spread(i, 16)
        })
    }),
    ("saw", |a| a.each(|a, i| a.spread(i % 61, 61))),
    ("falling saw", |a| a.each(|a, i| a.spread(60 - i % 61, 61))),
    ("organ pipe", |a| a.each(|a, i| a.spread(i.min(a.n - 1 - i), a.n))),
    ("zipf", |a| {
        a.each(|a, _| {
            let rank = (a.n as f64).powf(a.rng.f64()) as usize;
            a.spread(rank, a.n + 1)
        })
    }),
    ("almost sorted", |a| {
        let mut numbers = sorted(a);
        for _ in 0..a.n.isqrt() {
            let (i, j) = (a.position(), a.position());
            numbers.swap(i, j);
        }
        numbers
    }),
    ("sorted with a random tail", |a| {
        let from = a.n - a.n / 16;
        a.each(|a, i| if i < from { a.spread(i, a.n) } else { a.random() })
    }),
    ("runs", runs),
    ("equal in the high bits", |a| a.each(|a, _| a.max() ^ a.random() >> (a.bits - a.bits.min(9)))),
    ("equal in the low bits", |a| {
        a.each(|a, _| {
            let high = a.bits.min(5);
            (a.random() >> (a.bits - high)) << (a.bits - high)
        })
    }),
    ("varying in the middle bits", |a| a.each(|a, _| (a.random() >> a.bits.div_ceil(2)) << (a.bits / 4))),
    ("edges of the range", |a| {
        let (max, half) = (a.max(), a.max() / 2);
        let edges = [0, 1, half - half.min(1), half, half + 1, max - 1, max].map(|x| x & max);
        a.each(|a, _| *a.rng.choice(&edges).unwrap())
    }),
    ("half of it one key", |a| {
        let key = a.random();
        a.each(|a, _| if a.rng.bool() { key } else { a.random() })
    }),
    ("every size of number", |a| {
        a.each(|a, _| {
            let by = a.rng.u32(0..a.bits);
            a.random() >> by
        })
    }),
    ("a crowd and outliers", |a| {
        a.each(|a, i| if i % 100 == 7 { a.random() } else { (a.max() / 3 + i as u64 % 3).min(a.max()) })
    }),
    ("median-of-3 killer", median_of_3_killer),
    ("bits reversed", |a| a.each(|a, i| (i as u64).reverse_bits() >> (64 - a.bits))),
    ("small and large in turn", |a| a.each(|a, i| a.spread(i / 2 + (i % 2) * (a.n / 2), a.n + 1))),
];

fn sorted(a: &mut Ask) -> Vec<u64> {
    a.each(|a, i| a.spread(i, a.n))
}

fn all_but_one(a: &mut Ask, most: u64, one: u64) -> Vec<u64> {
    let at = a.position();
    a.each(|a, i| a.max() & if i == at { one } else { most })
}

/// Rising and falling runs of random lengths.
fn runs(a: &mut Ask) -> Vec<u64> {
    let mut numbers = Vec::with_capacity(a.n);
    while numbers.len() < a.n {
        let longest = a.n - numbers.len();
        let length = a.rng.usize(1..=longest.min(1 + a.n / 4));
        let start = numbers.len();
        numbers.extend((0..length).map(|i| a.spread(i, length)));
        if a.rng.bool() {
            numbers[start..].reverse();
        }
    }
    numbers
}

/// Musser's sequence: the median of the first, middle and last key is always close to the smallest.
fn median_of_3_killer(a: &mut Ask) -> Vec<u64> {
    let half = a.n / 2;
    a.each(|a, i| {
        let rank = match i {
            _ if i >= half => 2 * (i - half) + 2,
            _ if i % 2 == 0 => i + 1,
            _ => half + i + half % 2,
        };
        a.spread(rank, a.n + 2)
    })
}
