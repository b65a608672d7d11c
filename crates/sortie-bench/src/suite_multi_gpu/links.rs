//! The throughput of the links between devices: one device fetches from another, two fetch from each other, and all
//! fetch from all others.

use std::rc::Rc;
use std::time::Instant;

use sortie_device::{Buffer, Device, Stream};

use crate::Result;
use crate::measure::{Facts, Measurable, Measured};
use crate::report::{Outcome, Row};

/// A gigabyte takes some milliseconds. The host's part of that is about 1%.
const BYTES: usize = 1 << 30;

pub struct Links {
    devices: Rc<Vec<Device>>,
    bytes: usize,
}

/// The streams and buffers with which a device fetches.
struct Fetching<'a> {
    device: &'a Device,
    /// One stream for each other device.
    streams: Vec<Stream>,
    to: Buffer<u8>,
    from: Buffer<u8>,
}

impl Links {
    pub fn new(devices: Rc<Vec<Device>>) -> Links {
        Links::of(devices, BYTES)
    }

    /// Measures with copies of this many bytes.
    pub fn of(devices: Rc<Vec<Device>>, bytes: usize) -> Links {
        Links { devices, bytes }
    }

    fn label(&self) -> String {
        format!("links of {} devices", self.devices.len())
    }

    fn ready(&self) -> Result<Vec<Fetching<'_>>> {
        let ready = |device| -> Result<Fetching<'_>> {
            let streams = self.devices.iter().map(|_: &Device| -> Result<_> { Ok(Device::stream(device)?) });
            let (to, from) = (device.alloc(self.bytes)?, device.alloc(self.bytes)?);
            let streams = streams.collect::<Result<Vec<_>>>()?;
            streams[0].fill(from.view(), 1)?;
            streams[0].wait()?;
            Ok(Fetching { device, streams, to, from })
        };
        self.devices.iter().map(ready).collect()
    }

    fn row(&self, contender: &'static str, n: usize, times_ms: Vec<f64>, note: &str) -> Row {
        let facts = Facts {
            suite: "multi-gpu",
            work: "links",
            key: "bytes",
            payload: "",
            n,
            segments: None,
            length: None,
            distribution: "",
            includes: "nothing",
        };
        let rate = |ms: f64| n as f64 / ms / 1e6;
        let slowest = rate(times_ms.iter().copied().fold(0.0, f64::max));
        let fastest = rate(times_ms.iter().copied().fold(f64::INFINITY, f64::min));
        let note = format!("{slowest:.0} to {fastest:.0} GB/s{note}");
        let measured = Measured { times_ms, bytes: n, verified: true, note, ..Measured::default() };
        let mut row = Row::new(&facts, contender, 1, &measured);
        row.label = self.label();
        row.engine = "cuda";
        row.device = self.devices[0].properties().name.clone();
        row
    }
}

impl Measurable for Links {
    fn keep(&mut self, filter: &str, _: &[usize]) -> bool {
        self.label().contains(&filter.to_lowercase())
    }

    fn describe(&self) -> String {
        format!("{}: one way, both ways, all to all", self.label())
    }

    /// The times in a row are those of each pair, the best of all repetitions.
    fn measure(&self, reps: usize, _: u64) -> Result<Outcome> {
        let ready = self.ready()?;
        let best = |pairs: &[(usize, usize)]| -> Result<f64> {
            let mut best = f64::INFINITY;
            for _ in 0..=reps {
                best = best.min(fetch(&ready, pairs)?);
            }
            Ok(best)
        };
        let count = self.devices.len();
        let pairs: Vec<(usize, usize)> = (0..count)
            .flat_map(|to| (0..count).map(move |from| (to, from)))
            .filter(|(to, from)| to != from)
            .collect();
        let one_way = pairs.iter().map(|&pair| best(&[pair])).collect::<Result<Vec<_>>>()?;
        let mutual = pairs.iter().filter(|(to, from)| to < from);
        let both = mutual.map(|&(to, from)| best(&[(to, from), (from, to)])).collect::<Result<Vec<_>>>()?;
        let all = best(&pairs)?;
        let mut linked = true;
        for &(to, from) in &pairs {
            linked &= self.devices[to].is_linked_to(&self.devices[from])?;
        }
        let how = if linked { "" } else { ", some through the host" };
        Ok(Outcome::Timed(vec![
            self.row("one way", self.bytes, one_way, how),
            self.row("both ways", 2 * self.bytes, both, ""),
            self.row("all to all", (count - 1) * self.bytes, vec![all], " to each"),
        ]))
    }
}

/// The milliseconds until all pairs have finished. In each pair, the first device fetches from the second, all at once.
fn fetch(ready: &[Fetching<'_>], pairs: &[(usize, usize)]) -> Result<f64> {
    let start = Instant::now();
    for &(to, from) in pairs {
        let (own, other) = (&ready[to], &ready[from]);
        // SAFETY: the buffers are neither written nor freed while any of these links is measured.
        unsafe { own.streams[from].copy_from_peer(own.to.view(), other.device, other.from.view())? };
    }
    for &(to, from) in pairs {
        ready[to].streams[from].wait()?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e3)
}
