//! [`CpuRates`]: how fast the CPU engine sorts, the basis of predictions.

use super::Vectors;

/// Base-2 logarithms of the segment lengths that are measured.
pub(crate) const LENGTHS: [u32; 3] = [3, 9, 15];

/// The rates of the CPU engine, all threads together.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuRates {
    /// Number of threads that did the work.
    pub threads: usize,
    /// Bytes copied per second.
    pub copy: f64,
    /// By the width of a key (1, 2, 4 and 8 bytes), then by `LENGTHS`.
    pub(crate) seconds_a_key: [[f64; LENGTHS.len()]; 4],
}

impl CpuRates {
    /// The rates of 16 cores of a Xeon (Sapphire Rapids) with these instructions, measured on 2026-11-23. Predictions for fewer
    /// or more threads assume that each thread sorts as much.
    #[must_use]
    pub fn shipped(vectors: Vectors) -> CpuRates {
        let nanoseconds: [[f64; 3]; 4] = match vectors {
            Vectors::Avx512 => {
                [[0.99, 0.18, 0.06], [1.04, 0.95, 1.37], [0.49, 0.13, 0.30], [0.44, 0.28, 0.51]]
            }
            Vectors::Avx2 => [[0.95, 0.19, 0.06], [1.00, 1.01, 1.44], [0.44, 0.26, 0.38], [0.50, 0.90, 1.11]],
            Vectors::Portable => {
                [[1.04, 0.19, 0.06], [1.01, 0.90, 1.27], [1.01, 1.01, 1.61], [1.10, 1.14, 1.58]]
            }
        };
        let seconds_a_key = nanoseconds.map(|lengths| lengths.map(|nanoseconds| nanoseconds * 1e-9));
        CpuRates { threads: 16, copy: 55e9, seconds_a_key }
    }

    /// Keys per second in segments of `length` keys, for keys of 1, 2, 4 or 8 bytes. Between the measured lengths, the time per
    /// key is interpolated linearly over the logarithm of the length.
    ///
    /// # Panics
    /// If `key_bytes` is 0, or 16 or more.
    #[must_use]
    pub fn keys_a_second(&self, key_bytes: usize, length: usize) -> f64 {
        1.0 / self.seconds_a_key(key_bytes, length.max(1).ilog2())
    }

    /// For segments of 2^`log` keys, interpolated between the measured lengths.
    pub(crate) fn seconds_a_key(&self, key_bytes: usize, log: u32) -> f64 {
        let measured = &self.seconds_a_key[key_bytes.ilog2() as usize];
        let log = log.clamp(LENGTHS[0], LENGTHS[LENGTHS.len() - 1]);
        let above = LENGTHS.partition_point(|&length| length < log).max(1);
        let part = f64::from(log - LENGTHS[above - 1]) / f64::from(LENGTHS[above] - LENGTHS[above - 1]);
        measured[above - 1] + part * (measured[above] - measured[above - 1])
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn made_up() -> CpuRates {
        let mut seconds_a_key = [[0.0; LENGTHS.len()]; 4];
        for (i, seconds) in seconds_a_key.as_flattened_mut().iter_mut().enumerate() {
            *seconds = (i + 1) as f64;
        }
        CpuRates { threads: 3, copy: 5.5, seconds_a_key }
    }

    #[test]
    fn lengths_between_those_measured_are_on_the_line() {
        let rates = made_up();
        // Measured for 4 bytes: 7, 8 and 9 seconds.
        for (log, seconds) in [(0, 7.0), (3, 7.0), (6, 7.5), (9, 8.0), (12, 8.5), (15, 9.0), (40, 9.0)] {
            assert_eq!(rates.seconds_a_key(4, log), seconds, "2^{log}");
        }
        assert_eq!(rates.keys_a_second(1, 8), 1.0);
        assert_eq!(rates.keys_a_second(8, 1 << 20), 1.0 / 12.0);
    }
}
