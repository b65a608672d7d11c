//! Several devices as one engine, as named by [`Engine::CudaDevices`].

use std::fmt;

#[cfg(doc)]
use super::Engine;
use crate::Error;

/// CUDA devices by their numbers, which are below 64. There are at least two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Devices(u64);

impl Devices {
    /// # Errors
    /// [`Error::Unsupported`] for fewer than two numbers, for a number that occurs twice, or for one that is too large.
    pub fn new(numbers: &[u32]) -> Result<Devices, Error> {
        let mut set = 0;
        for &number in numbers {
            let bit = 1u64.checked_shl(number).ok_or_else(|| {
                Error::Unsupported(format!(
                    "cuda:{number} is not supported together with others; use numbers up to 63"
                ))
            })?;
            if set & bit != 0 {
                return Err(Error::Unsupported(format!(
                    "cuda:{number} is named twice; name each device once"
                )));
            }
            set |= bit;
        }
        if numbers.len() < 2 {
            return Err(Error::Unsupported("several devices are at least two; for one, use cuda:N".into()));
        }
        Ok(Devices(set))
    }

    /// Their numbers, in ascending order.
    pub fn numbers(self) -> impl Iterator<Item = u32> {
        (0..u64::BITS).filter(move |number| self.0 >> number & 1 != 0)
    }
}

impl fmt::Debug for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.numbers()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Segments, Sorter};

    #[test]
    fn what_has_no_engine_there_says_so() {
        let sorter = Sorter::builder().engine("cuda:0,1".parse().unwrap()).build().unwrap();
        let refused = [
            sorter.sort(&mut ["b".to_string(), "a".into()]),
            sorter.sort_strings(&mut ["b", "a"]),
            sorter.sort_segments(&mut [2, 1], Segments::Length(2)),
            sorter.sort_by(&mut [2, 1], Ord::cmp),
        ];
        for result in refused {
            assert!(matches!(&result, Err(Error::Unsupported(why)) if why.contains("several")), "{result:?}");
        }
    }
}
