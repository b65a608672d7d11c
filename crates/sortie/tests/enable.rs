//! Opting in to GPUs with the rates that are stored on disk, in a process of its own.

use sortie::{Enabled, enable_gpu};
use sortie::{Ran, Segments, Sorter, rates};
use sortie_simt::{Options, or_skip};

#[test]
fn a_machine_is_enabled_once_it_was_measured() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("enable");
    let _ = std::fs::remove_dir_all(&folder);
    // SAFETY: this is the only test of the process, and no other thread has started.
    unsafe { std::env::set_var("SORTIE_CACHE", &folder) };

    assert_eq!(enable_gpu(), Enabled::NotMeasured);
    assert_eq!(rates::known(), None);
    assert!(!folder.exists(), "asking leaves nothing behind");

    let Some(device) = or_skip(sortie_simt::device(Options { memory: 1 << 20, ..Options::default() })) else {
        return;
    };
    let cpu = rates::measure(&device);
    assert_eq!(rates::known().as_ref(), Some(&cpu));
    assert_eq!(enable_gpu(), Enabled::NotMeasured, "the device was not measured");
    sortie_device::rates::measure(&device).unwrap();
    assert_eq!(enable_gpu(), Enabled::Measured);

    // The device that was measured is not this machine's first CUDA device: the CPU sorts, whatever was predicted.
    let mut keys: Vec<u32> = (0..4 << 20).rev().collect();
    let report =
        Sorter::builder().build().unwrap().sort_segments(&mut keys, Segments::Length(1 << 20)).unwrap();
    assert!(keys.chunks(1 << 20).all(|segment| segment.is_sorted()));
    assert!(report.phases.iter().all(|phase| phase.engine == Ran::Cpu), "{report}");
}
