//! Compares every pipeline, with blocks of all sizes, with the index built from a single block.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use sortie::gpu::Gpu;
use sortie::{Algorithm, Order, Sorter};
use sortie_simt::{Options, or_skip};

use super::{Builder, Pipeline, Sort, SortKeys, Summary, prepare_with};
use crate::documents::{Document, Item, Source};
use crate::error::Error;
use crate::format::{FILES, HEADER};
use crate::index::Index;
use crate::plan::Sorts;

/// The bytes of all files of an index.
fn bytes(index: &Path) -> Vec<Vec<u8>> {
    [HEADER].iter().chain(&FILES).map(|name| fs::read(index.join(name)).unwrap()).collect()
}

/// Documents of a few words each, divided into pieces between words.
fn documents() -> impl Strategy<Value = Vec<Vec<String>>> {
    let word = prop_oneof!["[a-c]{1,2}", "[a-z]{3,8}", "(gen|mit|über)[a-z]{0,3}"];
    let piece = prop::collection::vec(word, 0..8).prop_map(|words| words.join(" ") + " ");
    prop::collection::vec(prop::collection::vec(piece, 1..4), 1..12)
}

fn whole(documents: &[Vec<String>]) -> impl Iterator<Item = Document> + Send {
    documents.iter().enumerate().map(|(i, pieces)| Document { name: format!("d{i}"), text: pieces.concat() })
}

/// Makes each piece an item, so that a block may have one item with only a few pairs.
fn piece_by_piece(documents: &[Vec<String>]) -> Source<'_> {
    Box::new(documents.iter().enumerate().flat_map(|(i, pieces)| {
        pieces.iter().enumerate().map(move |(place, text)| Item::Piece {
            name: (place == 0).then(|| format!("d{i}")),
            text: text.clone(),
        })
    }))
}

fn cpu() -> SortKeys {
    let sorter = Sorter::builder().build().unwrap();
    Box::new(move |keys| sorter.sort(keys).map(|_| false))
}

/// Sorts as a GPU does, on the simulated device.
fn bench(gpu: Arc<Gpu>, algorithm: Algorithm) -> SortKeys {
    Box::new(move |keys| {
        let stream = gpu.device().stream()?;
        let there = gpu.device().alloc::<u64>(keys.len())?;
        stream.copy_in(there.view(), keys)?;
        // SAFETY: nothing else uses the keys.
        let pending = unsafe {
            match algorithm {
                Algorithm::Bitonic => gpu.sort_bitonic(&stream, there.view(), Order::default())?,
                _ => gpu.sort(&stream, there.view(), Order::default())?,
            }
        };
        pending.wait()?;
        stream.copy_out(keys, there.view())?;
        Ok(true)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn blocks_of_any_size_give_the_same_index(documents in documents(), threads in 1usize..4, kilobytes in 0u64..8) {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        Builder::default().pipeline(Pipeline::Cpu).threads(2).build_from(whole(&documents), &one).unwrap();
        for overlapped in [false, true] {
            let builder = Builder::default().threads(threads).memory_limit(kilobytes << 10);
            let sort = Sort { place: Sorts::OnCpu, overlapped, by: cpu() };
            let summary =
                prepare_with(&builder, sort, piece_by_piece(&documents), &other, |_| ()).unwrap().publish().unwrap();
            prop_assert_eq!(bytes(&other), bytes(&one));
            let pieces: usize = documents.iter().map(Vec::len).sum();
            // With no memory, a block has only one item for each thread.
            prop_assert!(kilobytes > 0 || summary.runs >= pieces.div_ceil(threads));
            Index::open(&other).unwrap().check().unwrap();
        }
    }
}

/// Documents whose blocks have some thousands of pairs each.
fn many() -> Vec<Vec<String>> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut text = || {
        let mut word = |_| {
            let bits = random.u32(1..14);
            format!("w{} ", random.u32(0..1 << bits))
        };
        (0..3000).map(&mut word).collect()
    };
    (0..20).map(|_| vec![text(), text()]).collect()
}

fn build_on(gpu: &Arc<Gpu>, algorithm: Algorithm, overlapped: bool, memory: u64, target: &Path) -> Summary {
    let builder = Builder::default().threads(2);
    let place = Sorts::OnGpu { algorithm, memory };
    let sort = Sort { place, overlapped, by: bench(gpu.clone(), algorithm) };
    prepare_with(&builder, sort, piece_by_piece(&many()), target, |_| ()).unwrap().publish().unwrap()
}

#[test]
fn a_gpu_gives_the_same_index_and_in_place_half_the_runs() {
    let Some(device) = or_skip(sortie_simt::device(Options::default())) else { return };
    let gpu = Arc::new(Gpu::new(device));
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    Builder::default().pipeline(Pipeline::Cpu).build_from(whole(&many()), &one).unwrap();
    for overlapped in [false, true] {
        let runs = [Algorithm::Bitonic, Algorithm::Auto].map(|algorithm| {
            // Each thread may take one of the 40 items more than fits.
            let summary = build_on(&gpu, algorithm, overlapped, 8 * 24_000, &other);
            assert!(summary.on_gpu && bytes(&other) == bytes(&one), "{algorithm:?}");
            summary.runs
        });
        let [in_place, with_scratch] = runs;
        assert!(in_place <= 6 && with_scratch >= 8, "{runs:?}");
    }
}

#[test]
fn a_sort_that_fails_leaves_the_index_that_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("index");
    let documents = many();
    Builder::default().pipeline(Pipeline::Cpu).build_from(whole(&documents), &target).unwrap();
    let before = bytes(&target);
    for overlapped in [false, true] {
        let mut sorts = 0;
        let failing: SortKeys = Box::new(move |keys| {
            sorts += 1;
            keys.sort_unstable();
            if sorts < 3 { Ok(false) } else { Err(sortie::Error::Unsupported("it does not work".into())) }
        });
        let builder = Builder::default().threads(2).memory_limit(1);
        let sort = Sort { place: Sorts::OnCpu, overlapped, by: failing };
        let failed = prepare_with(&builder, sort, piece_by_piece(&documents), &target, |_| ()).map(|_| ());
        assert!(matches!(failed, Err(Error::Sort(_))), "{failed:?}");
        assert_eq!(bytes(&target), before);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something was left behind");
    }
}

#[test]
fn a_sort_has_as_many_threads_as_were_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    for (threads, overlapped) in [(1, false), (1, true), (3, false), (3, true)] {
        let sort: SortKeys = Box::new(move |keys| {
            assert_eq!(rayon::current_num_threads(), threads);
            keys.sort_unstable();
            Ok(false)
        });
        let builder = Builder::default().threads(threads);
        let sort = Sort { place: Sorts::OnCpu, overlapped, by: sort };
        prepare_with(&builder, sort, piece_by_piece(&many()), &folder.path().join("index"), |_| ())
            .unwrap()
            .publish()
            .unwrap();
    }
}

#[test]
fn a_gpu_that_is_not_there_is_told() {
    if sortie_device::cuda::device(0).is_ok() {
        return println!("skipped: there is one");
    }
    let folder = tempfile::tempdir().unwrap();
    for pipeline in [Pipeline::Gpu, Pipeline::GpuOverlapped] {
        let built =
            Builder::default().pipeline(pipeline).build_from(whole(&[]), &folder.path().join("index"));
        assert!(matches!(built, Err(Error::Sort(sortie::Error::Device(_)))), "{built:?}");
    }
}
