//! The MSD radix sort of strings on one thread and on three. It must be stable.

use fastrand::Rng;
use sortie_papers::msd_radix_sort;

/// A string and its index, which does not affect the order.
#[derive(Clone, Copy)]
struct Numbered<'a>(usize, &'a [u8]);

impl AsRef<[u8]> for Numbered<'_> {
    fn as_ref(&self) -> &[u8] {
        self.1
    }
}

type Shape = (&'static str, fn(usize, &mut Rng) -> Vec<u8>);

/// Each makes the string at an index.
const SHAPES: [Shape; 6] = [
    ("all empty", |_, _| vec![]),
    ("two symbols", |_, rng| of(rng, 30, b"ab")),
    ("zeros inside", |_, rng| of(rng, 12, b"\0\0\x01a")),
    ("any bytes", |_, rng| (0..rng.usize(0..25)).map(|_| rng.u8(..)).collect()),
    ("long common beginnings", |_, rng| [vec![b'p'; 16 * rng.usize(0..20)], of(rng, 4, b"xyz")].concat()),
    ("reversed", |i, _| format!("{:08}", 99_999_999 - i).into_bytes()),
];

fn of(rng: &mut Rng, below: usize, alphabet: &[u8]) -> Vec<u8> {
    (0..rng.usize(0..below)).map(|_| alphabet[rng.usize(0..alphabet.len())]).collect()
}

#[test]
fn a_task_for_each_bucket() {
    let mut rng = Rng::with_seed(11);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for (name, shape) in SHAPES {
            for n in (0..=4).chain([100, 257, 20_000]) {
                let strings: Vec<Vec<u8>> = (0..n).map(|i| shape(i, &mut rng)).collect();
                let mut sorted: Vec<_> = strings.iter().enumerate().map(|(i, s)| Numbered(i, s)).collect();
                let mut expected = sorted.clone();
                expected.sort_by_key(|string| string.1);
                pool.install(|| msd_radix_sort(&mut sorted));
                let places = |strings: &[Numbered]| strings.iter().map(|string| string.0).collect::<Vec<_>>();
                assert!(places(&sorted) == places(&expected), "{n} strings, {name}, {threads} threads");
            }
        }
    }
}

#[test]
fn one_long_prefix_takes_no_stack() {
    let long = vec![b'q'; 1 << 20];
    let longer = [&long[..], b"z"].concat();
    let mut strings = [&longer[..], &long, &longer, b"", &long];
    msd_radix_sort(&mut strings);
    assert!(strings == [b"", &long[..], &long, &longer, &longer]);
}
