//! [`SorterBuilder`]: the choices of a sort.

use std::sync::Arc;

use super::Sorter;
use crate::cpu::vector::Isa;
use crate::{Algorithm, Engine, Error, Nans, Nulls, Order};

/// The most threads that a sorter starts. The system takes seconds to start or refuse many more, and no machine has use for them.
const MOST_THREADS: usize = 4096;

/// Collects the choices for a [`Sorter`].
#[derive(Debug, Clone, Default)]
pub struct SorterBuilder {
    pub(super) engine: Engine,
    pub(super) algorithm: Algorithm,
    pub(super) threads: Option<usize>,
    pub(super) memory_limit: Option<u64>,
    pub(super) gpu_share: Option<f64>,
    pub(super) order: Order,
    pub(super) unstable: bool,
}

impl SorterBuilder {
    /// Where to sort. By default, wherever it is fastest: see [`Engine::Auto`].
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// How to sort. By default, the fastest way.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// How many threads may work, from 1 to 4096. By default, those of the current rayon pool. Outside of any pool, that is rayon's
    /// global pool, which the first sort of 262,144 keys or more starts (strings and comparisons: 65,536). If the system
    /// refuses to start its threads, the calling thread sorts alone.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The most scratch memory, in bytes, that a call may hold besides the data. By default, as much as its plan needs. All
    /// kinds of memory count: for a sort on a GPU, also pinned memory and device memory.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// The share of the keys that [`Engine::Hybrid`] sorts on the GPU, between 0 and 1. By default, the share that
    /// [`rates::tune`](crate::rates::tune) has found to be fastest on this machine.
    #[must_use]
    pub fn gpu_share(mut self, share: f64) -> Self {
        self.gpu_share = Some(share);
        self
    }

    /// Whether the largest key comes first. NaNs and nulls stay where they go, and equal keys keep their order.
    #[must_use]
    pub fn descending(mut self, descending: bool) -> Self {
        self.order.descending = descending;
        self
    }

    /// Where NaNs go, and whether they are told apart. By default, they go last, in the order of their bits.
    #[must_use]
    pub fn nans(mut self, nans: Nans) -> Self {
        self.order.nans = nans;
        self
    }

    /// Where `None` goes. By default, it goes last.
    #[must_use]
    pub fn nulls(mut self, nulls: Nulls) -> Self {
        self.order.nulls = nulls;
        self
    }

    /// Allows payloads of equal keys to come out in any order, if that is faster.
    #[must_use]
    pub fn unstable(mut self) -> Self {
        self.unstable = true;
        self
    }

    /// The sorter with these choices.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for 0 or more than 4096 threads, for a share that is not between 0 and 1, and if the environment variable
    /// `SORTIE_ISA` has a value other than `portable`, `avx2` and `avx512`, which the free functions ignore;
    /// [`Error::Threads`] if the system refuses to start them.
    pub fn build(self) -> Result<Sorter, Error> {
        Isa::check()?;
        if let Some(share) = self.gpu_share
            && !(share > 0.0 && share < 1.0)
        {
            return Err(Error::Unsupported(format!(
                "a GPU's share must be above 0 and below 1, not {share}; change it, or choose one engine"
            )));
        }
        let pool = match self.threads {
            Some(0) => {
                return Err(Error::Unsupported("a sort needs at least 1 thread, not 0".into()));
            }
            Some(threads) if threads > MOST_THREADS => {
                return Err(Error::Unsupported(format!(
                    "a sort can have at most {MOST_THREADS} threads, not {threads}; choose fewer, or leave the choice out"
                )));
            }
            None | Some(1) => None,
            Some(threads) => {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .map_err(|e| Error::Threads { threads, reason: e.to_string() })?;
                Some(Arc::new(pool))
            }
        };
        Ok(Sorter { choices: self, pool })
    }
}
