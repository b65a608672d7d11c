//! The rates of GPUs that ship with the library. [`rates::measure`](crate::rates::measure) replaces them by those of the
//! machine.

use std::fmt::Write;

use sortie_device::rates::Rates;

/// A GPU architecture whose rates are known.
pub(super) struct Shipped {
    /// Names, as the driver writes them.
    pub names: &'static [&'static str],
    pub compute_capability: (u32, u32),
    pub multiprocessors: u32,
    pub shared_per_block: usize,
    pub memory: u64,
    pub l2_bytes: u64,
    pub rates: Rates,
    source: &'static str,
}

const MEASURED: &str = "measured 2026-11-23, 16 cores of a Xeon (Sapphire Rapids)";
const PUBLISHED: &str = "data sheet: memory at 0.88 and PCIe 4.0 at 0.86 of the published rate, as measured on an H100 and an H200";

/// Rates over PCIe 5.0, as measured with an H200.
const PCIE_5: Rates = Rates {
    copy: 0.0,
    pinned_in: 55e9,
    pinned_out: 55e9,
    pinned_both: 101e9,
    pageable_in: 8.5e9,
    pageable_out: 14.5e9,
    pinned_alloc: 1.4e9,
    start: 0.37,
};
/// Half of these rates. Work of the host alone takes as long as with PCIe 5.0.
const PCIE_4: Rates = Rates { pinned_in: 27e9, pinned_out: 27e9, pinned_both: 50e9, ..PCIE_5 };

pub(super) const GPUS: &[Shipped] = &[
    Shipped {
        names: &["NVIDIA H200"],
        compute_capability: (9, 0),
        multiprocessors: 132,
        shared_per_block: 227 << 10,
        memory: 139 << 30,
        l2_bytes: 60 << 20,
        rates: Rates { copy: 4230e9, ..PCIE_5 },
        source: MEASURED,
    },
    Shipped {
        names: &["NVIDIA H100 80GB HBM3"],
        compute_capability: (9, 0),
        multiprocessors: 132,
        shared_per_block: 227 << 10,
        memory: 78 << 30,
        l2_bytes: 50 << 20,
        rates: Rates { copy: 2970e9, pinned_both: 93e9, ..PCIE_5 },
        source: MEASURED,
    },
    Shipped {
        names: &["NVIDIA A100-SXM4-80GB"],
        compute_capability: (8, 0),
        multiprocessors: 108,
        shared_per_block: 163 << 10,
        memory: 78 << 30,
        l2_bytes: 40 << 20,
        rates: Rates { copy: 0.88 * 2039e9, ..PCIE_4 },
        source: PUBLISHED,
    },
    Shipped {
        names: &["NVIDIA A100-SXM4-40GB", "NVIDIA A100-PCIE-40GB"],
        compute_capability: (8, 0),
        multiprocessors: 108,
        shared_per_block: 163 << 10,
        memory: 39 << 30,
        l2_bytes: 40 << 20,
        rates: Rates { copy: 0.88 * 1555e9, ..PCIE_4 },
        source: PUBLISHED,
    },
    Shipped {
        names: &["NVIDIA L4"],
        compute_capability: (8, 9),
        multiprocessors: 58,
        shared_per_block: 99 << 10,
        memory: 22 << 30,
        l2_bytes: 48 << 20,
        rates: Rates { copy: 0.88 * 300e9, ..PCIE_4 },
        source: PUBLISHED,
    },
];

/// A Markdown table of the GPUs whose rates ship with the library, and the sources of these rates.
#[must_use]
pub fn shipped_gpus() -> String {
    let mut text =
        String::from("| GPU | copy (GB/s) | from and to the host (GB/s) | source |\n|---|---|---|---|\n");
    for Shipped { names, rates, source, .. } in GPUS {
        let (names, copy, way) = (names.join(", "), rates.copy / 1e9, rates.pinned_in / 1e9);
        writeln!(text, "| {names} | {copy:.0} | {way:.0} | {source} |")
            .expect("a string takes all that is written");
    }
    text
}
