//! [`MachineGpu`]: what a plan depends on about a GPU.

use sortie_device::Properties;
use sortie_device::rates::Rates;

use super::shipped::GPUS;
use crate::compose::tuning::DEFAULT_SHARE;
#[cfg(doc)]
use crate::plan::Machine;

/// A GPU of a [`Machine`].
#[derive(Debug, Clone, PartialEq)]
pub struct MachineGpu {
    /// Its properties, which are known before it has started.
    pub properties: Properties,
    /// Bytes of its memory that are free.
    pub free: u64,
    /// How fast it copies and is copied to and from, if that is known.
    pub rates: Option<Rates>,
    /// Whether the process has started it.
    pub started: bool,
    /// The share of the keys that it sorts under [`Engine::Hybrid`](crate::Engine::Hybrid), if that was tuned;
    /// otherwise 1.
    pub share: f64,
}

impl MachineGpu {
    /// A GPU with this name, as its maker writes it, and this number on the machine. `None` if no rates ship for it,
    /// see [`shipped_gpus`](super::shipped_gpus).
    #[must_use]
    pub fn shipped(name: &str, ordinal: u32) -> Option<MachineGpu> {
        let gpu = GPUS.iter().find(|gpu| gpu.names.contains(&name))?;
        let properties = Properties {
            name: name.into(),
            kind: "cuda",
            ordinal,
            id: String::new(),
            compute_capability: gpu.compute_capability,
            multiprocessors: gpu.multiprocessors,
            shared_per_block: gpu.shared_per_block,
            memory_total: gpu.memory,
            l2_bytes: gpu.l2_bytes,
        };
        let free = gpu.memory;
        Some(MachineGpu { properties, free, rates: Some(gpu.rates), started: false, share: DEFAULT_SHARE })
    }

    /// Its name in plans and reports.
    pub(super) fn name(&self) -> String {
        format!("{}:{} ({})", self.properties.kind, self.properties.ordinal, self.properties.name)
    }
}
