//! The codes at some indices of the order of all codes, by one read.
//!
//! A sample gives two codes between which the wanted one is, except in one of 10^6 cases: a band. The read counts the codes before
//! each band, and keeps those in it. A selection among these finds the wanted code. If many codes are equal to an end of the band,
//! that code is a band of its own, which is only counted.
//!
//! If the sample misleads, more reads count the codes by their digits, until a code is left. Its bits bound their number, for every
//! input.

use std::ops::Range;

use crate::cpu::draw::Draw;
use crate::cpu::items::Items;
use crate::cpu::nth::nth_of_each;
use crate::cpu::vector::{self, BLOCK, Band, Isa, MOST_LANES};
use crate::key::Bits;
use crate::{Error, parallel, scratch};

/// One code in this many is sampled: of 10^7 codes 19,531, which takes 0.5 of 4 ms.
const SAMPLED: usize = 1 << 9;
/// The bounds of the sample's size.
const LEAST_SAMPLE: usize = 1 << 10;
const LARGEST_SAMPLE: usize = 1 << 15;

/// The cells by which a read counts codes. Their counters take 32 KB.
const CELL_BITS: u32 = 12;

/// A code at an index of the order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found<L> {
    pub code: L,
    /// The number of codes before it.
    pub less: usize,
}

/// A band, and what a read has found of it.
struct Counted<L> {
    first: L,
    last: L,
    less: usize,
    count: usize,
    /// As many as there is room for.
    bits: Vec<L>,
    room: usize,
}

/// The number of sampled codes.
fn drawn(n: usize) -> usize {
    (n / SAMPLED).clamp(LEAST_SAMPLE, LARGEST_SAMPLE)
}

/// How far an index of the sample may be from that of the wanted code, where `share` of the codes are before it. That is 5 standard
/// deviations.
fn margin(drawn: usize, share: f64) -> usize {
    (5.0 * (drawn as f64 * share * (1.0 - share)).sqrt()) as usize + 10
}

/// The most codes that are kept for each band of `n` codes. Between the ends are twice the margin, and of those equal to an end as many
/// as the margin.
fn room(n: usize, drawn: usize, margin: usize) -> usize {
    n.saturating_mul(5 * margin) / drawn
}

/// The most scratch in bytes for this many bands of codes of `code` bytes, on several threads.
pub(crate) fn scratch(n: usize, bands: usize, code: usize, threads: usize) -> usize {
    let most = bands.saturating_mul(room(n, drawn(n), margin(drawn(n), 0.5))).min(n);
    let copies = if threads > 1 { threads + 1 } else { 1 };
    most.saturating_mul(code).saturating_mul(copies)
}

/// Finds the codes at these indices of the order, which ascend. Each two neighbours among them share a band.
pub(crate) fn find<L: Bits, S: Items<L>>(
    items: &S,
    indices: &[usize],
    threads: usize,
    isa: Isa,
) -> Result<Vec<Found<L>>, Error> {
    let mut bands = of_sample(items, indices, isa);
    read(items, &mut bands, threads, isa)?;
    let transform = items.transform();
    let (mut found, mut rest) = (Vec::with_capacity(indices.len()), indices);
    for band in &mut bands {
        // What the sample misled about.
        while let Some((&index, others)) = rest.split_first()
            && index < band.less
        {
            found.push(by_digits(items, index, isa));
            rest = others;
        }
        let (here, others) = rest.split_at(rest.partition_point(|&index| index < band.less + band.count));
        rest = others;
        if band.first == band.last {
            found.extend(here.iter().map(|_| Found { code: band.first, less: band.less }));
        } else if band.bits.len() == band.count {
            band.bits.iter_mut().for_each(|bits| *bits = transform.encode(*bits));
            let within: Vec<usize> = here.iter().map(|index| index - band.less).collect();
            nth_of_each(&mut band.bits, &within, 0, isa);
            let of_band = found_at(&band.bits, &within);
            found.extend(of_band.map(|found| Found { less: band.less + found.less, ..found }));
        } else {
            found.extend(here.iter().map(|&index| by_digits(items, index, isa)));
        }
    }
    found.extend(rest.iter().map(|&index| by_digits(items, index, isa)));
    Ok(found)
}

/// The codes at some indices, where a sort would put them. Those before each index are not greater.
pub(crate) fn found_at<L: Bits>(codes: &[L], indices: &[usize]) -> impl Iterator<Item = Found<L>> {
    let (mut read, mut last) = (0, None::<Found<L>>);
    indices.iter().map(move |&index| {
        let code = codes[index];
        let less = read + codes[read..index].iter().filter(|&&other| other < code).count();
        let found = last.filter(|last| last.code == code).unwrap_or(Found { code, less });
        (read, last) = (index, Some(found));
        found
    })
}

/// The bands in which the codes at these indices are, as a sample shows. They ascend, and do not overlap.
fn of_sample<L: Bits, S: Items<L>>(items: &S, indices: &[usize], isa: Isa) -> Vec<Counted<L>> {
    let n = items.len();
    let drawn = drawn(n);
    let mut draw = Draw::new();
    let mut sample: Vec<L> = (0..drawn).map(|_| items.code(draw.below(n))).collect();
    vector::sort(&mut sample, isa);
    let mut bands: Vec<Counted<L>> = Vec::with_capacity(3 * indices.len());
    for pair in pairs(indices) {
        let share = |index: usize| (index as f64 + 0.5) / n as f64;
        let [from, to] = [share(pair[0]), share(pair[pair.len() - 1])];
        let before = ((from * drawn as f64) as usize).checked_sub(margin(drawn, from));
        let after = sample.get((to * drawn as f64) as usize + margin(drawn, to));
        let (mut first, mut last) =
            (before.map_or(L::ZERO, |at| sample[at]), after.map_or(L::MAX, |&code| code));
        if let Some(previous) = bands.last() {
            if last <= previous.last {
                continue;
            }
            first = first.max(previous.last.wrapping_add(L::from_low(1)));
        }
        let is_heavy = |code: L| {
            let less = sample.partition_point(|&other| other < code);
            sample[less..].partition_point(|&other| other == code) > margin(drawn, 0.5)
        };
        let one = |code| Counted::new(code, code, 0);
        if is_heavy(first) {
            bands.push(one(first));
            if first == last {
                continue;
            }
            first = first.wrapping_add(L::from_low(1));
        }
        let ends = is_heavy(last).then_some(last);
        if ends.is_some() {
            last = last.wrapping_sub(L::from_low(1));
        }
        if first <= last {
            bands.push(Counted::new(first, last, room(n, drawn, margin(drawn, 0.5))));
        }
        bands.extend(ends.map(one));
    }
    bands
}

/// Ascending indices in pairs of neighbours, or alone.
pub(crate) fn pairs(indices: &[usize]) -> impl Iterator<Item = &[usize]> {
    let mut rest = indices;
    std::iter::from_fn(move || {
        let (&first, others) = rest.split_first()?;
        let count = 1 + usize::from(others.first() == Some(&(first + 1)));
        let (pair, others) = rest.split_at(count);
        rest = others;
        Some(pair)
    })
}

impl<L: Bits> Counted<L> {
    fn new(first: L, last: L, room: usize) -> Self {
        Counted { first, last, less: 0, count: 0, bits: Vec::new(), room }
    }

    /// A band for a part of the items.
    fn empty(&self, items: usize) -> Result<Self, Error> {
        let mut band = Counted::new(self.first, self.last, self.room);
        band.bits = scratch::reserve(self.room.min(items))?;
        Ok(band)
    }

    /// Adds what was found in other items.
    fn add(&mut self, other: &Self) {
        self.less += other.less;
        self.count += other.count;
        self.keep(&other.bits);
    }

    /// Keeps codes, if there is room.
    fn keep(&mut self, bits: &[L]) {
        if bits.len() <= self.bits.capacity() - self.bits.len() {
            self.bits.extend_from_slice(bits);
        }
    }
}

/// Counts the codes of all items for each band.
fn read<L: Bits, S: Items<L>>(
    items: &S,
    bands: &mut [Counted<L>],
    threads: usize,
    isa: Isa,
) -> Result<(), Error> {
    let n = items.len();
    for band in &mut *bands {
        *band = band.empty(n)?;
    }
    if threads == 1 {
        read_part(items, 0..n, bands, isa);
        return Ok(());
    }
    let of_parts = parallel::map(threads, 0..threads, |part| {
        let range = part * n / threads..(part + 1) * n / threads;
        let mut counted = Vec::with_capacity(bands.len());
        for band in &*bands {
            counted.push(band.empty(range.len())?);
        }
        read_part(items, range, &mut counted, isa);
        Ok::<_, Error>(counted)
    });
    for part in of_parts {
        bands.iter_mut().zip(&part?).for_each(|(band, part)| band.add(part));
    }
    Ok(())
}

fn read_part<L: Bits, S: Items<L>>(items: &S, range: Range<usize>, bands: &mut [Counted<L>], isa: Isa) {
    let (mut room, mut inside) = ([L::ZERO; BLOCK], [L::ZERO; BLOCK + MOST_LANES]);
    let transform = items.transform();
    let filters: Vec<_> = bands.iter().map(|band| Band::new(&transform, band.first, band.last)).collect();
    for start in range.clone().step_by(BLOCK) {
        let keys = items.block(start..range.end.min(start + BLOCK), &mut room);
        for (band, filter) in bands.iter_mut().zip(&filters) {
            let (less, count) = vector::band(keys, filter, &mut inside, isa);
            band.less += less;
            band.count += count;
            band.keep(&inside[..count]);
        }
    }
}

/// Finds the code at an index of the order by counting the codes in cells of an interval, again and again in the cell with the index.
fn by_digits<L: Bits, S: Items<L>>(items: &S, index: usize, isa: Isa) -> Found<L> {
    let (mut first, mut width, mut less) = (L::ZERO, L::MAX, 0);
    let mut room = [L::ZERO; BLOCK];
    let transform = items.transform();
    while width > L::ZERO {
        let bits = L::WIDTH - width.leading_zeros();
        let shift = bits.saturating_sub(CELL_BITS);
        let mut counts = vec![0; 1 << (bits - shift)];
        for start in (0..items.len()).step_by(BLOCK) {
            let keys = items.block(start..items.len().min(start + BLOCK), &mut room);
            vector::compiled_for!(isa, || for &key in keys {
                let code = transform.encode(key).wrapping_sub(first);
                if code <= width {
                    counts[code.shr(shift).low() as usize] += 1;
                }
            });
        }
        let mut cell = 0;
        while less + counts[cell] <= index {
            less += counts[cell];
            cell += 1;
        }
        first = first.wrapping_add(L::from_low(cell as u64).shl(shift));
        width = L::MAX.shr(L::WIDTH - 1).shl(shift).wrapping_sub(L::from_low(1));
    }
    Found { code: first, less }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;
    use crate::key::Transform;

    /// Items of which the sample sees only one code.
    struct Misleading<L> {
        codes: Vec<L>,
        seen: L,
        /// Codes that the sample has yet to draw.
        drawn: AtomicUsize,
    }

    impl<L: Bits> Items<L> for Misleading<L> {
        const HAS_WHOLE_CODES: bool = true;
        fn len(&self) -> usize {
            self.codes.len()
        }
        fn code(&self, index: usize) -> L {
            let drawn = self.drawn.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
            if drawn.is_ok() { self.seen } else { self.codes[index] }
        }
        fn block<'a>(&'a self, block: Range<usize>, _: &'a mut [L; BLOCK]) -> &'a [L] {
            &self.codes[block]
        }
        fn transform(&self) -> Transform<L> {
            Transform::IDENTITY
        }
        fn compare(&self, _: usize, _: usize) -> Ordering {
            unreachable!("the codes are the whole order")
        }
    }

    fn check<L: Bits>() {
        let n = 100_000;
        let mut rng = fastrand::Rng::with_seed(1);
        let random: Vec<L> = (0..n).map(|_| L::of_left_aligned(rng.u64(..))).collect();
        let few: Vec<L> = random.iter().map(|code| L::from_low(code.low() % 3)).collect();
        let ends: Vec<L> =
            random.iter().map(|code| if code.low() % 2 == 0 { L::ZERO } else { L::MAX }).collect();
        for codes in [random, few, ends] {
            let mut sorted = codes.clone();
            sorted.sort_unstable();
            let indices = [0, 1, n / 3, n / 2, n - 1];
            for seen in [L::ZERO, L::from_low(2), sorted[n / 3], L::MAX] {
                for (threads, drawn) in [(1, 0), (1, drawn(n)), (3, drawn(n))] {
                    let items = Misleading { codes: codes.clone(), seen, drawn: drawn.into() };
                    let found = find(&items, &indices, threads, Isa::detect()).unwrap();
                    assert_eq!(items.drawn.into_inner(), 0, "the sample has another size");
                    for (index, found) in indices.into_iter().zip(found) {
                        let less = sorted.partition_point(|&code| code < sorted[index]);
                        assert_eq!(
                            found,
                            Found { code: sorted[index], less },
                            "{index} of {} bits",
                            L::WIDTH
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_sample_that_misleads_changes_nothing() {
        check::<u16>();
        check::<u32>();
        check::<u64>();
        check::<u128>();
    }

    #[test]
    fn neighbours_make_pairs() {
        let of = |indices: &[usize]| pairs(indices).map(<[usize]>::len).collect::<Vec<_>>();
        assert_eq!(of(&[]), []);
        assert_eq!(of(&[5]), [1]);
        assert_eq!(of(&[0, 1, 2, 4, 6, 7]), [2, 1, 1, 2]);
    }
}
