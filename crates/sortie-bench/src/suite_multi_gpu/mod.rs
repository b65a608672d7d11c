//! Suite `multi-gpu`: the links between the devices of a host; one array on several devices, compared with one device
//! that sorts its own share; and one array in host memory.

mod host;
mod links;
mod resident;

use std::rc::Rc;

use sortie_device::{Device, cuda};

use crate::args::Args;
use crate::distributions::Distribution;
use crate::measure::Measurable;
use host::HostToHost;
use links::Links;
use resident::Resident;

/// The number of keys in host memory.
const HOST_KEYS: usize = 1 << 30;

/// The size of the keys on each device in bytes.
const SHARE_BYTES: usize = 8 << 30;

/// The names of contenders, by the number of devices.
const NAMES: [&str; 9] = [
    "",
    "sortie, one device",
    "sortie, 2 devices",
    "sortie, 3 devices",
    "sortie, 4 devices",
    "sortie, 5 devices",
    "sortie, 6 devices",
    "sortie, 7 devices",
    "sortie, 8 devices",
];

/// Distributions besides uniform, with keys that are unevenly distributed among devices, or equal.
const SKEWED: [Distribution; 5] = [
    Distribution::Sorted,
    Distribution::Equal,
    Distribution::FewDistinct,
    Distribution::Zipf,
    Distribution::Staggered,
];

pub fn cases(args: &Args) -> Vec<Box<dyn Measurable>> {
    let devices = match cuda::devices() {
        Ok(devices) if devices.len() > 1 => Rc::new(devices),
        Ok(_) => {
            println!("multi-gpu: skipped, there is only one CUDA device");
            return vec![];
        }
        Err(why) => {
            println!("multi-gpu: skipped, {why}");
            return vec![];
        }
    };
    of_devices(&devices, args.n)
}

fn of_devices(devices: &Rc<Vec<Device>>, n: Option<usize>) -> Vec<Box<dyn Measurable>> {
    let share = |bytes: usize| n.unwrap_or(SHARE_BYTES / bytes);
    let mut cases: Vec<Box<dyn Measurable>> = vec![Box::new(Links::new(devices.clone()))];
    cases.push(Box::new(Resident::<u32>::new(devices, share(4), Distribution::Uniform)));
    cases.push(Box::new(Resident::<u64>::new(devices, share(8), Distribution::Uniform)));
    for distribution in SKEWED {
        cases.push(Box::new(Resident::<u32>::new(devices, share(4), distribution)));
    }
    let (host, count) = (n.unwrap_or(HOST_KEYS), devices.len());
    let name = || devices[0].properties().name.clone();
    cases.push(Box::new(HostToHost::<u32>::new(host, count, name())));
    cases.push(Box::new(HostToHost::<u64>::new(host, count, name())));
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Outcome;

    /// Simulated devices. `None` if the test is to be skipped.
    fn devices(count: usize) -> Option<Rc<Vec<Device>>> {
        let device = |_| sortie_simt::or_skip(sortie_simt::device(sortie_simt::Options::default()));
        (0..count).map(device).collect::<Option<_>>().map(Rc::new)
    }

    #[test]
    fn cases_are_of_all_devices() {
        let Some(devices) = devices(4) else { return };
        let described: Vec<_> = of_devices(&devices, Some(1000)).iter().map(|case| case.describe()).collect();
        assert_eq!(described[0], "links of 4 devices: one way, both ways, all to all");
        let several = "sortie, one device, sortie, 2 devices, sortie, 3 devices, sortie, 4 devices";
        assert_eq!(described[1], format!("keys u32 on several devices, 1000 each, uniform: {several}"));
        assert!(described[6].contains("zipf"), "{}", described[6]);
        let host = "sortie, one device, sortie, 2 devices, sortie, 4 devices";
        assert_eq!(described[9], format!("keys u64, host to host, 1000: {host}"));
    }

    #[test]
    fn links_of_simulated_devices() {
        let Some(devices) = devices(3) else { return };
        let Outcome::Timed(rows) = Links::of(devices, 1 << 16).measure(1, 1).unwrap() else {
            panic!("they are timed")
        };
        assert_eq!(rows.len(), 3);
        assert_eq!((rows[0].times_ms.len(), rows[1].times_ms.len()), (6, 3));
        assert!(rows.iter().all(|row| row.verified && row.rate > 0.0));
    }
}
