//! The contenders: Sortie, CUB and torch.sort, on the same keys in the same memory.

use std::cell::RefCell;
use std::path::Path;

use bytemuck::Pod;
use sortie::Order;
use sortie::gpu::{DeviceSegments, Gpu};
use sortie_device::{Buffer, Device};

use super::arena::{Arena, Array, Outcome, Segments};
use super::cells::{KeyType, Work};
use super::layout::{Layout, Row};
use crate::Result;
use crate::grid::race::{Entrant, Times};
use crate::keys::BenchKey;
use crate::suite_batch::contenders::left_out;
use crate::suite_batch::cub::{self, Cub, Peer, RawArray, RawSegments};
use crate::suite_batch::torch::Torch;

/// The maximum number of segments for which a loop of single sorts is measured.
const LOOPED: u64 = 4096;
/// The maximum number of segments for which DeviceSegmentedRadixSort is measured. It uses a block for each, and takes
/// seconds for more.
const BLOCKS: u64 = 1 << 22;

/// Calls a function that is generic over the key with the type of a key.
macro_rules! typed {
    ($key:expr, $this:ident.$function:ident($($argument:expr),*)) => {
        match $key {
            KeyType::U32 => $this.$function::<u32>($($argument),*),
            KeyType::U64 => $this.$function::<u64>($($argument),*),
            KeyType::F32 => $this.$function::<f32>($($argument),*),
            KeyType::I32 => $this.$function::<i32>($($argument),*),
            KeyType::F64 => $this.$function::<f64>($($argument),*),
        }
    };
}

pub struct Rig {
    pub arena: Arena,
    gpu: Gpu,
    cub: Option<Cub>,
    torch: Option<RefCell<Torch>>,
}

impl Rig {
    /// Allocates memory for the given number of keys and bytes of keys. Peers that are missing are left out, and
    /// reported.
    pub fn new(device: &Device, peers: Option<&Path>, n: usize, bytes: usize) -> Result<Rig> {
        let arena = Arena::new(device, n, bytes)?;
        let cub = match peers {
            Some(path) => Cub::load(path),
            None => Err(cub::BUILD.into()),
        };
        let torch = match &cub {
            Ok(cub) => start_torch(cub, &arena),
            Err(_) => Err("the library of CUB's peers is what hands keys to it".into()),
        };
        Ok(Rig {
            gpu: Gpu::new(device.clone()),
            cub: cub.map_err(|why| left_out("CUB", &*why)).ok(),
            torch: torch.map_err(|why| left_out("torch.sort", &*why)).ok().map(RefCell::new),
            arena,
        })
    }

    pub fn device(&self) -> &Device {
        self.gpu.device()
    }

    /// The contenders for this operation on an array, Sortie first.
    pub fn array_entrants<'a>(&'a self, array: &'a Array<'_>, work: Work) -> Vec<Entrant<'a>> {
        let sortie =
            Entrant::new("sortie", "nothing", move || typed!(array.key, self.sort_array(array, work)));
        let mut entrants = vec![sortie];
        if let Some(cub) = &self.cub {
            let name = if work == Work::Keys { "CUB radix sort" } else { "CUB radix sort, pairs" };
            entrants.push(Entrant::new(name, "nothing", move || {
                typed!(array.key, self.by_cub(cub, array, work))
            }));
        }
        if matches!(work, Work::Keys | Work::Argsort) {
            entrants.extend(self.torch_entrant(array.key, 1, array.n as u64));
        }
        entrants
    }

    /// The contenders for segments, Sortie first. `offsets` must equal those on the device.
    pub fn segment_entrants<'a>(
        &'a self,
        row: &Row,
        segments: &'a Segments<'_>,
        offsets: Option<&'a (Vec<u64>, Buffer<u64>)>,
    ) -> Vec<Entrant<'a>> {
        let key = row.key;
        let sortie = move || typed!(key, self.sort_segments(segments, offsets));
        let mut entrants = vec![Entrant::new("sortie", "nothing", sortie)];
        if segments.count <= LOOPED {
            let looped = move || typed!(key, self.sort_one_by_one(segments, offsets));
            entrants.push(Entrant::new("sortie, one call a segment", "waits between calls", looped));
        }
        if let Some(cub) = &self.cub {
            let sort = move || typed!(key, self.segments_by_cub(cub, Peer::SegmentedSort, segments));
            entrants.push(Entrant::new("CUB segmented sort", "nothing", sort));
            if segments.count <= BLOCKS {
                let sort = move || typed!(key, self.segments_by_cub(cub, Peer::SegmentedRadixSort, segments));
                entrants.push(Entrant::new("CUB segmented radix sort", "nothing", sort));
            }
        }
        if let Layout::Even { count, length } = row.layout {
            entrants.extend(self.torch_entrant(key, count as u64, length as u64));
        }
        entrants
    }

    /// The contenders that sort each segment by a call of its own. One graph replays all calls. Sortie is first.
    pub fn graph_entrants<'a>(&'a self, row: &Row, segments: &'a Segments<'_>) -> Vec<Entrant<'a>> {
        let key = row.key;
        let sortie = move || typed!(key, self.sort_in_graph(segments));
        let mut entrants = vec![Entrant::new("sortie", "nothing", sortie)];
        if let Some(cub) = &self.cub {
            let sort = move || typed!(key, self.graph_by_cub(cub, segments));
            entrants.push(Entrant::new("CUB radix sort", "nothing", sort));
        }
        entrants
    }

    fn sort_array<K: BenchKey + Pod>(&self, array: &Array<'_>, work: Work) -> Result<(f64, bool)> {
        let (stream, order) = (&self.arena.stream, Order::default());
        let (keys, narrow, wide) = (array.keys::<K>(), array.payload::<u32>(), array.payload::<u64>());
        array.poison(work.payload_bytes())?;
        if work != Work::Argsort {
            stream.copy_within(keys, array.input::<K>())?;
        }
        match work {
            Work::Pairs4 => stream.copy_within(narrow, array.narrow_positions())?,
            Work::Pairs8 => stream.copy_within(wide, array.wide_positions())?,
            Work::Keys | Work::Argsort => {}
        }
        // SAFETY: everything that uses the keys and the payloads is on this stream.
        let (ms, pending) = self.arena.time(|| unsafe {
            Ok(match work {
                Work::Keys => self.gpu.sort(stream, keys, order)?,
                Work::Pairs4 => self.gpu.sort_pairs(stream, keys, narrow, order)?,
                Work::Pairs8 => self.gpu.sort_pairs(stream, keys, wide, order)?,
                Work::Argsort => self.gpu.argsort(stream, array.input::<K>(), narrow, order)?,
            })
        })?;
        pending.wait()?;
        let outcome = match work {
            Work::Keys => Outcome::Keys,
            Work::Pairs4 | Work::Pairs8 => Outcome::Pairs(work.payload_bytes()),
            Work::Argsort => Outcome::Indices,
        };
        Ok((ms, array.check(outcome, false)?))
    }

    /// CUB has no argsort: it sorts pairs whose payloads are the indices. Writing the indices is not timed.
    fn by_cub<K: BenchKey + Pod>(&self, cub: &Cub, array: &Array<'_>, work: Work) -> Result<(f64, bool)> {
        let (stream, payload_bytes) = (&self.arena.stream, work.payload_bytes());
        let raw = RawArray {
            keys: array.input::<K>().address(),
            sorted_keys: array.keys::<K>().address(),
            payload: match payload_bytes {
                8 => array.wide_positions().address(),
                _ => array.narrow_positions().address(),
            },
            sorted_payload: array.payload::<u32>().address(),
            n: array.n as u64,
        };
        // SAFETY: all of these arrays hold `n` elements.
        let bytes = unsafe { cub.sort_array(K::NAME, payload_bytes, &raw, None, stream)? };
        // CUB treats an empty storage as a request for the size.
        let storage = self.arena.storage(bytes.max(1))?;
        array.poison(payload_bytes)?;
        let (ms, _) = self.arena.time(|| {
            // SAFETY: as above, with storage of the required size.
            unsafe { cub.sort_array(K::NAME, payload_bytes, &raw, Some(storage.view()), stream) }
        })?;
        let outcome = if work == Work::Keys { Outcome::Keys } else { Outcome::Pairs(payload_bytes) };
        Ok((ms, array.check(outcome, true)?))
    }

    fn sort_segments<K: BenchKey + Pod>(
        &self,
        segments: &Segments<'_>,
        offsets: Option<&(Vec<u64>, Buffer<u64>)>,
    ) -> Result<(f64, bool)> {
        let stream = &self.arena.stream;
        let keys = segments.array.keys::<K>();
        stream.copy_within(keys, segments.array.input::<K>())?;
        let divided = match offsets {
            Some((host, device)) => {
                let longest = host.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
                DeviceSegments::Offsets { offsets: device.view(), longest }
            }
            None => DeviceSegments::Length(segments.length),
        };
        // SAFETY: everything that uses the keys is on this stream.
        let (ms, pending) = self
            .arena
            .time(|| Ok(unsafe { self.gpu.sort_segments(stream, keys, divided, Order::default())? }))?;
        pending.wait()?;
        Ok((ms, segments.check()?))
    }

    fn sort_one_by_one<K: BenchKey + Pod>(
        &self,
        segments: &Segments<'_>,
        offsets: Option<&(Vec<u64>, Buffer<u64>)>,
    ) -> Result<(f64, bool)> {
        let stream = &self.arena.stream;
        let keys = segments.array.keys::<K>();
        stream.copy_within(keys, segments.array.input::<K>())?;
        let range = |at: usize| match offsets {
            Some((host, _)) => host[at] as usize..host[at + 1] as usize,
            None => at * segments.length as usize..(at + 1) * segments.length as usize,
        };
        let (ms, ()) = self.arena.time(|| {
            for at in 0..segments.count as usize {
                // SAFETY: everything that uses the keys is on this stream.
                drop(unsafe { self.gpu.sort(stream, keys.range(range(at)), Order::default())? });
            }
            Ok(())
        })?;
        Ok((ms, segments.check()?))
    }

    fn sort_in_graph<K: BenchKey + Pod>(&self, segments: &Segments<'_>) -> Result<(f64, bool)> {
        let stream = &self.arena.stream;
        let keys = segments.array.keys::<K>();
        let sort = |at: u64| -> Result<()> {
            let range = (at * segments.length) as usize..((at + 1) * segments.length) as usize;
            // SAFETY: everything that uses the keys is on this stream.
            drop(unsafe { self.gpu.sort(stream, keys.range(range), Order::default())? });
            Ok(())
        };
        // Loads the kernels.
        sort(0)?;
        self.time_graph(
            segments,
            || (0..segments.count).try_for_each(sort),
            || Ok(stream.copy_within(keys, segments.array.input::<K>())?),
        )
    }

    fn graph_by_cub<K: BenchKey + Pod>(&self, cub: &Cub, segments: &Segments<'_>) -> Result<(f64, bool)> {
        let (stream, array) = (&self.arena.stream, &segments.array);
        let raw = |at: u64| RawArray {
            keys: array.input::<K>().address() + at * segments.length * size_of::<K>() as u64,
            sorted_keys: array.keys::<K>().address() + at * segments.length * size_of::<K>() as u64,
            payload: 0,
            sorted_payload: 0,
            n: segments.length,
        };
        // SAFETY: all of these arrays hold `n` elements.
        let bytes = unsafe { cub.sort_array(K::NAME, 0, &raw(0), None, stream)? };
        // CUB treats an empty storage as a request for the size.
        let storage = self.arena.storage(bytes.max(1))?;
        let sort = |at| -> Result<()> {
            // SAFETY: as above, with storage of the required size.
            unsafe { cub.sort_array(K::NAME, 0, &raw(at), Some(storage.view()), stream)? };
            Ok(())
        };
        sort(0)?;
        self.time_graph(segments, || (0..segments.count).try_for_each(sort), || array.poison(0))
    }

    /// Times the second launch of a graph. The first one uploads it to the device.
    fn time_graph(
        &self,
        segments: &Segments<'_>,
        work: impl FnOnce() -> Result<()>,
        prepare: impl Fn() -> Result<()>,
    ) -> Result<(f64, bool)> {
        let stream = &self.arena.stream;
        let graph = stream.capture(work)?;
        // SAFETY: keys, storage and engine outlive the graph; everything that uses them is on this stream.
        let launch = || unsafe { graph.launch(stream) }.map_err(Into::into);
        prepare()?;
        launch()?;
        prepare()?;
        let (ms, ()) = self.arena.time(launch)?;
        Ok((ms, segments.check()?))
    }

    fn segments_by_cub<K: BenchKey + Pod>(
        &self,
        cub: &Cub,
        peer: Peer,
        segments: &Segments<'_>,
    ) -> Result<(f64, bool)> {
        let array = &segments.array;
        let divided =
            RawSegments { count: segments.count, length: segments.length, offsets: segments.offsets };
        let job =
            cub.open_segments(peer, array.input::<K>(), array.keys::<K>(), &divided, &self.arena.stream)?;
        array.poison(0)?;
        let (ms, ()) = self.arena.time(|| job.run())?;
        Ok((ms, segments.check()?))
    }

    fn torch_entrant(&self, key: KeyType, segments: u64, length: u64) -> Option<Entrant<'_>> {
        let torch = self.torch.as_ref().filter(|_| key.has_torch())?;
        let run = move |reps| {
            // torch runs in another process, which does not wait for unfinished work of this one.
            self.arena.stream.wait()?;
            sorted(torch.borrow_mut().ask(&format!("sort {} {segments} {length} {reps}", key.name()))?)
        };
        let includes = "values and indices of 64 bits, memory from torch's cache";
        Some(Entrant { name: "torch.sort", includes, run: Box::new(run) })
    }
}

fn start_torch(cub: &Cub, arena: &Arena) -> Result<Torch> {
    let mut torch = Torch::start(include_str!("../../peers/torch_arrays.py"))?;
    let handle = cub.export(arena.input_address())?;
    let hex: String = handle.iter().map(|byte| format!("{byte:02x}")).collect();
    match &torch.ask(&format!("open {hex}"))?[..] {
        "opened" => Ok(torch),
        answer => Err(answer.into()),
    }
}

/// An answer of `peers/torch_arrays.py` to `sort`.
fn sorted(answer: String) -> Result<Times> {
    let mut words = answer.split(' ');
    let right = match words.next() {
        Some("right") => true,
        Some("wrong") => false,
        _ => return Err(answer.into()),
    };
    let ms = words.map(|word| word.parse()).collect::<std::result::Result<_, _>>();
    Ok(Times { ms: ms.map_err(|_| format!("no times: {answer}"))?, right })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::draw::Source;
    use crate::grid::race::race;
    use crate::grid::shape::Shape;

    /// Runs on the test bench, which measures no time.
    #[test]
    fn sortie_is_found_right() {
        let Some(device) = sortie_simt::or_skip(sortie_simt::device(sortie_simt::Options::default())) else {
            return;
        };
        let (n, key) = (2000, KeyType::F32);
        let rig = Rig::new(&device, None, n, 4 * n).unwrap();
        let array = rig.arena.draw(Source::Shape(Shape::LogNormal), key, n, 1).unwrap();
        for work in Work::ALL {
            let raced = race(rig.array_entrants(&array, work), 1).unwrap();
            assert_eq!(raced.len(), 1, "there are no peers");
            assert!(raced[0].times.right, "{work:?}");
        }
        let row = Row { key, n, layout: Layout::Even { count: 1, length: n } };
        let segments = array.segments(1, n as u64, 0).unwrap();
        let raced = race(rig.segment_entrants(&row, &segments, None), 1).unwrap();
        assert!(raced.iter().all(|raced| raced.times.right) && raced.len() == 2);

        let row = Row { layout: Layout::OneGiant, ..row };
        let host = row.offsets(1).unwrap();
        let offsets = device.alloc(host.len()).unwrap();
        rig.arena.stream.copy_in(offsets.view(), &host).unwrap();
        let segments = array.segments(host.len() as u64 - 1, 0, offsets.address()).unwrap();
        let offsets = (host, offsets);
        let raced = race(rig.segment_entrants(&row, &segments, Some(&offsets)), 1).unwrap();
        assert!(raced.iter().all(|raced| raced.times.right) && raced.len() == 2);
    }

    #[test]
    fn answers_of_torch_are_times_or_errors() {
        let times = sorted("wrong 1.5 2".into()).unwrap();
        assert_eq!((times.ms, times.right), (vec![1.5, 2.0], false));
        assert_eq!(sorted("error: out of memory".into()).err().unwrap().to_string(), "error: out of memory");
        assert!(sorted("right soon".into()).is_err());
    }
}
