//! How much each contender can sort with limited memory; and a sort that is not repeated.

use std::marker::PhantomData;
use std::rc::Rc;

use bytemuck::Pod;

use crate::Result;
use crate::keys::BenchKey;
use crate::measure::{Measurable, Measured};
use crate::report::{Outcome, Row};
use crate::suite_batch::batch::{Batch, Shape};
use crate::suite_batch::contenders::{Contender, Rig, left_out};
use crate::suite_batch::{Shared, row};

/// The keys that are sorted beforehand to load all kernels: as many arrays, and as one array.
const WARM_UP: [u64; 2] = [1 << 16, 1 << 23];

/// As many arrays of a length as fit in memory, or one array as long as fits.
pub struct Fit<K> {
    pub shared: Rc<Shared>,
    pub figure: &'static str,
    /// The length of the arrays. `None` for one array.
    pub length: Option<u64>,
    /// The bytes of device memory to use. The rest is allocated beforehand.
    pub limit: Option<u64>,
    /// The keys first fill all parts of the memory, then one part less, and so on, until the rest suffices for the
    /// sort.
    pub parts: u64,
    /// The first is Sortie.
    pub contenders: Vec<Contender>,
    pub key: PhantomData<K>,
}

impl<K: BenchKey + Pod> Fit<K> {
    fn label(&self) -> String {
        let memory = self.limit.map_or(String::new(), |limit| format!(" {} MiB", limit >> 20));
        match self.length {
            Some(length) => format!("{} {}, as many x {length} as fit{memory}", self.figure, K::NAME),
            None => format!("{} {}, as many as fit{memory}", self.figure, K::NAME),
        }
    }

    /// A batch of `count` arrays, or of one array of `count` keys.
    fn shape(&self, count: u64) -> Shape {
        match self.length {
            Some(length) => Shape::Even { segments: count, length },
            None => Shape::Even { segments: 1, length: count },
        }
    }

    /// Sorts as much as fits. `None` if something that the contender needs is missing; the user has been told.
    fn sort_most(&self, contender: Contender, seed: u64) -> Result<Option<Row>> {
        // A rig of its own, which holds no scratch memory of other sorts.
        let rig = Rig::new(self.shared.rig()?.device.clone(), self.shared.peers.clone());
        let length = self.length.unwrap_or(1);
        let sort = |count: u64| sort_once::<K>(self.figure, &rig, contender, self.shape(count), seed);
        let [many, one] = WARM_UP;
        let warm_up = if self.length.is_some() { many } else { one };
        if sort(warm_up.div_ceil(length))?.is_none() {
            return Ok(None);
        }
        let free = rig.device.free_memory()?;
        let limit = self.limit.unwrap_or(free);
        let _taken = rig.device.alloc::<u8>(free.saturating_sub(limit) as usize)?;
        let all = limit.min(free) / (length * size_of::<K>() as u64);
        let mut part = self.parts;
        loop {
            match sort(all * part / self.parts) {
                // For any other error, fewer keys would not help.
                Err(why) if part > 1 && why.to_string().contains("memory") => part -= 1,
                Ok(Some(mut row)) => {
                    (row.facts.work, row.note) = match self.length {
                        Some(_) => {
                            ("as many segments as fit", format!("{} arrays fit", all * part / self.parts))
                        }
                        None => ("as many keys as fit", format!("{} keys fit", row.facts.n)),
                    };
                    row.label = self.label();
                    return Ok(Some(row));
                }
                other => return other,
            }
        }
    }
}

/// Sorts uniform keys once, where they were drawn. `None` if something that the contender needs is missing; the user
/// has been told.
pub fn sort_once<K: BenchKey + Pod>(
    figure: &'static str,
    rig: &Rig,
    contender: Contender,
    shape: Shape,
    seed: u64,
) -> Result<Option<Row>> {
    let batch = Batch::<K>::in_place(&rig.device, shape)?;
    batch.draw(seed)?;
    let Some(mut ready) = rig.ready(contender, &batch)? else { return Ok(None) };
    let (ms, verified) = (ready.run)(seed)?;
    let bytes = shape.n() * size_of::<K>();
    let measured = Measured { times_ms: vec![ms], bytes, verified, ..Measured::default() };
    Ok(Some(Row { figure, ..row("papers", "uniform", rig, &batch, &ready, &measured) }))
}

impl<K: BenchKey + Pod> Measurable for Fit<K> {
    fn keep(&mut self, filter: &str, _: &[usize]) -> bool {
        let filter = filter.to_lowercase();
        let whole = self.label().to_lowercase().contains(&filter);
        self.contenders.retain(|&contender| {
            whole || contender.name() == "sortie" || contender.name().to_lowercase().contains(&filter)
        });
        whole || self.contenders.len() > 1
    }

    fn describe(&self) -> String {
        let contenders: Vec<_> = self.contenders.iter().map(|contender| contender.name()).collect();
        format!("{}: {}", self.label(), contenders.join(", "))
    }

    fn measure(&self, _: usize, seed: u64) -> Result<Outcome> {
        let mut rows = Vec::new();
        for &contender in &self.contenders {
            match self.sort_most(contender, seed) {
                Ok(row) => rows.extend(row),
                Err(why) if rows.is_empty() => return Err(why),
                Err(why) => left_out(contender.name(), &*why),
            }
        }
        Ok(Outcome::Timed(rows))
    }
}

/// One sort of uniform keys, for a profiler.
pub struct Once {
    pub shared: Rc<Shared>,
    pub contender: Contender,
    pub n: u64,
}

impl Measurable for Once {
    fn keep(&mut self, filter: &str, _: &[usize]) -> bool {
        self.describe().to_lowercase().contains(&filter.to_lowercase())
    }

    fn describe(&self) -> String {
        format!("once u32, {}: {}", self.n, self.contender.name())
    }

    fn measure(&self, _: usize, seed: u64) -> Result<Outcome> {
        let shape = Shape::Even { segments: 1, length: self.n };
        let row = sort_once::<u32>("", self.shared.rig()?, self.contender, shape, seed)?;
        Ok(Outcome::Timed(row.into_iter().map(|row| Row { label: self.describe(), ..row }).collect()))
    }
}
