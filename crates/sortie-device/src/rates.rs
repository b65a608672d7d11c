//! The transfer rates of a device, measured on request and cached for that device.

use std::time::Instant;

use crate::cache::{Cache, Key};
use crate::{Buffer, Device, Error, Pinned, Stream};

/// In bytes per second, except `start`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Copies within the device: bytes read plus bytes written.
    pub copy: f64,
    /// Host to device, from pinned memory.
    pub pinned_in: f64,
    /// Device to host, to pinned memory.
    pub pinned_out: f64,
    /// Both directions at once, pinned, in total.
    pub pinned_both: f64,
    /// Host to device, from pageable memory.
    pub pageable_in: f64,
    /// Device to host, to pageable memory.
    pub pageable_out: f64,
    /// Allocating pinned memory, setting it to zero, and freeing it.
    pub pinned_alloc: f64,
    /// The seconds that a process waits for the driver and the device to start.
    pub start: f64,
}

/// A rate is the best of this many rounds, after a warm-up.
const ROUNDS: usize = 5;
/// The bytes in a transfer. All transfers together take half a second on a slow bus.
const TRANSFER: usize = 128 << 20;
/// The bytes in a copy, several times the size of a device's cache.
const COPY: usize = 1 << 30;

/// The cached rates of a device, if it was measured.
pub fn known(device: &Device) -> Option<Rates> {
    known_of(device.properties().kind, &device.properties().id)
}

/// The cached rates of the device with these [`Properties`](crate::Properties), which need not be present.
pub fn known_of(kind: &str, id: &str) -> Option<Rates> {
    Rates::from_bytes(&Cache::of_user().get(&key(kind, id))?)
}

/// Measures, and caches the result. Takes up to a second, and up to an eighth of the free device memory.
pub fn measure(device: &Device) -> Result<Rates, Error> {
    let start = device.start()?.as_secs_f64();
    let eighth = usize::try_from(device.free_memory()? / 8).unwrap_or(usize::MAX);
    let copy = copy(device, COPY.min(eighth / 2))?;
    let rates = Rates { copy, start, ..transfers(device, TRANSFER.min(eighth / 2))? };
    let properties = device.properties();
    Cache::of_user().put(&key(properties.kind, &properties.id), &rates.to_bytes());
    Ok(rates)
}

fn key(kind: &str, id: &str) -> Key {
    Key::new("rates", [kind.as_bytes(), id.as_bytes()])
}

/// Timed by events, because the host's overhead would be too large.
fn copy(device: &Device, bytes: usize) -> Result<f64, Error> {
    let (from, to) = (device.alloc::<u8>(bytes)?, device.alloc::<u8>(bytes)?);
    let (stream, start, end) = (device.stream()?, device.event()?, device.event()?);
    stream.fill(from.view(), 1)?;
    let seconds = best(|| {
        stream.record(&start)?;
        stream.copy_within(to.view(), from.view())?;
        stream.record(&end)?;
        end.wait()?;
        Ok(f64::from(end.milliseconds_since(&start)?) / 1000.0)
    })?;
    Ok(2.0 * bytes as f64 / seconds)
}

/// Measures all rates except `copy` and `start`, by the host's clock.
fn transfers(device: &Device, bytes: usize) -> Result<Rates, Error> {
    let (first, second) = (device.alloc(bytes)?, device.alloc(bytes)?);
    let (mut to, from) = (device.alloc_pinned(bytes)?, device.alloc_pinned(bytes)?);
    let mut pageable = vec![1u8; bytes];
    let (one, other) = (device.stream()?, device.stream()?);
    one.copy_in(second.view(), &from)?;
    let rate = |moved: usize, seconds: f64| moved as f64 / seconds;
    let alloc = || device.alloc_pinned::<u8>(bytes).map(drop);
    Ok(Rates {
        copy: 0.0,
        start: 0.0,
        pinned_alloc: rate(bytes, best(timed(alloc))?),
        pinned_in: rate(bytes, best(timed(|| one.copy_in(first.view(), &from)))?),
        pinned_out: rate(bytes, best(timed(|| one.copy_out(&mut to, second.view())))?),
        pinned_both: rate(
            2 * bytes,
            best(timed(|| both((&one, &first, &from), (&other, &second, &mut to))))?,
        ),
        pageable_in: rate(bytes, best(timed(|| one.copy_in(first.view(), &pageable)))?),
        pageable_out: rate(bytes, best(timed(|| one.copy_out(&mut pageable, first.view())))?),
    })
}

/// Copies in on one stream and out on another at the same time.
fn both(
    (one, first, from): (&Stream, &Buffer<u8>, &Pinned<u8>),
    (other, second, to): (&Stream, &Buffer<u8>, &mut Pinned<u8>),
) -> Result<(), Error> {
    // SAFETY: in every case, both streams are waited for before the slices can be accessed.
    let enqueued = unsafe {
        let copy_in = one.enqueue_copy_in(first.view(), from);
        copy_in.and_then(|()| other.enqueue_copy_out(to, second.view()))
    };
    let waited = (one.wait(), other.wait());
    enqueued.and(waited.0).and(waited.1)
}

fn timed(mut work: impl FnMut() -> Result<(), Error>) -> impl FnMut() -> Result<f64, Error> {
    move || {
        let start = Instant::now();
        work()?;
        Ok(start.elapsed().as_secs_f64())
    }
}

/// The minimum seconds of all rounds.
fn best(mut round: impl FnMut() -> Result<f64, Error>) -> Result<f64, Error> {
    round()?;
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        least = least.min(round()?);
    }
    Ok(least)
}

impl Rates {
    fn to_bytes(self) -> Vec<u8> {
        let Rates {
            copy,
            pinned_in,
            pinned_out,
            pinned_both,
            pageable_in,
            pageable_out,
            pinned_alloc,
            start,
        } = self;
        let numbers =
            [copy, pinned_in, pinned_out, pinned_both, pageable_in, pageable_out, pinned_alloc, start];
        numbers.map(f64::to_le_bytes).concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Rates> {
        let (numbers, []) = bytes.as_chunks::<8>() else { return None };
        let numbers: Vec<_> = numbers.iter().map(|&number| f64::from_le_bytes(number)).collect();
        let [copy, pinned_in, pinned_out, pinned_both, pageable_in, pageable_out, pinned_alloc, start] =
            numbers[..]
        else {
            return None;
        };
        Some(Rates {
            copy,
            pinned_in,
            pinned_out,
            pinned_both,
            pageable_in,
            pageable_out,
            pinned_alloc,
            start,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_survive_the_disk() {
        let rates = Rates {
            copy: 1.0,
            pinned_in: 2.0,
            pinned_out: 3.0,
            pinned_both: 4.0,
            pageable_in: 5.0,
            pageable_out: 6.5,
            pinned_alloc: 7.0,
            start: 0.25,
        };
        let bytes = rates.to_bytes();
        assert_eq!(Rates::from_bytes(&bytes), Some(rates));
        assert_eq!(Rates::from_bytes(&bytes[1..]), None);
    }
}
