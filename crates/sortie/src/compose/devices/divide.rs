//! The first half: a sample divides the codes into ranges, and each device moves its keys to these ranges in scratch
//! memory.

use std::time::Instant;

use super::members::{Member, Members, starts_of};
use super::split::{Cut, Division};
use super::{Exchange, milliseconds};
use crate::Error;
use crate::compose::tuning::DIVIDED_BY;
use crate::cpu::vector::{self, Isa};
use crate::gpu::Place;
use crate::gpu::kernels::array::RANGES;
use crate::key::{Bits, Transform};

/// The maximum number of samples that are drawn until the parts are even. Each is four times as large as the one
/// before.
const TRIES: u32 = 3;

impl<B: Bits> Members<'_, B> {
    /// Moves the keys of each device to ranges in its scratch memory. Returns where each range has to go.
    ///
    /// # Safety
    /// As for [`Gpus::sort`].
    pub unsafe fn divide(&mut self, n: usize, exchange: &mut Exchange) -> Result<Division, Error> {
        let mut tries = 0;
        loop {
            let start = Instant::now();
            let most = DIVIDED_BY << (2 * tries);
            // SAFETY: the caller guarantees it.
            let samples = unsafe { self.sample(n, most, tries)? };
            let mut all = samples.concat();
            vector::sort(&mut all, Isa::detect());
            let cut = Cut::new(&all, self.members.len());
            for (member, sample) in self.members.iter_mut().zip(&samples) {
                member.guess_starts(&cut, sample);
            }
            exchange.sample_ms += milliseconds(start);
            let start = Instant::now();
            let all: Vec<usize> = (0..self.members.len()).collect();
            // SAFETY: the caller guarantees it.
            let lacking = unsafe { self.move_to_ranges(&cut, &all)? };
            // SAFETY: as above.
            let lacking = unsafe { self.move_to_ranges(&cut, &lacking)? };
            assert!(lacking.is_empty(), "what was counted has room");
            exchange.distribute_ms += milliseconds(start);
            let counts: Vec<_> = self.members.iter().map(|member| member.counts).collect();
            let starts: Vec<_> = self.members.iter().map(|member| member.starts).collect();
            let division = Division::new(&cut, &counts, &starts);
            tries += 1;
            if division.is_even() || tries == TRIES {
                return Ok(division);
            }
        }
    }

    /// Draws random codes from each device, in proportion to its number of keys. If there are few keys, takes all of
    /// them.
    ///
    /// # Safety
    /// As for [`Gpus::sort`].
    unsafe fn sample(&mut self, n: usize, most: usize, seed: u32) -> Result<Vec<Vec<B>>, Error> {
        let divided = self.divided;
        let transform = Transform::<B>::new(divided.code, divided.order);
        let mut sizes = Vec::new();
        for member in &mut self.members {
            let sampled = match n <= most {
                true => member.count,
                false => (member.count as u128 * most as u128).div_ceil(n as u128) as usize,
            };
            member.reserve(sampled, divided.payload_bytes)?;
            let (keys, sample) = (member.share.keys.range(0..member.count), member.keys().range(0..sampled));
            // SAFETY: the caller guarantees it; the scratch memory is not used yet.
            unsafe { member.gpu.sample(&member.stream, keys, sample, divided, u64::from(seed))? };
            sizes.push(sampled);
        }
        let read = |(member, &sampled): (&Member<'_, B>, &usize)| {
            let mut sample = vec![B::ZERO; sampled];
            member.stream.copy_out(&mut sample, member.keys().range(0..sampled))?;
            sample.iter_mut().for_each(|key| *key = transform.encode(*key));
            Ok(sample)
        };
        self.members.iter().zip(&sizes).map(read).collect()
    }

    /// Moves the keys of these devices to their ranges. Returns the devices with a range that had too little room. The
    /// room that each range needs is then known.
    ///
    /// # Safety
    /// As for [`Gpus::sort`].
    pub unsafe fn move_to_ranges(&mut self, cut: &Cut<B>, numbers: &[usize]) -> Result<Vec<usize>, Error> {
        let divided = self.divided;
        for &number in numbers {
            let member = &self.members[number];
            let keys = member.share.keys.range(0..member.count);
            let places = [Place { keys, ..member.share }, member.ranges(divided.payload_bytes)];
            let (splitters, starts) = (&cut.splitters, member.starts.map(|start| start as u64));
            let counts = member.counts();
            // SAFETY: the caller guarantees it; the scratch memory extends to the last start.
            unsafe { member.gpu.to_ranges(&member.stream, places, divided, splitters, starts, counts)? };
        }
        let mut lacking = Vec::new();
        for &number in numbers {
            let member = &mut self.members[number];
            let mut counts = [0u64; RANGES];
            member.stream.copy_out(&mut counts, member.counts())?;
            member.counts = counts.map(|count| count as usize);
            if (0..RANGES).any(|i| member.counts[i] > member.starts[i + 1] - member.starts[i]) {
                member.starts = starts_of(member.counts);
                lacking.push(number);
            }
        }
        Ok(lacking)
    }
}
