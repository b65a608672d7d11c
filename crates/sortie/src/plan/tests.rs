//! Plans for invented machines.

use super::*;
use crate::plan::{DeviceWay, MachineGpu, Vectors};
use crate::request::{Beside, Budget, KeyForm, Lengths, Operation};
use crate::{Algorithm, Bound, Engine, Nans, Order, Segments, Sorter, SorterBuilder};

const GB: u64 = 1 << 30;

/// A machine with this many H200s, each with this much free memory.
fn machine(gpus: u32, free: u64) -> Machine {
    let gpu = |ordinal| MachineGpu { free, ..MachineGpu::shipped("NVIDIA H200", ordinal).unwrap() };
    (0..gpus).map(gpu).fold(Machine::of_cpu(Vectors::Avx512), Machine::with_gpu)
}

/// A request with 16 threads.
fn request(builder: SorterBuilder, operation: Operation, keys: KeyForm, beside: Beside, n: usize) -> Request {
    let mut request = builder.build().unwrap().request(operation, keys, beside, n);
    request.budget.threads = 16;
    request
}

fn array(builder: SorterBuilder, n: usize) -> Request {
    request(builder, Operation::Array, KeyForm::of::<u64>(), Beside::Nothing, n)
}

fn on(engine: &str) -> SorterBuilder {
    Sorter::builder().engine(engine.parse().unwrap())
}

fn segments(n: usize, length: usize) -> Operation {
    Operation::Segments(Some(Box::new(Lengths::of(n, Segments::Length(length)))))
}

#[test]
fn without_a_gpu_the_cpu_sorts() {
    let plan = plan(&array(on("auto"), 1 << 30), &machine(0, 0)).unwrap();
    assert_eq!((plan.route, plan.reason), (Route::Cpu(CpuWay::Distribute), Reason::NoGpu));
    assert!(plan.scratch.bytes() < (8 << 30) / 20, "5% of the data");
    assert_eq!(plan.predicted.len(), 1);
    for engine in ["cuda", "hybrid", "cuda:0,1"] {
        let refused = super::plan(&array(on(engine), 100), &machine(0, 0)).unwrap_err();
        assert!(refused.to_string().contains("cuda:0"), "{refused}");
    }
}

/// For every operation, the first of equal GPUs is used if it is worth starting, and none is used if not.
#[test]
fn auto_decides_for_every_operation() {
    let payload = Beside::Payload { bytes: 4, stable: true };
    let indices = Beside::Indices { stable: true };
    let kinds: [(Operation, KeyForm, Beside); 7] = [
        (Operation::Array, KeyForm::of::<u32>(), Beside::Nothing),
        (Operation::Array, KeyForm::of::<u64>(), payload),
        (Operation::Array, KeyForm::of::<f32>(), indices),
        (Operation::Array, KeyForm::Strings, payload),
        (segments(1 << 29, 1 << 12), KeyForm::of::<u32>(), Beside::Nothing),
        (segments(1 << 29, 1 << 12), KeyForm::of::<f64>(), payload),
        (segments(1 << 29, 1 << 12), KeyForm::of::<i64>(), indices),
    ];
    for (operation, keys, beside) in kinds {
        for gpus in [1, 2, 8] {
            let plan = |n| {
                let operation = match operation {
                    Operation::Segments(_) => segments(n, 1 << 12),
                    ref other => other.clone(),
                };
                plan(&request(on("auto"), operation, keys, beside, n), &machine(gpus, 100 * GB)).unwrap()
            };
            // Segments alone are sorted as fast as they are copied.
            let is_segments = matches!(operation, Operation::Segments(_));
            let large = plan(if is_segments { 1 << 32 } else { 1 << 30 });
            if !is_segments || beside != Beside::Nothing {
                assert!(matches!(large.route, Route::Gpu(0, _)), "{keys:?} {beside:?}: {large}");
                assert_eq!(large.reason, Reason::GpuIsFaster);
            }
            assert_eq!(large.predicted.len(), 1 + gpus as usize);
            let medium = plan(1 << 23);
            assert_eq!(medium.reason, Reason::CpuIsFaster, "{keys:?} {beside:?}: {medium}");
            assert_eq!(plan(1 << 12).reason, Reason::Few);
        }
    }
}

#[test]
fn what_has_no_gpu_is_sorted_by_the_cpu() {
    let machine = machine(8, 100 * GB);
    let n = 1 << 28;
    for (keys, beside) in [
        (KeyForm::Compound { bytes: 16 }, Beside::Nothing),
        (KeyForm::Compared, Beside::Payload { bytes: 16, stable: true }),
    ] {
        let plan = plan(&request(on("auto"), Operation::Array, keys, beside, n), &machine).unwrap();
        assert_eq!(plan.reason, Reason::NotOnGpu, "{plan}");
    }
    let merge = plan(&array(on("auto").algorithm(Algorithm::Merge), n), &machine).unwrap();
    assert_eq!((merge.route, merge.reason), (Route::Cpu(CpuWay::Merge), Reason::NotOnGpu));
    // A GPU tells NaNs apart.
    let nans = on("auto").nans(Nans::EqualLast);
    let indices = Beside::Indices { stable: true };
    let plan = plan(&request(nans, Operation::Array, KeyForm::of::<f32>(), indices, n), &machine).unwrap();
    assert_eq!(plan.reason, Reason::NotOnGpu);
}

#[test]
fn memory_decides_how_an_array_goes() {
    let n = 1 << 30;
    let way = |request: &Request, free| plan(request, &machine(1, free)).unwrap().route;
    let named = array(on("cuda"), n);
    assert_eq!(way(&named, 100 * GB), Route::Gpu(0, GpuWay::Whole(DeviceWay::Digits)));
    // Two copies of 8 GB do not fit, one does: in place.
    assert_eq!(way(&named, 12 * GB), Route::Gpu(0, GpuWay::Whole(DeviceWay::Network)));
    assert_eq!(way(&named, 4 * GB), Route::Gpu(0, GpuWay::Chunks));
    let limited = |limit| array(on("cuda").memory_limit(limit), n);
    assert_eq!(way(&limited(10 * GB), 4 * GB), Route::Gpu(0, GpuWay::Chunks));
    assert_eq!(way(&limited(6 * GB), 4 * GB), Route::Gpu(0, GpuWay::Ranges));
    // Engine::Auto does not choose a way in which a failure would be visible.
    let auto = plan(&array(on("auto"), n), &machine(1, 4 * GB)).unwrap();
    assert_eq!((auto.route, auto.reason), (Route::Cpu(CpuWay::Distribute), Reason::DoesNotFit));
    // Pairs cannot be sorted in ranges: the refusal is of the way that takes the least.
    let payload = Beside::Payload { bytes: 8, stable: true };
    let pairs = request(on("cuda").memory_limit(GB), Operation::Array, KeyForm::of::<u64>(), payload, n);
    let refused = plan(&pairs, &machine(1, 4 * GB)).unwrap_err();
    assert!(
        matches!(refused, Error::Memory { bound: Bound::Limit, needed, available: GB, .. } if needed >> 34 == 1),
        "{refused}"
    );
}

/// Everything that is tried later takes less memory, or is the CPU.
#[test]
fn a_plan_names_what_is_tried_next() {
    let n = 1 << 30;
    let routes = |request: &Request, free| {
        let plan = plan(request, &machine(2, free)).unwrap();
        [&[plan.route], &plan.alternatives[..]].concat()
    };
    let whole = |way| Route::Gpu(0, GpuWay::Whole(way));
    let in_parts = [Route::Gpu(0, GpuWay::Chunks), Route::Gpu(0, GpuWay::Ranges)];
    let (digits, network) = (whole(DeviceWay::Digits), whole(DeviceWay::Network));
    let named = array(on("cuda"), n);
    assert_eq!(routes(&named, 100 * GB), [&[digits, network], &in_parts[..]].concat());
    assert_eq!(routes(&named, 12 * GB), [&[network], &in_parts[..]].concat());
    let limited = array(on("cuda").memory_limit(6 * GB), n);
    assert_eq!(routes(&limited, 4 * GB), [in_parts[1]]);
    let cpu = Route::Cpu(CpuWay::Distribute);
    assert_eq!(routes(&array(on("auto"), n), 100 * GB), [digits, network, cpu]);
    assert_eq!(routes(&array(on("auto"), n), 0), [cpu]);
    let hybrid = array(on("hybrid").gpu_share(0.5), n);
    let both = [Route::Gpu(0, GpuWay::WithCpu(0.5)), digits, network];
    assert_eq!(routes(&hybrid, 100 * GB), [&both, &in_parts[..]].concat());
    let two = array(on("cuda:0,1"), n);
    let Engine::CudaDevices(devices) = two.engine else { unreachable!("two devices") };
    assert_eq!(routes(&two, 4 * GB), [Route::Gpus(devices), in_parts[1]]);
    // A named algorithm is not replaced by another.
    let bitonic = array(on("cuda").algorithm(Algorithm::Bitonic), n);
    assert_eq!(routes(&bitonic, 100 * GB), [network]);
    // What keeps the order of equal keys is not replaced by what does not.
    let payload = Beside::Payload { bytes: 8, stable: true };
    let pairs = request(on("cuda"), Operation::Array, KeyForm::of::<u64>(), payload, 1 << 28);
    assert_eq!(routes(&pairs, 100 * GB)[1..], [whole(DeviceWay::Segment), in_parts[0]]);
    assert_eq!(
        routes(&request(on("auto"), Operation::Array, KeyForm::Strings, payload, n), 100 * GB)[1..],
        [cpu]
    );
}

#[test]
fn several_gpus_share_what_does_not_fit_the_first() {
    for engine in ["cuda:0,1", "cuda:0,1,2,3,4,5,6,7"] {
        let machine = machine(8, 8 * GB);
        let small = plan(&array(on(engine), 1 << 20), &machine).unwrap();
        assert!(matches!(small.route, Route::Gpu(0, GpuWay::Whole(_))), "{small}");
        let large = plan(&array(on(engine), 1 << 33), &machine).unwrap();
        assert!(matches!(large.route, Route::Gpus(_)), "{large}");
        assert!(large.scratch.host >= 8 << 33, "a copy on the host");
    }
    let missing = plan(&array(on("cuda:0,5"), 1 << 20), &machine(2, GB)).unwrap_err();
    assert!(missing.to_string().contains("cuda:5"), "{missing}");
}

#[test]
fn a_share_of_the_keys_is_the_cpus() {
    let tuned = MachineGpu { share: 0.75, ..MachineGpu::shipped("NVIDIA H200", 0).unwrap() };
    let machine = Machine::of_cpu(Vectors::Avx512).with_gpu(tuned);
    let way = |builder| plan(&array(builder, 1 << 28), &machine).unwrap().route;
    assert_eq!(way(on("hybrid")), Route::Gpu(0, GpuWay::WithCpu(0.75)));
    assert_eq!(way(on("hybrid").gpu_share(0.5)), Route::Gpu(0, GpuWay::WithCpu(0.5)));
    assert_eq!(way(on("cuda")), Route::Gpu(0, GpuWay::Whole(DeviceWay::Digits)));
}

#[test]
fn a_plan_is_a_value_that_can_be_read() {
    let request = array(on("auto"), 1 << 30);
    let first = plan(&request, &machine(2, 100 * GB)).unwrap();
    assert_eq!(first, plan(&request.clone(), &machine(2, 100 * GB)).unwrap());
    let text = first.to_string();
    for part in
        ["route:     cuda:0, the whole array at once", "predicted to be faster", "GPU memory", "ms by cpu"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("cuda:1 (NVIDIA H200)"), "{text}");
}

/// The CPU's scratch stays within what its plan says, for all sorts that have a limit.
#[test]
fn scratch_is_as_planned() {
    // From this number of keys on, an argsort distributes its words.
    let n = 1 << 20;
    let keys: Vec<u64> = (0..n as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    let narrow: Vec<u32> = keys.iter().map(|&key| (key >> 32) as u32).collect();
    let strings: Vec<String> = keys.iter().map(u64::to_string).collect();
    for algorithm in [Algorithm::Auto, Algorithm::Merge] {
        let sorter = Sorter::builder().threads(2).algorithm(algorithm).build().unwrap();
        let planned = |form, beside| {
            sorter.explain(&sorter.request(Operation::Array, form, beside, n)).unwrap().scratch.bytes()
        };
        let payload = |bytes| Beside::Payload { bytes, stable: true };
        let number = KeyForm::of::<u64>();
        let checked = [
            (sorter.sort(&mut keys.clone()), planned(number, Beside::Nothing)),
            (sorter.sort_pairs(&mut keys.clone(), &mut keys.clone()), planned(number, payload(8))),
            (sorter.argsort(&keys, &mut vec![0usize; n]), planned(number, Beside::Indices { stable: true })),
            (
                sorter.argsort(&narrow, &mut vec![0u32; n]),
                planned(KeyForm::of::<u32>(), Beside::Indices { stable: true }),
            ),
            (
                sorter.sort_strings(&mut strings.clone()),
                planned(KeyForm::Strings, payload(size_of::<String>())),
            ),
        ];
        for (i, (report, planned)) in checked.into_iter().enumerate() {
            let peak = report.unwrap().scratch_peak;
            assert!(peak <= planned, "{algorithm:?}, {i}: {peak} of {planned}");
        }
    }
}

#[test]
fn items_without_a_size_may_be_any_number() {
    for (keys, beside) in [
        (KeyForm::Compared, Beside::Payload { bytes: 0, stable: true }),
        (KeyForm::Strings, Beside::Payload { bytes: 0, stable: true }),
        (KeyForm::Compound { bytes: 0 }, Beside::Indices { stable: true }),
    ] {
        for algorithm in [Algorithm::Auto, Algorithm::Merge] {
            let builder = on("auto").algorithm(algorithm);
            let planned =
                plan(&request(builder, Operation::Array, keys, beside, usize::MAX), &machine(1, GB));
            assert!(planned.is_ok(), "{keys:?}");
        }
    }
}

/// Requests alone decide what is refused and whether limits are kept.
#[test]
fn refusals_name_what_there_is_instead() {
    let machine = machine(2, GB);
    let refused = |builder, operation, keys, beside| {
        plan(&request(builder, operation, keys, beside, 1000), &machine).unwrap_err().to_string()
    };
    let quicksort = refused(
        on("cpu").algorithm(Algorithm::Quicksort),
        Operation::Array,
        KeyForm::of::<u32>(),
        Beside::Payload { bytes: 4, stable: true },
    );
    assert!(quicksort.contains("unstable()") && quicksort.contains("Radix"), "{quicksort}");
    let bitonic = refused(
        on("cpu").algorithm(Algorithm::Bitonic),
        Operation::Array,
        KeyForm::of::<u32>(),
        Beside::Nothing,
    );
    assert!(bitonic.contains("Bitonic") && bitonic.contains("a GPU"), "{bitonic}");
    let several = refused(on("cuda:0,1"), segments(1000, 10), KeyForm::of::<u32>(), Beside::Nothing);
    assert!(several.contains("several GPUs"), "{several}");
    let lcps = refused(on("cuda"), Operation::Lcps, KeyForm::Strings, Beside::Indices { stable: true });
    assert!(lcps.contains("choose the CPU"), "{lcps}");
    let top = Operation::TopK { k: 10, sorted: true };
    let top = refused(on("cuda"), top, KeyForm::of::<f32>(), Beside::Indices { stable: true });
    assert_eq!(top, "the first k keys, or their indices are not supported by a GPU; choose the CPU");
    let budget = Budget { threads: 1, memory: 10, held: 4 };
    let short = budget.scratch(7, "a hint", &mut crate::Report::default());
    assert!(matches!(short, Err(Error::Memory { bound: Bound::Limit, needed: 11, available: 10, .. })));
    assert_eq!((budget.left(), Order::default()), (6, Order::default()));
}

/// A request is just a value: it may state more keys than fit in memory, or more bytes than fit in a number.
#[test]
fn the_largest_requests_are_planned_or_refused() {
    let most = [usize::MAX, usize::MAX / 2, 1 << 60, 1 << 48];
    let numbers = [1, 2, 4, 8, 16].map(|bytes| KeyForm::Number { bytes, float: false });
    let forms = [KeyForm::Strings, KeyForm::Compared, KeyForm::Compound { bytes: usize::MAX }];
    let forms: Vec<KeyForm> = numbers.into_iter().chain(forms).collect();
    let besides = [1, 8, 1 << 20, usize::MAX].map(|bytes| Beside::Payload { bytes, stable: true });
    let besides = [&besides[..], &[Beside::Nothing, Beside::Indices { stable: true }]].concat();
    let mut refused = 0;
    let engines = ["auto", "cpu", "cuda", "hybrid", "cuda:0,1"];
    for (n, engine) in most.into_iter().flat_map(|n| engines.map(|engine| (n, engine))) {
        for (&keys, &beside) in forms.iter().flat_map(|keys| besides.iter().map(move |beside| (keys, beside)))
        {
            let operations = [
                Operation::Array,
                Operation::Lcps,
                Operation::Segments(None),
                segments(n, n),
                segments(n, 1),
                Operation::TopK { k: 1 << 20, sorted: true },
                Operation::TopK { k: usize::MAX, sorted: false },
                Operation::Nth { count: 1 },
                Operation::Nth { count: usize::MAX },
                Operation::Partition,
                Operation::Search,
            ];
            for operation in operations {
                for algorithm in [Algorithm::Auto, Algorithm::Radix, Algorithm::Merge, Algorithm::Bitonic] {
                    let sorter = on(engine).algorithm(algorithm);
                    let mut request = request(sorter, operation.clone(), keys, beside, n);
                    request.budget.held = 100;
                    match super::plan(&request, &machine(2, 140 * GB)) {
                        Ok(plan) => assert!(plan.scratch.bytes() >= plan.scratch.host, "{plan}"),
                        Err(Error::Memory { .. }) => refused += 1,
                        Err(Error::Unsupported(_)) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            }
        }
    }
    assert!(refused > 0);
}
