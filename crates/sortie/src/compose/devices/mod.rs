//! Sorts one array on several devices of a host. Each device has a share of the keys, and gets a part of them in order.
//!
//! A sample of all shares cuts the codes into ranges, several for each device. Each device moves its keys to these ranges in
//! scratch memory, which also counts them. So it is known how many keys go where. Then each device fetches its part from all
//! others, range by range, into its share, and sorts a range as soon as it has arrived, while the next ones are being copied.
//!
//! The room for the ranges is estimated from the sample, with some to spare, because counting them first would read everything
//! once more. If an estimate is too low, the move is repeated once.

mod divide;
mod exchange;
mod members;
mod split;

use std::sync::Arc;
use std::time::Instant;

use bytemuck::Pod;
use sortie_device::View;

use crate::error::same_length;
use crate::gpu::Divided;
use crate::gpu::{DevicePayload, Gpu, code};
use crate::key::Bits;
use crate::request::moves_with_keys;
use crate::{Error, Order, TotalOrder};
use members::Members;

/// The GPU engines of several devices of one host, 2 to 8.
#[derive(Debug, Clone)]
pub struct Gpus(Vec<Arc<Gpu>>);

/// The keys of one device: the first `count` elements of `keys`. The rest is room.
#[derive(Debug)]
pub struct Share<'a, K> {
    /// The keys, followed by room for more.
    pub keys: View<'a, K>,
    /// How many of them are keys. A sort writes the new number here.
    pub count: usize,
}

/// The times of a sort over several devices, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Exchange {
    /// Drawing the sample and cutting it.
    pub sample_ms: f64,
    /// Moving keys to their ranges on each device.
    pub distribute_ms: f64,
    /// The time from the first copy between devices to the last, on the device where it is longest.
    pub copies_ms: f64,
    /// The part of `copies_ms` in which a device had nothing to sort, on the device where it is longest.
    pub waited_ms: f64,
    /// The bytes that were copied between devices.
    pub bytes: u64,
    /// The time from the first step to the end of the last sort.
    pub total_ms: f64,
}

impl Gpus {
    /// The engines of these devices. A sort has one share for each, in this order.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a number of devices other than 2 to 8.
    pub fn new(gpus: Vec<Arc<Gpu>>) -> Result<Gpus, Error> {
        match gpus.len() {
            2..=8 => Ok(Gpus(gpus)),
            count => Err(Error::Unsupported(format!(
                "a sort over several devices takes 2 to 8 devices, not {count}"
            ))),
        }
    }

    /// The engines from which it was made.
    pub fn engines(&self) -> &[Arc<Gpu>] {
        &self.0
    }

    /// Sorts the keys of all devices, and waits. Afterwards, the first device has the smallest keys in order, the
    /// second one the next, and so on. The shares then say how many keys each device has. These numbers differ from
    /// their mean by at most 5%, for any keys and any previous distribution.
    ///
    /// Keys are read once and written twice before each device sorts its part. They are copied over the links between
    /// the devices, or through the host if there is no link. A thread is started for each device. Scratch memory on
    /// each device: a copy of its share, plus 20% with two devices, 30% with four, 44% with eight. Also that of sorting
    /// a seventh of its part (half of it with eight devices), or more if one range of codes has more keys.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for keys without codes of 8 to 64 bits, and if a share has less room than its part of the keys;
    /// [`Error::LengthMismatch`] for more or fewer shares than devices; [`Error::Memory`] if a device has too little for the
    /// scratch. The keys are then as they were. [`Error::Device`] if a device fails, and [`Error::Threads`] if the system
    /// refuses a thread. The keys are then unspecified.
    ///
    /// # Safety
    /// Each share is in the memory of the device with its number, no two of them overlap, and nothing else uses them.
    pub unsafe fn sort<K: TotalOrder + Pod>(
        &self,
        shares: &mut [Share<'_, K>],
        order: Order,
    ) -> Result<Exchange, Error> {
        let divided = Divided { code: code::<K>()?, order, payload_bytes: 0 };
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_divided::<K::Bits>(&mut Share::bits(shares), &[], divided) }
            .map(|(exchange, counts)| Share::count(shares, &counts, exchange))
    }

    /// [`Gpus::sort`] for keys with payloads of 4, 8 or 16 bytes, which move with their keys. The order of payloads of
    /// equal keys is unspecified. Payloads have as much room as the keys.
    ///
    /// # Errors
    /// As for [`Gpus::sort`]; [`Error::Unsupported`] for payloads of another size, or not aligned to 8 bytes or their
    /// size.
    ///
    /// # Safety
    /// As for [`Gpus::sort`], also for the payloads.
    pub unsafe fn sort_pairs_unstable<K: TotalOrder + Pod, V: Pod>(
        &self,
        shares: &mut [Share<'_, K>],
        payloads: &[View<'_, V>],
        order: Order,
    ) -> Result<Exchange, Error> {
        same_length("payloads", shares.len(), payloads.len())?;
        for (share, payload) in shares.iter().zip(payloads) {
            DevicePayload::of(share.keys.len(), *payload)?;
        }
        if !moves_with_keys(size_of::<V>()) {
            return Err(Error::Unsupported(format!(
                "payloads of {} bytes cannot be sorted on several GPUs, only those of 4, 8 and 16 bytes; sort their indices",
                size_of::<V>()
            )));
        }
        let divided = Divided { code: code::<K>()?, order, payload_bytes: size_of::<V>() };
        let payloads: Vec<View<'_, u8>> = payloads.iter().map(|payload| payload.cast()).collect();
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_divided::<K::Bits>(&mut Share::bits(shares), &payloads, divided) }
            .map(|(exchange, counts)| Share::count(shares, &counts, exchange))
    }

    /// Either of these sorts, on the bits of the keys. Returns how many keys each device has afterwards.
    ///
    /// # Safety
    /// As for these sorts.
    unsafe fn sort_divided<B: Bits>(
        &self,
        shares: &mut [Share<'_, B>],
        payloads: &[View<'_, u8>],
        divided: Divided,
    ) -> Result<(Exchange, Vec<usize>), Error> {
        same_length("shares", self.0.len(), shares.len())?;
        if B::WIDTH > 64 {
            return Err(Error::Unsupported("keys of 128 bits can be sorted on one device only".into()));
        }
        for (number, share) in shares.iter().enumerate() {
            let (count, room) = (share.count, share.keys.len());
            if count > room {
                let what =
                    format!("device {number} has {count} keys, but room for only {room}; give it more room");
                return Err(Error::Unsupported(what));
            }
        }
        let n: usize = shares.iter().map(|share| share.count).sum();
        if n == 0 {
            return Ok((Exchange::default(), vec![0; shares.len()]));
        }
        let start = Instant::now();
        let mut exchange = Exchange::default();
        let mut members = Members::new(&self.0, shares, payloads, divided)?;
        // SAFETY: the caller guarantees it.
        let division = unsafe { members.divide(n, &mut exchange)? };
        members.check_room(&division)?;
        // SAFETY: the caller guarantees it; the shares have room for the parts, and all keys are in scratch memory.
        unsafe { members.exchange(n, &division, &mut exchange)? };
        exchange.total_ms = milliseconds(start);
        Ok((exchange, (0..self.0.len()).map(|part| division.keys(part)).collect()))
    }
}

impl<K: TotalOrder + Pod> Share<'_, K> {
    fn bits<'a>(shares: &[Share<'a, K>]) -> Vec<Share<'a, K::Bits>> {
        shares.iter().map(|share| Share { keys: share.keys.cast(), count: share.count }).collect()
    }

    fn count(shares: &mut [Share<'_, K>], counts: &[usize], exchange: Exchange) -> Exchange {
        shares.iter_mut().zip(counts).for_each(|(share, &count)| share.count = count);
        exchange
    }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests;
