//! [`SorterBuilder`]: what can be chosen of a sort.

use std::sync::Arc;

use super::Sorter;
use crate::{Algorithm, Engine, Error, Nans, Nulls, Order};

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
    /// Where to sort; by default wherever it is fastest.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// How to sort; by default however it is fastest.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// How many threads may work, at least 1; by default those of the rayon pool that the caller is in. Outside of any that
    /// is rayon's global pool, which the first sort of 262,144 keys or more starts (strings and comparisons: 65,536); where the system refuses its threads, the
    /// caller's thread sorts alone.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The most scratch, in bytes, that a call may hold beyond the data; by default as much as its plan needs. What lies
    /// where does not matter: for a sort on a GPU, pinned memory and the device's count too.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// The part of the keys that [`Engine::Hybrid`] has the GPU sort, between 0 and 1; by default what
    /// [`rates::tune`](crate::rates::tune) has found fastest on this machine.
    #[must_use]
    pub fn gpu_share(mut self, share: f64) -> Self {
        self.gpu_share = Some(share);
        self
    }

    /// Whether the largest key goes first. NaNs and nulls keep their places, and equal keys their order.
    #[must_use]
    pub fn descending(mut self, descending: bool) -> Self {
        self.order.descending = descending;
        self
    }

    /// Where NaNs go, and whether they are told apart; by default last, in the order of their bits.
    #[must_use]
    pub fn nans(mut self, nans: Nans) -> Self {
        self.order.nans = nans;
        self
    }

    /// Where `None` goes; by default last.
    #[must_use]
    pub fn nulls(mut self, nulls: Nulls) -> Self {
        self.order.nulls = nulls;
        self
    }

    /// Lets payloads under equal keys come out in any order, where that is faster.
    #[must_use]
    pub fn unstable(mut self) -> Self {
        self.unstable = true;
        self
    }

    /// The sorter with these choices.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for 0 threads, and for a share that is not between 0 and 1; [`Error::Threads`] if the
    /// system refuses to start them.
    pub fn build(self) -> Result<Sorter, Error> {
        if let Some(share) = self.gpu_share
            && !(share > 0.0 && share < 1.0)
        {
            return Err(Error::Unsupported(format!(
                "a GPU's share of {share} leaves nothing to share; give one between 0 and 1, or choose one engine"
            )));
        }
        let pool = match self.threads {
            Some(0) => {
                return Err(Error::Unsupported("a sort needs at least 1 thread; 0 were asked for".into()));
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
