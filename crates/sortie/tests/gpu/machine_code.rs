//! The machine code of the kernels: the sorts whose kernels [`machine_code::check`] compiles, and what is known about
//! that code.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytemuck::Pod;
use half::f16;
use sortie::gpu::{
    Compared, DeviceGroups, DeviceHistogram, DeviceNth, DeviceSearch, DeviceSegments, DeviceTop, Equality,
    Gpu, Offsets, StringViews, Strings,
};
use sortie::gpus::{Gpus, Share};
use sortie::{Error, Key, Order};
use sortie_device::{Stream, View};
use sortie_simt::machine_code::{self, ARCHITECTURES, Architecture, Known};

/// The sorts whose kernels are compiled.
const LIST: &[machine_code::Sort<Gpu, Error>] = &[
    ("f32, length 50", |gpu| sort::<f32>(gpu, Some(50), false)),
    ("f32, length 200", |gpu| sort::<f32>(gpu, Some(200), false)),
    ("f32, length 1000", |gpu| sort::<f32>(gpu, Some(1000), false)),
    ("f32, length 4000", |gpu| sort::<f32>(gpu, Some(4000), false)),
    ("f32, length 10000", |gpu| sort::<f32>(gpu, Some(10000), false)),
    ("f32, any length", |gpu| sort::<f32>(gpu, None, false)),
    ("u64, length 1000", |gpu| sort::<u64>(gpu, Some(1000), false)),
    ("u64, any length", |gpu| sort::<u64>(gpu, None, false)),
    ("f32, length 100000", |gpu| sort::<f32>(gpu, Some(100_000), false)),
    ("u64, length 100000", |gpu| sort::<u64>(gpu, Some(100_000), false)),
    ("u128, length 50", |gpu| sort::<u128>(gpu, Some(50), false)),
    ("u128, length 1000", |gpu| sort::<u128>(gpu, Some(1000), false)),
    ("u128, any length", |gpu| sort::<u128>(gpu, None, false)),
    ("u128 with u32, length 1000", |gpu| pairs::<u128, u32>(gpu, Some(1000))),
    ("f32 descending, length 1000", |gpu| sort::<f32>(gpu, Some(1000), true)),
    ("f16, length 1000", |gpu| sort::<f16>(gpu, Some(1000), false)),
    ("u8, length 1000", |gpu| sort::<u8>(gpu, Some(1000), false)),
    ("f32 with u32, length 1000", |gpu| pairs::<f32, u32>(gpu, Some(1000))),
    ("f32 with u32, any length", |gpu| pairs::<f32, u32>(gpu, None)),
    ("f32 with 12 bytes, length 1000", |gpu| pairs::<f32, [u32; 3]>(gpu, Some(1000))),
    ("indices of f32, length 1000", |gpu| argsort::<f32>(gpu, Some(1000))),
    ("one array of u32", |gpu| one_array::<u32>(gpu, 1 << 23, OneArray::Keys)),
    ("one array of f32", |gpu| one_array::<f32>(gpu, 1 << 23, OneArray::Keys)),
    ("one array of u64", |gpu| one_array::<u64>(gpu, 1 << 23, OneArray::Keys)),
    ("one array of 2^31 u32", |gpu| one_array::<u32>(gpu, 1 << 31, OneArray::Keys)),
    ("one array of 2^31 u64", |gpu| one_array::<u64>(gpu, 1 << 31, OneArray::Keys)),
    ("one array of f32 with u32", |gpu| one_array::<f32>(gpu, 1 << 23, OneArray::Pairs)),
    ("one array of u32 with 16 bytes", |gpu| one_array::<u32>(gpu, 1 << 23, OneArray::WidePairs)),
    ("one array of f32 with u32, unstable", |gpu| one_array::<f32>(gpu, 1 << 23, OneArray::UnstablePairs)),
    ("indices of one array of u32", |gpu| one_array::<u32>(gpu, 1 << 23, OneArray::Indices)),
    ("one array of f32 with u32, by passes", |gpu| one_array::<f32>(gpu, 1 << 20, OneArray::Pairs)),
    ("one array of u32 with 16 bytes, by passes", |gpu| one_array::<u32>(gpu, 1 << 20, OneArray::WidePairs)),
    ("indices of one array of u32, by passes", |gpu| one_array::<u32>(gpu, 1 << 20, OneArray::Indices)),
    ("one array of 2^31 u32 with u32", |gpu| one_array::<u32>(gpu, 1 << 31, OneArray::Pairs)),
    ("one array of u64 with u32", |gpu| one_array::<u64>(gpu, 1 << 23, OneArray::Pairs)),
    ("one array of u64 with 16 bytes", |gpu| one_array::<u64>(gpu, 1 << 23, OneArray::WidePairs)),
    ("indices of 64 bits of one array of u32", |gpu| one_array::<u32>(gpu, 1 << 23, OneArray::WidePlaces)),
    ("canonical floats", canonical_floats),
    ("indices of one array of u64", |gpu| one_array::<u64>(gpu, 1 << 23, OneArray::Indices)),
    ("one array of f32 with u32, by a block", |gpu| one_array::<f32>(gpu, 1 << 14, OneArray::Pairs)),
    ("indices of one array of f32, by a block", |gpu| one_array::<f32>(gpu, 1 << 12, OneArray::Indices)),
    ("top of f32, placed", |gpu| top::<f32>(gpu, 100)),
    ("top of f32, sorted", |gpu| top::<f32>(gpu, 1 << 19)),
    ("top of u32, placed", |gpu| top::<u32>(gpu, 100)),
    ("top of f64, placed", |gpu| top::<f64>(gpu, 100)),
    ("top of u8, placed", |gpu| top::<u8>(gpu, 100)),
    ("top of rows of f32, held by a warp", |gpu| top_of_rows::<f32>(gpu, 1000, 8)),
    ("top of rows of f32, held by a block", |gpu| top_of_rows::<f32>(gpu, 10_000, 16)),
    ("top of rows of f32, as many as a block holds", |gpu| top_of_rows::<f32>(gpu, 16_384, 2048)),
    ("top of rows of u64, as many as a block holds", |gpu| top_of_rows::<u64>(gpu, 8192, 2048)),
    ("top of rows of f32, sorted", |gpu| top_of_rows::<f32>(gpu, 8192, 2048)),
    ("top of rows of u16, of which most keys are taken", |gpu| top_of_rows::<u16>(gpu, 1000, 600)),
    ("top of rows of f32, tile by tile", |gpu| top_of_rows::<f32>(gpu, 100_000, 64)),
    ("top of rows of f64, tile by tile", |gpu| top_of_rows::<f64>(gpu, 100_000, 64)),
    ("top of rows of f32, by as many threads as there can be", |gpu| top_of_rows::<f32>(gpu, 100_000, 500)),
    ("top of long rows of f32", |gpu| top_of_rows::<f32>(gpu, 1 << 20, 64)),
    ("top of long rows of f64", |gpu| top_of_rows::<f64>(gpu, 1 << 20, 64)),
    ("top of sorted rows of u32", |gpu| top_of_rows::<u32>(gpu, 100_000, 20_000)),
    ("keys at indices of f32", nth::<f32>),
    ("keys at indices of u32", nth::<u32>),
    ("keys at indices of u64", nth::<u64>),
    ("keys at indices of f64", nth::<f64>),
    ("keys at indices of u8", nth::<u8>),
    ("search of u32", |gpu| search::<u32>(gpu, Order::default())),
    ("search of f32", |gpu| search::<f32>(gpu, Order::DESCENDING)),
    ("search of u64", |gpu| search::<u64>(gpu, Order::default())),
    ("search of f64", |gpu| search::<f64>(gpu, Order::DESCENDING)),
    ("search of u8", |gpu| search::<u8>(gpu, Order::default())),
    ("histogram of u32", |gpu| histogram::<u32>(gpu, Order::default())),
    ("histogram of f32", |gpu| histogram::<f32>(gpu, Order::DESCENDING)),
    ("histogram of u64", |gpu| histogram::<u64>(gpu, Order::default())),
    ("histogram of f64", |gpu| histogram::<f64>(gpu, Order::DESCENDING)),
    ("histogram of u8", |gpu| histogram::<u8>(gpu, Order::default())),
    ("groups of u32", groups::<u32>),
    ("groups of f32", groups::<f32>),
    ("groups of u64", groups::<u64>),
    ("groups of f64", groups::<f64>),
    ("groups of u8", groups::<u8>),
    ("u32 on several devices", on_several::<u32>),
    ("f32 on several devices", on_several::<f32>),
    ("u64 on several devices", on_several::<u64>),
    ("u32 with 16 bytes on several devices", pairs_on_several::<u32, u128>),
    ("u32, by comparison", by_comparison::<u32>),
    ("u64, by comparison", by_comparison::<u64>),
    ("64 bytes, by comparison", by_comparison::<[u8; 64]>),
    ("indices of u64, by comparison", indices_by_comparison::<u64>),
    ("u32, bitonic", bitonic::<u32>),
    ("f32, bitonic", bitonic::<f32>),
    ("u64, bitonic", bitonic::<u64>),
    ("u8, bitonic", bitonic::<u8>),
    ("u32 with u32, bitonic", bitonic_pairs::<u32, u32>),
    ("u64 with 16 bytes, bitonic", bitonic_pairs::<u64, u128>),
    ("u64 with 64 bytes, bitonic", bitonic_pairs::<u64, [u64; 8]>),
    ("strings", strings),
];

const KNOWN: &[Known] = &[
    Known {
        reason: "some registers of a tile of an argsort, once for its 20 keys",
        programs: &[("sort_segments-4-Integers-4-1-TILES-1024-20-0-1", &[("sm_90", 164)])],
    },
    Known {
        reason: "a lane holds the limits of 8 queries, of 64 bits each",
        programs: &[("search_sorted-8-FloatsDescending-1-512-2-4-8-256-256", &[("sm_100", 8)])],
    },
    Known {
        reason: "1,024 threads have 64 registers each, and the few that are missing do so outside of the loops over keys",
        programs: &[
            ("select_rows-4-FloatsDescending-1-1024-2048-10-4-1-0", &[("sm_80", 74), ("sm_89", 74)]),
            ("select-8-FloatsDescending-0-8-32", &[("sm_89", 8)]),
            ("select-8-FloatsDescending-1-8-32", &[("sm_89", 8)]),
        ],
    },
    Known {
        reason: "a row of 52 keys leaves few of 64 registers for anything else, and a thread alone sorts 50 keys \
                 faster than two do (worker.rs)",
        programs: &[("sort_segments-4-Floats-0-0-TILED-1-52-48-128", &[("sm_90", 28), ("sm_100", 56)])],
    },
    Known {
        reason: "up to eight registers, once for the 24 or 32 keys of a thread, beside a column of 32 keys",
        programs: &[
            (
                "sort_segments-4-FloatsDescending-0-0-FIXED-32-32-28-4",
                &[("sm_80", 64), ("sm_89", 56), ("sm_100", 16)],
            ),
            ("sort_segments-4-Floats-0-0-LISTED-32-24-16-4", &[("sm_90", 56)]),
            ("sort_segments-2-Floats-0-0-FIXED-32-32-28-4", &[("sm_100", 8)]),
        ],
    },
    Known {
        reason: "some registers of the longest row that is faster all the same: a larger tile waits less for others (onesweep.rs)",
        programs: &[
            ("onesweep-4-Integers-0-0-0-0-384-24", &[("sm_80", 200), ("sm_89", 24), ("sm_90", 8)]),
            ("onesweep-4-Floats-0-0-0-0-384-24", &[("sm_80", 176), ("sm_89", 56), ("sm_90", 8)]),
            ("onesweep-4-Integers-0-0-0-1-384-24", &[("sm_80", 24)]),
            (
                "onesweep-4-Floats-4-0-0-0-384-20",
                &[("sm_80", 40), ("sm_89", 24), ("sm_90", 52), ("sm_100", 32)],
            ),
            ("onesweep-4-Integers-4-0-0-1-384-20", &[("sm_80", 156), ("sm_89", 156), ("sm_90", 164)]),
            (
                "onesweep-8-Integers-4-0-1-0-384-16",
                &[("sm_80", 8), ("sm_89", 8), ("sm_90", 116), ("sm_100", 16)],
            ),
            (
                "onesweep-8-Integers-4-1-1-0-384-16",
                &[("sm_80", 40), ("sm_89", 24), ("sm_90", 8), ("sm_100", 12)],
            ),
            ("onesweep-4-Floats-4-0-1-0-384-20", &[("sm_90", 52), ("sm_100", 96)]),
            ("onesweep-4-Integers-16-0-1-0-384-12", &[("sm_90", 60), ("sm_100", 32)]),
            ("onesweep-4-Integers-16-0-0-0-384-12", &[("sm_100", 16)]),
            ("onesweep-8-Integers-16-0-1-0-384-10", &[("sm_100", 16)]),
        ],
    },
    Known {
        reason: "at most ten registers a thread, stored and loaded: a key of 64 bits takes two, beside its item and index",
        programs: &[
            ("sort_segments-8-Integers-0-0-LISTED-1024-12-8-1", &[("sm_80", 24), ("sm_90", 80)]),
            ("sort_segments-8-Integers-0-0-LISTED-64-12-8-1", &[("sm_90", 80)]),
            ("sort_segments-8-Integers-0-0-LISTED-128-12-8-1", &[("sm_90", 64)]),
            ("sort_segments-8-Integers-0-0-LISTED-256-12-8-1", &[("sm_90", 64)]),
            ("sort_segments-8-Integers-0-0-LISTED-512-12-8-1", &[("sm_90", 80)]),
        ],
    },
    Known {
        reason: "at most six registers a thread, stored and loaded: a key of 128 bits takes four (worker.rs)",
        programs: &[
            ("sort_segments-16-Integers-0-0-LISTED-64-6-4-1", &[("sm_90", 8)]),
            ("sort_segments-16-Integers-0-0-LISTED-128-6-4-1", &[("sm_90", 8)]),
            ("sort_segments-16-Integers-0-0-LISTED-256-6-4-1", &[("sm_90", 32)]),
            ("sort_segments-16-Integers-0-0-LISTED-256-8-6-1", &[("sm_90", 12)]),
            ("sort_segments-16-Integers-0-0-LISTED-512-6-4-1", &[("sm_90", 24)]),
            ("sort_segments-16-Integers-0-0-LISTED-1024-6-4-1", &[("sm_80", 36), ("sm_90", 32)]),
            ("sort_segments-16-Integers-0-0-TILES-512-8-0-1", &[("sm_89", 48)]),
            ("sort_segments-16-Integers-4-0-FIXED-128-8-6-1", &[("sm_80", 16)]),
        ],
    },
    Known {
        reason: "the same with payloads, of what is left of a distribution",
        programs: &[
            ("sort_segments-8-Integers-4-0-LISTED-1024-12-8-1", &[("sm_80", 24), ("sm_90", 88)]),
            ("sort_segments-8-Integers-4-0-TILES-512-16-0-1", &[("sm_89", 40)]),
            ("sort_segments-8-Integers-4-0-TILES-1024-16-0-1", &[("sm_90", 40)]),
            ("sort_segments-8-Integers-16-0-LISTED-256-16-0-1", &[("sm_80", 24), ("sm_90", 12)]),
            ("sort_segments-8-Integers-16-0-LISTED-512-16-12-1", &[("sm_89", 36)]),
            ("sort_segments-8-Integers-16-0-LISTED-512-12-8-1", &[("sm_90", 124)]),
            ("sort_segments-8-Integers-16-0-LISTED-1024-12-8-1", &[("sm_80", 24), ("sm_90", 100)]),
            ("sort_segments-8-Integers-16-0-TILES-512-16-0-1", &[("sm_89", 40)]),
            ("sort_segments-8-Integers-16-0-TILES-1024-16-0-1", &[("sm_90", 40)]),
            ("sort_segments-4-Integers-16-0-LISTED-256-16-0-1", &[("sm_80", 36)]),
            ("sort_segments-4-Integers-16-0-LISTED-1024-12-8-1", &[("sm_80", 24), ("sm_90", 96)]),
            (
                "sort_segments-8-Integers-4-0-LISTED-256-16-0-1",
                &[("sm_80", 24), ("sm_89", 24), ("sm_90", 24)],
            ),
            ("sort_segments-4-Integers-16-0-TILES-512-16-0-1", &[("sm_89", 20)]),
            ("sort_segments-4-Integers-16-0-LISTED-512-12-8-1", &[("sm_90", 136)]),
            ("sort_segments-4-Integers-16-0-TILES-1024-16-0-1", &[("sm_90", 40)]),
            ("sort_segments-8-Integers-4-0-LISTED-512-12-8-1", &[("sm_90", 88)]),
        ],
    },
    Known {
        reason: "a block keeps how far the passes are while it merges; most often there is nothing to merge, and one launch for \
                 all passes saves more than that costs (merge_runs.cu)",
        programs: &[
            ("merge_runs-8-Integers-0-0", &[("sm_80", 32)]),
            ("merge_runs-8-Integers-4-0", &[("sm_80", 116), ("sm_89", 148), ("sm_90", 108), ("sm_100", 196)]),
            (
                "merge_runs-8-Integers-16-0",
                &[("sm_80", 116), ("sm_89", 148), ("sm_90", 108), ("sm_100", 196)],
            ),
        ],
    },
    Known {
        reason: "a thread holds keys, payloads and indices at once, and rows of 24 are faster all the same (worker.rs)",
        programs: &[
            ("sort_segments-4-Floats-4-0-FIXED-64-16-12-1", &[("sm_80", 8), ("sm_90", 16)]),
            ("sort_segments-4-Floats-4-0-LISTED-512-24-16-1", &[("sm_89", 232), ("sm_90", 248)]),
            ("sort_segments-4-Floats-4-0-TILES-512-24-0-1", &[("sm_89", 256)]),
            ("sort_segments-4-Floats-4-0-LISTED-32-24-16-4", &[("sm_90", 160)]),
            ("sort_segments-4-Floats-4-0-LISTED-64-24-16-1", &[("sm_90", 248)]),
            ("sort_segments-4-Floats-4-0-LISTED-128-24-16-1", &[("sm_90", 248)]),
            ("sort_segments-4-Floats-4-0-LISTED-256-24-16-1", &[("sm_90", 252)]),
            ("sort_segments-4-Floats-4-0-LISTED-1024-24-16-1", &[("sm_90", 260)]),
        ],
    },
    Known {
        reason: "a thread holds as many items as were fastest on an H200, beside the positions they go to (sample_sort.rs)",
        programs: &[
            ("splitters-4-1-0-256-31-512-16-NEXT", &[("sm_100", 16)]),
            ("splitters-64-1-0-512-5-512-2-NEXT", &[("sm_100", 560)]),
            (
                "finish_compared-4-1-0-256-31-0",
                &[("sm_80", 368), ("sm_89", 368), ("sm_90", 272), ("sm_100", 48)],
            ),
            (
                "finish_compared-8-1-0-256-19-0",
                &[("sm_80", 96), ("sm_89", 96), ("sm_90", 72), ("sm_100", 112)],
            ),
            ("splitters-8-1-1-512-11-512-6-FIRST", &[("sm_89", 16), ("sm_90", 48)]),
            ("splitters-8-1-1-512-11-512-6-NEXT", &[("sm_89", 16), ("sm_90", 48)]),
        ],
    },
    Known {
        reason: "a thread of a pass holds 24 words of keys and their indices, which is faster than fewer (distribute.rs)",
        programs: &[
            ("partition-4-Integers-ALONE-512-24-AGAIN", &[("sm_80", 16), ("sm_89", 16), ("sm_100", 16)]),
            (
                "partition-4-Floats-ALONE-512-24-AGAIN",
                &[("sm_80", 16), ("sm_89", 16), ("sm_90", 16), ("sm_100", 16)],
            ),
            ("partition-4-Floats-ALONE-512-24-FIRST", &[("sm_90", 24), ("sm_100", 32)]),
            ("partition-4-Integers-ALONE-512-24-FIRST", &[("sm_100", 24)]),
        ],
    },
    Known {
        reason: "up to three registers, beside 12 keys of 64 bits a thread and where they go",
        programs: &[("split_segments-8-Integers-512-12", &[("sm_80", 8), ("sm_89", 8), ("sm_90", 24)])],
    },
    Known {
        reason: "keys and where they go, most of it where bins are cut again, which few buckets need",
        programs: &[
            ("finish_buckets-4-Floats-ALONE-512-16-1", &[("sm_90", 40)]),
            ("finish_buckets-8-Integers-ALONE-512-16-1", &[("sm_80", 200), ("sm_89", 200), ("sm_90", 188)]),
        ],
    },
    Known {
        reason: "a few registers, beside 16 keys of 64 bits a thread",
        programs: &[
            (
                "count_buckets-8-Integers-ALONE-0",
                &[("sm_80", 34), ("sm_89", 34), ("sm_90", 32), ("sm_100", 56)],
            ),
            ("settle-8-Integers-ALONE", &[("sm_90", 16)]),
            ("count_buckets-8-Integers-ALONE-1", &[("sm_80", 34), ("sm_89", 42), ("sm_90", 42)]),
            (
                "count_buckets-8-Integers-BESIDE-0",
                &[("sm_80", 34), ("sm_89", 34), ("sm_90", 32), ("sm_100", 56)],
            ),
            ("settle-8-Integers-BESIDE", &[("sm_90", 16)]),
        ],
    },
    Known {
        reason: "nine registers at most, beside 16 items of 64 bits and their indices; with 12 items too",
        programs: &[
            (
                "finish_buckets-4-Floats-PAYLOAD-512-16-0",
                &[("sm_80", 16), ("sm_89", 16), ("sm_90", 72), ("sm_100", 28)],
            ),
            (
                "finish_buckets-4-Integers-INDEX-512-16-0",
                &[("sm_80", 16), ("sm_89", 16), ("sm_90", 72), ("sm_100", 28)],
            ),
        ],
    },
    Known {
        reason: "the distances between the 32 keys of a column, where the compiler keeps them for all at once; or 32 pairs",
        programs: &[
            ("bitonic-4-Integers-0-14-5-4", &[("sm_100", 288)]),
            ("bitonic-4-Floats-0-14-5-4", &[("sm_100", 264)]),
            ("bitonic-1-Integers-0-14-5-6", &[("sm_80", 16), ("sm_100", 152)]),
            ("bitonic-1-Integers-0-13-5-6", &[("sm_89", 16)]),
            ("bitonic-4-Integers-4-13-5-4", &[("sm_80", 32), ("sm_90", 16)]),
            ("bitonic-4-Integers-4-12-5-4", &[("sm_89", 16)]),
            ("bitonic-4-Integers-0-12-5-4", &[("sm_100", 152)]),
        ],
    },
    Known {
        reason: "a thread holds 16 keys, what they are sorted as, and their bins",
        programs: &[
            ("finish_stable-4-Floats-4-0-256-16", &[("sm_80", 204), ("sm_89", 204), ("sm_100", 112)]),
            (
                "finish_stable-4-Integers-16-0-256-16",
                &[("sm_80", 180), ("sm_89", 204), ("sm_90", 168), ("sm_100", 120)],
            ),
            ("finish_stable-8-Integers-4-0-256-16", &[("sm_80", 204), ("sm_89", 204), ("sm_100", 124)]),
            (
                "finish_stable-8-Integers-16-0-256-16",
                &[("sm_80", 180), ("sm_89", 180), ("sm_90", 100), ("sm_100", 120)],
            ),
            ("finish_stable-8-Integers-4-1-256-16", &[("sm_80", 204), ("sm_89", 204), ("sm_100", 216)]),
        ],
    },
];

/// Enqueues a sort of segments, of this length or of any length.
fn sort<K: Key + Pod>(gpu: &Gpu, length: Option<usize>, descending: bool) -> Result<(), Error> {
    let order = Order { descending, ..Order::default() };
    with_segments(gpu, length, |stream, keys: View<'_, K>, segments| {
        // SAFETY: the recorder runs nothing.
        unsafe { gpu.sort_segments(stream, keys, segments, order)? }.wait()
    })
}

/// The same for keys with payloads.
fn pairs<K: Key + Pod, V: Pod>(gpu: &Gpu, length: Option<usize>) -> Result<(), Error> {
    with_segments(gpu, length, |stream, keys: View<'_, K>, segments| {
        let payload = gpu.device().alloc::<V>(keys.len())?;
        // SAFETY: the recorder runs nothing.
        unsafe { gpu.sort_pairs_segments(stream, keys, payload.view(), segments, Order::default())? }.wait()
    })
}

/// The same for the indices of keys.
fn argsort<K: Key + Pod>(gpu: &Gpu, length: Option<usize>) -> Result<(), Error> {
    with_segments(gpu, length, |stream, keys: View<'_, K>, segments| {
        let indices = gpu.device().alloc::<u32>(keys.len())?;
        // SAFETY: the recorder runs nothing.
        unsafe { gpu.argsort_segments(stream, keys, indices.view(), segments, Order::default())? }.wait()
    })
}

/// Keys in segments, of this length or of any length, some of them too long for a block, but too few keys to be
/// distributed.
fn with_segments<K: Pod>(
    gpu: &Gpu,
    length: Option<usize>,
    sort: impl FnOnce(&Stream, View<'_, K>, DeviceSegments<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let keys = gpu.device().alloc::<K>(length.unwrap_or(1 << 9) << 10)?;
    let offsets = gpu.device().alloc::<u64>(1000)?;
    let segments = match length {
        Some(length) => DeviceSegments::Length(length as u64),
        None => DeviceSegments::Offsets { offsets: offsets.view(), longest: keys.len() as u64 },
    };
    sort(&gpu.device().stream()?, keys.view(), segments)
}

/// What is done with one array.
enum OneArray {
    Keys,
    Pairs,
    WidePairs,
    UnstablePairs,
    Indices,
    WidePlaces,
}

/// Enqueues a sort of one array of `n` keys, enough to be distributed.
fn one_array<K: Key + Pod>(gpu: &Gpu, n: usize, work: OneArray) -> Result<(), Error> {
    let (stream, order) = (gpu.device().stream()?, Order::default());
    let keys = gpu.device().alloc::<K>(n)?;
    let moved = gpu.device().alloc::<u32>(keys.len())?;
    let wide = gpu.device().alloc::<u128>(keys.len())?;
    let (keys, moved) = (keys.view(), moved.view());
    // SAFETY: the recorder runs nothing.
    unsafe {
        match work {
            OneArray::Keys => gpu.sort(&stream, keys, order)?,
            OneArray::Pairs => gpu.sort_pairs(&stream, keys, moved, order)?,
            OneArray::WidePairs => gpu.sort_pairs(&stream, keys, wide.view(), order)?,
            OneArray::UnstablePairs => gpu.sort_pairs_unstable(&stream, keys, moved, order)?,
            OneArray::Indices => gpu.argsort(&stream, keys, moved, order)?,
            OneArray::WidePlaces => {
                gpu.argsort(&stream, keys, wide.view().cast::<u64>().range(0..n), order)?
            }
        }
    }
    .wait()
}

/// Enqueues a selection of the largest keys.
fn top<K: Key + Pod>(gpu: &Gpu, k: usize) -> Result<(), Error> {
    let (stream, keys) = (gpu.device().stream()?, gpu.device().alloc::<K>(1 << 23)?);
    let indices = gpu.device().alloc::<u32>(k)?;
    let largest = DeviceTop::of(indices.view(), Order::DESCENDING);
    // SAFETY: the recorder runs nothing.
    unsafe { gpu.top_k(&stream, keys.view(), largest)? }.wait()
}

/// The same for four rows, with floats compared by value.
fn top_of_rows<K: Key + Pod>(gpu: &Gpu, row: usize, k: usize) -> Result<(), Error> {
    let (stream, keys) = (gpu.device().stream()?, gpu.device().alloc::<K>(4 * row)?);
    let indices = gpu.device().alloc::<u32>(4 * k)?;
    let largest =
        DeviceTop { row: Some(row), by_value: true, ..DeviceTop::of(indices.view(), Order::DESCENDING) };
    // SAFETY: the recorder runs nothing.
    unsafe { gpu.top_k(&stream, keys.view(), largest)? }.wait()
}

/// Enqueues a selection of the first and the middle key of a descending order.
fn nth<K: Key + Pod>(gpu: &Gpu) -> Result<(), Error> {
    let (stream, keys) = (gpu.device().stream()?, gpu.device().alloc::<K>(1 << 23)?);
    let nth = gpu.device().alloc::<K>(2)?;
    let wanted = DeviceNth { indices: &[0, 1 << 22], nth: nth.view(), order: Order::DESCENDING };
    // SAFETY: the recorder runs nothing.
    unsafe { gpu.nth(&stream, keys.view(), &wanted)? }.wait()
}

/// Enqueues a search by an index, with floats compared by value.
fn search<K: Key + Pod>(gpu: &Gpu, order: Order) -> Result<(), Error> {
    let (stream, keys) = (gpu.device().stream()?, gpu.device().alloc::<K>(1 << 20)?);
    let positions = gpu.device().alloc::<u32>(1 << 20)?;
    let search = DeviceSearch { by_value: true, ..DeviceSearch::of(keys.view(), positions.view(), order) };
    // SAFETY: the recorder runs nothing.
    unsafe { gpu.search_sorted(&stream, keys.view(), search)? }.wait()
}

/// Enqueues a count between edges, with floats compared by value.
fn histogram<K: Key + Pod>(gpu: &Gpu, order: Order) -> Result<(), Error> {
    let (stream, keys) = (gpu.device().stream()?, gpu.device().alloc::<K>(1 << 10)?);
    let counts = gpu.device().alloc::<u64>(100)?;
    let bins = DeviceHistogram { edges: keys.range(0..101), counts: counts.view(), order, by_value: true };
    // SAFETY: the recorder runs nothing.
    unsafe { gpu.histogram(&stream, keys.view(), bins)? }.wait()
}

/// Enqueues what finds groups of equal keys and writes what they have, with floats compared by value.
fn groups<K: Key + Pod>(gpu: &Gpu) -> Result<(), Error> {
    let (stream, keys) = (gpu.device().stream()?, gpu.device().alloc::<K>(1 << 10)?);
    let table = gpu.device().alloc::<u64>(gpu.group_table_words(keys.len()))?;
    let to = DeviceGroups::<K, u32>::default();
    // SAFETY: the recorder runs nothing.
    unsafe {
        gpu.find_groups(&stream, keys.view(), Equality::Values, table.view())?.wait()?;
        gpu.write_groups(&stream, keys.view(), Equality::Values, table.view(), to)?.wait()
    }
}

/// Enqueues copies of floats of every width.
fn canonical_floats(gpu: &Gpu) -> Result<(), Error> {
    let (stream, floats) = (gpu.device().stream()?, gpu.device().alloc::<u64>(1 << 10)?);
    let (from, to) = (floats.range(0..1 << 9), floats.range(1 << 9..1 << 10));
    // SAFETY: the recorder runs nothing.
    unsafe {
        gpu.canonical_floats::<f64>(&stream, from.cast(), to.cast())?;
        gpu.canonical_floats::<f32>(&stream, from.cast(), to.cast())?;
        gpu.canonical_floats::<f16>(&stream, from.cast(), to.cast())
    }
}

/// Sorts keys on two devices.
fn on_several<K: Key + Pod>(gpu: &Gpu) -> Result<(), Error> {
    let keys = gpu.device().alloc::<K>(1 << 20)?;
    let mut shares = [0, 1].map(|_| Share { keys: keys.view(), count: keys.len() });
    // SAFETY: the recorder runs nothing.
    unsafe { two(gpu)?.sort(&mut shares, Order::default()) }.map(drop)
}

/// The same for pairs.
fn pairs_on_several<K: Key + Pod, V: Pod>(gpu: &Gpu) -> Result<(), Error> {
    let keys = gpu.device().alloc::<K>(1 << 20)?;
    let payload = gpu.device().alloc::<V>(keys.len())?;
    let mut shares = [0, 1].map(|_| Share { keys: keys.view(), count: keys.len() });
    let payloads = [payload.view(); 2];
    // SAFETY: the recorder runs nothing.
    unsafe { two(gpu)?.sort_pairs_unstable(&mut shares, &payloads, Order::default()) }.map(drop)
}

/// Two engines on the device.
fn two(gpu: &Gpu) -> Result<Gpus, Error> {
    Gpus::new(vec![Arc::new(Gpu::new(gpu.device().clone())), Arc::new(Gpu::new(gpu.device().clone()))])
}

/// Enqueues a sort by comparison that needs both levels.
fn by_comparison<K: Compared>(gpu: &Gpu) -> Result<(), Error> {
    let stream = gpu.device().stream()?;
    let keys = gpu.device().alloc::<K>(1 << 20)?;
    // SAFETY: the recorder runs nothing.
    unsafe { gpu.sort_by_comparison(&stream, keys.view(), Order::default())? }.wait()
}

/// The same for their indices.
fn indices_by_comparison<K: Compared>(gpu: &Gpu) -> Result<(), Error> {
    let stream = gpu.device().stream()?;
    let keys = gpu.device().alloc::<K>(1 << 20)?;
    let indices = gpu.device().alloc::<u32>(1 << 20)?;
    // SAFETY: the recorder runs nothing.
    unsafe { gpu.argsort_by_comparison(&stream, keys.view(), indices.view(), Order::default())? }.wait()
}

/// Enqueues a bitonic sort that needs supersteps.
fn bitonic<K: Key + Pod>(gpu: &Gpu) -> Result<(), Error> {
    let stream = gpu.device().stream()?;
    let keys = gpu.device().alloc::<K>(1 << 20)?;
    // SAFETY: the recorder runs nothing.
    unsafe { gpu.sort_bitonic(&stream, keys.view(), Order::default())? }.wait()
}

/// The same for pairs.
fn bitonic_pairs<K: Key + Pod, V: Pod>(gpu: &Gpu) -> Result<(), Error> {
    let stream = gpu.device().stream()?;
    let keys = gpu.device().alloc::<K>(1 << 20)?;
    let payload = gpu.device().alloc::<V>(keys.len())?;
    // SAFETY: the recorder runs nothing.
    unsafe { gpu.sort_pairs_bitonic(&stream, keys.view(), payload.view(), Order::default())? }.wait()
}

/// Enqueues the first level of an argsort of strings, which loads the kernels of all levels, and gathers the strings in
/// that order.
fn strings(gpu: &Gpu) -> Result<(), Error> {
    let stream = gpu.device().stream()?;
    let bytes = gpu.device().alloc::<u8>(1 << 20)?;
    let offsets = gpu.device().alloc::<u64>(1001)?;
    let indices = gpu.device().alloc::<u32>(1000)?;
    let strings = Strings { bytes: bytes.view(), offsets: Offsets::Wide(offsets.view()) };
    let views = gpu.device().alloc::<u128>(1000)?;
    let stored = StringViews { views: views.view(), buffers: &[bytes.view()] };
    // SAFETY: the recorder runs nothing.
    unsafe {
        gpu.argsort_strings(&stream, strings, indices.view(), Order::default())?.wait()?;
        gpu.argsort_strings(&stream, stored, indices.view(), Order::default())?.wait()?;
        gpu.gather_string_views(&stream, views.view(), indices.view(), views.view())?.wait()?;
        gpu.gather_strings(&stream, strings, indices.view(), strings)?.wait()
    }
}

#[test]
fn no_kernel_of_the_list_spills_or_asks_for_too_much_shared_memory() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gpu/machine_code.txt");
    machine_code::check(LIST, Gpu::new, KNOWN, &file);
}

#[test]
fn every_file_of_kernels_is_in_the_list() {
    let jobs = machine_code::jobs(LIST, Gpu::new, &ARCHITECTURES[0]);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels");
    let rooms = fs::read_dir(folder).unwrap().map(|room| room.unwrap().path());
    let files = rooms.flat_map(|room| fs::read_dir(room).unwrap()).map(|file| file.unwrap().path());
    let kernels: Vec<_> = files.filter(|file| file.extension().is_some_and(|end| end == "cu")).collect();
    assert!(kernels.len() > 10);
    for file in kernels {
        let source = fs::read_to_string(&file).unwrap();
        assert!(jobs.iter().any(|job| job.recorded.program.source == source), "{}", file.display());
    }
}

#[test]
fn what_is_launched_fits_and_the_ends_are_chosen() {
    let classes = |architecture: &'static Architecture| -> Vec<usize> {
        let jobs = machine_code::jobs(LIST, Gpu::new, architecture);
        let listed = jobs.iter().filter(|job| job.sort == "f32, any length");
        listed.filter_map(|job| job.recorded.shared.get("sort_listed").copied()).collect()
    };
    for architecture in &ARCHITECTURES {
        let shared = classes(architecture);
        let most = *shared.last().unwrap();
        assert!(most <= architecture.shared && most > architecture.shared / 2, "{}", architecture.name);
        assert_eq!(shared.len() > 2, architecture.every, "{}", architecture.name);
    }
}
