//! The table of what can be sorted: operations, keys, engines and algorithms. Requests that are not in it are refused.

use std::fmt::Write;

use crate::request::{Beside, KeyForm, Operation, Request};
use crate::{Algorithm, Engine, Error};
#[cfg(feature = "gpu")]
use crate::{Order, request::Budget};
use Algorithm::{Auto, Bitonic, Merge, Quicksort, Radix, SampleSort};

/// One kind of sort, and the algorithms that each engine has for it.
#[derive(Debug)]
pub(crate) struct Capability {
    /// Its name in the table.
    name: &'static str,
    is_of: fn(&Request) -> bool,
    cpu: Algorithms,
    one_gpu: Algorithms,
    several_gpus: Algorithms,
}

/// The algorithms of one engine for one kind of sort.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Algorithms {
    stable: &'static [Algorithm],
    /// Those that may change the order of equal keys, so the caller must allow it.
    unstable: &'static [Algorithm],
}

/// Where a sort may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engines {
    Cpu,
    OneGpu,
    SeveralGpus,
}

const NONE: Algorithms = of(&[]);
const AUTO: Algorithms = of(&[Auto]);
const DISTRIBUTED: Algorithms = of(&[Auto, Radix]);

const fn of(stable: &'static [Algorithm]) -> Algorithms {
    Algorithms { stable, unstable: &[] }
}

/// The table. The first row that matches a request applies to it.
const TABLE: &[Capability] = &[
    Capability {
        name: "numbers of 8 or 16 bits",
        is_of: |request| is_array(request, Beside::is_nothing) && is_number(request, 8..=16),
        cpu: of(&[Auto, Radix, Quicksort, Merge]),
        one_gpu: of(&[Auto, Radix, Merge, Bitonic]),
        several_gpus: DISTRIBUTED,
    },
    Capability {
        name: "numbers of 32 or 64 bits",
        is_of: |request| is_array(request, Beside::is_nothing) && is_number(request, 32..=64),
        cpu: of(&[Auto, Radix, Quicksort, Merge]),
        one_gpu: of(&[Auto, Radix, Merge, Bitonic, SampleSort]),
        several_gpus: DISTRIBUTED,
    },
    Capability {
        name: "numbers of 128 bits",
        is_of: |request| is_array(request, Beside::is_nothing) && is_number(request, 128..=128),
        cpu: of(&[Auto, Radix, Quicksort, Merge]),
        one_gpu: of(&[Auto, SampleSort]),
        several_gpus: NONE,
    },
    Capability {
        name: "pairs with keys of 8 or 16 bits",
        is_of: |request| is_array(request, Beside::is_payload) && is_number(request, 8..=16),
        cpu: Algorithms { stable: &[Auto, Radix, Merge], unstable: &[Quicksort] },
        one_gpu: Algorithms { stable: &[Auto, Radix, Merge], unstable: &[Bitonic] },
        several_gpus: DISTRIBUTED,
    },
    Capability {
        name: "pairs with keys of 32 or 64 bits",
        is_of: |request| is_array(request, Beside::is_payload) && is_number(request, 32..=64),
        cpu: Algorithms { stable: &[Auto, Radix, Merge], unstable: &[Quicksort] },
        one_gpu: Algorithms { stable: &[Auto, Radix, Merge, SampleSort], unstable: &[Bitonic] },
        several_gpus: DISTRIBUTED,
    },
    Capability {
        name: "indices of numbers of 8 or 16 bits",
        is_of: |request| is_array(request, Beside::is_indices) && is_number(request, 8..=16),
        cpu: Algorithms { stable: &[Auto, Radix, Merge], unstable: &[Quicksort] },
        one_gpu: of(&[Auto, Radix, Merge]),
        several_gpus: DISTRIBUTED,
    },
    Capability {
        name: "indices of numbers of 32 or 64 bits",
        is_of: |request| is_array(request, Beside::is_indices) && is_number(request, 32..=64),
        cpu: Algorithms { stable: &[Auto, Radix, Merge], unstable: &[Quicksort] },
        one_gpu: of(&[Auto, Radix, Merge, SampleSort]),
        several_gpus: DISTRIBUTED,
    },
    Capability {
        name: "pairs or indices of numbers of 128 bits",
        is_of: |request| is_array(request, |_| true) && is_number(request, 128..=128),
        cpu: Algorithms { stable: &[Auto, Radix, Merge], unstable: &[Quicksort] },
        one_gpu: of(&[Auto, SampleSort]),
        several_gpus: NONE,
    },
    Capability {
        name: "strings, or indices of strings",
        is_of: |request| is_array(request, |_| true) && request.keys == KeyForm::Strings,
        cpu: Algorithms { stable: &[Auto, Radix, Merge], unstable: &[Quicksort] },
        one_gpu: DISTRIBUTED,
        several_gpus: NONE,
    },
    Capability {
        name: "strings with their common prefixes",
        is_of: |request| request.operation == Operation::Lcps,
        cpu: Algorithms { stable: &[Auto, Radix, Merge], unstable: &[Quicksort] },
        one_gpu: NONE,
        several_gpus: NONE,
    },
    Capability {
        name: "the first k keys, or their indices",
        is_of: |request| matches!(request.operation, Operation::TopK { .. }),
        cpu: AUTO,
        one_gpu: NONE,
        several_gpus: NONE,
    },
    Capability {
        name: "keys at some indices of the order, or a partition by them",
        is_of: |request| matches!(request.operation, Operation::Nth { .. } | Operation::Partition),
        cpu: AUTO,
        one_gpu: NONE,
        several_gpus: NONE,
    },
    Capability {
        name: "queries of sorted keys",
        is_of: |request| request.operation == Operation::Search,
        cpu: AUTO,
        one_gpu: NONE,
        several_gpus: NONE,
    },
    Capability {
        name: "compound keys",
        is_of: |request| is_array(request, Beside::is_nothing) && is_compound(request),
        cpu: of(&[Auto, Quicksort, Merge]),
        one_gpu: NONE,
        several_gpus: NONE,
    },
    Capability {
        name: "pairs or indices of compound keys",
        is_of: |request| is_array(request, |_| true) && is_compound(request),
        cpu: Algorithms { stable: &[Auto, Merge], unstable: &[Quicksort] },
        one_gpu: NONE,
        several_gpus: NONE,
    },
    Capability {
        name: "items by a comparison",
        is_of: |request| request.keys == KeyForm::Compared,
        cpu: Algorithms { stable: &[Auto, Merge], unstable: &[Quicksort] },
        one_gpu: NONE,
        several_gpus: NONE,
    },
    Capability {
        name: "segments of numbers",
        is_of: |request| is_segments(request, Beside::is_nothing) && is_number(request, 8..=128),
        cpu: of(&[Auto, Radix, Quicksort, Merge]),
        one_gpu: AUTO,
        several_gpus: NONE,
    },
    Capability {
        name: "segments of pairs or indices of numbers",
        is_of: |request| is_segments(request, |_| true) && is_number(request, 8..=128),
        cpu: Algorithms { stable: &[Auto, Radix, Merge], unstable: &[Quicksort] },
        one_gpu: AUTO,
        several_gpus: NONE,
    },
    Capability {
        name: "segments of compound keys",
        is_of: |request| is_segments(request, Beside::is_nothing) && is_compound(request),
        cpu: of(&[Auto, Quicksort, Merge]),
        one_gpu: NONE,
        several_gpus: NONE,
    },
    Capability {
        name: "segments of pairs or indices of compound keys",
        is_of: |request| is_segments(request, |_| true) && is_compound(request),
        cpu: Algorithms { stable: &[Auto, Merge], unstable: &[Quicksort] },
        one_gpu: NONE,
        several_gpus: NONE,
    },
];

fn is_array(request: &Request, beside: impl Fn(Beside) -> bool) -> bool {
    request.operation == Operation::Array && beside(request.beside)
}

fn is_segments(request: &Request, beside: impl Fn(Beside) -> bool) -> bool {
    matches!(request.operation, Operation::Segments(_)) && beside(request.beside)
}

fn is_number(request: &Request, bits: std::ops::RangeInclusive<usize>) -> bool {
    matches!(request.keys, KeyForm::Number { bytes, .. } if bits.contains(&(8 * bytes)))
}

fn is_compound(request: &Request) -> bool {
    matches!(request.keys, KeyForm::Compound { .. })
}

impl Algorithms {
    fn has(self, algorithm: Algorithm, stable: bool) -> bool {
        self.stable.contains(&algorithm) || !stable && self.unstable.contains(&algorithm)
    }

    /// Their names. A star marks those that need `.unstable()`.
    fn list(self) -> String {
        let stable = self.stable.iter().map(|algorithm| format!("{algorithm:?}"));
        let all: Vec<_> =
            stable.chain(self.unstable.iter().map(|algorithm| format!("{algorithm:?}*"))).collect();
        if all.is_empty() { "-".into() } else { all.join(", ") }
    }
}

impl Engines {
    /// Where the engine of a request must be able to sort. [`Engine::Auto`] can fall back on the CPU, so only the CPU must.
    fn of(engine: Engine) -> Engines {
        match engine {
            Engine::Auto | Engine::Cpu => Engines::Cpu,
            Engine::Cuda(_) | Engine::Hybrid(_) => Engines::OneGpu,
            Engine::CudaDevices(_) => Engines::SeveralGpus,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Engines::Cpu => "the CPU",
            Engines::OneGpu => "a GPU",
            Engines::SeveralGpus => "several GPUs",
        }
    }
}

impl Capability {
    /// The row of a request.
    pub(crate) fn of(request: &Request) -> Result<&'static Capability, Error> {
        let row = TABLE.iter().find(|row| (row.is_of)(request));
        row.ok_or_else(|| Error::Unsupported("no engine supports this sort".into()))
    }

    fn algorithms(&self, engines: Engines) -> Algorithms {
        match engines {
            Engines::Cpu => self.cpu,
            Engines::OneGpu => self.one_gpu,
            Engines::SeveralGpus => self.several_gpus,
        }
    }

    /// Returns an error if the engine of the request has no such sort.
    pub(crate) fn check(&self, request: &Request) -> Result<(), Error> {
        let engines = Engines::of(request.engine);
        let there = self.algorithms(engines);
        let (name, engine, algorithm) = (self.name, engines.name(), request.algorithm);
        if there.has(algorithm, request.is_stable()) {
            return if engines == Engines::Cpu { Ok(()) } else { tells_nans_apart(request) };
        }
        let elsewhere: Vec<_> = [Engines::Cpu, Engines::OneGpu]
            .into_iter()
            .filter(|&other| other == Engines::Cpu || cfg!(feature = "gpu"))
            .filter(|&other| other != engines && self.algorithms(other).has(algorithm, request.is_stable()))
            .map(Engines::name)
            .collect();
        let elsewhere = elsewhere.join(" or ");
        Err(Error::Unsupported(if there == NONE {
            format!("{name} are not supported by {engine}; choose {elsewhere}")
        } else if there.unstable.contains(&algorithm) {
            format!(
                "{algorithm:?} does not keep the order of equal keys; allow that with unstable(), or choose {}",
                of(there.stable).list()
            )
        } else {
            let or_else = if elsewhere.is_empty() { String::new() } else { format!(", or {elsewhere}") };
            format!(
                "{algorithm:?} cannot sort {name} on {engine}; choose {}{or_else}",
                of(there.stable).list()
            )
        }))
    }

    /// Whether [`Engine::Auto`] may choose a GPU for the request.
    #[cfg(feature = "gpu")]
    pub(crate) fn is_on_a_gpu(&self, request: &Request) -> bool {
        request.algorithm == Auto
            && self.one_gpu.has(Auto, request.is_stable())
            && tells_nans_apart(request).is_ok()
    }
}

/// Returns an error for a stable sort whose keys may be NaNs that count as equal: GPUs tell NaNs apart.
fn tells_nans_apart(request: &Request) -> Result<(), Error> {
    match request.keys {
        KeyForm::Number { float: true, .. } if request.is_stable() => request.order.tells_nans_apart(),
        _ => Ok(()),
    }
}

/// The table, in Markdown. A star marks algorithms that may change the order of equal keys and need
/// [`unstable`](crate::SorterBuilder::unstable).
#[must_use]
pub fn capabilities() -> String {
    let mut text = String::from("| what | CPU | one GPU | several GPUs |\n|---|---|---|---|\n");
    for row in TABLE {
        let [cpu, one, several] = [row.cpu, row.one_gpu, row.several_gpus].map(Algorithms::list);
        writeln!(text, "| {} | {cpu} | {one} | {several} |", row.name)
            .expect("a string takes all that is written");
    }
    text
}

/// Returns an error if the table has no such sort of an array of numbers on a GPU. `key_bytes` is the width of a key.
#[cfg(feature = "gpu")]
pub(crate) fn check_on_gpu(key_bytes: usize, beside: Beside, algorithm: Algorithm) -> Result<(), Error> {
    let request = Request {
        operation: Operation::Array,
        keys: KeyForm::Number { bytes: key_bytes, float: false },
        beside,
        n: 0,
        order: Order::default(),
        algorithm,
        engine: Engine::Cuda(0),
        gpu_share: None,
        budget: Budget::of_threads(1),
    };
    Capability::of(&request)?.check(&request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sorter;
    use crate::plan::shipped_gpus;

    /// If you change a table, paste what this prints into the guide.
    #[test]
    fn the_documentation_has_the_tables() {
        let guide = include_str!("../../../docs/gpu.md");
        for table in [capabilities(), shipped_gpus()] {
            assert!(guide.contains(&table), "docs/gpu.md is to have:\n{table}");
        }
    }

    /// An algorithm that is in no row would be refused for every request.
    #[test]
    fn every_algorithm_is_in_the_table() {
        let next = |algorithm| match algorithm {
            Auto => Some(Radix),
            Radix => Some(Quicksort),
            Quicksort => Some(Merge),
            Merge => Some(Bitonic),
            Bitonic => Some(SampleSort),
            SampleSort => None,
        };
        for algorithm in std::iter::successors(Some(Auto), |&algorithm| next(algorithm)) {
            let has = |algorithms: Algorithms| algorithms.has(algorithm, false);
            assert!(TABLE.iter().any(|row| has(row.cpu) || has(row.one_gpu)), "{algorithm:?}");
        }
    }

    /// Each request has a row, and each row has a request.
    #[test]
    fn rows_are_told_apart() {
        let sorter = Sorter::builder().build().unwrap();
        let numbers = [1, 2, 4, 8, 16].map(|bytes| KeyForm::Number { bytes, float: false });
        let forms = [&numbers[..], &[KeyForm::Compound { bytes: 9 }]].concat();
        let nothing = Beside::Nothing;
        let (payload, indices) =
            (Beside::Payload { bytes: 4, stable: true }, Beside::Indices { stable: true });
        let array = |beside| (Operation::Array, beside);
        let segments = |beside| (Operation::Segments(None), beside);
        let mut found = Vec::new();
        let mut find = |(operation, beside), keys| {
            let request = sorter.request(operation, keys, beside, 10);
            found.push(Capability::of(&request).unwrap().name);
        };
        for form in forms {
            for beside in [nothing, payload, indices] {
                [array(beside), segments(beside)].into_iter().for_each(|what| find(what, form));
            }
        }
        let (top, nth) = (Operation::TopK { k: 3, sorted: true }, Operation::Nth { count: 3 });
        let selections =
            [(top, indices), (nth, nothing), (Operation::Partition, nothing), (Operation::Search, nothing)];
        for what in [array(payload), array(indices), (Operation::Lcps, indices)].into_iter().chain(selections)
        {
            find(what, KeyForm::Strings);
        }
        find(array(payload), KeyForm::Compared);
        let unreached: Vec<_> = TABLE.iter().filter(|row| !found.contains(&row.name)).collect();
        assert!(unreached.is_empty(), "{unreached:?}");
    }
}
