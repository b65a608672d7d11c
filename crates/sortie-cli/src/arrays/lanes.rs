//! Lanes: the one-dimensional slices of a multidimensional array along one axis.

use bytemuck::Pod;
use rayon::prelude::*;
use sortie_formats::npy::Header;

use crate::failure::Failure;

/// The number of columns and of rows in a tile of the transposition. It is about one cache line of the smallest
/// elements, so that whole cache lines are used on both sides.
const TILE: usize = 64;

/// Element `i` of lane `(block, column)` is at `(block * len + i) * columns + column`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lanes {
    pub len: usize,
    pub columns: usize,
}

impl Lanes {
    /// The lanes along `axis`, which counts from the end if negative.
    pub fn along(header: &Header, axis: isize) -> Result<Lanes, Failure> {
        let mut shape = match header.shape.as_slice() {
            [] => return Err(Failure::new("a single element without dimensions has no axis to sort along")),
            shape => shape.to_vec(),
        };
        let dimensions = shape.len();
        let counted = if axis < 0 { axis.checked_add_unsigned(dimensions) } else { Some(axis) };
        let Some(mut place) = counted.and_then(|a| usize::try_from(a).ok()).filter(|&a| a < dimensions)
        else {
            return Err(Failure::new(format!(
                "axis {axis} is out of bounds for an array of dimension {dimensions}; use -{dimensions} to {}",
                dimensions - 1
            )));
        };
        if header.fortran_order {
            shape.reverse();
            place = dimensions - 1 - place;
        }
        Ok(Lanes { len: shape[place], columns: shape[place + 1..].iter().product() })
    }

    /// Copies the array `from` so that each lane is contiguous in `to`.
    pub fn gather<T: Pod + Send + Sync>(self, from: &[T], to: &mut [T]) {
        turn(from, to, self.len, self.columns);
    }

    /// The inverse of [`Lanes::gather`].
    pub fn scatter<T: Pod + Send + Sync>(self, from: &[T], to: &mut [T]) {
        turn(from, to, self.columns, self.len);
    }
}

/// Transposes every block of `rows` times `columns` elements.
fn turn<T: Pod + Send + Sync>(from: &[T], to: &mut [T], rows: usize, columns: usize) {
    if from.is_empty() {
        return;
    }
    let blocks = from.par_chunks(rows * columns).zip(to.par_chunks_mut(rows * columns));
    blocks.for_each(|(from, to)| {
        to.par_chunks_mut(rows * TILE).enumerate().for_each(|(tile, to)| {
            let first = tile * TILE;
            for top in (0..rows).step_by(TILE) {
                let bottom = rows.min(top + TILE);
                for (column, to) in to.chunks_mut(rows).enumerate() {
                    for row in top..bottom {
                        to[row] = from[row * columns + first + column];
                    }
                }
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_formats::{Dtype, Endian, Kind};

    fn header(fortran_order: bool, shape: &[usize]) -> Header {
        let dtype = Dtype { kind: Kind::U32, endian: Endian::Little };
        Header { dtype, unit: String::new(), fortran_order, shape: shape.to_vec(), data_start: 0 }
    }

    #[test]
    fn axes_count_from_either_end() {
        let c = header(false, &[2, 3, 4]);
        let f = header(true, &[2, 3, 4]);
        for (axis, in_c, in_f) in [(0, (2, 12), (2, 1)), (1, (3, 4), (3, 2)), (2, (4, 1), (4, 6))] {
            for axis in [axis, axis - 3] {
                let lanes = |header| Lanes::along(header, axis).map(|l| (l.len, l.columns)).unwrap();
                assert_eq!((lanes(&c), lanes(&f)), (in_c, in_f), "axis {axis}");
            }
        }
        for axis in [3, -4, isize::MIN, isize::MAX] {
            let error = Lanes::along(&c, axis).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("axis {axis} is out of bounds for an array of dimension 3; use -3 to 2")
            );
        }
    }

    #[test]
    fn lanes_gather_and_scatter() {
        for (blocks, len, columns) in [(1, 3, 2), (3, 1, 5), (2, 65, 130), (70, 2, 3), (1, 200, 64)] {
            let lanes = Lanes { len, columns };
            let from: Vec<u32> = (0..(blocks * len * columns) as u32).collect();
            let mut gathered = vec![0; from.len()];
            lanes.gather(&from, &mut gathered);
            for (lane, stretch) in gathered.chunks(len).enumerate() {
                let (block, column) = (lane / columns, lane % columns);
                let expected: Vec<u32> =
                    (0..len).map(|i| from[(block * len + i) * columns + column]).collect();
                assert_eq!(stretch, expected);
            }
            let mut scattered = vec![0; from.len()];
            lanes.scatter(&gathered, &mut scattered);
            assert_eq!(scattered, from);
        }
    }
}
