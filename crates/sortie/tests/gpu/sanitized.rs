//! Sorts of one array, of long segments, and of strings, under AddressSanitizer and UndefinedBehaviorSanitizer. These
//! must be loaded when a process starts, so the test runs itself again under them.

use std::env;
use std::sync::Arc;

use sortie::Order;
use sortie::gpu::Gpu;
use sortie::gpus::Gpus;
use sortie_simt::{Options, Sanitizer, or_skip};

use crate::support::{cut, keys, on_bench};
use crate::{bitonic, devices, large, segments, strings};

const CHILD: &str = "SORTIE_TEST_SANITIZED";

#[test]
fn child() {
    if env::var_os(CHILD).is_none() {
        return;
    }
    let options = Options { sanitizer: Sanitizer::Address, ..Options::default() };
    on_bench(options.clone(), |gpu| {
        for n in [4000, 13_001] {
            bitonic::compare::<u8>(gpu, "random", n, Order::default());
            bitonic::compare::<u32>(gpu, "random", n, Order::default());
            bitonic::compare::<f64>(gpu, "ends", n, Order { descending: true, ..Order::default() });
        }
        large::sort_odd_payloads(gpu);
        let offsets = [3, 3, 200, 59_000, 60_000, 119_999];
        let long: Vec<u64> = cut(&keys("few", 120_000, 1));
        segments::compare(gpu, &long, sortie::Segments::Offsets(&offsets), Order::default(), "few");
        segments::compare(gpu, &long, sortie::Segments::Length(60_000), Order::default(), "few");
        let bench = || Arc::new(Gpu::new(sortie_simt::device(options.clone()).unwrap()));
        let gpus = Gpus::new(vec![bench(), bench(), bench()]).unwrap();
        devices::sort::<u32>(&gpus, "random", 10_000);
        devices::sort::<u64>(&gpus, "few", 7001);
        strings::compare(gpu, &strings::random(1500, b"ab", 90, 1), "with ties");
        println!("all sorted");
    });
}

#[test]
fn nothing_is_found() {
    let Some(mut command) = or_skip(sortie_simt::address_sanitizer()) else { return };
    let arguments = ["sanitized::child", "--exact", "--nocapture"];
    let output = command.args(arguments).env(CHILD, "1").output().unwrap();
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success() && text.contains("all sorted"), "{text}");
}
