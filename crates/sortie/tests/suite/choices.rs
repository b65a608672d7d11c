//! What a [`Sorter`] refuses, and with which error; an error leaves the data as it was.

use sortie::{Algorithm, Bound, Engine, Error, QuantileMethod, RankMethod, Report, Segments, Side, Sorter};

fn shuffled(n: u32) -> Vec<u32> {
    (0..n).map(|i| i.wrapping_mul(0x9E37_79B1)).collect()
}

/// A call of a sorter on data of its own. Returns the result, and whether the data is as it was.
type Call = (&'static str, fn(&Sorter) -> (Result<Report, Error>, bool));

const N: u32 = 265_001;

const CALLS: &[Call] = &[
    ("sort", |sorter| {
        let mut keys = shuffled(N);
        (sorter.sort(&mut keys), keys == shuffled(N))
    }),
    ("sort of records", |sorter| {
        let records = || shuffled(N).into_iter().map(|x| (x % 100, x.to_be_bytes())).collect::<Vec<_>>();
        let mut keys = records();
        (sorter.sort(&mut keys), keys == records())
    }),
    ("sort_pairs", |sorter| {
        let (mut keys, mut payload) = (shuffled(N), shuffled(N));
        let result = sorter.sort_pairs(&mut keys, &mut payload);
        (result, keys == shuffled(N) && payload == shuffled(N))
    }),
    ("sort_pairs of records", |sorter| {
        let records = || shuffled(N).into_iter().map(|x| (x % 100, x as u8)).collect::<Vec<_>>();
        let (mut keys, mut payload) = (records(), shuffled(N));
        let result = sorter.sort_pairs(&mut keys, &mut payload);
        (result, keys == records() && payload == shuffled(N))
    }),
    ("argsort", |sorter| {
        let (keys, mut indices) = (shuffled(N), vec![7u32; N as usize]);
        let result = sorter.argsort(&keys, &mut indices);
        (result, indices.iter().all(|&index| index == 7))
    }),
    ("sort_segments", |sorter| {
        let mut keys = shuffled(N);
        let result = sorter.sort_segments(&mut keys, Segments::Offsets(&[1, 5, 60_000]));
        (result, keys == shuffled(N))
    }),
    ("sort_pairs_segments", |sorter| {
        let (mut keys, mut payload) = (shuffled(N), shuffled(N));
        let segments = Segments::Offsets(&[1, 5, 2000, 60_000]);
        let result = sorter.sort_pairs_segments(&mut keys, &mut payload, segments);
        (result, keys == shuffled(N) && payload == shuffled(N))
    }),
    ("sort_pairs_segments of records", |sorter| {
        let records = || shuffled(N).into_iter().map(|x| (x % 100, x as u8)).collect::<Vec<_>>();
        let (mut keys, mut payload) = (records(), shuffled(N));
        let segments = Segments::Offsets(&[1, 5, 2000, 60_000]);
        let result = sorter.sort_pairs_segments(&mut keys, &mut payload, segments);
        (result, keys == records() && payload == shuffled(N))
    }),
    ("argsort_segments", |sorter| {
        let (keys, mut indices) = (shuffled(N), vec![u64::MAX; N as usize]);
        let result = sorter.argsort_segments(&keys, &mut indices, Segments::Offsets(&[1, 5, 2000, 60_000]));
        (result, indices.iter().all(|&index| index == u64::MAX))
    }),
    ("argsort_segments of records", |sorter| {
        let keys: Vec<_> = shuffled(N).into_iter().map(|x| (x % 100, x as u8)).collect();
        let mut indices = vec![u32::MAX; N as usize];
        let result = sorter.argsort_segments(&keys, &mut indices, Segments::Offsets(&[1, 5, 2000, 60_000]));
        (result, indices.iter().all(|&index| index == u32::MAX))
    }),
    ("arg_top_k", |sorter| {
        let (keys, mut indices) = (shuffled(N), vec![7u32; 5000]);
        let result = sorter.arg_top_k(&keys, &mut indices);
        (result, indices.iter().all(|&index| index == 7))
    }),
    ("arg_top_k of strings", |sorter| {
        let strings: Vec<String> = shuffled(N).iter().map(u32::to_string).collect();
        let mut indices = vec![7u32; 5000];
        let result = sorter.arg_top_k(&strings, &mut indices);
        (result, indices.iter().all(|&index| index == 7))
    }),
    ("top_k of records", |sorter| {
        let keys: Vec<_> = shuffled(N).into_iter().map(|x| (x % 100, x.to_be_bytes())).collect();
        let mut top = vec![(7, [0; 4]); 5000];
        let result = sorter.top_k(&keys, &mut top);
        (result, top.iter().all(|&key| key == (7, [0; 4])))
    }),
    ("nth", |sorter| {
        let (keys, mut nth) = (shuffled(N), [7, 7]);
        let result = sorter.nth(&keys, &[3, 60_000], &mut nth);
        (result, nth == [7, 7])
    }),
    ("nth at many indices", |sorter| {
        let (keys, mut nth) = (shuffled(N), [7; 20]);
        let indices: Vec<usize> = (0..20).map(|i| i * 1000).collect();
        let result = sorter.nth(&keys, &indices, &mut nth);
        (result, nth == [7; 20])
    }),
    ("arg_nth of strings", |sorter| {
        let strings: Vec<String> = shuffled(N).iter().map(u32::to_string).collect();
        let mut found = [77u32];
        let result = sorter.arg_nth(&strings, &[60_000], &mut found);
        (result, found == [77])
    }),
    ("quantiles", |sorter| {
        let (keys, mut values) = (shuffled(N), [0.5; 3]);
        let result = sorter.quantiles(&keys, &[0.1, 0.5, 0.9], QuantileMethod::Linear, &mut values);
        (result, values == [0.5; 3])
    }),
    ("partition", |sorter| {
        let mut keys = shuffled(N);
        (sorter.partition(&mut keys, &[60_000]), keys == shuffled(N))
    }),
    ("unique", |sorter| {
        let mut unique = vec![7];
        (sorter.unique(&shuffled(N), &mut unique), unique == [7])
    }),
    ("rank of strings", |sorter| {
        let strings: Vec<String> = shuffled(N).iter().map(u32::to_string).collect();
        let mut ranks = vec![0.0; strings.len()];
        let result = sorter.rank(&strings, RankMethod::Dense, &mut ranks);
        (result, ranks.iter().all(|&rank| rank == 0.0))
    }),
    ("search_sorted", |sorter| {
        let (keys, mut positions) = (Vec::from_iter(0..N), vec![u64::MAX; N as usize]);
        let result = sorter.search_sorted(&keys, &shuffled(N), Side::Left, &mut positions);
        (result, positions.iter().all(|&position| position == u64::MAX))
    }),
    ("sort_by_key", |sorter| {
        let mut v = shuffled(N);
        (sorter.sort_by_key(&mut v, |x| x % 1000), v == shuffled(N))
    }),
    ("sort_by_cached_key", |sorter| {
        let mut v = shuffled(N);
        (sorter.sort_by_cached_key(&mut v, |x| x % 1000), v == shuffled(N))
    }),
    ("sort_by", |sorter| {
        let mut v = shuffled(N);
        (sorter.sort_by(&mut v, |a, b| a.cmp(b)), v == shuffled(N))
    }),
    ("sort_strings", |sorter| {
        let strings = || shuffled(N).iter().map(u32::to_string).collect::<Vec<_>>();
        let mut sorted = strings();
        (sorter.sort_strings(&mut sorted), sorted == strings())
    }),
    ("argsort_strings", |sorter| {
        let strings: Vec<String> = shuffled(N).iter().map(u32::to_string).collect();
        let mut indices = vec![7u32; strings.len()];
        let result = sorter.argsort_strings(&strings, &mut indices);
        (result, indices.iter().all(|&index| index == 7))
    }),
    ("sort_strings_with_lcps", |sorter| {
        let strings = || shuffled(N).iter().map(u32::to_string).collect::<Vec<_>>();
        let (mut sorted, mut lcps) = (strings(), vec![77u32; N as usize]);
        let result = sorter.sort_strings_with_lcps(&mut sorted, &mut lcps);
        (result, sorted == strings() && lcps.iter().all(|&lcp| lcp == 77))
    }),
    ("argsort_strings_with_lcps", |sorter| {
        let strings: Vec<String> = shuffled(N).iter().map(u32::to_string).collect();
        let (mut indices, mut lcps) = (vec![7u32; strings.len()], vec![77u64; strings.len()]);
        let result = sorter.argsort_strings_with_lcps(&strings, &mut indices, &mut lcps);
        (result, indices.iter().all(|&index| index == 7) && lcps.iter().all(|&lcp| lcp == 77))
    }),
    ("sort_string_array", |sorter| {
        let array =
            || ((0..=N).collect::<Vec<_>>(), shuffled(N).iter().map(|&x| x as u8).collect::<Vec<_>>());
        let (mut offsets, mut bytes) = array();
        (sorter.sort_string_array(&mut offsets, &mut bytes), (offsets, bytes) == array())
    }),
];

/// With too little memory, a call says exactly how much it needs: with that limit it works and holds no more, and with
/// a byte less it refuses again.
#[test]
fn memory_limits_are_exact() {
    for (name, call) in CALLS {
        for threads in [1, 2] {
            let limited =
                |limit| call(&Sorter::builder().threads(threads).memory_limit(limit).build().unwrap());
            let mut limit = 0;
            let mut refusals = 0;
            // After a plan is refused, another that needs less may be tried, with its own need.
            let report = loop {
                let (result, untouched) = limited(limit);
                match result {
                    Ok(report) => break report,
                    Err(Error::Memory { bound: Bound::Limit, needed, available, hint }) => {
                        assert!(untouched, "{name}: refused, but touched the data");
                        assert_eq!(available, limit, "{name}");
                        assert!(needed > limit, "{name}: {needed} would do, but not {limit}");
                        assert!(!hint.is_empty(), "{name}");
                        let (result, untouched) = limited(needed - 1);
                        assert!(matches!(result, Err(Error::Memory { .. })) && untouched, "{name}: {needed}");
                        limit = needed;
                        refusals += 1;
                        assert!(refusals < 5, "{name}: {needed} bytes asked for, and still too little");
                    }
                    Err(other) => panic!("{name}: {other}"),
                }
            };
            assert!(report.scratch_peak <= limit, "{name}: held {} of {limit}", report.scratch_peak);
        }
    }
}

#[test]
fn memory_errors_state_the_numbers() {
    let sorter = Sorter::builder().memory_limit(10).build().unwrap();
    let Err(error) = sorter.sort_pairs(&mut shuffled(10_000), &mut shuffled(10_000)) else {
        panic!("10000 pairs cannot be sorted stably with 10 bytes");
    };
    let Error::Memory { needed, .. } = error else { panic!("{error}") };
    let text = error.to_string();
    assert!(text.contains(&format!("needs {needed} bytes")) && text.contains("10 are allowed"), "{text}");
}

/// The row of the table that applies to each call.
const ROWS: &[(&str, &str)] = &[
    ("sort", "numbers of 32 or 64 bits"),
    ("sort of records", "compound keys"),
    ("sort_pairs", "pairs with keys of 32 or 64 bits"),
    ("sort_pairs of records", "pairs or indices of compound keys"),
    ("argsort", "indices of numbers of 32 or 64 bits"),
    ("sort_segments", "segments of numbers"),
    ("sort_pairs_segments", "segments of pairs or indices of numbers"),
    ("sort_pairs_segments of records", "segments of pairs or indices of compound keys"),
    ("argsort_segments", "segments of pairs or indices of numbers"),
    ("argsort_segments of records", "segments of pairs or indices of compound keys"),
    ("arg_top_k", "the first k keys, or their indices"),
    ("arg_top_k of strings", "the first k keys, or their indices"),
    ("top_k of records", "the first k keys, or their indices"),
    ("nth", "keys at some indices of the order, or a partition by them"),
    ("nth at many indices", "keys at some indices of the order, or a partition by them"),
    ("arg_nth of strings", "keys at some indices of the order, or a partition by them"),
    ("quantiles", "keys at some indices of the order, or a partition by them"),
    ("partition", "keys at some indices of the order, or a partition by them"),
    ("unique", "numbers of 32 or 64 bits"),
    ("rank of strings", "strings, or indices of strings"),
    ("search_sorted", "queries of sorted keys"),
    ("sort_by_key", "indices of numbers of 32 or 64 bits"),
    ("sort_by_cached_key", "items by a comparison"),
    ("sort_by", "items by a comparison"),
    ("sort_strings", "strings, or indices of strings"),
    ("argsort_strings", "strings, or indices of strings"),
    ("sort_strings_with_lcps", "strings with their common prefixes"),
    ("argsort_strings_with_lcps", "strings with their common prefixes"),
    ("sort_string_array", "strings, or indices of strings"),
];

/// A named algorithm sorts if the table of capabilities has it. Otherwise it is refused, and the data is as it was.
#[test]
fn algorithms_sort_or_refuse_as_the_table_says() {
    let table = sortie::plan::capabilities();
    for (name, call) in CALLS {
        let (_, row) = ROWS.iter().find(|(call, _)| call == name).unwrap();
        let line = table.lines().find(|line| line.starts_with(&format!("| {row} |"))).unwrap();
        let on_cpu: Vec<&str> = line.split('|').nth(2).unwrap().split(',').map(str::trim).collect();
        for algorithm in [
            Algorithm::Auto,
            Algorithm::Radix,
            Algorithm::Quicksort,
            Algorithm::Merge,
            Algorithm::Bitonic,
            Algorithm::SampleSort,
        ] {
            for unstable in [false, true] {
                let choices = Sorter::builder().threads(1).algorithm(algorithm);
                let sorter = if unstable { choices.unstable() } else { choices }.build().unwrap();
                let context = format!("{name}, {algorithm:?}, unstable: {unstable}");
                let (always, if_unstable) = (format!("{algorithm:?}"), format!("{algorithm:?}*"));
                let has = on_cpu.contains(&&*always) || unstable && on_cpu.contains(&&*if_unstable);
                match call(&sorter) {
                    (Ok(_), untouched) => {
                        assert!(!untouched, "{context}: nothing happened");
                        assert!(has, "{context}: not refused");
                    }
                    (Err(Error::Unsupported(why)), untouched) => {
                        assert!(untouched, "{context}: refused, but touched the data");
                        assert!(!has && !why.is_empty(), "{context}: refused: {why}");
                    }
                    (Err(other), _) => panic!("{context}: {other}"),
                }
            }
        }
    }
}

#[test]
fn lengths_that_differ() {
    let sorter = Sorter::builder().build().unwrap();
    let (mut keys, mut payload) = (vec![3, 1, 2], vec![1, 2]);
    let error = sorter.sort_pairs(&mut keys, &mut payload).unwrap_err();
    assert_eq!(error, Error::LengthMismatch { what: "payload", expected: 3, found: 2 });
    let segments = Segments::Length(3);
    assert_eq!(sorter.sort_pairs_segments(&mut keys, &mut payload, segments), Err(error));
    assert_eq!((keys, payload), (vec![3, 1, 2], vec![1, 2]));
    let error = sorter.argsort(&[3, 1, 2], &mut [0u32; 4]).unwrap_err();
    assert_eq!(error, Error::LengthMismatch { what: "indices", expected: 3, found: 4 });
    let error = sorter.argsort_strings(&["b", "a"], &mut [0usize; 1]).unwrap_err();
    assert_eq!(error, Error::LengthMismatch { what: "indices", expected: 2, found: 1 });
    assert!(error.to_string().contains('2') && error.to_string().contains('1'));
    let (mut strings, mut indices) = (["b", "a"], [7usize; 2]);
    let error = sorter.sort_strings_with_lcps(&mut strings, &mut [0u32; 3]).unwrap_err();
    assert_eq!(error, Error::LengthMismatch { what: "lcps", expected: 2, found: 3 });
    assert_eq!(sorter.argsort_strings_with_lcps(&strings, &mut indices, &mut [0u32; 3]), Err(error));
    let error = sorter.argsort_strings_with_lcps(&strings, &mut [0usize; 1], &mut [0u32; 2]).unwrap_err();
    assert_eq!(error, Error::LengthMismatch { what: "indices", expected: 2, found: 1 });
    assert_eq!((strings, indices), (["b", "a"], [7, 7]));
}

/// Strings of 2^32 bytes could share as many.
#[test]
fn lcps_that_are_too_narrow() {
    let sorter = Sorter::builder().build().unwrap();
    // Never written, so the system does not back it with memory.
    let long = vec![0u8; 1 << 32];
    let mut strings = [&b"b"[..], &long, b"a"];
    let (mut narrow, mut wide) = ([7u32; 3], [7u64; 3]);
    for error in [
        sorter.sort_strings_with_lcps(&mut strings, &mut narrow).unwrap_err(),
        sorter.argsort_strings_with_lcps(&strings, &mut [0u32; 3], &mut narrow).unwrap_err(),
    ] {
        let text = error.to_string();
        assert!(matches!(error, Error::Unsupported(_)) && text.contains("4294967296 bytes"), "{text}");
        assert!(text.contains("32 bits"), "{text}");
    }
    assert!(strings[0] == b"b" && narrow == [7; 3]);
    sorter.sort_strings_with_lcps(&mut strings, &mut wide).unwrap();
    assert!(strings[1..] == [b"a", b"b"] && wide == [0; 3]);
    let mut one_less = [&b"b"[..], &long[1..]];
    sorter.sort_strings_with_lcps(&mut one_less, &mut [0u32; 2]).unwrap();
}

#[test]
fn segments_that_do_not_fit() {
    let sorter = Sorter::builder().build().unwrap();
    let bad = [
        (Segments::Length(0), "length of 0"),
        (Segments::Length(2), "5 keys are not a multiple of the length 2"),
        (Segments::Length(6), "6"),
        (Segments::Offsets(&[0, 4, 3, 5]), "4 at 1, then 3"),
        (Segments::Offsets(&[0, 6]), "6, but there are 5 keys"),
        (Segments::Offsets(&[7]), "7, but there are 5 keys"),
        (Segments::Offsets(&[usize::MAX, 0]), "decrease"),
    ];
    for (segments, said) in bad {
        let mut keys = vec![5, 4, 3, 2, 1];
        let error = sorter.sort_segments(&mut keys, segments).unwrap_err();
        assert!(matches!(error, Error::Segments(_)) && error.to_string().contains(said), "{error}");
        assert_eq!(keys, [5, 4, 3, 2, 1]);
        let mut payload = [1, 2, 3, 4, 5];
        assert_eq!(sorter.sort_pairs_segments(&mut keys, &mut payload, segments), Err(error));
        assert_eq!((keys, payload), (vec![5, 4, 3, 2, 1], [1, 2, 3, 4, 5]));
        let panic = std::panic::catch_unwind(|| sortie::sort_segments(&mut [5, 4, 3, 2, 1], segments));
        assert!(panic.is_err());
    }
}

#[test]
fn string_arrays_that_are_none() {
    let sorter = Sorter::builder().build().unwrap();
    for offsets in [&[][..], &[0, 3, 2], &[0, 2, 5]] {
        let (mut sorted, mut bytes) = (offsets.to_vec(), *b"dcba");
        let error = sorter.sort_string_array::<u32>(&mut sorted, &mut bytes).unwrap_err();
        assert!(matches!(error, Error::Segments(_)), "{error}");
        assert_eq!((&sorted[..], &bytes), (offsets, b"dcba"));
    }
}

#[test]
fn threads() {
    let error = Sorter::builder().threads(0).build().unwrap_err();
    assert!(matches!(&error, Error::Unsupported(why) if why.contains("at least 1 thread")), "{error}");
    assert!(Sorter::builder().threads(64).build().is_ok());
}

/// The builder once tried to start a million, and did not return.
#[test]
fn more_threads_than_any_machine_has_are_refused() {
    for threads in [4097, 1_000_000, usize::MAX] {
        let error = Sorter::builder().threads(threads).build().unwrap_err().to_string();
        assert!(error.contains("at most 4096 threads") && error.contains(&threads.to_string()), "{error}");
    }
}

/// A limit once refused 1,000 strings whose report named no scratch memory.
#[test]
fn few_strings_report_what_a_limit_must_allow() {
    let texts: Vec<String> = shuffled(1000).iter().map(u32::to_string).collect();
    let sorter = |limit| match limit {
        Some(limit) => Sorter::builder().memory_limit(limit).build().unwrap(),
        None => Sorter::builder().build().unwrap(),
    };
    for n in [0, 1, 16, 17, 300, 1000] {
        let sort = |limit| sorter(limit).sort_strings(&mut texts[..n].to_vec());
        let argsort = |limit| sorter(limit).argsort_strings(&texts[..n], &mut vec![0u32; n]);
        agrees_with_its_limit(sort);
        agrees_with_its_limit(argsort);
    }
}

/// A sort needs exactly the limit that its report without one names.
fn agrees_with_its_limit(sort: impl Fn(Option<u64>) -> Result<Report, Error>) {
    let peak = sort(None).unwrap().scratch_peak;
    assert_eq!(sort(Some(peak)).unwrap().scratch_peak, peak);
    assert!(peak == 0 || sort(Some(peak - 1)).is_err(), "{peak} bytes");
}

/// A sorter may be used inside a pool, from many threads at once, and after it was cloned.
#[test]
fn sorters_are_shared() {
    let sorter = Sorter::builder().threads(2).engine(Engine::Cpu).build().unwrap();
    let mut expected = shuffled(300_000);
    expected.sort_unstable();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    pool.scope(|scope| {
        for _ in 0..6 {
            let (sorter, expected) = (sorter.clone(), &expected);
            scope.spawn(move |_| {
                let mut keys = shuffled(300_000);
                sorter.sort(&mut keys).unwrap();
                assert!(keys == *expected);
                let mut keys = shuffled(300_000);
                sortie::sort(&mut keys);
                assert!(keys == *expected);
            });
        }
    });
}

#[test]
fn reports_add_up() {
    let sorter = Sorter::builder().threads(2).build().unwrap();
    for (name, call) in CALLS {
        let (result, _) = call(&sorter);
        let report = result.unwrap();
        assert!(!report.phases.is_empty(), "{name}");
        assert!(
            report.phases.iter().all(|phase| phase.milliseconds >= 0.0 && !phase.name.is_empty()),
            "{name}"
        );
        assert!(report.phases.iter().any(|phase| phase.bytes_written > 0), "{name}");
        let sum: f64 = report.phases.iter().map(|phase| phase.milliseconds).sum();
        assert_eq!(report.milliseconds(), sum, "{name}");
        let table = report.to_string();
        assert!(report.phases.iter().all(|phase| table.contains(phase.name)), "{name}: {table}");
        assert!(table.contains(&report.scratch_peak.to_string()), "{name}: {table}");
    }
}

/// The time that each thread worked is within the time of the phase; with one thread it is most of it.
#[test]
fn work_by_thread_adds_up() {
    // An argsort by packed words sorts these words as keys, which is not measured.
    let measured = ["sort_pairs", "sort_strings", "argsort_strings", "sort_string_array"];
    for (name, call) in CALLS {
        for threads in [1, 2] {
            let report = call(&Sorter::builder().threads(threads).build().unwrap()).0.unwrap();
            for phase in &report.phases {
                let context = format!("{name}, {threads} threads: {phase:?}");
                assert!(phase.work.len() <= threads, "{context}");
                let margin = phase.milliseconds * 1e-6;
                let within = 0.0..=phase.milliseconds + margin;
                assert!(phase.work.iter().all(|work| within.contains(work)), "{context}");
                let shared = ["encode", "distribute", "finish"].contains(&phase.name);
                if measured.contains(name) && shared {
                    assert_eq!(phase.work.len(), threads, "{context}");
                    assert!(phase.work.iter().sum::<f64>() > 0.0, "{context}");
                }
            }
            let several = report.phases.iter().any(|phase| phase.work.len() > 1);
            assert_eq!(report.to_string().contains(" busy "), several, "{name}");
        }
    }
}
