//! Strings in device memory.

use std::num::NonZeroUsize;

use sortie::gpu::{Gpu, Offsets, StoredStrings, StringViews, Strings};
use sortie::internals::{Sent, argsort_sent_strings};
use sortie::{Engine, Error, Order, Sorter};
use sortie_device::Stream;
use sortie_simt::{Options, Sanitizer};

use crate::support::{cuda, on_bench, on_each};

/// Sorts on the device, in both layouts, and by std; all must give the same indices. The strings lie in the middle of
/// others, with offsets of either width.
pub fn compare(gpu: &Gpu, strings: &[Vec<u8>], what: &str) {
    let mut bytes = b"before".to_vec();
    let mut offsets = vec![bytes.len()];
    for string in strings {
        bytes.extend(string);
        offsets.push(bytes.len());
    }
    bytes.extend(b"after");
    for descending in [false, true] {
        let mut expected: Vec<u32> = (0..strings.len() as u32).collect();
        let string = |index: &u32| &strings[*index as usize];
        match descending {
            false => expected.sort_by(|a, b| string(a).cmp(string(b))),
            true => expected.sort_by(|a, b| string(b).cmp(string(a))),
        }
        let order = Order { descending, ..Order::default() };
        let found = argsort(gpu, &bytes, &offsets, descending, order).unwrap();
        assert!(found == expected, "{} strings, {what}, {order:?}", strings.len());
        with_views(gpu, strings, |stream, views| {
            let indices = gpu.device().alloc::<u32>(strings.len()).unwrap();
            // SAFETY: nothing else uses the strings and the indices meanwhile.
            unsafe { gpu.argsort_strings(stream, views, indices.view(), order) }.unwrap().wait().unwrap();
            let mut found = vec![7; strings.len()];
            stream.copy_out(&mut found, indices.view()).unwrap();
            assert!(found == expected, "{} views, {what}, {order:?}", strings.len());
        });
    }
}

/// Calls `test` with the strings as views, in two buffers that begin with other bytes; short strings are in the views.
fn with_views(gpu: &Gpu, strings: &[Vec<u8>], test: impl FnOnce(&Stream, StringViews<'_>)) {
    let mut buffers = [b"before".to_vec(), b"one more".to_vec()];
    let views: Vec<u128> =
        strings.iter().enumerate().map(|(i, string)| view(&mut buffers, i % 2, string)).collect();
    let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
    let views_there = device.alloc::<u128>(views.len()).unwrap();
    stream.copy_in(views_there.view(), &views).unwrap();
    let there = buffers.each_ref().map(|buffer| device.alloc::<u8>(buffer.len()).unwrap());
    for (buffer, there) in buffers.iter().zip(&there) {
        stream.copy_in(there.view(), buffer).unwrap();
    }
    let buffers = there.each_ref().map(|buffer| buffer.view());
    test(&stream, StringViews { views: views_there.view(), buffers: &buffers });
}

/// A view as the specification of Arrow's format defines it.
fn view(buffers: &mut [Vec<u8>], buffer: usize, string: &[u8]) -> u128 {
    let mut view = [0; 16];
    view[..4].copy_from_slice(&(string.len() as u32).to_le_bytes());
    if string.len() <= 12 {
        view[4..4 + string.len()].copy_from_slice(string);
    } else {
        view[4..8].copy_from_slice(&string[..4]);
        view[8..12].copy_from_slice(&(buffer as u32).to_le_bytes());
        view[12..].copy_from_slice(&(buffers[buffer].len() as u32).to_le_bytes());
        buffers[buffer].extend(string);
    }
    u128::from_le_bytes(view)
}

fn argsort(gpu: &Gpu, bytes: &[u8], offsets: &[usize], wide: bool, order: Order) -> Result<Vec<u32>, Error> {
    let device = gpu.device();
    let stream = device.stream()?;
    let text = device.alloc::<u8>(bytes.len())?;
    stream.copy_in(text.view(), bytes)?;
    let count = offsets.len() - 1;
    // Guarded by indices that are not written.
    let mut indices = vec![7u32; count + 2];
    let indices_there = device.alloc::<u32>(indices.len())?;
    stream.copy_in(indices_there.view(), &indices)?;
    let (narrow, wide_ones) = (device.alloc::<u32>(offsets.len())?, device.alloc::<u64>(offsets.len())?);
    stream.copy_in(narrow.view(), &offsets.iter().map(|&offset| offset as u32).collect::<Vec<_>>())?;
    stream.copy_in(wide_ones.view(), &offsets.iter().map(|&offset| offset as u64).collect::<Vec<_>>())?;
    let offsets = if wide { Offsets::Wide(wide_ones.view()) } else { Offsets::Narrow(narrow.view()) };
    let strings = Strings { bytes: text.view(), offsets };
    // SAFETY: nothing else uses the strings and the indices meanwhile.
    unsafe { gpu.argsort_strings(&stream, strings, indices_there.range(1..count + 1), order)? }.wait()?;
    stream.copy_out(&mut indices, indices_there.view())?;
    assert!(indices[0] == 7 && indices[count + 1] == 7, "beyond the indices");
    Ok(indices[1..count + 1].to_vec())
}

/// `n` strings of up to `longest` bytes, drawn from these.
pub fn random(n: usize, bytes: &[u8], longest: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut string = || {
        let length = random.usize(0..=longest);
        (0..length).map(|_| bytes[random.usize(0..bytes.len())]).collect()
    };
    (0..n).map(|_| string()).collect()
}

const ALL: [u8; 256] = {
    let mut all = [0; 256];
    let mut i = 0;
    while i < 256 {
        all[i] = i as u8;
        i += 1;
    }
    all
};

#[test]
fn every_alphabet() {
    on_each(|gpu| {
        for n in [0, 1, 2, 2000] {
            compare(gpu, &random(n, &ALL, 20, 1), "bytes of any kind");
            compare(gpu, &random(n, b"ACGT", 60, 2), "DNA");
            compare(gpu, &random(n, b"abcdefghijklmnopqrstuvwxyz", 12, 3), "letters");
            compare(gpu, &random(n, b"ab", 8, 4), "two letters, with many ties");
            compare(gpu, &random(n, b"x", 300, 5), "one letter, so prefixes of one another");
            compare(gpu, &random(n, b"\0\x01", 40, 6), "zeros");
            compare(gpu, &vec![vec![]; n], "none but empty ones");
            compare(gpu, &vec![b"the same".to_vec(); n], "all equal");
        }
    });
}

#[test]
fn what_is_shared_is_passed_over() {
    on_each(|gpu| {
        // Another length in each group, and some strings that end within what the others share.
        let mut random = fastrand::Rng::with_seed(7);
        let mut strings = Vec::new();
        for group in 0..40 {
            let shared: Vec<u8> = (0..group * 31).map(|_| random.alphanumeric() as u8).collect();
            for _ in 0..random.usize(1..20) {
                let mut string = shared.clone();
                match random.u8(0..8) {
                    0 => string.truncate(random.usize(0..=shared.len())),
                    1 => {}
                    _ => string.extend((0..random.usize(1..30)).map(|_| random.u8(b'a'..b'e'))),
                }
                strings.push(string);
            }
        }
        random.shuffle(&mut strings);
        compare(gpu, &strings, "groups that share much");
        let urls: Vec<Vec<u8>> = (0..700)
            .map(|_| {
                let (host, page) = (random.u8(0..5), random.u16(0..900));
                format!("https://www.host-{host}.example/path/to/page?number={page}").into_bytes()
            })
            .collect();
        compare(gpu, &urls, "URLs");
    });
}

#[test]
fn long_strings() {
    on_each(|gpu| {
        let long: Vec<u8> = (0..100_000u64).map(|i| ((i * i) >> 5) as u8).collect();
        let mut other = long.clone();
        other[99_990] ^= 1;
        let strings = [&long[..], &other, &long[..99_990], &long, b"", &other[..99_991], &long[1..]];
        compare(gpu, &strings.map(<[u8]>::to_vec), "long ones");
    });
}

/// Enough strings to be distributed by their first symbols, with ties in groups too long for a block.
#[test]
fn many_strings() {
    let options = Options { multiprocessors: 1, sanitizer: Sanitizer::Race, ..Options::default() };
    let test = |gpu: &Gpu| {
        let n = gpu.device().properties().multiprocessors as usize * (1 << 15) + 999;
        compare(gpu, &random(n, b"abcdefghijklmnopqrstuvwxyz", 12, 8), "letters");
        let mut random = fastrand::Rng::with_seed(9);
        let word =
            |random: &mut fastrand::Rng| format!("a shared beginning {}", random.u8(0..3)).into_bytes();
        let mut words: Vec<Vec<u8>> = (0..n).map(|_| word(&mut random)).collect();
        words[n / 2] = b"another".to_vec();
        words[n / 3] = b"a shared beginning".to_vec();
        compare(gpu, &words, "few words");
    };
    on_bench(options, test);
    if let Some(device) = cuda() {
        test(&Gpu::new(device));
    }
}

#[test]
fn strings_are_gathered() {
    on_each(|gpu| {
        let long: Vec<u8> = (0..70_000u32).map(|i| i as u8).collect();
        for strings in [
            vec![],
            vec![vec![]; 5],
            vec![b"one".to_vec()],
            random(5000, &ALL, 40, 1),
            [random(300, b"x", 3, 2), vec![long, vec![]], random(300, b"", 0, 3)].concat(),
        ] {
            let count = strings.len();
            let mut indices: Vec<u32> = (0..count as u32).collect();
            fastrand::Rng::with_seed(4).shuffle(&mut indices);
            let expected: Vec<&[u8]> = indices.iter().map(|&index| &strings[index as usize][..]).collect();
            let ends = strings.iter().scan(2, |end, string| {
                *end += string.len() as u64;
                Some(*end)
            });
            let offsets: Vec<u64> = std::iter::once(2).chain(ends).collect();
            let bytes = [b"..", &strings.concat()[..]].concat();

            let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
            let text = device.alloc::<u8>(bytes.len()).unwrap();
            let offsets_there = device.alloc::<u64>(count + 1).unwrap();
            let indices_there = device.alloc::<u32>(count).unwrap();
            stream.copy_in(text.view(), &bytes).unwrap();
            stream.copy_in(offsets_there.view(), &offsets).unwrap();
            stream.copy_in(indices_there.view(), &indices).unwrap();
            let (mut found, mut ends) = (vec![7; bytes.len()], vec![7u64; count + 1]);
            let text_to = device.alloc::<u8>(bytes.len()).unwrap();
            let offsets_to = device.alloc::<u64>(count + 1).unwrap();
            stream.copy_in(text_to.view(), &found).unwrap();
            let from = Strings { bytes: text.view(), offsets: Offsets::Wide(offsets_there.view()) };
            let to = Strings { bytes: text_to.view(), offsets: Offsets::Wide(offsets_to.view()) };
            // SAFETY: nothing else uses them meanwhile; there is room for all.
            unsafe { gpu.gather_strings(&stream, from, indices_there.view(), to) }.unwrap().wait().unwrap();
            stream.copy_out(&mut found, text_to.view()).unwrap();
            stream.copy_out(&mut ends, offsets_to.view()).unwrap();
            assert_eq!(ends[0], 0);
            let gathered: Vec<&[u8]> =
                ends.windows(2).map(|pair| &found[pair[0] as usize..pair[1] as usize]).collect();
            assert!(gathered == expected, "{count} strings");
            assert_eq!(found[bytes.len() - 2..], [7, 7], "beyond the strings");
        }
    });
}

#[test]
fn views_are_gathered() {
    on_each(|gpu| {
        for strings in [vec![], random(3000, b"abc", 30, 5)] {
            with_views(gpu, &strings, |stream, StringViews { views, .. }| {
                let (n, device) = (strings.len(), gpu.device());
                let mut indices: Vec<u32> = (0..n as u32).collect();
                fastrand::Rng::with_seed(6).shuffle(&mut indices);
                let indices_there = device.alloc::<u32>(n).unwrap();
                stream.copy_in(indices_there.view(), &indices).unwrap();
                let to = device.alloc::<u128>(n).unwrap();
                // SAFETY: nothing else uses them meanwhile; the indices are those of the views.
                let gathered =
                    unsafe { gpu.gather_string_views(stream, views, indices_there.view(), to.view()) };
                gathered.unwrap().wait().unwrap();
                let (mut before, mut found) = (vec![0; n], vec![0; n]);
                stream.copy_out(&mut before, views).unwrap();
                stream.copy_out(&mut found, to.view()).unwrap();
                assert!(indices.iter().map(|&index| before[index as usize]).eq(found), "{n} views");
            });
        }
    });
}

/// The indices, and the runs that tie.
fn by_beginnings(
    gpu: &Gpu,
    strings: StoredStrings<'_>,
    n: usize,
    depth: Option<NonZeroUsize>,
    order: Order,
) -> (Vec<u32>, Vec<std::ops::Range<usize>>) {
    let stream = gpu.device().stream().unwrap();
    let indices_there = gpu.device().alloc::<u32>(n).unwrap();
    let mut indices = vec![7; n];
    // SAFETY: nothing else uses the strings and the indices meanwhile.
    let ties =
        unsafe { gpu.argsort_beginnings(&stream, strings, depth, indices_there.view(), order) }.unwrap();
    stream.copy_out(&mut indices, indices_there.view()).unwrap();
    (indices, ties.iter().collect())
}

/// For any depth: less than a word, a word, or several.
#[test]
fn beginnings_are_sorted_and_their_ties_told() {
    on_each(|gpu| {
        for (strings, of_paper) in [
            (vec![], 5),
            (vec![b"one".to_vec()], 5),
            (random(3000, b"ACGT", 40, 1), 8),
            (random(3000, b"abcdefghijk", 7, 2), 5),
            (random(1000, b"x", 60, 3), 8),
            (vec![b"the same for all of them".to_vec(); 500], 5),
        ] {
            let n = strings.len();
            for depth in [1, 3, of_paper, 14, 39, 100] {
                let beginning = |index: u32| {
                    let string = &strings[index as usize];
                    &string[..depth.min(string.len())]
                };
                for descending in [false, true] {
                    let mut expected: Vec<u32> = (0..n as u32).collect();
                    expected.sort_by(|&a, &b| match descending {
                        false => beginning(a).cmp(beginning(b)),
                        true => beginning(b).cmp(beginning(a)),
                    });
                    let mut runs = Vec::new();
                    let mut start = 0;
                    for run in expected.chunk_by(|&a, &b| beginning(a) == beginning(b)) {
                        if run.len() > 1 && beginning(run[0]).len() == depth {
                            runs.push(start..start + run.len());
                        }
                        start += run.len();
                    }
                    let order = Order { descending, ..Order::default() };
                    with_views(gpu, &strings, |_, views| {
                        let asked = (depth != of_paper).then(|| NonZeroUsize::new(depth).unwrap());
                        let (indices, ties) = by_beginnings(gpu, views.into(), n, asked, order);
                        assert!(indices == expected, "{n} strings by {depth} bytes, {order:?}");
                        assert_eq!(ties, runs, "{n} strings by {depth} bytes, {order:?}");
                    });
                }
            }
        }
    });
}

#[test]
fn sent_strings_are_sorted_either_way() {
    on_each(|gpu| {
        let strings = random(4000, b"abcdefghijklmnopqrstuvwxyz", 20, 1);
        let mut expected: Vec<u32> = (0..4000).collect();
        expected.sort_by_key(|&index| &strings[index as usize]);
        for sent in [Sent::Whole, Sent::Cut] {
            let mut indices = vec![0; 4000];
            argsort_sent_strings(gpu, &strings, sent, &mut indices).unwrap();
            assert!(indices == expected, "{sent:?}");
            let refused = argsort_sent_strings(gpu, &strings, sent, &mut indices[1..]);
            assert!(matches!(refused, Err(Error::LengthMismatch { .. })));
        }
    });
}

/// With nothing before it in memory: a string that is alone was once read from one byte too early.
#[test]
fn one_string_is_not_read_beyond_its_ends() {
    on_each(|gpu| {
        for strings in [&[""][..], &["x"], &["hello"], &["", ""], &["b", ""], &["b", "ab"]] {
            let ends = strings.iter().scan(0, |end, string| {
                *end += string.len();
                Some(*end)
            });
            let offsets: Vec<usize> = std::iter::once(0).chain(ends).collect();
            let mut expected: Vec<u32> = (0..strings.len() as u32).collect();
            expected.sort_by_key(|&index| strings[index as usize]);
            let found = argsort(gpu, strings.concat().as_bytes(), &offsets, true, Order::default()).unwrap();
            assert_eq!(found, expected, "{strings:?}");
        }
    });
}

#[test]
fn what_does_not_fit_is_told() {
    on_each(|gpu| {
        let stream = gpu.device().stream().unwrap();
        let bytes = gpu.device().alloc::<u8>(10).unwrap();
        let offsets = gpu.device().alloc::<u32>(3).unwrap();
        let indices = gpu.device().alloc::<u32>(3).unwrap();
        let strings = Strings { bytes: bytes.view(), offsets: Offsets::Narrow(offsets.view()) };
        // SAFETY: nothing else uses them.
        let refused = unsafe { gpu.argsort_strings(&stream, strings, indices.view(), Order::default()) };
        assert!(matches!(refused, Err(Error::LengthMismatch { .. })));
    });
}

#[test]
fn a_string_array_is_sorted_by_a_gpu_as_by_the_cpu() {
    if cuda().is_none() {
        return println!("skipped: no CUDA device");
    }
    let strings = random(200_000, b"abcdefghijklmnopqrstuvwxyz", 20, 11);
    let ends = strings.iter().scan(3, |end, string| {
        *end += string.len() as u64;
        Some(*end)
    });
    let offsets: Vec<u64> = std::iter::once(3).chain(ends).collect();
    let bytes = [b"...", &strings.concat()[..]].concat();
    let sorted = |engine| {
        let (mut offsets, mut bytes) = (offsets.clone(), bytes.clone());
        let sorter = Sorter::builder().engine(engine).build().unwrap();
        sorter.sort_string_array(&mut offsets, &mut bytes).unwrap();
        (offsets, bytes)
    };
    assert!(sorted(Engine::Cuda(0)) == sorted(Engine::Cpu));
}
